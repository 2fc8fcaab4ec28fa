//! Turns the samples of one worker into snapshots.

use brunt_model::spread::ArrivalBin;
use brunt_model::transaction::TransactionEnd;
use brunt_model::{
    CheckFailure, Failure, Flow, Phase, Sample, Snapshot, Tally, Tick, TransactionTally,
};
use brunt_wire::events::EventTimes;
use std::sync::Arc;

/// Part of the run to which a request belongs, by its planned instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cohort {
    Warmup,
    Measured,
}

/// Records the samples of one worker since its last snapshot.
pub struct Recorder {
    measured: Tally,
    warmup: Tally,
    labels: Vec<Option<Box<Tally>>>,
    by_label: bool,
    /// Counters since the last snapshot, without those that `sums` has.
    flow: Flow,
    in_flight: u64,
    /// Number of requests of parallel steps that have not ended, less one for each step.
    overlapping: u64,
    /// Integrals over time up to the border.
    sums: FlightSums,
    /// Instant up to which the integrals are known.
    summed_to: Tick,
    /// End of the next snapshot. Later time belongs to the following ones, even if the worker is
    /// late at the border.
    border: Tick,
    /// Time after the border.
    after_border: Vec<FlightSpan>,
    /// Arrivals of the open loop over time.
    bins: Vec<ArrivalBin>,
    samples: Option<Vec<Sample>>,
    /// Transactions of the measured time, by name.
    transactions: Vec<(Arc<str>, TransactionTally)>,
    /// Failed checks of the measured time.
    check_failures: Vec<CheckFailure>,
}

/// Integrals over time, in nanoseconds. They are negative if corrections of earlier snapshots exceed
/// the time since then.
#[derive(Default)]
struct FlightSums {
    in_flight: i64,
    overlap: i64,
}

/// A time in which the number of requests in flight did not change. Negative numbers correct earlier
/// spans.
#[derive(Clone, Copy)]
struct FlightSpan {
    from: Tick,
    to: Tick,
    in_flight: i64,
    overlapping: i64,
}

impl Recorder {
    /// Creates a recorder. `by_label` keeps labels separate; `samples` also keeps each sample.
    pub fn new(by_label: bool, samples: bool) -> Self {
        Self {
            measured: Tally::default(),
            warmup: Tally::default(),
            labels: Vec::new(),
            by_label,
            flow: Flow::default(),
            in_flight: 0,
            overlapping: 0,
            sums: FlightSums::default(),
            summed_to: Tick::ZERO,
            border: Tick::NEVER,
            after_border: Vec::new(),
            bins: Vec::new(),
            samples: samples.then(Vec::new),
            transactions: Vec::new(),
            check_failures: Vec::new(),
        }
    }

    fn tally(&mut self, cohort: Cohort) -> &mut Tally {
        match cohort {
            Cohort::Measured => &mut self.measured,
            Cohort::Warmup => &mut self.warmup,
        }
    }

    /// Counts a request as due.
    #[inline]
    pub fn record_due(&mut self, cohort: Cohort) {
        self.flow.planned += 1;
        self.tally(cohort).planned += 1;
    }

    /// Counts an arrival of the open loop as due.
    #[inline]
    pub fn record_arrival(&mut self, cohort: Cohort, planned: Tick) {
        self.record_due(cohort);
        self.tally(cohort).iterations.arrivals += 1;
        self.flow.arrivals += 1;
        ArrivalBin::find(&mut self.bins, ArrivalBin::number_at(planned)).planned += 1;
    }

    /// Counts the first action on an arrival of the open loop: its first request
    /// was begun, or dropped.
    #[inline]
    pub fn record_first_action(&mut self, instant: Tick) {
        ArrivalBin::find(&mut self.bins, ArrivalBin::number_at(instant)).acted += 1;
    }

    /// Counts a request as begun.
    #[inline]
    pub fn begin(&mut self, cohort: Cohort, instant: Tick) {
        self.advance(instant);
        self.flow.begun += 1;
        self.in_flight += 1;
        self.tally(cohort).begun += 1;
    }

    /// Adds the time until `to` for the requests that are in flight.
    #[inline]
    fn advance(&mut self, to: Tick) {
        if to > self.summed_to {
            self.add_span(FlightSpan {
                from: self.summed_to,
                to,
                in_flight: self.in_flight as i64,
                overlapping: self.overlapping as i64,
            });
            self.summed_to = to;
        }
    }

