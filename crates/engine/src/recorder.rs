//! Samples into snapshots: one recorder a worker, touched by nobody else.

use brunt_model::spread::Bin;
use brunt_model::{CheckFailure, Failure, Flow, Phase, Sample, Snapshot, Tally, Tick, TransactionTally};
use brunt_wire::events::EventTimes;
use std::sync::Arc;

/// To which part of the run a request belongs: by when it was planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cohort {
    /// Planned in the warm-up.
    Warmup,
    /// Planned in the measured time.
    Measured,
}

/// What one worker has seen since its last snapshot.
pub struct Recorder {
    measured: Tally,
    warmup: Tally,
    labels: Vec<Option<Box<Tally>>>,
    by_label: bool,
    flow: Flow,
    in_flight: u64,
    /// Until when `flow.in_flight_nanos` is summed up.
    summed_to: Tick,
    /// Where the next snapshot ends: time behind it belongs to the one after, though the worker may come late to the border.
    border: Tick,
    /// Time under way behind the border, in nanoseconds.
    behind_border: u64,
    /// Time in flight that earlier snapshots hold too much.
    excess_nanos: u64,
    /// Requests of parallel steps that have not ended, less one for each step; and their time behind the border.
    overlapping: u64,
    overlap_behind_border: u64,
    /// How arrivals of the open loop are spread.
    bins: Vec<Bin>,
    samples: Option<Vec<Sample>>,
    /// By name, those of the measured time.
    transactions: Vec<(Arc<str>, TransactionTally)>,
    /// Those of the measured time.
    check_failures: Vec<CheckFailure>,
}

