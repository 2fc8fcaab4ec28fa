//! Implements `jmeter` without its GUI: command line, console lines, result files and report.
//!
//! * [`settings`]: options and properties. [`console`]: lines of the console and the log.
//! * [`collector`]: writes the samples of a run to files, sums and tables. [`udp`]:
//!   messages that end a run.
//! * [`graphs`]: charts of the dashboard.
//! * [`listeners`]: result files that the plan itself names. [`report`]: the dashboard.
//!
//! The crate `jmx` reads the plan. docs/drop-in-jmeter.md lists the intended differences.

mod collector;
mod console;
mod graphs;
mod listeners;
pub mod report;
mod settings;
mod udp;

use crate::brunt_options::BruntOptions;
use crate::caller::Caller;
use crate::error::{ToolError, ToolResult};
use crate::run_setup::{self, RunSetup};
use brunt_jmx::JmxDocument;
use brunt_jmx::cli_options::{CliOptions, JmeterMode, RemoteServers};
use brunt_jmx::plan::{self, PlanContext, PlanFolder, TestRun};
use brunt_live::LiveOutputs;
use brunt_model::live_output::LiveOutput;
use brunt_model::{Plan, Run, StageKind, TestStage};
use brunt_runner::{Interrupt, RealWorld};
use brunt_spec::to_plan;
use brunt_spec::words::placement;
use collector::JmeterCollector;
use console::Console;
use settings::JmeterSettings;
use std::path::Path;
use std::sync::Arc;

/// JMeter release that is reproduced.
const VERSION: &str = "5.6.3";

/// Exit code for errors.
const FAILED: u8 = 1;
/// Exit code if a `--brunt-fail-on` objective is missed.
const MISSED: u8 = 4;

/// Runs a JMeter command line and returns the exit code. `program_name` is as typed by the user.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    let options = match CliOptions::parse(words.iter().cloned()) {
        Ok(options) => options,
        Err(error) => {
            // JMeter exits with 0 here. Scripts can see a 1.
            caller.err_line(&format!("Error: {error}"));
            caller.out(&format!("Usage\n{USAGE}"));
            return FAILED;
        }
    };
    let result = match options.mode {
        JmeterMode::Help | JmeterMode::Options => {
            caller.out(USAGE);
            return 0;
        }
        JmeterMode::Version => {
            let brunt_version = env!("CARGO_PKG_VERSION");
            caller.out(&format!(
                "{VERSION}\n\nbrunt {brunt_version}, with the command line of Apache JMeter {VERSION}\n"
            ));
            return 0;
        }
        JmeterMode::Gui => {
            refuse("there is no window; run a plan by -n -t plan.jmx -l results.jtl")
        }
        JmeterMode::Server => refuse(
            "no server waits for plans; leave it out: -R HOST,HOST starts what it needs through ssh",
        ),
        JmeterMode::Report => JmeterSettings::new(options, caller)
            .and_then(|settings| report::of_file(&settings, caller)),
        JmeterMode::NonGui => {
            JmeterSettings::new(options, caller).and_then(|settings| test(&settings, caller))
        }
    };
    result.unwrap_or_else(|error| {
        caller.out(&format!("An error occurred: {error}\n"));
        caller.err_line(&format!("{program_name}: {error}"));
        FAILED
    })
}

const USAGE: &str = include_str!("jmeter/usage.txt");

fn refuse(why: &str) -> ToolResult<u8> {
    Err(ToolError::new(why))
}

/// Runs a plan and returns the exit code.
fn test(settings: &JmeterSettings, caller: &Arc<Caller>) -> ToolResult<u8> {
    let path = settings.plan_path()?;
    let document = document(path)?;
    let system = (caller.system)();
    let folder = PlanFolder::for_plan(path, &settings.allowed).for_drop_in();
    let brunt_options = with_remote_servers(settings)?;
    let agents = brunt_options.fleet.as_ref().map(|fleet| fleet.on.agents());
    let own_files = listeners::find(&document, &folder, settings);
    let context = PlanContext {
        properties: &settings.properties.jmeter,
        folder: &folder,
        resolve_all: settings.resolve_all,
        // Each of JMeter's servers runs the whole plan, and brunt divides the load of one.
        scale: settings.scale * agents.unwrap_or(1) as f64,
        max_duration: settings.max_duration,
        lenient: settings.lenient,
        records: Some(settings.records(&own_files.files)),
        seed: system.seed,
        threads: settings.brunt_options.threads.unwrap_or_else(|| system.half_of_cores()),
    };
    let TestRun { mut stages, notices, live_outputs } =
        plan::read(&document, &context).map_err(|error| plan_error(path, &error))?;
    for stage in &mut stages {
        stage.plan.fleet.clone_from(&brunt_options.fleet);
        run_setup::prepare_stage(stage, &settings.fail_on, brunt_options.processes)?;
        stage.plan.allowed_targets.clone_from(&settings.brunt_options.allowed_targets);
        let connection = &mut stage.plan.connection;
        // A proxy of the plan overrides that of the command line.
        connection.proxy = connection.proxy.take().or_else(|| settings.proxy());
        settings.add_client_certificate(&mut connection.tls);
        for population in &mut stage.plan.populations {
            if let Some(connection) = &mut population.connection {
                settings.add_client_certificate(&mut connection.tls);
            }
        }
    }
    let main_plans =
        stages.iter().filter(|stage| stage.kind == StageKind::Main).map(|stage| &stage.plan);
    brunt_spec::check_objectives(&settings.fail_on, &main_plans.collect::<Vec<_>>())
        .map_err(|error| ToolError::new(error.to_string()))?;
    settings.prepare()?;
    let console = Console::open(settings, caller);
    let mut collector = JmeterCollector::open(settings, own_files.files, console, &stages)?;
    collector.live_outputs = open_live_outputs(&live_outputs, caller)?;
    if !settings.brunt_options.no_notes {
        for notice in own_files.left_out.iter().chain(&notices) {
            caller.err_line(&format!("brunt - {notice}"));
        }
    }
    collector.greet(&settings.plan);
    let interrupt = (caller.interrupt)()?;
    let udp_port = udp::listen(settings, &interrupt, caller);
    if let Some(port) = udp_port {
        collector.console.print(&format!(
            "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {port}"
        ));
    }
    let missed = run_stages(&brunt_options, stages, &interrupt, &mut collector, caller)?;
    collector.live_outputs.finish();
    collector.end();
    if settings.options.report_at_end {
        report::of_run(settings, &collector)?;
    }
    collector.console.print("... end of run");
    if let Some(trouble) = collector.trouble() {
        return Err(ToolError::new(trouble));
    }
    for bound in &missed {
        caller.err_redacted(&format!("brunt: exit code {MISSED}: missed: {bound}"));
    }
    Ok(if missed.is_empty() { 0 } else { MISSED })
}

