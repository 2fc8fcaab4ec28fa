//! Sums the snapshots of a part, or of all workers of a process, so that open requests can be closed if one
//! ends early.
//!
//! The requests in flight are known to have begun. Their total time in flight is known, too: the
//! integral of their number over time, less the times of those that ended. Each is cut with the
//! mean time, so that all consistency checks pass. Out of scope: single requests, which were
//! lost with the part.

use brunt_model::{Failure, Flow, Phase, Snapshot, Tally, Tick, TransactionTally};
use std::collections::BTreeMap;

/// Sums of a part.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    to: Tick,
    phase: Phase,
    measured: Counts,
    warmup: Counts,
    /// Time in flight of the open requests so far: all time in flight, less that of ended requests. Negative if
    /// requests ended after the last interval: a late worker counts them in it, and their further time in the next one.
    open_nanos: i128,
    transactions: BTreeMap<String, TransactionTally>,
}

#[derive(Debug, Default)]
struct Counts {
    planned: u64,
    begun: u64,
    dropped: u64,
    ended: u64,
}

impl Ledger {
    /// Creates the sums of a part with load from this instant on.
    pub fn from(instant: Tick) -> Self {
        Self { to: instant, ..Self::default() }
    }

    /// Returns the end of its last interval.
    pub fn to(&self) -> Tick {
        self.to
    }

    /// Adds the next interval.
    pub fn add(&mut self, snapshot: &Snapshot) {
        self.to = self.to.max(snapshot.to);
        self.phase = self.phase.max(snapshot.phase);
        self.measured.add(&snapshot.measured);
        self.warmup.add(&snapshot.warmup);
        let ended = in_flight_nanos(&snapshot.measured) + in_flight_nanos(&snapshot.warmup);
        for (name, tally) in &snapshot.transactions {
            self.transactions.entry(name.clone()).or_default().merge(tally);
        }
        self.open_nanos += i128::from(snapshot.flow.in_flight_nanos) - ended;
    }

    /// Returns the last interval of a part that ended early: requests in flight are cut, and those
    /// that never began are dropped. It has the time in flight of requests that ended after the interval before. None
    /// if it would be empty.
    pub fn closing(&self) -> Option<Snapshot> {
        let under_way = self.measured.under_way() + self.warmup.under_way();
        let each = u64::try_from(self.open_nanos.max(0) / i128::from(under_way.max(1)))
            .unwrap_or(u64::MAX);
        let mut last =
            Snapshot { from: self.to, to: self.to, phase: self.phase, ..Snapshot::default() };
        last.measured = self.measured.closing(each);
        last.warmup = self.warmup.closing(each);
        last.flow.errors = under_way + self.measured.waiting() + self.warmup.waiting();
        last.flow.in_flight_nanos = u64::try_from(-self.open_nanos).unwrap_or_default();
        // The users of the part count until its last interval.
        last.flow.overtime_nanos = last.flow.in_flight_nanos;
        let open = self.transactions.iter().filter(|(_, tally)| tally.in_flight() > 0);
        last.transactions = open.map(|(name, tally)| (name.clone(), unfinished(tally))).collect();
        let is_empty = last.flow == Flow::default() && last.transactions.is_empty();
        (!is_empty).then_some(last)
    }
}

fn unfinished(tally: &TransactionTally) -> TransactionTally {
    TransactionTally { unfinished: tally.in_flight(), ..TransactionTally::default() }
}

/// Returns Σ (last byte − begun) of the requests that ended.
fn in_flight_nanos(tally: &Tally) -> i128 {
    let failures: u128 = tally.failure_times.iter().map(|f| f.1.sum()).sum();
    (tally.response.sum() + failures) as i128 - (tally.queue_wait.sum() + tally.lag.sum()) as i128
}

impl Counts {
    fn add(&mut self, tally: &Tally) {
        self.planned += tally.planned;
        self.begun += tally.begun;
        self.dropped += tally.failed_by(Failure::Dropped);
        self.ended += tally.completed + tally.failed() + tally.failed_by(Failure::Cut);
    }

    fn under_way(&self) -> u64 {
        self.begun.saturating_sub(self.ended)
    }

    fn waiting(&self) -> u64 {
        self.planned.saturating_sub(self.begun + self.dropped)
    }

    fn closing(&self, each_nanos: u64) -> Tally {
        let mut tally = Tally::default();
        tally.failures[Failure::Dropped as usize] = self.waiting();
        let cut = self.under_way();
        if cut > 0 {
            tally.failures[Failure::Cut as usize] = cut;
            let mut times = brunt_stats::Histogram::default();
            times.record_n(each_nanos, cut);
            tally.failure_times.push((Failure::Cut, times));
            tally.queue_wait.record_n(0, cut);
            tally.lag.record_n(0, cut);
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Cohort, Recorder};
    use brunt_model::{Outcome, Sample};

    /// A worker that is late at a border counts a request in the interval before the border, though it ended after it.
    #[test]
    fn time_in_flight_after_the_last_interval_is_closed_like_open_requests() {
        let mut recorder = Recorder::new(false, false);
        recorder.set_border(Tick(100));
        recorder.begin(Cohort::Measured, Tick(40));
        recorder.begin(Cohort::Measured, Tick(90));
        let last_byte = Tick(170);
        let due = Tick(40);
        let outcome = Outcome { status: Some(200), failure: None, expected: true };
        let times = Sample { planned: due, free: due, begun: due, sent: due, ..Sample::default() };
        let sample = Sample { last_byte, outcome, ..times };
        recorder.end(Cohort::Measured, &sample);
        let snapshot = recorder.take(Tick(0), Tick(100), Phase::Measure, &Flow::default());
        assert_eq!(snapshot.flow.in_flight_nanos, 60 + 10);
        let mut ledger = Ledger::default();
        ledger.add(&snapshot);
        let closing = ledger.closing().expect("an open request");
        assert_eq!(closing.measured.failed_by(Failure::Cut), 1);
        let in_flight = snapshot.flow.in_flight_nanos + closing.flow.in_flight_nanos;
        let ended = in_flight_nanos(&snapshot.measured) + in_flight_nanos(&closing.measured);
        assert_eq!(i128::from(in_flight), ended);
        assert_eq!(closing.flow.overtime_nanos, 170 - 100 - 10, "users count until the border");
    }
}
