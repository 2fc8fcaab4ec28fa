//! Which contender is better: whether that is decided yet, and what it says of a study.
//!
//! Out of scope: the deciding, which is `judge`'s.

use super::capacities;
use brunt_judge::compare;
use brunt_model::comparison::{ComparisonEnd, FoundCapacity};
use brunt_model::{Analysis, Compare, Comparison, Contender, Finding, LoadUnit, Question, Study};

/// Definitions of a limit need so many loads.
const LOADS_OF_LIMITS: usize = 5;

/// All that can be decided about a study, with the comparison that it was made for.
pub fn analysis(study: &Study, question: &Compare) -> Analysis {
    let (mut comparison, end) = compare::so_far(study, question, &found(study, question));
    comparison.ended = if study.interrupted { ComparisonEnd::Stopped } else { end.unwrap_or(ComparisonEnd::Budget) };
    let analysis = match question.at_capacity.as_ref().map(|at| at.given) {
        None => brunt_judge::sweep::analyse_study(study),
        Some(0) => Analysis::default(),
        Some(given) => brunt_judge::sweep::analyse_study(&at_given_loads(study, given)),
    };
    compared(analysis, study, comparison)
}

/// The capacities that were found, where they are compared.
fn found(study: &Study, question: &Compare) -> Vec<FoundCapacity> {
    question.at_capacity.as_ref().map_or_else(Vec::new, |at| capacities::searched(study, at))
}

/// Without the trials of searches, whose loads lie where they were wanted.
fn at_given_loads(study: &Study, given: usize) -> Study {
    let mut study = study.clone();
    study.trials.retain(|trial| !study.experiment.was_chosen(trial.place));
    study.experiment.contenders.iter_mut().for_each(|contender| contender.steps.truncate(given + 1));
    study
}

/// The analysis of a study with a comparison, which is told first.
pub fn compared(mut analysis: Analysis, study: &Study, comparison: Comparison) -> Analysis {
    let unit = study.experiment.contenders.first().map_or(LoadUnit::PerSecond, Contender::unit);
    let of_sweeps = |rule: &str| super::OF_SWEEPS.contains(&rule) || rule == super::OUTLIERS;
    analysis.findings.retain(|finding| !of_sweeps(&finding.rule));
    // What stands apart in a repetition is mostly the block's own, and in ranks it weighs no more than any other.
    analysis.contenders.iter_mut().for_each(|contender| contender.outliers.clear());
    for few in analysis.contenders.iter_mut().filter(|contender| contender.curve.len() < LOADS_OF_LIMITS) {
        few.limits.clear();
    }
    analysis.conclusions.retain(|conclusion| !super::OF_SWEEPS.contains(&conclusion.rule.as_str()));
    let mut conclusions: Vec<Finding> = compare::sentences(&comparison.pairs, unit)
        .into_iter()
        .map(|sentence| Finding::note("comparison", sentence))
        .collect();
    conclusions.append(&mut analysis.conclusions);
    let mut findings: Vec<Finding> = compare::findings(&comparison);
    findings.append(&mut analysis.findings);
    Analysis { conclusions, findings, comparison: Some(comparison), ..analysis }
}

/// Whether a study's question is answered, so that no more need be measured.
pub fn is_decided(study: &Study) -> bool {
    let Question::Compare(spec) = &study.experiment.question else { return false };
    !study.trials.is_empty() && compare::enough(study, spec, &found(study, spec)).is_some()
}

/// How a comparison stands that goes on: what is known of the figure that decides, and whether that is enough.
pub fn stands(study: &Study, spec: &Compare) -> (Option<String>, bool) {
    let (comparison, end) = compare::so_far(study, spec, &found(study, spec));
    let told: Vec<String> = comparison.deciding().map(|first| first.sentence.clone()).collect();
    ((!told.is_empty()).then(|| told.join("; ")), end.is_some())
}
