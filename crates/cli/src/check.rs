//! The command `brunt check`: examines the server and this machine before a load (`runner::check`) and writes the report.

use crate::args::RunArgs;
use crate::exit::{Exit, Failed, failed, usage};
use crate::live_outputs;
use crate::output::print;
use crate::view;
use anyhow::{Context, Result, ensure};
use brunt_model::Plan;
use brunt_probe::Root;
use brunt_probe::settings::settings;
use brunt_runner::check::facts::{CheckReport, Facts, Machine, RequestedLoad, VERSION};
use brunt_runner::check::{look, rules, text};
use brunt_spec::words::values::Output;
use brunt_spec::{System, to_plan};
use std::fs::File;
use std::io::Write;

/// Looks, and reports; exits with 3 where no reply came.
pub fn check(args: &RunArgs, descriptors: u64) -> Result<Exit, Failed> {
    ensure_outputs(args).map_err(usage)?;
    let cores = brunt_probe::machine::cores();
    // The asked load is looked at even where it cannot be made: to say so, with what mends it, is what this is for.
    let settings = settings(&Root::system());
    let system = System { descriptors: u64::MAX, cores, ports: settings.ports(), seed: 1, ..crate::process::system() };
    let (plan, _) = to_plan(&args.settings, &system).map_err(|error| usage(error.into()))?;
    crate::redact::know(&plan);
    let machine = Machine { descriptors, cores, settings, other_processes_cores: None };
    let mut facts = Facts { asked: RequestedLoad::of(&plan), machine, ..Facts::default() };
    look::look(&plan, &mut facts).map_err(failed)?;
    estimate(&plan, &mut facts);
    let report = CheckReport { version: VERSION, advice: rules::advise(&facts), facts };
    write(&report, args).map_err(failed)?;
    Ok(if report.facts.reply.is_some() { Exit::Measured } else { Exit::NothingMeasured })
}

fn ensure_outputs(args: &RunArgs) -> Result<()> {
    for Output { format, .. } in &args.settings.output.outputs {
        let known = format == "text" || format == "json";
        ensure!(known, "-o {format}: `brunt check` reports as text or json; write -o text, -o json or -o json=FILE");
    }
    live_outputs::refuse(&args.settings.output, "a check runs none")?;
    ensure!(
        args.settings.output.events.is_none(),
        "--events: a check has no event log; leave it out, or use `brunt run`"
    );
    Ok(())
}

/// How many connections a second an open loop opens, where requests need them.
fn estimate(plan: &Plan, facts: &mut Facts) {
    let Some(reply) = &facts.reply else { return };
    let each = match plan.connection.requests_per_connection {
        Some(n) => n,
        None if reply.keep_alive == Some(false) => 1,
        None => return,
    };
    // The rate of a closed loop follows from the response time under load, which one reply does not show.
    let Some(requests_per_second) = facts.asked.rate_per_second else { return };
    facts.asked.new_connections_per_second = Some(requests_per_second / each as f64);
}

fn write(report: &CheckReport, args: &RunArgs) -> Result<()> {
    let mut shown = args.settings.output.quiet;
    for Output { format, file } in &args.settings.output.outputs {
        let view = if file.is_some() { view::of_file() } else { view::of_stdout() };
        let json = format == "json";
        let text = if json { format!("{:#}\n", serde_json::to_value(report)?) } else { text::text(report, &view) };
        if let Some(path) = file {
            let text = crate::redact::text(&text);
            let written = File::create(path).and_then(|mut out| out.write_all(text.as_bytes()));
            written.with_context(|| path.display().to_string())?;
        } else {
            shown = true;
            print(crate::redact::text(&text))?;
        }
    }
    if shown { Ok(()) } else { print(crate::redact::text(&text::text(report, &view::of_stdout()))) }
}
