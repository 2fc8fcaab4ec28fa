//! Reads the results of vegeta, as `vegeta encode` writes them, and its reports. vegeta sends at a
//! rate, so the load is a rate.

use super::join::number_of;
use super::sampled::{RequestSample, SampleRows, TimeResolution, alone};
use super::values::{
    after_label, duration, figure, first_line, json_in, number, numbered_lines, percentile,
    required_figure, share, sum,
};
use super::{File, ONE_VALUE};
use brunt_model::{LoadUnit, Observation, Observations};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

const NANOS: f64 = 1e9;

const RATE: &str =
    "vegeta's results do not name its -rate: the load is the rate at which requests began";
const SENT: &str =
    "vegeta's latency begins when a request is sent: lateness of vegeta is not in it";

/// Percentiles of the report in JSON.
const PERCENTILES: [(&str, f64); 4] =
    [("50th", 50.0), ("90th", 90.0), ("95th", 95.0), ("99th", 99.0)];

/// A result in JSON.
#[derive(Deserialize)]
struct JsonResult<'t> {
    code: u16,
    #[serde(borrow)]
    timestamp: Cow<'t, str>,
    latency: f64,
    #[serde(borrow)]
    error: Cow<'t, str>,
}

pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<JsonResult>(first_line(text)).is_ok()
}

pub fn json(file: &File) -> Result<Observations, String> {
    let mut rows = SampleRows::default();
    for (line, text) in numbered_lines(&file.text) {
        let result = serde_json::from_str::<JsonResult>(text).ok();
        rows.add(line, result.and_then(|result| json_sample(&result)));
    }
    open_loop(&rows, file)
}

fn json_sample(result: &JsonResult<'_>) -> Option<RequestSample> {
    let start: Timestamp = result.timestamp.parse().ok()?;
    let is_error = !result.error.is_empty();
    Some(sample(start.as_duration().as_secs_f64(), result.latency, result.code, is_error))
}

fn sample(start: f64, nanos: f64, code: u16, is_error: bool) -> RequestSample {
    RequestSample {
        start,
        duration: nanos / NANOS,
        // 0 if there was no reply.
        completed: code > 0,
        good: (200..400).contains(&code) && !is_error,
    }
}

pub fn is_csv(text: &str) -> bool {
    csv_sample(&first_line(text).split(',').collect::<Vec<_>>()).is_some()
}

pub fn csv(file: &File) -> Result<Observations, String> {
    let mut rows = SampleRows::default();
    let text = file.text.as_bytes();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    for cells in reader.records() {
        let cells = cells.map_err(|error| error.to_string())?;
        let line = cells.position().map_or(0, csv::Position::line);
        rows.add(line, csv_sample(&cells.iter().collect::<Vec<_>>()));
    }
    open_loop(&rows, file)
}

/// Parses a row without a header: start in nanoseconds, code, latency, bytes out, bytes in, error.
fn csv_sample(cells: &[&str]) -> Option<RequestSample> {
    let [start, code, nanos, _, _, error, _, _, seq, ..] = cells else { return None };
    // Results of vegeta have a sequence number; other tables of numbers do not have one there.
    number(seq)?;
    let start = number(start).filter(|start| *start > 1e17)?;
    Some(sample(start / NANOS, number(nanos)?, code.parse().ok()?, !error.is_empty()))
}

fn open_loop(rows: &SampleRows, file: &File) -> Result<Observations, String> {
    let expected = "a result with timestamp and latency is expected, as vegeta encode writes it";
    let notes = [RATE, SENT];
    let mut all = rows.observations(file, TimeResolution::Millisecond, expected, &notes)?;
    let starts = rows.samples.iter().map(|sample| sample.start);
    let first = starts.clone().fold(f64::INFINITY, f64::min);
    let last = starts.fold(f64::NEG_INFINITY, f64::max);
    // n requests have n − 1 intervals between them.
    let rate = share((rows.samples.len() - 1) as f64, last - first)
        .ok_or("all its requests began at the same time: the rate is unknown")?;
    all.unit = LoadUnit::PerSecond;
    all.observations[0].load = load(file, rate);
    all.observations[0].offered = Some(rate);
    Ok(all)
}

/// Returns the requested rate: the number in the file's name if it differs by less than 5 %, else
/// the measured rate. This rate is rounded, so that repetitions have the same load.
fn load(file: &File, rate: f64) -> f64 {
    let named = number_of(&file.name).filter(|named| (named / rate - 1.0).abs() < 0.05);
    named.unwrap_or(if rate >= 10.0 { rate.round() } else { (rate * 10.0).round() / 10.0 })
}

