//! `brunt-bench`: reads the options, runs the session, writes the page.
//!
//! The library measures and decides; see the overview of the crate.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result};
use brunt_bench::child::InterruptFlag;
use brunt_bench::machine::{self, BenchMachine};
use brunt_bench::measure::Stand;
use brunt_bench::memory::RunLength;
use brunt_bench::nginx::BenchNginx;
use brunt_bench::options::BenchOptions;
use brunt_bench::report::BenchPage;
use brunt_bench::tools::Toolbox;
use brunt_bench::{check, output, session};
use clap::Parser;

fn main() -> ExitCode {
    output::exit_code("brunt-bench", run(&BenchOptions::parse()))
}

fn run(options: &BenchOptions) -> Result<ExitCode> {
    machine::raise_file_limit()?;
    let interrupt = InterruptFlag::install()?;
    let toolbox = Toolbox::locate(options);
    let machine = BenchMachine::describe(&toolbox);
    let stand = set_up(options, interrupt, toolbox)?;
    let cases = options.cases();
    let scale = if options.quick { RunLength::QUICK } else { RunLength::FULL };
    let results = session::run(&stand, &cases, options.rounds(), scale)?;
    let report = BenchPage {
        machine: &machine,
        cases: &cases,
        results: &results,
        rounds: options.rounds(),
        seconds: options.seconds(),
        missing: &stand.toolbox.missing,
    };
    write(options, &report)?;
    Ok(if options.check { verdict(&report) } else { ExitCode::SUCCESS })
}

fn set_up(options: &BenchOptions, interrupt: InterruptFlag, toolbox: Toolbox) -> Result<Stand> {
    if options.pin {
        // Children inherit the CPU of this process, so the server starts first.
        machine::pin_to(0).context("--pin: the server's CPU")?;
    }
    let server = BenchNginx::start(&interrupt)?;
    if options.pin {
        machine::pin_to(1).context("--pin: the tools' CPU")?;
    }
    Ok(Stand {
        server,
        toolbox,
        interrupt,
        scratch: tempfile::tempdir()?,
        seconds: options.seconds(),
        pinned: options.pin,
    })
}

fn write(options: &BenchOptions, report: &BenchPage) -> Result<()> {
    let page = report.markdown();
    output::result(&page);
    if let Some(file) = &options.out {
        fs::write(file, page).with_context(|| format!("writing {}", file.display()))?;
    }
    if let Some(file) = &options.json {
        fs::write(file, report.json()).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(())
}

fn verdict(report: &BenchPage) -> ExitCode {
    let verdicts = report.verdicts();
    let missed: Vec<String> =
        verdicts.iter().filter(|one| !one.met).map(check::complaint).collect();
    for line in &missed {
        output::progress(&format!("missed: {line}"));
    }
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
