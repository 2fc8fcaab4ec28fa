//! How much each contender carries, and the trials by which that was found.

use super::block::Block;
use super::{Subject, load_head};
use brunt_model::answer::{Estimate, LoadSide, SearchTrial};
use brunt_model::numbers::{UNKNOWN, fraction, plain, three, time};
use brunt_model::{Answer, Trial};

/// A table of capacities and one of trials for each answer.
pub fn blocks(subject: &Subject<'_>) -> Vec<Block> {
    let several = subject.analysis.answers.len() > 1;
    subject.analysis.answers.iter().flat_map(|answer| of(subject, answer, several)).collect()
}

fn of(subject: &Subject<'_>, answer: &Answer, several: bool) -> Vec<Block> {
    let whose = if several { format!(" of {}", answer.contender) } else { String::new() };
    let mut blocks = vec![Block::Heading(format!("Capacity{whose}")), capacities(answer)];
    blocks.push(Block::Heading(format!("Trials{whose}: {}", answer.ended)));
    blocks.push(trials(subject, answer));
    blocks
}

fn capacities(answer: &Answer) -> Block {
    let head = ["Objectives", "capacity", "95 % CI"].map(str::to_owned).to_vec();
    let interval = |low: Option<f64>, high: Option<f64>| match (low, high) {
        (Some(low), Some(high)) => format!("{}–{}", three(low), three(high)),
        (Some(low), None) => format!("≥ {}", three(low)),
        (None, Some(high)) => format!("≤ {}", three(high)),
        (None, None) => UNKNOWN.into(),
    };
    let row = |capacity: &brunt_model::answer::Capacity| {
        let Estimate { value, low, high } = capacity.at;
        vec![capacity.objectives.name.clone(), value.map_or(UNKNOWN.into(), three), interval(low, high)]
    };
    Block::Table(head, answer.capacities.iter().map(row).collect())
}

fn trials(subject: &Subject<'_>, answer: &Answer) -> Block {
    let load = load_head(answer.unit);
    let head = ["#", load, "s", "achieved", "p99", "errors", "objectives", "running estimate", "reason"];
    let row = |(index, tried): (usize, &SearchTrial)| {
        let total = made(subject, answer, tried).map(|trial| &trial.run.total);
        let p99 = total.map(|total| total.response_quantile(0.99));
        let p99 = p99.map(|q| format!("{}{}", if q.at_least { "≥ " } else { "" }, time(q.value)));
        let errors = total.map(|total| fraction(total.error_share()));
        vec![
            (index + 1).to_string(),
            plain(tried.load),
            three(tried.seconds),
            three(tried.achieved),
            p99.unwrap_or_else(|| UNKNOWN.into()),
            errors.unwrap_or_else(|| UNKNOWN.into()),
            sides(tried),
            known(tried.known),
            tried.why.clone(),
        ]
    };
    Block::Table(head.map(str::to_owned).to_vec(), answer.trials.iter().enumerate().map(row).collect())
}

/// The run of a trial, which the answer knows by its load and its figures.
fn made<'a>(subject: &Subject<'a>, answer: &Answer, tried: &SearchTrial) -> Option<&'a Trial> {
    let study = subject.study?;
    let contender = study.experiment.contenders.iter().position(|c| c.name == answer.contender)?;
    let is_it = |trial: &&Trial| {
        let (run, load) = (&trial.run, study.experiment.step(trial.place).map(|step| step.load));
        load == Some(tried.load) && run.throughput() == tried.achieved && run.measured_seconds() == tried.seconds
    };
    study.of(contender).find(is_it)
}

fn sides(tried: &SearchTrial) -> String {
    if tried.limited.is_some() && tried.sides.iter().all(|side| *side == LoadSide::Undecided) {
        return "contested".into();
    }
    let word = |side: &LoadSide| match side {
        LoadSide::Below => "met",
        LoadSide::Above => "missed",
        LoadSide::Undecided => "undecided",
    };
    tried.sides.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn known(at: Estimate) -> String {
    match (at.low, at.high) {
        (Some(low), Some(high)) => format!("{} to {}", three(low), three(high)),
        (Some(low), None) => format!("from {} on", three(low)),
        (None, Some(high)) => format!("below {}", three(high)),
        (None, None) => UNKNOWN.into(),
    }
}
