//! Loads: a number of connections, or a rate, with stages or as a sweep.
//!
//! ```text
//! load   = stage *("," stage) | sweep
//! stage  = value [".." value] ["/" duration]      500   500/2m   0..500/30s
//! sweep  = value ".." value "+" step              50..1500+50
//!        | value ".." value "*" factor            10..20000*2
//!        | "[" value *("," value) "]"             [5,10,50]
//! ```
//!
//! * The text after `/` is a duration, as for `--duration`: a bare number is seconds. A rate is per
//!   second and has no unit. `2000/s` is refused, because it looks too much like `2000/1s`.
//! * A stage without `..` has a constant value. `0..500/30s` changes the value linearly.
//! * The last stage may have no duration: it lasts until the run stops.
//! * A sweep is a list of loads that run one after the other. It includes its end if
//!   the steps reach it.

use super::duration;
use super::number::{number, without_signs};
use brunt_model::{LoadShape, LoadStage};
use brunt_script::WordError;

/// One load, or the loads of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub enum Loads {
    /// A single load, with its stages.
    One(LoadShape),
    /// Constant loads of a sweep, in order; never empty.
    Sweep(Vec<f64>),
}

/// Maximum value: time is counted in nanoseconds.
const MAX_VALUE: f64 = 1e9;

/// Maximum number of loads of a sweep.
const MAX_LOADS: usize = 10_000;

const INSTEAD: &str = "a number such as 500, or stages such as 0..500/30s,500/2m";

/// Parses a rate in requests per second. Values may be fractions, and the peak must be above zero.
pub fn rate(word: &str) -> Result<Loads, WordError> {
    let loads = parse(word)?;
    if loads.lowest_peak() <= 0.0 {
        return Err(WordError::new(
            word,
            "a rate of 0 sends no requests",
            "a rate above it, such as 0.5 or 2000",
        ));
    }
    Ok(loads)
}

/// Parses a number of connections. Values are whole numbers, and the peak must be above zero.
pub fn connections(word: &str) -> Result<Loads, WordError> {
    let loads = parse(word)?;
    // Stages may pass through fractions, but their ends are numbers of connections.
    if let Some(fraction) = loads.values().find(|v| v.fract() != 0.0) {
        let wrong = format!("a connection is not divisible ({fraction})");
        return Err(WordError::new(word, wrong, "whole numbers, such as 10 or 0..500/30s"));
    }
    if loads.lowest_peak() < 1.0 {
        return Err(WordError::new(
            word,
            "0 connections send no requests",
            "at least one, such as 10",
        ));
    }
    Ok(loads)
}

/// Parses a load of either kind, which may be zero.
pub fn parse(word: &str) -> Result<Loads, WordError> {
    let word = word.trim();
    if let Some(list) = word.strip_prefix('[') {
        return list_sweep(word, list).map(Loads::Sweep);
    }
    // Only sweeps contain these signs: numbers have no sign and no exponent.
    match word.find(['+', '*']) {
        Some(at) => step_sweep(word, at).map(Loads::Sweep),
        None => stages(word).map(Loads::One),
    }
}

impl Loads {
    fn values(&self) -> impl Iterator<Item = f64> {
        let (stages, sweep) = match self {
            Self::One(shape) => (&shape.stages[..], &[][..]),
            Self::Sweep(values) => (&[][..], &values[..]),
        };
        stages.iter().flat_map(|s| [s.from, s.to]).chain(sweep.iter().copied())
    }

