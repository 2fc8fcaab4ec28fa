//! Whether another connection would help an open loop whose connections are all busy.
//!
//! While the worker has time to spare, it would: whatever keeps the connections busy is not the worker, and users would
//! open their own. Where the worker is busy, opening takes time from reading, and a connection more helps only if more of
//! them carry more: half as many again are tried, and again only if the exchanges per second rose by a fifth.

use brunt_model::Tick;

/// So many connections of a worker are permitted however busy it is: fewer may not keep a fast server busy.
const LEAST: usize = 64;
/// Over so much time the worker's idle share is taken, in nanoseconds, …
const WINDOW: u64 = 1_000_000;
/// … and it is smoothed over so many of these windows.
const WINDOWS: f64 = 50.0;
/// A worker that is idle for at least this share of its time has time to spare.
const SPARE: f64 = 0.5;
/// One that is idle for less than this has none.
const USED_UP: f64 = 0.05;
/// So long a number of connections is tried, in nanoseconds.
const TRIAL: u64 = 50_000_000;
/// So many times as many connections are tried next, …
const MORE: f64 = 1.5;
/// … if those that were tried last raised the exchanges per second by this factor.
const WORTH: f64 = 1.2;

/// How far a worker has come.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Now.
    pub at: Tick,
    /// Nanoseconds in which it had nothing to do.
    pub idle: u64,
    /// Exchanges that ended.
    pub exchanges: u64,
}

/// Whether another connection would help.
#[derive(Debug)]
pub struct Headroom {
    window: Progress,
    /// The worker's idle share, smoothed over so many windows.
    idle: f64,
    windows: f64,
    trial: Progress,
    /// Exchanges per second when connections were permitted last.
    rate: f64,
    permitted: usize,
}

impl Headroom {
    /// Of a worker that begins now.
    pub fn new(now: Progress) -> Self {
        Self { window: now, idle: 1.0, windows: 0.0, trial: now, rate: 0.0, permitted: LEAST }
    }

    /// Whether one more connection than the `open` ones of this worker would help.
    pub fn another_helps(&mut self, open: usize, now: Progress) -> bool {
        self.look(now);
        if self.idle >= SPARE {
            (self.permitted, self.trial) = (self.permitted.max(open + 1), now);
        }
        if open < self.permitted {
            return true;
        }
        let time = now.at.nanos_since(self.trial.at);
        if time < TRIAL {
            return false;
        }
        let rate = (now.exchanges - self.trial.exchanges) as f64 / (time as f64 / 1e9);
        self.trial = now;
        let worth = rate >= self.rate * WORTH;
        if worth {
            (self.rate, self.permitted) = (rate, (open as f64 * MORE) as usize);
        }
        worth
    }

    /// The worker has no time left: what waits, waits for it.
    pub fn is_used_up(&mut self, now: Progress) -> bool {
        self.look(now);
        self.idle < USED_UP
    }

    fn look(&mut self, now: Progress) {
        let time = now.at.nanos_since(self.window.at);
        if time >= WINDOW {
            let idle = (now.idle - self.window.idle) as f64 / time as f64;
            // Of the first windows, the mean.
            self.windows = (self.windows + 1.0).min(WINDOWS);
            self.idle += (idle - self.idle) / self.windows;
            self.window = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds of a worker that is idle for a share of its time and ends so many exchanges a millisecond.
    struct World {
        now: Progress,
        headroom: Headroom,
        open: usize,
    }

    impl World {
        fn new() -> Self {
            Self { now: Progress::default(), headroom: Headroom::new(Progress::default()), open: 1 }
        }

        /// Opens a connection whenever it helps, at most 20 a millisecond.
        fn pass(&mut self, milliseconds: u64, idle: f64, exchanges: impl Fn(usize) -> u64) {
            for _ in 0..milliseconds {
                self.now.at = Tick(self.now.at.0 + 1_000_000);
                self.now.idle += (idle * 1e6) as u64;
                self.now.exchanges += exchanges(self.open);
                self.open += (0..20).take_while(|k| self.headroom.another_helps(self.open + k, self.now)).count();
            }
        }
    }

    #[test]
    fn a_worker_with_time_to_spare_opens_what_users_would() {
        let mut world = World::new();
        world.pass(1000, 0.6, |_| 50);
        assert_eq!(world.open, 20_001);
    }

    #[test]
    fn a_busy_worker_stops_where_more_connections_carry_no_more() {
        let mut world = World::new();
        world.pass(5000, 0.1, |_| 50);
        assert!((64..=256).contains(&world.open), "{}", world.open);
    }

    #[test]
    fn a_busy_worker_goes_on_while_more_connections_carry_more() {
        let mut world = World::new();
        // Each connection carries 200/s; the worker has time for 600,000/s.
        world.pass(5000, 0.1, |open| (open as u64 / 5).min(600));
        assert!(world.open >= 3000, "{}", world.open);
        assert!(world.open <= 12_000, "{}", world.open);
    }

    #[test]
    fn a_short_stall_of_the_server_opens_few_and_a_long_one_as_many_as_come() {
        let mut world = World::new();
        world.pass(1000, 0.1, |_| 50);
        let before = world.open;
        world.pass(10, 1.0, |_| 0);
        assert_eq!(world.open, before);
        world.pass(1000, 1.0, |_| 0);
        assert!(world.open > before + 15_000, "{}", world.open);
    }
}
