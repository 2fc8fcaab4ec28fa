//! The guard process between brunt and a command. The guard starts the command in a new process
//! group, and ends it when brunt requests that. It also ends it when brunt itself has ended in any
//! way, since the pipe from brunt is closed then.
//!
//! Daemons that leave their group and session (`daemon on` in nginx) are found too. The guard is a
//! *subreaper* (prctl(2)): a process that loses its parent becomes the guard's child. Therefore no
//! process of the command is left when the guard has no child left.
//!
//! The guard reads [`GuardCommand`]s from its standard input, each terminated by a NUL. It writes
//! [`GuardReport`]s to its standard output, one per line. The command's output goes to the guard's
//! standard error. The guard does not decide when a server is ready or when it is stopped.

mod family;
mod messages;

use crate::pause::WaitingClock;
use brunt_model::Tick;
use family::Family;
pub use messages::{CommandKind, Ending, GuardCommand, GuardReport};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Time that processes have to end after brunt has ended.
const GRACE_AFTER_BRUNT: Duration = Duration::from_secs(1);
/// Interval between checks of the children while an event is likely soon.
const MIN_POLL: Duration = Duration::from_millis(1);
/// Interval between checks while the process waits to kill the remaining children.
const ENDING_POLL: Duration = Duration::from_millis(5);
/// Longest interval between checks.
const MAX_POLL: Duration = Duration::from_millis(100);

/// Runs a guard process: reads its first command, and returns when all processes are gone.
///
/// # Errors
///
/// The reports cannot be written, or the command cannot be watched.
pub fn run_guard(
    input: impl Read + Send + 'static,
    reports: impl Write,
    time: &dyn WaitingClock,
) -> io::Result<()> {
    let commands = listen(input)?;
    let (kind, command) = match commands.recv() {
        Ok(GuardCommand::Start(kind, command)) => (kind, command),
        Ok(GuardCommand::Folder(path)) => {
            remove_at_the_end(&path, &commands, time);
            return Ok(());
        }
        _ => return Ok(()),
    };
    let mut guard = Guard {
        reports,
        time,
        kill_at: None,
        has_reported_kill: false,
        family: Family::adopt_descendants()?,
    };
    match start(&command) {
        Ok(pid) => {
            guard.family.set_shell(pid);
            guard.send(&GuardReport::Started(pid));
            guard.watch(kind, &commands);
        }
        Err(error) => guard.send(&GuardReport::Failed(error.to_string())),
    }
    Ok(())
}

/// Reads commands on a separate thread. The channel closes when the pipe closes.
fn listen(input: impl Read + Send + 'static) -> io::Result<Receiver<GuardCommand>> {
    let (sender, commands) = channel();
    thread::Builder::new()
        .name("brunt-words".into())
        .spawn(move || forward_commands(input, &sender))?;
    Ok(commands)
}

fn forward_commands(input: impl Read, sender: &Sender<GuardCommand>) {
    let texts = BufReader::new(input).split(0).map_while(Result::ok);
    for command in texts.filter_map(|bytes| GuardCommand::parse(&String::from_utf8_lossy(&bytes))) {
        if sender.send(command).is_err() {
            return;
        }
    }
}

fn start(command: &str) -> io::Result<u32> {
    // Standard output carries the reports, so the command's output goes to standard error.
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    let mut shell = Command::new("sh");
    // A separate group, so that one signal reaches all its processes.
    shell.arg("-c").arg(command).process_group(0).stdin(Stdio::null()).stdout(output);
    Ok(shell.spawn()?.id())
}

/// Removes a folder when the pipe closes. A program that ended normally has removed it already. If
/// the program was killed, servers may write to the folder until their own guards have ended them.
fn remove_at_the_end(path: &Path, commands: &Receiver<GuardCommand>, time: &dyn WaitingClock) {
    while commands.recv().is_ok() {}
    if path.exists() {
        time.pause(GRACE_AFTER_BRUNT * 2);
        let _ = fs::remove_dir_all(path);
    }
}

struct Guard<'a, W> {
    reports: W,
    time: &'a dyn WaitingClock,
    family: Family,
    /// Time at which the remaining processes are killed.
    kill_at: Option<Tick>,
    has_reported_kill: bool,
}

impl<W: Write> Guard<'_, W> {
    /// Watches the processes until none is left; for a hook, until its shell has ended.
    fn watch(&mut self, kind: CommandKind, commands: &Receiver<GuardCommand>) {
        let mut interval = MIN_POLL;
        loop {
            if let Some(ending) = self.family.reap() {
                self.send(&GuardReport::Ended(ending));
                if kind == CommandKind::Hook && self.kill_at.is_none() {
                    return;
                }
            }
            if self.family.is_gone() {
                return self.send(&GuardReport::Gone);
            }
            self.kill_if_due();
            match commands.recv_timeout(interval) {
                Ok(command) => self.apply(&command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.end_without_brunt(interval),
            }
            interval =
                if self.kill_at.is_some() { ENDING_POLL } else { (interval * 2).min(MAX_POLL) };
        }
    }

    fn apply(&mut self, command: &GuardCommand) {
        let (GuardCommand::Term(limit) | GuardCommand::Wait(limit)) = command else { return };
        if matches!(command, GuardCommand::Term(_)) {
            self.family.terminate();
        }
        self.kill_at = Some(self.time.now() + *limit);
    }

    /// Ends all processes because brunt has ended: the pipe is closed.
    fn end_without_brunt(&mut self, interval: Duration) {
        let end = self.time.now() + GRACE_AFTER_BRUNT;
        if self.kill_at.is_none_or(|at| at > end) {
            self.family.terminate();
            self.kill_at = Some(end);
        }
        // A closed channel returns at once, so this loop must wait by itself.
        self.time.pause(interval);
    }

    fn kill_if_due(&mut self) {
        if self.kill_at.is_none_or(|at| self.time.now() < at) {
            return;
        }
        let killed = self.family.kill();
        if killed > 0 && !std::mem::replace(&mut self.has_reported_kill, true) {
            self.send(&GuardReport::Killed(killed));
        }
    }

    /// Sends a report. Errors are ignored: the guard continues after brunt has ended.
    fn send(&mut self, report: &GuardReport) {
        let _ = writeln!(self.reports, "{report}");
        let _ = self.reports.flush();
    }
}
