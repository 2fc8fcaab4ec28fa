//! Parses pages in Prometheus' text format. Chosen metrics keep their names; metrics that brunt
//! knows are reported as readings.
//!
//! * `text`: the format. `known`: the table of known metrics and their readings.

mod known;
mod text;

use super::Parse;
use crate::sources::Values;
use brunt_model::Probed;
use text::Selector;

/// Maximum number of values of one page.
const MAX_VALUES: usize = 512;

pub(super) fn open(probed: &Probed) -> Option<(&str, Parse)> {
    let Probed::Prometheus { url, metrics } = probed else { return None };
    let selectors: Vec<Selector> = metrics.iter().map(|metric| Selector::parse(metric)).collect();
    Some((url, Box::new(move |text| parse(text, &selectors))))
}

/// Parses the page. Without selectors, it reports all metrics that brunt knows.
pub(super) fn parse(text: &str, selectors: &[Selector]) -> Option<Values> {
    let mut samples = text::samples(text)?;
    samples.retain(|sample| {
        selectors.is_empty() || selectors.iter().any(|selector| selector.matches(sample))
    });
    let mut values = Values::default();
    known::fill(&samples, &mut values);
    // Selected metrics also keep their own names, since the user asked for them.
    if !selectors.is_empty() {
        for sample in samples {
            values.push(sample.display_name(), sample.value);
        }
    }
    values.0.truncate(MAX_VALUES);
    Some(values)
}

#[cfg(test)]
pub(super) fn selectors(metrics: &[&str]) -> Vec<Selector> {
    metrics.iter().map(|metric| Selector::parse(metric)).collect()
}