    /// Subtracts the excess time of a request that ended at `end` but was reported later, after
    /// others began or ended.
    #[inline]
    fn correct_late_end(&mut self, end: Tick) {
        if end < self.summed_to {
            // Time in snapshots that were already sent is subtracted from the next one.
            self.add_span(FlightSpan {
                from: end,
                to: self.summed_to,
                in_flight: -1,
                overlapping: 0,
            });
        }
    }

    #[inline]
    fn add_span(&mut self, span: FlightSpan) {
        let before_border = span.to.min(self.border).nanos_since(span.from) as i64;
        self.sums.in_flight += span.in_flight * before_border;
        self.sums.overlap += span.overlapping * before_border;
        if span.to > self.border {
            let from = span.from.max(self.border);
            self.after_border.push(FlightSpan { from, ..span });
        }
    }

    /// Begins a parallel step with `extra` requests in addition to the usual one of a user.
    pub fn overlap_begins(&mut self, planned: Tick, instant: Tick, extra: u64) {
        self.advance(instant);
        // A step that is due just before a border may begin after it.
        self.sums.overlap += (extra * instant.nanos_since(planned)) as i64;
        self.overlapping += extra;
    }

    /// Ends a request of a parallel step, if another one of the step has not ended.
    pub fn overlap_ends(&mut self, instant: Tick) {
        self.advance(instant);
        self.overlapping -= 1;
    }

    /// Sets the end of the next snapshot.
    pub fn set_border(&mut self, border: Tick) {
        self.border = border;
        for span in std::mem::take(&mut self.after_border) {
            self.add_span(span);
        }
    }

    /// Adds idle time of a virtual user by its own choice.
    #[inline]
    pub fn record_idle(&mut self, from: Tick, to: Tick) {
        self.flow.thought_nanos += to.nanos_since(from);
    }

    /// Adds the time by which the last request of a virtual user ended after the load.
    pub fn record_overtime(&mut self, nanos: u64) {
        self.flow.overtime_nanos += nanos;
    }

    /// Adds a complete reply that announced its length.
    #[inline]
    pub fn record_announced(&mut self, bytes: u64, received: u64) {
        self.flow.announced_bytes += bytes;
        self.flow.announced_came_bytes += received;
    }

    /// Records a request that was begun and has ended. Ignores the `label` of
    /// the sample: see [`Self::label`].
    #[inline]
    pub fn end(&mut self, cohort: Cohort, sample: &Sample) {
        self.advance(sample.last_byte);
        self.correct_late_end(sample.last_byte);
        self.in_flight -= 1;
        self.flow.completed += u64::from(sample.outcome.is_completed());
        self.flow.good += u64::from(sample.outcome.is_good());
        self.flow.errors += u64::from(!sample.outcome.is_good());
        self.flow.failed_checks += u64::from(sample.outcome.failure == Some(Failure::Check));
        self.flow.bytes_sent += sample.bytes_sent;
        self.flow.bytes_received += sample.bytes_received;
        self.flow.reused += u64::from(sample.reused);
        self.tally(cohort).record(sample);
        if let Some(samples) = &mut self.samples {
            samples.push(*sample);
        }
    }

    /// Adds a sample to its label, if labels are kept separate.
    #[inline]
    pub fn label(&mut self, cohort: Cohort, sample: &Sample) {
        // Labels contain only the measured time.
        if !self.by_label || cohort == Cohort::Warmup {
            return;
        }
        let tally = self.label_tally(sample.label);
        tally.planned += 1;
        tally.begun += 1;
        tally.record(sample);
    }

    fn label_tally(&mut self, label: u32) -> &mut Tally {
        let index = label as usize;
        if self.labels.len() <= index {
            self.labels.resize_with(index + 1, || None);
        }
        self.labels[index].get_or_insert_default()
    }

    /// Adds the times of events in replies to requests of a label. None: the run
    /// has only one label.
    pub fn events(&mut self, label: Option<&str>, times: EventTimes) {
        for (which, times) in [("first event", times.first), ("next event", times.next)] {
            if times.count() > 0 {
                let name =
                    label.map_or_else(|| which.to_owned(), |label| format!("{which} of {label}"));
                let tally = self.transaction(&name.into());
                tally.started += times.count();
                tally.succeeded += times.count();
                tally.response.merge(&times);
            }
        }
    }

