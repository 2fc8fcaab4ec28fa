//! Response times of a run as buckets, for quantiles and ranks.
//!
//! The buckets are in ascending order. After them follow the requests that are only known to be
//! slower (timed out, dropped, cut); it is unknown how slow those were.

use brunt_model::{Failure, Run};
use brunt_stats::{Histogram, Sketch, quantile};

/// A bucket, with the number of response times up to its end.
struct CumulativeBucket {
    low: u64,
    high: u64,
    count_to_here: u64,
}

/// Response times of a run, in nanoseconds, in buckets.
pub struct ResponseTimes {
    buckets: Vec<CumulativeBucket>,
    /// Number of response times in the buckets.
    in_buckets: u64,
    /// Number of response times that are only known to be slower.
    slower: u64,
}

/// Bucket that contains a quantile or rank, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Least value of the bucket.
    pub low: u64,
    /// Greatest value of the bucket.
    pub high: u64,
    /// True if the value is only known to be at least `low`.
    pub at_least: bool,
}

impl ResponseTimes {
    /// Collects the response times of the measured time.
    pub fn new(run: &Run) -> Self {
        let total = &run.total;
        let lost = total.failed_by(Failure::Dropped) + total.failed_by(Failure::Cut);
        // The histogram counts a timed-out request at its timeout, but its true time is unknown.
        let completed = total.response.without(&total.timed_out);
        Self::from_buckets(histogram(&completed), lost + total.timed_out.count())
    }

    fn from_buckets(buckets: impl Iterator<Item = (u64, u64, u64)>, slower: u64) -> Self {
        let mut cumulative = Vec::new();
        let mut in_buckets = 0;
        for (low, high, count) in buckets {
            in_buckets += count;
            cumulative.push(CumulativeBucket { low, high, count_to_here: in_buckets });
        }
        Self { buckets: cumulative, in_buckets, slower }
    }

    /// Number of all response times, including those that are only known from below.
    pub fn count(&self) -> u64 {
        self.in_buckets + self.slower
    }

    /// Returns the bucket of quantile `q`.
    pub fn quantile(&self, q: f64) -> Bucket {
        self.rank(quantile::rank(q, self.count()))
    }

    /// Returns the bucket of the value with this rank (from 1).
    pub fn rank(&self, rank: u64) -> Bucket {
        let index = self.buckets.partition_point(|bucket| bucket.count_to_here < rank.max(1));
        if let Some(bucket) = self.buckets.get(index) {
            return Bucket { low: bucket.low, high: bucket.high, at_least: false };
        }
        let slowest = self.buckets.last().map_or(0, |bucket| bucket.high);
        Bucket { low: slowest, high: slowest, at_least: true }
    }

    /// Returns the threshold beyond which requests count as slower than quantile `q`: the least
    /// value beyond. It is one of the edges of the sketch bucket around the quantile: the one with
    /// a share beyond it nearest to 1 − q, as odds.
    pub(crate) fn threshold(&self, q: f64) -> u64 {
        let (low, high) = Sketch::edges(self.quantile(q).low);
        let next = high.saturating_add(1);
        if self.odds_distance(low, q) < self.odds_distance(next, q) { low } else { next }
    }

    /// Distance in log odds between q and the share of response times below `least`.
    fn odds_distance(&self, least: u64, q: f64) -> f64 {
        let index = self.buckets.partition_point(|bucket| bucket.low < least);
        let before = index.checked_sub(1).map_or(0, |last| self.buckets[last].count_to_here);
        (log_odds(before as f64 / self.count() as f64) - log_odds(q)).abs()
    }
}

fn log_odds(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

fn histogram(histogram: &Histogram) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
    let min = histogram.min();
    let max = histogram.max();
    histogram.buckets().map(move |bucket| (bucket.low.max(min), bucket.high.min(max), bucket.count))
}
