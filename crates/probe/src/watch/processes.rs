//! Processes with their children: what they use of their machine.
//!
//! `select` finds them. All processes of the machine are listed once a round (`table`) for all callers. Counters
//! go on when a process or thread ends (`ledger`). What costs much is read at most each [`SLOW`]: memory by pages, the
//! switches of many threads, descriptors where they must be counted.

mod accept;
mod ledger;
pub(super) mod listening;
mod select;
mod table;
mod tasks;

pub(super) use table::Table;

use super::machine::{Machine, ReadList};
use super::{Trouble, ssh::quoted};
use crate::sources::{Values, numbers, value_of};
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

/// What costs much is read at most this often.
const SLOW: Duration = Duration::from_secs(5);
/// Processes that are looked at one by one, at most; the rest counts in CPU time and threads only.
const MOST_PROCESSES: usize = 256;

/// How thorough a reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// What costs little.
    Quick,
    /// Everything.
    Slow,
}

/// What one probe reads of processes.
pub(super) struct Processes {
    finder: Finder,
    members: BTreeMap<u32, Member>,
    cpu: CpuLedger,
    tasks: Tasks,
    accept: AcceptQueue,
    /// By pid: the most descriptors that it may have.
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

    /// What is asked of another machine: all processes, and more of those that were found last time.
    pub fn wants(&self, into: &mut ReadList) {
        into.processes = true;
        into.files.push("/proc/[0-9]*/stat".into());
        match &self.finder.select {
            Select::PidFile(path) => into.files.push(quoted(&path.to_string_lossy())),
            Select::Cgroup(path) => into.files.extend(select::group_patterns(path)),
            _ => {}
        }
        for (pid, member) in self.members.iter().take(MOST_PROCESSES) {
            for file in ["status", "schedstat", "limits", "smaps_rollup"] {
                into.files.push(format!("/proc/{pid}/{file}"));
            }
            if member.threads > 1.0 {
                into.files.push(format!("/proc/{pid}/task/*/schedstat /proc/{pid}/task/*/status"));
            }
            into.counts.push(format!("/proc/{pid}/fd"));
        }
    }

    /// Reads what was looked at `now`.
    pub fn read(&mut self, machine: &Machine, now: Tick, into: &mut Values) -> Result<(), Trouble> {
        let pace = self.pace(now);
        self.find(machine, pace)?;
        self.processor(into);
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

    /// Whoever is selected now, with their children; and those of before that are still there.
    fn find(&mut self, machine: &Machine, pace: Pace) -> Result<(), Trouble> {
        let roots = self.finder.pids(machine, pace)?;
        let still_there = self.members.iter().filter(|(pid, m)| machine.table.began(**pid) == Some(m.began));
        let known = still_there.map(|(pid, _)| *pid);
        let members = machine.table.with_children(roots.into_iter().chain(known));
        self.limits.retain(|pid, _| members.contains_key(pid));
        self.members = members;
        if self.members.is_empty() { Err(Trouble::NoProcess(select::words(&self.finder.select))) } else { Ok(()) }
    }

    fn processor(&mut self, into: &mut Values) {
        let (user, system) = self.cpu.sum(&self.members);
        into.push(server::PROCESSES, self.members.len() as f64);
        into.push(server::THREADS, self.members.values().map(|m| m.threads).sum());
        into.push(name::CPU_USER, user);
        into.push(name::CPU_SYSTEM, system);
    }

    /// Resident memory of all, and by pages where that is due.
    fn memory(&self, machine: &Machine, pace: Pace, into: &mut Values) {
        let sum = |file: &str, key: &str| {
            let of = |pid: &u32| Some(value_of(&machine.root.text(format!("/proc/{pid}/{file}"))?, key)? * 1024.0);
            self.looked_at().filter_map(of).reduce(|a, b| a + b)
        };
        into.push_some(name::RESIDENT, sum("status", "VmRSS"));
        if pace == Pace::Slow {
            into.push_some(server::PROPORTIONAL, sum("smaps_rollup", "Pss:"));
        }
    }

    /// All that are open, and the share of its limit that the fullest process has.
    fn descriptors(&mut self, machine: &Machine, pace: Pace, into: &mut Values) {
        let (mut all, mut fullest) = (None, None);
        let pids: Vec<u32> = self.looked_at().copied().collect();
        for pid in pids {
            let Some(open) = machine.descriptors(pid, pace) else { continue };
            let limit = self.limits.get(&pid).copied().or_else(|| limit(machine, pid));
            all = Some(all.unwrap_or(0.0) + open);
            if let Some(limit) = limit {
                self.limits.insert(pid, limit);
                fullest = Some(f64::max(fullest.unwrap_or(0.0), open / limit));
            }
        }
        into.push_some(name::DESCRIPTORS, all);
        into.push_some(server::DESCRIPTORS_SHARE, fullest);
    }

    fn looked_at(&self) -> impl Iterator<Item = &u32> {
        self.members.keys().take(MOST_PROCESSES)
    }
}

/// The soft limit on open files, which is what holds.
fn limit(machine: &Machine, pid: u32) -> Option<f64> {
    let text = machine.root.text(format!("/proc/{pid}/limits"))?;
    numbers(text.split("Max open files").nth(1)?).next()
}
