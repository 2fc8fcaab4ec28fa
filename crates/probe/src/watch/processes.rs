//! Reads the resources that a group of processes and their descendants use.
//!
//! `select` finds the processes. All processes of the machine are listed once per round (`table`)
//! for all probes. Counters continue when a process or thread ends (`ledger`). Expensive values are
//! read at most once per [`SLOW`]: proportional memory, the context switches of many threads, and
//! descriptors if they must be counted.

mod accept;
mod ledger;
pub(super) mod listening;
mod select;
mod table;
mod tasks;

pub(super) use table::Table;

use super::machine::{Machine, ReadList};
use super::{ProbeError, ssh::quoted};
use crate::sources::control_group::memory_room;
use crate::sources::{Values, memory, numbers};
use accept::AcceptQueue;
use brunt_model::Tick;
use brunt_model::probe_spec::Select;
use brunt_model::reading_names::{self as name, server};
use ledger::CpuLedger;
use select::Finder;
use std::collections::BTreeMap;
use std::time::Duration;
use table::Member;
use tasks::Tasks;

/// Minimum interval between readings of expensive values.
const SLOW: Duration = Duration::from_secs(5);
/// Maximum number of processes that are read individually. All others count only in
/// CPU time and threads.
const MAX_PROCESSES: usize = 256;

/// The thoroughness of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Only inexpensive values.
    Quick,
    /// All values.
    Slow,
}

/// The readings that one probe takes of processes.
pub(super) struct Processes {
    finder: Finder,
    members: BTreeMap<u32, Member>,
    cpu: CpuLedger,
    tasks: Tasks,
    accept: AcceptQueue,
    /// Limit on descriptors, by pid.
    limits: BTreeMap<u32, f64>,
    slow_due: Tick,
}

impl Processes {
    pub fn new(select: Select) -> Self {
        Self {
            finder: Finder::new(select),
            members: BTreeMap::new(),
            cpu: CpuLedger::default(),
            tasks: Tasks::default(),
            accept: AcceptQueue::default(),
            limits: BTreeMap::new(),
            slow_due: Tick::ZERO,
        }
    }

    /// Adds the files that this probe needs: the list of all processes, and more files of those
    /// that were found last time.
    pub fn add_to(&self, list: &mut ReadList) {
        list.processes = true;
        list.files.push("/proc/[0-9]*/stat".into());
        match &self.finder.select {
            Select::PidFile(path) => list.files.push(quoted(&path.to_string_lossy())),
            Select::Cgroup(path) => list.files.extend(select::group_patterns(path)),
            _ => {}
        }
        for (pid, member) in self.members.iter().take(MAX_PROCESSES) {
            for file in ["status", "schedstat", "limits", "smaps_rollup"] {
                list.files.push(format!("/proc/{pid}/{file}"));
            }
            if member.threads > 1.0 {
                list.files.push(format!("/proc/{pid}/task/*/schedstat /proc/{pid}/task/*/status"));
            }
            // Another machine sends texts of files, and not the size of a folder: its
            // shell counts the entries.
            list.counts.push(format!("/proc/{pid}/fd"));
        }
    }

    /// Takes a reading of the machine, which was refreshed at `now`.
    pub fn read(
        &mut self,
        machine: &Machine,
        now: Tick,
        into: &mut Values,
    ) -> Result<(), ProbeError> {
        let pace = self.pace(now);
        self.find(machine, pace)?;
        self.cpu(into);
        self.tasks.read(&machine.root, &self.members, now, pace, into);
        self.memory(machine, pace, into);
        self.descriptors(machine, pace, into);
        self.accept.read(machine, &self.finder.select, &self.members, into);
        Ok(())
    }

    fn pace(&mut self, now: Tick) -> Pace {
        if now < self.slow_due {
            return Pace::Quick;
        }
        self.slow_due = now + SLOW;
        Pace::Slow
    }

    /// Finds the selected processes with their descendants, and those of the last
    /// reading that still exist.
    fn find(&mut self, machine: &Machine, pace: Pace) -> Result<(), ProbeError> {
        let roots = self.finder.pids(machine, pace)?;
        // A process whose parent ended gets another parent, and would no longer be a descendant.
        let existing =
            self.members.iter().filter(|(pid, m)| machine.table.start_of(**pid) == Some(m.start));
        let existing = existing.map(|(pid, _)| *pid);
        let members = machine.table.with_descendants(roots.into_iter().chain(existing));
        self.limits.retain(|pid, _| members.contains_key(pid));
        self.members = members;
        if self.members.is_empty() {
            Err(ProbeError::NoProcess(select::description(&self.finder.select)))
        } else {
            Ok(())
        }
    }

    fn cpu(&mut self, into: &mut Values) {
        let (user, system) = self.cpu.sum(&self.members);
        into.push(server::PROCESSES, self.members.len() as f64);
        into.push(server::THREADS, self.members.values().map(|m| m.threads).sum());
        into.push(name::CPU_USER, user);
        into.push(name::CPU_SYSTEM, system);
    }

    /// Adds the memory of all processes, and at the slow pace also expensive values, and the memory
    /// that is left.
    fn memory(&self, machine: &Machine, pace: Pace, into: &mut Values) {
        let statuses = self.texts(machine, "status");
        into.push_some(name::RESIDENT, memory::sum_of(&statuses, "VmRSS"));
        into.push_some(server::ANONYMOUS, memory::anonymous_bytes(&statuses));
        if pace == Pace::Quick {
            return;
        }
        // The kernel walks all pages of a process for this file.
        let rollups = self.texts(machine, "smaps_rollup");
        into.push_some(server::PROPORTIONAL, memory::sum_of(&rollups, "Pss:"));
        let room = self.pids().filter_map(|pid| memory_room(&machine.root, *pid));
        into.push_some(server::GROUP_ROOM, room.reduce(f64::min));
        into.push_some(name::MEMORY_AVAILABLE, memory::available_bytes(&machine.root));
    }

    /// Returns a file of each process that has it.
    fn texts(&self, machine: &Machine, file: &str) -> Vec<String> {
        self.pids().filter_map(|pid| machine.root.text(format!("/proc/{pid}/{file}"))).collect()
    }

    /// Adds the number of open descriptors, and the highest share of its limit that a process uses.
    fn descriptors(&mut self, machine: &Machine, pace: Pace, into: &mut Values) {
        let mut all = None;
        let mut highest_share = None;
        let pids: Vec<u32> = self.pids().copied().collect();
        for pid in pids {
            let Some(open) = machine.descriptors(pid, pace) else { continue };
            // Limits rarely change, so each is read once.
            let limit = self.limits.get(&pid).copied().or_else(|| limit(machine, pid));
            all = Some(all.unwrap_or(0.0) + open);
            if let Some(limit) = limit {
                self.limits.insert(pid, limit);
                highest_share = Some(f64::max(highest_share.unwrap_or(0.0), open / limit));
            }
        }
        into.push_some(name::DESCRIPTORS, all);
        into.push_some(server::DESCRIPTORS_SHARE, highest_share);
    }

    fn pids(&self) -> impl Iterator<Item = &u32> {
        self.members.keys().take(MAX_PROCESSES)
    }
}

/// Returns the soft limit on open files, which is the one that applies.
fn limit(machine: &Machine, pid: u32) -> Option<f64> {
    let text = machine.root.text(format!("/proc/{pid}/limits"))?;
    numbers(text.split("Max open files").nth(1)?).next()
}
