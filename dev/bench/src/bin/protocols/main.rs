//! What HTTP/3, gRPC and WebSocket cost beside oha, ghz and k6, and how late each protocol is in an open loop beside HTTP/1.1:
//! `brunt-bench-protocols --brunt PATH --lab PATH [--oha PATH] [--ghz PATH] [--k6 PATH]`.
//!
//! Two sides a row ([`rows`]), run in turn, round after round, each against a server of its own ([`servers`]). Requests are counted by
//! the lab, or, where the server is caddy, by the tool itself; CPU time is the kernel's of the whole process.

mod rows;
mod servers;

use anyhow::{Context, Result, ensure};
use brunt_bench::account::Account;
use brunt_bench::child::{self, Finished, Interrupt};
use brunt_bench::machine;
use brunt_bench::maths::{Spread, ratios_within_rounds};
use brunt_bench::output;
use brunt_bench::table;
use brunt_bench::tools::{self, Tool};
use clap::Parser;
use rows::{Figure, Program, Row, Side};
use serde_json::{Value, json};
use servers::Running;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// How long a run may take beyond its load: oha stays for 30 s behind a load over HTTP/3, until its connections are idle for too long.
const PATIENCE: Duration = Duration::from_mins(1);
/// Connections that are held open in the memory case, and in the run that it is compared with.
const IDLE: [u64; 2] = [100, 15_000];
/// Client memory per idle WebSocket, at most, in bytes.
const IDLE_BYTES_TARGET: f64 = 6000.0;

/// What HTTP/3, gRPC and WebSocket cost, and how late they are.
#[derive(Debug, Parser)]
pub struct Options {
    /// The brunt to measure.
    #[arg(long)]
    brunt: PathBuf,
    /// The brunt-lab that answers.
    #[arg(long)]
    lab: PathBuf,
    /// The oha to compare with; else the one in PATH.
    #[arg(long)]
    oha: Option<PathBuf>,
    /// The ghz to compare with; else the one in PATH.
    #[arg(long)]
    ghz: Option<PathBuf>,
    /// The k6 to compare with; else the one in PATH.
    #[arg(long)]
    k6: Option<PathBuf>,
    /// How often each side of a row of CPU time is run.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How often each side of a row of lag is run.
    #[arg(long, default_value_t = 15)]
    lag_rounds: usize,
    /// How long each run is.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Only rows whose name contains this text.
    #[arg(long, default_value = "")]
    only: String,
    /// The page, in Markdown.
    #[arg(long)]
    out: Option<PathBuf>,
    /// All figures.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Exit code 1 where a target is missed.
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    output::exit_code("brunt-bench-protocols", run(&Options::parse()))
}

