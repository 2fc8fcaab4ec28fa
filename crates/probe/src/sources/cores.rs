//! The machine's cores, from /proc/stat (proc(5)); in a container they are those of the whole machine.

use super::{Source, Values, numbers};
use crate::root::{Kept, Root};
use brunt_model::reading_names as name;

/// Ticks of /proc/stat in a second: `USER_HZ`, 100 on every architecture that Linux still runs on.
const TICKS: f64 = 100.0;

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
    stat: Kept,
    /// By core, at the last reading: ticks spent on deferred interrupts, and in all.
    last: Vec<(f64, f64)>,
}

impl Cores {
    pub fn open(root: &Root) -> Self {
        Self { stat: root.keep("/proc/stat"), last: Vec::new() }
    }
}

impl Source for Cores {
    fn read(&mut self, into: &mut Values) {
        let Some(stat) = self.stat.text() else { return };
        let mut lines = stat.lines().take_while(|line| line.starts_with("cpu")).map(parts);
        let Some(all) = lines.next() else { return };
        let now: Vec<(f64, f64)> = lines.map(|core| (core.softirq, core.all())).collect();
        let parts = [all.user, all.system, all.softirq, all.idle, all.iowait, all.steal];
        for (name, ticks) in name::HOST_PARTS.into_iter().zip(parts) {
            into.push(name, ticks / TICKS);
        }
        into.push_some(name::BUSIEST_SOFTIRQ, busiest(&self.last, &now));
        self.last = now;
    }
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
    fn all(self) -> f64 {
        self.user + self.system + self.softirq + self.idle + self.iowait + self.steal
    }
}

/// The greatest share of a core's time that went to deferred interrupts; None where too little time has passed.
fn busiest(from: &[(f64, f64)], to: &[(f64, f64)]) -> Option<f64> {
    let cores = from.iter().zip(to).filter(|(a, b)| b.1 - a.1 >= TICKS / 10.0);
    cores.map(|(a, b)| (b.0 - a.0) / (b.1 - a.1)).reduce(f64::max)
}
