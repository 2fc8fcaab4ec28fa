//! Due times of an open loop, fixed before the run.

use super::{Cumulative, Pacer};
use brunt_model::{Arrivals, LoadShape, ProcessPart, Tick};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// One of several shards that together make the arrivals of a schedule: a worker of a process.
#[derive(Debug, Clone, Copy)]
pub struct ScheduleShard {
    /// The process.
    pub part: ProcessPart,
    /// Number of the worker among those of its process, from 0.
    pub worker: u64,
    /// Number of workers of the process.
    pub workers: u64,
}

impl ScheduleShard {
    fn owns(self, arrival: u64) -> bool {
        self.part.turn(arrival).is_some_and(|turn| turn % self.workers == self.worker)
    }

    /// Mean distance between two arrivals of this shard, in arrivals.
    fn stride(self) -> f64 {
        self.part.stride() * self.workers as f64
    }
}

/// Due times of an open loop. Every shard draws the same sequence and takes its arrivals of it.
/// Together the shards make the whole process, however many there are.
pub struct Schedule {
    due: Cumulative,
    begins: Tick,
    arrivals: Arrivals,
    random: Pcg64Mcg,
    /// Number of arrivals drawn so far.
    drawn: u64,
    /// Sₙ of random arrivals; for a Poisson process, a sum of n standard exponentials.
    sum: f64,
    shard: ScheduleShard,
}

impl Schedule {
    /// Creates the arrivals of `shape` from `begins` on, for one shard.
    pub fn new(
        shape: &LoadShape,
        arrivals: Arrivals,
        random: Pcg64Mcg,
        begins: Tick,
        shard: ScheduleShard,
    ) -> Self {
        Self { due: Cumulative::new(shape), begins, arrivals, random, drawn: 0, sum: 0.0, shard }
    }

    /// Returns the number of the arrival that [`Pacer::next`] returned last, among
    /// those of all shards.
    pub fn number(&self) -> u64 {
        self.drawn.saturating_sub(1)
    }

    /// Draws Sₙ of the next arrival.
    fn draw(&mut self) -> f64 {
        let n = self.drawn;
        self.drawn += 1;
        match self.arrivals {
            Arrivals::Even => n as f64,
            Arrivals::Burst(size) => (n - n % u64::from(size.max(1))) as f64,
            Arrivals::Poisson => {
                self.sum += exponential(&mut self.random);
                self.sum
            }
            Arrivals::Uniform(millionths) => {
                // The first arrival is due at once: only the distances between arrivals are random.
                if n > 0 {
                    let width = f64::from(millionths) / 1e6;
                    self.sum += self.random.random_range(1.0 - width..=1.0 + width);
                }
                self.sum
            }
        }
    }
}

/// Maximum number of arrivals that are drawn one by one when they are skipped; the number of
/// the rest is drawn.
const MAX_DRAWN: u64 = 100_000;

impl Schedule {
    /// Skips the arrivals that are due before `until`, from `next` on, which was drawn
    /// last. Returns their number.
    ///
    /// A very large number of random arrivals is not drawn one by one. Their number is
    /// drawn from the normal distribution of the number of renewals in a long time
    /// (Cox, "Renewal Theory", 1962).
    pub fn skip(&mut self, next: &mut Option<Tick>, until: Tick) -> u64 {
        let mut count = self.pass(next, until, MAX_DRAWN);
        if next.is_some_and(|due| due < until) {
            count += self.leap(until);
            *next = self.next(Tick::ZERO);
            count += self.pass(next, until, u64::MAX);
        }
        count
    }

    /// Passes at most `most` arrivals that are due before `until`, from `next` on, which was drawn last. Returns
    /// their number. Each is drawn, so that those after them are the same as without a pass.
    pub fn pass(&mut self, next: &mut Option<Tick>, until: Tick, most: u64) -> u64 {
        let mut count = 0;
        while count < most && next.is_some_and(|due| due < until) {
            count += 1;
            *next = self.next(Tick::ZERO);
        }
        count
    }

