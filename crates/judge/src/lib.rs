//! A run, judged: pure rules, a row each, from a [`Run`] to what it says; and a sweep of many.
//!
//! It measures nothing and prints nothing.
//!
//! * [`arrivals`]: whether arrivals came as they were planned.
//! * [`mod@bottleneck`]: what limited the server, by the readings that were taken of it.
//! * [`mod@compare`]: whether one server is better than another, by runs that were made in blocks.
//! * `conclusion`: the sentence that answers. `levels`: which contenders are compared with each other.
//! * [`limits`]: whether the generator was the limit: the verdict.
//! * [`conservation`]: consistency checks.
//! * [`explain`]: findings that users miss.
//! * `facts`: the readings that rules look at. `shares`: who used the cores of a machine.
//! * [`steady`]: when the run was steady, and how sure its figures are.
//! * [`sweep`]: many runs, or another tool's table: knee, saturation point, what holds up to which load.

pub mod arrivals;
pub mod bottleneck;
pub mod compare;
mod conclusion;
pub mod conservation;
pub mod explain;
mod facts;
mod levels;
pub mod limits;
mod shares;
pub mod steady;
pub mod sweep;

use brunt_model::finding::State;
use brunt_model::{Judgement, Run};

/// Names of all findings on a run and on a sweep, as `docs/findings.md` lists them.
pub fn finding_names() -> impl Iterator<Item = &'static str> {
    explain::names().chain(sweep::finding_names())
}

/// All that can be decided about a run.
pub fn judge(run: &Run) -> Judgement {
    let mut verdict = limits::verdict(run);
    let checks = conservation::checks(run);
    if checks.iter().any(|check| !check.holds) {
        verdict.state = State::Invalid;
    }
    let (steady, intervals, throughput) = steady::figures(run);
    let bottleneck = bottleneck::bottleneck(run, &verdict);
    let mut judgement =
        Judgement { verdict, checks, steady, intervals, throughput, bottleneck, ..Judgement::default() };
    judgement.findings = explain::findings(run, &judgement);
    judgement.conclusion = conclusion::of_run(run, &judgement);
    judgement
}
