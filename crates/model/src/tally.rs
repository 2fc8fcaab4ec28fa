//! The sum of many samples.

pub mod iterations;
pub(crate) mod sums;

use self::iterations::IterationTally;
use self::sums::{StatusCount, Summand, entry, sums};
use crate::outcome::MalformedReply;
use crate::sample::ConnectTimes;
use crate::{Failure, Sample, Tick};
use brunt_stats::{Histogram, Quantile, quantile};

/// Lag below this, 50 microseconds, is not subtracted from response times. It is irrelevant
/// for all decisions (the verdict's limit is half a millisecond), and nearly all requests
/// need no second entry.
const LATE_NANOS: u64 = 50_000;

sums! {
    /// Sum of samples: counts, bytes, outcomes, histograms in nanoseconds. Merging
    /// is associative and commutative.
    pub struct Tally as TallyMessage {
        /// Number of requests that became due.
        [uint64] planned: u64 = 1,
        /// Number of requests for which brunt began to connect or to write.
        [uint64] begun: u64 = 2,
        /// Number of complete replies, whatever their status.
        [uint64] completed: u64 = 3,
        /// Number of complete replies with an expected status and passed checks.
        [uint64] good: u64 = 4,
        /// Failures by kind, in the order of [`Failure`]. `check` is included in the completed
        /// requests, `dropped` is not included in the begun ones. `deadline_exceeded` is also in
        /// the statuses.
        [message, repeated] failures: [u64; Failure::COUNT] = 5,
        /// Number of replies by status, and of calls that their deadline ended.
        [message, repeated] statuses: Statuses = 6,
        /// Bytes of requests, head and body, before TLS.
        [uint64] bytes_sent: u64 = 7,
        /// Bytes of replies, head and body, before TLS.
        [uint64] bytes_received: u64 = 8,
        /// Number of followed redirects.
        [uint64] redirects: u64 = 9,
        /// Number of requests that were repeated after a stale connection.
        [uint64] retries: u64 = 10,
        /// Response times (planned → last byte) of completed and timed-out requests.
        [message, optional] response: Histogram = 11,
        /// The part of `response` that belongs to requests that are not good.
        [message, optional] not_good: Histogram = 12,
        /// The part of `response` that belongs to timeouts. It is the time until the timeout, so
        /// the true times are longer.
        [message, optional] timed_out: Histogram = 13,
        /// Service times (sent → last byte) of the same requests.
        [message, optional] service: Histogram = 14,
        /// Queue waits (planned → free) of all begun requests.
        // Reports show the rows with `(run)` only for the whole run, so labels do without them.
        [message, optional] queue_wait: Histogram = 15 (run),
        /// Lags (free → begun) of all begun requests.
        [message, optional] lag: Histogram = 16 (run),
        /// The part of `response` that belongs to requests with a lag of 50 microseconds or more.
        [message, optional] late: Histogram = 17 (run),
        /// Response times of the same requests, minus their lag.
        [message, optional] late_without_lag: Histogram = 18 (run),
        /// Times from planned to the failure, by kind, of failures that are not in `response`.
        [message, repeated] failure_times: Vec<(Failure, Histogram)> = 19,
        /// Times of the steps of requests.
        [message, optional] phases: PhaseTimes = 20 (run),
        /// The part of `lag` that is due to the limit on opening connections, of requests
        /// that waited for it.
        [message, optional] opening_lag: Histogram = 21 (run),
        /// Time between the arrival of a reply's last byte in the kernel and its read, for a
        /// sample of the replies.
        [message, optional] read_lag: Histogram = 22 (run),
        /// Number of protocol errors by cause; these are included in `failures`.
        [message, repeated] malformed: Vec<(MalformedReply, u64)> = 23,
        /// Number of replies with an unexpected status, by status. What is expected depends on the
        /// request, so that `statuses` does not show it.
        [message, repeated] unexpected: Statuses = 24,
        /// Number of iterations with a first request planned in the same time.
        [message, optional] iterations: IterationTally = 25 (run),
    }
}

