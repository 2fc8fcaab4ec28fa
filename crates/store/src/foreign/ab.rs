//! Reads the output of ab: `-g` has a row for each request, `-e` and the report have percentiles.

use super::join::number_of;
use super::sampled::{SampleRows, TimeResolution, alone, good_sample};
use super::values::{
    after_label, first_line, labeled_number, number, numbered_lines, percentile, required_number,
    share,
};
use super::{File, ONE_VALUE};
use brunt_model::{LoadUnit, Observation, Observations};
use std::time::Duration;

const HEADER: &str = "starttime\tseconds\tctime\tdtime\tttime\twait";
const PERCENTAGES: &str = "Percentage served,Time in ms";

const NOTES: [&str; 4] = [
    "ab -g does not name its -c: the load is the number in the file's name where it can be, else the mean concurrency \
     (Little's law)",
    "ab -g rounds times to milliseconds: those below half of one are 0, and the means of quick replies are rough",
    "ab -g knows whole seconds: the first and the last, of which only a part belongs to the run, are left out of the \
     throughput",
    "ab writes finished requests only, whatever their status: errors are not known",
];

pub fn is_requests(text: &str) -> bool {
    first_line(text).trim_end() == HEADER
}

/// Reads the requests of one trial.
pub fn requests(file: &File) -> Result<Observations, String> {
    let mut rows = SampleRows::default();
    for (line, text) in numbered_lines(&file.text).skip(1) {
        let cells: Vec<&str> = text.split('\t').collect();
        let start = cells.get(1).and_then(|cell| number(cell));
        let millis = cells.get(4).and_then(|cell| number(cell));
        rows.add(line, start.zip(millis).map(|(start, millis)| good_sample(start, millis / 1e3)));
    }
    let first = rows.samples.first().map(|sample| sample.start);
    if first.is_some() && rows.samples.iter().all(|sample| Some(sample.start) == first) {
        return Err(
            "all its requests began within one second, and ab -g has whole seconds: the throughput is unknown; measure for longer, with ab -t 30"
                .into(),
        );
    }
    let expected = "six columns with times are expected, as ab -g writes them";
    let mut all = rows.observations(file, TimeResolution::Second, expected, &NOTES)?;
    all.observations[0].errors = None;
    Ok(without_think(all))
}

pub fn is_percentages(text: &str) -> bool {
    first_line(text).trim_end() == PERCENTAGES
}

/// Reads the percentiles of one trial.
pub fn percentages(file: &File) -> Result<Observations, String> {
    let Some(load) = number_of(&file.name).filter(|load| *load > 0.0) else {
        return Err("ab -e does not name its -c: put it at the end of the file's name, such as nginx-100.csv".into());
    };
    let mut times = Vec::new();
    for (line, text) in numbered_lines(&file.text).skip(1) {
        let row =
            text.split_once(',').and_then(|(percent, ms)| Some((number(percent)?, number(ms)?)));
        let (percent, ms) = row.filter(|row| row.0 <= 100.0).ok_or_else(|| {
            format!("line {line}: a percentage and milliseconds are expected, as ab -e writes them")
        })?;
        times.push((percent, ms / 1e3));
    }
    let mean = mean_from_below(&times);
    if mean <= 0.0 {
        return Err("it holds no times above 0 below the longest".into());
    }

    let observation = Observation {
        load,
        achieved: load / mean,
        mean: Some(mean),
        min: time_of(&times, 0.0),
        max: time_of(&times, 100.0),
        quantiles: times.iter().filter_map(|time| percentile(time.0, time.1)).collect(),
        ..Observation::default()
    };
    Ok(without_think(alone(
        observation,
        &[
            "ab -e has no mean: it is taken from below, each percentile standing for all up to the next",
            "ab -e has no throughput: it is at most the value given here, the load (from the file's name) ÷ that mean \
             (Little's law)",
            ONE_VALUE,
        ],
    )))
}

fn time_of(times: &[(f64, f64)], percent: f64) -> Option<f64> {
    times.iter().find(|time| time.0 == percent).map(|time| time.1)
}

pub fn is_report(text: &str) -> bool {
    after_label(text, "Concurrency Level:").is_some()
        && after_label(text, "Requests per second:").is_some()
}

/// Reads the report that ab prints.
pub fn report(file: &File) -> Result<Observations, String> {
    let text = &file.text;
    let completed = required_number(text, "Complete requests:")?;
    // For ab, a reply of another status is no failure.
    let bad = labeled_number(text, "Failed requests:").unwrap_or(0.0)
        + labeled_number(text, "Non-2xx responses:").unwrap_or(0.0);
    let mut times = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let percent = words.next().and_then(|word| number(word.strip_suffix('%')?));
        times.extend(percent.zip(words.next().and_then(number)));
    }
    let observation = Observation {
        load: required_number(text, "Concurrency Level:")?,
        achieved: required_number(text, "Requests per second:")?,
        mean: labeled_number(text, "Time per request:").map(|millis| millis / 1e3),
        max: time_of(&times, 100.0).map(|millis| millis / 1e3),
        errors: share(bad.min(completed), completed),
        quantiles: times.iter().filter_map(|time| percentile(time.0, time.1 / 1e3)).collect(),
        ..Observation::default()
    };
    Ok(without_think(alone(
        observation,
        &["ab prints percentiles in whole milliseconds", ONE_VALUE],
    )))
}

/// Sets the think time to 0: ab sends the next request immediately.
fn without_think(all: Observations) -> Observations {
    Observations { unit: LoadUnit::Users { think: Some(Duration::ZERO) }, ..all }
}

/// Estimates the mean from below: each percentile counts for all requests up to the next one. The
/// longest time is left out, because it would weigh as much as a hundredth of all requests.
fn mean_from_below(times: &[(f64, f64)]) -> f64 {
    times.windows(2).map(|pair| pair[0].1 * (pair[1].0 - pair[0].0).max(0.0) / 100.0).sum()
}
