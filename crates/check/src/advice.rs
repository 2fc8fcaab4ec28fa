//! Likely problems of a run, with their remedies.

use serde::Serialize;

/// A likely problem and its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Name of the rule; it never changes.
    pub rule: &'static str,
    /// Certainty that the problem affects the run.
    pub certainty: Certainty,
    /// The problem, with its figures.
    pub what: String,
    /// Effect of the problem.
    pub why: String,
    /// Remedy: a command, an option of brunt, or a line of a configuration.
    pub command: String,
}

/// Certainty that a problem affects the figures; the most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The load cannot be generated, or the server cannot handle it.
    Surely,
    /// It depends on the behavior of the server and the load.
    Perhaps,
}

impl Advice {
    /// The advice as text for the notes of a run.
    pub fn note(&self) -> String {
        format!("{}: {}. {}", self.what, self.why, self.command)
    }
}
