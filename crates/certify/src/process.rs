//! A child process in a separate process group, which is killed when its value is dropped.

use brunt_engine::RunControl;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::Duration;

/// Interval at which a child is polled for its end.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A child process, with its exit status once it has ended.
pub struct Process {
    child: Child,
    status: Option<ExitStatus>,
}

/// Reason why a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// The child ended by itself.
    Ended(ExitStatus),
    /// The child was still running when the time was over.
    TooLong,
    /// The user interrupted the wait.
    Interrupted,
}

impl Process {
    /// Starts the child. Ctrl-C on the terminal reaches brunt, not the child.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        Ok(Self { child: command.process_group(0).spawn()?, status: None })
    }

    /// Returns the child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns the process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for the end of the child, for at most this time.
    pub fn wait(&mut self, most: Duration, stop: &RunControl) -> io::Result<WaitEnd> {
        for _ in 0..most.as_millis() / POLL_INTERVAL.as_millis() {
            if let Some(status) = self.child.try_wait()? {
                self.status = Some(status);
                // Ctrl-C reaches a child that has just been started, before it has its own group.
                let is_interrupted = status.signal() == Some(Signal::INT.as_raw());
                return Ok(if is_interrupted {
                    WaitEnd::Interrupted
                } else {
                    WaitEnd::Ended(status)
                });
            }
            if stop.is_stopped() {
                return Ok(WaitEnd::Interrupted);
            }
            sleep(POLL_INTERVAL);
        }
        Ok(WaitEnd::TooLong)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status.is_some() || self.child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        // Fails if the group has just ended by itself, which makes no difference.
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
        let (go, enough) = (RunControl::default(), RunControl::default());
        enough.stop();
        let second = Duration::from_secs(10);
        assert!(
            matches!(shell("exit 3").wait(second, &go).unwrap(), WaitEnd::Ended(status) if status.code() == Some(3))
        );
        assert_eq!(
            shell("sleep 30").wait(Duration::from_millis(30), &go).unwrap(),
            WaitEnd::TooLong
        );
        assert_eq!(shell("sleep 30").wait(second, &enough).unwrap(), WaitEnd::Interrupted);
    }

    #[test]
    fn children_and_their_children_end_with_it() {
        let process = shell("sleep 30 & sleep 30");
        let group = process.pid();
        drop(process);
        // Killed processes may remain until their parent, or init, waits for them.
        let gone = || rustix::process::test_kill_process_group(group).is_err();
        assert!(
            (0..200).any(|_| gone() || {
                sleep(POLL_INTERVAL);
                false
            }),
            "something of group {group:?} is left"
        );
    }
}
