//! Experiments: `brunt sweep`, `brunt find`, `brunt compare`, and `brunt run` of a plan file.
//!
//! * [`mod@sweep`], [`mod@compare`]: from the command line to an experiment. [`planned`]: a plan file's. [`resume`]: one that
//!   was interrupted.
//! * [`mod@find`]: `brunt find`, whose loads are chosen on the way.
//! * [`terminal`]: what is said of one while it goes on.
//! * [`answers`]: whether contenders answer alike, asked before anything is measured.
//!
//! The order of trials, hooks and managed servers are in the crate `rig`; the trials themselves are in `runner`.

mod answers;
mod compare;
pub mod find;
mod planned;
mod resume;
mod sweep;
mod terminal;

use crate::args::RunArgs;
use crate::ending::{Decisive, exit_of_comparison, exit_of_study};
use crate::exit::{Exit, Failed, failed, usage};
use crate::live::say;
use crate::live_outputs;
use crate::measure::{Strict, tell_exit};
use crate::output::{self, Outputs};
use crate::process::command_line;
use crate::redact;
use crate::signals;
use crate::trace::Tracer;
use anyhow::{Context, Result, anyhow, ensure};
use brunt_model::experiment::{ContenderHooks, HookCommands};
use brunt_model::numbers::plural;
use brunt_model::{Analysis, Contender, Environment, Experiment, Study};
use brunt_rig::{End, ExperimentFolder, Failure, RigContext};
use brunt_runner::Listen;
use brunt_runner::RunError;
use brunt_runner::decide;
use brunt_runner::experiment::{Conditions, Machine};
use brunt_runner::route::refused;
use brunt_runner::run::no_reply;
use brunt_runner::{LiveOutputs, Real, ResultFile};
use brunt_spec::{System, defaults};
use brunt_store::{ExperimentEnd, Store, StoredItem};
pub use compare::{COMPARE_EXAMPLES, CompareArgs, compare};
pub use planned::{plan_path, run_plan};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
pub use sweep::{SWEEP_EXAMPLES, SweepArgs, sweep};
use terminal::Terminal;

/// What goes with an experiment besides what is to be done.
pub struct ExperimentContext {
    /// The command line, for the report.
    pub command: String,
    /// Name of the plan, where there is one.
    pub plan_name: Option<String>,
    /// This machine.
    pub system: System,
    /// Where reports go.
    pub outputs: Outputs,
    /// The result file, where one is written.
    pub jtl: Option<ResultFile>,
    /// Systems that receive figures while runs go on.
    pub live_outputs: LiveOutputs,
    /// No progress, no text.
    pub quiet: bool,
    /// Shows each sample; reports are made only where they are asked for.
    pub tracer: Option<Tracer>,
    /// Whether a limited generator makes brunt fail.
    pub strict: Strict,
    /// Whether a comparison that decides nothing makes brunt fail.
    pub decisive: Decisive,
    /// What the user should be told.
    pub notes: Vec<String>,
    /// The store that it is written to.
    pub keep: StorePolicy,
}

/// Where an experiment is kept.
pub enum StorePolicy {
    /// In this store, from its beginning.
    Anew(Store),
    /// In this store; what is there of it is not made again.
    Resumed(Store),
    /// Nowhere.
    Nowhere {
        /// Why, where that was not asked for.
        note: Option<String>,
    },
}

impl ExperimentContext {
    /// As the command line says, with notes that the user should be told.
    pub fn asked(run: &RunArgs, system: System, notes: Vec<String>) -> Result<Self> {
        let output = &run.settings.output;
        let (outputs, keep) = (Outputs::of(output)?, StorePolicy::asked(run)?);
        Ok(Self {
            command: command_line(),
            plan_name: None,
            system,
            outputs,
            jtl: output::result_file(output)?,
            live_outputs: live_outputs::start(&output.live_outputs)?,
            quiet: output.quiet,
            tracer: Tracer::requested(output)?,
            strict: run.settings.checks.strict.into(),
            decisive: Decisive::No,
            notes,
            keep,
        })
    }
}

impl StorePolicy {
    /// As the command line says. Without a store an experiment goes on; without one, none can be taken up again.
    pub fn asked(args: &RunArgs) -> Result<Self> {
        if args.settings.output.trace {
            return Ok(Self::Nowhere { note: None });
        }
        if args.plan.resume {
            let store = args.store.open()?;
            return store.map(Self::Resumed).context("--resume needs the store: leave out --no-store");
        }
        let mut notes = Vec::new();
        let store = args.store.open_or_note(&mut notes, (&args.settings.output).into());
        Ok(store.map_or_else(|| Self::Nowhere { note: notes.pop() }, Self::Anew))
    }
}

