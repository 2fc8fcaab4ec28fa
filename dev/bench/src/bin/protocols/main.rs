//! Measures the cost of HTTP/3, gRPC and WebSocket in comparison with oha, ghz and k6. It also
//! measures the lag of each protocol in an open loop in comparison with HTTP/1.1. Usage:
//! `brunt-bench-protocols --brunt PATH --lab PATH [--oha PATH] [--ghz PATH] [--k6 PATH]`.
//!
//! Each row has two sides ([`rows`]), run in turn, round after round, each against a new server
//! ([`servers`]). The lab counts the requests, or the tool itself if the server is caddy. The
//! kernel accounts for the CPU time of the whole process.

mod rows;
mod servers;

use anyhow::{Context, Result, ensure};
use brunt_bench::account::Account;
use brunt_bench::child::{self, ChildResult, InterruptFlag};
use brunt_bench::machine;
use brunt_bench::maths::{MedianRange, median_of_rounds, ratios_within_rounds};
use brunt_bench::output;
use brunt_bench::table;
use brunt_bench::tools::{self, BenchTool};
use clap::Parser;
use rows::{ComparedFigure, LoadProgram, SideComparison, ToolSetup};
use serde_json::{Value, json};
use servers::Running;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Maximum time of a run in addition to its load. After a load over HTTP/3, oha waits 30 s for the
/// idle timeout of its connections.
const PATIENCE: Duration = Duration::from_mins(1);
/// Numbers of open connections in the memory case: a few for reference, and many.
const IDLE: [u64; 2] = [100, 15_000];
/// Target: maximum client memory per idle WebSocket, in bytes.
const IDLE_BYTES_TARGET: f64 = 6000.0;

/// Measure the cost and the lag of HTTP/3, gRPC and WebSocket.
#[derive(Debug, Parser)]
pub struct ProtocolsOptions {
    /// The brunt to measure.
    #[arg(long)]
    brunt: PathBuf,
    /// The brunt-lab that answers.
    #[arg(long)]
    lab: PathBuf,
    /// The oha to compare with; by default the one in PATH.
    #[arg(long)]
    oha: Option<PathBuf>,
    /// The ghz to compare with; by default the one in PATH.
    #[arg(long)]
    ghz: Option<PathBuf>,
    /// The k6 to compare with; by default the one in PATH.
    #[arg(long)]
    k6: Option<PathBuf>,
    /// Number of runs of each side of a row of CPU time.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Number of runs of each side of a row of lag.
    #[arg(long, default_value_t = 15)]
    lag_rounds: usize,
    /// Length of each run in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Only rows with this text in their names.
    #[arg(long, default_value = "")]
    only: String,
    /// The page, in Markdown.
    #[arg(long)]
    out: Option<PathBuf>,
    /// All figures, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Exit with 1 if a target is missed.
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    output::exit_code("brunt-bench-protocols", run(&ProtocolsOptions::parse()))
}