fn run(options: &Options) -> Result<ExitCode> {
    machine::raise_file_limit()?;
    let folder = tempfile::tempdir()?;
    let stand = Stand { options, scratch: folder.path(), interrupt: Interrupt::install()? };
    stand.furnish()?;
    let mut told = Vec::new();
    for row in rows::rows().filter(|row| row.name.contains(&options.only)) {
        if [&row.reference, &row.ours].iter().any(|side| stand.program(side.program).is_none()) {
            output::progress(&format!("SKIPPED {}: the other tool is not there", row.name));
            continue;
        }
        let measured = stand.in_turn(&row);
        stand.interrupt.check()?;
        let one = measured.map_or_else(|error| failed(&row, &error), |sides| result(&row, &sides));
        output::progress(&one.line.join("  "));
        told.push(one);
    }
    if "memory per idle WebSocket".contains(&options.only) {
        told.push(stand.idle()?);
    }
    write(options, &told)?;
    let missed: Vec<&String> = told.iter().filter_map(|one| one.missed.as_ref()).collect();
    for line in &missed {
        output::progress(&format!("missed: {line}"));
    }
    Ok(if options.check && !missed.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn write(options: &Options, told: &[Told]) -> Result<()> {
    let lines: Vec<Vec<String>> = told.iter().map(|one| one.line.clone()).collect();
    let page =
        table::render(&["case", "unit", "reference", "brunt", "ratio", "smallest", "largest", "at most"], &lines);
    output::result(&page);
    if let Some(file) = &options.out {
        fs::write(file, &page).with_context(|| format!("writing {}", file.display()))?;
    }
    if let Some(file) = &options.json {
        let all: Vec<&Value> = told.iter().map(|one| &one.figures).collect();
        fs::write(file, serde_json::to_string_pretty(&all)? + "\n")?;
    }
    Ok(())
}

/// What every run needs.
struct Stand<'a> {
    options: &'a Options,
    scratch: &'a Path,
    interrupt: Interrupt,
}

/// What one run came to.
struct Measured {
    requests: u64,
    finished: Finished,
    account: Account,
}

impl Measured {
    fn figure(&self, figure: Figure) -> Result<f64> {
        Ok(match figure {
            Figure::CpuMicroseconds => {
                let usage = self.finished.usage;
                (usage.user + usage.system).as_secs_f64() * 1e6 / self.requests as f64
            }
            Figure::LagMicroseconds => self.account.lag.context("brunt told no lag")?.p99 * 1e6,
        })
    }
}

impl Stand<'_> {
    fn furnish(&self) -> Result<()> {
        rows::FILES.iter().try_for_each(|(name, text)| Ok(fs::write(self.scratch.join(name), text)?))
    }

    fn program(&self, program: Program) -> Option<PathBuf> {
        let Options { brunt, oha, ghz, k6, .. } = self.options;
        let or_in_path = |given: &Option<PathBuf>, name: &str| given.clone().or_else(|| tools::in_path(name));
        match program {
            Program::Brunt => Some(brunt.clone()),
            Program::Oha => or_in_path(oha, "oha"),
            Program::Ghz => or_in_path(ghz, "ghz"),
            Program::K6 => or_in_path(k6, "k6"),
        }
    }

    /// Both in turn, each first in every other round: their figures, by round.
    fn in_turn(&self, row: &Row) -> Result<[Vec<(usize, f64)>; 2]> {
        let rounds = match row.figure {
            Figure::CpuMicroseconds => self.options.rounds,
            Figure::LagMicroseconds => self.options.lag_rounds,
        };
        let mut sides = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for turn in 0..2 {
                let ours = (round + turn) % 2 == 1;
                let side = if ours { &row.ours } else { &row.reference };
                let measured = self.measure(side, self.options.seconds).with_context(|| row.name)?;
                sides[usize::from(ours)].push((round, measured.figure(row.figure)?));
            }
        }
        Ok(sides)
    }

    fn measure(&self, side: &Side, seconds: u64) -> Result<Measured> {
        let result = self.scratch.join("result.json");
        let _ = fs::remove_file(&result);
        let limit = Duration::from_secs(seconds) + PATIENCE;
        let server = Running::start(side.server, &self.options.lab, self.scratch, limit, &self.interrupt)?;
        let address = server.address().to_string();
        let fill = |word: &str| word.replace("ADDRESS", &address).replace("SECONDS", &seconds.to_string());
        let mut command = Command::new(self.program(side.program).context("the tool is gone")?);
        command.args(side.words.split_whitespace().map(fill));
        command.current_dir(self.scratch).env("HOME", self.scratch).env("BRUNT_BENCH_ADDRESS", &address);
        command.env("BRUNT_BENCH_SECONDS", seconds.to_string());
        let finished = child::run(&mut command, limit, &self.interrupt, |_| Ok(()))?;
        self.interrupt.check()?;
        // What brunt calls doubtful it has measured.
        let ended = matches!(finished.code, Some(0 | 5));
        ensure!(ended, "{command:?} ended with {:?}: {}", finished.code, finished.output);
        let account = match side.program {
            Program::Brunt => Account::of(Tool::Brunt, &finished.output, &result),
            Program::Oha => Account { completed: oha_completed(&finished.output), ..Account::default() },
            Program::Ghz | Program::K6 => Account::default(),
        };
        if let Some(complaint) = &account.complaint {
            output::progress(&format!("{}: {complaint}", side.words));
        }
        let requests = server.requests()?.or(account.completed).context("nobody counted the requests")?;
        ensure!(requests > 100, "{command:?} made {requests} requests only: {}", finished.output);
        Ok(Measured { requests, finished, account })
    }

    /// Memory per idle WebSocket: of many less that of a few.
    fn idle(&self) -> Result<Told> {
        let mut peaks = [0.0; 2];
        for (peak, connections) in peaks.iter_mut().zip(IDLE) {
            let words = rows::IDLE_WORDS.replace("CONNECTIONS", &connections.to_string());
            let side = Side { program: Program::Brunt, server: rows::PLAIN, words: words.leak() };
            let measured = self.measure(&side, self.options.seconds.max(10))?;
            *peak = measured.finished.usage.peak_rss_bytes.max(measured.account.peak_rss_bytes.unwrap_or(0)) as f64;
        }
        let bytes = (peaks[1] - peaks[0]) / (IDLE[1] - IDLE[0]) as f64;
        let name = "memory per idle WebSocket";
        let target = IDLE_BYTES_TARGET;
        Ok(Told {
            line: [name, "bytes", "", &format!("{bytes:.0}"), "", "", "", &format!("{target:.0}")]
                .map(str::to_owned)
                .to_vec(),
            figures: json!({ "name": name, "bytes": bytes, "at_most": target }),
            missed: (bytes > target).then(|| format!("{name}: {bytes:.0} bytes, not {target:.0}")),
        })
    }
}