/// `--set` is of plan files.
fn refuse_sets(run: &RunArgs) -> Result<()> {
    ensure!(run.plan.sets.is_empty(), "--set changes a plan file: `brunt run PLAN.yaml --set …`; leave it out");
    Ok(())
}

/// Carries out an experiment, or what is left of it, and reports it.
pub fn carry_out(experiment: &Experiment, given: ExperimentContext) -> Result<Exit, Failed> {
    // What plans name, such as certificates, is to be there before anything is begun.
    for contender in &experiment.contenders {
        let plan = contender.steps.first().map(|step| &step.plan);
        let stages = plan.iter().flat_map(|plan| &plan.around).map(|stage| &stage.plan);
        plan.into_iter()
            .chain(stages)
            .try_for_each(|plan| Real::new(plan).map(|_| ()))
            .with_context(|| contender.name.clone())
            .map_err(usage)?;
    }
    reachable(experiment)?;
    let machine = brunt_probe::machine::environment(given.command, env!("CARGO_PKG_VERSION"));
    let environment = Environment { strict: given.strict == Strict::Yes, plan_name: given.plan_name, ..machine };
    let (mut study, store) = begun(experiment, &environment, given.keep)?;
    study.warnings.extend(given.notes);

    let interrupt = signals::listen().map_err(failed)?;
    let guard = std::env::current_exe().context("brunt cannot find its own program").map_err(failed)?;
    let time = brunt_rig::Real::default();
    let context = RigContext { guard: (guard, vec!["guard".into()]), time: &time };
    let folder = study.experiment.scratch.as_deref();
    let _folder = folder.map(|path| make_folder(path, &context)).transpose().map_err(failed)?;
    let machine = Machine { cores: given.system.cores, rate_per_thread: defaults::RATE_PER_THREAD };
    let jtl = given.jtl.map(|jtl| Rc::new(RefCell::new(jtl)));
    let tracer = given.tracer.map(|tracer| Rc::new(RefCell::new(tracer)));
    let traced = tracer.is_some();
    let live_outputs = Rc::new(RefCell::new(given.live_outputs));
    let mut runs: Vec<Rc<RefCell<dyn Listen>>> = vec![Rc::clone(&live_outputs) as Rc<RefCell<dyn Listen>>];
    let mut stages = runs.clone();
    stages.extend(tracer.clone().map(|tracer| tracer as Rc<RefCell<dyn Listen>>));
    match &jtl {
        Some(jtl) => runs.push(Rc::clone(jtl) as Rc<RefCell<dyn Listen>>),
        None => runs.clone_from(&stages),
    }
    let observer = Terminal { system: given.system, quiet: given.quiet || traced, runs, stages };
    let redactor = redact::current();
    let conditions = Conditions { machine, store: store.as_ref(), interrupt, redactor, observer: &observer };
    let (study, outcome) = brunt_runner::experiment::carry_out(study, &context, conditions);
    live_outputs.borrow_mut().finish();
    let quiet = given.quiet || traced;
    let fails = Fails { strict: given.strict, decisive: given.decisive, quiet };
    let outputs = if traced { given.outputs.asked_for() } else { given.outputs };
    let interrupted = !matches!(outcome, Ok(End::Whole | End::Enough));
    let exit = finish(study, store.as_ref(), outcome, outputs, fails)?;
    if let Some(tracer) = tracer {
        return tracer.borrow_mut().end(interrupted).map_err(failed);
    }
    output::whole(jtl.as_ref().map(|jtl| jtl.borrow()).as_deref()).map_err(failed)?;
    Ok(exit)
}

/// Servers that nobody is to start must be there: else every trial would measure nothing. A comparison has asked each by then.
fn reachable(experiment: &Experiment) -> Result<(), Failed> {
    let others_start =
        |contender: &&Contender| contender.server.is_some() || contender.hooks != ContenderHooks::default();
    if experiment.hooks != HookCommands::default() {
        return Ok(());
    }
    let there = experiment.contenders.iter().filter(|contender| !others_start(contender));
    let plans = there.filter_map(|contender| Some((contender, &contender.steps.first()?.plan)));
    for (contender, plan) in plans {
        if let Some(why) = refused(plan) {
            let error = anyhow!("nothing was measured: no connection to {} ({why})", contender.name);
            return Err(Failed { exit: Exit::NothingMeasured, error });
        }
    }
    Ok(())
}

/// What makes brunt fail besides failures.
#[derive(Clone, Copy)]
struct Fails {
    strict: Strict,
    decisive: Decisive,
    /// It is not told why.
    quiet: bool,
}

