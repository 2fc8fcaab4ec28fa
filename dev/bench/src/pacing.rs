//! The pacing case: the lag of requests, and the spacing of their arrivals at the server.
//!
//! Each of [`PACES`] is run by brunt, by brunt with `--precise` and by the floor, interleaved over
//! the rounds, each run against a new lab. Lag is the tool's own figure; the lab counts the
//! arrivals. Other tools are not measured here. [`figures`], [`targets`] and [`page`] build the
//! rows, verdicts and tables.

pub mod figures;
pub mod page;
pub mod targets;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::account::{Account, Lag};
use crate::cases::{CONNECTIONS, PACES, PacingLoad, SMALL};
use crate::child;
use crate::lab::{BenchLab, Count};
use crate::machine;
use crate::measure::{Cpu, Stand, expect_measured};
use crate::output;
use crate::tools::BenchTool;

/// Pause between two runs.
const PAUSE: Duration = Duration::from_millis(300);
/// Maximum time of a run in addition to its load, in seconds.
const PATIENCE: u64 = 20;

/// Contender of the pacing case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacingContender {
    Brunt,
    BruntPrecise,
    Floor,
}

impl PacingContender {
    pub const ALL: [Self; 3] = [Self::Brunt, Self::BruntPrecise, Self::Floor];

    pub fn name(self) -> &'static str {
        match self {
            Self::Brunt => "brunt",
            Self::BruntPrecise => "brunt --precise",
            Self::Floor => "floor",
        }
    }

    fn tool(self) -> BenchTool {
        match self {
            Self::Brunt | Self::BruntPrecise => BenchTool::Brunt,
            Self::Floor => BenchTool::Floor,
        }
    }
}

/// One run of one pace.
#[derive(Clone, Debug, Serialize)]
pub struct PacingRun {
    pub pace: &'static str,
    pub contender: PacingContender,
    pub round: usize,
    /// Requests by the lab's count.
    pub requests: u64,
    /// Rate between the first and the last arrival at the lab.
    pub rate_per_second: Option<f64>,
    /// Variance over mean of the arrivals in bins of 1 ms.
    pub dispersion: Option<f64>,
    pub lag_seconds: Option<Lag>,
    /// CPU time of all other processes on the machine, in CPUs.
    pub foreign_cpus: f64,
    /// Reason why brunt ignored `--precise`, in its own words.
    pub not_precise: Option<String>,
    pub complaint: Option<String>,
}

/// A run in the order of the rounds.
#[derive(Clone, Copy, Debug)]
struct Turn {
    pace: PacingLoad,
    contender: PacingContender,
    round: usize,
}

/// Runs the case. Failed runs become notes.
pub fn run(stand: &Stand, rounds: usize, notes: &mut Vec<String>) -> Result<Vec<PacingRun>> {
    let Some(lab) = stand.toolbox.lab() else {
        notes.push(
            "pacing: brunt-lab not found; build it, or give its path with --lab PATH".to_owned(),
        );
        return Ok(Vec::new());
    };
    let mut runs = Vec::new();
    for turn in turns(rounds) {
        let Some(result) = turn.measure(stand, &lab) else { continue };
        stand.interrupt.check()?;
        runs.extend(turn.report(result, notes));
        stand.interrupt.pause(PAUSE)?;
    }
    Ok(runs)
}

/// Returns the order of the runs: rounds outermost, contenders innermost. The order of contenders
/// rotates by one each round.
fn turns(rounds: usize) -> impl Iterator<Item = Turn> {
    (0..rounds).flat_map(turns_of_round)
}

fn turns_of_round(round: usize) -> impl Iterator<Item = Turn> {
    let mut contenders = PacingContender::ALL;
    contenders.rotate_left(round % PacingContender::ALL.len());
    PACES
        .into_iter()
        .flat_map(move |pace| contenders.map(|contender| Turn { pace, contender, round }))
}

impl Turn {
    /// Measures a run; `None` if the contender is not installed.
    fn measure(self, stand: &Stand, lab: &Path) -> Option<Result<PacingRun>> {
        let program = stand.toolbox.path(self.contender.tool())?;
        Some(self.measure_with(program, stand, lab))
    }

    fn measure_with(self, program: &Path, stand: &Stand, lab: &Path) -> Result<PacingRun> {
        let result = stand.result_file();
        // A result of an earlier run must not be read.
        let _ = fs::remove_file(&result);
        let lab = start_lab(stand, lab)?;
        let mut command = Command::new(program);
        command.args(self.words(&lab.address.to_string(), stand.seconds));
        if self.contender.tool() == BenchTool::Brunt {
            command.arg("-o").arg(format!("json={}", result.display()));
        }
        let before = Cpu::read(lab.id())?;
        let limit = Duration::from_secs(stand.seconds + PATIENCE);
        let finished = child::run(&mut command, limit, &stand.interrupt, |_| Ok(()))?;
        let foreign_cpus = Cpu::read(lab.id())?.foreign_since(&before, &finished);
        expect_measured(self.contender.tool(), &finished)?;
        let account = Account::read(self.contender.tool(), &finished.output, &result);
        Ok(self.run_of(account, lab.count()?, foreign_cpus))
    }

