//! What siege writes: its log, a row for each run, and its JSON.

use super::sampled::alone;
use super::{File, NO_PERCENTILES, first_line, number};
use brunt_model::{Observation, Observations};
use serde_json::Value;

const NO_USERS: &str = "siege does not write its -c: the load is the mean concurrency that it measured";
const TICKS: &str = "siege's times are in steps of 10 ms";

pub fn is_json(text: &str) -> bool {
    json_of(text).is_some_and(|value| value["transaction_rate"].is_number() && value["concurrency"].is_number())
}

/// One trial.
pub fn json(file: &File) -> Result<Observations, String> {
    let value = json_of(&file.text).unwrap_or_default();
    let figure = |key: &str| value[key].as_f64().filter(|x| x.is_finite() && *x >= 0.0);
    let needed = |key: &str| figure(key).ok_or_else(|| format!("its key {key} is missing, or no number from 0 on"));
    let (hits, failed) = (needed("transactions")?, needed("failed_transactions")?);
    let observation = Observation {
        load: needed("concurrency")?,
        achieved: needed("transaction_rate")?,
        mean: figure("response_time"),
        min: figure("shortest_transaction"),
        max: figure("longest_transaction"),
        errors: share(failed, hits + failed),
        ..Observation::default()
    };
    Ok(alone(observation, &[NO_USERS, TICKS, NO_PERCENTILES]))
}

/// siege may say something before and after its JSON.
fn json_of(text: &str) -> Option<Value> {
    serde_json::from_str(text.get(text.find('{')?..=text.rfind('}')?)?).ok()
}

pub fn is_log(text: &str) -> bool {
    let line = first_line(text);
    line.trim_start().starts_with("Date & Time,") || row(line).is_some()
}

/// A trial for each row.
pub fn log(file: &File) -> Result<Observations, String> {
    let mut all = alone(Observation::default(), &[NO_USERS, TICKS, NO_PERCENTILES]);
    all.observations.clear();
    let mut without = 0;
    for (at, line) in file.text.lines().enumerate() {
        let known = line.trim().is_empty() || line.contains("Date & Time,") || line.starts_with("****");
        if known {
            continue;
        }
        match row(line).ok_or_else(|| format!("line {}: ten columns are expected, as siege logs them", at + 1))? {
            Some(observation) => all.observations.push(observation),
            None => without += 1,
        }
    }
    if without > 0 {
        all.notes.push(format!("{without} rows without figures (inf, nan: runs too short) are left out"));
    }
    Ok(all)
}

/// None: no row of siege's log. Some(None): one without figures.
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

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
