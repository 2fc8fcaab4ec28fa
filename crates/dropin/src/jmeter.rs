//! JMeter without its window: its command line, console lines, result files and report.
//!
//! * [`settings`]: options and properties. [`console`]: lines of the console and the log.
//! * [`desk`]: writes the samples of a run to files, sums and tables. [`udp`]: messages that end a run.
//! * [`graphs`]: charts of the dashboard.
//! * [`listeners`]: result files that the plan itself names. [`report`]: the dashboard.
//!
//! The plan is read by `jmx`. What differs on purpose is listed in docs/drop-in-jmeter.md.

mod console;
mod desk;
mod graphs;
mod listeners;
pub mod report;
mod settings;
mod udp;

use crate::caller::Caller;
use crate::carry::{self, RunSetup};
use crate::error::{Result, ToolError};
use crate::side::Side;
use brunt_jmx::Document;
use brunt_jmx::cli_options::{CliOptions, Mode, Remote};
use brunt_jmx::plan::{self, PlanFolder, PlanSurroundings, TestRun};
use brunt_model::live_output::LiveOutput;
use brunt_model::{Plan, Run, StageKind, TestStage};
use brunt_runner::{Interrupt, LiveOutputs, Real};
use console::Console;
use desk::Desk;
use settings::Settings;
use std::path::Path;
use std::sync::Arc;

/// The release whose command line this is.
const VERSION: &str = "5.6.3";

/// It cannot do what it is told.
const FAILED: u8 = 1;
/// A bound of `--brunt-fail-on` is not kept.
const MISSED: u8 = 4;

/// Carries out a command line of JMeter's: the name under which it was called, and what it is told; the exit code.
pub fn run(called: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    let options = match CliOptions::parse(words.iter().cloned()) {
        Ok(options) => options,
        Err(error) => {
            caller.err_line(&format!("Error: {error}"));
            caller.out(&format!("Usage\n{USAGE}"));
            return FAILED;
        }
    };
    let done = match (options.mode, &options.remote) {
        (Mode::Help | Mode::Options, _) => {
            caller.out(USAGE);
            return 0;
        }
        (Mode::Version, _) => {
            let own = env!("CARGO_PKG_VERSION");
            caller.out(&format!("{VERSION}\n\nbrunt {own}, with the command line of Apache JMeter {VERSION}\n"));
            return 0;
        }
        (Mode::Gui, _) => refuse("there is no window; run a plan by -n -t plan.jmx -l results.jtl"),
        (Mode::Server, _) | (_, Remote::Configured | Remote::Hosts(_)) => {
            refuse("there are no remote servers; leave -s, -r and -R out, and give the load of all servers to one")
        }
        (Mode::Report, Remote::None) => Settings::new(options, caller).and_then(|settings| report::of_file(&settings)),
        (Mode::NonGui, Remote::None) => Settings::new(options, caller).and_then(|settings| test(&settings, caller)),
    };
    done.unwrap_or_else(|error| {
        caller.out(&format!("An error occurred: {error}\n"));
        caller.err_line(&format!("{called}: {error}"));
        FAILED
    })
}

/// The options, for those who ask.
const USAGE: &str = include_str!("jmeter/usage.txt");

fn refuse(why: &str) -> Result<u8> {
    Err(ToolError::told(why))
}

