//! Reads the threads of processes: the CPU use of the busiest one, their waits for a core,
//! and their context switches.
//!
//! A process's schedstat and status files cover only its first thread, so each thread is read. For
//! a process with one thread both are the same. A kernel without schedstat shows neither the delay
//! nor the exact CPU time: then the ticks of stat are used.

use super::Pace;
use super::ledger::Ledger;
use super::table::Member;
use crate::Root;
use crate::sources::workers::{Thread, parse_cpu_seconds, parse_schedstat};
use crate::sources::{Values, value_of};
use brunt_model::Tick;
use brunt_model::reading_names::server;
use std::collections::BTreeMap;

/// Maximum number of threads whose context switches are read at the quick pace.
const MAX_QUICK_SWITCHES: usize = 32;
/// Maximum number of threads that are read at all at the quick pace.
const MAX_QUICK_THREADS: usize = 256;
/// Maximum number of threads that are read.
const MAX_THREADS: usize = 4096;

/// The counters of the threads at the last reading.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// CPU seconds by thread id.
    last: BTreeMap<u32, f64>,
    last_read: Option<Tick>,
    delay: Ledger,
    switches: [Ledger; 2],
}

impl Tasks {
    pub fn read(
        &mut self,
        root: &Root,
        members: &BTreeMap<u32, Member>,
        now: Tick,
        pace: Pace,
        into: &mut Values,
    ) {
        let threads: f64 = members.values().map(|m| m.threads).sum();
        if threads > MAX_QUICK_THREADS as f64 && pace == Pace::Quick {
            return;
        }
        let folders = thread_folders(root, members);
        self.time(root, &folders, now, into);
        if folders.len() <= MAX_QUICK_SWITCHES || pace == Pace::Slow {
            self.switches(root, &folders, into);
        }
    }

    /// Adds the highest CPU use of a thread, in cores, and the waits for a core.
    fn time(&mut self, root: &Root, folders: &[(u32, String)], now: Tick, into: &mut Values) {
        let threads: Vec<(u32, Thread)> =
            folders.iter().map(|(id, folder)| (*id, thread(root, folder))).collect();
        let cpu: BTreeMap<u32, f64> =
            threads.iter().filter_map(|(id, t)| Some((*id, t.cpu_seconds?))).collect();
        let increases = cpu.iter().filter_map(|(id, seconds)| Some(seconds - self.last.get(id)?));
        let increase = increases.reduce(f64::max).map(|increase| increase.max(0.0));
        let elapsed =
            self.last_read.map(|then| (now - then).as_secs_f64()).filter(|seconds| *seconds > 0.0);
        let share = increase.zip(elapsed).map(|(increase, elapsed)| (increase / elapsed).min(1.0));
        into.push_some(server::BUSIEST_THREAD, share);
        let delays = threads.iter().filter_map(|(id, t)| Some((*id, t.run_delay_seconds?)));
        let delays: BTreeMap<u32, f64> = delays.collect();
        if !delays.is_empty() {
            into.push(server::RUN_DELAY, self.delay.sum(delays));
        }
        self.last = cpu;
        self.last_read = Some(now);
    }

    fn switches(&mut self, root: &Root, folders: &[(u32, String)], into: &mut Values) {
        let texts: Vec<(u32, String)> = folders
            .iter()
            .filter_map(|(id, folder)| Some((*id, root.text(format!("{folder}/status"))?)))
            .collect();
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

/// Returns a folder for each thread, with the thread's id.
fn thread_folders(root: &Root, members: &BTreeMap<u32, Member>) -> Vec<(u32, String)> {
    let mut folders = Vec::new();
    for (pid, member) in members {
        if member.threads <= 1.0 {
            folders.push((*pid, format!("/proc/{pid}")));
            continue;
        }
        let threads = root.names(format!("/proc/{pid}/task"));
        folders.extend(
            threads
                .into_iter()
                .filter_map(|id| Some((id.parse().ok()?, format!("/proc/{pid}/task/{id}")))),
        );
    }
    folders.truncate(MAX_THREADS);
    folders
}

fn thread(root: &Root, folder: &str) -> Thread {
    let times = root
        .text(format!("{folder}/schedstat"))
        .map(|text| parse_schedstat(&text))
        .unwrap_or_default();
    if times.cpu_seconds.is_some() {
        return times;
    }
    let cpu_seconds = root.text(format!("{folder}/stat")).as_deref().and_then(parse_cpu_seconds);
    Thread { cpu_seconds, run_delay_seconds: None }
}
