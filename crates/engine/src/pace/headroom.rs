//! Limits the connections that an open loop opens while its worker is busy.
//!
//! A worker with idle time opens a connection for each arrival that finds none free, as users
//! would. On a busy worker, opening takes time from reading. A further connection is then
//! worthwhile only if more connections raise the throughput. The worker tries half as many again,
//! and continues only if the steps per second rose by a fifth.

use brunt_model::Tick;

/// Number of connections of a worker that are always permitted: fewer may not load a fast server.
const MIN_PERMITTED: usize = 64;
/// Length of a window for the idle share, in nanoseconds.
const WINDOW: u64 = 1_000_000;
/// Number of windows over which the idle share is smoothed.
const WINDOWS: f64 = 50.0;
/// Minimum idle share of a worker that is not busy.
const NOT_BUSY: f64 = 0.5;
/// Time for which a number of connections is tried, in nanoseconds.
const TRIAL: u64 = 50_000_000;
/// Factor by which the permitted connections grow after a successful trial.
const GROWTH: f64 = 1.5;
/// Factor by which a trial must raise the steps per second to be successful.
const GAIN: f64 = 1.2;

/// A worker's counters at an instant.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkerCounters {
    /// Instant of the other counters.
    pub at: Tick,
    /// Idle time so far, in nanoseconds.
    pub idle: u64,
    /// Exchanges and openings of connections that ended so far.
    pub steps: u64,
}

/// Decides whether a worker may open a further connection.
#[derive(Debug)]
pub struct Headroom {
    window: WorkerCounters,
    /// The worker's idle share, smoothed over up to [`WINDOWS`] windows.
    idle: f64,
    windows: f64,
    trial: WorkerCounters,
    /// Steps per second in the last successful trial.
    rate: f64,
    permitted: usize,
}

impl Headroom {
    /// Creates the limit of a worker at the begin of its load.
    pub fn new(now: WorkerCounters) -> Self {
        Self {
            window: now,
            idle: 1.0,
            windows: 0.0,
            trial: now,
            rate: 0.0,
            permitted: MIN_PERMITTED,
        }
    }

    /// True if a worker with `open` connections may open another.
    pub fn permits_another(&mut self, open: usize, now: WorkerCounters) -> bool {
        self.update(now);
        // With idle time, the worker opens a connection for each arrival, as users would.
        if self.idle >= NOT_BUSY {
            self.permitted = self.permitted.max(open + 1);
            self.trial = now;
        }
        if open < self.permitted {
            return true;
        }
        let time = now.at.nanos_since(self.trial.at);
        if time < TRIAL {
            return false;
        }
        let rate = (now.steps - self.trial.steps) as f64 / (time as f64 / 1e9);
        self.trial = now;
        let succeeded = rate >= self.rate * GAIN;
        if succeeded {
            self.rate = rate;
            self.permitted = (open as f64 * GROWTH) as usize;
        }
        succeeded
    }

    fn update(&mut self, now: WorkerCounters) {
        let time = now.at.nanos_since(self.window.at);
        if time >= WINDOW {
            let idle = (now.idle - self.window.idle) as f64 / time as f64;
            // Mean of the first windows, then exponential smoothing.
            self.windows = (self.windows + 1.0).min(WINDOWS);
            self.idle += (idle - self.idle) / self.windows;
            self.window = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker with a given idle share and throughput.
    struct World {
        now: WorkerCounters,
        headroom: Headroom,
        open: usize,
    }

    impl World {
        fn new() -> Self {
            Self {
                now: WorkerCounters::default(),
                headroom: Headroom::new(WorkerCounters::default()),
                open: 1,
            }
        }

        /// Opens each permitted connection, at most 20 per millisecond.
        fn pass(&mut self, milliseconds: u64, idle: f64, exchanges: impl Fn(usize) -> u64) {
            for _ in 0..milliseconds {
                self.now.at = Tick(self.now.at.0 + 1_000_000);
                self.now.idle += (idle * 1e6) as u64;
                self.now.steps += exchanges(self.open);
                self.open += (0..20)
                    .take_while(|k| self.headroom.permits_another(self.open + k, self.now))
                    .count();
            }
        }
    }

    #[test]
    fn an_idle_worker_opens_a_connection_for_each_arrival() {
        let mut world = World::new();
        world.pass(1000, 0.6, |_| 50);
        assert_eq!(world.open, 20_001);
    }

    #[test]
    fn a_busy_worker_stops_when_more_connections_do_not_raise_the_throughput() {
        let mut world = World::new();
        world.pass(5000, 0.1, |_| 50);
        assert!((64..=256).contains(&world.open), "{}", world.open);
    }

    #[test]
    fn a_busy_worker_opens_connections_while_they_raise_the_throughput() {
        let mut world = World::new();
        // Each connection carries 200/s; the worker has time for 600,000/s.
        world.pass(5000, 0.1, |open| (open as u64 / 5).min(600));
        assert!(world.open >= 3000, "{}", world.open);
        assert!(world.open <= 12_000, "{}", world.open);
    }

    #[test]
    fn short_stalls_open_few_connections_and_long_ones_one_per_arrival() {
        let mut world = World::new();
        world.pass(1000, 0.1, |_| 50);
        let before = world.open;
        world.pass(10, 1.0, |_| 0);
        assert_eq!(world.open, before);
        world.pass(1000, 1.0, |_| 0);
        assert!(world.open > before + 15_000, "{}", world.open);
    }
}
