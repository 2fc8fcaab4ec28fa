//! Reads the use of the machine's cores from /proc/stat (proc(5)). In a container these are the
//! cores of the whole machine.

use super::{Source, Values, numbers, value_of};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names::{self as name, server};

/// Ticks of /proc/stat per second: `USER_HZ`, which is 100 on every architecture
/// that Linux still supports.
const TICKS: f64 = 100.0;
/// Maximum number of cores that are reported individually.
const MAX_CORES: usize = 128;

/// Time of a core by kind, in ticks since the machine started.
#[derive(Debug, Clone, Copy, Default)]
struct CoreTime {
    user: f64,
    system: f64,
    softirq: f64,
    idle: f64,
    iowait: f64,
    steal: f64,
}

/// The machine's cores.
pub(super) struct Cores {
    stat: ReopenedFile,
    /// For each core at the last reading: ticks spent on deferred interrupts, and all ticks.
    last: Vec<(f64, f64)>,
    detail: Detail,
}

/// Level of detail of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// The sum of all cores.
    Sum,
    /// Each core in addition to the sum, and the tasks that need a core.
    PerCore,
}

impl Cores {
    /// Opens a source of the sum of all cores.
    pub fn open(root: &Root) -> Self {
        Self { stat: root.keep("/proc/stat"), last: Vec::new(), detail: Detail::Sum }
    }

    /// Opens a source that also reports each core.
    pub fn open_per_core(root: &Root) -> Self {
        Self { detail: Detail::PerCore, ..Self::open(root) }
    }
}

impl Source for Cores {
    fn read(&mut self, into: &mut Values) {
        let Some(stat) = self.stat.text() else { return };
        let mut lines = stat.lines().take_while(|line| line.starts_with("cpu")).map(core_time);
        let Some(all) = lines.next() else { return };
        let cores: Vec<CoreTime> = lines.collect();
        let now: Vec<(f64, f64)> = cores.iter().map(|core| (core.softirq, core.all())).collect();
        let parts = [all.user, all.system, all.softirq, all.idle, all.iowait, all.steal];
        for (name, ticks) in name::HOST_PARTS.into_iter().zip(parts) {
            into.push(name, ticks / TICKS);
        }
        into.push_some(name::BUSIEST_SOFTIRQ, highest_softirq_share(&self.last, &now));
        self.last = now;
        if self.detail == Detail::PerCore {
            push_per_core(stat, &cores, into);
        }
    }
}

/// Adds the number of cores, the busy time of each, and the number of tasks that need a core.
fn push_per_core(stat: &str, cores: &[CoreTime], into: &mut Values) {
    into.push(server::CORES, cores.len() as f64);
    for (number, core) in cores.iter().enumerate().take(MAX_CORES) {
        into.push(server::core_busy(number), core.busy() / TICKS);
    }
    into.push_some(server::TASKS_RUNNING, value_of(stat, "procs_running"));
    into.push_some(server::TASKS_BLOCKED, value_of(stat, "procs_blocked"));
}

/// Parses a line after its name. Kinds that an old kernel lacks are 0. Time of guests is already
/// part of user time.
fn core_time(line: &str) -> CoreTime {
    let mut ticks = [0.0; 8];
    for (slot, number) in ticks.iter_mut().zip(numbers(line)) {
        *slot = number;
    }
    let [user, nice, system, idle, iowait, interrupts, softirq, steal] = ticks;
    CoreTime { user: user + nice, system: system + interrupts, softirq, idle, iowait, steal }
}

impl CoreTime {
    fn busy(self) -> f64 {
        self.user + self.system + self.softirq
    }

    fn all(self) -> f64 {
        self.user + self.system + self.softirq + self.idle + self.iowait + self.steal
    }
}

/// Returns the highest share of a core's time that went to deferred interrupts. None if too
/// little time has passed.
fn highest_softirq_share(from: &[(f64, f64)], to: &[(f64, f64)]) -> Option<f64> {
    // Over a few ticks, a share would be mostly rounding.
    let cores = from.iter().zip(to).filter(|(a, b)| b.1 - a.1 >= TICKS / 10.0);
    cores.map(|(a, b)| (b.0 - a.0) / (b.1 - a.1)).reduce(f64::max)
}
