//! The overload case: an open loop with an offered load that exceeds the capacity of
//! client and server together.
//!
//! The joint limit is measured first: the throughput of a closed loop with 64 connections. Then
//! each round offers [`FACTORS`] times as much, in turn over 64 connections (`-c 64`) and without a
//! limit of connections. The throughput, the peak of connections and the verdict are brunt's own
//! figures. They are compared with nginx's count, as in all cases.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

use crate::cases::{CONNECTIONS, SMALL};
use crate::check::{BenchVerdict, Bound, verdict};
use crate::maths::{MedianRange, median, ratios_within_rounds};
use crate::measure::Stand;
use crate::output;
use crate::report::{grouped, ratio};
use crate::table;
use crate::tools::BenchTool;

/// Ratios of the offered load to the joint limit.
pub const FACTORS: [f64; 2] = [1.3, 2.0];
/// Minimum ratio of the throughput without `-c` to that with `-c 64`.
pub const THROUGHPUT_TARGET: f64 = 0.9;
/// Maximum ratio of the number of connections to that at the joint limit.
pub const CONNECTIONS_TARGET: f64 = 4.0;

/// Pause between two runs.
const PAUSE: Duration = Duration::from_millis(300);
/// Maximum time of a run in addition to its load.
const PATIENCE: Duration = Duration::from_secs(20);

/// Connections of an offered load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverloadConnections {
    Capped,
    Uncapped,
}

impl OverloadConnections {
    const ALL: [Self; 2] = [Self::Capped, Self::Uncapped];

    fn name(self) -> &'static str {
        match self {
            Self::Capped => "-c 64",
            Self::Uncapped => "without -c",
        }
    }
}

/// One run of the overload case.
#[derive(Clone, Debug, Serialize)]
pub struct OverloadRun {
    pub contender: OverloadConnections,
    pub factor: f64,
    pub round: usize,
    /// Arrivals per second that were offered.
    pub offered: f64,
    pub throughput_per_second: f64,
    /// Greatest number of connections open at the end of an interval.
    pub connections: u64,
    /// `ok`, `limited` or `invalid`.
    pub verdict: String,
    /// Causes that limited the generator, by brunt's verdict.
    pub causes: Vec<String>,
    /// CPU time of all other processes on the machine, in CPUs.
    pub foreign_cpus: f64,
}

/// Runs the case. Failed runs become notes.
pub fn run(stand: &Stand, rounds: usize, notes: &mut Vec<String>) -> Result<Vec<OverloadRun>> {
    let mut runs = Vec::new();
    for round in 0..rounds {
        // Without a joint limit, this round has no loads.
        let Some(limit) = value_or_note("overload, joint limit", joint_limit(stand), notes) else {
            continue;
        };
        for factor in FACTORS {
            let mut contenders = OverloadConnections::ALL;
            // Neither contender is always first.
            contenders.rotate_left(round % OverloadConnections::ALL.len());
            for contender in contenders {
                stand.interrupt.check()?;
                let name =
                    format!("overload × {factor}, {}, round {}", contender.name(), round + 1);
                let turn = Turn { contender, factor, round };
                runs.extend(value_or_note(
                    &name,
                    overload(stand, turn, (limit * factor).round()),
                    notes,
                ));
                stand.interrupt.pause(PAUSE)?;
            }
        }
    }
    Ok(runs)
}

/// Returns the value of a run; a failed run becomes a note.
fn value_or_note<T>(name: &str, result: Result<T>, notes: &mut Vec<String>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let text = format!("{name}: {error:#}");
            output::progress(&text);
            notes.push(text);
            None
        }
    }
}

/// Measures the requests per second over 64 connections of a closed loop.
fn joint_limit(stand: &Stand) -> Result<f64> {
    let (result, _) = brunt(stand, &format!("-c {CONNECTIONS}"))?;
    result["throughput_per_second"]
        .as_f64()
        .filter(|rate| *rate > 0.0)
        .context("no throughput measured")
}

/// A run in the order of the rounds.
#[derive(Clone, Copy)]
struct Turn {
    contender: OverloadConnections,
    factor: f64,
    round: usize,
}

