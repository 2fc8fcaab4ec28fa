//! brunt's own CSV of a study: a row for each trial.

use super::{File, first_line, number};
use brunt_model::analysis::ObservedQuantile;
use brunt_model::finding::State;
use brunt_model::{LoadUnit, Observation, Observations};
use std::collections::HashMap;

const HEADER: &str = "contender,repetition,step,load,";

/// Columns of percentiles, and which they are.
const PERCENTILES: [(&str, f64, &str); 4] = [
    ("response_p50_seconds", 0.5, "p50"),
    ("response_p90_seconds", 0.9, "p90"),
    ("response_p95_seconds", 0.95, "p95"),
    ("response_p99_seconds", 0.99, "p99"),
];

const NO_THINK: &str = "the CSV of a study does not tell the think time of its users; --think TIME does";
const NO_SERIES: &str = "the CSV of a study has no series: its JSON (-o json) tells more";

pub fn knows(text: &str) -> bool {
    first_line(text).starts_with(HEADER)
}

/// A trial for each row.
pub fn read(file: &File) -> Result<Observations, String> {
    let mut lines = file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let head = cells(lines.next().map_or("", |(_, line)| line).trim_start_matches('\u{feff}'));
    let mut all = Observations {
        contenders: Vec::new(),
        factors: Vec::new(),
        unit: LoadUnit::PerSecond,
        observations: Vec::new(),
        objectives: Vec::new(),
        notes: vec![NO_SERIES.into()],
    };
    for (at, line) in lines {
        let cells = cells(line);
        if cells.len() != head.len() {
            return Err(format!("line {}: {} columns are expected, and it has {}", at + 1, head.len(), cells.len()));
        }
        let row: HashMap<&str, &str> = head.iter().map(String::as_str).zip(cells.iter().map(String::as_str)).collect();
        let observation = observed(&row, &mut all.contenders).map_err(|what| format!("line {}: {what}", at + 1))?;
        all.observations.push(observation);
    }
    // A closed loop offers nothing by itself.
    if all.observations.iter().all(|o| o.offered.is_none()) {
        all.unit = LoadUnit::Users { think: None };
        all.notes.push(NO_THINK.into());
    }
    Ok(all)
}

fn observed(row: &HashMap<&str, &str>, contenders: &mut Vec<String>) -> Result<Observation, String> {
    let figure = |name: &str| row.get(name).and_then(|cell| number(cell));
    let needed = |name: &str| figure(name).ok_or_else(|| format!("`{name}` is missing, or no number from 0 on"));
    let at_least: Vec<&str> = row.get("response_at_least").map_or("", |cell| *cell).split(' ').collect();
    let quantile = |(column, quantile, key): &(&str, f64, &str)| {
        Some(ObservedQuantile { quantile: *quantile, seconds: figure(column)?, at_least: at_least.contains(key) })
    };
    let name = row.get("contender").map_or("", |cell| cell.strip_prefix('\'').unwrap_or(cell));
    let contender = contenders.iter().position(|known| known == name).unwrap_or_else(|| {
        contenders.push(name.to_owned());
        contenders.len() - 1
    });
    Ok(Observation {
        contender,
        repetition: (needed("repetition")? as u32).saturating_sub(1),
        load: needed("load")?,
        offered: figure("offered_per_second"),
        achieved: needed("throughput_per_second")?,
        mean: figure("response_mean_seconds"),
        quantiles: PERCENTILES.iter().filter_map(quantile).collect(),
        min: figure("response_min_seconds"),
        max: figure("response_max_seconds"),
        errors: figure("error_share"),
        verdict: row.get("verdict").copied().and_then(State::of_word),
        cut_short: row.get("interrupted").is_some_and(|word| *word == "true"),
        ..Observation::default()
    })
}

/// The cells of a row; one in quotes may hold commas, and a quote as two.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.trim_end_matches('\r').chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
    }
    cells.push(cell);
    cells
}
