//! Builds the document of a study.

use super::{
    Arrangement, ContenderDocument, Factor, StudyDocument, TrialDocument, VERSION, method,
};
use crate::readings;
use crate::result::{self, EnvironmentSection, IterationCounts, RequestCounts};
use crate::utc::rfc3339;
use brunt_model::time::seconds_of;
use brunt_model::{Analysis, Contender, Experiment, LoadUnit, Study, Tally, Trial};
use brunt_stats::Histogram;

impl StudyDocument {
    /// Builds the document from a study and its analysis.
    pub fn new(study: &Study, analysis: &Analysis) -> Self {
        Self::with_trials(study, analysis, TrialDocument::new)
    }

    /// Builds the document without labels, transactions and failed checks of the trials.
    pub fn without_breakdown(study: &Study, analysis: &Analysis) -> Self {
        Self::with_trials(study, analysis, TrialDocument::without_breakdown)
    }

    fn with_trials(
        study: &Study,
        analysis: &Analysis,
        trial_document: fn(&Experiment, &Trial) -> TrialDocument,
    ) -> Self {
        let experiment = &study.experiment;
        Self {
            version: VERSION,
            id: study.id.clone(),
            name: experiment.name.clone(),
            about: experiment.about.clone(),
            started: rfc3339(study.unix_seconds),
            interrupted: study.interrupted,
            planned_trials: experiment.trials() as u64,
            environment: EnvironmentSection::from(&study.environment),
            experiment: Arrangement::from(experiment),
            analysis: analysis.clone(),
            trials: study.trials.iter().map(|trial| trial_document(experiment, trial)).collect(),
            warnings: study.warnings.clone(),
            method: method(study, analysis),
        }
    }
}

impl From<&Experiment> for Arrangement {
    fn from(e: &Experiment) -> Self {
        Self {
            source: e.source.clone(),
            repetitions: e.repetitions,
            order: e.order,
            cooldown_seconds: e.cooldown.as_secs_f64(),
            seed: e.seed,
            hooks: e.hooks.clone(),
            contenders: e
                .contenders
                .iter()
                .map(|c| ContenderDocument::new(c, loads(e, c)))
                .collect(),
        }
    }
}

/// Returns the loads of a contender. In a search, the first step is only the pattern of the others.
fn loads(experiment: &Experiment, contender: &Contender) -> Vec<f64> {
    let steps = if experiment.has_search() { contender.measured_steps() } else { &contender.steps };
    steps.iter().map(|step| step.load).collect()
}

impl ContenderDocument {
    fn new(c: &Contender, loads: Vec<f64>) -> Self {
        Self {
            name: c.name.clone(),
            factors: c
                .factors
                .iter()
                .map(|(factor, level)| Factor { factor: factor.clone(), level: level.clone() })
                .collect(),
            unit: c.unit(),
            loads,
            server: c.server.clone(),
            hooks: c.hooks.clone(),
            probes: c.probes.clone(),
            plan: c.steps.first().map(|step| step.plan.clone()),
        }
    }
}

impl TrialDocument {
    /// Builds the document of a trial.
    pub fn new(experiment: &Experiment, trial: &Trial) -> Self {
        let run = &trial.run;
        Self {
            // The figures of a single label would repeat those of the trial.
            labels: if run.labels.len() > 1 { result::labels(run) } else { Vec::new() },
            transactions: result::transactions(run),
            check_failures: result::check_failures(run),
            ..Self::without_breakdown(experiment, trial)
        }
    }

    /// Builds the document of a trial without labels, transactions and failed checks.
    pub fn without_breakdown(experiment: &Experiment, trial: &Trial) -> Self {
        let run = &trial.run;
        let place = trial.place;
        let judgement = &trial.judgement;
        let total = &run.total;
        Self {
            contender: name_of(experiment, trial),
            repetition: place.repetition + 1,
            // Steps count from 1. In a search, step 0 is the pattern of the trials, and
            // not a trial itself.
            step: place.step as u64 + u64::from(!experiment.has_search()),
            load: load_of(experiment, trial),
            id: trial.id.clone(),
            started: rfc3339(run.unix_seconds),
            measured_seconds: run.measured_seconds(),
            offered_per_second: offered(trial),
            throughput_per_second: run.throughput(),
            goodput_per_second: run.goodput(),
            requests: RequestCounts::from(total),
            iterations: IterationCounts::of(run),
            error_share: error_share(total),
            failures: result::failures(total),
            response_time_seconds: result::response(total),
            service_time_p99_seconds: p99(&total.service),
            lag_p99_seconds: p99(&total.lag),
            verdict: judgement.verdict.clone(),
            failed_checks: judgement.checks.iter().filter(|check| !check.holds).cloned().collect(),
            findings: judgement.findings.clone(),
            conclusion: judgement.conclusion.clone(),
            bottleneck: judgement.bottleneck.clone(),
            objectives: result::objectives(run),
            warnings: run.warnings.clone(),
            interrupted: run.is_interrupted(),
            error: run.finish.as_ref().and_then(|f| f.error.clone()),
            readings: readings::means(run),
            labels: Vec::new(),
            transactions: Vec::new(),
            check_failures: Vec::new(),
        }
    }
}

/// Returns the name of a trial's contender.
pub(crate) fn name_of(experiment: &Experiment, trial: &Trial) -> String {
    experiment.contenders.get(trial.place.contender).map(|c| c.name.clone()).unwrap_or_default()
}

/// Returns the offered load of a trial.
pub(crate) fn load_of(experiment: &Experiment, trial: &Trial) -> f64 {
    experiment.step(trial.place).map_or(0.0, |step| step.load)
}

/// Returns the arrivals per second that became due; None in a closed loop.
pub(crate) fn offered(trial: &Trial) -> Option<f64> {
    let is_open = trial
        .run
        .plan
        .as_ref()
        .is_some_and(|plan| LoadUnit::from(&plan.main().load) == LoadUnit::PerSecond);
    is_open.then(|| trial.run.per_second(trial.run.flow.planned))
}

/// Returns the error ratio; None if no request was planned.
pub(crate) fn error_share(total: &Tally) -> Option<f64> {
    (total.planned > 0).then(|| total.error_share())
}

fn p99(histogram: &Histogram) -> Option<f64> {
    (!histogram.is_empty()).then(|| seconds_of(histogram.quantile(0.99)))
}
