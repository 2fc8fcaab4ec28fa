//! Reads a table in brunt's own column format: a header, the load first, then
//! columns for each contender.
//!
//! `NAME` (or `NAME_achieved`) is the throughput of a contender, `NAME_ms` its mean response time,
//! `NAME_p99_ms` a percentile, and `NAME_errors_percent` its error rate. With a single contender,
//! the columns are `achieved`, `response_ms`, `p99_ms` and `errors_percent`. Cells are separated by
//! tabs, commas, semicolons or blanks. An empty cell or `-` means unknown.

use super::values::{first_line, number, numbered_lines};
use super::{File, ONE_VALUE};
use brunt_model::analysis::ObservedQuantile;
use brunt_model::{LoadUnit, Observation, Observations, Text};

/// Column names of loads; true if they are numbers of users.
const LOADS: [(&str, bool); 9] = [
    ("offered", false),
    ("rate", false),
    ("load", false),
    ("users", true),
    ("connections", true),
    ("concurrency", true),
    ("clients", true),
    ("threads", true),
    ("n", true),
];

/// Column names for the throughput of a single contender. Two such columns are two
/// contenders of these names.
const THROUGHPUTS: [&str; 6] = ["x", "throughput", "rps", "tps", "qps", "requests_per_second"];

/// Meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Achieved,
    /// Mean response time, with the seconds in one unit.
    Mean(f64),
    Percentile(f64, f64),
    Errors,
}

fn is_throughput(name: &str) -> bool {
    THROUGHPUTS.contains(&name.to_ascii_lowercase().as_str())
}

pub fn matches(text: &str) -> bool {
    let header = first_line(text);
    let words = cells(header, divider(header));
    words.len() > 1 && LOADS.iter().any(|row| row.0 == words[0].to_ascii_lowercase())
}

pub fn read(file: &File) -> Result<Observations, String> {
    let header = first_line(&file.text);
    let divider = divider(header);
    let names = cells(header, divider);
    let users = LOADS.iter().any(|row| row.0 == names[0].to_ascii_lowercase() && row.1);
    let mut columns: Vec<(String, Figure)> =
        names[1..].iter().map(|name| column(name)).collect::<Result<_, _>>()?;
    if let [only] =
        &mut columns.iter_mut().filter(|(name, _)| is_throughput(name)).collect::<Vec<_>>()[..]
    {
        **only = (String::new(), Figure::Achieved);
    }
    let mut contenders: Vec<String> = Vec::new();
    for (name, _) in &columns {
        if !contenders.contains(name) {
            contenders.push(name.clone());
        }
    }
    let without =
        contenders.iter().find(|name| !columns.contains(&((*name).clone(), Figure::Achieved)));
    if let Some(name) = without {
        return Err(format!(
            "`{name}` has no throughput: a column `{}` is expected",
            achieved(name)
        ));
    }
    let unit = if users { LoadUnit::Users { think: None } } else { LoadUnit::PerSecond };
    let mut all = Observations {
        contenders,
        factors: Vec::new(),
        unit,
        observations: Vec::new(),
        objectives: Vec::new(),
        notes: Vec::new(),
    };
    for (number_of_line, line) in numbered_lines(&file.text).skip(1) {
        let row = figures(line, divider, names.len())
            .map_err(|what| format!("line {number_of_line}: {what}"))?;
        let Some(load) = row[0] else {
            return Err(format!("line {number_of_line}: its load is missing"));
        };
        for contender in 0..all.contenders.len() {
            let figures = columns
                .iter()
                .zip(&row[1..])
                .filter(|((name, _), _)| *name == all.contenders[contender])
                .filter_map(|((_, figure), value)| Some((*figure, (*value)?)));
            all.observations.extend(observed(load, figures).map(|observation| Observation {
                contender,
                offered: (!users).then_some(load),
                ..observation
            }));
        }
    }
    all.notes = notes(&all);
    Ok(all)
}

