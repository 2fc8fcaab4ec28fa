//! Reads the CPU time of each worker's thread, and the time for which it waited
//! for a core: /proc/self/task/TID/schedstat.
//!
//! The file contains three numbers: nanoseconds on a core, nanoseconds ready without a core, and
//! times on a core (kernel docs, scheduler/sched-stats). The first equals `RUSAGE_THREAD`, and
//! other threads can read it. A kernel without schedstat prints `0 0 0`: then the ticks of stat are
//! used, and the delay is missing.

use super::{Values, numbers};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// Number of nanoseconds per second.
const NANOS: f64 = 1e9;
/// Ticks of stat per second: `USER_HZ`.
const TICKS: f64 = 100.0;

/// CPU figures of a thread so far. None if the system does not show them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Thread {
    /// Time on a core, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Time for which it was ready and had no core, in seconds.
    pub run_delay_seconds: Option<f64>,
}

/// The threads named `brunt-worker-N`.
pub(crate) struct Workers {
    root: Root,
    /// The threads by worker number.
    threads: Vec<State>,
}

enum State {
    Unknown,
    Running { schedstat: ReopenedFile, stat: ReopenedFile },
    Ended(Thread),
}

impl Workers {
    pub fn new(root: &Root) -> Self {
        Self { root: root.clone(), threads: Vec::new() }
    }

    /// Records the final figures of a worker's thread.
    pub fn record_end(&mut self, worker: usize, thread: Thread) {
        self.make_room(worker + 1);
        self.threads[worker] = State::Ended(thread);
    }

    pub fn read(&mut self, workers: usize, into: &mut Values) {
        self.make_room(workers);
        if self.threads.iter().any(|thread| matches!(thread, State::Unknown)) {
            self.find_threads();
        }
        for (number, state) in self.threads.iter_mut().enumerate() {
            let thread = match state {
                State::Unknown => continue,
                State::Running { schedstat, stat } => thread(schedstat, stat),
                State::Ended(thread) => *thread,
            };
            into.push_some(name::worker_cpu(number), thread.cpu_seconds);
            into.push_some(name::worker_run_delay(number), thread.run_delay_seconds);
        }
    }

    fn make_room(&mut self, workers: usize) {
        let missing = workers.saturating_sub(self.threads.len());
        self.threads.extend((0..missing).map(|_| State::Unknown));
    }

    /// Finds the threads by their names.
    fn find_threads(&mut self) {
        for id in self.root.names("/proc/self/task") {
            let task = format!("/proc/self/task/{id}");
            let Some(name) = self.root.text(format!("{task}/comm")) else { continue };
            let number =
                name.trim().strip_prefix("brunt-worker-").and_then(|n| n.parse::<usize>().ok());
            let unknown = number
                .and_then(|n| self.threads.get_mut(n))
                .filter(|t| matches!(t, State::Unknown));
            if let Some(state) = unknown {
                let [schedstat, stat] =
                    ["schedstat", "stat"].map(|file| self.root.keep(format!("{task}/{file}")));
                *state = State::Running { schedstat, stat };
            }
        }
    }
}

/// Reads the figures of a thread.
fn thread(schedstat: &mut ReopenedFile, stat: &mut ReopenedFile) -> Thread {
    let times = schedstat.text().map(parse_schedstat).unwrap_or_default();
    if times != Thread::default() {
        return times;
    }
    // A kernel without CONFIG_SCHED_INFO shows zeros in schedstat.
    Thread { cpu_seconds: stat.text().and_then(parse_cpu_seconds), run_delay_seconds: None }
}

/// Returns the figures of the calling thread.
pub(crate) fn this_thread(root: &Root) -> Thread {
    root.text("/proc/thread-self/schedstat").map(|text| parse_schedstat(&text)).unwrap_or_default()
}

/// Parses a schedstat file. Returns no figures if the kernel does not fill it.
pub(crate) fn parse_schedstat(text: &str) -> Thread {
    let mut nanos = numbers(text);
    match (nanos.next(), nanos.next()) {
        (Some(cpu), Some(delay)) if cpu > 0.0 => {
            Thread { cpu_seconds: Some(cpu / NANOS), run_delay_seconds: Some(delay / NANOS) }
        }
        _ => Thread::default(),
    }
}

/// Returns utime and stime, the 14th and 15th field of stat, in seconds. The name before them, in
/// parentheses, may contain any character.
pub(crate) fn parse_cpu_seconds(stat: &str) -> Option<f64> {
    let mut ticks = stat
        .rsplit_once(')')?
        .1
        .split_ascii_whitespace()
        .skip(11)
        .map_while(|t| t.parse::<f64>().ok());
    Some((ticks.next()? + ticks.next()?) / TICKS)
}
