//! Reads the JSON of fortio.

use super::sampled::alone;
use super::values::{figure, json_in, number, percentile, required_figure, share, sum};
use super::{File, ONE_VALUE};
use brunt_model::analysis::ObservedQuantile;
use brunt_model::{LoadUnit, Observation, Observations};
use serde_json::Value;
use std::time::Duration;

const THREADS: &str =
    "fortio's threads wait for their replies: a rate that they do not reach is not queued";

pub fn matches(text: &str) -> bool {
    json_in(text).is_some_and(|value| {
        value["ActualQPS"].is_number() && value["DurationHistogram"].is_object()
    })
}

pub fn read(file: &File) -> Result<Observations, String> {
    let value = json_in(&file.text).unwrap_or_default();
    let histogram = &value["DurationHistogram"];
    let calls = &value["RetCodes"];
    // -1 stands for no reply; gRPC has words in place of codes.
    let without_reply = figure(calls, "-1").unwrap_or(0.0);
    let all_calls = sum(calls);
    let good = share(all_calls - bad_replies(calls), all_calls);
    let replies = share(all_calls - without_reply, all_calls).unwrap_or(1.0);
    // `max` without a requested rate.
    let rate = value["RequestedQPS"].as_str().and_then(number).filter(|rate| *rate > 0.0);
    let threads = required_figure(&value, "NumThreads")?;
    let observation = Observation {
        load: rate.unwrap_or(threads),
        offered: rate,
        achieved: required_figure(&value, "ActualQPS")? * replies,
        mean: figure(histogram, "Avg"),
        min: figure(histogram, "Min"),
        max: figure(histogram, "Max"),
        quantiles: histogram["Percentiles"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(quantile)
            .collect(),
        errors: good.map(|good| 1.0 - good),
        ..Observation::default()
    };
    let unit = match rate {
        Some(_) => LoadUnit::PerSecond,
        None => LoadUnit::Users { think: Some(Duration::ZERO) },
    };
    Ok(Observations { unit, ..alone(observation, &[THREADS, ONE_VALUE]) })
}

/// Counts calls without a good status: 200 to 399 in HTTP, `SERVING` in gRPC.
fn bad_replies(calls: &Value) -> f64 {
    let counts = calls.as_object().into_iter().flatten();
    let bad = counts.filter(|(code, _)| match code.parse::<i32>() {
        Ok(status) => !(200..400).contains(&status),
        Err(_) => *code != "SERVING",
    });
    bad.filter_map(|(_, count)| count.as_f64()).sum()
}

fn quantile(entry: &Value) -> Option<ObservedQuantile> {
    percentile(figure(entry, "Percentile")?, figure(entry, "Value")?)
}
