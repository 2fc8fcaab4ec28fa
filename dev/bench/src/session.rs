//! Runs all cases in a fair order.
//!
//! Rounds are outermost and tools are innermost, in an order that rotates by one each round. Slow
//! changes of the machine therefore affect every tool alike, and no tool is always first. A failed
//! run becomes a note and does not end the session.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::cases::{BenchCase, CaseLoad, CaseTransport};
use crate::maths::MedianRange;
use crate::measure::{Measurement, Stand};
use crate::memory::{self, ConnectionMemory, MemoryGrowth, UrlPeak};
use crate::output;
use crate::overload::{self, OverloadRun};
use crate::pacing::{self, PacingRun};
use crate::tools::BenchTool;

/// Pause between two runs.
const PAUSE: Duration = Duration::from_millis(300);
/// Time after which Linux reuses the ports of closed connections on loopback (`tcp_tw_reuse`).
const PAUSE_FOR_PORTS: Duration = Duration::from_secs(1);
/// Usage by other processes, in CPUs, above which a run counts as disturbed.
const DISTURBED: f64 = 0.15;

/// Measurements and notes of all cases.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Results {
    pub measurements: Vec<Measurement>,
    pub pacing: Vec<PacingRun>,
    pub overload: Vec<OverloadRun>,
    pub growth: Option<MemoryGrowth>,
    pub held: Option<ConnectionMemory>,
    pub url_peaks: Vec<UrlPeak>,
    /// Notes for the reader: failed runs, complaints, disturbances.
    pub notes: Vec<String>,
}

pub fn run(
    stand: &Stand,
    cases: &[BenchCase],
    rounds: usize,
    scale: memory::RunLength,
) -> Result<Results> {
    let mut results = Results::default();
    for round in 0..rounds {
        for case in cases.iter().filter(|case| case.is_of_rounds()) {
            measure_case(stand, case, round, &mut results)?;
        }
    }
    for case in cases {
        match case.load {
            CaseLoad::Pacing => results.pacing = pacing::run(stand, rounds, &mut results.notes)?,
            CaseLoad::Overload => {
                results.overload = overload::run(stand, rounds, &mut results.notes)?;
            }
            CaseLoad::Memory => {
                results.growth = once(case, memory::growth(stand, scale), &mut results.notes);
            }
            CaseLoad::Connections => {
                results.held = once(case, memory::connections(stand), &mut results.notes);
            }
            CaseLoad::Urls { count, .. } => {
                results.url_peaks.extend(once(
                    case,
                    memory::urls(stand, count),
                    &mut results.notes,
                ));
            }
            _ => {}
        }
        stand.interrupt.check()?;
    }
    // Disturbances come first, because they concern all figures.
    results.notes.splice(0..0, disturbance(&foreign_cpus(&results)));
    Ok(results)
}

/// Order of the tools in a round.
pub fn tool_order(round: usize) -> Vec<BenchTool> {
    let mut tools = BenchTool::ALL.to_vec();
    // No tool is always first.
    tools.rotate_left(round % BenchTool::ALL.len());
    tools
}

fn measure_case(
    stand: &Stand,
    case: &BenchCase,
    round: usize,
    results: &mut Results,
) -> Result<()> {
    for tool in tool_order(round) {
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

fn once<T>(case: &BenchCase, measured: Option<Result<T>>, notes: &mut Vec<String>) -> Option<T> {
    measured?.map_err(|error| note(case.name, &error, notes)).ok()
}

fn note(run_name: &str, error: &anyhow::Error, notes: &mut Vec<String>) {
    let text = format!("{run_name}: {error:#}");
    output::progress(&text);
    notes.push(text);
}

/// Usage of the machine by other processes during each run, in CPUs.
fn foreign_cpus(results: &Results) -> Vec<f64> {
    let paced = results.pacing.iter().map(|run| run.foreign_cpus);
    let overloaded = results.overload.iter().map(|run| run.foreign_cpus);
    results
        .measurements
        .iter()
        .map(|run| run.observed.foreign_cpus)
        .chain(paced)
        .chain(overloaded)
        .collect()
}

/// Returns one line on all disturbed runs. The JSON has the details.
fn disturbance(foreign_cpus: &[f64]) -> Option<String> {
    let disturbed: Vec<f64> =
        foreign_cpus.iter().copied().filter(|cpus| *cpus > DISTURBED).collect();
    let spread = MedianRange::of(&disturbed)?;
    Some(format!(
        "{} of {} runs were disturbed: other processes used {:.2} CPUs (median; maximum {:.2})",
        disturbed.len(),
        foreign_cpus.len(),
        spread.median,
        spread.max
    ))
}

fn progress_line(run_name: &str, measurement: &Measurement) -> String {
    let observed = &measurement.observed;
    let rate = observed.rate_per_second.unwrap_or(f64::NAN);
    let cost = observed.cpu_seconds() * 1e6 / observed.requests.max(1) as f64;
    format!(
        "{run_name}: {rate:.0} requests/s, {cost:.2} µs each, {:.2} CPUs used by others",
        observed.foreign_cpus
    )
}

fn pause_after(case: &BenchCase) -> Duration {
    match case.load {
        CaseLoad::Closed { transport: CaseTransport::NewConnection, .. } => PAUSE_FOR_PORTS,
        _ => PAUSE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_is_first_once_and_none_is_omitted() {
        let firsts: Vec<BenchTool> =
            (0..BenchTool::ALL.len()).map(|round| tool_order(round)[0]).collect();
        assert_eq!(firsts, BenchTool::ALL);
        let mut third = tool_order(3);
        third.sort();
        assert_eq!(third, BenchTool::ALL);
        assert_eq!(tool_order(BenchTool::ALL.len()), tool_order(0));
    }

    #[test]
    fn disturbed_runs_are_summarized_in_one_line() {
        assert_eq!(disturbance(&[0.0, 0.1]), None);
        let line = disturbance(&[0.0, 0.5, 0.7]).unwrap();
        assert!(
            line.starts_with("2 of 3 runs were disturbed: other processes used 0.60 CPUs"),
            "{line}"
        );
    }
}
