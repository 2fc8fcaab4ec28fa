//! Measures the cost of a scenario: `brunt-bench-scenarios --brunt PATH
//! [--jmeter HOME] [--k6 PATH]`.
//!
//! There are two scenarios (`dev/bench/scenarios`). The first has three plain steps, and is
//! compared with wrk, which requests the same page. The second has a form, a login with a JSON
//! reply, and an order with the token of that reply. Its users come from a file; it is compared
//! with JMeter and k6. The tools run in turn, round after round, against the suite's nginx. nginx
//! counts the requests; the kernel accounts for the CPU time of the whole process, its start
//! included. It does not test the tools' reports.

use anyhow::{Context, Result, ensure};
use brunt_bench::cases::{CONNECTIONS, SMALL};
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

/// Maximum time of a run in addition to its load: a JVM starts slowly while other programs run.
const PATIENCE: Duration = Duration::from_mins(1);

/// Files of the scenarios. `ADDRESS`, `HOST`, `PORT` and `SECONDS` are placeholders for values that
/// are known once the server runs.
const FILES: [(&str, &str); 5] = [
    ("plain.yaml", include_str!("../../scenarios/plain.yaml")),
    ("shop.yaml", include_str!("../../scenarios/shop.yaml")),
    ("shop.jmx", include_str!("../../scenarios/shop.jmx")),
    ("shop.js", include_str!("../../scenarios/shop.js")),
    ("users.csv", include_str!("../../scenarios/users.csv")),
];

/// Measure the cost of scenarios in comparison with wrk, JMeter and k6.
#[derive(Debug, Parser)]
struct Options {
    /// The brunt to measure.
    #[arg(long)]
    brunt: PathBuf,
    /// JMeter's directory, which has bin/ApacheJMeter.jar.
    #[arg(long)]
    jmeter: Option<PathBuf>,
    /// The k6 to compare with; by default the one in PATH.
    #[arg(long)]
    k6: Option<PathBuf>,
    /// Number of runs of each tool.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Length of each run in seconds.
    #[arg(long, default_value_t = 15)]
    seconds: u64,
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

/// Program that runs a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    /// brunt with this plan file, or JMeter plan.
    Brunt(&'static str),
    Wrk,
    Jmeter,
    K6,
}

/// brunt in comparison with another tool, and the maximum ratio of their CPU times per request.
struct Row {
    name: &'static str,
    ours: Tool,
    theirs: Tool,
    cpu_at_most: f64,
}

const ROWS: [Row; 4] = [
    Row {
        name: "three plain steps, compared with wrk",
        ours: Tool::Brunt("plain.yaml"),
        theirs: Tool::Wrk,
        cpu_at_most: 1.5,
    },
    Row {
        name: "form, login, order, compared with JMeter",
        ours: Tool::Brunt("shop.yaml"),
        theirs: Tool::Jmeter,
        cpu_at_most: 1.0 / 20.0,
    },
    Row {
        name: "the same as a JMeter plan, compared with JMeter",
        ours: Tool::Brunt("shop.jmx"),
        theirs: Tool::Jmeter,
        cpu_at_most: 1.0 / 20.0,
    },
    Row {
        name: "form, login, order, compared with k6",
        ours: Tool::Brunt("shop.yaml"),
        theirs: Tool::K6,
        cpu_at_most: 1.0 / 8.0,
    },
];

/// Environment of every run.
struct Stand<'a> {
    options: &'a Options,
    server: BenchNginx,
    scratch: &'a Path,
    interrupt: &'a InterruptFlag,
}

fn main() -> ExitCode {
    output::exit_code("brunt-bench-scenarios", run(&Options::parse()))
}

fn run(options: &Options) -> Result<ExitCode> {
    machine::raise_file_limit()?;
    let interrupt = InterruptFlag::install()?;
    let folder = tempfile::tempdir()?;
    let stand = Stand {
        options,
        server: BenchNginx::start(&interrupt)?,
        scratch: folder.path(),
        interrupt: &interrupt,
    };
    stand.write_files()?;
    let mut lines = Vec::new();
    let mut all = Vec::new();
    let mut missed = Vec::new();
    for row in &ROWS {
        if stand.command(row.theirs).is_none() {
            output::progress(&format!("SKIPPED {}: not installed", row.name));
            continue;
        }
        let sides = stand.in_turn(row)?;
        let (line, figures, complaint) = row_result(row, &sides);
        output::progress(&line.join("  "));
        lines.push(line);
        all.push(figures);
        missed.extend(complaint);
    }
    write(options, &lines, &all)?;
    for line in &missed {
        output::progress(&format!("missed: {line}"));
    }
    Ok(if options.check && !missed.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn write(options: &Options, lines: &[Vec<String>], all: &[Value]) -> Result<()> {
    let page = table::render(&["scenario", "other µs/request", "brunt", "ratio", "at most"], lines);
    output::result(&page);
    if let Some(file) = &options.out {
        fs::write(file, &page).with_context(|| format!("writing {}", file.display()))?;
    }
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string_pretty(all)? + "\n")?;
    }
    Ok(())
}

