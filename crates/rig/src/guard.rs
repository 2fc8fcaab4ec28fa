//! The process between us and a command. It starts the command as a process group of its own, is told when to end it, and
//! ends it by itself when we are gone, however we went: the pipe from us is closed then.
//!
//! Daemons that leave their group and session behind (`daemon on` in nginx) are found all the same: the guard is a
//! *subreaper* (prctl(2)), so what has lost its parent becomes the guard's child, and "nothing is left" is the same as
//! "no child is left".
//!
//! Words come in through its standard input, each ended by a NUL; [`Report`]s go out through its standard output, one a
//! line. What the command writes goes to the guard's standard error. It decides nothing about a server,
//! neither when it is ready nor when it is to end.

mod family;
mod words;

use crate::pause::Pause;
use brunt_model::Tick;
use family::Family;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;
pub use words::{Ending, GuardCommand, Kind, Report};

/// How long processes have to end after this program is gone.
const AFTER_US: Duration = Duration::from_secs(1);
/// Between two looks at the children: short while something is to happen soon, then longer.
const LOOKS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));

/// Attends to one command, from the first word until nothing is left of it; the whole life of a guard process.
///
/// # Errors
///
/// The reports cannot be written, or the command cannot be watched.
pub fn attend(words: impl Read + Send + 'static, reports: impl Write, time: &dyn Pause) -> io::Result<()> {
    let heard = listen(words)?;
    let (kind, command) = match heard.recv() {
        Ok(GuardCommand::Start(kind, command)) => (kind, command),
        Ok(GuardCommand::Folder(path)) => {
            remove_at_the_end(&path, &heard, time);
            return Ok(());
        }
        _ => return Ok(()),
    };
    let mut guard = Guard { reports, time, kill_at: None, told_killed: false, family: Family::of_ours()? };
    match start(&command) {
        Ok(pid) => {
            guard.family.first(pid);
            guard.tell(&Report::Started(pid));
            guard.attend(kind, &heard);
        }
        Err(error) => guard.tell(&Report::Failed(error.to_string())),
    }
    Ok(())
}

/// Reads words on a thread of its own; the channel is closed when the pipe is.
fn listen(words: impl Read + Send + 'static) -> io::Result<Receiver<GuardCommand>> {
    let (tell, heard) = channel();
    thread::Builder::new().name("brunt-words".into()).spawn(move || pass_on(words, &tell))?;
    Ok(heard)
}

fn pass_on(words: impl Read, tell: &Sender<GuardCommand>) {
    let words = BufReader::new(words).split(0).map_while(Result::ok);
    for word in words.filter_map(|bytes| GuardCommand::parse(&String::from_utf8_lossy(&bytes))) {
        if tell.send(word).is_err() {
            return;
        }
    }
}

fn start(command: &str) -> io::Result<u32> {
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).process_group(0).stdin(Stdio::null()).stdout(output);
    Ok(shell.spawn()?.id())
}

/// Removes a folder once the pipe is closed. A program that ended in order has removed it; of one that was killed, servers may write to
/// the folder until their own guards have ended them.
fn remove_at_the_end(path: &Path, heard: &Receiver<GuardCommand>, time: &dyn Pause) {
    while heard.recv().is_ok() {}
    if path.exists() {
        time.pause(AFTER_US * 2);
        let _ = fs::remove_dir_all(path);
    }
}

struct Guard<'a, W> {
    reports: W,
    time: &'a dyn Pause,
    family: Family,
    /// When what is left is killed.
    kill_at: Option<Tick>,
    told_killed: bool,
}

impl<W: Write> Guard<'_, W> {
    fn attend(&mut self, kind: Kind, heard: &Receiver<GuardCommand>) {
        let mut between = LOOKS.0;
        loop {
            if let Some(ending) = self.family.reap() {
                self.tell(&Report::Ended(ending));
                if kind == Kind::Hook && self.kill_at.is_none() {
                    return;
                }
            }
            if self.family.is_gone() {
                return self.tell(&Report::Gone);
            }
            self.kill_if_due();
            match heard.recv_timeout(between) {
                Ok(word) => self.obey(&word),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.left_alone(between),
            }
            between = if self.kill_at.is_some() { LOOKS.0 * 5 } else { (between * 2).min(LOOKS.1) };
        }
    }

    fn obey(&mut self, word: &GuardCommand) {
        let (GuardCommand::Term(limit) | GuardCommand::Wait(limit)) = word else { return };
        if matches!(word, GuardCommand::Term(_)) {
            self.family.ask();
        }
        self.kill_at = Some(self.time.now() + *limit);
    }

    /// We are gone: nobody says when.
    fn left_alone(&mut self, between: Duration) {
        let end = self.time.now() + AFTER_US;
        if self.kill_at.is_none_or(|at| at > end) {
            self.family.ask();
            self.kill_at = Some(end);
        }
        self.time.pause(between);
    }

    fn kill_if_due(&mut self) {
        if self.kill_at.is_none_or(|at| self.time.now() < at) {
            return;
        }
        let killed = self.family.kill();
        if killed > 0 && !std::mem::replace(&mut self.told_killed, true) {
            self.tell(&Report::Killed(killed));
        }
    }

    /// Whether anybody reads it is no concern of the guard.
    fn tell(&mut self, report: &Report) {
        let _ = writeln!(self.reports, "{report}");
        let _ = self.reports.flush();
    }
}
