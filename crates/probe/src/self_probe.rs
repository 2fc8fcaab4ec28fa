//! Reads the resources that this process uses, and those that its machine provides.
//!
//! A reading is a list of names and values (`brunt_model::reading_names`). Values that the system
//! does not show are missing. It needs no privileges, and does not interpret the values.

use crate::root::Root;
use crate::sources::workers::{self, Workers};
use crate::sources::{Neighbors, ReadingMoment, SOURCES, Source, Values};
use brunt_model::reading_names as name;
use std::fs;

pub use crate::sources::workers::Thread;

/// Reads this process's use of the machine since a start, and the state of the machine.
pub struct SelfProbe {
    start: CpuTime,
    workers: Workers,
    sources: Vec<Box<dyn Source>>,
    neighbors: Neighbors,
}

/// CPU time that the whole process has used so far.
#[derive(Debug, Clone, Copy, Default)]
struct CpuTime {
    /// User and system time together, exact.
    seconds: f64,
    /// User time, in ticks of 10 ms.
    user_ticks: f64,
    /// System time, in ticks of 10 ms.
    system_ticks: f64,
}

impl SelfProbe {
    /// Starts counting on this machine. `server` contains the pids of the server and its
    /// children; empty if unknown.
    pub fn new(server: &[u32]) -> Self {
        Self::in_tree(&Root::system(), server)
    }

    /// Like [`new`](Self::new), but reads the files of a recorded tree.
    pub fn in_tree(root: &Root, server: &[u32]) -> Self {
        Self {
            start: cpu_time(),
            workers: Workers::new(root),
            sources: SOURCES.iter().map(|open| open(root)).collect(),
            neighbors: Neighbors::open(root, server),
        }
    }

    /// Records the final figures of a worker's thread that has ended. Later readings contain them.
    pub fn worker_ended(&mut self, worker: usize, thread: Thread) {
        self.workers.record_end(worker, thread);
    }

    /// Returns names, with their unit, and values. Values that the system does not show are
    /// missing. `workers` is the number of threads named `brunt-worker-N`.
    pub fn read(&mut self, workers: u32, moment: ReadingMoment) -> Vec<(String, f64)> {
        let (user, system) = split(self.start, cpu_time());
        let mut values = Values::default();
        values.push(name::CPU_USER, user);
        values.push(name::CPU_SYSTEM, system);
        values.push(name::THREADS, f64::from(workers));
        self.workers.read(workers as usize, &mut values);
        for source in &mut self.sources {
            source.read(&mut values);
        }
        self.neighbors.read(moment, &mut values);
        values.0
    }
}

/// Returns the CPU figures of the calling thread so far.
pub fn this_thread() -> Thread {
    workers::this_thread(&Root::system())
}

/// Returns the user and system seconds between two readings. Their sum is exact; their ratio is
/// that of the ticks.
fn split(from: CpuTime, to: CpuTime) -> (f64, f64) {
    let seconds = (to.seconds - from.seconds).max(0.0);
    let user = to.user_ticks - from.user_ticks;
    let system = to.system_ticks - from.system_ticks;
    // Within one tick the kinds are unknown, and all time counts as user time.
    let share = if user + system > 0.0 { (user / (user + system)).clamp(0.0, 1.0) } else { 1.0 };
    (seconds * share, seconds * (1.0 - share))
}

/// Reads the process's CPU clock, and utime and stime of /proc/self/stat (proc(5),
/// fields 14 and 15).
#[cfg(target_os = "linux")]
fn cpu_time() -> CpuTime {
    use rustix::time::{ClockId, clock_gettime};
    let total = clock_gettime(ClockId::ProcessCPUTime);
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    CpuTime {
        seconds: total.tv_sec as f64 + total.tv_nsec as f64 / 1e9,
        user_ticks: number_at(&fields, 11),
        system_ticks: number_at(&fields, 12),
    }
}

#[cfg(target_os = "linux")]
fn number_at(fields: &[&str], index: usize) -> f64 {
    fields.get(index).and_then(|field| field.parse().ok()).unwrap_or(0.0)
}

#[cfg(not(target_os = "linux"))]
fn cpu_time() -> CpuTime {
    CpuTime::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_of_this_machine_has_the_common_values_of_linux() {
        let mut probe = SelfProbe::new(&[]);
        let (first, second) =
            (probe.read(1, ReadingMoment::Edge), probe.read(1, ReadingMoment::Edge));
        let value = |of: &[(String, f64)], name: &str| of.iter().find(|v| v.0 == name).map(|v| v.1);
        for name in [
            name::CPU_USER,
            name::HOST_IDLE,
            name::RESIDENT,
            name::DESCRIPTORS_LIMIT,
            name::MEMORY_TOTAL,
        ] {
            assert!(value(&first, name).is_some_and(|v| v >= 0.0), "{name} is missing: {first:?}");
        }
        let all = |of: &[(String, f64)]| {
            name::HOST_PARTS.iter().filter_map(|part| value(of, part)).sum::<f64>()
        };
        assert!(all(&second) >= all(&first) && all(&first) > 0.0);
    }

    #[test]
    fn parts_are_never_negative_and_add_up() {
        let from = CpuTime { seconds: 0.009, user_ticks: 1.0, system_ticks: 0.0 };
        let to = CpuTime { seconds: 0.012, user_ticks: 1.0, system_ticks: 1.0 };
        let (user, system) = split(from, to);
        assert_eq!(user, 0.0);
        assert!((system - 0.003).abs() < 1e-12);
        assert_eq!(split(from, CpuTime { seconds: 0.01, ..from }).1, 0.0);
    }
}