impl Recorder {
    /// `by_label`: keep labels apart; `samples`: keep each sample too.
    pub fn new(by_label: bool, samples: bool) -> Self {
        Self {
            measured: Tally::default(),
            warmup: Tally::default(),
            labels: Vec::new(),
            by_label,
            flow: Flow::default(),
            in_flight: 0,
            summed_to: Tick::ZERO,
            border: Tick::NEVER,
            behind_border: 0,
            excess_nanos: 0,
            overlapping: 0,
            overlap_behind_border: 0,
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

    /// A request became due.
    #[inline]
    pub fn due(&mut self, cohort: Cohort) {
        self.flow.planned += 1;
        self.tally(cohort).planned += 1;
    }

    /// An arrival of the open loop became due.
    #[inline]
    pub fn arrived(&mut self, cohort: Cohort, planned: Tick) {
        self.due(cohort);
        self.flow.arrivals += 1;
        Bin::find(&mut self.bins, Bin::number_at(planned)).planned += 1;
    }

    /// An arrival of the open loop was acted on: its first request was begun, or dropped.
    #[inline]
    pub fn acted(&mut self, at: Tick) {
        Bin::find(&mut self.bins, Bin::number_at(at)).acted += 1;
    }

    /// A request was begun.
    #[inline]
    pub fn begin(&mut self, cohort: Cohort, at: Tick) {
        self.pass(at);
        self.flow.begun += 1;
        self.in_flight += 1;
        self.tally(cohort).begun += 1;
    }

    /// Time passed with as many requests under way as there are.
    #[inline]
    fn pass(&mut self, to: Tick) {
        let behind = to.nanos_since(self.border.max(self.summed_to));
        let before = to.nanos_since(self.summed_to) - behind;
        self.behind_border += self.in_flight * behind;
        self.flow.in_flight_nanos += self.in_flight * before;
        self.overlap_behind_border += self.overlapping * behind;
        self.flow.overlap_nanos += self.overlapping * before;
        self.summed_to = self.summed_to.max(to);
    }

    /// A request ended at `end`, of which nobody told before others began or ended: it was counted for too long.
    #[inline]
    fn take_back(&mut self, end: Tick) {
        let late = self.summed_to.nanos_since(end);
        if late > 0 {
            let behind = self.summed_to.nanos_since(self.border.max(end)).min(late);
            self.behind_border = self.behind_border.saturating_sub(behind);
            // The time may be in a snapshot that was taken meanwhile: then later ones have less.
            let counted = late - behind;
            let rest = counted.saturating_sub(self.flow.in_flight_nanos);
            self.flow.in_flight_nanos -= counted - rest;
            self.excess_nanos += rest;
        }
    }

    /// A parallel step began, `extra` requests of which go beyond the one that a user has under way otherwise.
    pub fn overlap_begins(&mut self, planned: Tick, at: Tick, extra: u64) {
        self.pass(at);
        self.flow.overlap_nanos += extra * at.nanos_since(planned);
        self.overlapping += extra;
    }

    /// A request of a parallel step ended, and another one of the step has not.
    pub fn overlap_ends(&mut self, at: Tick) {
        self.pass(at);
        self.overlapping -= 1;
    }

    /// Where the next snapshot ends.
    pub fn expect(&mut self, border: Tick) {
        self.border = border;
    }

    /// A virtual user was idle, by its own choice.
    #[inline]
    pub fn thought(&mut self, from: Tick, to: Tick) {
        self.flow.thought_nanos += to.nanos_since(from);
    }

    /// A whole reply came that had announced its length.
    #[inline]
    pub fn announced(&mut self, bytes: u64, came: u64) {
        self.flow.announced_bytes += bytes;
        self.flow.announced_came_bytes += came;
    }

    /// A request that was begun has ended. `label` of the sample is not looked at: see [`Self::label`].
    #[inline]
    pub fn end(&mut self, cohort: Cohort, sample: &Sample) {
        self.pass(sample.last_byte);
        self.take_back(sample.last_byte);
        self.in_flight -= 1;
        self.flow.completed += u64::from(sample.outcome.is_completed());
        self.flow.good += u64::from(sample.outcome.is_good());
        self.flow.errors += u64::from(!sample.outcome.is_good());
        self.flow.bytes_sent += sample.bytes_sent;
        self.flow.bytes_received += sample.bytes_received;
        self.flow.reused += u64::from(sample.reused);
        self.tally(cohort).record(sample);
        if let Some(samples) = &mut self.samples {
            samples.push(*sample);
        }
    }

    /// Adds a sample to its label, where labels are kept apart.
    #[inline]
    pub fn label(&mut self, cohort: Cohort, sample: &Sample) {
        if !self.by_label || cohort == Cohort::Warmup {
            return;
        }
        let tally = self.label_tally(sample.label);
        tally.planned += 1;
        tally.begun += 1;
        tally.record(sample);
    }

    fn label_tally(&mut self, label: u32) -> &mut Tally {
        let at = label as usize;
        if self.labels.len() <= at {
            self.labels.resize_with(at + 1, || None);
        }
        self.labels[at].get_or_insert_default()
    }

    /// Events of replies to requests of this label came; None: there is only one.
    pub fn events(&mut self, label: Option<&str>, times: EventTimes) {
        for (which, times) in [("first event", times.first), ("next event", times.next)] {
            if times.count() > 0 {
                let name = label.map_or_else(|| which.to_owned(), |label| format!("{which} of {label}"));
                let tally = self.transaction(&name.into());
                tally.started += times.count();
                tally.succeeded += times.count();
                tally.response.merge(&times);
            }
        }
    }

    /// The tally of the transactions of a name, made when first asked for.
    pub fn transaction(&mut self, name: &Arc<str>) -> &mut TransactionTally {
        let at = self.transactions.iter().position(|known| known.0 == *name).unwrap_or_else(|| {
            self.transactions.push((Arc::clone(name), TransactionTally::default()));
            self.transactions.len() - 1
        });
        &mut self.transactions[at].1
    }

    /// A reply to a request of this label failed these checks.
    pub fn check_failures(&mut self, cohort: Cohort, label: u32, failures: Vec<CheckFailure>) {
        if cohort == Cohort::Measured {
            for failure in failures {
                CheckFailure { label, ..failure }.add_to(&mut self.check_failures);
            }
        }
    }

    /// The failures of checks since the last call.
    pub fn take_check_failures(&mut self) -> Vec<CheckFailure> {
        std::mem::take(&mut self.check_failures)
    }

    /// A request that was due was never begun.
    pub fn dropped(&mut self, cohort: Cohort) {
        self.flow.errors += 1;
        self.tally(cohort).failures[Failure::Dropped as usize] += 1;
    }

    /// So many arrivals of the open loop were due, and none of them was ever looked at. They are in no bin: nothing is
    /// known of when each of them was due.
    pub fn passed_over(&mut self, cohort: Cohort, count: u64) {
        self.flow.planned += count;
        self.flow.arrivals += count;
        self.flow.errors += count;
        let tally = self.tally(cohort);
        tally.planned += count;
        tally.failures[Failure::Dropped as usize] += count;
    }

    /// A redirect was followed.
    pub fn redirected(&mut self, cohort: Cohort) {
        self.tally(cohort).redirects += 1;
    }

    /// A request was sent again because its connection was stale.
    pub fn retried(&mut self, cohort: Cohort) {
        self.tally(cohort).retries += 1;
    }

    /// A connection was opened before the load began: its steps are kept, no request goes with them.
    pub fn opened_ahead(&mut self, opening: &brunt_model::sample::Opening) {
        self.measured.phases.record_opening(opening);
    }

    /// Returns all samples since the last snapshot. `counts` has what others counted since then: connections, and levels
    /// at `to`.
    pub fn take(&mut self, from: Tick, to: Tick, phase: Phase, counts: &Flow) -> Snapshot {
        self.pass(to);
        let mut flow = std::mem::take(&mut self.flow);
        let excess = self.excess_nanos.min(flow.in_flight_nanos);
        flow.in_flight_nanos -= excess;
        self.excess_nanos -= excess;
        self.border = Tick::NEVER;
        self.flow.in_flight_nanos = std::mem::take(&mut self.behind_border);
        self.flow.overlap_nanos = std::mem::take(&mut self.overlap_behind_border);
        flow.in_flight = self.in_flight;
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
            transactions: self.transactions.drain(..).map(|(name, tally)| (name.to_string(), tally)).collect(),
            labels: labels.filter_map(|(n, t)| t.take().map(|t| (n as u32, *t))).collect(),
        }
    }

    /// Single samples since the last call, where they are kept.
    pub fn take_samples(&mut self) -> Option<Vec<Sample>> {
        let samples = self.samples.as_mut().filter(|s| !s.is_empty())?;
        // The next interval will bring about as many: room for them is made once.
        let room = Vec::with_capacity(samples.len());
        Some(std::mem::replace(samples, room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_whose_end_is_told_late_is_counted_until_its_end() {
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
        fn time_in_flight_is_the_sum_of_all_times_however_late_ends_are_recorded(
            requests in proptest::collection::vec((0_u64..900, 1_u64..200, 0_u64..300), 1..40)
        ) {
            let mut recorder = Recorder::new(false, false);
            let mut events: Vec<(u64, Option<u64>)> = Vec::new();
            for (begun, time, lateness) in &requests {
                events.push((*begun, None));
                events.push((begun + time + lateness, Some(begun + time)));
            }
            // A long last request, so that later snapshots can make up for the excess of earlier ones.
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

    #[test]
    fn what_is_under_way_behind_a_border_belongs_to_the_next_snapshot_however_late_the_worker_is() {
        const MS: u64 = 1_000_000;
        let mut recorder = Recorder::new(false, false);
        recorder.begin(Cohort::Measured, Tick(60 * MS));
        recorder.expect(Tick(100 * MS));
        // The worker was suspended: it reads the reply 70 ms behind the border, and only then comes to it.
        recorder.end(Cohort::Measured, &Sample { last_byte: Tick(170 * MS), ..Sample::default() });
        let first = in_flight_nanos(&mut recorder, 0, 100 * MS);
        let second = in_flight_nanos(&mut recorder, 100 * MS, 200 * MS);
        assert_eq!([first, second], [40 * MS, 70 * MS]);
    }
}
