//! `brunt run plan.jmx`: a plan of JMeter, carried out as one run after another: setUp thread groups, thread groups, tearDown
//! thread groups.

use crate::args::RunArgs;
use crate::args::run::JmeterPlanArgs;
use crate::exit::{Exit, Failed, failed, usage};
use crate::live::say;
use crate::live_outputs;
use crate::measure::{MeasureContext, measure, session};
use crate::output::{self, Outputs};
use crate::process::system;
use crate::trace;
use anyhow::{Context, Result, anyhow, bail};
use brunt_jmx::plan::{self, PlanFolder, PlanSurroundings, TestRun};
use brunt_jmx::{Document, properties};
use brunt_model::{Plan, StageKind};
use brunt_runner::{Real, Storage, stages};
use brunt_spec::settings::RunSettings;
use brunt_spec::{System, to_plan};
use std::path::Path;

/// Options that go with a plan of JMeter. The plan sets all others.
const BESIDE: [&str; 19] = [
    "jtl",
    "jtl-format",
    "trace",
    "trace-only",
    "trace-bodies",
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

/// The plan of JMeter that stands in place of a URL, where it is one.
pub fn plan_path(word: &str) -> Option<&Path> {
    let path = Path::new(word);
    let is_plan = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"));
    (is_plan && !word.contains("://")).then_some(path)
}

/// Carries out a plan of JMeter.
pub fn run(path: &Path, args: &RunArgs) -> Result<Exit, Failed> {
    let system = system();
    let read = read(path, args, &system).map_err(usage)?;
    let of_main = read.stages.iter().filter(|stage| stage.kind == StageKind::Main).map(|stage| &stage.plan);
    let plans: Vec<&Plan> = of_main.collect();
    let has_several = plans.len() > 1;
    let settings = &args.settings;
    let quiet = settings.output.quiet;
    brunt_spec::check_objectives(&settings.checks.objectives, &plans).map_err(|error| usage(error.into()))?;
    if has_several && !settings.output.outputs.is_empty() {
        let wrong = "this plan runs its thread groups one after another, each with a report of its own; leave --output out, \
                     and write them later: brunt report ID -o html=FILE";
        return Err(usage(anyhow!(wrong)));
    }
    let mut outputs = Some(Outputs::of(&settings.output).map_err(usage)?);
    let mut notes = read.notices;
    let mut sinks = settings.output.live_outputs.clone();
    if !settings.output.trace {
        sinks.extend(read.live_outputs);
    }
    let mut live_outputs = live_outputs::start(&sinks).map_err(usage)?;
    let mut tracer = trace::requested(&settings.output).map_err(usage)?;
    let store = if tracer.is_some() { None } else { args.store.open_or_note(&mut notes, (&settings.output).into()) };
    live_outputs::know(&sinks);
    let plan_name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let session = session(store, plan_name, settings.checks.strict).map_err(failed)?;
    let mut log = output::event_log(&settings.output, &session).map_err(usage)?;
    let mut exit = Exit::Measured;
    stages::carry_out_all(read.stages, &session.interrupt, |stage| -> Result<Real, Failed> {
        let plan = &stage.plan;
        let world = Real::new(plan).map_err(|error| usage(error.into()))?;
        let is_main = stage.kind == StageKind::Main;
        let (route, warnings) = brunt_runner::check::short::preflight_short(plan, system.descriptors, system.cores);
        notes.extend(warnings);
        if !quiet && (has_several || !is_main) {
            say(&format!("{}: {}", title(stage.kind), names(plan)));
        }
        // Reports and the event log are those of the thread groups, also where setUp thread groups run before.
        let own_outputs = match outputs.take_if(|_| is_main) {
            Some(outputs) => outputs,
            None => Outputs::open(&[], quiet || !is_main).map_err(usage)?,
        };
        // A run ends its file; the next one appends to it.
        let mut jtl = output::result_file(&settings.output).map_err(usage)?;
        let around = MeasureContext {
            outputs: own_outputs,
            log: log.take_if(|_| is_main),
            jtl: jtl.as_mut(),
            live_outputs: &mut live_outputs,
            storage: if is_main { Storage::Alone } else { Storage::None },
            probes: if is_main { &settings.probes } else { &[] },
            quiet: quiet || !is_main,
            tracer: tracer.as_mut(),
            // Nobody reads a report of the setUp thread groups.
            notes: if is_main { std::mem::take(&mut notes) } else { Vec::new() },
            route,
        };
        let ended = measure(&session, plan, &world, around).map_err(failed)?;
        if is_main {
            exit = exit.max(ended);
        }
        Ok(world)
    })?;
    live_outputs.finish();
    Ok(if session.interrupt.is_stopped() { exit.max(Exit::Interrupted) } else { exit })
}

fn read(path: &Path, args: &RunArgs, system: &System) -> Result<TestRun> {
    refuse_others(args)?;
    let JmeterPlanArgs { properties, scale, lenient, allow_dir } = &args.jmeter;
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let named = |error: brunt_jmx::JmxError| anyhow!("{}: {error}", path.display());
    let document = Document::parse(&bytes).map_err(named)?;
    let mut map = properties::PropertyMap::new();
    for word in properties {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        map.insert(name.to_owned(), value.to_owned());
    }
    let settings = &args.settings;
    let folder = PlanFolder::of_plan(path, allow_dir);
    let said = |name: &str| settings.said.options().any(|option| option == name);
    let surroundings = PlanSurroundings {
        properties: &map,
        folder: &folder,
        resolve_all: settings.connection.resolve_all,
        scale: scale.unwrap_or(1.0),
        max_duration: said("max-duration").then_some(settings.load.max_duration),
        lenient: *lenient,
        records: to_plan::records(&settings.output),
        seed: settings.load.seed.unwrap_or(system.seed),
        threads: settings.load.threads.unwrap_or_else(|| system.half_of_cores()),
    };
    let mut read = plan::read(&document, &surroundings).map_err(named)?;
    for stage in &mut read.stages {
        brunt_dropin::prepare_stage(stage, &settings.checks.objectives, settings.load.processes)
            .map_err(|error| anyhow!("{error}"))?;
        stage.plan.record.interval = settings.record.interval;
        if settings.output.trace {
            to_plan::trace::reduce(&mut stage.plan, settings);
        }
    }
    Ok(read)
}

fn refuse_others(args: &RunArgs) -> Result<()> {
    let RunSettings { said: sources, output, .. } = &args.settings;
    let traced: &[&str] = if output.trace { &to_plan::trace::BESIDE } else { &[] };
    let mut options = sources.options();
    let Some(option) = options.find(|option| !BESIDE.contains(option) && !traced.contains(option)) else {
        return Ok(());
    };
    let remedy = if to_plan::trace::BESIDE.contains(&option) {
        ", for all thread groups by --scale, or add --trace to debug the plan with few users and iterations"
    } else {
        ""
    };
    let wrong = "the plan of JMeter sets it; change it there, by a property (-J name=value)";
    bail!("{}", sources.text(|names| format!("{}: {wrong}{remedy}", names.of(option))))
}

fn title(kind: StageKind) -> &'static str {
    match kind {
        StageKind::Setup => "setUp thread groups",
        StageKind::Main => "thread groups",
        StageKind::Teardown => "tearDown thread groups",
    }
}

fn names(plan: &Plan) -> String {
    plan.populations.iter().map(|population| population.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_beside_a_plan_are_options_of_a_run() {
        for name in BESIDE {
            assert!(brunt_spec::settings::rows::run().any(|row| row.option == name), "{name}");
        }
    }

    #[test]
    fn a_plan_of_jmeter_is_told_from_a_url() {
        for (word, is) in [("plan.jmx", true), ("a/b.JMX", true), ("http://h/plan.jmx", false), ("plan.yaml", false)] {
            assert_eq!(plan_path(word).is_some(), is, "{word}");
        }
    }
}
