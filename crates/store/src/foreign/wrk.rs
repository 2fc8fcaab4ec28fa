//! Reads the report that wrk and wrk2 print. Percentiles need the option `--latency`.

use super::sampled::alone;
use super::values::{
    after_label, duration, labeled_number, number, percentile, required_number, share,
};
use super::{File, NO_PERCENTILES, ONE_VALUE};
use brunt_model::{LoadUnit, Observation, Observations};
use std::time::Duration;

pub fn matches(text: &str) -> bool {
    after_label(text, "Requests/sec:").is_some() && text.contains("threads and")
}

pub fn read(file: &File) -> Result<Observations, String> {
    let text = &file.text;
    // `Latency` is followed by the mean, the deviation and the maximum.
    let mut times = after_label(text, "Latency ").into_iter().flat_map(str::split_whitespace);
    let mean = times.next().and_then(duration);
    let max = times.nth(1).and_then(duration);
    let mut quantiles = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let percent = words.next().and_then(|word| number(word.strip_suffix('%')?));
        let seconds = words.next().and_then(duration);
        quantiles.extend(percent.zip(seconds).and_then(|pair| percentile(pair.0, pair.1)));
    }
    let observation = Observation {
        load: connections(text).ok_or("its line `threads and connections` is missing")?,
        achieved: required_number(text, "Requests/sec:")?,
        mean,
        max,
        errors: completed(text).and_then(|completed| errors(text, completed)),
        quantiles,
        ..Observation::default()
    };
    let mut notes = vec![ONE_VALUE];
    if observation.quantiles.is_empty() {
        notes.extend([NO_PERCENTILES, "wrk prints percentiles with --latency"]);
    }
    let all = alone(observation, &notes);
    Ok(Observations { unit: LoadUnit::Users { think: Some(Duration::ZERO) }, ..all })
}

/// Parses the number of connections in `2 threads and 10 connections`.
fn connections(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.contains("threads and"))?;
    line.split_whitespace().nth(3).and_then(number)
}

/// Parses the number of replies in `4928 requests in 2.00s, 1.2MB read`.
fn completed(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.contains(" requests in "))?;
    line.split_whitespace().next().and_then(number)
}

/// Share of requests with an error of the connection or an unexpected status.
fn errors(text: &str, completed: f64) -> Option<f64> {
    let sockets = after_label(text, "Socket errors:").unwrap_or_default();
    // connect 0, read 0, write 0, timeout 0
    let unfinished: f64 = sockets.split([' ', ',']).filter_map(number).sum();
    let unexpected = labeled_number(text, "Non-2xx or 3xx responses:").unwrap_or(0.0);
    share(unfinished + unexpected, unfinished + completed)
}