sums! {
    /// Times of the steps of requests, in nanoseconds.
    pub struct PhaseTimes as PhasesMessage {
        /// Time to resolve the name, if it was resolved.
        [message, optional] resolve: Histogram = 1,
        /// Time to connect, if a connection was opened.
        [message, optional] connect: Histogram = 2,
        /// Time of the TLS handshake, if there was one.
        [message, optional] tls: Histogram = 3,
        /// Connection time (begun → sent), if a connection was opened.
        [message, optional] connection: Histogram = 4,
        /// Time from sent to first byte, of completed requests.
        [message, optional] first_byte: Histogram = 5,
        /// Time from first byte to last byte, of completed requests.
        [message, optional] receive: Histogram = 6,
    }
}

impl PhaseTimes {
    /// Adds the steps of opening a connection.
    pub fn record_opening(&mut self, opening: &ConnectTimes) {
        for (histogram, nanos) in [
            (&mut self.resolve, opening.resolve),
            (&mut self.connect, opening.connect),
            (&mut self.tls, opening.tls),
        ] {
            if let Some(nanos) = nanos {
                histogram.record(nanos);
            }
        }
    }
}

/// Number of replies by status. It is a list, since there are few statuses.
#[derive(Debug, Clone, Default)]
pub struct Statuses(Vec<(u16, u64)>);

impl Statuses {
    /// Increases the count of `status` by `n`.
    #[inline]
    pub fn add(&mut self, status: u16, n: u64) {
        // A run has few statuses, so a linear search is faster than a map.
        match self.0.iter_mut().find(|s| s.0 == status) {
            Some(entry) => entry.1 += n,
            None => self.0.push((status, n)),
        }
    }

    /// Returns each status with its count, in any order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Returns each status with its count, sorted by status.
    pub fn sorted(&self) -> Vec<(u16, u64)> {
        let mut all = self.0.clone();
        all.sort_unstable();
        all
    }
}

impl Summand for Statuses {
    type Field = Vec<StatusCount>;

    fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(status, n)| self.add(status, n));
    }

    fn to_field(&self) -> Self::Field {
        self.iter().map(|(status, count)| StatusCount { status: status.into(), count }).collect()
    }

    fn from_field(field: Self::Field) -> Option<Self> {
        field
            .iter()
            .map(|message| Some((u16::try_from(message.status).ok()?, message.count)))
            .collect()
    }
}

impl FromIterator<(u16, u64)> for Statuses {
    fn from_iter<I: IntoIterator<Item = (u16, u64)>>(counts: I) -> Self {
        Self(counts.into_iter().collect())
    }
}

impl PartialEq for Statuses {
    fn eq(&self, other: &Self) -> bool {
        // The order depends on the status that arrived first, which differs between workers.
        self.sorted() == other.sorted()
    }
}