/// Runs a plan; the exit code.
fn test(settings: &Settings, caller: &Arc<Caller>) -> Result<u8> {
    let path = settings.plan_path()?;
    let document = document(path)?;
    let system = (caller.system)();
    let folder = PlanFolder::of_plan(path, &settings.allowed).of_drop_in();
    let own_files = listeners::of(&document, &folder, settings);
    let surroundings = PlanSurroundings {
        properties: &settings.properties.jmeter,
        folder: &folder,
        resolve_all: settings.resolve_all,
        scale: settings.scale,
        max_duration: settings.max_duration,
        lenient: settings.lenient,
        records: Some(settings.records(&own_files.files)),
        seed: system.seed,
        threads: settings.side.threads.unwrap_or_else(|| system.half_of_cores()),
    };
    let TestRun { mut stages, notices, live_outputs } =
        plan::read(&document, &surroundings).map_err(|error| named(path, &error))?;
    for stage in &mut stages {
        carry::prepare_stage(stage, &settings.fail_on, settings.side.processes)?;
        let connection = &mut stage.plan.connection;
        connection.proxy = connection.proxy.take().or_else(|| settings.proxy());
    }
    let of_main = stages.iter().filter(|stage| stage.kind == StageKind::Main).map(|stage| &stage.plan);
    brunt_spec::check_objectives(&settings.fail_on, &of_main.collect::<Vec<_>>())
        .map_err(|error| ToolError::told(error.to_string()))?;
    settings.prepare()?;
    let console = Console::open(settings, caller);
    let mut desk = Desk::open(settings, own_files.files, console, &stages)?;
    desk.live_outputs = live(&live_outputs, caller)?;
    if !settings.side.no_notes {
        for notice in own_files.left_out.iter().chain(&notices) {
            caller.err_line(&format!("brunt - {notice}"));
        }
    }
    desk.greet(&settings.plan);
    let interrupt = (caller.interrupt)()?;
    let messages = udp::listen(settings, &interrupt, caller);
    if let Some(port) = messages {
        desk.console
            .say(&format!("Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {port}"));
    }
    let missed = run_stages(settings, stages, &interrupt, (&mut desk, caller))?;
    desk.live_outputs.finish();
    desk.end();
    if settings.options.report_at_end {
        report::of_run(settings, &desk)?;
    }
    desk.console.say("... end of run");
    if let Some(trouble) = desk.trouble() {
        return Err(ToolError::told(trouble));
    }
    for bound in &missed {
        caller.say(&format!("brunt: exit code {MISSED}: missed: {bound}"));
    }
    Ok(if missed.is_empty() { 0 } else { MISSED })
}

/// Where the plan sends figures while it runs.
fn live(outputs: &[LiveOutput], caller: &Arc<Caller>) -> Result<LiveOutputs> {
    let told = Arc::clone(caller);
    Ok(LiveOutputs::new(
        outputs,
        (caller.redactor)(),
        Arc::new(move |line: &str| told.say(&format!("brunt - {line}"))),
    )?)
}

fn document(path: &Path) -> Result<Document> {
    let wrong = || ToolError::told(format!("The file {} doesn't exist or can't be opened", path.display()));
    let bytes = std::fs::read(path).map_err(|_| wrong())?;
    Document::parse(&bytes).map_err(|error| named(path, &error))
}

fn named(path: &Path, error: &brunt_jmx::JmxError) -> ToolError {
    ToolError::told(format!("{}: {error}", path.display()))
}

/// Runs the stages one after the other; the bounds that were missed.
fn run_stages(
    settings: &Settings,
    stages: Vec<TestStage>,
    interrupt: &Interrupt,
    (desk, caller): (&mut Desk, &Arc<Caller>),
) -> Result<Vec<String>> {
    let mut missed = Vec::new();
    brunt_runner::stages::carry_out_all(stages, interrupt, |stage| -> Result<Real> {
        let plan = &stage.plan;
        let world = Real::new(plan)?;
        let is_main = stage.kind == StageKind::Main;
        let side = if is_main { settings.side.clone() } else { Side { no_notes: true, ..Side::default() } };
        let setup = RunSetup::among(&side, interrupt.clone(), caller)?;
        desk.begin_stage();
        let done = setup.run(plan, &world, desk);
        missed.extend(missed_bounds(plan, &done.result.run));
        done.finish(&[])?;
        Ok(world)
    })?;
    Ok(missed)
}

fn missed_bounds(plan: &Plan, run: &Run) -> Vec<String> {
    let results = plan.objectives.iter().map(|objective| objective.judge(run)).filter(|result| !result.met);
    results.map(|result| result.objective.to_string()).collect()
}
