//! Our own CPU time and memory.

use std::fs;

/// Our own use of the machine since it was made.
#[derive(Debug)]
pub struct Ourselves {
    began: Cpu,
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
    /// Begins to count.
    #[allow(clippy::new_without_default)] // it reads the system: not a value one has by default
    pub fn new() -> Self {
        Self { began: cpu() }
    }

    /// Names, with their unit, and values. What the system does not show is left out.
    pub fn read(&self, threads: u32) -> Vec<(String, f64)> {
        let (user, system) = split(self.began, cpu());
        let mut values = vec![
            ("cpu_user_seconds".to_owned(), user),
            ("cpu_system_seconds".to_owned(), system),
            ("threads".to_owned(), f64::from(threads)),
        ];
        if let Some(bytes) = peak_rss_bytes() {
            values.push(("peak_rss_bytes".to_owned(), bytes));
        }
        values
    }
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

/// The most memory that was resident, from /proc/self/status.
fn peak_rss_bytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