impl Stand<'_> {
    fn write_files(&self) -> Result<()> {
        let address = self.server.address;
        for (name, text) in FILES {
            let text = text
                .replace("ADDRESS", &address.to_string())
                .replace("HOST", &address.ip().to_string());
            let text = text.replace("PORT", &address.port().to_string());
            fs::write(
                self.scratch.join(name),
                text.replace("SECONDS", &self.options.seconds.to_string()),
            )?;
        }
        Ok(())
    }

    /// Returns the command of a tool; None if the tool is not installed.
    fn command(&self, tool: Tool) -> Option<Command> {
        let Options { brunt, jmeter, k6, seconds, .. } = self.options;
        let mut command = match tool {
            Tool::Brunt(plan) => {
                let mut command = Command::new(brunt);
                command.args(["run", plan, "--no-store", "--quiet"]);
                command
            }
            Tool::Wrk => {
                let mut command = Command::new(tools::in_path("wrk")?);
                command.args([
                    "-t1",
                    &format!("-c{CONNECTIONS}"),
                    &format!("-d{seconds}s"),
                    &self.server.url(SMALL),
                ]);
                command
            }
            Tool::Jmeter => {
                let home = jmeter.as_ref()?;
                let mut command = Command::new(tools::in_path("java")?);
                command.args(["-Xms512m", "-Xmx512m", "-Djava.awt.headless=true", "-jar"]);
                command.arg(home.join("bin/ApacheJMeter.jar")).arg("-d").arg(home);
                // Without a result file, JMeter prints no figures.
                command.args(["-n", "-t", "shop.jmx", "-l", "shop.jtl", "-f"]);
                command
            }
            Tool::K6 => {
                let mut command = Command::new(k6.clone().or_else(|| tools::in_path("k6"))?);
                command.args(["run", "--quiet", "--no-usage-report", "shop.js"]);
                command
            }
        };
        command.current_dir(self.scratch).env("HOME", self.scratch);
        Some(command)
    }

    /// Runs both tools in turn, each first in every other round. Returns microseconds of CPU time
    /// per request, by round.
    fn in_turn(&self, row: &Row) -> Result<[Vec<(usize, f64)>; 2]> {
        let mut sides = [Vec::new(), Vec::new()];
        for round in 0..self.options.rounds {
            for turn in 0..2 {
                // Each tool is first in every other round, so that a drift of
                // the machine cancels out.
                let ours = (round + turn) % 2 == 1;
                let cost = self.cost_of_run(if ours { row.ours } else { row.theirs })?;
                sides[usize::from(ours)].push((round, cost));
            }
        }
        Ok(sides)
    }

    fn cost_of_run(&self, tool: Tool) -> Result<f64> {
        let mut command = self.command(tool).context("the tool is not installed")?;
        let before = self.server.status.read()?.requests;
        let limit = Duration::from_secs(self.options.seconds) + PATIENCE;
        let finished = child::run(&mut command, limit, self.interrupt, |_| Ok(()))?;
        self.interrupt.check()?;
        let requests = (self.server.status.read()?.requests - before) as f64;
        // brunt exits with 5 if a consistency check failed; the run is measured nevertheless.
        let has_measured = matches!(finished.code, Some(0 | 5));
        // The cost of the start would dominate a few requests.
        ensure!(
            has_measured && requests > 100.0,
            "{command:?} ended with {:?}: {}",
            finished.code,
            finished.output
        );
        let cpu = finished.usage.user + finished.usage.system;
        Ok(cpu.as_secs_f64() * 1e6 / requests)
    }
}

/// A row of the page, its figures, and its missed target.
fn row_result(
    row: &Row,
    [theirs, ours]: &[Vec<(usize, f64)>; 2],
) -> (Vec<String>, Value, Option<String>) {
    let ratio = median_ratio(ours, theirs);
    let most = row.cpu_at_most;
    let missed = (ratio > most).then(|| {
        format!(
            "{}: CPU time per request {ratio:.3} of the other tool's (target: at most {most:.3})",
            row.name
        )
    });
    let line = vec![
        row.name.to_owned(),
        format!("{:.2}", median_of_rounds(theirs)),
        format!("{:.2}", median_of_rounds(ours)),
        format!("{ratio:.3}"),
        format!("{most:.3}"),
    ];
    let figures = json!({
        "name": row.name,
        "cpu_microseconds_per_request": {"other": theirs, "brunt": ours, "ratio": ratio, "ratio_at_most": most},
    });
    (line, figures, missed)
}