    /// Skips to `until` at once. Returns the number of this shard's arrivals in between, including
    /// the one that was drawn last.
    fn leap(&mut self, until: Tick) -> u64 {
        let due = self.due.until(until.seconds_since(self.begins));
        let (done, dispersion) = match self.arrivals {
            Arrivals::Even | Arrivals::Burst(_) => (self.number() as f64, 0.0),
            Arrivals::Poisson => (self.sum, 1.0),
            // The variance of a uniform distribution is a twelfth of its squared width.
            Arrivals::Uniform(millionths) => {
                (self.sum, (f64::from(millionths) / 1e6).powi(2) / 3.0)
            }
        };
        let mean = (due - done).max(0.0);
        let arrivals = (mean + (mean * dispersion).sqrt() * normal(&mut self.random)).max(0.0);
        let stride = self.shard.stride();
        let of_shard = (arrivals / stride).ceil() as u64;
        self.drawn += (of_shard.saturating_sub(1) as f64 * stride).round() as u64;
        self.sum = self.sum.max(due);
        // At least the arrival that was drawn last.
        of_shard.max(1)
    }
}

/// Draws from the standard normal distribution (Box and Muller 1958).
fn normal(random: &mut Pcg64Mcg) -> f64 {
    (2.0 * exponential(random)).sqrt() * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// Draws from the standard exponential distribution, by inversion. 1 − u is in (0, 1], so
/// its logarithm is finite.
fn exponential(random: &mut Pcg64Mcg) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

impl Pacer for Schedule {
    fn next(&mut self, _: Tick) -> Option<Tick> {
        // These arrivals belong to other shards.
        while !self.shard.owns(self.drawn) {
            self.draw();
        }
        let x = self.draw();
        let seconds = self.due.inverse(x)?;
        Some(Tick(self.begins.0.saturating_add((seconds * 1e9).round() as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn shard_of(number: u64, count: u64) -> ScheduleShard {
        let part = ProcessPart { number: number as u32, count: count as u32, quiet: 0 };
        ScheduleShard { part, worker: 0, workers: 1 }
    }

    fn ticks(arrivals: Arrivals, rate: f64, n: usize, shard: (u64, u64)) -> Vec<u64> {
        let random = Pcg64Mcg::seed_from_u64(7);
        let mut s = Schedule::new(
            &LoadShape::constant(rate),
            arrivals,
            random,
            Tick(1000),
            shard_of(shard.0, shard.1),
        );
        (0..n).map_while(|_| s.next(Tick::ZERO)).map(|t| t.0 - 1000).collect()
    }

    #[test]
    fn even_arrivals_are_exact() {
        assert_eq!(
            ticks(Arrivals::Even, 4.0, 4, (0, 1)),
            [0, 250_000_000, 500_000_000, 750_000_000]
        );
        assert_eq!(ticks(Arrivals::Even, 0.5, 3, (0, 1)), [0, 2_000_000_000, 4_000_000_000]);
    }

    #[test]
    fn arrivals_of_a_burst_have_the_same_time() {
        assert_eq!(ticks(Arrivals::Burst(3), 3.0, 4, (0, 1)), [0, 0, 0, 1_000_000_000]);
    }

    #[test]
    fn uniform_distances_have_the_expected_range() {
        let t = ticks(Arrivals::Uniform(500_000), 1000.0, 10_001, (0, 1));
        let gaps: Vec<f64> = t.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(t[0] == 0 && gaps.iter().all(|gap| (0.499..=1.501).contains(gap)));
        // Of a uniform distribution over a width of 1 the variance is 1/12.
        assert!(
            (mean - 1.0).abs() < 0.02 && (variance * 12.0 - 1.0).abs() < 0.05,
            "{mean} {variance}"
        );
    }

    #[test]
    fn skipped_arrivals_are_counted_exactly() {
        let schedule = |arrivals, shards| {
            Schedule::new(
                &LoadShape::constant(1e6),
                arrivals,
                Pcg64Mcg::seed_from_u64(7),
                Tick(1000),
                shard_of(0, shards),
            )
        };
        let until = Tick(1000 + 1_000_000_000);
        for (arrivals, shards, most) in [
            (Arrivals::Even, 1, 0),
            (Arrivals::Even, 4, 0),
            (Arrivals::Burst(10), 2, 5),
            // Four standard deviations.
            (Arrivals::Poisson, 1, 4000),
            (Arrivals::Poisson, 2, 2000),
            (Arrivals::Uniform(500_000), 1, 1200),
        ] {
            let mut schedule = schedule(arrivals, shards);
            let mut next = schedule.next(Tick::ZERO);
            let count = schedule.skip(&mut next, until);
            assert!(count.abs_diff(1_000_000 / shards) <= most, "{arrivals:?} {count}");
            assert!(next.is_some_and(
                |next| next >= until && next < until + std::time::Duration::from_millis(1)
            ));
            assert_eq!(schedule.skip(&mut next, until), 0);
        }
        // Few are drawn one by one.
        let (mut drawn, mut skipped) =
            (schedule(Arrivals::Poisson, 1), schedule(Arrivals::Poisson, 1));
        let mut next = skipped.next(Tick::ZERO);
        let count = skipped.skip(&mut next, Tick(50_000_000));
        let ticks: Vec<_> = (0..=count).map_while(|_| drawn.next(Tick::ZERO)).collect();
        assert_eq!(ticks.last().copied(), next);
    }

    #[test]
    fn shards_together_are_the_whole_schedule() {
        let whole = ticks(Arrivals::Poisson, 1000.0, 300, (0, 1));
        let mut parts: Vec<u64> =
            (0..3).flat_map(|i| ticks(Arrivals::Poisson, 1000.0, 100, (i, 3))).collect();
        parts.sort_unstable();
        assert_eq!(parts, whole);
    }

    #[test]
    fn workers_of_quiet_and_loaded_processes_together_are_the_whole_schedule() {
        let end = 900_000_000;
        let shape = LoadShape::constant(1000.0);
        let due = |shard: ScheduleShard| -> Vec<u64> {
            let random = Pcg64Mcg::seed_from_u64(7);
            let mut schedule = Schedule::new(&shape, Arrivals::Poisson, random, Tick(0), shard);
            std::iter::from_fn(|| schedule.next(Tick::ZERO))
                .map(|due| due.0)
                .take_while(|due| *due < end)
                .collect()
        };
        let whole = due(shard_of(0, 1));
        let mut together = Vec::new();
        for number in 0..4 {
            for worker in 0..2 {
                let part = ProcessPart { number, count: 4, quiet: 1 };
                together.extend(due(ScheduleShard { part, worker, workers: 2 }));
            }
        }
        together.sort_unstable();
        assert_eq!(together, whole);
    }

    #[test]
    fn poisson_arrivals_have_the_expected_mean_and_variance() {
        let n = 200_000;
        let t = ticks(Arrivals::Poisson, 1000.0, n, (0, 1));
        let rate = n as f64 / (*t.last().unwrap() as f64 / 1e9);
        assert!((rate - 1000.0).abs() < 10.0, "{rate}");
        // Counts in windows of 10 ms: variance ÷ mean is 1 for a Poisson process.
        let windows = (t.last().unwrap() / 10_000_000) as usize;
        let mut counts = vec![0.0f64; windows];
        for at in &t {
            if let Some(c) = counts.get_mut((at / 10_000_000) as usize) {
                *c += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / windows as f64;
        let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / windows as f64;
        assert!((variance / mean - 1.0).abs() < 0.05, "{}", variance / mean);
    }
}
