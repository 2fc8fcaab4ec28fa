//! Reads Gatling's `simulation.log` of versions that write text, and its `global_stats.json`.

use super::sampled::{RequestSample, SampleRows, TimeResolution, alone};
use super::values::{
    figure, first_line, json_in, number, numbered_lines, percentile, required_figure, share,
};
use super::{File, LITTLE, ONE_VALUE};
use brunt_model::{Observation, Observations};
use serde_json::Value;

/// Default percentiles of Gatling's report, by the number in their key.
const PERCENTILES: [(&str, f64); 4] = [
    ("percentiles1", 50.0),
    ("percentiles2", 75.0),
    ("percentiles3", 95.0),
    ("percentiles4", 99.0),
];

const NOTES: [&str; 2] = [
    "the load is the largest number of Gatling's users at once; how they arrived is not known",
    "Gatling does not write statuses: a failed request counts as completed if a check failed",
];

pub fn is_log(text: &str) -> bool {
    let line = first_line(text);
    line.starts_with("RUN\t") || line.starts_with("ASSERTION\t")
}

pub fn log(file: &File) -> Result<Observations, String> {
    let mut rows = SampleRows::default();
    // Changes of the number of users, with their times.
    let mut changes: Vec<(f64, i32)> = Vec::new();
    for (line, text) in numbered_lines(&file.text) {
        let cells: Vec<&str> = text.split('\t').collect();
        match cells[0] {
            "REQUEST" => rows.add(line, sample(&cells)),
            "USER" => match user(&cells) {
                Some(change) => changes.push(change),
                None => rows.skip(line),
            },
            "RUN" | "ASSERTION" | "GROUP" | "ERROR" => {}
            _ => rows.skip(line),
        }
    }
    let expected = "`REQUEST` with start, end, `OK` or `KO` is expected, as Gatling writes it";
    let mut all = rows.observations(file, TimeResolution::Millisecond, expected, &NOTES)?;
    // A log without users has the concurrency by Little's law.
    if let Some(users) = most_users(changes) {
        all.observations[0].load = users;
    }
    Ok(all)
}

/// Parses a request. Versions differ in the number of names before the times.
fn sample(cells: &[&str]) -> Option<RequestSample> {
    let status = cells.iter().skip(3).position(|cell| ["OK", "KO"].contains(&cell.trim()))? + 3;
    let start = number(cells[status - 2])?;
    let end = number(cells[status - 1]).filter(|end| *end >= start)?;
    let good = cells[status].trim() == "OK";
    // The message of a failed check names it: `status.find.is(200), but actually found 500`.
    let is_check = cells.get(status + 1).is_some_and(|message| message.contains(".find"));
    Some(RequestSample {
        start: start / 1e3,
        duration: (end - start) / 1e3,
        completed: good || is_check,
        good,
    })
}

/// Parses the start or the end of a user: `USER scenario START time`; older versions write the
/// user's number before `START`, and both times after it.
fn user(cells: &[&str]) -> Option<(f64, i32)> {
    let event = cells.iter().position(|cell| ["START", "END"].contains(cell))?;
    let is_start = cells[event] == "START";
    let time = if is_start { cells.get(event + 1)? } else { cells.last()? };
    Some((number(time)?, if is_start { 1 } else { -1 }))
}

fn most_users(mut changes: Vec<(f64, i32)>) -> Option<f64> {
    // At the same time, a user ends before the next one starts.
    changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut users = 0;
    let counts = changes.iter().map(|change| {
        users += change.1;
        users
    });
    counts.max().filter(|most| *most > 0).map(f64::from)
}

pub fn is_statistics(text: &str) -> bool {
    json_in(text).is_some_and(|value| value["meanNumberOfRequestsPerSecond"]["total"].is_number())
}

/// Reads the statistics of all requests.
pub fn statistics(file: &File) -> Result<Observations, String> {
    let value = json_in(&file.text).unwrap_or_default();
    let achieved = required_figure(&value["meanNumberOfRequestsPerSecond"], "total")?;
    let requests = &value["numberOfRequests"];
    let mean = seconds(&value, "meanResponseTime");
    let percentiles = PERCENTILES
        .iter()
        .filter_map(|(key, percent)| percentile(*percent, seconds(&value, key)?))
        .collect();
    let observation = Observation {
        load: super::sampled::named_load(file, (achieved * mean.unwrap_or(0.0)).max(1.0)),
        achieved,
        mean,
        quantiles: percentiles,
        min: seconds(&value, "minResponseTime"),
        max: seconds(&value, "maxResponseTime"),
        errors: figure(requests, "ko")
            .zip(figure(requests, "total"))
            .and_then(|(bad, all)| share(bad, all)),
        ..Observation::default()
    };
    let ranks = "Gatling does not name the percentiles of its report: p50, p75, p95 and p99, its defaults, are assumed";
    Ok(alone(observation, &[ranks, LITTLE, ONE_VALUE]))
}

/// A time of all requests that the file has in milliseconds, in seconds.
fn seconds(value: &Value, key: &str) -> Option<f64> {
    figure(&value[key], "total").map(|millis| millis / 1e3)
}
