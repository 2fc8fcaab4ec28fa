//! A command's processes: its shell, its children, theirs, and whatever of them lost its parent.
//!
//! Elsewhere than on Linux there is no subreaper and no /proc: the family is the process group, and a daemon that leaves
//! it is not seen.

use super::words::Ending;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};
use std::io;

/// All processes of a command.
pub(super) struct Family {
    /// The shell, which leads its group.
    first: Option<Pid>,
    /// The last look found no child.
    childless: bool,
}

impl Family {
    /// Whatever we will start; makes us the parent of those that lose theirs.
    pub(super) fn of_ours() -> io::Result<Self> {
        adopt()?;
        Ok(Self { first: None, childless: false })
    }

    /// The shell was started.
    pub(super) fn first(&mut self, pid: u32) {
        self.first = i32::try_from(pid).ok().and_then(Pid::from_raw);
    }

    /// Takes leave of those that have ended; how the shell did, where it was among them.
    pub(super) fn reap(&mut self) -> Option<Ending> {
        let mut ending = None;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if Some(pid) == self.first => {
                    let by_signal = status.terminating_signal().map(Ending::Signal);
                    ending = status.exit_status().map(Ending::Code).or(by_signal).or(Some(Ending::Unknown));
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return ending,
                Err(_) => {
                    self.childless = true;
                    return ending;
                }
            }
        }
    }

    /// Asks all groups to end, each once.
    pub(super) fn ask(&self) {
        signal_groups(self.first, Signal::TERM);
    }

    /// Kills all; how many there were.
    pub(super) fn kill(&self) -> u32 {
        kill_all(self.first)
    }

    /// Whether nothing is left.
    pub(super) fn is_gone(&self) -> bool {
        self.childless && !others_left(self.first)
    }
}

#[cfg(all(target_os = "linux", not(brunt_portable)))]
use linux::{adopt, kill_all, others_left, signal_groups};
#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
use portable::{adopt, kill_all, others_left, signal_groups};

#[cfg(all(target_os = "linux", not(brunt_portable)))]
mod linux {
    use super::{Pid, Signal, io, kill_process_group};
    use rustix::process::{getpid, kill_process, set_child_subreaper};
    use std::fs;

    /// One process, as /proc tells of it.
    struct Process {
        pid: Pid,
        parent: i32,
        group: i32,
    }

    pub(super) fn adopt() -> io::Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// Each group hears it once; of a group that is not the shell's, its first process: that is what a daemon's own stop
    /// command does.
    pub(super) fn signal_groups(first: Option<Pid>, signal: Signal) {
        let ours = descendants();
        let shells = first.map(Pid::as_raw_pid);
        if let Some(first) = first.filter(|_| ours.iter().any(|one| Some(one.group) == shells)) {
            let _ = kill_process_group(first, signal);
        }
        let group_of = |pid: i32| ours.iter().find(|one| one.pid.as_raw_pid() == pid).map(|one| one.group);
        for one in ours.iter().filter(|one| Some(one.group) != shells && group_of(one.parent) != Some(one.group)) {
            let _ = kill_process(one.pid, signal);
        }
    }

    pub(super) fn kill_all(_: Option<Pid>) -> u32 {
        descendants().iter().filter(|one| kill_process(one.pid, Signal::KILL).is_ok()).count() as u32
    }

    /// On Linux all of them are children of ours, sooner or later.
    pub(super) fn others_left(_: Option<Pid>) -> bool {
        false
    }

    /// Our children, their children, and so on. Those that end meanwhile may be missing.
    fn descendants() -> Vec<Process> {
        let (mut strangers, mut found) = (all(), Vec::new());
        let mut parents = vec![getpid().as_raw_pid()];
        while let Some(parent) = parents.pop() {
            let (children, rest): (Vec<_>, Vec<_>) = strangers.into_iter().partition(|one| one.parent == parent);
            parents.extend(children.iter().map(|one| one.pid.as_raw_pid()));
            found.extend(children);
            strangers = rest;
        }
        found
    }

    fn all() -> Vec<Process> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    /// `proc_pid_stat(5)`: behind the name in parentheses, which may hold anything, come state, parent and group.
    fn process(pid: i32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1).map(str::parse);
        let (parent, group) = (fields.next()?.ok()?, fields.next()?.ok()?);
        Some(Process { pid: Pid::from_raw(pid)?, parent, group })
    }
}

#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
mod portable {
    use super::{Pid, Signal, io, kill_process_group};
    use rustix::process::test_kill_process_group;

    pub(super) fn adopt() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn signal_groups(first: Option<Pid>, signal: Signal) {
        first.map(|first| kill_process_group(first, signal));
    }

    pub(super) fn kill_all(first: Option<Pid>) -> u32 {
        u32::from(first.is_some_and(|first| kill_process_group(first, Signal::KILL).is_ok()))
    }

    pub(super) fn others_left(first: Option<Pid>) -> bool {
        first.is_some_and(|first| test_kill_process_group(first).is_ok())
    }
}
