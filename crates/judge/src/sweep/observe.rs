//! What the trials of a study came to, as observations.

use crate::steady;
use brunt_model::analysis::{Block, ObservedQuantile};
use brunt_model::finding::{ProcessUse, State, Verdict};
use brunt_model::series::Point;
use brunt_model::time::seconds_of;
use brunt_model::{Contender, LoadUnit, Objective, Observation, Observations, Run, Study, Trial};
use brunt_stats::Sketch;

/// Seconds of a block.
const BLOCK_SECONDS: f64 = 1.0;
/// The last block may be as short as this, in seconds; what is shorter belongs to the one before it.
const SHORTEST_SECONDS: f64 = 0.5;

/// What the trials of a study came to: one observation each.
pub fn observe(study: &Study) -> Observations {
    let contenders = &study.experiment.contenders;
    let unit = contenders.first().map_or(LoadUnit::PerSecond, Contender::unit);
    let objectives = objectives(study);
    let mut notes = Vec::new();
    if contenders.iter().any(|contender| contender.unit() != unit) {
        notes.push("The contenders have different kinds of load, so their limits cannot be compared.".into());
    }
    if study.interrupted || !study.is_complete() {
        let (made, asked) = (study.trials.len(), study.experiment.trials());
        notes.push(format!("The experiment is incomplete: {made} of {asked} trials."));
    }
    Observations {
        contenders: contenders.iter().map(|contender| contender.name.clone()).collect(),
        factors: contenders.iter().map(|contender| contender.factors.clone()).collect(),
        unit,
        observations: study.trials.iter().map(|trial| observation(study, trial, &objectives)).collect(),
        objectives,
        notes,
    }
}

/// The objectives of all steps, each once.
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

fn observation(study: &Study, trial: &Trial, objectives: &[Objective]) -> Observation {
    let (run, place) = (trial.run.main(), trial.place);
    let step = study.experiment.step(place);
    let open = step.is_some_and(|step| LoadUnit::from(&step.plan.main().load) == LoadUnit::PerSecond);
    let replies = run.total.response.without(&run.total.timed_out);
    let of_replies = |seconds: f64| (!replies.is_empty()).then_some(seconds);
    let asked = run.total.planned > 0;
    Observation {
        contender: place.contender,
        repetition: place.repetition,
        load: step.map_or(0.0, |step| step.load),
        offered: open.then(|| run.per_second(run.flow.arrivals)),
        achieved: run.throughput(),
        mean: of_replies(replies.mean() / 1e9),
        quantiles: if asked { quantiles(run) } else { Vec::new() },
        min: of_replies(seconds_of(replies.min())),
        max: of_replies(seconds_of(replies.max())),
        errors: asked.then(|| run.total.error_share()),
        objectives: objectives.iter().map(|objective| asked.then(|| objective.judge(run).met)).collect(),
        verdict: Some(trial.judgement.verdict.state),
        other_processes: others_of(&trial.judgement.verdict),
        cut_short: trial.judgement.findings.iter().any(|finding| finding.rule == "cut_short"),
        blocks: blocks(&steady::measured(run)),
    }
}

/// Who kept the machine busy, where that changed figures.
fn others_of(verdict: &Verdict) -> Vec<ProcessUse> {
    if verdict.state == State::BusyMachine { verdict.other_processes.clone() } else { Vec::new() }
}

fn quantiles(run: &Run) -> Vec<ObservedQuantile> {
    let of = |quantile| {
        let found = run.total.response_quantile(quantile);
        ObservedQuantile { quantile, seconds: seconds_of(found.value), at_least: found.at_least }
    };
    steady::QUANTILES.map(of).to_vec()
}

/// The points of the measured time, joined to a second each.
fn blocks(points: &[Point]) -> Vec<Block> {
    let mut groups: Vec<(f64, Vec<&Point>)> = Vec::new();
    for point in points {
        match groups.last_mut() {
            // Points end within a millisecond of the second, not at it.
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

fn block(seconds: f64, points: &[&Point]) -> Block {
    let mut response = Sketch::default();
    for point in points {
        response.merge(&point.response);
    }
    let sum = |of: fn(&Point) -> u64| points.iter().map(|point| of(point)).sum();
    let known = response.count() > 0;
    Block {
        seconds,
        planned: sum(|point| if point.flow.arrivals > 0 { point.flow.arrivals } else { point.flow.planned }),
        completed: sum(|point| point.flow.completed),
        mean: known.then(|| mean(&response) / 1e9),
        p99: known.then(|| seconds_of(response.quantile(0.99))),
    }
}

/// From the middles of the buckets: to 0.4 %.
fn mean(response: &Sketch) -> f64 {
    let middle = |low: u64| f64::midpoint(low as f64, Sketch::edges(low).1 as f64);
    let sum: f64 = response.cells().map(|(low, count)| middle(low) * count as f64).sum();
    sum / response.count() as f64
}
