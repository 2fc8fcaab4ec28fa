//! Converts a run to a study of one trial, so that everything that shows studies also shows runs.
//! Also converts several runs, to compare them.
//!
//! Out of scope: an analysis. All findings come from the run's judgement.

use brunt_model::analysis::{Band, BandedFigure, ContenderAnalysis, CurvePoint};
use brunt_model::experiment::{ContenderHooks, HookCommands, LoadStep, TrialOrder};
use brunt_model::objective::Metric;
use brunt_model::{
    Analysis, Contender, Experiment, Finding, Judgement, LoadUnit, Run, Study, Tally, Text, Trial,
    TrialIndex, text,
};
use std::path::PathBuf;
use std::time::Duration;

/// Returns the study of one run, and its analysis: a curve with one point.
pub fn study_of(run: &Run, judgement: &Judgement) -> (Study, Analysis) {
    study_of_several(&[(name_of(run), run, judgement)])
}

/// Returns a sentence that begins with the name of its run, unless that is the only one.
fn sentence_of_run(sentence: &Text, run: &str, is_only: bool) -> Text {
    if is_only { sentence.clone() } else { text!("of-run", run, sentence = sentence.clone()) }
}

/// Returns the study of several runs. Each run is a contender with one trial, named in `runs`.
/// Findings of a run begin with its name.
pub fn study_of_several(runs: &[(String, &Run, &Judgement)]) -> (Study, Analysis) {
    let first = runs.first().map(|first| first.1.clone()).unwrap_or_default();
    let is_only = runs.len() == 1;
    let warnings = runs.iter().flat_map(|(name, run, _)| {
        run.warnings.iter().map(move |warning| sentence_of_run(warning, name, is_only))
    });
    let mut findings = Vec::new();
    for (name, _, judgement) in runs {
        for finding in &judgement.findings {
            findings.push(Finding {
                sentence: sentence_of_run(&finding.sentence, name, is_only),
                ..finding.clone()
            });
        }
    }
    let conclusions = runs.iter().filter_map(|(name, _, judgement)| {
        let sentence = judgement.conclusion.as_ref()?;
        Some(Finding::note("conclusion", sentence_of_run(sentence, name, is_only)))
    });
    let analysis = Analysis {
        contenders: runs
            .iter()
            .map(|(name, run, judgement)| contender_analysis(name, run, judgement))
            .collect(),
        conclusions: conclusions.collect(),
        findings,
        ..Analysis::default()
    };
    let study = Study {
        id: None,
        experiment: experiment(runs),
        environment: first.environment.clone(),
        unix_seconds: first.unix_seconds,
        trials: runs
            .iter()
            .enumerate()
            .map(|(i, (_, run, judgement))| trial(i, run, judgement))
            .collect(),
        warnings: warnings.collect(),
        interrupted: runs.iter().any(|run| run.1.is_interrupted()),
        resumptions: Vec::new(),
    };
    (study, analysis)
}

fn trial(contender: usize, run: &Run, judgement: &Judgement) -> Trial {
    let place = TrialIndex { repetition: 0, contender, step: 0 };
    Trial { place, id: None, run: run.clone(), judgement: judgement.clone() }
}

fn contender_analysis(name: &str, run: &Run, judgement: &Judgement) -> ContenderAnalysis {
    ContenderAnalysis {
        contender: name.into(),
        curve: vec![point(run)],
        bottleneck: judgement.bottleneck.clone(),
        ..ContenderAnalysis::default()
    }
}

/// Returns a figure of a run; None if nothing is known of it.
pub(crate) fn figure(run: &Run, metric: Metric) -> Option<f64> {
    let is_known = match metric {
        Metric::Throughput | Metric::Goodput => true,
        Metric::Errors => run.total != Tally::default(),
        Metric::Quantile(_) | Metric::Mean | Metric::Max => !run.total.response.is_empty(),
    };
    is_known.then(|| metric.value_in(run).0)
}

/// Returns the figures of a trial as a point of a curve.
pub(crate) fn point(run: &Run) -> CurvePoint {
    let is_open = run
        .plan
        .as_ref()
        .is_some_and(|plan| LoadUnit::from(&plan.main().load) == LoadUnit::PerSecond);
    CurvePoint {
        load: run.plan.as_ref().map_or(0.0, |plan| plan.main().load.peak()),
        trials: 1,
        offered: is_open.then(|| without_band(run.per_second(run.flow.planned))),
        achieved: without_band(run.throughput()),
        mean: banded(run, Metric::Mean),
        p50: banded(run, Metric::Quantile(0.5)),
        p95: banded(run, Metric::Quantile(0.95)),
        p99: banded(run, Metric::Quantile(0.99)),
        errors: banded(run, Metric::Errors),
        others: Vec::new(),
    }
}

fn banded(run: &Run, metric: Metric) -> Option<BandedFigure> {
    figure(run, metric).map(without_band)
}

fn without_band(value: f64) -> BandedFigure {
    BandedFigure { value, low: value, high: value, band: Band::One }
}

/// Returns the name of the plan, or else the URL, or the first of several URLs with the number of the others.
fn name_of(run: &Run) -> String {
    if let Some(name) = &run.environment.plan_name {
        return name.clone();
    }
    let requests = run.plan.as_ref().map_or(&[][..], |plan| &plan.main().scenario.requests);
    match requests {
        [] => "run".into(),
        [only] => only.url.clone(),
        [first, rest @ ..] => format!("{} (+{})", first.url, rest.len()),
    }
}

fn experiment(runs: &[(String, &Run, &Judgement)]) -> Experiment {
    let names: Vec<&str> = runs.iter().map(|run| run.0.as_str()).collect();
    let first = runs.first().map(|run| run.1);
    Experiment {
        name: names.join(", "),
        about: String::new(),
        contenders: runs.iter().map(|(name, run, _)| contender(name, run)).collect(),
        repetitions: 1,
        order: TrialOrder::default(),
        cooldown: Duration::ZERO,
        hooks: HookCommands::default(),
        seed: first.and_then(|run| run.plan.as_ref()).map_or(0, |plan| plan.seed),
        directory: PathBuf::new(),
        scratch: None,
        question: brunt_model::Question::Sweep,
        source: first.map_or(String::new(), |run| run.environment.command.clone()),
    }
}

fn contender(name: &str, run: &Run) -> Contender {
    Contender {
        name: name.into(),
        factors: Vec::new(),
        steps: run
            .plan
            .iter()
            .map(|plan| LoadStep::new(plan.main().load.peak(), plan.clone()))
            .collect(),
        server: None,
        hooks: ContenderHooks::default(),
        probes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{panels, story};

    #[test]
    fn several_runs_are_shown_as_a_study() {
        let (closed, open) = (story::closed().run(), story::overloaded().run());
        let judgement = Judgement::default();
        let (study, _) = study_of(&closed, &judgement);
        assert_eq!(
            (study.experiment.name.as_str(), study.is_complete()),
            ("http://127.0.0.1:8080/", true)
        );
        let runs =
            [("before".to_owned(), &closed, &judgement), ("after".to_owned(), &open, &judgement)];
        let (study, analysis) = study_of_several(&runs);
        assert_eq!(study.experiment.name, "before, after");
        assert!(
            study.warnings[0].starts_with("after: the generator had no CPU"),
            "{:?}",
            study.warnings
        );
        assert_eq!(analysis.contenders[1].curve[0].achieved.value, open.throughput());
        let curve = panels::figures(&study, &analysis).swap_remove(0);
        assert_eq!((curve.id.as_str(), curve.lines.len()), ("percentiles", 2));
    }
}
