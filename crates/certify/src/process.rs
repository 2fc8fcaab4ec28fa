//! A child process: with a process group of its own, ended with the value that stands for it, whatever happens.

use brunt_engine::Control;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::Duration;

/// Between two looks whether a child has ended.
const LOOK: Duration = Duration::from_millis(10);

/// A child of ours.
pub struct Process {
    child: Child,
    status: Option<ExitStatus>,
}

/// How a wait came to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The child ended by itself.
    Ended(ExitStatus),
    /// It was still at work when the time was up.
    TooLong,
    /// The user has had enough.
    Interrupted,
}

impl Process {
    /// Starts it. Ctrl-C on the terminal reaches us, not it.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        Ok(Self { child: command.process_group(0).spawn()?, status: None })
    }

    /// The child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Its number.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for its end, for this time at most.
    pub fn wait(&mut self, most: Duration, stop: &Control) -> io::Result<End> {
        for _ in 0..most.as_millis() / LOOK.as_millis() {
            if let Some(status) = self.child.try_wait()? {
                self.status = Some(status);
                return Ok(End::Ended(status));
            }
            if stop.is_stopped() {
                return Ok(End::Interrupted);
            }
            sleep(LOOK);
        }
        Ok(End::TooLong)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status.is_some() || self.child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        // Whether it has just ended by itself makes no difference.
        let _ = kill_process_group(self.pid(), Signal::KILL);
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Process {
        Process::start(Command::new("sh").args(["-c", line])).unwrap()
    }

    #[test]
    fn waits_end_in_three_ways() {
        let (go, enough) = (Control::default(), Control::default());
        enough.stop();
        let second = Duration::from_secs(10);
        assert!(matches!(shell("exit 3").wait(second, &go).unwrap(), End::Ended(status) if status.code() == Some(3)));
        assert_eq!(shell("sleep 30").wait(Duration::from_millis(30), &go).unwrap(), End::TooLong);
        assert_eq!(shell("sleep 30").wait(second, &enough).unwrap(), End::Interrupted);
    }

    #[test]
    fn children_and_their_children_end_with_it() {
        let process = shell("sleep 30 & sleep 30");
        let group = process.pid();
        drop(process);
        // Those that were killed may wait for their parent, or init, to notice.
        let gone = || rustix::process::test_kill_process_group(group).is_err();
        assert!(
            (0..200).any(|_| gone() || {
                sleep(LOOK);
                false
            }),
            "something of group {group:?} is left"
        );
    }
}
