//! Reads the output of siege: its log, with a row for each run, and its JSON.

use super::sampled::alone;
use super::values::{figure, first_line, json_in, number, required_figure, share};
use super::{File, NO_PERCENTILES};
use brunt_model::{Observation, Observations};

const NO_USERS: &str =
    "siege does not write its -c: the load is the mean concurrency that it measured";
const TICKS: &str = "siege's times are in steps of 10 ms";

pub fn is_json(text: &str) -> bool {
    json_in(text).is_some_and(|value| {
        value["transaction_rate"].is_number() && value["concurrency"].is_number()
    })
}

/// Reads the JSON of one trial.
pub fn json(file: &File) -> Result<Observations, String> {
    let value = json_in(&file.text).unwrap_or_default();
    let hits = required_figure(&value, "transactions")?;
    let failed = required_figure(&value, "failed_transactions")?;
    let observation = Observation {
        load: required_figure(&value, "concurrency")?,
        achieved: required_figure(&value, "transaction_rate")?,
        mean: figure(&value, "response_time"),
        min: figure(&value, "shortest_transaction"),
        max: figure(&value, "longest_transaction"),
        errors: share(failed, hits + failed),
        ..Observation::default()
    };
    Ok(alone(observation, &[NO_USERS, TICKS, NO_PERCENTILES]))
}

pub fn is_log(text: &str) -> bool {
    let line = first_line(text);
    line.trim_start().starts_with("Date & Time,") || row(line).is_some()
}

/// Reads a log. Each row becomes a trial.
pub fn log(file: &File) -> Result<Observations, String> {
    let mut all = alone(Observation::default(), &[NO_USERS, TICKS, NO_PERCENTILES]);
    all.observations.clear();
    let mut without = 0;
    for (index, line) in file.text.lines().enumerate() {
        let is_decoration =
            line.trim().is_empty() || line.contains("Date & Time,") || line.starts_with("****");
        if is_decoration {
            continue;
        }
        match row(line).ok_or_else(|| {
            format!("line {}: ten columns are expected, as siege logs them", index + 1)
        })? {
            Some(observation) => all.observations.push(observation),
            None => without += 1,
        }
    }
    if without > 0 {
        let note =
            format!("{without} rows without figures (inf, nan: runs too short) are left out");
        all.notes.push(note.into());
    }
    Ok(all)
}

/// Parses a row. Returns None if it is not a row of siege's log, and `Some(None)` if
/// it has no figures.
#[allow(clippy::option_option)] // two things that may be missing, one within the other
fn row(line: &str) -> Option<Option<Observation>> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let dated = cells.first().is_some_and(|date| date.len() == 19 && date.as_bytes()[4] == b'-');
    if cells.len() != 10 || !dated {
        return None;
    }
    let all: Option<Vec<f64>> = cells[1..].iter().map(|cell| number(cell)).collect();
    Some(all.map(|figures| Observation {
        load: figures[6],
        achieved: figures[4],
        mean: Some(figures[3]),
        errors: share(figures[8], figures[7] + figures[8]),
        ..Observation::default()
    }))
}
