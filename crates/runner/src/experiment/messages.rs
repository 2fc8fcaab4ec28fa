//! Messages about the progress of a search.
//!
//! Out of scope: the sentence of the answer, which is in the crate `search`.

use crate::decide::SearchProgress;
use brunt_model::answer::{Estimate, LoadSide, SearchTrial};
use brunt_model::numbers::{plain, plural, three_digits};
use brunt_model::{CapacityResult, LoadUnit, Trial};
use brunt_report::figures::quantile;
use brunt_search::TrialRequest;

/// A line such as `trial 3: 800/s, 20 s: 799/s, p99 41 ms, 0 errors: below;
/// capacity 800 to 3,200/s`.
pub fn trial_line(
    progress: &SearchProgress,
    trial: &Trial,
    search_trial: &SearchTrial,
    answer: &CapacityResult,
) -> String {
    let number = progress.trial_count;
    let run = &trial.run;
    let load = load_text(answer.unit, search_trial.load);
    let p99 = quantile(run.total.response_quantile(0.99));
    let achieved_rate = three_digits(search_trial.achieved);
    let errors = plural(run.total.errors(), "error");
    let seconds = three_digits(search_trial.seconds);
    let side = side(progress, search_trial);
    let result = current_result(answer);
    format!(
        "trial {number}: {load} for {seconds} s: {achieved_rate}/s, p99 {p99}, {errors}: {side}; {result}"
    )
}

/// State of a search that is resumed.
pub fn resumption_line(trials: usize, answer: &CapacityResult) -> String {
    format!("{} so far: {}", plural(trials as u64, "trial"), current_result(answer))
}

/// Estimates of the capacities so far.
pub fn current_result(answer: &CapacityResult) -> String {
    let estimates: Vec<String> =
        answer.capacities.iter().map(|capacity| estimate_text(capacity.at, answer.unit)).collect();
    let word = if estimates.len() == 1 { "capacity" } else { "capacities" };
    format!("{word} {}", estimates.join(", "))
}

fn estimate_text(at: Estimate, unit: LoadUnit) -> String {
    let unit = unit.suffix();
    match (at.low.map(three_digits), at.value.map(three_digits), at.high.map(three_digits)) {
        (Some(low), Some(value), Some(high)) => format!("{value}{unit} ({low} to {high})"),
        (Some(low), None, Some(high)) => format!("{low} to {high}{unit}"),
        (Some(low), _, None) => format!("at least {low}{unit}"),
        (None, _, Some(high)) => format!("below {high}{unit}"),
        (None, _, None) => "not known".into(),
    }
}

/// A line such as `next 1600/s: twice the previous load`.
pub fn next_line(request: &TrialRequest, unit: LoadUnit) -> String {
    format!("next {}: {}", load_text(unit, request.load), request.why)
}

/// Result of a single trial, in the words of the report. What disturbed the trial is the reason why
/// it decides nothing.
fn side(progress: &SearchProgress, search_trial: &SearchTrial) -> String {
    let Some(summary) = progress.summaries.last() else { return String::new() };
    let words = search_trial.sides.iter().map(|side| match side {
        LoadSide::Below => "met",
        LoadSide::Above => "missed",
        LoadSide::Undecided => "undecided",
    });
    let words = words.collect::<Vec<_>>().join(", ");
    match &search_trial.limited {
        Some(limited) if progress.search.is_contested(summary, &progress.summaries) => {
            format!("{words} ({limited})")
        }
        _ => words,
    }
}

fn load_text(unit: LoadUnit, load: f64) -> String {
    match unit {
        LoadUnit::PerSecond => format!("{}/s", plain(load)),
        LoadUnit::Users { .. } => plural(load as u64, "user"),
    }
}
