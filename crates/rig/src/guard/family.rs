//! The processes of a command: its shell, and all descendants, including those
//! that lost their parent.
//!
//! Only Linux has subreapers and /proc. On other systems the family is the process group, so a
//! daemon that leaves the group is not found.

use super::messages::Ending;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};
use std::io;

/// All processes of a command.
pub(super) struct Family {
    /// The shell, which is the leader of the process group.
    shell: Option<Pid>,
    /// True if the last call of `wait` found no child.
    childless: bool,
}

impl Family {
    /// Makes this process the parent of all descendants that lose theirs.
    pub(super) fn adopt_descendants() -> io::Result<Self> {
        become_subreaper()?;
        Ok(Self { shell: None, childless: false })
    }

    /// Stores the process id of the started shell.
    pub(super) fn set_shell(&mut self, pid: u32) {
        self.shell = i32::try_from(pid).ok().and_then(Pid::from_raw);
    }

    /// Reaps all children that have ended. Returns the shell's exit status if it was among them.
    pub(super) fn reap(&mut self) -> Option<Ending> {
        let mut ending = None;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if Some(pid) == self.shell => {
                    let by_signal = status.terminating_signal().map(Ending::Signal);
                    ending = status
                        .exit_status()
                        .map(Ending::Code)
                        .or(by_signal)
                        .or(Some(Ending::Unknown));
                }
                // An adopted process ended, or a signal interrupted the call.
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return ending,
                // ECHILD: there are no children.
                Err(_) => {
                    self.childless = true;
                    return ending;
                }
            }
        }
    }

    /// Sends SIGTERM to each process group, once.
    pub(super) fn terminate(&self) {
        signal_groups(self.shell, Signal::TERM);
    }

    /// Kills all processes. Returns their number.
    pub(super) fn kill(&self) -> u32 {
        kill_all(self.shell)
    }

    /// True if no process of the command is left.
    pub(super) fn is_gone(&self) -> bool {
        self.childless && !has_others(self.shell)
    }
}

#[cfg(all(target_os = "linux", not(brunt_portable)))]
use linux::{become_subreaper, has_others, kill_all, signal_groups};
#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
use portable::{become_subreaper, has_others, kill_all, signal_groups};

#[cfg(all(target_os = "linux", not(brunt_portable)))]
mod linux {
    use super::{Pid, Signal, io, kill_process_group};
    use rustix::process::{getpid, kill_process, set_child_subreaper};
    use std::fs;

    /// An entry of /proc.
    struct Process {
        pid: Pid,
        parent: i32,
        group: i32,
    }

    pub(super) fn become_subreaper() -> io::Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// Sends the signal once to each group. In groups other than the shell's, only the first
    /// process gets it; the stop command of a daemon does the same.
    pub(super) fn signal_groups(shell: Option<Pid>, signal: Signal) {
        let descendants = descendants();
        let shell_group = shell.map(Pid::as_raw_pid);
        if let Some(shell) =
            shell.filter(|_| descendants.iter().any(|process| Some(process.group) == shell_group))
        {
            let _ = kill_process_group(shell, signal);
        }
        for process in &descendants {
            let parent = descendants.iter().find(|other| other.pid.as_raw_pid() == process.parent);
            let is_first = parent.map(|parent| parent.group) != Some(process.group);
            if Some(process.group) != shell_group && is_first {
                let _ = kill_process(process.pid, signal);
            }
        }
    }

    pub(super) fn kill_all(_: Option<Pid>) -> u32 {
        // One by one, since they may belong to several process groups.
        descendants()
            .iter()
            .filter(|process| kill_process(process.pid, Signal::KILL).is_ok())
            .count() as u32
    }

    /// Always false: on Linux all other processes become children of the guard at some time.
    pub(super) fn has_others(_: Option<Pid>) -> bool {
        false
    }

    /// All descendants of this process. Processes that end during the call may be missing.
    fn descendants() -> Vec<Process> {
        let mut unassigned = all_processes();
        let mut descendants = Vec::new();
        let mut parents = vec![getpid().as_raw_pid()];
        while let Some(parent) = parents.pop() {
            let (children, others): (Vec<_>, Vec<_>) =
                unassigned.into_iter().partition(|process| process.parent == parent);
            parents.extend(children.iter().map(|process| process.pid.as_raw_pid()));
            descendants.extend(children);
            unassigned = others;
        }
        descendants
    }

    fn all_processes() -> Vec<Process> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| read_process(entry.file_name().to_str()?.parse().ok()?))
            .collect()
    }

    /// Reads /proc/PID/stat, see `proc_pid_stat(5)`. State, parent and group follow the name, which
    /// is in parentheses and may itself contain anything, also `)`.
    fn read_process(pid: i32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1).map(str::parse);
        let parent = fields.next()?.ok()?;
        let group = fields.next()?.ok()?;
        Some(Process { pid: Pid::from_raw(pid)?, parent, group })
    }
}

#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
mod portable {
    use super::{Pid, Signal, io, kill_process_group};
    use rustix::process::test_kill_process_group;

    pub(super) fn become_subreaper() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn signal_groups(shell: Option<Pid>, signal: Signal) {
        shell.map(|shell| kill_process_group(shell, signal));
    }

    pub(super) fn kill_all(shell: Option<Pid>) -> u32 {
        u32::from(shell.is_some_and(|shell| kill_process_group(shell, Signal::KILL).is_ok()))
    }

    pub(super) fn has_others(shell: Option<Pid>) -> bool {
        shell.is_some_and(|shell| test_kill_process_group(shell).is_ok())
    }
}
