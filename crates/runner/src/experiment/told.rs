//! What is said of a search while it goes on.
//!
//! Out of scope: the answer's own sentence, which is `search`'s.

use crate::decide::SearchProgress;
use brunt_model::answer::{Estimate, LoadSide, SearchTrial};
use brunt_model::numbers::{plain, plural, three};
use brunt_model::{Answer, LoadUnit, Trial};
use brunt_report::figures::quantile;
use brunt_search::{Evidence, TrialRequest};

/// `trial 3: 800/s, 20 s: 799/s, p99 41 ms, 0 errors: below; capacity 800 to 3,200/s`.
pub fn came_to(contended: &SearchProgress, trial: &Trial, tried: &SearchTrial, answer: &Answer) -> String {
    let number = contended.made;
    let (run, load) = (&trial.run, in_words(answer.unit, tried.load));
    let p99 = quantile(run.total.response_quantile(0.99));
    let (achieved, errors) = (three(tried.achieved), plural(run.total.errors(), "error"));
    let seconds = three(tried.seconds);
    let side = side(contended, tried);
    format!("trial {number}: {load} for {seconds} s: {achieved}/s, p99 {p99}, {errors}: {side}; {}", so_far(answer))
}

/// Where a search goes on that was stopped.
pub fn going_on(trials: usize, answer: &Answer) -> String {
    format!("{} so far: {}", plural(trials as u64, "trial"), so_far(answer))
}

/// What is known of the capacities.
pub fn so_far(answer: &Answer) -> String {
    let each: Vec<String> = answer.capacities.iter().map(|capacity| known(capacity.at, answer.unit)).collect();
    let word = if each.len() == 1 { "capacity" } else { "capacities" };
    format!("{word} {}", each.join(", "))
}

fn known(at: Estimate, unit: LoadUnit) -> String {
    let of = |load: f64| three(load);
    let behind = unit.behind();
    match (at.low, at.value, at.high) {
        (Some(low), Some(value), Some(high)) => format!("{}{behind} ({} to {})", of(value), of(low), of(high)),
        (_, Some(value), _) => format!("about {}{behind}", of(value)),
        (Some(low), None, Some(high)) => format!("{} to {}{behind}", of(low), of(high)),
        (Some(low), None, None) => format!("at least {}{behind}", of(low)),
        (None, None, Some(high)) => format!("below {}{behind}", of(high)),
        (None, None, None) => "not known".into(),
    }
}

/// `next 1600/s: twice the previous load`.
pub fn next(ask: &TrialRequest, unit: LoadUnit) -> String {
    format!("next {}: {}", in_words(unit, ask.load), ask.why)
}

/// What the trial by itself shows, in the words of the report.
fn side(contended: &SearchProgress, tried: &SearchTrial) -> String {
    let Some(seen) = contended.seen.last() else { return String::new() };
    let word = |side: &LoadSide| match side {
        LoadSide::Below => "met",
        LoadSide::Above => "missed",
        LoadSide::Undecided => "undecided",
    };
    let words = tried.sides.iter().map(word).collect::<Vec<_>>().join(", ");
    match (&tried.limited, seen.evidence) {
        (None, _) => words,
        (Some(limited), Evidence::Both) => format!("{words}, corrected for the generator's lag ({limited})"),
        (Some(limited), _) if contended.search.is_contested(seen) => {
            format!("contested: limited by {limited}, not by the server alone")
        }
        (Some(limited), _) => format!("{words}, evidence for the lower end only ({limited})"),
    }
}

fn in_words(unit: LoadUnit, load: f64) -> String {
    match unit {
        LoadUnit::PerSecond => format!("{}/s", plain(load)),
        LoadUnit::Users { .. } => plural(load as u64, "user"),
    }
}
