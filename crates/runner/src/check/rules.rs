//! Likely problems of a load: one rule a function, from facts to advice.
//!
//! It reads nothing and prints nothing. Each rule says what is wrong, why it matters for the load
//! that was asked for, and the command that mends it.
//!
//! * `ours`: this machine. `theirs`: the server, as far as it is seen from here. `reply`: what it answered.

mod ours;
mod reply;
mod theirs;

use super::facts::Facts;
use serde::Serialize;

/// What to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// The rule: a name that does not change.
    pub rule: &'static str,
    /// How sure it is.
    pub bites: Certainty,
    /// What is wrong, with its figures.
    pub what: String,
    /// Why that matters.
    pub why: String,
    /// What mends it: a command, an option of brunt, or a line of a configuration.
    pub command: String,
}

/// How sure it is that something will show in the figures; the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The asked load cannot be made, or borne, as it is.
    Surely,
    /// It depends on how the server and the load go.
    Perhaps,
}

/// A rule.
pub type Rule = fn(&Facts) -> Option<Advice>;

/// Every rule, in the order in which advice of the same weight is shown.
pub const RULES: &[Rule] = &[
    reply::needs_tls,
    reply::certificate,
    reply::certificate_ends_soon,
    reply::error_status,
    ours::descriptors,
    ours::local_ports,
    ours::time_wait,
    ours::conntrack,
    theirs::descriptors,
    theirs::backlog,
    theirs::syn_backlog,
    theirs::link,
    reply::redirect,
    reply::keep_alive,
    reply::compression,
    theirs::shared_cores,
    ours::busy_machine,
    ours::governor,
];

/// What all rules say, the surest first.
pub fn advise(facts: &Facts) -> Vec<Advice> {
    let mut advice: Vec<Advice> = RULES.iter().filter_map(|rule| rule(facts)).collect();
    advice.sort_by_key(|a| a.bites);
    advice
}

impl Advice {
    /// In one sentence, for the notes of a run.
    pub fn note(&self) -> String {
        format!("{}: {}. {}", self.what, self.why, self.command)
    }
}

#[cfg(test)]
mod tests;
