//! Experiments: `brunt sweep`, `brunt find`, `brunt compare`, and `brunt run` of a plan file.
//!
//! * [`mod@sweep`], [`mod@compare`]: from the command line to an experiment. [`planned`]: a plan file's.
//! * [`mod@find`]: `brunt find`, whose loads are chosen on the way.
//! * [`terminal`]: what is said of one while it goes on.
//!
//! The order of trials, hooks and managed servers are in the crate `rig`; the trials themselves are in `runner`.

mod compare;
pub mod find;
mod planned;
mod sweep;
mod terminal;

use crate::args::RunArgs;
use crate::exit::{Exit, FailOn, Failed, exit_of_comparison, exit_of_study, failed};
use crate::live::say;
use crate::live_outputs;
use crate::measure::{session, tell_exit};
use crate::output::{self, Outputs};
use crate::trace;
use anyhow::{Context, Result, ensure};
use brunt_model::Experiment;
use brunt_model::numbers::plural;
use brunt_rig::{Failure, RigContext};
use brunt_runner::Listen;
use brunt_runner::experiment::{ExperimentRequest, ExperimentResult, ExperimentStart, Machine, Refusal};
use brunt_runner::run::no_reply;
use brunt_runner::trace::Tracer;
use brunt_runner::{LiveOutputs, ResultFile};
use brunt_spec::{System, defaults};
use brunt_store::Store;
pub use compare::{COMPARE_EXAMPLES, CompareArgs, compare};
pub use planned::{plan_path, run_plan};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
pub use sweep::{SWEEP_EXAMPLES, SweepArgs, sweep};
use terminal::Terminal;

/// What goes with an experiment besides what is to be done.
pub struct ExperimentContext {
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
    /// Doubts that make brunt fail.
    pub fail_on: FailOn,
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
            plan_name: None,
            system,
            outputs,
            jtl: output::result_file(output)?,
            live_outputs: live_outputs::start(&output.live_outputs)?,
            quiet: output.quiet,
            tracer: trace::requested(output)?,
            fail_on: FailOn { limited: run.settings.checks.strict, undecided: false },
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
    let mut notes = given.notes;
    let (start, store) = match given.keep {
        StorePolicy::Anew(store) => (ExperimentStart::Anew, Some(store)),
        StorePolicy::Resumed(store) => (ExperimentStart::Resumed, Some(store)),
        StorePolicy::Nowhere { note } => {
            notes.splice(0..0, note);
            (ExperimentStart::Anew, None)
        }
    };
    let mut session = session(store, given.plan_name, given.fail_on.limited).map_err(failed)?;
    let guard = std::env::current_exe().context("brunt cannot find its own program").map_err(failed)?;
    let rig = RigContext { guard: (guard, vec!["guard".into()]), time: &brunt_rig::Real::default() };
    let jtl = given.jtl.map(|jtl| Rc::new(RefCell::new(jtl)));
    let tracer = given.tracer.map(|tracer| Rc::new(RefCell::new(tracer)));
    let quiet = given.quiet || tracer.is_some();
    let live_outputs = Rc::new(RefCell::new(given.live_outputs));
    let mut runs: Vec<Rc<RefCell<dyn Listen>>> = vec![Rc::clone(&live_outputs) as Rc<RefCell<dyn Listen>>];
    let mut stages = runs.clone();
    stages.extend(tracer.clone().map(|tracer| tracer as Rc<RefCell<dyn Listen>>));
    match &jtl {
        Some(jtl) => runs.push(Rc::clone(jtl) as Rc<RefCell<dyn Listen>>),
        None => runs.clone_from(&stages),
    }
    let observer = Terminal { system: given.system, quiet, runs, stages };
    let machine = Machine { cores: given.system.cores, rate_per_thread: defaults::RATE_PER_THREAD };
    let request = ExperimentRequest { experiment, start, machine, rig: &rig, notes, observer: &observer };
    let result = session.experiment(request).map_err(refused)?;
    live_outputs.borrow_mut().finish();
    let interrupted = result.study.interrupted;
    let outputs = if tracer.is_some() { given.outputs.asked_for() } else { given.outputs };
    let exit = report(result, outputs, given.fail_on)?;
    tell_exit(exit, quiet);
    if let Some(tracer) = tracer {
        return trace::end(&mut tracer.borrow_mut(), interrupted).map_err(failed);
    }
    output::whole(jtl.as_ref().map(|jtl| jtl.borrow()).as_deref()).map_err(failed)?;
    Ok(exit)
}

/// How brunt exits where an experiment was not begun.
fn refused(refusal: Refusal) -> Failed {
    let exit = match &refusal {
        Refusal::Plan { .. } | Refusal::Resume(_) => Exit::Usage,
        Refusal::NoConnection { .. } | Refusal::NoReply { .. } => Exit::NothingMeasured,
        Refusal::Folder { .. } => Exit::Failed,
    };
    Failed { exit, error: refusal.into() }
}

/// Reports what was measured, whatever happened.
fn report(result: ExperimentResult, outputs: Outputs, fail_on: FailOn) -> Result<Exit, Failed> {
    let nothing = result.measured_nothing();
    let ExperimentResult { study, analysis, outcome } = result;
    if nothing {
        let why = study.trials.first().map_or_else(|| "no trial was run".into(), |trial| no_reply(&trial.run));
        say(&format!("brunt: nothing was measured in {}: {why}", plural(study.trials.len() as u64, "trial")));
        outputs.asked_for().write_study(&study, &analysis).map_err(failed)?;
        return Ok(Exit::NothingMeasured);
    }
    let written = if study.trials.is_empty() { Ok(()) } else { outputs.write_study(&study, &analysis) };
    match outcome {
        Err(Failure::Host(error)) => {
            let exit = if error.is_of_stage() { Exit::Halted } else { Exit::Failed };
            Err(Failed { exit, error: error.into() })
        }
        Err(failure) => Err(Failed { exit: Exit::Halted, error: failure.into() }),
        Ok(_) => {
            let exit = exit_of_study(&study, &analysis, fail_on).max(exit_of_comparison(&analysis, fail_on));
            written.map(|()| exit).map_err(failed)
        }
    }
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
