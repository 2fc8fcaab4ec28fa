//! A command under guard: our end of the pipes to its [guard](crate::guard). When it is dropped, nothing of a server is left.

use crate::guard::{Ending, GuardCommand, Kind, Report};
use crate::pause::{Pause, wait_for};
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

/// A guard ends all that is left within little more than a second, and then itself.
const GUARDS_END: Duration = Duration::from_secs(10);

/// What the caller supplies: the guard program and the clock.
pub struct RigContext<'a> {
    /// The program that is a guard, with the words that make it one: it calls [`crate::guard::attend`].
    pub guard: (PathBuf, Vec<String>),
    /// How time passes.
    pub time: &'a dyn Pause,
}

/// Where a command runs, and with which variables beside our own.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Its working directory.
    pub directory: &'a Path,
    /// Names and values.
    pub environment: &'a [(String, String)],
}

/// A command under guard.
pub struct GuardedCommand<'a> {
    guard: Child,
    words: Option<ChildStdin>,
    reports: Receiver<Report>,
    seen: RefCell<GuardState>,
    output: Tail,
    time: &'a dyn Pause,
}

/// What the guard has told so far.
#[derive(Default)]
struct GuardState {
    pid: Option<u32>,
    failed: Option<String>,
    ended: Option<Ending>,
    killed: u32,
    /// Nothing is left, or nobody is there to tell.
    gone: Cell<bool>,
}

impl<'a> GuardedCommand<'a> {
    /// Starts a command.
    pub fn start(kind: Kind, command: &str, setting: &Setting, context: &RigContext<'a>) -> io::Result<Self> {
        let (program, arguments) = &context.guard;
        let mut guard = Command::new(program);
        guard.args(arguments).current_dir(setting.directory).envs(setting.environment.iter().cloned());
        // A group of its own: Ctrl-C in the terminal is for us alone.
        guard.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut guard = guard.spawn().map_err(|e| describe(&e, program, setting.directory))?;
        let (words, reports, output) = (guard.stdin.take(), guard.stdout.take(), guard.stderr.take());
        let (Some(reports), Some(output)) = (reports, output) else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let ward = Self {
            guard,
            words,
            reports: listen(reports)?,
            seen: RefCell::default(),
            output: Tail::of(output)?,
            time: context.time,
        };
        let mut ward = ward;
        ward.tell(&GuardCommand::Start(kind, command.to_owned()))?;
        ward.await_start()?;
        Ok(ward)
    }

    fn await_start(&self) -> io::Result<()> {
        let begun = || {
            let seen = self.look();
            (seen.pid.is_some() || seen.failed.is_some() || seen.gone.get()).then_some(())
        };
        wait_for(self.time, GUARDS_END, begun);
        let seen = self.look();
        match (&seen.failed, seen.pid) {
            (None, Some(_)) => Ok(()),
            (failed, _) => {
                let why = failed.clone().unwrap_or_else(|| format!("its guard ended: {}", self.output().trim()));
                Err(io::Error::other(why))
            }
        }
    }

    /// Tells the guard something.
    pub fn tell(&mut self, word: &GuardCommand) -> io::Result<()> {
        let Some(words) = &mut self.words else { return Err(io::ErrorKind::BrokenPipe.into()) };
        words.write_all(word.text().as_bytes())?;
        words.write_all(&[0])?;
        words.flush()
    }

    /// How the command's shell ended, where it has, and where nobody is left who could tell.
    pub fn ended(&self) -> Option<Ending> {
        let seen = self.look();
        seen.ended.or_else(|| seen.gone.get().then_some(Ending::Unknown))
    }

    /// Whether nothing of it is left, as far as anybody knows.
    pub fn is_gone(&self) -> bool {
        self.look().gone.get()
    }

    /// How many processes had to be killed so far.
    pub fn killed(&self) -> u32 {
        self.look().killed
    }

    /// The process under which all of it stands: the command's shell; or, where that has ended and left a daemon, the
    /// guard, whose child the daemon is then.
    pub fn pid(&self) -> u32 {
        let seen = self.look();
        seen.pid.filter(|_| seen.ended.is_none()).unwrap_or(self.guard.id())
    }

    /// The last of what it wrote.
    pub fn output(&self) -> String {
        self.output.text(self.time)
    }

    fn look(&self) -> std::cell::RefMut<'_, GuardState> {
        let mut seen = self.seen.borrow_mut();
        loop {
            match self.reports.try_recv() {
                Ok(report) => seen.take(report),
                Err(std::sync::mpsc::TryRecvError::Empty) => return seen,
                Err(std::sync::mpsc::TryRecvError::Disconnected) => {
                    seen.gone.set(true);
                    return seen;
                }
            }
        }
    }
}

impl GuardState {
    fn take(&mut self, report: Report) {
        match report {
            Report::Started(pid) => self.pid = Some(pid),
            Report::Failed(why) => self.failed = Some(why),
            Report::Ended(ending) => self.ended = Some(ending),
            Report::Killed(processes) => self.killed += processes,
            Report::Gone => self.gone.set(true),
        }
    }
}

impl Drop for GuardedCommand<'_> {
    /// The closed pipe tells the guard to end all. A guard that somebody killed is made up for as far as can be.
    fn drop(&mut self) {
        self.words = None;
        let status = wait_for(self.time, GUARDS_END, || self.guard.try_wait().ok().flatten());
        if status.is_some_and(|status| status.success()) {
            return;
        }
        let _ = self.guard.kill();
        let _ = self.guard.wait();
        let group = self.look().pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        group.map(|group| kill_process_group(group, Signal::KILL));
    }
}

fn listen(reports: ChildStdout) -> io::Result<Receiver<Report>> {
    let (tell, heard) = channel();
    let pass_on = move || {
        let lines = BufReader::new(reports).lines().map_while(Result::ok);
        let _ = lines.filter_map(|line| Report::parse(&line)).try_for_each(|report| tell.send(report));
    };
    thread::Builder::new().name("brunt-reports".into()).spawn(pass_on)?;
    Ok(heard)
}

/// Of a program that cannot be started one is not told whether it or its directory is missing.
fn describe(error: &io::Error, program: &Path, directory: &Path) -> io::Error {
    let what = format!("{} in {}: {error}", program.display(), directory.display());
    io::Error::new(error.kind(), what)
}
