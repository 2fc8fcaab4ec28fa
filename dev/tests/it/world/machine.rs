//! Measures how much time the hypervisor takes from this machine.

use super::skip::skip;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Number of attempts of a test on a machine with steal time.
const TRIES: usize = 3;

/// Share of steal time above which the figures of a test are not its own.
const MOST_STOLEN: f64 = 0.02;

/// CPU time of the machine since boot, in hundredths of a second.
pub struct Ticks {
    /// Time that is not idle. Includes steal time.
    pub busy: f64,
    pub stolen: f64,
    pub all: f64,
}

impl Ticks {
    pub fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").expect("/proc/stat");
        let line = stat.lines().next().unwrap_or("");
        let parts: Vec<f64> =
            line.split_whitespace().skip(1).flat_map(str::parse).take(8).collect();
        let all = parts.iter().sum::<f64>();
        Self { busy: all - parts[3] - parts[4], stolen: parts[7], all }
    }

    /// Share of steal time since `self`, if it is above the limit.
    pub fn stolen_since(&self) -> Option<f64> {
        let now = Self::now();
        let share = (now.stolen - self.stolen) / (now.all - self.all).max(1.0);
        (share > MOST_STOLEN).then_some(share)
    }
}

/// Runs a test whose figures depend on the machine. A failure under steal time is repeated, and the
/// test is skipped if all attempts had steal time. A failure without steal time fails the test.
pub fn retry_under_steal_time(test: &str, body: impl Fn()) {
    let mut most: f64 = 0.0;
    for _ in 0..TRIES {
        let before = Ticks::now();
        let Err(panic) = catch_unwind(AssertUnwindSafe(&body)) else { return };
        let Some(stolen) = before.stolen_since() else { resume_unwind(panic) };
        most = most.max(stolen);
        eprintln!("{test}: the hypervisor took {:.1} % of the time", stolen * 100.0);
    }
    skip(test, &format!("the hypervisor took up to {:.0} % of the machine's time", most * 100.0));
}

/// Runs `during`, and returns the p99 of how late a sleep of 1 ms ends meanwhile. It is high if the
/// machine loses time that is not counted as steal time.
pub fn lateness<T>(during: impl FnOnce() -> T) -> (T, Duration) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let mut late = Vec::new();
            while !over.load(Ordering::Relaxed) {
                late.push(oversleep());
            }
            late
        });
        let done = catch_unwind(AssertUnwindSafe(during));
        over.store(true, Ordering::Relaxed);
        let mut late = sleeper.join().expect("the sleeper");
        late.sort_unstable();
        let p99 = late.get(late.len() * 99 / 100).copied().unwrap_or_default();
        (done.unwrap_or_else(|panic| resume_unwind(panic)), p99)
    })
}

/// Time by which a sleep of 1 ms is too long.
#[allow(clippy::disallowed_methods)] // a witness beside brunt's own clock
fn oversleep() -> Duration {
    const NAP: Duration = Duration::from_millis(1);
    let before = Instant::now();
    thread::sleep(NAP);
    before.elapsed().saturating_sub(NAP)
}