    /// Returns the tally of the transactions of a name, and creates it at the first call.
    pub fn transaction(&mut self, name: &Arc<str>) -> &mut TransactionTally {
        let index =
            self.transactions.iter().position(|known| known.0 == *name).unwrap_or_else(|| {
                self.transactions.push((Arc::clone(name), TransactionTally::default()));
                self.transactions.len() - 1
            });
        &mut self.transactions[index].1
    }

    /// Adds failed checks of a reply to a request of this label.
    pub fn check_failures(&mut self, cohort: Cohort, label: u32, failures: Vec<CheckFailure>) {
        if cohort == Cohort::Measured {
            for failure in failures {
                CheckFailure { label, ..failure }.add_to(&mut self.check_failures);
            }
        }
    }

    /// Returns the failed checks since the last call.
    pub fn take_check_failures(&mut self) -> Vec<CheckFailure> {
        std::mem::take(&mut self.check_failures)
    }

    /// Counts a due request as dropped: it never began.
    pub fn record_drop(&mut self, cohort: Cohort) {
        self.flow.errors += 1;
        self.tally(cohort).failures[Failure::Dropped as usize] += 1;
    }

    /// Counts arrivals of the open loop that were due and never examined as dropped. They are in no
    /// bin, because the due time of each is unknown.
    pub fn record_unexamined(&mut self, cohort: Cohort, count: u64) {
        self.flow.planned += count;
        self.flow.arrivals += count;
        self.flow.errors += count;
        let tally = self.tally(cohort);
        tally.planned += count;
        tally.iterations.arrivals += count;
        tally.failures[Failure::Dropped as usize] += count;
    }

    /// Counts the end of an iteration.
    #[inline]
    pub fn record_iteration(&mut self, cohort: Cohort, end: TransactionEnd) {
        self.tally(cohort).iterations.end(end);
    }

    /// Counts a redirect that was followed.
    pub fn record_redirect(&mut self, cohort: Cohort) {
        self.tally(cohort).redirects += 1;
    }

    /// Counts a request that was sent again because its connection was stale.
    pub fn record_retry(&mut self, cohort: Cohort) {
        self.tally(cohort).retries += 1;
    }

    /// Records the phases of a connection that was opened before the load, without a request.
    pub fn record_early_opening(&mut self, opening: &brunt_model::sample::ConnectTimes) {
        self.measured.phases.record_opening(opening);
    }

    /// Returns the snapshot of all samples since the last one. `counts` has the other values of the
    /// interval: connection counts, and gauges at `to`.
    pub fn take(&mut self, from: Tick, to: Tick, phase: Phase, counts: &Flow) -> Snapshot {
        // Time after an earlier border belongs here, if no border was set since.
        self.set_border(self.border);
        self.advance(to);
        let mut flow = std::mem::take(&mut self.flow);
        flow.in_flight_nanos = take_positive(&mut self.sums.in_flight);
        flow.overlap_nanos = take_positive(&mut self.sums.overlap);
        flow.in_flight = self.in_flight;
        self.border = Tick::NEVER;
        flow.merge(counts);
        let labels = self.labels.iter_mut().enumerate();
        Snapshot {
            from,
            to,
            phase,
            flow,
            measured: std::mem::take(&mut self.measured),
            warmup: std::mem::take(&mut self.warmup),
            bins: std::mem::take(&mut self.bins),
            transactions: self
                .transactions
                .drain(..)
                .map(|(name, tally)| (name.to_string(), tally))
                .collect(),
            labels: labels.filter_map(|(n, t)| t.take().map(|t| (n as u32, *t))).collect(),
        }
    }

    /// Returns single samples since the last call, if they are stored.
    pub fn take_samples(&mut self) -> Option<Vec<Sample>> {
        let samples = self.samples.as_mut().filter(|s| !s.is_empty())?;
        // The next interval has about as many samples: this allocates their memory once.
        let room = Vec::with_capacity(samples.len());
        Some(std::mem::replace(samples, room))
    }
}

