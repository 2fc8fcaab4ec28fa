//! Analyses a sweep: knee of the response time, saturation of the throughput, highest loads that
//! meet objectives, and the certainty of these.
//!
//! [`Observations`] (a study's trials, or a table of another tool) become an [`Analysis`]; `limits`
//! has the definition of each limit. Out of scope: the mathematics (`stats`), and judging a single
//! run. docs/method.md has the formulas and their limits, docs/findings.md the findings.

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
use brunt_model::{Analysis, Finding, Judgement, Observations, Question, Study};
use trials::Trials;

/// Decides everything that can be decided about a study, including the bottlenecks of its servers.
pub fn analyse_study(study: &Study) -> Analysis {
    if let Some(trial) = study.only_run() {
        return analyse_run(study, &trial.judgement);
    }
    let observations = observe(study);
    let trials = Trials::by_contender(&observations);
    let mut contenders: Vec<ContenderAnalysis> = trials.iter().map(analyse_contender).collect();
    for (index, contender) in contenders.iter_mut().enumerate() {
        curve::set_percentile_bands(study, index, &mut contender.curve);
        contender.bottleneck = bottleneck::of_contender(
            study,
            index,
            limits::growth(&trials[index].undisturbed().curve()),
        );
    }
    let is_compared = matches!(study.experiment.question, Question::Sweep)
        && study.experiment.contenders.len() > 1;
    let pairs = if is_compared { compare::by_load(study) } else { Vec::new() };
    findings::analysis(
        &observations,
        &trials,
        contenders,
        pairs,
        RunCommand::parse(&study.environment.command),
    )
}

/// Returns the conclusions about the only run of a study. One load has no limits.
fn analyse_run(study: &Study, judgement: &Judgement) -> Analysis {
    let observations = observe(study);
    let mut contenders = Vec::new();
    for trials in Trials::by_contender(&observations) {
        let mut curve = curve::points(&trials);
        curve::set_percentile_bands(study, contenders.len(), &mut curve);
        contenders.push(ContenderAnalysis {
            contender: trials.contender.to_owned(),
            curve,
            bottleneck: judgement.bottleneck.clone(),
            ..ContenderAnalysis::default()
        });
    }
    let sentence = judgement.conclusion.iter().cloned();
    Analysis {
        conclusions: sentence.map(|sentence| Finding::note("conclusion", sentence)).collect(),
        findings: judgement.findings.clone(),
        contenders,
        ..Analysis::default()
    }
}

/// Decides everything that can be decided about observations.
pub fn analyse(observations: &Observations) -> Analysis {
    let trials = Trials::by_contender(observations);
    let contenders = trials.iter().map(analyse_contender).collect();
    // A table of another tool has no command line.
    findings::analysis(observations, &trials, contenders, Vec::new(), RunCommand::parse(""))
}

fn analyse_contender(trials: &Trials) -> ContenderAnalysis {
    ContenderAnalysis {
        contender: trials.contender.to_owned(),
        curve: curve::points(trials),
        limits: limits::limits(trials, &trials.undisturbed()),
        scalability: scalability::fit(trials),
        outliers: outliers::outliers(trials),
        bottleneck: None,
    }
}
