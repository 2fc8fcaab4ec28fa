//! Runs JMeter plans: `brunt run plan.jmx`. The setUp thread groups, thread groups and tearDown
//! thread groups are separate runs.

use crate::args::RunArgs;
use crate::args::run::JmeterPlanArgs;
use crate::exit::{CommandError, Exit, fail_on, runtime_error, usage_error};
use crate::fleet;
use crate::live::print_line;
use crate::live_outputs;
use crate::measure::{MeasureContext, measure, session};
use crate::output::{self, Outputs};
use crate::process::system;
use crate::redact;
use crate::result_file;
use crate::team::TeamRun;
use crate::trace;
use anyhow::{Context, Result, anyhow, bail};
use brunt_jmx::plan::{self, PlanContext, PlanFolder, TestRun};
use brunt_jmx::{JmxDocument, properties};
use brunt_model::live_output::LiveOutput;
use brunt_model::{Plan, StageKind, Text};
use brunt_runner::{RealWorld, Storage, stages};
use brunt_spec::settings::RunSettings;
use brunt_spec::{System, to_plan};
use std::path::Path;

/// Options that are allowed with a JMeter plan. The plan sets all others.
const ALLOWED_OPTIONS: [&str; 24] = [
    "on",
    "allow-target",
    "lease",
    "agent-bytes",
    "agent-binary",
    "jtl",
    "jtl-format",
    "trace",
    "trace-only",
    "trace-files",
    "show-secrets",
    "output",
    "quiet",
    "strict",
    "events",
    "interval",
    "labels",
    "max-duration",
    "threads",
    "processes",
    "seed",
    "resolve-all",
    "probe",
    "objective",
];

/// Runs a JMeter plan and writes the reports.
pub fn run(path: &Path, args: &RunArgs) -> Result<Exit, CommandError> {
    let system = system();
    let test_run = read(path, args, &system).map_err(usage_error)?;
    let main_stages = test_run.stages.iter().filter(|stage| stage.kind == StageKind::Main);
    let plans: Vec<&Plan> = main_stages.map(|stage| &stage.plan).collect();
    let has_several = plans.len() > 1;
    let settings = &args.settings;
    let quiet = settings.output.quiet;
    brunt_spec::check_objectives(&settings.checks.objectives, &plans).map_err(usage_error)?;
    if has_several && !settings.output.outputs.is_empty() {
        let wrong = "this plan runs its thread groups one after another, each with a separate report; leave --output out, and write the reports later: brunt report ID -o html=FILE";
        return Err(usage_error(anyhow!(wrong)));
    }
    let mut outputs = Some(Outputs::from_settings(&settings.output).map_err(usage_error)?);
    let mut notes: Vec<Text> = test_run.notices.into_iter().map(Text::from).collect();
    let mut sinks = settings.output.live_outputs.clone();
    if !settings.output.trace {
        // A trace shows single requests, not a load.
        sinks.extend(test_run.live_outputs);
    }
    let mut live_outputs = live_outputs::start(&sinks).map_err(usage_error)?;
    let mut tracer = trace::requested(&settings.output, &args.store).map_err(usage_error)?;
    let store = if tracer.is_some() { None } else { args.open_store_or_note(&mut notes) };
    let stage_plans = test_run.stages.iter().map(|stage| &stage.plan);
    let team = TeamRun::join(&args.browser, store.as_ref(), stage_plans).map_err(usage_error)?;
    notes.extend(team.iter().flat_map(TeamRun::notes).cloned());
    // Opening the store has replaced the redactor.
    for secret in sinks.iter().flat_map(LiveOutput::secrets) {
        redact::current().secret(secret);
    }
    let plan_name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let main = test_run.stages.iter().find(|stage| stage.kind == StageKind::Main);
    let programs = &settings.fleet.programs;
    let fleet = main.map(|stage| fleet::start(&stage.plan, programs, quiet, store.as_ref()));
    let fleet = fleet.transpose().map_err(runtime_error)?.flatten();
    let session =
        session(store, plan_name, fail_on(&settings.checks), fleet).map_err(runtime_error)?;
    let mut log = output::event_log(&settings.output, &session).map_err(usage_error)?;
    let mut exit = Exit::Measured;
    stages::run_stages(
        test_run.stages,
        &session.interrupt,
        |stage| -> Result<RealWorld, CommandError> {
            let plan = &stage.plan;
            let world = session.world(plan).map_err(usage_error)?;
            let is_main = stage.kind == StageKind::Main;
            let (route, warnings) =
                brunt_check::short::preflight_short(plan, system.descriptors, system.cores);
            notes.extend(warnings);
            if !quiet && (has_several || !is_main) {
                print_line(&format!("{}: {}", title(stage.kind), names(plan)));
            }
            // Reports and the event log cover the thread groups, even if setUp thread groups run first.
            let stage_outputs = match outputs.take_if(|_| is_main) {
                Some(outputs) => outputs,
                None => Outputs::open(&[], quiet || !is_main).map_err(usage_error)?,
            };
            // Each run ends its file; the next one appends to it.
            let mut jtl = result_file::open(&settings.output).map_err(usage_error)?;
            let context = MeasureContext {
                outputs: stage_outputs,
                log: log.take_if(|_| is_main),
                jtl: jtl.as_mut(),
                live_outputs: &mut live_outputs,
                // Groups before and after the load measure nothing that later runs are compared with.
                storage: if is_main { Storage::SingleRun } else { Storage::None },
                probes: if is_main { &settings.probes } else { &[] },
                quiet: quiet || !is_main,
                tracer: tracer.as_mut(),
                // The setUp thread groups have no report that could contain the notes.
                notes: if is_main { std::mem::take(&mut notes) } else { Vec::new() },
                route,
                team: team.as_ref(),
            };
            let stage_exit = measure(&session, plan, &world, context).map_err(runtime_error)?;
            if is_main {
                // `Exit` is ordered by precedence.
                exit = exit.max(stage_exit);
            }
            Ok(world)
        },
    )?;
    live_outputs.finish();
    Ok(if session.interrupt.is_stopped() { exit.max(Exit::Interrupted) } else { exit })
}

