//! Decides a comparison: which contender is better, and whether that is decided yet.
//!
//! Out of scope: the statistical decision, which is in `judge`.

use super::capacities;
use brunt_judge::compare;
use brunt_model::comparison::{ComparisonEnd, FoundCapacity};
use brunt_model::{
    Analysis, Comparison, ComparisonSettings, Contender, Finding, LoadUnit, Question, Study,
};

/// Minimum number of loads for the definitions of a limit.
const MIN_LOADS_OF_LIMITS: usize = 5;

/// Creates the analysis of a study with a comparison.
pub fn analysis(study: &Study, question: &ComparisonSettings) -> Analysis {
    let (mut comparison, end) =
        compare::interim_comparison(study, question, &capacities(study, question));
    comparison.ended = if study.interrupted {
        ComparisonEnd::Stopped
    } else {
        end.unwrap_or(ComparisonEnd::Budget)
    };
    let analysis = match question.at_capacity.as_ref().map(|at| at.given) {
        None => brunt_judge::sweep::analyse_study(study),
        // All trials belong to searches, which are not a sweep of loads.
        Some(0) => Analysis::default(),
        Some(given) => brunt_judge::sweep::analyse_study(&at_given_loads(study, given)),
    };
    with_comparison(analysis, study, comparison)
}

/// Capacities so far; empty if capacities are not compared.
fn capacities(study: &Study, question: &ComparisonSettings) -> Vec<FoundCapacity> {
    question
        .at_capacity
        .as_ref()
        .map_or_else(Vec::new, |at| capacities::found_capacities(study, at))
}

/// The study without the trials of searches, which chose their loads themselves.
fn at_given_loads(study: &Study, given: usize) -> Study {
    let mut study = study.clone();
    study.trials.retain(|trial| !study.experiment.is_search_trial(trial.place));
    // Step 0 is the pattern of the searches, and further steps were added by them.
    study
        .experiment
        .contenders
        .iter_mut()
        .for_each(|contender| contender.steps.truncate(given + 1));
    study
}

/// Adds a comparison to the analysis of a study. Its conclusions and findings come first.
pub fn with_comparison(mut analysis: Analysis, study: &Study, comparison: Comparison) -> Analysis {
    let unit = study.experiment.contenders.first().map_or(LoadUnit::PerSecond, Contender::unit);
    analysis.findings.retain(|finding| !is_replaced(&finding.rule));
    // An outlier of a repetition mostly affects its whole block, and in ranks it has no more weight
    // than any other.
    analysis.contenders.iter_mut().for_each(|contender| contender.outliers.clear());
    for few in analysis
        .contenders
        .iter_mut()
        .filter(|contender| contender.curve.len() < MIN_LOADS_OF_LIMITS)
    {
        few.limits.clear();
    }
    analysis.conclusions.retain(|conclusion| !super::OF_SWEEPS.contains(&conclusion.rule.as_str()));
    let mut conclusions: Vec<Finding> = compare::sentences(&comparison.pairs, unit)
        .into_iter()
        .map(|sentence| Finding::note("comparison", sentence))
        .collect();
    let undecided = compare::undecided_finding(&comparison, unit, &study.environment.command);
    // The first sentence answers the question. Behind an answer, open questions come last.
    if conclusions.is_empty() {
        conclusions.extend(undecided);
        conclusions.append(&mut analysis.conclusions);
    } else {
        conclusions.append(&mut analysis.conclusions);
        conclusions.extend(undecided);
    }
    let mut findings: Vec<Finding> = compare::findings(&comparison);
    findings.append(&mut analysis.findings);
    Analysis { conclusions, findings, comparison: Some(comparison), ..analysis }
}

/// True for a finding that a comparison replaces.
fn is_replaced(rule: &str) -> bool {
    super::OF_SWEEPS.contains(&rule) || rule == super::OUTLIERS
}

/// True if the question of a study is decided, so that no further trials are needed.
pub fn is_decided(study: &Study) -> bool {
    let Question::Compare(spec) = &study.experiment.question else { return false };
    !study.trials.is_empty() && compare::end_reason(study, spec, &capacities(study, spec)).is_some()
}

/// State of a comparison in progress: the result of the deciding measure so far, and true
/// if it is sufficient.
pub fn comparison_state(study: &Study, spec: &ComparisonSettings) -> (Option<String>, bool) {
    let (comparison, end) = compare::interim_comparison(study, spec, &capacities(study, spec));
    let results: Vec<&str> = comparison.deciding().map(|first| &*first.sentence).collect();
    ((!results.is_empty()).then(|| results.join("; ")), end.is_some())
}