/// oha's own count: of a page that caddy sends nobody else has one.
fn oha_completed(output: &str) -> Option<u64> {
    let json: Value = serde_json::from_str(output.get(output.find('{')?..=output.rfind('}')?)?).ok()?;
    json["statusCodeDistribution"].as_object()?.values().map(Value::as_u64).sum()
}

/// A row of the page, its figures, and what was missed.
struct Told {
    line: Vec<String>,
    figures: Value,
    missed: Option<String>,
}

/// A row of which a side cannot be measured; the others are.
fn failed(row: &Row, error: &anyhow::Error) -> Told {
    let why = format!("{}: {error:#}", row.name);
    Told {
        line: vec![row.name.to_owned(), row.figure.unit().to_owned()],
        figures: json!({ "name": row.name, "error": &why }),
        missed: Some(why),
    }
}

fn result(row: &Row, [reference, ours]: &[Vec<(usize, f64)>; 2]) -> Told {
    let median = |values: &[(usize, f64)]| {
        Spread::of(&values.iter().map(|value| value.1).collect::<Vec<_>>()).map_or(f64::NAN, |spread| spread.median)
    };
    let none = Spread { median: f64::NAN, min: f64::NAN, max: f64::NAN };
    let ratio = Spread::of(&ratios_within_rounds(ours, reference)).unwrap_or(none);
    let cell = |value: f64| format!("{value:.2}");
    let most = row.at_most.map_or_else(String::new, |most| format!("{most:.2}"));
    let line = [row.name, row.figure.unit(), &cell(median(reference)), &cell(median(ours)), &cell(ratio.median)];
    let line = line.into_iter().chain([&*cell(ratio.min), &cell(ratio.max), &most]).map(str::to_owned).collect();
    let missed = row.at_most.filter(|most| ratio.median.is_nan() || ratio.median > *most);
    Told {
        line,
        figures: json!({
            "name": row.name, "unit": row.figure.unit(), "reference": reference, "brunt": ours, "ratio": ratio,
            "ratio_at_most": row.at_most,
        }),
        missed: missed.map(|most| format!("{}: {:.3}, not {most:.3}", row.name, ratio.median)),
    }
}
