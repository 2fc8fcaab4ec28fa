//! Sums of one interval of a run.

pub mod flow;

use crate::spread::ArrivalBin;
use crate::tally::sums::entry;
use crate::{Phase, Tally, Tick, TransactionTally};
pub use flow::Flow;
use std::collections::BTreeMap;

/// Sums of one worker, or of all workers after merging, in one interval. Merging
/// is associative and commutative.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// Start of the interval.
    pub from: Tick,
    /// End of the interval.
    pub to: Tick,
    /// Phase of the run that contains the interval.
    pub phase: Phase,
    /// Counters of the interval, whenever the requests were planned.
    pub flow: Flow,
    /// Samples planned in the measured time that ended in this interval.
    pub measured: Tally,
    /// Samples planned in the warm-up that ended in this interval.
    pub warmup: Tally,
    /// `measured` by label number; empty if there is only one label.
    pub labels: Vec<(u32, Tally)>,
    /// Spacing of arrivals, by bin number (open loop).
    pub bins: Vec<ArrivalBin>,
    /// Transactions that started or ended in this interval, by name. Only those with a first
    /// request planned in the measured time.
    pub transactions: BTreeMap<String, TransactionTally>,
}

impl Snapshot {
    /// Adds the same interval of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.flow.merge(&other.flow);
        self.add_requests(other);
    }

    /// Appends a later interval of the same phase.
    pub fn follow(&mut self, later: &Self) {
        self.to = later.to;
        // Levels are those of the later interval, whereas tallies add up.
        self.flow.follow(&later.flow);
        self.add_requests(later);
    }

    fn add_requests(&mut self, other: &Self) {
        self.measured.merge(&other.measured);
        self.warmup.merge(&other.warmup);
        for (label, tally) in &other.labels {
            self.label(*label).merge(tally);
        }
        // Sorted, so that the result does not depend on the order of merging.
        self.labels.sort_by_key(|l| l.0);
        for bin in &other.bins {
            self.bin(bin.number).add(bin);
        }
        self.bins.sort_by_key(|b| b.number);
        for (name, tally) in &other.transactions {
            self.transactions.entry(name.clone()).or_default().merge(tally);
        }
    }

    /// Returns the bin with this number, which is created if it does not exist.
    pub fn bin(&mut self, number: u64) -> &mut ArrivalBin {
        ArrivalBin::find(&mut self.bins, number)
    }

    /// Returns the tally of a label, which is created if it does not exist.
    pub fn label(&mut self, label: u32) -> &mut Tally {
        entry(&mut self.labels, label)
    }
}