fn read(path: &Path, args: &RunArgs, system: &System) -> Result<TestRun> {
    refuse_others(args)?;
    let JmeterPlanArgs { properties, scale, lenient, allow_dir } = &args.jmeter;
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let document = JmxDocument::parse(&bytes).map_err(|error| plan_error(path, &error))?;
    let mut map = properties::PropertyMap::new();
    for word in properties {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        map.insert(name.to_owned(), value.to_owned());
    }
    let settings = &args.settings;
    let folder = PlanFolder::for_plan(path, allow_dir);
    // The default of the option must not limit the plan.
    let has_max_duration = settings.sources.options().any(|option| option == "max-duration");
    let context = PlanContext {
        properties: &map,
        folder: &folder,
        resolve_all: settings.connection.resolve_all,
        scale: scale.unwrap_or(1.0),
        max_duration: has_max_duration.then_some(settings.load.max_duration),
        lenient: *lenient,
        records: to_plan::records(&settings.output),
        seed: settings.load.seed.unwrap_or(system.seed),
        threads: settings.load.threads.unwrap_or_else(|| system.half_of_cores()),
    };
    let mut test_run = plan::read(&document, &context).map_err(|error| plan_error(path, &error))?;
    let fleet = to_plan::fleet(settings)?;
    for stage in &mut test_run.stages {
        // The first agent carries out the stages before and after the load.
        stage.plan.fleet.clone_from(&fleet);
        brunt_dropin::prepare_stage(stage, &settings.checks.objectives, settings.load.processes)
            .map_err(|error| anyhow!("{error}"))?;
        stage.plan.allowed_targets.clone_from(&settings.fleet.allowed_targets);
        stage.plan.record.interval = settings.record.interval;
        if settings.output.trace {
            to_plan::trace::reduce(&mut stage.plan, settings);
        }
    }
    Ok(test_run)
}

fn plan_error(path: &Path, error: &brunt_jmx::JmxError) -> anyhow::Error {
    anyhow!("{}: {error}", path.display())
}

fn refuse_others(args: &RunArgs) -> Result<()> {
    let RunSettings { sources, output, .. } = &args.settings;
    let trace_options: &[&str] = if output.trace { &to_plan::trace::ALLOWED_OPTIONS } else { &[] };
    let mut options = sources.options();
    let Some(option) =
        options.find(|option| !ALLOWED_OPTIONS.contains(option) && !trace_options.contains(option))
    else {
        return Ok(());
    };
    let remedy = if to_plan::trace::ALLOWED_OPTIONS.contains(&option) {
        ", for all thread groups by --scale, or add --trace to debug the plan with few users and iterations"
    } else {
        ""
    };
    let wrong = "the plan of JMeter sets it; change it there, by a property (-J name=value)";
    bail!("{}", sources.text(|names| format!("{}: {wrong}{remedy}", names.name_of(option))))
}

fn title(kind: StageKind) -> &'static str {
    match kind {
        StageKind::Setup => "setUp thread groups",
        StageKind::Main => "thread groups",
        StageKind::Teardown => "tearDown thread groups",
    }
}

fn names(plan: &Plan) -> String {
    plan.populations
        .iter()
        .map(|population| population.name.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_allowed_with_a_plan_are_options_of_run() {
        for name in ALLOWED_OPTIONS {
            assert!(brunt_spec::settings::rows::run().any(|row| row.option == name), "{name}");
        }
    }
}
