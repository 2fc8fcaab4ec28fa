//! A process of the test's own.

use super::{until, wait_a_moment};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

/// A process that was started by a test, with a process group of its own; whatever is left of the group ends with this.
pub struct Server {
    pub child: Child,
}

impl Server {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        let child = command.process_group(0).spawn();
        Self { child: child.unwrap_or_else(|e| panic!("{command:?}: {e}")) }
    }

    /// Sends a signal to all of it.
    pub fn signal(&self, signal: Signal) {
        // Whether it is still there is the test's business.
        let _ = kill_process_group(self.group(), signal);
    }

    /// How it ended, where it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child of ours")
    }

    /// Ends it, and waits until it has.
    pub fn stop(&mut self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        until("the server's end", || self.ended().is_some());
    }

    /// The group has the number of its first process: once that was waited for, and none is left, it may be another
    /// else's, so it is asked for first.
    fn signal_if_there(&mut self, signal: Signal) {
        if self.ended().is_none() || test_kill_process_group(self.group()).is_ok() {
            self.signal(signal);
        }
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Asked kindly first: a server that is killed leaves its own children to nobody.
        self.signal_if_there(Signal::TERM);
        self.signal_if_there(Signal::CONT);
        let _ = (0..200).any(|_| self.ended().is_some() || wait_a_moment());
        self.signal_if_there(Signal::KILL);
        let _ = self.child.wait();
    }
}

/// The processes that a process has started, and that are there.
pub fn children(pid: i32) -> Vec<Pid> {
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}