    /// Peak of the load; of a sweep, its lowest load.
    pub fn lowest_peak(&self) -> f64 {
        match self {
            Self::One(shape) => shape.peak(),
            Self::Sweep(values) => values.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }
}

fn stages(word: &str) -> Result<LoadShape, WordError> {
    if let Some(remedy) = instead_of_list(word) {
        return Err(WordError::new(word, "a list of numbers is no load", remedy));
    }
    let mut stages: Vec<LoadStage> = Vec::new();
    for part in word.split(',') {
        if let Some(endless) = stages.last().filter(|s| s.duration.is_none()) {
            let remedy = format!("{endless}/30s");
            return Err(WordError::new(
                &endless.to_string(),
                "only the last stage may have no duration",
                remedy,
            ));
        }
        stages.push(stage(part.trim())?);
    }
    Ok(LoadShape { stages })
}

/// What to write instead of numbers between commas: one number with thousands, or a sweep.
fn instead_of_list(word: &str) -> Option<String> {
    let is_list = word.contains(',') && word.split(',').all(|part| number(part.trim()).is_some());
    is_list.then(|| match without_signs(word) {
        Some(whole) if word.matches(',').count() == 1 => {
            format!("{whole}, or [{word}] for a sweep")
        }
        _ => format!("[{word}] for a sweep, or a duration with each, such as 100/30s,200/30s"),
    })
}

fn stage(word: &str) -> Result<LoadStage, WordError> {
    let (values, duration) = match word.split_once('/') {
        Some((values, duration)) => (values, Some(stage_duration(word, values, duration)?)),
        None => (word, None),
    };
    let Some((from, to)) = values.split_once("..") else {
        let value = value(values)?;
        return Ok(LoadStage { from: value, to: value, duration });
    };
    let from = value(from)?;
    let to = value(to)?;
    if duration.is_none() {
        let remedy = format!("{values}/30s, or {values}+50 for a sweep");
        return Err(WordError::new(word, "the duration of the stage is missing", remedy));
    }
    Ok(LoadStage { from, to, duration })
}

fn stage_duration(
    word: &str,
    values: &str,
    duration: &str,
) -> Result<std::time::Duration, WordError> {
    // `2000/s` is the usual notation of a rate, so the error explains it.
    if !duration.contains(|c: char| c.is_ascii_digit()) {
        let wrong = "a stage's duration follows `/`, and a rate is always per second";
        return Err(WordError::new(
            word,
            wrong,
            format!("{values}, or {values}/30s for half a minute of it"),
        ));
    }
    duration::positive(duration)
}

fn value(word: &str) -> Result<f64, WordError> {
    let word = word.trim();
    if word.starts_with('-') {
        return Err(WordError::new(word, "a load is not negative", INSTEAD));
    }
    let value = number(word).ok_or_else(|| {
        let remedy = without_signs(word).or_else(|| instead_of_range(word));
        WordError::new(word, "not a number", remedy.as_deref().unwrap_or(INSTEAD))
    })?;
    if value > MAX_VALUE {
        return Err(WordError::new(word, "the load is too high", "1000000000 at most"));
    }
    Ok(value)
}

/// What to write instead of two numbers with a dash between them.
fn instead_of_range(word: &str) -> Option<String> {
    let (from, to) = word.split_once('-')?;
    let is_range = number(from).is_some() && number(to).is_some();
    is_range.then(|| format!("{from}..{to}/30s for a stage, or {from}..{to}+50 for a sweep"))
}

fn list_sweep(word: &str, list: &str) -> Result<Vec<f64>, WordError> {
    let list = list
        .strip_suffix(']')
        .ok_or_else(|| WordError::new(word, "`]` is missing", "[5,10,50]"))?;
    let values: Vec<_> = list.split(',').map(value).collect::<Result<_, _>>()?;
    within_bounds(word, values.len() as f64)?;
    Ok(values)
}

fn step_sweep(word: &str, at: usize) -> Result<Vec<f64>, WordError> {
    let range = &word[..at];
    let step = &word[at + 1..];
    if step.contains(['/', ',']) {
        return Err(sweep_error(
            word,
            "a sweep has no stages: each of its loads is a separate run",
        ));
    }
    let range = range.split_once("..");
    let (from, to) =
        range.ok_or_else(|| sweep_error(word, "a sweep goes from one value to another"))?;
    let from = value(from)?;
    let to = value(to)?;
    let step = value(step)?;
    if from > to {
        return Err(sweep_error(word, "the first load of a sweep is the lowest"));
    }
    if word.as_bytes()[at] == b'+' {
        if step == 0.0 {
            return Err(sweep_error(word, "a sweep in steps of 0 never ends"));
        }
        return sweep_loads(word, (to - from) / step, to, |i| from + i * step);
    }
    // Other values would never reach the end.
    if step <= 1.0 || from == 0.0 {
        return Err(sweep_error(
            word,
            "a sweep that multiplies begins above 0, and its factor is above 1",
        ));
    }
    sweep_loads(word, (to / from).ln() / step.ln(), to, |i| from * step.powf(i))
}

fn sweep_error(word: &str, wrong: &str) -> WordError {
    WordError::new(word, wrong, "a sweep such as 50..1500+50 or 10..20000*2")
}

/// The values with index 0 to `steps`. A value close to `to` becomes `to`, since steps such as
/// 0.1 are not exact.
fn sweep_loads(
    word: &str,
    steps: f64,
    to: f64,
    value: impl Fn(f64) -> f64,
) -> Result<Vec<f64>, WordError> {
    // (0.7 − 0.1) / 0.1 is 5.999999999999999 in binary fractions.
    let last = (steps + 1e-9).floor();
    // Checked before the list is built, which could fill the memory.
    within_bounds(word, last + 1.0)?;
    let mut loads = Vec::new();
    for index in 0..=last as u32 {
        let load = value(f64::from(index));
        let is_end = (load - to).abs() <= 1e-9 * to;
        // Rounding removes the error of repeated steps: 0.1 · 3 is 0.30000000000000004.
        loads.push(if is_end { to } else { (load * 1e9).round() / 1e9 });
    }
    Ok(loads)
}

fn within_bounds(word: &str, loads: f64) -> Result<(), WordError> {
    if loads > MAX_LOADS as f64 {
        return Err(WordError::new(
            word,
            format!("that is more than {MAX_LOADS} loads"),
            "a sweep in greater steps",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
