//! Which response time stands for a trial, and which trials can stand beside others.

use brunt_model::analysis::Block;
use brunt_model::finding::State;
use brunt_model::{Observation, Observations};

/// Of fewer requests, fewer than ten lie beyond p99.
const ENOUGH_FOR_P99: u64 = 1000;

/// Which response time stands for a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// The 99th percentile.
    P99,
    /// The mean.
    Mean,
}

/// Whether an observation can stand beside others.
pub fn is_usable(seen: &Observation) -> bool {
    !seen.cut_short && seen.verdict != Some(State::Invalid) && seen.load.is_finite() && seen.achieved.is_finite()
}

/// A quantile of an observation, in seconds.
pub fn quantile(seen: &Observation, quantile: f64) -> Option<f64> {
    let found = seen.quantiles.iter().find(|q| (q.quantile - quantile).abs() < 1e-9);
    found.map(|q| q.seconds).filter(|seconds| seconds.is_finite())
}

impl Response {
    /// What all usable observations have, and know well enough: p99, else the mean.
    pub fn of(seen: &Observations) -> Option<Self> {
        let all = |response: Self| {
            let mut completed = seen.observations.iter().filter(|o| is_usable(o) && o.achieved > 0.0).peekable();
            completed.peek().is_some() && completed.all(|o| response.seconds(o).is_some() && response.is_known_by(o))
        };
        [Self::P99, Self::Mean].into_iter().find(|response| all(*response))
    }

    /// That of an observation.
    pub fn seconds(self, seen: &Observation) -> Option<f64> {
        match self {
            Self::P99 => quantile(seen, 0.99),
            Self::Mean => seen.mean.filter(|mean| mean.is_finite()),
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::P99 => "p99",
            Self::Mean => "the mean response time",
        }
    }

    /// That of a block.
    pub fn of_block(self, block: &Block) -> Option<f64> {
        match self {
            Self::P99 => block.p99,
            Self::Mean => block.mean,
        }
    }

    /// Whether there were requests enough, where their number is known.
    fn is_known_by(self, seen: &Observation) -> bool {
        let completed: u64 = seen.blocks.iter().map(|block| block.completed).sum();
        self == Self::Mean || seen.blocks.is_empty() || completed >= ENOUGH_FOR_P99
    }
}
