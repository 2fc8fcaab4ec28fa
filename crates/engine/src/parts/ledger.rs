//! What one part has handed over, summed up: where it is gone before its time, its open sums are closed with this.
//!
//! Of a request that was under way we know that it was begun, and of all of them how long they had been under way
//! together: the integral of their number over time, less the times of those that ended. Each is cut with the mean of it,
//! so that all consistency checks hold. Out of scope: a record of single requests; those went with the part.

use brunt_model::{Failure, Phase, Snapshot, Tally, Tick, TransactionTally};
use std::collections::BTreeMap;

/// The sums of one part.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    to: Tick,
    phase: Phase,
    measured: Counts,
    warmup: Counts,
    /// What was counted over time, less what ended requests took: what those under way have taken so far.
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
    /// The end of its last interval.
    pub fn to(&self) -> Tick {
        self.to
    }

    /// Adds the next interval.
    pub fn add(&mut self, snapshot: &Snapshot) {
        self.to = self.to.max(snapshot.to);
        self.phase = self.phase.max(snapshot.phase);
        self.measured.add(&snapshot.measured);
        self.warmup.add(&snapshot.warmup);
        let ended = nanos_under_way(&snapshot.measured) + nanos_under_way(&snapshot.warmup);
        for (name, tally) in &snapshot.transactions {
            self.transactions.entry(name.clone()).or_default().merge(tally);
        }
        self.open_nanos += i128::from(snapshot.flow.in_flight_nanos) - ended;
    }

    /// The last interval of a part that is gone: what was under way is cut, what was never begun is dropped. None where
    /// nothing was open.
    pub fn closing(&self) -> Option<Snapshot> {
        let under_way = self.measured.under_way() + self.warmup.under_way();
        let each = u64::try_from(self.open_nanos.max(0) / i128::from(under_way.max(1))).unwrap_or(u64::MAX);
        let mut last = Snapshot { from: self.to, to: self.to, phase: self.phase, ..Snapshot::default() };
        last.measured = self.measured.closing(each);
        last.warmup = self.warmup.closing(each);
        last.flow.errors = under_way + self.measured.never_begun() + self.warmup.never_begun();
        let open = self.transactions.iter().filter(|(_, tally)| tally.under_way() > 0);
        let closed =
            |tally: &TransactionTally| TransactionTally { unfinished: tally.under_way(), ..Default::default() };
        last.transactions = open.map(|(name, tally)| (name.clone(), closed(tally))).collect();
        (last.flow.errors > 0 || !last.transactions.is_empty()).then_some(last)
    }
}

/// Σ (last byte − begun) of the requests that ended.
fn nanos_under_way(tally: &Tally) -> i128 {
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

    fn never_begun(&self) -> u64 {
        self.planned.saturating_sub(self.begun + self.dropped)
    }

    fn closing(&self, each_nanos: u64) -> Tally {
        let mut tally = Tally::default();
        tally.failures[Failure::Dropped as usize] = self.never_begun();
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