/// Returns brunt's options with the agents of `-r` and `-R`: the same hosts, through ssh.
fn with_remote_servers(settings: &JmeterSettings) -> ToolResult<BruntOptions> {
    let mut brunt_options = settings.brunt_options.clone();
    let hosts = match &settings.options.remote {
        RemoteServers::None => {
            brunt_options.check().map_err(ToolError::new)?;
            return Ok(brunt_options);
        }
        RemoteServers::Hosts(hosts) => hosts.clone(),
        RemoteServers::Configured => {
            // JMeter's default of the property.
            let hosts = settings.properties.jmeter.get("remote_hosts");
            let hosts = hosts.map_or("127.0.0.1", String::as_str);
            hosts.split(',').map(|host| host.trim().to_owned()).collect()
        }
    };
    // A port is that of JMeter's server, which ssh does not need.
    let hosts: Vec<&str> =
        hosts.iter().map(|host| host.split_once(':').map_or(&**host, |(host, _)| host)).collect();
    if brunt_options.fleet.is_some() {
        return Err(ToolError::new(
            "--brunt-on, and -r or -R: both name agents; write one of them",
        ));
    }
    let on = placement::parse(&format!("ssh:{}", hosts.join(",")))
        .map_err(|error| ToolError::new(error.to_string()))?;
    let fleet = to_plan::fleet_on(on).map_err(|error| ToolError::new(error.to_string()))?;
    brunt_options.fleet = Some(fleet);
    brunt_options.check().map_err(|why| ToolError::new(format!("-r and -R: {why}")))?;
    Ok(brunt_options)
}

/// Opens the live outputs of the plan: services that receive figures during the run.
fn open_live_outputs(outputs: &[LiveOutput], caller: &Arc<Caller>) -> ToolResult<LiveOutputs> {
    let reporter = Arc::clone(caller);
    Ok(LiveOutputs::new(
        outputs,
        (caller.redactor)(),
        Arc::new(move |line: &str| reporter.err_redacted(&format!("brunt - {line}"))),
    )?)
}

fn document(path: &Path) -> ToolResult<JmxDocument> {
    let bytes = std::fs::read(path).map_err(|_| {
        ToolError::new(format!("The file {} doesn't exist or can't be opened", path.display()))
    })?;
    JmxDocument::parse(&bytes).map_err(|error| plan_error(path, &error))
}

fn plan_error(path: &Path, error: &brunt_jmx::JmxError) -> ToolError {
    ToolError::new(format!("{}: {error}", path.display()))
}

/// Runs the stages in order and returns the missed objectives.
fn run_stages(
    brunt_options: &BruntOptions,
    stages: Vec<TestStage>,
    interrupt: &Interrupt,
    collector: &mut JmeterCollector,
    caller: &Arc<Caller>,
) -> ToolResult<Vec<String>> {
    let mut missed = Vec::new();
    brunt_runner::stages::run_stages(stages, interrupt, |stage| -> ToolResult<RealWorld> {
        let plan = &stage.plan;
        let is_main = stage.kind == StageKind::Main;
        // The reports of these options cover the main stage only.
        let brunt_options = if is_main {
            brunt_options.clone()
        } else {
            BruntOptions {
                no_notes: true,
                fleet: brunt_options.fleet.clone(),
                allowed_targets: brunt_options.allowed_targets.clone(),
                ..BruntOptions::default()
            }
        };
        let setup = RunSetup::with_interrupt(&brunt_options, interrupt.clone(), caller)?;
        let world = setup.world(plan)?;
        collector.begin_stage();
        let finished = setup.run(plan, &world, collector);
        missed.extend(missed_objectives(plan, &finished.result.run));
        finished.finish(&[])?;
        Ok(world)
    })?;
    Ok(missed)
}

fn missed_objectives(plan: &Plan, run: &Run) -> Vec<String> {
    let results =
        plan.objectives.iter().map(|objective| objective.judge(run)).filter(|result| !result.met);
    results.map(|result| result.objective.to_string()).collect()
}
