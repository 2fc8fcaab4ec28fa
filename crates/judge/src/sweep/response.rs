//! Chooses the response time that represents a trial, and the trials that are usable.

use crate::texts::message;
use brunt_model::analysis::SecondOfTrial;
use brunt_model::finding::State;
use brunt_model::objective::Metric;
use brunt_model::{Observation, Observations, Text};

/// Minimum number of requests for p99: with fewer, fewer than ten lie beyond it.
const ENOUGH_FOR_P99: u64 = 1000;

/// Response time that represents a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    P99,
    Mean,
}

/// True if an observation can be compared with others.
pub fn is_usable(observation: &Observation) -> bool {
    !observation.cut_short
        && observation.verdict != Some(State::Invalid)
        && observation.load.is_finite()
        && observation.achieved.is_finite()
}

/// True if something else than the server changed the figures of an observation.
pub fn is_disturbed(observation: &Observation) -> bool {
    observation.verdict.is_some_and(State::is_disturbed)
}

impl Response {
    /// Returns the response time that all usable observations have, from enough requests:
    /// p99, else the mean.
    pub fn choose(observations: &Observations) -> Option<Self> {
        [Self::P99, Self::Mean].into_iter().find(|response| response.is_known_by_all(observations))
    }

    fn is_known_by_all(self, observations: &Observations) -> bool {
        let all = &observations.observations;
        let mut completed = all.iter().filter(|o| is_usable(o) && o.achieved > 0.0).peekable();
        completed.peek().is_some()
            && completed.all(|o| self.seconds(o).is_some() && self.is_known_by(o))
    }

    /// Response time of an observation, in seconds.
    pub fn seconds(self, observation: &Observation) -> Option<f64> {
        let metric = match self {
            Self::P99 => Metric::Quantile(0.99),
            Self::Mean => Metric::Mean,
        };
        let (seconds, _) = observation.figure(metric)?;
        seconds.is_finite().then_some(seconds)
    }

    /// Name for a sentence.
    pub fn words(self) -> Text {
        match self {
            Self::P99 => "p99".into(),
            Self::Mean => message!("limit-knee.mean"),
        }
    }

    /// Response time of a block, in seconds.
    pub fn of_block(self, block: &SecondOfTrial) -> Option<f64> {
        match self {
            Self::P99 => block.p99,
            Self::Mean => block.mean,
        }
    }

    /// True if there were enough requests, or their number is not known.
    fn is_known_by(self, observation: &Observation) -> bool {
        let completed: u64 = observation.blocks.iter().map(|block| block.completed).sum();
        self == Self::Mean || observation.blocks.is_empty() || completed >= ENOUGH_FOR_P99
    }
}
