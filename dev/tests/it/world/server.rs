//! Starts and stops processes of tests.

use super::{wait_a_moment, wait_until};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

/// A process in a process group of its own. The whole group ends when this value is dropped.
pub struct ServerProcess {
    pub child: Child,
}

impl ServerProcess {
    pub fn start(command: &mut Command) -> Self {
        let child = command.process_group(0).spawn();
        Self { child: child.unwrap_or_else(|e| panic!("{command:?}: {e}")) }
    }

    /// Sends a signal to the whole group.
    pub fn signal(&self, signal: Signal) {
        // The group may have ended already.
        let _ = kill_process_group(self.group(), signal);
    }

    /// Exit status, if it has ended.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child of ours")
    }

    /// Stops it, and waits for its end.
    pub fn stop(&mut self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        wait_until("the server's end", || self.exit_status().is_some());
    }

    /// Sends a signal if the group still exists. The kernel can give its number to another group as
    /// soon as the first process was reaped and no process is left.
    fn signal_if_there(&mut self, signal: Signal) {
        if self.exit_status().is_none() || test_kill_process_group(self.group()).is_ok() {
            self.signal(signal);
        }
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // SIGTERM first: a killed server leaves its child processes running.
        self.signal_if_there(Signal::TERM);
        self.signal_if_there(Signal::CONT);
        let _ = (0..200).any(|_| self.exit_status().is_some() || wait_a_moment());
        self.signal_if_there(Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Child processes of a process.
pub fn children(pid: i32) -> Vec<Pid> {
    let list =
        std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}
