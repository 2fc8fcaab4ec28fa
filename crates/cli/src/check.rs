//! The command `brunt check`: examines the server and this machine before a run (`runner::check`)
//! and writes the report.

use crate::args::RunArgs;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::fleet;
use crate::live_outputs;
use crate::output::print;
use crate::view;
use anyhow::{Context, Result, ensure};
use brunt_check::facts::{
    CheckFacts, CheckReport, CheckedAgent, MachineFacts, RequestedLoad, VERSION,
};
use brunt_check::{look, rules, text};
use brunt_model::Plan;
use brunt_probe::Root;
use brunt_probe::settings::settings;
use brunt_spec::words::values::Output;
use brunt_spec::{System, to_plan};
use std::fs::File;
use std::io::Write;

/// Formats of the report.
pub const FORMATS: [&str; 2] = ["text", "json"];

/// Runs the checks and writes the report. The exit code is 3 without a reply.
pub fn check(args: &RunArgs, descriptors: u64) -> Result<Exit, CommandError> {
    ensure_outputs(args).map_err(usage_error)?;
    let cores = brunt_probe::machine::cores();
    // The limit of descriptors is ignored here: an impossible load must be examined
    // too, to report the remedy.
    let settings = settings(&Root::system());
    let system = System {
        descriptors: u64::MAX,
        cores,
        ports: settings.ports(),
        seed: 1,
        ..crate::process::system()
    };
    // The plan is never run, so its seed does not matter.
    let (plan, _) = to_plan(&args.settings, &system).map_err(usage_error)?;
    crate::redact::know(&plan);
    let machine = MachineFacts { descriptors, cores, settings, other_processes_cores: None };
    let mut facts =
        CheckFacts { requested: RequestedLoad::of(&plan), machine, ..CheckFacts::default() };
    let quiet = args.settings.output.quiet;
    let fleet =
        fleet::start(&plan, &args.settings.fleet.programs, quiet, None).map_err(runtime_error)?;
    if let Some(fleet) = fleet {
        let checks =
            fleet.check(&plan).map_err(|error| runtime_error(anyhow::Error::from(error)))?;
        let agents = fleet.environments().into_iter().zip(checks);
        facts.agents =
            agents.map(|(environment, check)| CheckedAgent { environment, check }).collect();
    }
    if plan.is_elsewhere() {
        // This machine may have no way to the server of the agents.
        if let Some(request) = plan.requests().next() {
            facts.method.clone_from(&request.method);
            facts.url.clone_from(&request.url);
        }
    } else {
        look::look(&plan, system.languages, &mut facts).map_err(runtime_error)?;
        estimate(&plan, &mut facts);
    }
    let report = CheckReport { version: VERSION, advice: rules::advise(&facts), facts };
    write(&report, args).map_err(runtime_error)?;
    let has_result = report.facts.reply.is_some() || plan.is_elsewhere();
    Ok(if has_result { Exit::Measured } else { Exit::NothingMeasured })
}

fn ensure_outputs(args: &RunArgs) -> Result<()> {
    for Output { format, .. } in &args.settings.output.outputs {
        let is_valid = FORMATS.contains(&format.as_str());
        ensure!(
            is_valid,
            "-o {format}: `brunt check` reports as text or json; write -o text, -o json or -o json=FILE"
        );
    }
    live_outputs::refuse(&args.settings.output, "a check runs none")?;
    ensure!(
        args.settings.output.events.is_none(),
        "--events: a check has no event log; leave it out, or use `brunt run`"
    );
    Ok(())
}

/// Estimates the rate of new connections of an open loop, if the server closes connections.
fn estimate(plan: &Plan, facts: &mut CheckFacts) {
    let Some(reply) = &facts.reply else { return };
    let each = match plan.connection.requests_per_connection {
        Some(n) => n,
        None if reply.keep_alive == Some(false) => 1,
        None => return,
    };
    // The rate of a closed loop depends on the response time under load, which
    // one reply does not show.
    let Some(requests_per_second) = facts.requested.rate_per_second else { return };
    facts.requested.new_connections_per_second = Some(requests_per_second / each as f64);
}

fn write(report: &CheckReport, args: &RunArgs) -> Result<()> {
    let mut is_printed = args.settings.output.quiet;
    for Output { format, file } in &args.settings.output.outputs {
        let view = if file.is_some() { view::of_file() } else { view::of_stdout() };
        let json = format == "json";
        let text = if json {
            format!("{:#}\n", serde_json::to_value(report)?)
        } else {
            text::text(report, &view)
        };
        if let Some(path) = file {
            let text = crate::redact::text(&text);
            let written = File::create(path).and_then(|mut out| out.write_all(text.as_bytes()));
            written.with_context(|| path.display().to_string())?;
        } else {
            is_printed = true;
            print(crate::redact::text(&text))?;
        }
    }
    if is_printed {
        Ok(())
    } else {
        print(crate::redact::text(&text::text(report, &view::of_stdout())))
    }
}