/// Builds the observation of a row. None if its throughput is unknown.
fn observed(load: f64, figures: impl Iterator<Item = (Figure, f64)>) -> Option<Observation> {
    let mut observation = Observation { load, achieved: f64::NAN, ..Observation::default() };
    for (figure, value) in figures {
        match figure {
            Figure::Achieved => observation.achieved = value,
            Figure::Mean(unit) => observation.mean = Some(value * unit),
            Figure::Percentile(quantile, unit) => {
                observation.quantiles.push(ObservedQuantile {
                    quantile,
                    seconds: value * unit,
                    at_least: false,
                });
            }
            Figure::Errors => observation.errors = Some(value / 100.0),
        }
    }
    (!observation.achieved.is_nan()).then_some(observation)
}

fn notes(all: &Observations) -> Vec<Text> {
    let mut notes = Vec::new();
    let mut steps: Vec<(usize, u64)> =
        all.observations.iter().map(|o| (o.contender, o.load.to_bits())).collect();
    steps.sort_unstable();
    if steps.windows(2).all(|pair| pair[0] != pair[1]) {
        notes.push(ONE_VALUE.into());
    }
    if all.observations.iter().all(|o| o.errors.is_none()) {
        notes.push("the file has no errors".into());
    }
    if all.observations.iter().all(|o| o.quantiles.is_empty()) {
        notes.push(super::NO_PERCENTILES.into());
    }
    notes
}

/// Returns the contender and the meaning of a column, from its name.
fn column(name: &str) -> Result<(String, Figure), String> {
    let (rest, unit) = match (name.strip_suffix("ms"), name.strip_suffix("seconds")) {
        (Some(rest), _) if rest.is_empty() || rest.ends_with('_') => (rest, 1e-3),
        (_, Some(rest)) if rest.is_empty() || rest.ends_with('_') => (rest, 1.0),
        _ => return Ok(without_unit(name)),
    };
    let rest = rest.trim_end_matches('_');
    let (before, last) = rest.rsplit_once('_').map_or(("", rest), |(before, last)| (before, last));
    if last == "response" || last == "mean" {
        return Ok((before.to_owned(), Figure::Mean(unit)));
    }
    match last.strip_prefix('p').map(number) {
        Some(Some(percent)) if percent < 100.0 => {
            Ok((before.to_owned(), Figure::Percentile(percent / 100.0, unit)))
        }
        Some(Some(_)) => Err(format!(
            "the column `{name}` is no percentile: write one below 100, such as p99_ms"
        )),
        _ => Ok((rest.to_owned(), Figure::Mean(unit))),
    }
}

fn without_unit(name: &str) -> (String, Figure) {
    for (ending, figure) in [("errors_percent", Figure::Errors), ("achieved", Figure::Achieved)] {
        if let Some(rest) =
            name.strip_suffix(ending).filter(|rest| rest.is_empty() || rest.ends_with('_'))
        {
            return (rest.trim_end_matches('_').to_owned(), figure);
        }
    }
    (name.to_owned(), Figure::Achieved)
}

/// Returns the name of the throughput column of a contender.
fn achieved(name: &str) -> &str {
    if name.is_empty() { "achieved" } else { name }
}

fn divider(header: &str) -> Option<char> {
    ['\t', ';', ','].into_iter().find(|divider| header.contains(*divider))
}

fn cells(line: &str, divider: Option<char>) -> Vec<&str> {
    match divider {
        Some(divider) => line.split(divider).map(str::trim).collect(),
        None => line.split_whitespace().collect(),
    }
}

fn figures(line: &str, divider: Option<char>, columns: usize) -> Result<Vec<Option<f64>>, String> {
    let cells = cells(line.trim_end_matches(['\r', '\n']), divider);
    if cells.len() != columns {
        return Err(format!("its header requires {columns} columns, and it has {}", cells.len()));
    }
    cells.iter().map(|cell| figure_of_cell(cell)).collect()
}

fn figure_of_cell(cell: &str) -> Result<Option<f64>, String> {
    match cell {
        "" | "-" | "–" => Ok(None),
        cell => number(cell).map(Some).ok_or_else(|| format!("`{cell}` is no number from 0 on")),
    }
}