/// The study as far as it is made, and the store that keeps it.
fn begun(
    experiment: &Experiment,
    environment: &Environment,
    keep: StorePolicy,
) -> Result<(Study, Option<Store>), Failed> {
    let unix_seconds = brunt_engine::clock::unix_seconds();
    let anew = |id, warnings| Study {
        id,
        experiment: experiment.clone(),
        environment: environment.clone(),
        unix_seconds,
        trials: Vec::new(),
        warnings,
        interrupted: false,
        resumptions: Vec::new(),
    };
    match keep {
        StorePolicy::Resumed(store) => {
            let study = resume::taken_up(&store, experiment).map_err(usage)?;
            Ok((Study { warnings: Vec::new(), ..study }, Some(store)))
        }
        StorePolicy::Anew(store) => match store.begin_experiment(experiment, environment, unix_seconds) {
            Ok(id) => Ok((anew(Some(id), Vec::new()), Some(store))),
            Err(error) => Ok((anew(None, vec![format!("this experiment is not stored: {error}")]), None)),
        },
        StorePolicy::Nowhere { note } => Ok((anew(None, note.into_iter().collect()), None)),
    }
}

fn make_folder(path: &Path, context: &RigContext) -> Result<ExperimentFolder> {
    ExperimentFolder::make(path, context)
        .with_context(|| format!("{}: no folder for the experiment's files", path.display()))
}

/// Draws the name of a folder for an experiment's files.
fn folder_name() -> Result<PathBuf> {
    let named = tempfile::Builder::new().prefix("brunt-").make(|_| Ok(()));
    Ok(named.context("no name for the folder of the experiment's files")?.path().to_owned())
}

/// Returns the folder if the plan names it by `${dir}`; other plans need none.
fn used_folder(experiment: &Experiment, folder: PathBuf) -> Result<Option<PathBuf>> {
    let path = serde_json::to_string(&folder.display().to_string())?;
    let is_used = serde_json::to_string(experiment)?.contains(path.trim_matches('"'));
    Ok(is_used.then_some(folder))
}

/// Reports what was measured, whatever happened.
fn finish(
    mut study: Study,
    store: Option<&Store>,
    outcome: Result<End, Failure<RunError>>,
    outputs: Outputs,
    fails: Fails,
) -> Result<Exit, Failed> {
    study.interrupted = !matches!(outcome, Ok(End::Whole | End::Enough));
    if let Err(failure) = &outcome {
        study.warnings.push(format!("the experiment was stopped: {failure:#}"));
    }
    redact::current().study(&mut study);
    if let (Some(store), Some(id)) = (store, &study.id) {
        let ended = ExperimentEnd { interrupted: study.interrupted, warnings: study.warnings.clone() };
        let trouble = store.end_experiment(id, &ended).err();
        study.warnings.extend(trouble.map(|error| format!("the list of experiments may be wrong about {id}: {error}")));
    }
    let nothing = outcome.is_ok() && !study.interrupted && !study.trials.is_empty() && study.measured_nothing();
    if nothing {
        return told_nothing(&study, store, outputs);
    }
    let analysis = if study.trials.is_empty() { Analysis::default() } else { decide::analysis(&study) };
    let written = if study.trials.is_empty() { Ok(()) } else { outputs.write_study(&study, &analysis) };
    match outcome {
        Err(Failure::Host(error)) => {
            let exit = if error.is_of_stage() { Exit::Halted } else { Exit::Failed };
            Err(Failed { exit, error: error.into() })
        }
        Err(failure) => Err(Failed { exit: Exit::Halted, error: failure.into() }),
        Ok(_) => {
            let exit = exit_of_study(&study, &analysis, fails.strict);
            let exit = exit.max(exit_of_comparison(&analysis, fails.decisive));
            tell_exit(exit, fails.quiet);
            written.map(|()| exit).map_err(failed)
        }
    }
}

/// An experiment without a single reply: one line, the reports that were asked for, and nothing in the store.
fn told_nothing(study: &Study, store: Option<&Store>, outputs: Outputs) -> Result<Exit, Failed> {
    let why = study.trials.first().map_or_else(|| "no trial was run".into(), |trial| no_reply(&trial.run));
    say(&format!("brunt: nothing was measured in {}: {why}", plural(study.trials.len() as u64, "trial")));
    if let (Some(store), Some(id)) = (store, &study.id) {
        let removed = store.remove(&StoredItem::Experiment(id.clone()));
        removed.map_or_else(|error| say(&format!("warning: experiment {id} cannot be removed: {error}")), |_| ());
    }
    outputs.asked_for().write_study(study, &decide::analysis(study)).map_err(failed)?;
    Ok(Exit::NothingMeasured)
}
