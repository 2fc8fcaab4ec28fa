//! Anything that answers in Prometheus' text format: the metrics that were chosen under their own names, and those that
//! brunt knows under its own.
//!
//! * `text`: the format. `known`: which metric is which reading: a table.

mod known;
mod text;

use super::Parse;
use crate::sources::Values;
use brunt_model::Probed;
use text::{Sample, Selector};

/// Values kept of one page, at most.
const MOST_VALUES: usize = 512;

pub(super) fn open(what: &Probed) -> Option<(&str, Parse)> {
    let Probed::Prometheus { url, metrics } = what else { return None };
    let chosen: Vec<Selector> = metrics.iter().map(|metric| Selector::of(metric)).collect();
    Some((url, Box::new(move |text| parse(text, &chosen))))
}

/// With nothing chosen, all that brunt knows of.
pub(super) fn parse(text: &str, chosen: &[Selector]) -> Option<Values> {
    let samples = text::samples(text)?;
    let is_chosen = |sample: &&Sample| chosen.is_empty() || chosen.iter().any(|one| one.takes(sample));
    let samples: Vec<&Sample> = samples.iter().filter(is_chosen).collect();
    let mut values = Values::default();
    known::fill(&samples, &mut values);
    if !chosen.is_empty() {
        for sample in samples {
            values.push(sample.written(), sample.value);
        }
    }
    values.0.truncate(MOST_VALUES);
    Some(values)
}

#[cfg(test)]
pub(super) fn chosen(metrics: &[&str]) -> Vec<Selector> {
    metrics.iter().map(|metric| Selector::of(metric)).collect()
}
