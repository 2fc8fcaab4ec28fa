//! Finds likely problems of a load. Each rule is a function from facts to advice.
//!
//! Rules read nothing and print nothing. Each returns the problem, its effect on the load of the
//! plan, and the remedy.
//!
//! * `ours`: this machine.
//! * `theirs`: the server, as far as it is visible from here.
//! * `reply`: the reply of the server.

mod ours;
mod reply;
mod theirs;

use crate::advice::Advice;
use crate::facts::CheckFacts;

/// A function that finds one kind of problem.
pub type Rule = fn(&CheckFacts) -> Option<Advice>;

/// All rules. Advice of the same certainty is shown in this order.
pub const RULES: &[Rule] = &[
    // First the rules that explain why there is no good reply: they make the others pointless.
    reply::needs_tls,
    reply::needs_h2c,
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

/// Applies all rules. Returns their advice, the most certain first.
pub fn advise(facts: &CheckFacts) -> Vec<Advice> {
    let mut advice: Vec<Advice> = RULES.iter().filter_map(|rule| rule(facts)).collect();
    // The sort is stable, so the order of `RULES` remains within a certainty.
    advice.sort_by_key(|a| a.certainty);
    advice
}

#[cfg(test)]
mod tests;
