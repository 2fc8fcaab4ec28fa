//! Reads brunt's own CSV of a study: a row for each trial.

use super::File;
use super::values::{first_line, number};
use brunt_model::analysis::ObservedQuantile;
use brunt_model::finding::State;
use brunt_model::{LoadUnit, Observation, Observations};
use std::collections::HashMap;

const HEADER: &str = "contender,repetition,step,load,";

/// Columns of percentiles, with their quantiles and their keys in `response_at_least`.
const PERCENTILES: [(&str, f64, &str); 4] = [
    ("response_p50_seconds", 0.5, "p50"),
    ("response_p90_seconds", 0.9, "p90"),
    ("response_p95_seconds", 0.95, "p95"),
    ("response_p99_seconds", 0.99, "p99"),
];

const NO_THINK: &str = "the CSV of a study has no think time; give it by --think TIME";
const NO_SERIES: &str = "the CSV of a study has no series: its JSON (-o json) has them";

pub fn matches(text: &str) -> bool {
    first_line(text).starts_with(HEADER)
}

/// Reads a table. Each row becomes a trial.
pub fn read(file: &File) -> Result<Observations, String> {
    let text = file.text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let head = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut all = Observations {
        contenders: Vec::new(),
        factors: Vec::new(),
        unit: LoadUnit::PerSecond,
        observations: Vec::new(),
        objectives: Vec::new(),
        notes: vec![NO_SERIES.into()],
    };
    for cells in reader.records() {
        let cells = cells.map_err(|error| error.to_string())?;
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let line = cells.position().map_or(0, csv::Position::line);
        if cells.len() != head.len() {
            return Err(format!(
                "line {line}: {} columns are expected, and it has {}",
                head.len(),
                cells.len()
            ));
        }
        let row: HashMap<&str, &str> = head.iter().zip(&cells).collect();
        let observation =
            observed(&row, &mut all.contenders).map_err(|what| format!("line {line}: {what}"))?;
        all.observations.push(observation);
    }
    // A closed loop has no offered rate.
    if all.observations.iter().all(|o| o.offered.is_none()) {
        all.unit = LoadUnit::Users { think: None };
        all.notes.push(NO_THINK.into());
    }
    Ok(all)
}

fn observed(
    row: &HashMap<&str, &str>,
    contenders: &mut Vec<String>,
) -> Result<Observation, String> {
    let at_least: Vec<&str> =
        row.get("response_at_least").map_or("", |cell| *cell).split(' ').collect();
    let mut quantiles = Vec::new();
    for (column, quantile, key) in &PERCENTILES {
        if let Some(seconds) = figure(row, column) {
            quantiles.push(ObservedQuantile {
                quantile: *quantile,
                seconds,
                at_least: at_least.contains(key),
            });
        }
    }
    // brunt's CSV begins a text with `'` if a spreadsheet would take it for a formula.
    let name = row.get("contender").map_or("", |cell| cell.strip_prefix('\'').unwrap_or(cell));
    let contender = contenders.iter().position(|known| known == name).unwrap_or_else(|| {
        contenders.push(name.to_owned());
        contenders.len() - 1
    });
    Ok(Observation {
        contender,
        repetition: (required_figure(row, "repetition")? as u32).saturating_sub(1),
        load: required_figure(row, "load")?,
        offered: figure(row, "offered_per_second"),
        achieved: required_figure(row, "throughput_per_second")?,
        mean: figure(row, "response_mean_seconds"),
        quantiles,
        min: figure(row, "response_min_seconds"),
        max: figure(row, "response_max_seconds"),
        errors: figure(row, "error_share"),
        verdict: row.get("verdict").copied().and_then(State::from_key),
        cut_short: row.get("interrupted").is_some_and(|word| *word == "true"),
        ..Observation::default()
    })
}

fn figure(row: &HashMap<&str, &str>, name: &str) -> Option<f64> {
    row.get(name).and_then(|cell| number(cell))
}

fn required_figure(row: &HashMap<&str, &str>, name: &str) -> Result<f64, String> {
    figure(row, name).ok_or_else(|| format!("`{name}` is missing, or no number from 0 on"))
}
