//! Writes the capacity of each contender, and the trials of its search.

use super::block::ReportBlock;
use super::{Subject, load_head};
use brunt_model::answer::{Estimate, LoadSide, SearchTrial};
use brunt_model::numbers::{UNKNOWN, fraction, plain, three_digits, time};
use brunt_model::{CapacityResult, Trial};

/// Returns a table of capacities and one of trials for each answer.
pub fn blocks(subject: &Subject<'_>) -> Vec<ReportBlock> {
    let several = subject.analysis.answers.len() > 1;
    subject
        .analysis
        .answers
        .iter()
        .flat_map(|answer| answer_blocks(subject, answer, several))
        .collect()
}

fn answer_blocks(
    subject: &Subject<'_>,
    answer: &CapacityResult,
    several: bool,
) -> Vec<ReportBlock> {
    let suffix = if several { format!(" of {}", answer.contender) } else { String::new() };
    let mut blocks = vec![ReportBlock::Heading(format!("Capacity{suffix}")), capacities(answer)];
    blocks.push(ReportBlock::Heading(format!("Trials{suffix}: {}", answer.ended)));
    blocks.push(trials(subject, answer));
    blocks
}

fn capacities(answer: &CapacityResult) -> ReportBlock {
    let head = ["Objectives", "capacity", "95 % CI"].map(str::to_owned).to_vec();
    ReportBlock::Table(head, answer.capacities.iter().map(capacity_row).collect())
}

fn capacity_row(capacity: &brunt_model::answer::Capacity) -> Vec<String> {
    let Estimate { value, low, high } = capacity.at;
    vec![
        capacity.objectives.name.clone(),
        value.map_or(UNKNOWN.into(), three_digits),
        interval(low, high),
    ]
}

fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{}–{}", three_digits(low), three_digits(high)),
        (Some(low), None) => format!("≥ {}", three_digits(low)),
        (None, Some(high)) => format!("≤ {}", three_digits(high)),
        (None, None) => UNKNOWN.into(),
    }
}

fn trials(subject: &Subject<'_>, answer: &CapacityResult) -> ReportBlock {
    let load = load_head(answer.unit);
    let head =
        ["#", load, "s", "achieved", "p99", "errors", "objectives", "running estimate", "reason"];
    let mut rows = Vec::new();
    for (index, trial) in answer.trials.iter().enumerate() {
        let total = find_trial(subject, answer, trial).map(|trial| &trial.run.total);
        let p99 = total.map(|total| total.response_quantile(0.99));
        let p99 = p99.map(|q| format!("{}{}", if q.at_least { "≥ " } else { "" }, time(q.value)));
        let errors = total.map(|total| fraction(total.error_share()));
        rows.push(vec![
            (index + 1).to_string(),
            plain(trial.load),
            three_digits(trial.seconds),
            three_digits(trial.achieved),
            p99.unwrap_or_else(|| UNKNOWN.into()),
            errors.unwrap_or_else(|| UNKNOWN.into()),
            sides(trial),
            running_estimate(trial.running_estimate),
            trial.why.to_string(),
        ]);
    }
    ReportBlock::Table(head.map(str::to_owned).to_vec(), rows)
}

/// Finds the stored run of a trial. The answer knows only its load and its
/// figures, which identify it.
fn find_trial<'a>(
    subject: &Subject<'a>,
    answer: &CapacityResult,
    search_trial: &SearchTrial,
) -> Option<&'a Trial> {
    let study = subject.study?;
    let contender = study.experiment.contenders.iter().position(|c| c.name == answer.contender)?;
    study.trials_of(contender).find(|trial| {
        let run = &trial.run;
        let load = study.experiment.step(trial.place).map(|step| step.load);
        // Floats compare exactly: both values come from the same run, without computation in
        // between.
        load == Some(search_trial.load)
            && run.throughput() == search_trial.achieved
            && run.measured_seconds() == search_trial.seconds
    })
}

fn sides(trial: &SearchTrial) -> String {
    trial.sides.iter().copied().map(side_word).collect::<Vec<_>>().join(", ")
}

fn side_word(side: LoadSide) -> &'static str {
    match side {
        LoadSide::Below => "met",
        LoadSide::Above => "missed",
        LoadSide::Undecided => "undecided",
    }
}

fn running_estimate(estimate: Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{} to {}", three_digits(low), three_digits(high)),
        (Some(low), None) => format!("from {} on", three_digits(low)),
        (None, Some(high)) => format!("below {}", three_digits(high)),
        (None, None) => UNKNOWN.into(),
    }
}
