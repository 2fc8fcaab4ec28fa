//! What happened in one interval of a run.

pub mod flow;

use crate::spread::Bin;
use crate::tally::sums::entry;
use crate::{Phase, Tally, Tick, TransactionTally};
pub use flow::Flow;
use std::collections::BTreeMap;

/// What one worker (or, merged, all of them) saw in one interval. Merge is associative and commutative.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// When the interval began.
    pub from: Tick,
    /// When it ended.
    pub to: Tick,
    /// The part of the run that it lies in.
    pub phase: Phase,
    /// What flowed in this time, whenever it was planned.
    pub flow: Flow,
    /// Samples planned in the measured time that ended here.
    pub measured: Tally,
    /// Samples planned in the warm-up that ended here.
    pub warmup: Tally,
    /// `measured` by label number, where there is more than one label.
    pub labels: Vec<(u32, Tally)>,
    /// How arrivals were spread over time, by number of the bin (open loop).
    pub bins: Vec<Bin>,
    /// Transactions whose first request was planned in the measured time, by name: those that started here, and those that
    /// ended here.
    pub transactions: BTreeMap<String, TransactionTally>,
}

impl Snapshot {
    /// Joins the same interval of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.flow.merge(&other.flow);
        self.add_requests(other);
    }

    /// Joins a later interval of the same part of the run.
    pub fn follow(&mut self, later: &Self) {
        self.to = later.to;
        self.flow.follow(&later.flow);
        self.add_requests(later);
    }

    fn add_requests(&mut self, other: &Self) {
        self.measured.merge(&other.measured);
        self.warmup.merge(&other.warmup);
        for (label, tally) in &other.labels {
            self.label(*label).merge(tally);
        }
        self.labels.sort_by_key(|l| l.0);
        for bin in &other.bins {
            self.bin(bin.number).add(bin);
        }
        self.bins.sort_by_key(|b| b.number);
        for (name, tally) in &other.transactions {
            self.transactions.entry(name.clone()).or_default().merge(tally);
        }
    }

    /// The bin of that number, made when first asked for.
    pub fn bin(&mut self, number: u64) -> &mut Bin {
        Bin::find(&mut self.bins, number)
    }

    /// The tally of a label, made when first asked for.
    pub fn label(&mut self, label: u32) -> &mut Tally {
        entry(&mut self.labels, label)
    }
}
