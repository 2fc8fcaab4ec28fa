//! A sweep, judged: where the response time bends, where the throughput ends, what holds up to which load, and how sure
//! that is.
//!
//! What it is: [`Observations`] (a study's trials, or a table of another tool) into an [`Analysis`], a definition of the
//! limit each in `limits`. Out of scope: the mathematics (`stats`), and the judging of a single run. docs/method.md has
//! the formulas and what they do not say, docs/findings.md the findings.

mod bottleneck;
mod curve;
mod findings;
mod limits;
mod observe;
mod outliers;
mod response;
mod scalability;
#[cfg(test)]
mod tests;
mod trials;

pub use findings::names as finding_names;
pub use observe::observe;

use crate::compare;
use crate::explain::command::RunCommand;
use brunt_model::analysis::ContenderAnalysis;
use brunt_model::{Analysis, Observations, Question, Study};
use trials::Trials;

/// All that can be decided about a study, what limited its servers with it.
pub fn analyse_study(study: &Study) -> Analysis {
    let seen = observe(study);
    let trials = Trials::of(&seen);
    let mut contenders: Vec<ContenderAnalysis> = trials.iter().map(analysed).collect();
    for (index, contender) in contenders.iter_mut().enumerate() {
        curve::with_intervals(study, index, &mut contender.curve);
        contender.bottleneck = bottleneck::of(study, index, limits::growth(&trials[index].curve()));
    }
    let is_compared = matches!(study.experiment.question, Question::Sweep) && study.experiment.contenders.len() > 1;
    let pairs = if is_compared { compare::by_load(study) } else { Vec::new() };
    findings::told(&seen, &trials, contenders, pairs, RunCommand::of(&study.environment.command))
}

/// All that can be decided about what was seen.
pub fn analyse(seen: &Observations) -> Analysis {
    let trials = Trials::of(seen);
    let contenders = trials.iter().map(analysed).collect();
    // A table of another tool has no command line.
    findings::told(seen, &trials, contenders, Vec::new(), RunCommand::of(""))
}

fn analysed(trials: &Trials) -> ContenderAnalysis {
    ContenderAnalysis {
        contender: trials.contender.to_owned(),
        curve: curve::points(trials),
        limits: limits::limits(trials),
        scalability: scalability::fit(trials),
        outliers: outliers::outliers(trials),
        bottleneck: None,
    }
}