pub fn is_json_report(text: &str) -> bool {
    json_in(text).is_some_and(|value| {
        value["latencies"]["99th"].is_number() && value["status_codes"].is_object()
    })
}

pub fn json_report(file: &File) -> Result<Observations, String> {
    let value = json_in(&file.text).unwrap_or_default();
    let times = &value["latencies"];
    let report = Report {
        requests: required_figure(&value, "requests")?,
        attack: required_figure(&value, "duration")? / NANOS,
        wait: figure(&value, "wait").unwrap_or(0.0) / NANOS,
        success: required_figure(&value, "success")?,
        without_reply: figure(&value["status_codes"], "0").unwrap_or(0.0),
    };
    let total = sum(&value["status_codes"]);
    if total > report.requests {
        return Err(format!("its status codes count {total} requests of {}", report.requests));
    }
    report.observations(
        file,
        Observation {
            mean: seconds(times, "mean"),
            min: seconds(times, "min"),
            max: seconds(times, "max"),
            quantiles: PERCENTILES
                .iter()
                .filter_map(|(key, percent)| percentile(*percent, seconds(times, key)?))
                .collect(),
            ..Observation::default()
        },
    )
}

fn seconds(times: &Value, key: &str) -> Option<f64> {
    figure(times, key).map(|nanos| nanos / NANOS)
}

/// Sums of a report. Times are in seconds.
struct Report {
    requests: f64,
    /// Time from the first to the last start.
    attack: f64,
    /// Time from the last start to the last reply.
    wait: f64,
    /// Share of successful requests, 0 to 1.
    success: f64,
    without_reply: f64,
}

impl Report {
    /// Adds the throughput to the times of a report.
    fn observations(&self, file: &File, times: Observation) -> Result<Observations, String> {
        let rate = share(self.requests - 1.0, self.attack)
            .filter(|rate| *rate > 0.0)
            .ok_or("it has less than two requests: the rate is unknown")?;
        let whole = self.attack + self.wait;
        let observation = Observation {
            load: load(file, rate),
            offered: Some(rate),
            achieved: (self.requests - self.without_reply) / whole,
            good: Some(self.requests * self.success / whole),
            errors: Some(1.0 - self.success),
            ..times
        };
        let all = alone(observation, &[RATE, SENT, ONE_VALUE]);
        Ok(Observations { unit: LoadUnit::PerSecond, ..all })
    }
}

pub fn is_text_report(text: &str) -> bool {
    first_line(text).starts_with("Requests") && after_label(text, "Latencies").is_some()
}

/// Reads the report in text: a name, the names of the values in brackets, and the values.
pub fn text_report(file: &File) -> Result<Observations, String> {
    let requests = values(&file.text, "Requests");
    let times = values(&file.text, "Duration");
    let success = values(&file.text, "Success");
    let latencies = values(&file.text, "Latencies");
    let percent = value(&success, "ratio").and_then(|word| number(word.strip_suffix('%')?));
    let codes = after_label(&file.text, "Status Codes").unwrap_or_default();
    let without_reply = codes.split_whitespace().find_map(|word| number(word.strip_prefix("0:")?));
    let report = Report {
        requests: value(&requests, "total").and_then(number).ok_or("its total is missing")?,
        attack: value(&times, "attack").and_then(duration).ok_or("its duration is missing")?,
        wait: value(&times, "wait").and_then(duration).unwrap_or(0.0),
        success: percent.ok_or("its success ratio is missing")? / 100.0,
        without_reply: without_reply.unwrap_or(0.0),
    };
    let quantiles =
        latencies.iter().filter_map(|(name, word)| percentile(number(name)?, duration(word)?));
    report.observations(
        file,
        Observation {
            mean: value(&latencies, "mean").and_then(duration),
            min: value(&latencies, "min").and_then(duration),
            max: value(&latencies, "max").and_then(duration),
            quantiles: quantiles.collect(),
            ..Observation::default()
        },
    )
}

/// Parses a line such as `Latencies [mean, max] 1ms, 3ms` into names and values.
fn values<'t>(text: &'t str, label: &str) -> Vec<(&'t str, &'t str)> {
    let line = after_label(text, label).unwrap_or_default();
    let Some((names, values)) = line.trim_start_matches('[').split_once(']') else {
        return Vec::new();
    };
    names
        .split(',')
        .zip(values.split(','))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect()
}

fn value<'t>(values: &[(&str, &'t str)], name: &str) -> Option<&'t str> {
    values.iter().find(|value| value.0 == name).map(|value| value.1)
}
