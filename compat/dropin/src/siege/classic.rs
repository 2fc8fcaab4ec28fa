//! siege's figures, computed by its rules.
//!
//! Its clock has a resolution of 10 ms. The time of a transaction is the difference of
//! two readings of that clock.
//!
//! A transaction is a hit unless it fails: without a complete reply, or with status 408 or 500 and
//! above. Requests in flight at the end are in no figure.

use brunt_model::{Failure, Sample, Tick};

/// Steps of siege's clock per second.
const STEPS: f64 = 100.0;
const STEP_NANOS: u64 = 10_000_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiegeReport {
    /// Transactions that did not fail.
    pub hits: u64,
    /// Hits with a status below 400, or 401 or 407.
    pub okay: u64,
    /// Hits with status 200.
    pub ok_200: u64,
    pub failed: u64,
    pub bytes: u64,
    /// Sum of the times of all hits, in steps of siege's clock.
    steps: u64,
    longest: u64,
    shortest: Option<u64>,
    /// Sum of the exact times of all hits, in nanoseconds.
    nanos: u64,
    /// End of the last transaction.
    pub last: Tick,
    /// Requests in flight at the end.
    pub cut: u64,
    /// Age of the oldest request in flight at the end, in nanoseconds.
    pub oldest_cut_nanos: u64,
    longest_nanos: u64,
}

/// Figures of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SiegeFigures {
    pub hits: u64,
    pub okay: u64,
    pub ok_200: u64,
    pub failed: u64,
    /// Hits in percent of all transactions.
    pub availability: f64,
    /// Duration of the run, in seconds.
    pub elapsed: f64,
    /// In MB of 2^20 bytes.
    pub megabytes: f64,
    /// Mean time of a hit, in seconds.
    pub response: f64,
    /// Rate of hits, per second.
    pub rate: f64,
    /// Throughput in MB of 2^20 bytes per second.
    pub throughput: f64,
    pub concurrency: f64,
    /// Longest time of a hit, in seconds.
    pub longest: f64,
    /// Shortest time of a hit, in seconds.
    pub shortest: f64,
}

impl SiegeReport {
    /// Counts a transaction. Returns true if it failed.
    pub fn add(&mut self, sample: &Sample) -> bool {
        let nanos = sample.last_byte.nanos_since(sample.begun);
        // siege drops transactions in flight at the end.
        if sample.outcome.failure == Some(Failure::Cut) {
            self.cut += 1;
            self.oldest_cut_nanos = self.oldest_cut_nanos.max(nanos);
            return false;
        }
        self.last = self.last.max(sample.last_byte);
        let status = sample.outcome.status.filter(|status| *status < 500 && *status != 408);
        let Some(status) = status else {
            self.failed += 1;
            return true;
        };
        let steps = steps(sample.begun, sample.last_byte);
        self.hits += 1;
        self.okay += u64::from(status < 400 || matches!(status, 401 | 407));
        self.ok_200 += u64::from(status == 200);
        self.bytes += sample.body_bytes;
        self.steps += steps;
        self.nanos += nanos;
        self.longest = self.longest.max(steps);
        self.longest_nanos = self.longest_nanos.max(nanos);
        self.shortest = Some(self.shortest.map_or(steps, |shortest| shortest.min(steps)));
        false
    }

    /// Exact mean time of a hit, in milliseconds.
    pub fn true_mean_millis(&self) -> f64 {
        ratio(self.nanos as f64 / 1e6, self.hits as f64)
    }

    /// True if a request in flight at the end had waited longer than every finished one.
    pub fn hides_waits(&self) -> bool {
        self.cut > 0 && self.oldest_cut_nanos > self.longest_nanos.max(STEP_NANOS * 10)
    }

    /// Computes the figures of a run between two instants.
    pub fn figures(&self, start: Tick, end: Tick) -> SiegeFigures {
        let elapsed = seconds_of_steps(steps(start, end));
        let megabytes = self.bytes as f64 / (1024.0 * 1024.0);
        let hits = self.hits as f64;
        SiegeFigures {
            hits: self.hits,
            okay: self.okay,
            ok_200: self.ok_200,
            failed: self.failed,
            availability: ratio(hits * 100.0, hits + self.failed as f64),
            elapsed,
            megabytes,
            response: ratio(seconds_of_steps(self.steps), hits),
            rate: ratio(hits, elapsed),
            throughput: ratio(megabytes, elapsed),
            concurrency: ratio(seconds_of_steps(self.steps), elapsed),
            longest: seconds_of_steps(self.longest),
            shortest: seconds_of_steps(self.shortest.unwrap_or(0)),
        }
    }
}

fn seconds_of_steps(steps: u64) -> f64 {
    steps as f64 / STEPS
}

/// Steps of siege's clock between two instants.
fn steps(start: Tick, end: Tick) -> u64 {
    // Both instants are rounded down first, like two readings of siege's clock.
    (end.0 / STEP_NANOS).saturating_sub(start.0 / STEP_NANOS)
}

/// Time of a transaction by siege's clock, in seconds.
pub fn seconds(sample: &Sample) -> f64 {
    steps(sample.begun, sample.last_byte) as f64 / STEPS
}

fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Outcome;

    fn ended(begun_ms: u64, ms: u64, outcome: Outcome) -> Sample {
        let begun = Tick(begun_ms * 1_000_000);
        let last_byte = Tick(begun.0 + ms * 1_000_000);
        Sample { begun, last_byte, outcome, body_bytes: 1 << 20, ..Sample::default() }
    }

    fn status(status: u16) -> Outcome {
        Outcome { status: Some(status), failure: None, expected: status < 400 }
    }

    #[test]
    fn transactions_are_sorted_as_siege_sorts_them() {
        let mut classic = SiegeReport::default();
        for code in [200, 301, 401, 404, 408, 500, 503] {
            classic.add(&ended(0, 4, status(code)));
        }
        classic.add(&ended(0, 4, Outcome::failed(Failure::Refused)));
        classic.add(&ended(0, 400, Outcome::failed(Failure::Cut)));
        assert_eq!(
            (classic.hits, classic.okay, classic.ok_200, classic.failed, classic.cut),
            (4, 3, 1, 4, 1)
        );
        assert!(classic.hides_waits());
    }

    /// 8 ms from 5 to 13 are one step, 4 ms from 13 to 17 are none. On average, they are right.
    #[test]
    fn times_are_counted_in_steps_of_10_ms() {
        let mut classic = SiegeReport::default();
        classic.add(&ended(5, 8, status(200)));
        classic.add(&ended(13, 4, status(200)));
        let figures = classic.figures(Tick(0), Tick(20_000_000));
        assert_eq!((figures.response, figures.longest, figures.shortest), (0.005, 0.01, 0.0));
        assert_eq!((figures.elapsed, figures.rate, figures.concurrency), (0.02, 100.0, 0.5));
        assert_eq!(
            (figures.megabytes, figures.throughput, figures.availability),
            (2.0, 100.0, 100.0)
        );
        assert_eq!(classic.true_mean_millis(), 6.0);
        assert_eq!(SiegeReport::default().figures(Tick(0), Tick(0)), SiegeFigures::default());
    }
}