fn overload(stand: &Stand, turn: Turn, offered: f64) -> Result<OverloadRun> {
    let Turn { contender, factor, round } = turn;
    let cap = if contender == OverloadConnections::Capped {
        format!("-c {CONNECTIONS} ")
    } else {
        String::new()
    };
    let (result, foreign_cpus) = brunt(stand, &format!("{cap}-r {offered}"))?;
    let causes = result["verdict"]["causes"].as_array().into_iter().flatten();
    let measured = OverloadRun {
        contender,
        factor,
        round,
        offered,
        throughput_per_second: result["throughput_per_second"].as_f64().context("no throughput")?,
        connections: result["connections"]["peak"].as_u64().context("no connections")?,
        verdict: result["verdict"]["state"].as_str().unwrap_or_default().to_owned(),
        causes: causes.filter_map(|cause| Some(cause["limit"].as_str()?.to_owned())).collect(),
        foreign_cpus,
    };
    output::progress(&format!(
        "overload × {factor}, {}, round {}: {:.0} of {offered:.0} requests/s, {} connections, {} {:?}",
        contender.name(),
        round + 1,
        measured.throughput_per_second,
        measured.connections,
        measured.verdict,
        measured.causes
    ));
    Ok(measured)
}

/// Runs brunt. Returns its result, and the usage of the machine by other
/// processes meanwhile, in CPUs.
fn brunt(stand: &Stand, load: &str) -> Result<(Value, f64)> {
    let program = stand.toolbox.path(BenchTool::Brunt).context("brunt not found")?;
    let result = stand.result_file();
    let mut command = Command::new(program);
    let words =
        format!("{} --threads 1 --quiet -d {}s {load}", stand.server.url(SMALL), stand.seconds);
    command.args(words.split_whitespace()).arg("-o").arg(format!("json={}", result.display()));
    let seconds = stand.seconds as f64;
    let limit = Duration::from_secs(stand.seconds) + PATIENCE;
    let (observed, _) = stand.observe(BenchTool::Brunt, &mut command, seconds, limit)?;
    Ok((serde_json::from_str(&fs::read_to_string(&result)?)?, observed.foreign_cpus))
}

fn runs_of(
    runs: &[OverloadRun],
    contender: OverloadConnections,
    factor: f64,
) -> impl Iterator<Item = &OverloadRun> {
    runs.iter().filter(move |run| run.contender == contender && run.factor == factor)
}

/// Ratio of the throughput without `-c` to that with it, within rounds.
fn throughput_ratio(runs: &[OverloadRun], factor: f64) -> Option<MedianRange> {
    let values = throughput_by_round(runs, OverloadConnections::Uncapped, factor);
    let references = throughput_by_round(runs, OverloadConnections::Capped, factor);
    MedianRange::of(&ratios_within_rounds(&values, &references))
}

fn throughput_by_round(
    runs: &[OverloadRun],
    contender: OverloadConnections,
    factor: f64,
) -> Vec<(usize, f64)> {
    runs_of(runs, contender, factor).map(|run| (run.round, run.throughput_per_second)).collect()
}

/// Ratio of the greatest number of connections without `-c` to the 64 of the joint limit: the
/// median of the rounds.
fn connections_ratio(runs: &[OverloadRun], factor: f64) -> Option<f64> {
    let connections: Vec<f64> = runs_of(runs, OverloadConnections::Uncapped, factor)
        .map(|run| run.connections as f64)
        .collect();
    Some(median(&connections)? / f64::from(CONNECTIONS))
}

/// Share of the runs without `-c` with the verdict that the generator was the limit.
fn limited_share(runs: &[OverloadRun], factor: f64) -> Option<f64> {
    let limited = runs_of(runs, OverloadConnections::Uncapped, factor)
        .filter(|run| run.verdict == "limited")
        .count();
    let all = runs_of(runs, OverloadConnections::Uncapped, factor).count();
    (all > 0).then(|| limited as f64 / all as f64)
}

pub fn verdicts(runs: &[OverloadRun]) -> Vec<BenchVerdict> {
    FACTORS.into_iter().flat_map(|factor| verdicts_at(runs, factor)).collect()
}

