//! Reads the results of k6: `--out json`, `--out csv`, and `--summary-export`.

use super::sampled::{RequestSample, SampleRows, TimeResolution, alone, named_load};
use super::values::{
    figure, first_line, json_in, number, numbered_lines, percentile, required_figure,
};
use super::{File, LITTLE, ONE_VALUE};
use brunt_model::{Observation, Observations};
use csv::StringRecord;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// Metric with a value for each request, in milliseconds.
const DURATION: &str = "http_req_duration";
/// Metric with the number of active users.
const USERS: &str = "vus";

const WITHOUT_CONNECT: &str =
    "k6's http_req_duration begins after connecting, when the request is sent";
const USERS_NOTE: &str =
    "the load is the largest number of k6's active users; whether arrivals had a rate is not known";

/// Results while they are read.
#[derive(Default)]
struct K6Rows {
    rows: SampleRows,
    users: Option<f64>,
}

/// A value of a metric, at the end of a request.
struct Point<'t> {
    metric: &'t str,
    /// In seconds.
    time: Option<f64>,
    value: Option<f64>,
    status: Option<&'t str>,
    expected_response: Option<&'t str>,
}

impl K6Rows {
    fn add(&mut self, line: u64, point: &Point<'_>) {
        match point.metric {
            DURATION => self.rows.add(line, sample(point)),
            USERS => self.users = most(self.users, point.value),
            _ => {}
        }
    }

    fn finish(self, file: &File, resolution: TimeResolution) -> Result<Observations, String> {
        let expected = "a value of http_req_duration with its time is expected, as k6 writes it";
        let notes = [WITHOUT_CONNECT, if self.users.is_some() { USERS_NOTE } else { LITTLE }];
        let mut all = self.rows.observations(file, resolution, expected, &notes)?;
        if let Some(users) = self.users {
            all.observations[0].load = users.max(1.0);
        }
        Ok(all)
    }
}

fn most(before: Option<f64>, value: Option<f64>) -> Option<f64> {
    before.into_iter().chain(value).reduce(f64::max)
}

fn sample(point: &Point<'_>) -> Option<RequestSample> {
    let duration = point.value? / 1e3;
    // 0 if there was no reply.
    let status = point.status.and_then(|status| status.parse::<u16>().ok()).unwrap_or(0);
    let is_expected = match point.expected_response {
        Some(word) if !word.is_empty() => word == "true",
        _ => (1..400).contains(&status),
    };
    Some(RequestSample {
        start: point.time? - duration,
        duration,
        completed: status > 0,
        good: is_expected,
    })
}

/// A line of the JSON.
#[derive(Deserialize)]
struct JsonLine<'t> {
    #[serde(rename = "type")]
    kind: &'t str,
    #[serde(borrow)]
    metric: Cow<'t, str>,
    #[serde(borrow)]
    data: JsonData<'t>,
}

/// Content of a line: a value, or the description of a metric, which has none of these fields.
#[derive(Deserialize)]
struct JsonData<'t> {
    time: Option<&'t str>,
    value: Option<f64>,
    #[serde(borrow)]
    tags: Option<JsonTags<'t>>,
}

#[derive(Deserialize)]
struct JsonTags<'t> {
    #[serde(borrow)]
    status: Option<Cow<'t, str>>,
    #[serde(borrow)]
    expected_response: Option<Cow<'t, str>>,
}

pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<JsonLine>(first_line(text))
        .is_ok_and(|line| ["Metric", "Point"].contains(&line.kind))
}

pub fn json(file: &File) -> Result<Observations, String> {
    let mut results = K6Rows::default();
    for (number, text) in numbered_lines(&file.text) {
        let Ok(line) = serde_json::from_str::<JsonLine>(text) else {
            results.rows.skip(number);
            continue;
        };
        if line.kind != "Point" {
            continue;
        }
        let tags = line.data.tags.as_ref();
        results.add(
            number,
            &Point {
                metric: &line.metric,
                time: line.data.time.and_then(seconds_of_date),
                value: line.data.value,
                status: tags.and_then(|tags| tags.status.as_deref()),
                expected_response: tags.and_then(|tags| tags.expected_response.as_deref()),
            },
        );
    }
    results.finish(file, TimeResolution::Millisecond)
}

