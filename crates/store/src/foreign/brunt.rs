//! Reads brunt's own JSON: the report of a run, and the observations of a sweep.

use super::File;
use super::sampled::alone;
use brunt_model::analysis::{ObservedQuantile, SecondOfTrial};
use brunt_model::finding::State;
use brunt_model::{Load, LoadUnit, Objective, Observation, Observations, Plan};
use serde_json::Value;

/// Keys of the percentiles in the JSON report, with their quantiles.
const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999)];

pub fn is_run(text: &str) -> bool {
    parsed(text).is_some_and(|value| {
        value["throughput_per_second"].is_number() && value["plan"].is_object()
    })
}

pub fn run(file: &File) -> Result<Observations, String> {
    let value = parsed(&file.text).unwrap_or_default();
    let plan: Plan =
        serde_json::from_value(value["plan"].clone()).map_err(|e| format!("its plan: {e}"))?;
    let times = &value["response_time_seconds"];
    let (load, unit, offered) = match &plan.main().load {
        Load::Closed { users, think } => {
            (users.peak(), LoadUnit::Users { think: Some(think.mean()) }, None)
        }
        Load::Open { rate, .. } => (rate.peak(), LoadUnit::PerSecond, offered(&value)),
    };
    let requests = &value["requests"];
    let begun_and_dropped = requests["begun"].as_f64().zip(requests["dropped"].as_f64());
    let errors = requests["errors"].as_f64().zip(begun_and_dropped);
    let observation = Observation {
        load,
        offered,
        achieved: value["throughput_per_second"].as_f64().unwrap_or(0.0),
        mean: times["mean"].as_f64(),
        quantiles: PERCENTILES.iter().filter_map(|(key, q)| quantile(times, key, *q)).collect(),
        min: times["min"].as_f64(),
        max: times["max"].as_f64(),
        errors: errors
            .filter(|(_, (begun, dropped))| begun + dropped > 0.0)
            .map(|(errors, (begun, dropped))| errors / (begun + dropped)),
        verdict: serde_json::from_value::<State>(value["verdict"]["state"].clone()).ok(),
        cut_short: value["interrupted"].as_bool().unwrap_or(false),
        blocks: blocks(&value["series"]),
        ..Observation::default()
    };
    let mut all = Observations {
        unit,
        ..alone(observation, &["the series has no means: its blocks of a second have none"])
    };
    super::check_objectives(&mut all, &plan.objectives);
    Ok(all)
}

pub fn is_sweep(text: &str) -> bool {
    parsed(text).is_some_and(|value| observations(&value).is_some())
}

/// Reads the observations of a sweep, which the JSON document contains unchanged.
pub fn sweep(file: &File) -> Result<Observations, String> {
    let value = parsed(&file.text).unwrap_or_default();
    let text = observations(&value).map(Value::to_string).unwrap_or_default();
    let mut all: Observations =
        serde_json::from_str(&text).map_err(|e| format!("its trials: {e}"))?;
    let contenders = all.contenders.len();
    if all.observations.iter().any(|o| o.contender >= contenders) {
        return Err("a trial is of a contender that it does not name".into());
    }
    let objectives: Vec<Objective> = std::mem::take(&mut all.objectives);
    super::check_objectives(&mut all, &objectives);
    Ok(all)
}

fn observations(value: &Value) -> Option<&Value> {
    [value, &value["observations"]]
        .into_iter()
        .find(|at| at["observations"].is_array() && at["contenders"].is_array())
}

fn parsed(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') { serde_json::from_str(text).ok() } else { None }
}

fn offered(value: &Value) -> Option<f64> {
    let seconds = value["measured_seconds"].as_f64().filter(|seconds| *seconds > 0.0)?;
    Some(value["requests"]["planned"].as_f64()? / seconds)
}

fn quantile(times: &Value, key: &str, quantile: f64) -> Option<ObservedQuantile> {
    let at_least =
        times["at_least"].as_array().is_some_and(|keys| keys.iter().any(|known| known == key));
    Some(ObservedQuantile { quantile, seconds: times[key].as_f64()?, at_least })
}

fn seconds(interval: &Value, key: &str) -> f64 {
    interval[key].as_f64().unwrap_or(0.0)
}

/// Joins intervals of the measured time to blocks of at least one second.
fn blocks(series: &Value) -> Vec<SecondOfTrial> {
    let mut blocks = Vec::new();
    let mut block = SecondOfTrial::default();
    let mut parts = 0;
    for interval in
        series.as_array().into_iter().flatten().filter(|interval| interval["phase"] == "measure")
    {
        block.seconds += seconds(interval, "to_seconds") - seconds(interval, "from_seconds");
        block.planned = block.planned.saturating_add(interval["planned"].as_u64().unwrap_or(0));
        block.completed =
            block.completed.saturating_add(interval["completed"].as_u64().unwrap_or(0));
        parts += 1;
        if block.seconds >= 1.0 - 1e-6 {
            // Percentiles cannot be merged.
            block.p99 = if parts == 1 { interval["response_p99_seconds"].as_f64() } else { None };
            blocks.push(std::mem::take(&mut block));
            parts = 0;
        }
    }
    blocks
}
