//! Choices: which branch, or request of a list, is next, and how much of it is carried out.

use super::Step;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the branches of a choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// How often it is taken, against the others.
    pub weight: u32,
    /// What it is.
    pub steps: Vec<Step>,
}

/// How much of the branch of a choice is carried out that is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Portion {
    /// All its steps.
    #[default]
    Whole,
    /// All its steps; where they make no request, no sample and no pause, those of the branch that is next then, and so on until one
    /// comes again. As in JMeter, the choice after that begins with the same branch.
    Nonempty,
    /// The same, but for one turn of the branch: its steps up to the first [`super::Scope::Turn`]. A branch that ends before is begun once
    /// more.
    Turn,
}

impl Portion {
    /// Whether it is all of the branch.
    pub fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// Which request of a list, or branch of a choice, is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One after the other, all users together, each as often in a round as its weight says.
    Sequence,
    /// Drawn by weight.
    Random,
    /// Each user goes through the list by itself, one after the other; user i of n begins at i times the whole part of the
    /// list's length divided by n.
    Walk,
    /// Each user goes through the list by itself, from its beginning.
    WalkTogether,
    /// Always the same for one user: user i has the i-th, counted round.
    User,
    /// Request n of the run is number ⌊(n + 1) · s⌋ of the list, over and over, where s is so many millionths: a new one
    /// every 1/s requests.
    Slow(u32),
}
