//! All runs, in the order in which they are fair.
//!
//! Rounds are outermost and tools are innermost, in an order that moves on by one each round: what changes slowly on
//! the machine meets every tool alike, and nobody is always first. A run that fails is a note, not the end.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::cases::{Case, Load, Transport};
use crate::maths::Spread;
use crate::measure::{Measurement, Stand};
use crate::memory::{self, Growth, Held, UrlPeak};
use crate::output;
use crate::overload::{self, Overloaded};
use crate::pacing::{self, Paced};
use crate::tools::Tool;

/// Quiet between two runs.
const PAUSE: Duration = Duration::from_millis(300);
/// After this long Linux gives the ports of closed connections out again on loopback (`tcp_tw_reuse`).
const PAUSE_FOR_PORTS: Duration = Duration::from_secs(1);
/// A run beside which others used more than this many CPUs counts as disturbed.
const DISTURBED: f64 = 0.15;

/// Everything that was measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Results {
    pub measurements: Vec<Measurement>,
    pub pacing: Vec<Paced>,
    pub overload: Vec<Overloaded>,
    pub growth: Option<Growth>,
    pub held: Option<Held>,
    pub url_peaks: Vec<UrlPeak>,
    /// What a reader should know: failed runs, complaints, disturbances.
    pub notes: Vec<String>,
}

pub fn run(stand: &Stand, cases: &[Case], rounds: usize, scale: memory::Scale) -> Result<Results> {
    let mut results = Results::default();
    for round in 0..rounds {
        for case in cases.iter().filter(|case| case.is_of_rounds()) {
            measure_case(stand, case, round, &mut results)?;
        }
    }
    for case in cases {
        match case.load {
            Load::Pacing => results.pacing = pacing::run(stand, rounds, &mut results.notes)?,
            Load::Overload => results.overload = overload::run(stand, rounds, &mut results.notes)?,
            Load::Memory => results.growth = once(case, memory::growth(stand, scale), &mut results.notes),
            Load::Connections => results.held = once(case, memory::held(stand), &mut results.notes),
            Load::Urls { count, .. } => {
                results.url_peaks.extend(once(case, memory::urls(stand, count), &mut results.notes));
            }
            _ => {}
        }
        stand.interrupt.check()?;
    }
    results.notes.splice(0..0, disturbance(&foreign_cpus(&results)));
    Ok(results)
}

/// The order of the tools in a round.
pub fn rotated(round: usize) -> Vec<Tool> {
    let mut tools = Tool::ALL.to_vec();
    tools.rotate_left(round % Tool::ALL.len());
    tools
}

fn measure_case(stand: &Stand, case: &Case, round: usize, results: &mut Results) -> Result<()> {
    for tool in rotated(round) {
        let Some(run) = stand.measure(case, tool, round) else { continue };
        stand.interrupt.check()?;
        let run_name = format!("{}, {}, round {}", case.name, tool.name(), round + 1);
        match run {
            Ok(measurement) => {
                output::progress(&progress_line(&run_name, &measurement));
                let complaint = measurement.observed.complaint.as_ref();
                results.notes.extend(complaint.map(|words| format!("{run_name}: {words}")));
                results.measurements.push(measurement);
            }
            Err(error) => note(&run_name, &error, &mut results.notes),
        }
        stand.interrupt.pause(pause_after(case))?;
    }
    Ok(())
}

fn once<T>(case: &Case, measured: Option<Result<T>>, notes: &mut Vec<String>) -> Option<T> {
    measured?.map_err(|error| note(case.name, &error, notes)).ok()
}

fn note(run_name: &str, error: &anyhow::Error, notes: &mut Vec<String>) {
    let text = format!("{run_name}: {error:#}");
    output::progress(&text);
    notes.push(text);
}

/// What others used of the machine beside each run, in CPUs.
fn foreign_cpus(results: &Results) -> Vec<f64> {
    let paced = results.pacing.iter().map(|run| run.foreign_cpus);
    let overloaded = results.overload.iter().map(|run| run.foreign_cpus);
    results.measurements.iter().map(|run| run.observed.foreign_cpus).chain(paced).chain(overloaded).collect()
}

/// One line for all runs that were not alone on the machine; which they were is in the JSON.
fn disturbance(foreign_cpus: &[f64]) -> Option<String> {
    let disturbed: Vec<f64> = foreign_cpus.iter().copied().filter(|cpus| *cpus > DISTURBED).collect();
    let spread = Spread::of(&disturbed)?;
    Some(format!(
        "{} of {} runs were disturbed: something else used {:.2} CPUs meanwhile (median; {:.2} at most)",
        disturbed.len(),
        foreign_cpus.len(),
        spread.median,
        spread.max
    ))
}

fn progress_line(run_name: &str, measurement: &Measurement) -> String {
    let seen = &measurement.observed;
    let rate = seen.rate_per_second.unwrap_or(f64::NAN);
    let cost = seen.cpu_seconds() * 1e6 / seen.requests.max(1) as f64;
    format!("{run_name}: {rate:.0} requests/s, {cost:.2} µs each, {:.2} CPUs used by others", seen.foreign_cpus)
}

fn pause_after(case: &Case) -> Duration {
    match case.load {
        Load::Closed { transport: Transport::NewConnection, .. } => PAUSE_FOR_PORTS,
        _ => PAUSE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_first_once_and_none_is_left_out() {
        let firsts: Vec<Tool> = (0..Tool::ALL.len()).map(|round| rotated(round)[0]).collect();
        assert_eq!(firsts, Tool::ALL);
        let mut third = rotated(3);
        third.sort();
        assert_eq!(third, Tool::ALL);
        assert_eq!(rotated(Tool::ALL.len()), rotated(0));
    }

    #[test]
    fn disturbed_runs_are_summed_up_in_one_line() {
        assert_eq!(disturbance(&[0.0, 0.1]), None);
        let line = disturbance(&[0.0, 0.5, 0.7]).unwrap();
        assert!(line.starts_with("2 of 3 runs were disturbed: something else used 0.60 CPUs"), "{line}");
    }
}
