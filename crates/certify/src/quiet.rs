//! Detects other processes that used the machine during a trial, and may have
//! caused a tool's error.
//!
//! Their usage is the busy time in user mode and in the kernel, minus that of brunt and its
//! children. The children (the server and the tool) must have ended, because the system counts
//! their time only then.

use brunt_model::reading_names as name;
use brunt_probe::{ReadingMoment, SelfProbe};
use std::fs;

/// Maximum share of all cores that other processes may use.
const MOST_USED: f64 = 0.05;
/// Maximum share of all cores that the hypervisor may take.
const MOST_STOLEN: f64 = 0.02;
/// Ticks of /proc/self/stat in a second: `USER_HZ`.
const TICKS: f64 = 100.0;

/// CPU time so far, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuTimes {
    /// Of all cores, in user mode and in the kernel.
    busy: f64,
    /// Taken by the hypervisor.
    stolen: f64,
    /// Of all cores, in any state.
    all: f64,
    /// Used by brunt and its children that have ended.
    ours: f64,
}

impl CpuTimes {
    /// Reads the current values.
    pub fn now() -> Self {
        let values = SelfProbe::new(&[]).read(0, ReadingMoment::Within);
        Self {
            busy: reading(&values, name::HOST_USER) + reading(&values, name::HOST_SYSTEM),
            stolen: reading(&values, name::HOST_STEAL),
            all: name::HOST_PARTS.into_iter().map(|part| reading(&values, part)).sum(),
            ours: ours(),
        }
    }

    /// Returns a sentence on a disturbance since `before`; None if there was no considerable one.
    pub fn disturbed_since(&self, before: &Self) -> Option<String> {
        let all = self.all - before.all;
        // The load of brunt, the server and the tool is no disturbance.
        let others = (self.busy - before.busy) - (self.ours - before.ours);
        let stolen = self.stolen - before.stolen;
        if all <= 0.0 {
            return None;
        }
        if others > MOST_USED * all {
            return Some(format!("other processes used {:.0} % of the CPU", others / all * 100.0));
        }
        (stolen > MOST_STOLEN * all)
            .then(|| format!("the hypervisor took {:.0} % of the CPU", stolen / all * 100.0))
    }
}

fn reading(values: &[(String, f64)], name: &str) -> f64 {
    values.iter().find(|value| value.0 == name).map_or(0.0, |value| value.1)
}

/// CPU seconds of brunt and its ended children: utime, stime, cutime and cstime of /proc/self/stat
/// (proc(5), fields 14 to 17).
fn ours() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_of_child_processes_is_not_a_disturbance() {
        let at = |busy, stolen, ours| CpuTimes { busy, stolen, all: 20.0, ours };
        let since = |now: CpuTimes| now.disturbed_since(&CpuTimes::default());
        assert_eq!(since(at(9.0, 0.1, 8.5)), None);
        assert_eq!(
            since(at(9.0, 0.1, 3.0)).as_deref(),
            Some("other processes used 30 % of the CPU")
        );
        assert_eq!(since(at(9.0, 1.0, 9.0)).as_deref(), Some("the hypervisor took 5 % of the CPU"));
        assert_eq!(CpuTimes::default().disturbed_since(&CpuTimes::default()), None);
    }
}
