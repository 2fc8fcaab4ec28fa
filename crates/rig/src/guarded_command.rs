//! Starts commands under a [guard](crate::guard), and holds brunt's end of the pipes to it. On
//! drop, all processes of a server are ended.

use crate::guard::{CommandKind, Ending, GuardCommand, GuardReport};
use crate::pause::{WaitingClock, wait_for};
use crate::tail::Tail;
use rustix::process::{Pid, Signal, kill_process_group};
use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Time that a guard has to end all processes and itself. It needs little more than a second.
const GUARD_LIMIT: Duration = Duration::from_secs(10);

/// The guard program and the clock, supplied by the caller.
pub struct RigContext<'a> {
    /// A program that calls [`crate::guard::run_guard`], and the arguments that make it do so.
    pub guard: (PathBuf, Vec<String>),
    /// The clock used for all waits.
    pub time: &'a dyn WaitingClock,
}

/// Directory and environment of a command.
#[derive(Debug, Clone, Copy)]
pub struct CommandSetting<'a> {
    /// Working directory of the command.
    pub directory: &'a Path,
    /// Names and values of additional environment variables.
    pub environment: &'a [(String, String)],
}

/// A command that runs under a guard.
pub struct GuardedCommand<'a> {
    guard: Child,
    /// Pipe to the guard; None once it is closed.
    commands: Option<ChildStdin>,
    reports: Receiver<GuardReport>,
    // Methods that only read the state also receive pending reports.
    state: RefCell<GuardState>,
    output: Tail,
    time: &'a dyn WaitingClock,
}

/// State of the command, from the reports received so far.
#[derive(Default)]
struct GuardState {
    pid: Option<u32>,
    failed: Option<String>,
    ended: Option<Ending>,
    killed: u32,
    /// True if no process is left, or if the guard itself has ended.
    gone: Cell<bool>,
}

impl<'a> GuardedCommand<'a> {
    /// Starts a command and its guard.
    pub fn start(
        kind: CommandKind,
        command: &str,
        setting: &CommandSetting,
        context: &RigContext<'a>,
    ) -> io::Result<Self> {
        let (program, arguments) = &context.guard;
        let mut guard = Command::new(program);
        guard
            .args(arguments)
            .current_dir(setting.directory)
            .envs(setting.environment.iter().cloned());
        // A guard in a separate process group does not get SIGINT when the user presses Ctrl-C.
        guard.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut guard = guard.spawn().map_err(|e| add_paths(&e, program, setting.directory))?;
        let commands = guard.stdin.take();
        let (Some(reports), Some(output)) = (guard.stdout.take(), guard.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut command_under_guard = Self {
            guard,
            commands,
            reports: listen(reports)?,
            state: RefCell::default(),
            output: Tail::start(output)?,
            time: context.time,
        };
        command_under_guard.send(&GuardCommand::Start(kind, command.to_owned()))?;
        command_under_guard.await_start()?;
        Ok(command_under_guard)
    }

    fn await_start(&self) -> io::Result<()> {
        wait_for(self.time, GUARD_LIMIT, || {
            let state = self.update();
            (state.pid.is_some() || state.failed.is_some() || state.gone.get()).then_some(())
        });
        let state = self.update();
        match (&state.failed, state.pid) {
            (None, Some(_)) => Ok(()),
            (failed, _) => {
                let reason = failed
                    .clone()
                    .unwrap_or_else(|| format!("its guard ended: {}", self.output().trim()));
                Err(io::Error::other(reason))
            }
        }
    }

    /// Sends a command to the guard, terminated by a NUL.
    pub fn send(&mut self, command: &GuardCommand) -> io::Result<()> {
        let Some(pipe) = &mut self.commands else { return Err(io::ErrorKind::BrokenPipe.into()) };
        pipe.write_all(command.text().as_bytes())?;
        pipe.write_all(&[0])?;
        pipe.flush()
    }

    /// Exit status of the command's shell; None while it runs. `Unknown` if the guard ended first.
    pub fn ended(&self) -> Option<Ending> {
        let state = self.update();
        state.ended.or_else(|| state.gone.get().then_some(Ending::Unknown))
    }

    /// True if no process is left, as far as the guard has reported.
    pub fn is_gone(&self) -> bool {
        self.update().gone.get()
    }

    /// Number of processes that had to be killed so far.
    pub fn killed(&self) -> u32 {
        self.update().killed
    }

    /// Process id of the root of the command's processes: its shell. If the shell has ended and
    /// left a daemon, the guard is the root, since the daemon has become its child.
    pub fn pid(&self) -> u32 {
        let state = self.update();
        state.pid.filter(|_| state.ended.is_none()).unwrap_or(self.guard.id())
    }

    /// The end of the command's output.
    pub fn output(&self) -> String {
        self.output.text(self.time)
    }

    /// Reads all pending reports, and returns the state.
    fn update(&self) -> std::cell::RefMut<'_, GuardState> {
        let mut state = self.state.borrow_mut();
        loop {
            match self.reports.try_recv() {
                Ok(report) => state.apply(report),
                Err(std::sync::mpsc::TryRecvError::Empty) => return state,
                // The guard has ended and sends no more reports.
                Err(std::sync::mpsc::TryRecvError::Disconnected) => {
                    state.gone.set(true);
                    return state;
                }
            }
        }
    }
}

impl GuardState {
    fn apply(&mut self, report: GuardReport) {
        match report {
            GuardReport::Started(pid) => self.pid = Some(pid),
            GuardReport::Failed(why) => self.failed = Some(why),
            GuardReport::Ended(ending) => self.ended = Some(ending),
            GuardReport::Killed(processes) => self.killed += processes,
            GuardReport::Gone => self.gone.set(true),
        }
    }
}

impl Drop for GuardedCommand<'_> {
    /// Closes the pipe, so that the guard ends all processes. If the guard does not exit
    /// successfully, kills the guard and the command's process group.
    fn drop(&mut self) {
        self.commands = None;
        let status = wait_for(self.time, GUARD_LIMIT, || self.guard.try_wait().ok().flatten());
        if status.is_some_and(|status| status.success()) {
            return;
        }
        let _ = self.guard.kill();
        let _ = self.guard.wait();
        let group =
            self.update().pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        group.map(|group| kill_process_group(group, Signal::KILL));
    }
}

fn listen(reports: ChildStdout) -> io::Result<Receiver<GuardReport>> {
    let (sender, received) = channel();
    thread::Builder::new().name("brunt-reports".into()).spawn(move || {
        let lines = BufReader::new(reports).lines().map_while(Result::ok);
        let _ = lines
            .filter_map(|line| GuardReport::parse(&line))
            .try_for_each(|report| sender.send(report));
    })?;
    Ok(received)
}

/// Adds the program and its directory to an error of `spawn`, which does not name the missing file.
fn add_paths(error: &io::Error, program: &Path, directory: &Path) -> io::Error {
    let message = format!("{} in {}: {error}", program.display(), directory.display());
    io::Error::new(error.kind(), message)
}
