//! Our own CPU time and memory.

use std::fs;

/// Our own use of the machine since it was made.
#[derive(Debug)]
pub struct Ourselves {
    began: Cpu,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    user_seconds: f64,
    system_seconds: f64,
}

impl Ourselves {
    /// Begins to count.
    #[allow(clippy::new_without_default)] // it reads the system: not a value one has by default
    pub fn new() -> Self {
        Self { began: cpu() }
    }

    /// Names, with their unit, and values. What the system does not show is left out.
    pub fn read(&self, threads: u32) -> Vec<(String, f64)> {
        let now = cpu();
        let mut values = vec![
            ("cpu_user_seconds".to_owned(), now.user_seconds - self.began.user_seconds),
            ("cpu_system_seconds".to_owned(), now.system_seconds - self.began.system_seconds),
            ("threads".to_owned(), f64::from(threads)),
        ];
        if let Some(bytes) = peak_rss_bytes() {
            values.push(("peak_rss_bytes".to_owned(), bytes));
        }
        values
    }
}

/// The whole process, from /proc/self/stat (proc(5): utime and stime are fields 14 and 15, in ticks of 10 ms), made
/// finer by the process's CPU clock: their sum is exact to the nanosecond, only their shares are coarse.
#[cfg(target_os = "linux")]
fn cpu() -> Cpu {
    use rustix::time::{ClockId, clock_gettime};
    let total = clock_gettime(ClockId::ProcessCPUTime);
    let total = total.tv_sec as f64 + total.tv_nsec as f64 / 1e9;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    let (user, system) = (ticks(11), ticks(12));
    let share = if user + system > 0.0 { user / (user + system) } else { 1.0 };
    Cpu { user_seconds: total * share, system_seconds: total * (1.0 - share) }
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