impl Tally {
    /// Adds a sample that was begun or dropped.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        if let Some(failure) = sample.outcome.failure {
            self.record_failure(failure, sample);
            // A dropped request was never begun, so it has no further values.
            if failure == Failure::Dropped {
                return;
            }
        }
        self.bytes_sent += sample.bytes_sent;
        self.bytes_received += sample.bytes_received;
        self.queue_wait.record(sample.queue_wait_nanos());
        self.lag.record(sample.lag_nanos());
        // Most requests reuse a connection; zeros would hide the others in the percentiles.
        if sample.opening_lag > 0 {
            self.opening_lag.record(sample.opening_lag);
        }
        if let Some(nanos) = sample.read_lag {
            self.read_lag.record(nanos);
        }
        if let Some(status) = sample.outcome.status {
            self.statuses.add(status, 1);
            if sample.outcome.is_completed() {
                self.record_completed(status, sample);
            }
        }
        if sample.opened {
            self.phases.record_opening(&sample.opening);
            // `sent` equals `begun` if the request was never written, so the connection was not
            // ready.
            if sample.sent > sample.begun {
                self.phases.connection.record(sample.sent.nanos_since(sample.begun));
            }
        }
    }

    #[inline]
    fn record_completed(&mut self, status: u16, sample: &Sample) {
        self.completed += 1;
        self.response.record(sample.response_nanos());
        if sample.lag_nanos() >= LATE_NANOS {
            self.record_late(sample);
        }
        self.service.record(sample.service_nanos());
        // An expected deadline may end a call before its first byte.
        let first_byte =
            if sample.first_byte == Tick::ZERO { sample.last_byte } else { sample.first_byte };
        self.phases.first_byte.record(first_byte.nanos_since(sample.sent));
        self.phases.receive.record(sample.last_byte.nanos_since(first_byte));
        if sample.outcome.is_good() {
            self.good += 1;
        } else {
            self.not_good.record(sample.response_nanos());
            if !sample.outcome.expected {
                self.unexpected.add(status, 1);
            }
        }
    }

    // Cold: failures are rare compared with replies.
    #[cold]
    fn record_late(&mut self, sample: &Sample) {
        let response = sample.response_nanos();
        self.late.record(response);
        // Slow and late requests are rarely the same, so percentiles cannot be subtracted
        // afterwards.
        self.late_without_lag.record(response - sample.lag_nanos());
    }

    #[cold]
    fn record_failure(&mut self, failure: Failure, sample: &Sample) {
        self.failures[failure as usize] += 1;
        if let Some(cause) = sample.malformed {
            *entry(&mut self.malformed, cause) += 1;
        }
        match failure {
            // A failed check has a complete reply, which is recorded there. A dropped
            // request has no times.
            Failure::Check | Failure::Dropped => {}
            // A timeout is a lower bound of the response time. Without it, a server that hangs
            // would look fast.
            Failure::Timeout | Failure::DeadlineExceeded => {
                self.response.record(sample.response_nanos());
                self.not_good.record(sample.response_nanos());
                self.timed_out.record(sample.response_nanos());
                self.service.record(sample.service_nanos());
            }
            // A refused connection fails within microseconds and would lower the percentiles of
            // replies.
            _ => entry(&mut self.failure_times, failure).record(sample.response_nanos()),
        }
    }

    /// Adds the sums of `other`.
    pub fn merge(&mut self, other: &Self) {
        Summand::merge(self, other);
    }

    /// Adds counts, outcomes, response and service times. Queue wait, lag and phases are
    /// not added: no report shows them by label, and their histograms would take twice the
    /// memory of the others.
    pub fn merge_replies(&mut self, other: &Self) {
        Summand::merge_replies(self, other);
    }

    /// Changes all histograms to their smallest form.
    pub fn compact(&mut self) {
        Summand::compact(self);
    }

    /// Number of failures of one kind.
    pub fn failed_by(&self, failure: Failure) -> u64 {
        self.failures[failure as usize]
    }

    /// Number of requests that a time limit ended: timeouts, and deadlines of gRPC calls.
    pub fn timed_out_requests(&self) -> u64 {
        self.failed_by(Failure::Timeout) + self.failed_by(Failure::DeadlineExceeded)
    }

    /// Number of requests that were begun and ended without a complete reply, except cut ones.
    pub fn failed(&self) -> u64 {
        // `begun = completed + failed + cut`, so these three kinds have counts elsewhere in the
        // sum.
        let completed_or_not_begun = [Failure::Check, Failure::Dropped, Failure::Cut];
        Failure::all()
            .filter(|f| !completed_or_not_begun.contains(f))
            .map(|f| self.failed_by(f))
            .sum()
    }

    /// Number of requests that were begun or dropped.
    pub fn attempted(&self) -> u64 {
        self.begun + self.failed_by(Failure::Dropped)
    }

    /// Number of requests that ended, or were dropped. Those in flight are neither good nor errors.
    pub fn ended(&self) -> u64 {
        let not_begun_or_cut = [Failure::Dropped, Failure::Cut].map(|f| self.failed_by(f));
        self.completed + self.failed() + not_begun_or_cut.iter().sum::<u64>()
    }

    /// Number of requests that ended or were dropped, and are not good.
    pub fn errors(&self) -> u64 {
        self.ended().saturating_sub(self.good)
    }

    /// Share of errors in the requests that ended or were dropped; 0 if there are none.
    pub fn error_share(&self) -> f64 {
        let all = self.ended();
        // Without requests, 0 / 0 would be NaN.
        if all == 0 { 0.0 } else { self.errors() as f64 / all as f64 }
    }

    /// Returns the response times of good requests.
    pub fn response_good(&self) -> Histogram {
        self.response.without(&self.not_good)
    }

    /// Returns a quantile of the response time, in nanoseconds. Timed-out, cut and dropped requests
    /// count as the slowest.
    pub fn response_quantile(&self, q: f64) -> Quantile {
        // These requests have no response time, but they are slower than every reply.
        let unseen = self.failed_by(Failure::Dropped) + self.failed_by(Failure::Cut);
        quantile::censored(&self.response.without(&self.timed_out), &self.timed_out, unseen, q)
    }

    /// Returns the same quantile without lag: the lag of each completed request is subtracted
    /// from its response time.
    pub fn response_quantile_without_lag(&self, q: f64) -> Quantile {
        let unseen = self.failed_by(Failure::Dropped) + self.failed_by(Failure::Cut);
        // Late requests are replaced by their values without lag; the others keep theirs.
        let mut response = self.response.without(&self.timed_out).without(&self.late);
        response.merge(&self.late_without_lag);
        quantile::censored(&response, &self.timed_out, unseen, q)
    }

    /// True if nothing was planned and nothing recorded.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::outcome::DEADLINE_STATUS;

    fn reply(lag_micros: u64, response_micros: u64) -> Sample {
        Sample {
            begun: Tick(lag_micros * 1000),
            sent: Tick(lag_micros * 1000),
            first_byte: Tick(response_micros * 1000),
            last_byte: Tick(response_micros * 1000),
            outcome: Outcome { status: Some(200), failure: None, expected: true },
            ..Sample::default()
        }
    }

    #[test]
    fn lag_is_subtracted_from_each_request_separately() {
        let (mut tally, mut other) = (Tally::default(), Tally::default());
        for _ in 0..90 {
            tally.record(&reply(10, 1000));
        }
        for i in 0..10 {
            other.record(&reply(5000 + i, 6000 + i));
        }
        tally.merge(&other);
        let near = |q: Quantile, micros: f64| (q.value as f64 / (micros * 1e3) - 1.0).abs() < 0.002;
        assert!(near(tally.response_quantile(0.99), 6009.0), "{:?}", tally.response_quantile(0.99));
        assert!(near(tally.response_quantile_without_lag(0.99), 1000.0));
        assert_eq!(tally.late.count(), 10);
    }

    #[test]
    fn a_deadline_is_a_status_and_a_lower_bound_of_the_response_time() {
        let mut tally = Tally::default();
        (0..90).for_each(|_| tally.record(&reply(0, 1000)));
        let late = Sample {
            outcome: Outcome::failed(Failure::DeadlineExceeded),
            first_byte: Tick::ZERO,
            ..reply(0, 300_000)
        };
        (0..10).for_each(|_| tally.record(&late));
        let counts = (tally.completed, tally.failed(), tally.timed_out_requests(), tally.errors());
        assert_eq!(counts, (90, 10, 10, 10));
        assert_eq!(tally.statuses.sorted(), [(200, 90), (DEADLINE_STATUS, 10)]);
        assert!(tally.response_quantile(0.95).at_least);
        let expected = Outcome { status: Some(DEADLINE_STATUS), failure: None, expected: true };
        tally.record(&Sample { outcome: expected, ..late });
        assert_eq!((tally.completed, tally.good), (91, 91));
        assert_eq!(tally.phases.first_byte.max() / 10_000_000, 30);
    }

    #[test]
    fn requests_without_a_response_time_are_the_slowest() {
        let mut tally = Tally::default();
        (0..90).for_each(|_| tally.record(&reply(100_000, 101_000)));
        tally.failures[Failure::Dropped as usize] = 10;
        assert!(tally.response_quantile_without_lag(0.99).at_least);
        assert_eq!(tally.response_quantile_without_lag(0.5).value / 100_000, 10);
    }
}
