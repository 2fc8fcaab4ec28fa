//! Loads: one grammar wherever a number of connections or a rate stands.
//!
//! ```text
//! load   = stage *("," stage) | sweep
//! stage  = value [".." value] ["/" duration]      500   500/2m   0..500/30s
//! sweep  = value ".." value "+" step              50..1500+50
//!        | value ".." value "*" factor            10..20000*2
//!        | "[" value *("," value) "]"             [5,10,50]
//! ```
//!
//! * Behind `/` stands **how long**, as for `--duration`: a bare number is seconds. A rate is per second and is written without a
//!   unit: `2000/s` is refused, because it looks too much like `2000/1s`.
//! * A stage without `..` keeps one value. `0..500/30s` goes there in a straight line.
//! * The last stage may have no duration: it lasts until the run stops.
//! * A sweep is many loads, one after the other; its end is among them where the steps hit it.

use super::duration;
use super::number::number;
use brunt_model::{Shape, Stage};
use brunt_script::WordError;

/// One load, or many to be tried one after the other.
#[derive(Debug, Clone, PartialEq)]
pub enum Loads {
    /// One.
    One(Shape),
    /// Many constant ones, in order; never empty.
    Sweep(Vec<f64>),
}

/// The greatest value: time is counted in nanoseconds.
const GREATEST: f64 = 1e9;

/// The most loads of a sweep.
const MOST: usize = 10_000;

const INSTEAD: &str = "a number such as 500, or stages such as 0..500/30s,500/2m";

/// A rate: requests per second, each value possibly a fraction, somewhere above zero.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form.
pub fn rate(word: &str) -> Result<Loads, WordError> {
    let loads = parse(word)?;
    if loads.lowest_peak() <= 0.0 {
        return Err(WordError::new(word, "a rate of 0 sends no requests", "a rate above it, such as 0.5 or 2000"));
    }
    Ok(loads)
}

/// Connections: whole numbers, somewhere above zero.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form.
pub fn connections(word: &str) -> Result<Loads, WordError> {
    let loads = parse(word)?;
    if let Some(fraction) = loads.values().find(|v| v.fract() != 0.0) {
        let wrong = format!("a connection is not divisible ({fraction})");
        return Err(WordError::new(word, wrong, "whole numbers, such as 10 or 0..500/30s"));
    }
    if loads.lowest_peak() < 1.0 {
        return Err(WordError::new(word, "0 connections send no requests", "at least one, such as 10"));
    }
    Ok(loads)
}

/// A load of either kind; zero is let through.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form.
pub fn parse(word: &str) -> Result<Loads, WordError> {
    let word = word.trim();
    if let Some(list) = word.strip_prefix('[') {
        return list_sweep(word, list).map(Loads::Sweep);
    }
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

    /// The peak of the load, or of the lowest of them.
    pub fn lowest_peak(&self) -> f64 {
        match self {
            Self::One(shape) => shape.peak(),
            Self::Sweep(values) => values.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }
}

fn stages(word: &str) -> Result<Shape, WordError> {
    let mut stages: Vec<Stage> = Vec::new();
    for part in word.split(',') {
        if let Some(endless) = stages.last().filter(|s| s.duration.is_none()) {
            let remedy = format!("{endless}/30s");
            return Err(WordError::new(&endless.to_string(), "only the last stage may have no duration", remedy));
        }
        stages.push(stage(part.trim())?);
    }
    Ok(Shape { stages })
}

fn stage(word: &str) -> Result<Stage, WordError> {
    let (values, duration) = match word.split_once('/') {
        Some((values, duration)) => (values, Some(stage_duration(word, values, duration)?)),
        None => (word, None),
    };
    let Some((from, to)) = values.split_once("..") else {
        let value = value(values)?;
        return Ok(Stage { from: value, to: value, duration });
    };
    let (from, to) = (value(from)?, value(to)?);
    if duration.is_none() {
        let remedy = format!("{values}/30s, or {values}+50 for a sweep");
        return Err(WordError::new(word, "the duration of the stage is missing", remedy));
    }
    Ok(Stage { from, to, duration })
}

fn stage_duration(word: &str, values: &str, duration: &str) -> Result<std::time::Duration, WordError> {
    if !duration.contains(|c: char| c.is_ascii_digit()) {
        let wrong = "a stage's duration follows `/`, and a rate is always per second";
        return Err(WordError::new(word, wrong, format!("{values}, or {values}/30s for half a minute of it")));
    }
    duration::positive(duration)
}

fn value(word: &str) -> Result<f64, WordError> {
    let word = word.trim();
    if word.starts_with('-') {
        return Err(WordError::new(word, "a load is not negative", INSTEAD));
    }
    let value = number(word).ok_or_else(|| WordError::new(word, "not a number", INSTEAD))?;
    if value > GREATEST {
        return Err(WordError::new(word, "the load is too high", "1000000000 at most"));
    }
    Ok(value)
}

fn list_sweep(word: &str, list: &str) -> Result<Vec<f64>, WordError> {
    let list = list.strip_suffix(']').ok_or_else(|| WordError::new(word, "`]` is missing", "[5,10,50]"))?;
    let values: Vec<_> = list.split(',').map(value).collect::<Result<_, _>>()?;
    within_bounds(word, values.len() as f64)?;
    Ok(values)
}

fn step_sweep(word: &str, at: usize) -> Result<Vec<f64>, WordError> {
    let wrong = |what: &str| WordError::new(word, what, "a sweep such as 50..1500+50 or 10..20000*2");
    let (range, step) = (&word[..at], &word[at + 1..]);
    if step.contains(['/', ',']) {
        return Err(wrong("a sweep has no stages: each of its loads is a run of its own"));
    }
    let (from, to) = range.split_once("..").ok_or_else(|| wrong("a sweep goes from one value to another"))?;
    let (from, to, step) = (value(from)?, value(to)?, value(step)?);
    if from > to {
        return Err(wrong("the first load of a sweep is the lowest"));
    }
    if word.as_bytes()[at] == b'+' {
        if step == 0.0 {
            return Err(wrong("a sweep in steps of 0 never ends"));
        }
        return walk(word, ((to - from) / step, to), |i| from + i * step);
    }
    if step <= 1.0 || from == 0.0 {
        return Err(wrong("a sweep that multiplies begins above 0, and its factor is above 1"));
    }
    walk(word, ((to / from).ln() / step.ln(), to), |i| from * step.powf(i))
}

/// The values number 0 to `steps`, the last one being `to` where it comes close: steps such as 0.1 are not exact.
fn walk(word: &str, (steps, to): (f64, f64), value: impl Fn(f64) -> f64) -> Result<Vec<f64>, WordError> {
    let last = (steps + 1e-9).floor();
    within_bounds(word, last + 1.0)?;
    let snap = |v: f64| if (v - to).abs() <= 1e-9 * to { to } else { (v * 1e9).round() / 1e9 };
    Ok((0..=last as u32).map(|i| snap(value(f64::from(i)))).collect())
}

fn within_bounds(word: &str, loads: f64) -> Result<(), WordError> {
    if loads > MOST as f64 {
        return Err(WordError::new(word, format!("that is more than {MOST} loads"), "a sweep in greater steps"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
