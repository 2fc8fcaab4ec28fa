//! Whether others used the machine during a trial: then a tool's error may be theirs.
//!
//! Other processes are what was busy in user mode and in the kernel, less what we and our children used. The children (the
//! server and the tool) must have ended: only then the system has counted them.

use brunt_model::reading_names as name;
use brunt_probe::Ourselves;
use std::fs;

/// Of all cores, what others may use.
const MOST_USED: f64 = 0.05;
/// Of all cores, what the hypervisor may take.
const MOST_STOLEN: f64 = 0.02;
/// Ticks of /proc/self/stat in a second: `USER_HZ`.
const TICKS: f64 = 100.0;

/// CPU time so far, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine {
    /// Of all cores, in user mode and in the kernel.
    busy: f64,
    /// Taken by the hypervisor.
    stolen: f64,
    /// Of all cores, whatever they did.
    all: f64,
    /// By us and by our children that have ended.
    ours: f64,
}

impl Machine {
    /// Now.
    pub fn now() -> Self {
        let values = Ourselves::new(&[]).read(0);
        let of = |wanted: &str| values.iter().find(|value| value.0 == wanted).map_or(0.0, |value| value.1);
        Self {
            busy: of(name::HOST_USER) + of(name::HOST_SYSTEM),
            stolen: of(name::HOST_STEAL),
            all: name::HOST_PARTS.into_iter().map(of).sum(),
            ours: ours(),
        }
    }

    /// Who disturbed it since `before`; None: nobody to speak of.
    pub fn disturbed_since(&self, before: &Self) -> Option<String> {
        let all = self.all - before.all;
        let others = (self.busy - before.busy) - (self.ours - before.ours);
        let stolen = self.stolen - before.stolen;
        let percent = |seconds: f64| seconds / all * 100.0;
        match all > 0.0 {
            true if others > MOST_USED * all => {
                Some(format!("other processes used {:.0} % of the CPU", percent(others)))
            }
            true if stolen > MOST_STOLEN * all => {
                Some(format!("the hypervisor took {:.0} % of the CPU", percent(stolen)))
            }
            _ => None,
        }
    }
}

/// utime, stime, cutime and cstime of /proc/self/stat (proc(5), fields 14 to 17).
fn ours() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_children_used_disturbs_nobody() {
        let at = |busy, stolen, ours| Machine { busy, stolen, all: 20.0, ours };
        let since = |now: Machine| now.disturbed_since(&Machine::default());
        assert_eq!(since(at(9.0, 0.1, 8.5)), None);
        assert_eq!(since(at(9.0, 0.1, 3.0)).as_deref(), Some("other processes used 30 % of the CPU"));
        assert_eq!(since(at(9.0, 1.0, 9.0)).as_deref(), Some("the hypervisor took 5 % of the CPU"));
        assert_eq!(Machine::default().disturbed_since(&Machine::default()), None);
    }
}
