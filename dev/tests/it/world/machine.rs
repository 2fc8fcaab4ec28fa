//! What this machine has to give: the time that its hypervisor leaves it.

use super::skip::skip;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a test is tried on a machine that the hypervisor takes time from.
const TRIES: usize = 3;

/// The share of the machine's time beyond which what happens on it is not what the test brought about.
const MOST_STOLEN: f64 = 0.02;

/// CPU time of the machine since it started, in hundredths of a second.
pub struct Ticks {
    /// Not idle; what was stolen is part of it.
    pub busy: f64,
    pub stolen: f64,
    pub all: f64,
}

impl Ticks {
    pub fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").expect("/proc/stat");
        let line = stat.lines().next().unwrap_or("");
        let parts: Vec<f64> = line.split_whitespace().skip(1).flat_map(str::parse).take(8).collect();
        let all = parts.iter().sum::<f64>();
        Self { busy: all - parts[3] - parts[4], stolen: parts[7], all }
    }

    /// The share that the hypervisor gave to others since then, where it is too much.
    pub fn stolen_since(&self) -> Option<f64> {
        let now = Self::now();
        let share = (now.stolen - self.stolen) / (now.all - self.all).max(1.0);
        (share > MOST_STOLEN).then_some(share)
    }
}

/// A test whose figures are the machine's too: what fails while the hypervisor takes time away is tried again, and skipped
/// if that never ends. What fails on a machine that has its time fails.
pub fn in_its_own_time(test: &str, body: impl Fn()) {
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

/// How late a thread that does nothing but sleep a millisecond wakes meanwhile, at p99: a machine whose time goes away
/// unseen lets it sleep on, as it does with everybody.
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

/// By how much a sleep of a millisecond is longer.
#[allow(clippy::disallowed_methods)] // a witness beside brunt's own clock
fn oversleep() -> Duration {
    const NAP: Duration = Duration::from_millis(1);
    let before = Instant::now();
    thread::sleep(NAP);
    before.elapsed().saturating_sub(NAP)
}
