//! Measures the cost of brunt's drop-ins in comparison with the original
//! tools: `brunt-bench-drop-ins --brunt PATH`.
//!
//! The original tool and brunt get the same command line, in turn, round after round, against the
//! suite's nginx. nginx counts the requests; the kernel accounts for the CPU time of the whole
//! process. The rate is requests divided by the time from start to end. `dev/tests/it/compat` tests
//! the output of the drop-ins.

use anyhow::{Context, Result, ensure};
use brunt_bench::cases::SMALL;
use brunt_bench::child::{self, InterruptFlag};
use brunt_bench::machine;
use brunt_bench::maths::{median_of_rounds, median_ratio};
use brunt_bench::nginx::BenchNginx;
use brunt_bench::output;
use brunt_bench::table;
use brunt_bench::tools;
use clap::Parser;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// The original httperf sometimes waits forever for a reply that it missed. It is then run again.
const PATIENCE: Duration = Duration::from_secs(40);
const TRIES: usize = 3;

/// Measure brunt's drop-ins in comparison with the original tools.
#[derive(Debug, Parser)]
struct Options {
    /// The brunt to measure.
    #[arg(long)]
    brunt: PathBuf,
    /// Only the rows of this tool.
    #[arg(long)]
    only: Option<String>,
    /// How often each is run.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
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

/// A command line, and the targets for brunt as ratios to the original tool.
struct Row {
    name: &'static str,
    tool: &'static str,
    words: &'static str,
    cpu_at_most: Option<f64>,
    rate_at_least: Option<f64>,
}

/// `URL`, `HOST`, `PORT`, `PAGE` and `RC` are placeholders for values that are known
/// once the server runs.
const ROWS: [Row; 7] = [
    Row {
        name: "ab -k -c 64",
        tool: "ab",
        words: "-q -k -c 64 -n 150000 URL",
        cpu_at_most: Some(1.0),
        rate_at_least: Some(1.0),
    },
    Row {
        name: "ab -c 64",
        tool: "ab",
        words: "-q -c 64 -n 40000 URL",
        cpu_at_most: None,
        rate_at_least: None,
    },
    Row {
        name: "siege -b -c 64, keep-alive",
        tool: "siege",
        words: "-R RC -b -c 64 -r 600 URL",
        cpu_at_most: Some(0.2),
        rate_at_least: None,
    },
    Row {
        name: "siege -b -c 64",
        tool: "siege",
        words: "-b -c 64 -r 300 URL",
        cpu_at_most: None,
        rate_at_least: None,
    },
    Row {
        name: "httperf at 2000 connections/s",
        tool: "httperf",
        words: "--hog --timeout 5 --server HOST --port PORT --uri PAGE --rate 2000 --num-conns 8000 --num-calls 1",
        cpu_at_most: Some(0.2),
        rate_at_least: Some(0.98),
    },
    Row {
        name: "httperf at 2000 requests/s, ten a connection",
        tool: "httperf",
        words: "--hog --timeout 5 --server HOST --port PORT --uri PAGE --rate 200 --num-conns 800 --num-calls 10",
        cpu_at_most: Some(0.2),
        rate_at_least: Some(0.98),
    },
    Row {
        name: "httperf at 20000 requests/s, ten a connection",
        tool: "httperf",
        words: "--hog --timeout 5 --server HOST --port PORT --uri PAGE --rate 2000 --num-conns 8000 --num-calls 10",
        cpu_at_most: None,
        rate_at_least: Some(0.98),
    },
];

/// Cost and rate of one run.
#[derive(Clone, Copy)]
struct RunCost {
    microseconds: f64,
    rate: f64,
}

/// The runs of one program: round and figure.
#[derive(Default)]
struct Runs {
    cpu: Vec<(usize, f64)>,
    rate: Vec<(usize, f64)>,
}

fn main() -> ExitCode {
    output::exit_code("brunt-bench-drop-ins", run(&Options::parse()))
}

fn run(options: &Options) -> Result<ExitCode> {
    machine::raise_file_limit()?;
    let interrupt = InterruptFlag::install()?;
    let server = BenchNginx::start(&interrupt)?;
    let scratch = tempfile::tempdir()?;
    let rc = scratch.path().join("siegerc");
    fs::write(
        &rc,
        "protocol = HTTP/1.1\nconnection = keep-alive\njson_output = false\nlogging = false\nparser = false\n",
    )?;
    let mut lines = Vec::new();
    let mut all = Vec::new();
    let mut missed = Vec::new();
    for row in ROWS.iter().filter(|row| options.only.as_deref().is_none_or(|only| only == row.tool))
    {
        let Some(theirs) = tools::in_path(row.tool) else {
            output::progress(&format!("SKIPPED {}: not installed", row.tool));
            continue;
        };
        let stand = Stand { options, server: &server, rc: &rc, interrupt: &interrupt };
        let [real, ours] = in_turn(row, &theirs, &stand)?;
        let (line, figures, complaints) = row_result(row, &real, &ours);
        output::progress(&line.join("  "));
        lines.push(line);
        all.push(figures);
        missed.extend(complaints);
    }
    write(options, &lines, &all)?;
    for line in &missed {
        output::progress(&format!("missed: {line}"));
    }
    Ok(if options.check && !missed.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn write(options: &Options, lines: &[Vec<String>], all: &[Value]) -> Result<()> {
    let headings =
        ["command", "real µs/request", "ours", "ratio", "real requests/s", "ours", "ratio"];
    let page = table::render(&headings, lines);
    output::result(&page);
    if let Some(file) = &options.out {
        fs::write(file, &page).with_context(|| format!("writing {}", file.display()))?;
    }
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string_pretty(all)? + "\n")?;
    }
    Ok(())
}

/// Environment of every run.
struct Stand<'a> {
    options: &'a Options,
    server: &'a BenchNginx,
    /// Configuration file of siege.
    rc: &'a Path,
    interrupt: &'a InterruptFlag,
}

