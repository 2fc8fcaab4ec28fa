//! What each worker's thread got of a core, and how long it waited for one: /proc/self/task/TID/schedstat.
//!
//! Three numbers: nanoseconds on a core, nanoseconds ready and without one, times on a core (kernel docs,
//! scheduler/sched-stats). The first is what `RUSAGE_THREAD` gives, and a thread can be asked for it by another. A
//! kernel built without them says `0 0 0`: then the ticks of stat are told, and no delay.

use super::{Values, numbers};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// Nanoseconds in a second.
const NANOS: f64 = 1e9;
/// Ticks of stat in a second: `USER_HZ`.
const TICKS: f64 = 100.0;

/// What a thread had of the machine so far; None where that is not to be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Thread {
    /// Time on a core, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Time for which it was ready and had none, in seconds.
    pub run_delay_seconds: Option<f64>,
}

/// The threads named `brunt-worker-N`.
pub(crate) struct Workers {
    root: Root,
    /// By number.
    threads: Vec<State>,
}

enum State {
    Unknown,
    There { schedstat: ReopenedFile, stat: ReopenedFile },
    Ended(Thread),
}

impl Workers {
    pub fn new(root: &Root) -> Self {
        Self { root: root.clone(), threads: Vec::new() }
    }

    /// A worker's thread ended, and this is what it had.
    pub fn ended(&mut self, worker: usize, thread: Thread) {
        self.make_room(worker + 1);
        self.threads[worker] = State::Ended(thread);
    }

    pub fn read(&mut self, workers: usize, into: &mut Values) {
        self.make_room(workers);
        if self.threads.iter().any(|thread| matches!(thread, State::Unknown)) {
            self.look();
        }
        for (number, state) in self.threads.iter_mut().enumerate() {
            let thread = match state {
                State::Unknown => continue,
                State::There { schedstat, stat } => thread(schedstat, stat),
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

    /// Finds threads by their names.
    fn look(&mut self) {
        for id in self.root.names("/proc/self/task") {
            let task = format!("/proc/self/task/{id}");
            let Some(name) = self.root.text(format!("{task}/comm")) else { continue };
            let number = name.trim().strip_prefix("brunt-worker-").and_then(|n| n.parse::<usize>().ok());
            let unknown = number.and_then(|n| self.threads.get_mut(n)).filter(|t| matches!(t, State::Unknown));
            if let Some(state) = unknown {
                let [schedstat, stat] = ["schedstat", "stat"].map(|file| self.root.keep(format!("{task}/{file}")));
                *state = State::There { schedstat, stat };
            }
        }
    }
}

/// What a thread had so far.
fn thread(schedstat: &mut ReopenedFile, stat: &mut ReopenedFile) -> Thread {
    let seen = schedstat.text().map(of_schedstat).unwrap_or_default();
    if seen != Thread::default() {
        return seen;
    }
    Thread { cpu_seconds: stat.text().and_then(cpu_of_stat), run_delay_seconds: None }
}

/// What the thread that asks had so far.
pub(crate) fn this_thread(root: &Root) -> Thread {
    root.text("/proc/thread-self/schedstat").map(|text| of_schedstat(&text)).unwrap_or_default()
}

pub(crate) fn of_schedstat(text: &str) -> Thread {
    let mut nanos = numbers(text);
    match (nanos.next(), nanos.next()) {
        (Some(cpu), Some(delay)) if cpu > 0.0 => {
            Thread { cpu_seconds: Some(cpu / NANOS), run_delay_seconds: Some(delay / NANOS) }
        }
        _ => Thread::default(),
    }
}

/// utime and stime, the 14th and 15th field of stat; the name before them, in parentheses, may hold anything.
pub(crate) fn cpu_of_stat(stat: &str) -> Option<f64> {
    let mut ticks = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11).map_while(|t| t.parse::<f64>().ok());
    Some((ticks.next()? + ticks.next()?) / TICKS)
}
