//! Judges runs and studies by pure rules: a [`Run`] gets a verdict, checks and findings; a sweep of
//! many runs gets its knee, saturation point and capacities.
//!
//! It measures nothing and prints nothing.
//!
//! * [`arrivals`]: compares arrivals with the schedule.
//! * [`mod@bottleneck`]: finds the resource that limited the server, from readings of it.
//! * [`mod@compare`]: decides which of two servers is better, from runs made in blocks.
//! * `conclusion`: the sentence that answers. `levels`: the contenders that are
//!   compared with each other.
//! * [`limits`]: the verdict: decides whether the generator was the limit.
//! * [`conservation`]: consistency checks.
//! * [`explain`]: findings that users miss.
//! * `fleet`: agents of a run and the machines that they share. `groups`: compares groups of them.
//! * `facts`: readings for the rules. `shares`: usage of a machine's cores by process.
//! * [`history`]: a figure over comparable runs, and the runs at which it changed.
//! * [`steady`]: steady state of a run and confidence intervals of its figures.
//! * [`sweep`]: many runs, or another tool's table: knee, saturation point, highest load
//!   that meets an objective.

pub mod arrivals;
pub mod bottleneck;
pub mod compare;
mod conclusion;
pub mod conservation;
pub mod explain;
mod facts;
mod fleet;
mod groups;
pub mod history;
mod levels;
pub mod limits;
mod shares;
pub mod steady;
pub mod sweep;
mod texts;

pub use facts::most_syns;

use brunt_model::finding::State;
use brunt_model::{Judgement, Run};

/// Names of all findings on a run and on a sweep, as `docs/findings.md` lists them.
pub fn finding_names() -> impl Iterator<Item = &'static str> {
    explain::names().chain(sweep::finding_names())
}

/// Decides everything that can be decided about a run.
pub fn judge(run: &Run) -> Judgement {
    let mut verdict = limits::verdict(run);
    let checks = conservation::checks(run);
    if checks.iter().any(|check| !check.holds) {
        verdict.state = State::Invalid;
    }
    let (steady, intervals, throughput) = steady::figures(run);
    let bottleneck = bottleneck::bottleneck(run, &verdict);
    let mut judgement = Judgement {
        verdict,
        checks,
        steady,
        intervals,
        throughput,
        bottleneck,
        group_comparisons: groups::comparisons(run),
        ..Judgement::default()
    };
    judgement.findings = explain::findings(run, &judgement);
    judgement.conclusion = conclusion::of_run(run, &judgement);
    judgement
}
