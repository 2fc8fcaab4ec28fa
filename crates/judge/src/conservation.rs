//! Consistency checks: if one fails, no figure of the run can be trusted.
//!
//! Out of scope: a judgement of the server, or of how well the generator did (whether arrivals came as planned is in
//! `arrivals`). A run of a dead server, or one that
//! was cut short, conserves everything just as well. Each check says its arithmetic; one that this run cannot answer is
//! left out. A record without an end (a torn log) is not checked: what was under way is in no sum.

// The table wants rules of one shape; some can always be looked at.
#![allow(clippy::unnecessary_wraps)]

mod counts;
mod little;
mod transactions;

use brunt_model::Run;
use brunt_model::finding::Check;

/// One sum: None where it cannot be looked at in this run.
type Rule = fn(&Run) -> Option<Check>;

/// Every sum, in the order in which they are shown.
const RULES: &[Rule] = &[
    counts::planned,
    counts::begun,
    counts::over_time,
    counts::histograms,
    counts::statuses,
    counts::labels,
    counts::bytes,
    little::in_flight,
    little::users,
    transactions::ends,
];

/// Every sum that can be looked at in this run.
pub fn checks(run: &Run) -> Vec<Check> {
    if run.finish.is_none() {
        return Vec::new();
    }
    let of_all = RULES.iter().filter_map(|rule| rule(run));
    of_all.chain(of_populations(run, checks)).collect()
}

/// The checks of each population by itself, under its name.
pub(crate) fn of_populations(run: &Run, checks: fn(&Run) -> Vec<Check>) -> impl Iterator<Item = Check> {
    run.populations.iter().flat_map(move |population| {
        let name = population.plan.as_ref().map_or("", |plan| plan.main().name.as_str()).to_owned();
        checks(population).into_iter().map(move |check| Check { name: format!("{name}: {}", check.name), ..check })
    })
}

pub(crate) fn check(name: &str, holds: bool, arithmetic: String) -> Check {
    Check { name: name.into(), holds, arithmetic }
}