/// Runs both programs in turn. Each is first in every other round.
fn in_turn(row: &Row, theirs: &Path, stand: &Stand) -> Result<[Runs; 2]> {
    let mut sides = [Runs::default(), Runs::default()];
    for round in 0..stand.options.rounds {
        for turn in 0..2 {
            // Each program is first in every other round, so that a drift of
            // the machine cancels out.
            let ours = (round + turn) % 2 == 1;
            let mut command = Command::new(if ours { &stand.options.brunt } else { theirs });
            if ours {
                command.arg(row.tool);
            }
            // Another home directory hides the user's configuration, such as that of siege.
            command
                .args(words(row, stand.server, stand.rc))
                .env("HOME", stand.rc.parent().unwrap_or(stand.rc));
            let RunCost { microseconds, rate } =
                measure(&mut command, stand.server, stand.interrupt)?;
            let runs = &mut sides[usize::from(ours)];
            runs.cpu.push((round, microseconds));
            runs.rate.push((round, rate));
        }
    }
    Ok(sides)
}

fn words(row: &Row, server: &BenchNginx, rc: &Path) -> Vec<String> {
    let placeholders = [
        ("URL", server.url(SMALL)),
        ("HOST", server.address.ip().to_string()),
        ("PORT", server.address.port().to_string()),
        ("PAGE", SMALL.path.to_owned()),
        ("RC", rc.display().to_string()),
    ];
    let mut words = Vec::new();
    for word in row.words.split(' ') {
        let value =
            placeholders.iter().find(|(name, _)| *name == word).map(|(_, value)| value.clone());
        words.push(value.unwrap_or_else(|| word.to_owned()));
    }
    words
}

fn measure(
    command: &mut Command,
    server: &BenchNginx,
    interrupt: &InterruptFlag,
) -> Result<RunCost> {
    let attempt = (0..TRIES).find_map(|_| {
        let before = server.status.read().ok()?.requests;
        let finished = child::run(command, PATIENCE, interrupt, |_| Ok(()));
        finished
            .map_err(|error| output::progress(&format!("{command:?} failed: {error:#}")))
            .ok()
            .zip(Some(before))
    });
    interrupt.check()?;
    let (finished, before) =
        attempt.with_context(|| format!("{command:?} failed {TRIES} times"))?;
    let requests = (server.status.read()?.requests - before) as f64;
    ensure!(
        finished.code == Some(0) && requests > 0.0,
        "{command:?} ended with {:?}: {}",
        finished.code,
        finished.output
    );
    let cpu = finished.usage.user + finished.usage.system;
    Ok(RunCost {
        microseconds: cpu.as_secs_f64() * 1e6 / requests,
        rate: requests / finished.elapsed.as_secs_f64(),
    })
}

/// A row of the page, its figures, and the missed targets.
fn row_result(row: &Row, real: &Runs, ours: &Runs) -> (Vec<String>, Value, Vec<String>) {
    let cpu = median_ratio(&ours.cpu, &real.cpu);
    let rate = median_ratio(&ours.rate, &real.rate);
    let mut missed = Vec::new();
    if let Some(most) = row.cpu_at_most.filter(|most| cpu > *most) {
        missed.push(format!(
            "{}: CPU time per request {cpu:.2} of the original's (target: at most {most})",
            row.name
        ));
    }
    if let Some(least) = row.rate_at_least.filter(|least| rate < *least) {
        missed.push(format!(
            "{}: throughput {rate:.2} of the original's (target: at least {least})",
            row.name
        ));
    }
    let line = vec![
        row.name.to_owned(),
        format!("{:.2}", median_of_rounds(&real.cpu)),
        format!("{:.2}", median_of_rounds(&ours.cpu)),
        format!("{cpu:.2}"),
        format!("{:.0}", median_of_rounds(&real.rate)),
        format!("{:.0}", median_of_rounds(&ours.rate)),
        format!("{rate:.2}"),
    ];
    let figures = json!({
        "name": row.name, "tool": row.tool, "words": row.words,
        "cpu_microseconds_per_request": {"real": real.cpu, "ours": ours.cpu, "ratio": cpu, "ratio_at_most": row.cpu_at_most},
        "requests_per_second": {"real": real.rate, "ours": ours.rate, "ratio": rate, "ratio_at_least": row.rate_at_least},
    });
    (line, figures, missed)
}