fn seconds_of_date(text: &str) -> Option<f64> {
    text.parse::<Timestamp>().ok().map(|time| time.as_duration().as_secs_f64())
}

pub fn is_csv(text: &str) -> bool {
    first_line(text).starts_with("metric_name,timestamp,metric_value")
}

pub fn csv(file: &File) -> Result<Observations, String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file.text.as_bytes());
    let names = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut results = K6Rows::default();
    let mut resolution = TimeResolution::Second;
    for cells in reader.records() {
        let cells = cells.map_err(|error| error.to_string())?;
        let line = cells.position().map_or(0, csv::Position::line);
        let time = cell(&names, &cells, "timestamp").and_then(seconds_of_cell);
        // k6 writes whole seconds unless K6_CSV_TIME_FORMAT is set.
        if time.is_some_and(|time| time.fract() != 0.0) {
            resolution = TimeResolution::Millisecond;
        }
        let point = Point {
            metric: cell(&names, &cells, "metric_name").unwrap_or_default(),
            time,
            value: cell(&names, &cells, "metric_value").and_then(number),
            status: cell(&names, &cells, "status"),
            expected_response: cell(&names, &cells, "expected_response"),
        };
        results.add(line, &point);
    }
    results.finish(file, resolution)
}

fn cell<'r>(names: &StringRecord, cells: &'r StringRecord, name: &str) -> Option<&'r str> {
    cells.get(names.iter().position(|column| column == name)?)
}

/// Parses a date, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970.
fn seconds_of_cell(text: &str) -> Option<f64> {
    let Some(time) = number(text) else { return seconds_of_date(text) };
    // The year 5138 in seconds is 1973 in milliseconds.
    let units = [1.0, 1e3, 1e6, 1e9];
    units.into_iter().map(|unit| time / unit).find(|seconds| *seconds < 1e11)
}

pub fn is_summary(text: &str) -> bool {
    json_in(text).is_some_and(|value| metric(&value, "http_reqs")["rate"].is_number())
}

/// Values of a metric. `handleSummary` nests them more deeply than `--summary-export`.
fn metric<'v>(value: &'v Value, name: &str) -> &'v Value {
    let metric = &value["metrics"][name];
    metric.get("values").unwrap_or(metric)
}

pub fn summary(file: &File) -> Result<Observations, String> {
    let value = json_in(&file.text).unwrap_or_default();
    let times = metric(&value, DURATION);
    let achieved = required_figure(metric(&value, "http_reqs"), "rate")?;
    let failed = metric(&value, "http_req_failed");
    let mean = figure(times, "avg").map(|millis| millis / 1e3);
    let users = figure(metric(&value, USERS), "max");
    let measured = (achieved * mean.unwrap_or(0.0)).max(1.0);
    let observation = Observation {
        load: users.unwrap_or_else(|| named_load(file, measured)),
        achieved,
        mean,
        quantiles: times.as_object().into_iter().flatten().filter_map(quantile).collect(),
        min: figure(times, "min").map(|millis| millis / 1e3),
        max: figure(times, "max").map(|millis| millis / 1e3),
        errors: figure(failed, "rate").or_else(|| figure(failed, "value")),
        ..Observation::default()
    };
    let load = if users.is_some() { USERS_NOTE } else { LITTLE };
    Ok(alone(observation, &[WITHOUT_CONNECT, load, ONE_VALUE]))
}

/// Parses a quantile of a summary: `med`, `p(99.9)`.
fn quantile(entry: (&String, &Value)) -> Option<brunt_model::analysis::ObservedQuantile> {
    let seconds = entry.1.as_f64()? / 1e3;
    match entry.0.as_str() {
        "med" => percentile(50.0, seconds),
        name => percentile(number(name.strip_prefix("p(")?.strip_suffix(')')?)?, seconds),
    }
}