fn run(options: &ProtocolsOptions) -> Result<ExitCode> {
    machine::raise_file_limit()?;
    let folder = tempfile::tempdir()?;
    let stand = Stand { options, scratch: folder.path(), interrupt: InterruptFlag::install()? };
    stand.write_files()?;
    let mut results = Vec::new();
    for row in rows::rows().filter(|row| row.name.contains(&options.only)) {
        if [&row.reference, &row.ours].iter().any(|side| stand.program(side.program).is_none()) {
            output::progress(&format!("SKIPPED {}: the other tool is not installed", row.name));
            continue;
        }
        let measured = stand.in_turn(&row);
        stand.interrupt.check()?;
        let result =
            measured.map_or_else(|error| failed(&row, &error), |sides| result(&row, &sides));
        output::progress(&result.line.join("  "));
        results.push(result);
    }
    if "memory per idle WebSocket".contains(&options.only) {
        results.push(stand.idle()?);
    }
    write(options, &results)?;
    let missed: Vec<&String> = results.iter().filter_map(|result| result.missed.as_ref()).collect();
    for line in &missed {
        output::progress(&format!("missed: {line}"));
    }
    Ok(if options.check && !missed.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn write(options: &ProtocolsOptions, results: &[RowResult]) -> Result<()> {
    let lines: Vec<Vec<String>> = results.iter().map(|result| result.line.clone()).collect();
    let page = table::render(
        &["case", "unit", "reference", "brunt", "ratio", "smallest", "largest", "at most"],
        &lines,
    );
    output::result(&page);
    if let Some(file) = &options.out {
        fs::write(file, &page).with_context(|| format!("writing {}", file.display()))?;
    }
    if let Some(file) = &options.json {
        let all: Vec<&Value> = results.iter().map(|result| &result.figures).collect();
        fs::write(file, serde_json::to_string_pretty(&all)? + "\n")?;
    }
    Ok(())
}

/// Environment of every run.
struct Stand<'a> {
    options: &'a ProtocolsOptions,
    scratch: &'a Path,
    interrupt: InterruptFlag,
}

/// Result of one run.
struct Measured {
    requests: u64,
    finished: ChildResult,
    account: Account,
}

impl Measured {
    fn figure(&self, figure: ComparedFigure) -> Result<f64> {
        Ok(match figure {
            ComparedFigure::CpuMicroseconds => {
                let usage = self.finished.usage;
                (usage.user + usage.system).as_secs_f64() * 1e6 / self.requests as f64
            }
            ComparedFigure::LagMicroseconds => {
                self.account.lag.context("brunt reported no lag")?.p99 * 1e6
            }
        })
    }
}

impl Stand<'_> {
    fn write_files(&self) -> Result<()> {
        rows::FILES
            .iter()
            .try_for_each(|(name, text)| Ok(fs::write(self.scratch.join(name), text)?))
    }

    fn program(&self, program: LoadProgram) -> Option<PathBuf> {
        let ProtocolsOptions { brunt, oha, ghz, k6, .. } = self.options;
        match program {
            LoadProgram::Brunt => Some(brunt.clone()),
            LoadProgram::Oha => oha.clone().or_else(|| tools::in_path("oha")),
            LoadProgram::Ghz => ghz.clone().or_else(|| tools::in_path("ghz")),
            LoadProgram::K6 => k6.clone().or_else(|| tools::in_path("k6")),
        }
    }

    /// Runs both sides in turn, each first in every other round. Returns their figures, by round.
    fn in_turn(&self, row: &SideComparison) -> Result<[Vec<(usize, f64)>; 2]> {
        let rounds = match row.figure {
            ComparedFigure::CpuMicroseconds => self.options.rounds,
            ComparedFigure::LagMicroseconds => self.options.lag_rounds,
        };
        let mut sides = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for turn in 0..2 {
                let ours = (round + turn) % 2 == 1;
                let side = if ours { &row.ours } else { &row.reference };
                let measured =
                    self.measure(side, self.options.seconds).with_context(|| row.name)?;
                sides[usize::from(ours)].push((round, measured.figure(row.figure)?));
            }
        }
        Ok(sides)
    }

    fn measure(&self, side: &ToolSetup, seconds: u64) -> Result<Measured> {
        let result = self.scratch.join("result.json");
        // A result of an earlier run must not be read.
        let _ = fs::remove_file(&result);
        let limit = Duration::from_secs(seconds) + PATIENCE;
        let server =
            Running::start(side.server, &self.options.lab, self.scratch, limit, &self.interrupt)?;
        let address = server.address().to_string();
        let words =
            side.words.replace("ADDRESS", &address).replace("SECONDS", &seconds.to_string());
        let mut command =
            Command::new(self.program(side.program).context("the tool is not installed")?);
        command.args(words.split_whitespace());
        command
            .current_dir(self.scratch)
            .env("HOME", self.scratch)
            .env("BRUNT_BENCH_ADDRESS", &address);
        command.env("BRUNT_BENCH_SECONDS", seconds.to_string());
        let finished = child::run(&mut command, limit, &self.interrupt, |_| Ok(()))?;
        self.interrupt.check()?;
        // brunt exits with 5 if a consistency check failed; the run is measured nevertheless.
        let has_measured = matches!(finished.code, Some(0 | 5));
        ensure!(has_measured, "{command:?} ended with {:?}: {}", finished.code, finished.output);
        let account = match side.program {
            LoadProgram::Brunt => Account::read(BenchTool::Brunt, &finished.output, &result),
            LoadProgram::Oha => {
                Account { completed: oha_completed(&finished.output), ..Account::default() }
            }
            LoadProgram::Ghz | LoadProgram::K6 => Account::default(),
        };
        if let Some(complaint) = &account.complaint {
            output::progress(&format!("{}: {complaint}", side.words));
        }
        let requests = server
            .requests()?
            .or(account.completed)
            .context("neither the server nor the tool counted the requests")?;
        // The cost of the start would dominate a few requests.
        ensure!(requests > 100, "{command:?} sent only {requests} requests: {}", finished.output);
        Ok(Measured { requests, finished, account })
    }

    /// Measures the memory per idle WebSocket: the difference between many and a few connections.
    fn idle(&self) -> Result<RowResult> {
        let mut peaks = [0.0; 2];
        for (peak, connections) in peaks.iter_mut().zip(IDLE) {
            let words = rows::IDLE_WORDS.replace("CONNECTIONS", &connections.to_string());
            // Leaks a few bytes: the words of all other sides are static.
            let side =
                ToolSetup { program: LoadProgram::Brunt, server: rows::PLAIN, words: words.leak() };
            let measured = self.measure(&side, self.options.seconds.max(10))?;
            // A polled reading may miss the true peak, which brunt reports itself.
            *peak = measured
                .finished
                .usage
                .peak_rss_bytes
                .max(measured.account.peak_rss_bytes.unwrap_or(0)) as f64;
        }
        let bytes = (peaks[1] - peaks[0]) / (IDLE[1] - IDLE[0]) as f64;
        let name = "memory per idle WebSocket";
        let target = IDLE_BYTES_TARGET;
        Ok(RowResult {
            line: [name, "bytes", "", &format!("{bytes:.0}"), "", "", "", &format!("{target:.0}")]
                .map(str::to_owned)
                .to_vec(),
            figures: json!({ "name": name, "bytes": bytes, "at_most": target }),
            missed: (bytes > target).then(|| format!("{name}: {bytes:.0} bytes, not {target:.0}")),
        })
    }
}

