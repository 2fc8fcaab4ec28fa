//! Reads the output files of ab: `-g` has a row for each request, `-e` has the percentiles.

use super::join::number_of;
use super::sampled::{RequestSample, TimeResolution, alone, concurrency, trial};
use super::{File, first_line, number};
use brunt_model::analysis::ObservedQuantile;
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
    let mut samples = Vec::new();
    for (index, line) in
        file.text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty())
    {
        let cells: Vec<&str> = line.split('\t').collect();
        let figures = (cells.get(1).and_then(|w| number(w)), cells.get(4).and_then(|w| number(w)));
        let (Some(begun), Some(took)) = figures else {
            return Err(format!(
                "line {}: six columns with times are expected, as ab -g writes them",
                index + 1
            ));
        };
        samples.push(RequestSample {
            start: begun,
            duration: took / 1e3,
            completed: true,
            good: true,
        });
    }
    let first = samples.iter().map(|s| s.start).fold(f64::INFINITY, f64::min);
    if samples.iter().all(|s| s.start == first) {
        return Err(
            "all its requests began within one second, and ab -g has whole seconds: the throughput is unknown; measure for longer, with ab -t 30"
                .into(),
        );
    }
    let mut observation = trial(&samples, TimeResolution::Second)?;
    observation.load = load(concurrency(&samples, &observation), number_of(&file.name));
    observation.errors = None;
    Ok(without_think(alone(observation, &NOTES)))
}

/// Uses the number in the file name as the load if it is within a factor of two of the measured
/// concurrency. Otherwise the number may be that of a repetition.
fn load(measured: f64, named: Option<f64>) -> f64 {
    named.filter(|named| (measured / 2.0..=measured * 2.0).contains(named)).unwrap_or(measured)
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
    for (index, line) in
        file.text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty())
    {
        let row =
            line.split_once(',').and_then(|(percent, ms)| Some((number(percent)?, number(ms)?)));
        let (percent, ms) = row.filter(|row| row.0 <= 100.0).ok_or_else(|| {
            format!(
                "line {}: a percentage and milliseconds are expected, as ab -e writes them",
                index + 1
            )
        })?;
        times.push(ObservedQuantile {
            quantile: percent / 100.0,
            seconds: ms / 1e3,
            at_least: false,
        });
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
        max: time_of(&times, 1.0),
        quantiles: times
            .iter()
            .filter(|time| time.quantile > 0.0 && time.quantile < 1.0)
            .copied()
            .collect(),
        ..Observation::default()
    };
    Ok(without_think(alone(
        observation,
        &[
            "ab -e has no mean: it is taken from below, each percentile standing for all up to the next",
            "ab -e has no throughput: it is at most the value given here, the load (from the file's name) ÷ that mean \
             (Little's law)",
            super::ONE_VALUE,
        ],
    )))
}

fn time_of(times: &[ObservedQuantile], quantile: f64) -> Option<f64> {
    times.iter().find(|time| time.quantile == quantile).map(|time| time.seconds)
}

/// Sets the think time to 0: ab sends the next request immediately.
fn without_think(all: Observations) -> Observations {
    Observations { unit: LoadUnit::Users { think: Some(Duration::ZERO) }, ..all }
}

/// Estimates the mean from below: each percentile counts for all requests up to the next one. The
/// longest time is left out, because it would weigh as much as a hundredth of all requests.
fn mean_from_below(times: &[ObservedQuantile]) -> f64 {
    times
        .windows(2)
        .map(|pair| pair[0].seconds * (pair[1].quantile - pair[0].quantile).max(0.0))
        .sum()
}
