//! A run as the study of one trial, so that what shows studies shows runs.
//!
//! What it is **not**: an analysis. Nothing is decided here that the run's judgement does not say.

use brunt_model::analysis::{Analysed, Band, Banded, CurvePoint};
use brunt_model::experiment::{ContenderHooks, Step, TrialOrder};
use brunt_model::{Analysis, Contender, Experiment, Judgement, Load, LoadUnit, Place, Plan, Run, Study, Tally, Trial};
use std::time::Duration;

/// The study of this one run, and what is known of it as a point of a sweep.
pub fn study_of(run: &Run, judgement: &Judgement) -> (Study, Analysis) {
    let name = name_of(run);
    let trial = Trial {
        place: Place { repetition: 0, contender: 0, step: 0 },
        id: None,
        run: run.clone(),
        judgement: judgement.clone(),
    };
    let study = Study {
        id: None,
        experiment: experiment(run, name.clone()),
        environment: run.environment.clone(),
        unix_seconds: run.unix_seconds,
        trials: vec![trial],
        warnings: run.warnings.clone(),
        interrupted: run.interrupted(),
    };
    let analysed = Analysed {
        contender: name,
        curve: vec![point(run)],
        bottleneck: judgement.bottleneck.clone(),
        ..Analysed::default()
    };
    (study, Analysis { contenders: vec![analysed], findings: judgement.findings.clone() })
}

/// What a trial measured, as a point of a curve.
pub(crate) fn point(run: &Run) -> CurvePoint {
    let one = |value: f64| Banded { value, low: value, high: value, band: Band::One };
    let open = run.plan.as_ref().is_some_and(|plan| LoadUnit::from(&plan.load) == LoadUnit::PerSecond);
    let total = &run.total;
    let known = !total.response.is_empty();
    let quantile = |q| known.then(|| one(total.response_quantile(q).value as f64 / 1e9));
    CurvePoint {
        load: run.plan.as_ref().map_or(0.0, load_of),
        trials: 1,
        offered: open.then(|| one(run.per_second(run.flow.planned))),
        achieved: one(run.throughput()),
        mean: known.then(|| one(total.response.mean() / 1e9)),
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        errors: (*total != Tally::default()).then(|| one(total.error_share())),
    }
}

fn load_of(plan: &Plan) -> f64 {
    match &plan.load {
        Load::Open { rate: shape, .. } | Load::Closed { users: shape, .. } => shape.peak(),
    }
}

/// What was asked: the URL, or the first of several.
fn name_of(run: &Run) -> String {
    let requests = run.plan.as_ref().map_or(&[][..], |plan| &plan.script.requests);
    match requests {
        [] => "run".into(),
        [only] => only.url.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.url, rest.len()),
    }
}

fn experiment(run: &Run, name: String) -> Experiment {
    let steps = run.plan.iter().map(|plan| Step { load: load_of(plan), plan: plan.clone() }).collect();
    let contender = Contender {
        name: name.clone(),
        factors: Vec::new(),
        steps,
        server: None,
        hooks: ContenderHooks::default(),
        probes: Vec::new(),
    };
    Experiment {
        name,
        about: String::new(),
        contenders: vec![contender],
        repetitions: 1,
        order: TrialOrder::default(),
        cooldown: Duration::ZERO,
        hooks: brunt_model::experiment::Around::default(),
        seed: run.plan.as_ref().map_or(0, |plan| plan.seed),
        directory: std::path::PathBuf::new(),
        scratch: None,
        source: run.environment.command.clone(),
    }
}
