//! The threads of processes: the busiest of them, how long they waited for a core, and how often they left one.
//!
//! A process's own schedstat and status are those of its first thread alone, so each thread is read; only of one thread
//! they are the same. A kernel without schedstat shows neither delay nor the exact time: then its ticks are told.

use super::Pace;
use super::ledger::Ledger;
use super::table::Member;
use crate::Root;
use crate::sources::workers::{Thread, cpu_of_stat, of_schedstat};
use crate::sources::{Values, value_of};
use brunt_model::Tick;
use brunt_model::reading_names::server;
use std::collections::BTreeMap;

/// With more threads than this, their switches are read seldom.
const FEW: usize = 32;
/// With more than this, so is everything else about threads.
const MANY: usize = 256;
/// Threads looked at, at most.
const MOST: usize = 4096;

/// What was known of the threads at the last reading.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// CPU seconds by thread, and when.
    last: BTreeMap<u32, f64>,
    read_at: Option<Tick>,
    delay: Ledger,
    switches: [Ledger; 2],
}

impl Tasks {
    pub fn read(&mut self, root: &Root, members: &BTreeMap<u32, Member>, now: Tick, pace: Pace, into: &mut Values) {
        let threads: f64 = members.values().map(|m| m.threads).sum();
        if threads > MANY as f64 && pace == Pace::Quick {
            return;
        }
        let folders = folders(root, members);
        self.time(root, &folders, now, into);
        if folders.len() <= FEW || pace == Pace::Slow {
            self.switches(root, &folders, into);
        }
    }

    /// Shares of a core, and waiting for one.
    fn time(&mut self, root: &Root, folders: &[(u32, String)], now: Tick, into: &mut Values) {
        let seen: Vec<(u32, Thread)> = folders.iter().map(|(id, folder)| (*id, thread(root, folder))).collect();
        let cpu: BTreeMap<u32, f64> = seen.iter().filter_map(|(id, t)| Some((*id, t.cpu_seconds?))).collect();
        let passed = self.read_at.map(|then| (now - then).as_secs_f64()).filter(|s| *s > 0.0);
        let share = |seconds: f64| passed.map(|passed| (seconds / passed).min(1.0));
        let grown = cpu.iter().filter_map(|(id, now)| Some(now - self.last.get(id)?)).reduce(f64::max);
        into.push_some(server::BUSIEST_THREAD, grown.map(|g| g.max(0.0)).and_then(share));
        let delays: BTreeMap<u32, f64> = seen.iter().filter_map(|(id, t)| Some((*id, t.run_delay_seconds?))).collect();
        if !delays.is_empty() {
            into.push(server::RUN_DELAY, self.delay.sum(delays));
        }
        self.last = cpu;
        self.read_at = Some(now);
    }

    fn switches(&mut self, root: &Root, folders: &[(u32, String)], into: &mut Values) {
        let texts: Vec<(u32, String)> =
            folders.iter().filter_map(|(id, folder)| Some((*id, root.text(format!("{folder}/status"))?))).collect();
        let kinds = [
            ("voluntary_ctxt_switches", server::SWITCHES_VOLUNTARY),
            ("nonvoluntary_ctxt_switches", server::SWITCHES_FORCED),
        ];
        for ((key, name), ledger) in kinds.into_iter().zip(&mut self.switches) {
            let now: BTreeMap<u32, f64> =
                texts.iter().filter_map(|(id, text)| Some((*id, value_of(text, key)?))).collect();
            if !now.is_empty() {
                into.push(name, ledger.sum(now));
            }
        }
    }
}

/// A folder for each thread, by its number.
fn folders(root: &Root, members: &BTreeMap<u32, Member>) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for (pid, member) in members {
        if member.threads <= 1.0 {
            found.push((*pid, format!("/proc/{pid}")));
            continue;
        }
        let threads = root.names(format!("/proc/{pid}/task"));
        found.extend(threads.into_iter().filter_map(|id| Some((id.parse().ok()?, format!("/proc/{pid}/task/{id}")))));
    }
    found.truncate(MOST);
    found
}

fn thread(root: &Root, folder: &str) -> Thread {
    let seen = root.text(format!("{folder}/schedstat")).map(|text| of_schedstat(&text)).unwrap_or_default();
    if seen.cpu_seconds.is_some() {
        return seen;
    }
    let cpu_seconds = root.text(format!("{folder}/stat")).as_deref().and_then(cpu_of_stat);
    Thread { cpu_seconds, run_delay_seconds: None }
}
