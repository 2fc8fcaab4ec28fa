//! What we use of our machine, and what it gives.
//!
//! One reading is a list of names and values (`brunt_model::reading_names`); what the system does not show is left
//! out. Needs no privileges. Out of scope: the judge; a reading says nothing about what it means.

use crate::root::Root;
use crate::sources::workers::{self, Workers};
use crate::sources::{Neighbors, SOURCES, Source, Values};
use brunt_model::reading_names as name;
use std::fs;

pub use crate::sources::workers::Thread;

/// Our own use of the machine since it was made, and what the machine shows of itself.
pub struct Ourselves {
    began: Cpu,
    workers: Workers,
    sources: Vec<Box<dyn Source>>,
}

/// What the whole process has used so far.
#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    /// User and system together, exactly.
    seconds: f64,
    /// Their parts, in ticks of 10 ms: coarse.
    user_ticks: f64,
    system_ticks: f64,
}

impl Ourselves {
    /// Begins to count, on this machine. `server`: the processes that are the server with their children; empty where
    /// they are not known.
    pub fn new(server: &[u32]) -> Self {
        Self::of(&Root::system(), server)
    }

    /// Reads the files of a recorded tree in place of this machine's.
    pub fn of(root: &Root, server: &[u32]) -> Self {
        let neighbors: Box<dyn Source> = Box::new(Neighbors::open(root, server));
        let sources = SOURCES.iter().map(|open| open(root)).chain([neighbors]).collect();
        Self { began: cpu(), workers: Workers::new(root), sources }
    }

    /// A worker's thread has ended: from now on this is what is told of it.
    pub fn worker_ended(&mut self, worker: usize, thread: Thread) {
        self.workers.ended(worker, thread);
    }

    /// Names, with their unit, and values. What the system does not show is left out. `workers`: threads named
    /// `brunt-worker-N`.
    pub fn read(&mut self, workers: u32) -> Vec<(String, f64)> {
        let (user, system) = split(self.began, cpu());
        let mut values = Values::default();
        values.push(name::CPU_USER, user);
        values.push(name::CPU_SYSTEM, system);
        values.push(name::THREADS, f64::from(workers));
        self.workers.read(workers as usize, &mut values);
        for source in &mut self.sources {
            source.read(&mut values);
        }
        values.0
    }
}

/// What the thread that asks has had of the machine so far.
pub fn this_thread() -> Thread {
    workers::this_thread(&Root::system())
}

/// User and system seconds between two readings: their sum is exact, their shares are as the ticks between them.
fn split(from: Cpu, to: Cpu) -> (f64, f64) {
    let seconds = (to.seconds - from.seconds).max(0.0);
    let (user, system) = (to.user_ticks - from.user_ticks, to.system_ticks - from.system_ticks);
    let share = if user + system > 0.0 { (user / (user + system)).clamp(0.0, 1.0) } else { 1.0 };
    (seconds * share, seconds * (1.0 - share))
}

/// The process's CPU clock, and utime and stime of /proc/self/stat (proc(5), fields 14 and 15).
#[cfg(target_os = "linux")]
fn cpu() -> Cpu {
    use rustix::time::{ClockId, clock_gettime};
    let total = clock_gettime(ClockId::ProcessCPUTime);
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    Cpu { seconds: total.tv_sec as f64 + total.tv_nsec as f64 / 1e9, user_ticks: ticks(11), system_ticks: ticks(12) }
}

#[cfg(not(target_os = "linux"))]
fn cpu() -> Cpu {
    Cpu::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_of_this_machine_has_what_every_linux_shows() {
        let mut ourselves = Ourselves::new(&[]);
        let (first, second) = (ourselves.read(1), ourselves.read(1));
        let value = |of: &[(String, f64)], name: &str| of.iter().find(|v| v.0 == name).map(|v| v.1);
        for name in [name::CPU_USER, name::HOST_IDLE, name::RESIDENT, name::DESCRIPTORS_LIMIT, name::MEMORY_TOTAL] {
            assert!(value(&first, name).is_some_and(|v| v >= 0.0), "{name} is missing: {first:?}");
        }
        let all = |of: &[(String, f64)]| name::HOST_PARTS.iter().filter_map(|part| value(of, part)).sum::<f64>();
        assert!(all(&second) >= all(&first) && all(&first) > 0.0);
    }

    #[test]
    fn parts_are_never_negative_and_add_up() {
        let from = Cpu { seconds: 0.009, user_ticks: 1.0, system_ticks: 0.0 };
        let to = Cpu { seconds: 0.012, user_ticks: 1.0, system_ticks: 1.0 };
        let (user, system) = split(from, to);
        assert_eq!(user, 0.0);
        assert!((system - 0.003).abs() < 1e-12);
        assert_eq!(split(from, Cpu { seconds: 0.01, ..from }).1, 0.0);
    }
}
