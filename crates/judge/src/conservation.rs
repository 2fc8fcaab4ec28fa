//! Consistency checks: if one fails, no figure of the run can be trusted.
//!
//! Each check reports its arithmetic. A check that this run does not allow is left out. A record
//! without an end (a torn log) is not checked, because requests in flight are in no sum.
//!
//! Out of scope: a judgement of the server or of the generator; `arrivals` compares arrivals with
//! their schedule. The run of a dead server, or one that was cut short, passes all checks, too.

// The table needs rules of one signature, though some checks are always possible.
#![allow(clippy::unnecessary_wraps)]

mod counts;
mod little;
mod transactions;

use brunt_model::finding::ConsistencyCheck;
use brunt_model::{Run, Text, text};

/// A check; None if this run does not allow it.
type Rule = fn(&Run) -> Option<ConsistencyCheck>;

/// All checks, in the order in which they are shown.
const RULES: &[Rule] = &[
    counts::planned,
    counts::begun_requests,
    counts::over_time,
    counts::histograms,
    counts::statuses,
    counts::labels,
    counts::agents,
    counts::bytes,
    little::in_flight,
    little::users,
    transactions::ends,
];

/// Returns every check that this run allows.
pub fn checks(run: &Run) -> Vec<ConsistencyCheck> {
    // Without an end, requests in flight are in no sum.
    if run.finish.is_none() {
        return Vec::new();
    }
    let checks_of_total = RULES.iter().filter_map(|rule| rule(run));
    checks_of_total.chain(of_populations(run, checks)).collect()
}

/// Returns the checks of each population, under its name.
pub(crate) fn of_populations(
    run: &Run,
    checks: fn(&Run) -> Vec<ConsistencyCheck>,
) -> impl Iterator<Item = ConsistencyCheck> {
    run.populations.iter().flat_map(move |population| {
        let name = population.plan.as_ref().map_or("", |plan| plan.main().name.as_str()).to_owned();
        checks(population)
            .into_iter()
            .map(move |check| ConsistencyCheck { name: of_population(&name, check.name), ..check })
    })
}

fn of_population(population: &str, check: Text) -> Text {
    text!("of-contender", contender = population, sentence = check)
}

pub(crate) fn check(name: Text, holds: bool, arithmetic: Text) -> ConsistencyCheck {
    ConsistencyCheck { name, holds, arithmetic }
}
