//! Arrangement of the trials of an experiment.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, set, whole};
use crate::settings::{ArgumentContent, ExperimentSettings, SettingKey, ValueForm};
use crate::words::duration;
use brunt_model::experiment::TrialOrder;

type S = ExperimentSettings;

const EXPERIMENT: &str = "Experiment";

/// Maximum number of repetitions.
const MOST_REPETITIONS: u64 = 100_000;

/// The words for the order of trials.
const ORDERS: [&str; 3] = ["interleaved", "blocks", "random"];

/// Rows of an experiment's settings.
pub static ROWS: [Row<ExperimentSettings>; 3] = [
    Row::value("repeat", "N", "Repetitions of each load at each server; of a comparison, at most", |w, _| {
        set(whole(w, 1, MOST_REPETITIONS), |s: &mut S, v| s.repetitions = Some(v))
    })
    .under(EXPERIMENT)
    .content(ArgumentContent::Number)
    .otherwise("3; of a comparison 10, or what fits into --time-budget")
    .keys(&[SettingKey::new("repetitions", ValueForm::Value)
        .about("Repetitions of each step of each contender; with `compare`, at most")
        .default(
            "3 where loads, contenders or factors vary, otherwise 1; with `compare` 10, or what fits into its `time_budget`",
        )]),
    Row::value(
        "trial-order",
        "ORDER",
        "Order of trials: each repetition measures every server, every second one backwards (interleaved), one server after \
         the other (blocks), or random",
        |w, _| set(order(w), |s: &mut S, v| s.order = Some(v)),
    )
    .under(EXPERIMENT)
    .content(ArgumentContent::Choice(&ORDERS))
    .otherwise("interleaved")
    .keys(&[SettingKey::new("order", ValueForm::Value)]),
    Row::value("cooldown", "TIME", "Pause before each trial but the first", |w, _| {
        set(duration::parse(w), |s: &mut S, v| s.cooldown = Some(v))
    })
    .under(EXPERIMENT)
    .otherwise(defaults::COOLDOWN)
    .keys(&[SettingKey::new("cooldown", ValueForm::Value)]),
];

fn order(word: &str) -> Result<TrialOrder, String> {
    match word {
        "interleaved" => Ok(TrialOrder::Interleaved),
        "blocks" => Ok(TrialOrder::Blocks),
        "random" => Ok(TrialOrder::Random),
        _ => Err(format!("`{word}` is no order of trials; write one of {}", ORDERS.join(", "))),
    }
}
