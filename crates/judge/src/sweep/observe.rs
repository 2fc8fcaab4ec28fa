//! Turns the trials of a study into observations.

use crate::facts::waiting_users;
use crate::steady;
use crate::texts::message;
use brunt_model::analysis::{ObservedQuantile, SecondOfTrial};
use brunt_model::finding::{ProcessUse, State, Verdict};
use brunt_model::objective::Metric;
use brunt_model::question::Measure;
use brunt_model::series::SeriesPoint;
use brunt_model::time::seconds_of;
use brunt_model::{
    Contender, LoadUnit, Objective, Observation, Observations, Question, Run, Study, Trial,
};
use brunt_stats::Sketch;

/// Length of a block in seconds.
const BLOCK_SECONDS: f64 = 1.0;
/// Minimum length of the last block in seconds. A shorter rest belongs to the block before it.
const SHORTEST_SECONDS: f64 = 0.5;

/// Returns one observation for each trial of a study.
pub fn observe(study: &Study) -> Observations {
    let contenders = &study.experiment.contenders;
    let unit = contenders.first().map_or(LoadUnit::PerSecond, Contender::unit);
    let objectives = objectives(study);
    let quantiles = quantiles(study, &objectives);
    let mut notes = Vec::new();
    if contenders.iter().any(|contender| contender.unit() != unit) {
        notes.push(message!("different-loads"));
    }
    if study.interrupted || !study.is_complete() {
        let trials = study.trials.len().to_string();
        let planned = study.experiment.trials().to_string();
        notes.push(message!("incomplete.experiment", trials, planned));
    }
    Observations {
        contenders: contenders.iter().map(|contender| contender.name.clone()).collect(),
        factors: contenders.iter().map(|contender| contender.factors.clone()).collect(),
        unit,
        observations: study
            .trials
            .iter()
            .map(|trial| observation(study, trial, &objectives, &quantiles))
            .collect(),
        objectives,
        notes,
    }
}

/// Objectives of all steps, each once.
fn objectives(study: &Study) -> Vec<Objective> {
    let steps = study.experiment.contenders.iter().flat_map(|contender| &contender.steps);
    let mut all = Vec::new();
    for objective in steps.flat_map(|step| &step.plan.objectives) {
        if !all.contains(objective) {
            all.push(objective.clone());
        }
    }
    all
}

fn observation(
    study: &Study,
    trial: &Trial,
    objectives: &[Objective],
    quantiles: &[f64],
) -> Observation {
    let run = trial.run.main();
    let place = trial.place;
    let step = study.experiment.step(place);
    let open =
        step.is_some_and(|step| LoadUnit::from(&step.plan.main().load) == LoadUnit::PerSecond);
    // A timed-out request has only a lower bound of its response time.
    let replies = run.total.response.without(&run.total.timed_out);
    let has_replies = !replies.is_empty();
    let has_requests = run.total.planned > 0;
    Observation {
        contender: place.contender,
        repetition: place.repetition,
        load: step.map_or(0.0, |step| step.load),
        offered: open.then(|| run.per_second(run.flow.arrivals)),
        achieved: run.throughput(),
        good: Some(run.goodput()),
        waiting_users: waiting_users(run).filter(|_| !open),
        mean: has_replies.then(|| replies.mean() / 1e9),
        quantiles: if has_requests { observed(run, quantiles) } else { Vec::new() },
        min: has_replies.then(|| seconds_of(replies.min())),
        max: has_replies.then(|| seconds_of(replies.max())),
        errors: has_requests.then(|| run.total.error_share()),
        // Without requests, an objective is neither met nor missed.
        objectives: objectives
            .iter()
            .map(|objective| has_requests.then(|| objective.judge(run).met))
            .collect(),
        verdict: Some(trial.judgement.verdict.state),
        other_processes: disturbing_processes(&trial.judgement.verdict),
        cut_short: trial.judgement.findings.iter().any(|finding| finding.rule == "cut_short"),
        blocks: blocks(&steady::measured(run)),
    }
}

/// Processes that kept the machine busy, if that changed figures.
fn disturbing_processes(verdict: &Verdict) -> Vec<ProcessUse> {
    if verdict.state == State::BusyMachine { verdict.other_processes.clone() } else { Vec::new() }
}

/// The usual quantiles, and those that objectives bound and by which contenders are compared; each once.
fn quantiles(study: &Study, objectives: &[Objective]) -> Vec<f64> {
    let compared = match &study.experiment.question {
        Question::Compare(settings) => settings.metrics.as_slice(),
        Question::Sweep | Question::Find(_) => &[],
    };
    let bounded = objectives.iter().map(|objective| Measure::Run(objective.metric));
    let mut quantiles = steady::QUANTILES.to_vec();
    for measure in compared.iter().copied().chain(bounded) {
        let Measure::Run(metric @ Metric::Quantile(quantile)) = measure else { continue };
        if !quantiles.iter().any(|known| metric.is_same(Metric::Quantile(*known))) {
            quantiles.push(quantile);
        }
    }
    quantiles
}

fn observed(run: &Run, quantiles: &[f64]) -> Vec<ObservedQuantile> {
    let mut observed = Vec::new();
    for quantile in quantiles.iter().copied() {
        let response = run.total.response_quantile(quantile);
        let seconds = seconds_of(response.value);
        observed.push(ObservedQuantile { quantile, seconds, at_least: response.at_least });
    }
    observed
}

/// Groups the points of the measured time into blocks of a second.
fn blocks(points: &[SeriesPoint]) -> Vec<SecondOfTrial> {
    let mut groups: Vec<(f64, Vec<&SeriesPoint>)> = Vec::new();
    for point in points {
        match groups.last_mut() {
            // Points end within a millisecond of the full second, not exactly at it.
            Some((seconds, group)) if *seconds + point.seconds() < BLOCK_SECONDS + 0.01 => {
                *seconds += point.seconds();
                group.push(point);
            }
            _ => groups.push((point.seconds(), vec![point])),
        }
    }
    if groups.len() > 1
        && let Some((seconds, rest)) = groups.pop_if(|group| group.0 < SHORTEST_SECONDS)
        && let Some(last) = groups.last_mut()
    {
        last.0 += seconds;
        last.1.extend(rest);
    }
    groups.iter().map(|(seconds, points)| block(*seconds, points)).collect()
}

fn block(seconds: f64, points: &[&SeriesPoint]) -> SecondOfTrial {
    let mut response = Sketch::default();
    for point in points {
        response.merge(&point.response);
    }
    let has_replies = response.count() > 0;
    let mut planned = 0;
    for point in points {
        planned += if point.flow.arrivals > 0 { point.flow.arrivals } else { point.flow.planned };
    }
    SecondOfTrial {
        seconds,
        planned,
        completed: points.iter().map(|point| point.flow.completed).sum(),
        mean: has_replies.then(|| mean(&response) / 1e9),
        p99: has_replies.then(|| seconds_of(response.quantile(0.99))),
    }
}

/// Mean response time in nanoseconds, from the middles of the buckets: accurate to 0.4 %.
fn mean(response: &Sketch) -> f64 {
    let mut sum = 0.0;
    for (low, count) in response.cells() {
        sum += f64::midpoint(low as f64, Sketch::edges(low).1 as f64) * count as f64;
    }
    sum / response.count() as f64
}