    fn words(self, address: &str, seconds: u64) -> Vec<String> {
        let PacingLoad { arrivals, rate, .. } = self.pace;
        let arrivals = arrivals.name();
        let load = format!(
            "--threads 1 --quiet -c {CONNECTIONS} -d {seconds}s -r {rate} --arrivals {arrivals}"
        );
        let line = match self.contender {
            PacingContender::Brunt => format!("http://{address}{} {load}", SMALL.path),
            PacingContender::BruntPrecise => {
                format!("http://{address}{} {load} --precise", SMALL.path)
            }
            PacingContender::Floor => {
                format!("open {address} {rate} {seconds} {CONNECTIONS} {arrivals}")
            }
        };
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn run_of(self, account: Account, count: Count, foreign_cpus: f64) -> PacingRun {
        let complaint = account.complaint.clone().or_else(|| disagreement(&account, &count));
        PacingRun {
            pace: self.pace.name,
            contender: self.contender,
            round: self.round,
            requests: count.requests,
            rate_per_second: count.rate_per_second,
            dispersion: count.dispersion,
            lag_seconds: account.lag,
            foreign_cpus,
            not_precise: account.not_precise,
            complaint,
        }
    }

    /// Prints the result of a run, and notes an error or a complaint.
    fn report(self, result: Result<PacingRun>, notes: &mut Vec<String>) -> Option<PacingRun> {
        let name =
            format!("{}, {}, round {}", self.pace.name, self.contender.name(), self.round + 1);
        let (line, run) = match result {
            Ok(run) => (progress(&run), Some(run)),
            Err(error) => (format!("{error:#}"), None),
        };
        output::progress(&format!("{name}: {line}"));
        let note = run.as_ref().map_or(Some(&line), |run| run.complaint.as_ref());
        notes.extend(note.map(|words| format!("{name}: {words}")));
        run
    }
}

fn start_lab(stand: &Stand, program: &Path) -> Result<BenchLab> {
    let stats = stand.scratch.path().join("lab.json");
    if !stand.pinned {
        return BenchLab::start(program, &["--record"], &stats, stand.seconds + 2 * PATIENCE);
    }
    // A child inherits the CPU to which its parent is pinned at its start.
    machine::pin_to(0)?;
    let lab = BenchLab::start(program, &["--record"], &stats, stand.seconds + 2 * PATIENCE);
    machine::pin_to(1)?;
    lab
}

/// Returns a complaint if the kernel did not stamp every counted request, or if the tool counted
/// another number of replies.
fn disagreement(account: &Account, count: &Count) -> Option<String> {
    if count.unstamped > 0 {
        return Some(format!(
            "the kernel did not stamp {} of {} requests",
            count.unstamped, count.requests
        ));
    }
    let completed = account.completed?;
    (completed != count.requests).then(|| {
        format!("the tool reported {completed} requests, the lab counted {}", count.requests)
    })
}

fn progress(run: &PacingRun) -> String {
    let lag = run.lag_seconds.map_or(f64::NAN, |lag| lag.p99 * 1e6);
    let dispersion = run.dispersion.unwrap_or(f64::NAN);
    format!(
        "variance ÷ mean {dispersion:.4}, lag p99 {lag:.1} µs, {:.2} CPUs used by others",
        run.foreign_cpus
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_run_once_per_round_in_changing_order() {
        let all: Vec<Turn> = turns(3).collect();
        assert_eq!(all.len(), 3 * PACES.len() * 3);
        let firsts: Vec<PacingContender> =
            all.iter().step_by(3 * PACES.len()).map(|turn| turn.contender).collect();
        assert_eq!(firsts, PacingContender::ALL);
        assert!(all.chunks(3).all(|group| group.iter().all(|turn| turn.pace == group[0].pace)));
    }

    #[test]
    fn contenders_get_the_same_load() {
        let line = |contender| {
            Turn { pace: PACES[4], contender, round: 0 }.words("127.0.0.1:80", 7).join(" ")
        };
        let load = "--threads 1 --quiet -c 64 -d 7s -r 10000 --arrivals poisson";
        assert_eq!(line(PacingContender::Brunt), format!("http://127.0.0.1:80/10b {load}"));
        assert_eq!(
            line(PacingContender::BruntPrecise),
            format!("http://127.0.0.1:80/10b {load} --precise")
        );
        assert_eq!(line(PacingContender::Floor), "open 127.0.0.1:80 10000 7 64 poisson");
    }

    #[test]
    fn differing_or_unstamped_counts_are_reported() {
        let count = Count { requests: 4000, rate_per_second: None, dispersion: None, unstamped: 0 };
        let reported = |completed| Account { completed: Some(completed), ..Account::default() };
        assert_eq!(disagreement(&reported(4000), &count), None);
        assert!(disagreement(&reported(3999), &count).is_some_and(|words| words.contains("3999")));
        let unstamped = Count { unstamped: 1, ..count };
        assert!(
            disagreement(&reported(4000), &unstamped).is_some_and(|words| words.contains("stamp"))
        );
    }
}
