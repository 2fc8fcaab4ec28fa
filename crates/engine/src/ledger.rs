//! Sums the snapshots of a part, or of all workers of a process, so that open requests can be closed if one
//! ends early.
//!
//! The requests in flight are known to have begun. Their total time in flight is known, too: the
//! integral of their number over time, less the times of those that ended. Each is cut with the
//! mean time, so that all consistency checks pass. Out of scope: single requests, which were
//! lost with the part.

use brunt_model::{Failure, Phase, Snapshot, Tally, Tick, TransactionTally};
use std::collections::BTreeMap;

/// Sums of a part.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    to: Tick,
    phase: Phase,
    measured: Counts,
    warmup: Counts,
    /// Time in flight of the open requests so far: all time in flight, less that of ended requests.
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
    /// that never began are dropped. None if no request was open.
    pub fn closing(&self) -> Option<Snapshot> {
        let under_way = self.measured.under_way() + self.warmup.under_way();
        let each = u64::try_from(self.open_nanos.max(0) / i128::from(under_way.max(1)))
            .unwrap_or(u64::MAX);
        let mut last =
            Snapshot { from: self.to, to: self.to, phase: self.phase, ..Snapshot::default() };
        last.measured = self.measured.closing(each);
        last.warmup = self.warmup.closing(each);
        last.flow.errors = under_way + self.measured.waiting() + self.warmup.waiting();
        let open = self.transactions.iter().filter(|(_, tally)| tally.in_flight() > 0);
        last.transactions = open.map(|(name, tally)| (name.clone(), unfinished(tally))).collect();
        (last.flow.errors > 0 || !last.transactions.is_empty()).then_some(last)
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
