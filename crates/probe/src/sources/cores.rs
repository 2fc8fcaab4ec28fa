//! The machine's cores, from /proc/stat (proc(5)); in a container they are those of the whole machine.

use super::{Source, Values, numbers, value_of};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names::{self as name, server};

/// Ticks of /proc/stat in a second: `USER_HZ`, 100 on every architecture that Linux still runs on.
const TICKS: f64 = 100.0;
/// Cores that are told one by one, at most.
const MOST_CORES: usize = 128;

/// What a core did, in ticks since the machine started.
#[derive(Debug, Clone, Copy, Default)]
struct Parts {
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
    /// By core, at the last reading: ticks spent on deferred interrupts, and in all.
    last: Vec<(f64, f64)>,
    detail: Detail,
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// All cores together.
    Together,
    /// Each core beside that, and the tasks that want one.
    Each,
}

impl Cores {
    /// All cores together.
    pub fn open(root: &Root) -> Self {
        Self { stat: root.keep("/proc/stat"), last: Vec::new(), detail: Detail::Together }
    }

    /// Each core as well.
    pub fn each(root: &Root) -> Self {
        Self { detail: Detail::Each, ..Self::open(root) }
    }
}

impl Source for Cores {
    fn read(&mut self, into: &mut Values) {
        let Some(stat) = self.stat.text() else { return };
        let mut lines = stat.lines().take_while(|line| line.starts_with("cpu")).map(parts);
        let Some(all) = lines.next() else { return };
        let cores: Vec<Parts> = lines.collect();
        let now: Vec<(f64, f64)> = cores.iter().map(|core| (core.softirq, core.all())).collect();
        let parts = [all.user, all.system, all.softirq, all.idle, all.iowait, all.steal];
        for (name, ticks) in name::HOST_PARTS.into_iter().zip(parts) {
            into.push(name, ticks / TICKS);
        }
        into.push_some(name::BUSIEST_SOFTIRQ, busiest(&self.last, &now));
        self.last = now;
        if self.detail == Detail::Each {
            each(stat, &cores, into);
        }
    }
}

/// How many cores there are, what each did, and how many tasks want one.
fn each(stat: &str, cores: &[Parts], into: &mut Values) {
    into.push(server::CORES, cores.len() as f64);
    for (number, core) in cores.iter().enumerate().take(MOST_CORES) {
        into.push(server::core_busy(number), core.busy() / TICKS);
    }
    into.push_some(server::TASKS_RUNNING, value_of(stat, "procs_running"));
    into.push_some(server::TASKS_BLOCKED, value_of(stat, "procs_blocked"));
}

/// The parts of a line after its name; those that an old kernel lacks are 0. Guests are part of user already.
fn parts(line: &str) -> Parts {
    let mut ticks = numbers(line);
    let mut next = || ticks.next().unwrap_or(0.0);
    let (user, nice, system, idle, iowait) = (next(), next(), next(), next(), next());
    let (interrupts, softirq, steal) = (next(), next(), next());
    Parts { user: user + nice, system: system + interrupts, softirq, idle, iowait, steal }
}

impl Parts {
    fn busy(self) -> f64 {
        self.user + self.system + self.softirq
    }

    fn all(self) -> f64 {
        self.user + self.system + self.softirq + self.idle + self.iowait + self.steal
    }
}

/// The greatest share of a core's time that went to deferred interrupts; None where too little time has passed.
fn busiest(from: &[(f64, f64)], to: &[(f64, f64)]) -> Option<f64> {
    let cores = from.iter().zip(to).filter(|(a, b)| b.1 - a.1 >= TICKS / 10.0);
    cores.map(|(a, b)| (b.0 - a.0) / (b.1 - a.1)).reduce(f64::max)
}
