//! siege's figures, by siege's arithmetic: its clock goes in steps of 10 ms, and a transaction's time is the distance of two
//! of them.
//!
//! A transaction is a hit unless it failed: no whole reply came, or one of 408 or of 500 and above. What was under way at the
//! end is in no figure.

use brunt_model::{Failure, Sample, Tick};

/// Steps of siege's clock in a second.
const STEPS: f64 = 100.0;
const STEP_NANOS: u64 = 10_000_000;

/// What siege counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classic {
    /// Transactions that did not fail.
    pub hits: u64,
    /// Of them, those with a status below 400, or 401 or 407.
    pub okay: u64,
    /// Of them, those with 200.
    pub ok_200: u64,
    /// Those that failed.
    pub failed: u64,
    /// Bytes of bodies.
    pub bytes: u64,
    /// Steps of all hits together, of the longest and of the shortest.
    steps: u64,
    longest: u64,
    shortest: Option<u64>,
    /// True nanoseconds of all hits together.
    nanos: u64,
    /// The end of the last transaction.
    pub last: Tick,
    /// What was under way at the end: how many, and since when the oldest, in nanoseconds.
    pub cut: u64,
    pub oldest_cut_nanos: u64,
    longest_nanos: u64,
}

/// The figures of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    pub hits: u64,
    pub okay: u64,
    pub ok_200: u64,
    pub failed: u64,
    /// In percent.
    pub availability: f64,
    /// In seconds.
    pub elapsed: f64,
    /// In MB of 2^20 bytes.
    pub megabytes: f64,
    /// The mean, in seconds.
    pub response: f64,
    /// Hits per second.
    pub rate: f64,
    /// MB per second.
    pub throughput: f64,
    pub concurrency: f64,
    /// In seconds.
    pub longest: f64,
    /// In seconds.
    pub shortest: f64,
}

impl Classic {
    /// Counts a transaction; whether it failed.
    pub fn take(&mut self, sample: &Sample) -> bool {
        let nanos = sample.last_byte.nanos_since(sample.begun);
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

    /// The true mean time of a hit, in milliseconds.
    pub fn true_mean_millis(&self) -> f64 {
        ratio(self.nanos as f64 / 1e6, self.hits as f64)
    }

    /// Whether something that was under way at the end had waited longer than all that ended.
    pub fn hides_waits(&self) -> bool {
        self.cut > 0 && self.oldest_cut_nanos > self.longest_nanos.max(STEP_NANOS * 10)
    }

    /// The figures of a run that lasted from one instant to the other.
    pub fn figures(&self, from: Tick, to: Tick) -> Figures {
        let seconds = |steps: u64| steps as f64 / STEPS;
        let (elapsed, megabytes) = (seconds(steps(from, to)), self.bytes as f64 / (1024.0 * 1024.0));
        let hits = self.hits as f64;
        Figures {
            hits: self.hits,
            okay: self.okay,
            ok_200: self.ok_200,
            failed: self.failed,
            availability: ratio(hits * 100.0, hits + self.failed as f64),
            elapsed,
            megabytes,
            response: ratio(seconds(self.steps), hits),
            rate: ratio(hits, elapsed),
            throughput: ratio(megabytes, elapsed),
            concurrency: ratio(seconds(self.steps), elapsed),
            longest: seconds(self.longest),
            shortest: seconds(self.shortest.unwrap_or(0)),
        }
    }
}

/// Steps of siege's clock from one instant to the other.
fn steps(from: Tick, to: Tick) -> u64 {
    (to.0 / STEP_NANOS).saturating_sub(from.0 / STEP_NANOS)
}

/// The time of a transaction, in seconds.
pub fn seconds(sample: &Sample) -> f64 {
    steps(sample.begun, sample.last_byte) as f64 / STEPS
}

fn ratio(what: f64, of: f64) -> f64 {
    if of > 0.0 { what / of } else { 0.0 }
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
        let mut classic = Classic::default();
        for code in [200, 301, 401, 404, 408, 500, 503] {
            classic.take(&ended(0, 4, status(code)));
        }
        classic.take(&ended(0, 4, Outcome::failed(Failure::Refused)));
        classic.take(&ended(0, 400, Outcome::failed(Failure::Cut)));
        assert_eq!((classic.hits, classic.okay, classic.ok_200, classic.failed, classic.cut), (4, 3, 1, 4, 1));
        assert!(classic.hides_waits());
    }

    /// 8 ms from 5 to 13 are a step, 4 ms from 13 to 17 are none: on the average they come out right.
    #[test]
    fn times_are_counted_in_steps() {
        let mut classic = Classic::default();
        classic.take(&ended(5, 8, status(200)));
        classic.take(&ended(13, 4, status(200)));
        let figures = classic.figures(Tick(0), Tick(20_000_000));
        assert_eq!((figures.response, figures.longest, figures.shortest), (0.005, 0.01, 0.0));
        assert_eq!((figures.elapsed, figures.rate, figures.concurrency), (0.02, 100.0, 0.5));
        assert_eq!((figures.megabytes, figures.throughput, figures.availability), (2.0, 100.0, 100.0));
        assert_eq!(classic.true_mean_millis(), 6.0);
        assert_eq!(Classic::default().figures(Tick(0), Tick(0)), Figures::default());
    }
}
