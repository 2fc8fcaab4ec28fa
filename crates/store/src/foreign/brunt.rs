//! Reads brunt's own JSON: the report of a run, of a study, and of an analysis.

use super::File;
use super::sampled::alone;
use brunt_model::analysis::{ObservedQuantile, SecondOfTrial};
use brunt_model::finding::State;
use brunt_model::{Load, LoadUnit, Objective, Observation, Observations, Plan};
use serde::Deserialize;
use serde_json::Value;
use std::mem::discriminant;

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
    let (load, unit, offered) = match &plan.main().load {
        Load::Closed { users, think } => {
            (users.peak(), LoadUnit::Users { think: Some(think.mean()) }, None)
        }
        Load::Open { rate, .. } => (rate.peak(), LoadUnit::PerSecond, offered(&value)),
    };
    let observation =
        Observation { load, offered, blocks: blocks(&value["series"]), ..figures(&value) };
    let mut all = Observations {
        unit,
        ..alone(observation, &["the series has no means: its blocks of a second have none"])
    };
    super::check_objectives(&mut all, &plan.objectives);
    Ok(all)
}

/// Reads the figures that the document of a run and that of a trial have in common.
fn figures(value: &Value) -> Observation {
    let times = &value["response_time_seconds"];
    let requests = &value["requests"];
    let begun_and_dropped = requests["begun"].as_f64().zip(requests["dropped"].as_f64());
    let errors = requests["errors"].as_f64().zip(begun_and_dropped);
    Observation {
        achieved: value["throughput_per_second"].as_f64().unwrap_or(0.0),
        good: value["goodput_per_second"].as_f64(),
        mean: times["mean"].as_f64(),
        quantiles: PERCENTILES.iter().filter_map(|(key, q)| quantile(times, key, *q)).collect(),
        min: times["min"].as_f64(),
        max: times["max"].as_f64(),
        errors: errors
            .filter(|(_, (begun, dropped))| begun + dropped > 0.0)
            .map(|(errors, (begun, dropped))| errors / (begun + dropped)),
        verdict: State::deserialize(&value["verdict"]["state"]).ok(),
        other_processes: Vec::deserialize(&value["verdict"]["other_processes"]).unwrap_or_default(),
        cut_short: value["interrupted"].as_bool().unwrap_or(false),
        ..Observation::default()
    }
}

pub fn is_study(text: &str) -> bool {
    parsed(text).is_some_and(|value| {
        value["trials"].is_array() && value["experiment"]["contenders"].is_array()
    })
}

/// Reads the trials of a sweep, a comparison or a search.
pub fn study(file: &File) -> Result<Observations, String> {
    let value = parsed(&file.text).unwrap_or_default();
    let contenders: Vec<StudiedContender> = Vec::deserialize(&value["experiment"]["contenders"])
        .map_err(|e| format!("its contenders: {e}"))?;
    let first = contenders.first().ok_or("it has no contender")?;
    if contenders.iter().any(|one| discriminant(&one.unit) != discriminant(&first.unit)) {
        return Err("its contenders have loads of different units".into());
    }
    let trials = value["trials"].as_array().into_iter().flatten().map(|trial| {
        let name = &trial["contender"];
        let contender = contenders.iter().position(|one| *name == *one.name);
        Ok(Observation {
            contender: contender.ok_or_else(|| {
                format!("a trial is of the contender {name}, which is not in its list")
            })?,
            repetition: trial["repetition"]
                .as_u64()
                .map_or(0, |number| number.saturating_sub(1) as u32),
            load: trial["load"].as_f64().ok_or("a trial has no load")?,
            offered: trial["offered_per_second"].as_f64(),
            ..figures(trial)
        })
    });
    let trials: Vec<Observation> = trials.collect::<Result<_, String>>()?;
    let objectives = first.plan.as_ref().map_or(Vec::new(), |plan| plan.objectives.clone());
    let factors = contenders.iter().map(|one| {
        one.factors.iter().map(|factor| (factor.factor.clone(), factor.level.clone())).collect()
    });
    let mut all = Observations {
        factors: factors.collect(),
        unit: first.unit,
        contenders: contenders.iter().map(|one| one.name.clone()).collect(),
        observations: trials,
        objectives: Vec::new(),
        notes: vec!["the trials have no series, so no blocks of a second".into()],
    };
    super::check_objectives(&mut all, &objectives);
    Ok(all)
}

/// A contender of the document of a study.
#[derive(Deserialize)]
struct StudiedContender {
    name: String,
    #[serde(default)]
    factors: Vec<StudiedFactor>,
    unit: LoadUnit,
    plan: Option<Plan>,
}

/// A factor of a contender, and its level.
#[derive(Deserialize)]
struct StudiedFactor {
    factor: String,
    level: String,
}

pub fn is_analysis(text: &str) -> bool {
    parsed(text).is_some_and(|value| observations(&value).is_some())
}

/// Reads the observations of an analysis, which its document contains unchanged.
pub fn analysis(file: &File) -> Result<Observations, String> {
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