fn verdicts_at(runs: &[OverloadRun], factor: f64) -> [BenchVerdict; 3] {
    let throughput = throughput_ratio(runs, factor).map(|ratio| ratio.median);
    let names = if factor == FACTORS[0] { NAMES[0] } else { NAMES[1] };
    [
        verdict("overload", names[0], throughput, Bound::AtLeast(THROUGHPUT_TARGET)),
        verdict(
            "overload",
            names[1],
            connections_ratio(runs, factor),
            Bound::AtMost(CONNECTIONS_TARGET),
        ),
        verdict("overload", names[2], limited_share(runs, factor), Bound::AtLeast(1.0)),
    ]
}

/// Names of the figures that have targets, by factor.
const NAMES: [[&str; 3]; 2] = [
    [
        "throughput ÷ that of -c 64, × 1.3 offered",
        "connections ÷ 64, × 1.3 offered",
        "LIMITED runs, × 1.3 offered",
    ],
    [
        "throughput ÷ that of -c 64, × 2 offered",
        "connections ÷ 64, × 2 offered",
        "LIMITED runs, × 2 offered",
    ],
];

const EXPLANATION: &str = "\
The joint limit is the throughput of a closed loop with 64 connections, measured in each round. Offered load is a multiple \
of it, as a Poisson process. The ratio is that of two runs of one round, in alternating order.\n\n";

pub fn section(runs: &[OverloadRun]) -> String {
    if runs.is_empty() {
        return "Not measured.\n".to_owned();
    }
    let headings =
        ["offered, over", "requests/s", "connections", "requests/s × -c 64", "LIMITED by"];
    let rows = FACTORS
        .iter()
        .flat_map(|factor| OverloadConnections::ALL.map(|contender| row(runs, contender, *factor)));
    EXPLANATION.to_owned() + &table::render(&headings, &rows.collect::<Vec<_>>())
}

fn row(runs: &[OverloadRun], contender: OverloadConnections, factor: f64) -> Vec<String> {
    let mut causes: Vec<&str> =
        runs_of(runs, contender, factor).flat_map(|run| &run.causes).map(String::as_str).collect();
    causes.sort_unstable();
    causes.dedup();
    let ratio_to_capped = if contender == OverloadConnections::Uncapped {
        throughput_ratio(runs, factor)
    } else {
        None
    };
    vec![
        format!("× {factor}, {}", contender.name()),
        median_text(runs, contender, factor, |run| run.throughput_per_second),
        median_text(runs, contender, factor, |run| run.connections as f64),
        ratio(ratio_to_capped),
        causes.join(", "),
    ]
}

fn median_text(
    runs: &[OverloadRun],
    contender: OverloadConnections,
    factor: f64,
    value: fn(&OverloadRun) -> f64,
) -> String {
    let values: Vec<f64> = runs_of(runs, contender, factor).map(value).collect();
    median(&values).map_or("–".to_owned(), grouped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(
        contender: OverloadConnections,
        round: usize,
        throughput: f64,
        connections: u64,
    ) -> OverloadRun {
        OverloadRun {
            contender,
            factor: 1.3,
            round,
            offered: 130_000.0,
            throughput_per_second: throughput,
            connections,
            verdict: "limited".to_owned(),
            causes: vec!["worker".to_owned()],
            foreign_cpus: 0.0,
        }
    }

    #[test]
    fn throughput_is_compared_within_rounds_and_connections_with_those_of_the_closed_loop() {
        let runs = [
            run(OverloadConnections::Capped, 0, 100_000.0, 64),
            run(OverloadConnections::Uncapped, 0, 95_000.0, 128),
            run(OverloadConnections::Uncapped, 1, 40_000.0, 320),
            run(OverloadConnections::Capped, 1, 50_000.0, 64),
        ];
        let met: Vec<_> = verdicts(&runs).into_iter().map(|v| (v.measured, v.met)).collect();
        assert_eq!(met[0], (Some(0.875), false));
        assert_eq!(met[1..3], [(Some(3.5), true), (Some(1.0), true)]);
        assert_eq!(met[3], (None, false));
        let page = section(&runs);
        assert!(page.contains("× 1.3, without -c") && page.contains("worker"), "{page}");
    }
}
