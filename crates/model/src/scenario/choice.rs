//! Choices: the order of branches and of requests in a list, and the portion of a
//! branch that is executed.

use super::ScenarioStep;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A branch of a choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// Relative frequency of the branch.
    pub weight: u32,
    /// Steps of the branch.
    pub steps: Vec<ScenarioStep>,
}

/// Portion of the next branch of a choice that is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Portion {
    /// All steps of the branch.
    #[default]
    Whole,
    /// All steps of the branch. If they contain no request, sample or pause, the next branches
    /// follow until one repeats. As in JMeter, the next choice begins with the same branch.
    Nonempty,
    /// One turn of the branch, with the same rule for empty branches: its steps up to the first
    /// [`super::EndScope::Turn`]. A branch that ends before starts again.
    Turn,
}

impl Portion {
    /// True for the whole branch.
    pub fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// Order of the requests of a list, or of the branches of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListOrder {
    /// In sequence, for all users together. In a round, each appears as often as its weight.
    Sequence,
    /// Random, in proportion to the weights.
    Random,
    /// In sequence, for each user separately. User i of n begins at i times the integer part of the
    /// list's length divided by n.
    Walk,
    /// In sequence from the beginning, for each user separately.
    WalkTogether,
    /// Always the same for one user: user i has the i-th entry, modulo the length of the list.
    User,
    /// Request n of the run is entry ⌊(n + 1) · s⌋ of the list, modulo its length, where s is this
    /// value in millionths: a new entry every 1/s requests.
    // Millionths as an integer, because f64 implements no `Eq`.
    Slow(u32),
}