/// Returns a sum that is not negative, and keeps a negative one for the next snapshot.
fn take_positive(sum: &mut i64) -> u64 {
    let positive = (*sum).max(0);
    *sum -= positive;
    positive as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_reported_late_is_in_flight_until_its_end() {
        let mut recorder = Recorder::new(false, false);
        recorder.begin(Cohort::Measured, Tick(10));
        recorder.begin(Cohort::Measured, Tick(20));
        recorder.begin(Cohort::Measured, Tick(70));
        for last_byte in [Tick(60), Tick(80), Tick(90)] {
            recorder.end(Cohort::Measured, &Sample { last_byte, ..Sample::default() });
        }
        let snapshot = recorder.take(Tick(0), Tick(100), Phase::Measure, &Flow::default());
        assert_eq!(snapshot.flow.in_flight_nanos, 50 + 60 + 20);
    }

    proptest! {
        /// A worker reads several replies at once and records each one when its task runs, which can be after the next snapshot.
        #[test]
        fn time_in_flight_includes_ends_that_are_recorded_late(
            requests in proptest::collection::vec((0_u64..900, 1_u64..200, 0_u64..300), 1..40)
        ) {
            let mut recorder = Recorder::new(false, false);
            let mut events: Vec<(u64, Option<u64>)> = Vec::new();
            for (begun, time, lateness) in &requests {
                events.push((*begun, None));
                events.push((begun + time + lateness, Some(begun + time)));
            }
            // A long last request, so that later snapshots can compensate the excess of earlier
            // ones.
            events.extend([(2_000, None), (102_000, Some(102_000))]);
            events.sort_unstable();
            let expected: u64 = requests.iter().map(|(_, time, _)| time).sum::<u64>() + 100_000;
            let mut counted = 0;
            let mut border = 100;
            for (at, end) in events {
                while border <= at.min(2_000) {
                    counted += in_flight_nanos(&mut recorder, border - 100, border);
                    border += 100;
                }
                match end {
                    None => recorder.begin(Cohort::Measured, Tick(at)),
                    Some(end) => {
                        recorder.end(Cohort::Measured, &Sample { last_byte: Tick(end), ..Sample::default() });
                    }
                }
            }
            prop_assert_eq!(counted + in_flight_nanos(&mut recorder, border, 103_000), expected);
        }
    }

    fn in_flight_nanos(recorder: &mut Recorder, from: u64, to: u64) -> u64 {
        recorder.take(Tick(from), Tick(to), Phase::Measure, &Flow::default()).flow.in_flight_nanos
    }

    proptest! {
        /// A worker that is late at borders cuts several intervals at once. Each has the time in flight within it.
        #[test]
        fn a_late_worker_attributes_time_in_flight_to_its_intervals(
            users in 1_u64..6,
            times in proptest::collection::vec(1_u64..400, 1..30),
        ) {
            let mut recorder = Recorder::new(false, false);
            let mut now = 0;
            let mut border = 100;
            recorder.set_border(Tick(border));
            for _ in 0..users {
                recorder.begin(Cohort::Measured, Tick(now));
            }
            // Each reply comes late, and the worker cuts the intervals after it.
            for time in times {
                now += time;
                recorder.end(Cohort::Measured, &Sample { last_byte: Tick(now), ..Sample::default() });
                recorder.begin(Cohort::Measured, Tick(now));
                while border <= now {
                    prop_assert_eq!(in_flight_nanos(&mut recorder, border - 100, border), users * 100);
                    border += 100;
                    recorder.set_border(Tick(border));
                }
            }
        }
    }

    #[test]
    fn time_in_flight_after_a_border_belongs_to_the_next_snapshot() {
        const MS: u64 = 1_000_000;
        let mut recorder = Recorder::new(false, false);
        recorder.begin(Cohort::Measured, Tick(60 * MS));
        recorder.set_border(Tick(100 * MS));
        // The worker was suspended: it reads the reply 70 ms after the border, and reaches the
        // border later.
        recorder.end(Cohort::Measured, &Sample { last_byte: Tick(170 * MS), ..Sample::default() });
        let first = in_flight_nanos(&mut recorder, 0, 100 * MS);
        let second = in_flight_nanos(&mut recorder, 100 * MS, 200 * MS);
        assert_eq!([first, second], [40 * MS, 70 * MS]);
    }
}
