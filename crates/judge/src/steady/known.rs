//! Which response times stand at which share of all.
//!
//! What it is: the buckets of a run's response times in order, with the requests of which only is known that they were
//! slower (timed out, dropped, cut) behind them. It cannot say how slow those were.

use brunt_model::{Failure, Run};
use brunt_stats::{Histogram, Sketch, quantile};

/// The response times of a run, in nanoseconds, sorted into buckets.
pub struct ResponseTimes {
    /// (least value, greatest value, how many up to here).
    buckets: Vec<(u64, u64, u64)>,
    /// How many are in the buckets.
    seen: u64,
    /// How many are only known to be slower.
    unseen: u64,
}

/// Where a share of all response times ends, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// The least value of the bucket that holds it.
    pub low: u64,
    /// The greatest.
    pub high: u64,
    /// It is only known to be no less than `low`.
    pub at_least: bool,
}

impl ResponseTimes {
    /// The response times of the measured time.
    pub fn of(run: &Run) -> Self {
        let total = &run.total;
        let lost = total.failed_by(Failure::Dropped) + total.failed_by(Failure::Cut);
        let known = total.response.without(&total.timed_out);
        Self::counted(histogram(&known), lost + total.timed_out.count())
    }

    fn counted(buckets: impl Iterator<Item = (u64, u64, u64)>, unseen: u64) -> Self {
        let mut seen = 0;
        let mut sum = |(low, high, n): (u64, u64, u64)| {
            seen += n;
            (low, high, seen)
        };
        let buckets = buckets.map(&mut sum).collect();
        Self { buckets, seen, unseen }
    }

    /// How many there are, those known only from below among them.
    pub fn count(&self) -> u64 {
        self.seen + self.unseen
    }

    /// Where quantile `q` lies.
    pub fn quantile(&self, q: f64) -> Bucket {
        self.rank(quantile::rank(q, self.count()))
    }

    /// Where the value of this rank (from 1) lies.
    pub fn rank(&self, rank: u64) -> Bucket {
        let at = self.buckets.partition_point(|b| b.2 < rank.max(1));
        let slowest = self.buckets.last().map_or(0, |b| b.1);
        let behind = Bucket { low: slowest, high: slowest, at_least: true };
        self.buckets.get(at).map_or(behind, |&(low, high, _)| Bucket { low, high, at_least: false })
    }

    /// The ends of the sketch bucket around quantile `q`, of which one is to be the threshold beyond which requests are
    /// counted: that with the share beyond it nearest to 1 − q, as odds. As the least value beyond.
    pub(crate) fn threshold(&self, q: f64) -> u64 {
        let (low, high) = Sketch::edges(self.quantile(q).low);
        let away = |least: u64| {
            let before =
                self.buckets.partition_point(|b| b.0 < least).checked_sub(1).map_or(0, |at| self.buckets[at].2);
            let odds = |share: f64| (share / (1.0 - share)).ln();
            (odds(before as f64 / self.count() as f64) - odds(q)).abs()
        };
        let next = high.saturating_add(1);
        if away(low) < away(next) { low } else { next }
    }
}

fn histogram(of: &Histogram) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
    let (min, max) = (of.min(), of.max());
    of.buckets().map(move |b| (b.low.max(min), b.high.min(max), b.count))
}