/// Returns oha's own count. No other count exists of a page that caddy serves.
fn oha_completed(output: &str) -> Option<u64> {
    let json: Value =
        serde_json::from_str(output.get(output.find('{')?..=output.rfind('}')?)?).ok()?;
    json["statusCodeDistribution"].as_object()?.values().map(Value::as_u64).sum()
}

/// A row of the page, its figures, and its missed target.
struct RowResult {
    line: Vec<String>,
    figures: Value,
    missed: Option<String>,
}

/// Returns a row with an error; the other rows are measured nevertheless.
fn failed(row: &SideComparison, error: &anyhow::Error) -> RowResult {
    let message = format!("{}: {error:#}", row.name);
    RowResult {
        line: vec![row.name.to_owned(), row.figure.unit().to_owned()],
        figures: json!({ "name": row.name, "error": &message }),
        missed: Some(message),
    }
}

fn result(row: &SideComparison, [reference, ours]: &[Vec<(usize, f64)>; 2]) -> RowResult {
    let none = MedianRange { median: f64::NAN, min: f64::NAN, max: f64::NAN };
    let ratio = MedianRange::of(&ratios_within_rounds(ours, reference)).unwrap_or(none);
    let line = vec![
        row.name.to_owned(),
        row.figure.unit().to_owned(),
        cell(median_of_rounds(reference)),
        cell(median_of_rounds(ours)),
        cell(ratio.median),
        cell(ratio.min),
        cell(ratio.max),
        row.at_most.map_or_else(String::new, cell),
    ];
    // A row without figures must not pass.
    let missed = row.at_most.filter(|most| ratio.median.is_nan() || ratio.median > *most);
    RowResult {
        line,
        figures: json!({
            "name": row.name, "unit": row.figure.unit(), "reference": reference, "brunt": ours, "ratio": ratio,
            "ratio_at_most": row.at_most,
        }),
        missed: missed.map(|most| format!("{}: {:.3}, not {most:.3}", row.name, ratio.median)),
    }
}

fn cell(value: f64) -> String {
    format!("{value:.2}")
}
