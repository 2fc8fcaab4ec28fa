//! Experiments: `brunt sweep`, `brunt find`, `brunt compare`, and `brunt run` with a plan file.
//!
//! * [`mod@sweep`], [`mod@compare`]: build an experiment from the command line.
//!   [`planned`]: from a plan file.
//! * [`mod@find`]: `brunt find`, which chooses its loads during the run.
//! * [`terminal`]: prints the progress.
//!
//! The order of trials, hooks and managed servers are in the crate `rig`; the trials themselves are
//! in `runner`.

mod compare;
pub mod find;
mod planned;
mod sweep;
mod terminal;

use crate::args::RunArgs;
use crate::args::run::BrowserArgs;
use crate::exit::{
    CommandError, Exit, FailOn, exit_of_comparison, exit_of_study, fail_on, runtime_error,
    usage_error,
};
use crate::fleet;
use crate::live::print_line;
use crate::live_outputs;
use crate::measure::{print_exit_reason, print_nothing_measured, session};
use crate::output::Outputs;
use crate::result_file::{self, ResultFile};
use crate::team::TeamRun;
use crate::trace;
use anyhow::{Context, Result, ensure};
use brunt_live::LiveOutputs;
use brunt_model::numbers::plural;
use brunt_model::{Experiment, Text};
use brunt_rig::{RigContext, RigFailure};
use brunt_runner::EventListener;
use brunt_runner::experiment::{
    ExperimentRefusal, ExperimentRequest, ExperimentResult, ExperimentStart, GeneratorCapacity,
};
use brunt_runner::trace::Tracer;
use brunt_spec::{System, defaults};
use brunt_store::{Store, StoredItem};
pub use compare::{COMPARE_EXAMPLES, CompareArgs, compare};
pub use planned::{plan_path, run_plan};
use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::rc::Rc;
pub use sweep::{SWEEP_EXAMPLES, SweepArgs, sweep};
use terminal::Terminal;

/// Everything around an experiment: outputs, store, notes.
pub struct ExperimentContext {
    /// Name of the plan, if any.
    pub plan_name: Option<String>,
    /// Properties of this machine.
    pub system: System,
    /// Destinations of all reports.
    pub outputs: Outputs,
    /// Result file of JMeter's format, if requested.
    pub jtl: Option<ResultFile>,
    /// Services that receive figures during runs.
    pub live_outputs: LiveOutputs,
    /// Suppresses progress and text.
    pub quiet: bool,
    /// Prints each sample. Then only requested reports are written.
    pub tracer: Option<Tracer>,
    /// Results that make brunt fail.
    pub fail_on: FailOn,
    /// Notes for the user.
    pub notes: Vec<Text>,
    /// Store of the experiment.
    pub keep: StorePolicy,
    /// Files of brunt for agents of another architecture.
    pub programs: Vec<PathBuf>,
    /// Options of the studio; None for a command without them.
    pub browser: Option<BrowserArgs>,
}

/// Storage of an experiment.
pub enum StorePolicy {
    /// Stores the experiment from its start.
    Create(Store),
    /// Resumes a stored experiment. Finished trials are not repeated.
    Resume(Store),
    /// Does not store the experiment.
    None {
        /// Reason, unless the user requested it.
        note: Option<Text>,
    },
}

impl ExperimentContext {
    /// Builds the context from the command line, with notes for the user.
    pub fn from_args(run: &RunArgs, system: System, notes: Vec<String>) -> Result<Self> {
        let output = &run.settings.output;
        let outputs = Outputs::from_settings(output)?;
        let keep = StorePolicy::from_args(run)?;
        Ok(Self {
            plan_name: None,
            system,
            outputs,
            jtl: result_file::open(output)?,
            live_outputs: live_outputs::start(&output.live_outputs)?,
            quiet: output.quiet,
            tracer: trace::requested(output, &run.store)?,
            fail_on: fail_on(&run.settings.checks),
            notes: notes.into_iter().map(Text::from).collect(),
            keep,
            programs: run.settings.fleet.programs.clone(),
            browser: Some(run.browser.clone()),
        })
    }
}

impl StorePolicy {
    /// Selects the storage by the command line. An experiment also runs without a store, but only a
    /// stored one can be resumed.
    pub fn from_args(args: &RunArgs) -> Result<Self> {
        if args.settings.output.trace {
            return Ok(Self::None { note: None });
        }
        if args.plan.resume {
            let store = args.store.open()?.inspect(|store| args.browser.show(store));
            return store
                .map(Self::Resume)
                .context("--resume needs the store: leave out --no-store");
        }
        let mut notes = Vec::new();
        let store = args.open_store_or_note(&mut notes);
        Ok(store.map_or_else(|| Self::None { note: notes.pop() }, Self::Create))
    }
}

/// Refuses `--set`, which only plan files have.
fn refuse_sets(run: &RunArgs) -> Result<()> {
    ensure!(
        run.plan.sets.is_empty(),
        "--set changes a plan file: `brunt run PLAN.yaml --set …`; leave it out"
    );
    Ok(())
}

/// Runs an experiment, or the rest of it, and writes the reports.
pub fn run_experiment(
    experiment: &Experiment,
    context: ExperimentContext,
) -> Result<Exit, CommandError> {
    let mut notes = context.notes;
    let (start, store) = match context.keep {
        StorePolicy::Create(store) => (ExperimentStart::New, Some(store)),
        StorePolicy::Resume(store) => (ExperimentStart::Resumed, Some(store)),
        StorePolicy::None { note } => {
            // The note about the store comes first.
            notes.splice(0..0, note);
            (ExperimentStart::New, None)
        }
    };
    let steps = experiment.contenders.iter().flat_map(|contender| &contender.steps);
    let team = match &context.browser {
        Some(args) => TeamRun::join(args, store.as_ref(), steps.map(|step| &step.plan)),
        None => Ok(None),
    };
    let team = team.map_err(usage_error)?;
    notes.extend(team.iter().flat_map(TeamRun::notes).cloned());
    let fleet = fleet::start_for(experiment, &context.programs, context.quiet, store.as_ref());
    let fleet = fleet.map_err(runtime_error)?;
    let mut session =
        session(store, context.plan_name, context.fail_on, fleet).map_err(runtime_error)?;
    let guard = std::env::current_exe()
        .context("brunt cannot find its own program")
        .map_err(runtime_error)?;
    let rig =
        RigContext { guard: (guard, vec!["guard".into()]), time: &brunt_rig::RealClock::default() };
    // Each run boxes its own listeners, which share these.
    let jtl = context.jtl.map(|jtl| Rc::new(RefCell::new(jtl)));
    let tracer = context.tracer.map(|tracer| Rc::new(RefCell::new(tracer)));
    let quiet = context.quiet || tracer.is_some();
    let live_outputs = Rc::new(RefCell::new(context.live_outputs));
    let mut run_listeners: Vec<Rc<RefCell<dyn EventListener>>> =
        vec![Rc::clone(&live_outputs) as Rc<RefCell<dyn EventListener>>];
    if let Some(team) = &team {
        run_listeners.push(Rc::new(RefCell::new(team.listener())));
    }
    let mut stage_listeners = run_listeners.clone();
    stage_listeners.extend(tracer.clone().map(|tracer| tracer as Rc<RefCell<dyn EventListener>>));
    match &jtl {
        Some(jtl) => run_listeners.push(Rc::clone(jtl) as Rc<RefCell<dyn EventListener>>),
        None => run_listeners.clone_from(&stage_listeners),
    }
    let observer = Terminal { system: context.system, quiet, run_listeners, stage_listeners };
    let machine = GeneratorCapacity {
        cores: context.system.cores,
        rate_per_thread: defaults::RATE_PER_THREAD,
    };
    let request =
        ExperimentRequest { experiment, start, machine, rig: &rig, notes, observer: &observer };
    let result = session.experiment(request).map_err(refusal_error)?;
    live_outputs.borrow_mut().finish();
    let interrupted = result.study.interrupted;
    let outputs =
        if tracer.is_some() { context.outputs.without_default() } else { context.outputs };
    let id = result.study.id.clone();
    let exit = report(result, outputs, context.fail_on);
    if let (Some(team), Some(store), Some(id)) = (&team, &session.store, id) {
        team.push(store, &StoredItem::Experiment(id), quiet);
    }
    let exit = exit?;
    print_exit_reason(exit, quiet);
    if let Some(tracer) = tracer {
        return trace::end(&mut tracer.borrow_mut(), interrupted).map_err(runtime_error);
    }
    result_file::check_complete(jtl.as_ref().map(|jtl| jtl.borrow()).as_deref())
        .map_err(runtime_error)?;
    Ok(exit)
}

/// Selects the exit code of an experiment that was not started.
fn refusal_error(refusal: ExperimentRefusal) -> CommandError {
    let exit = match &refusal {
        ExperimentRefusal::Plan { .. } | ExperimentRefusal::Resume(_) => Exit::Usage,
        ExperimentRefusal::NoConnection { .. } | ExperimentRefusal::NoReply { .. } => {
            Exit::NothingMeasured
        }
        ExperimentRefusal::Folder { .. } => Exit::Failed,
    };
    CommandError { exit, error: refusal.into() }
}

/// Writes the reports, even of a failed experiment, and selects the exit code.
fn report(
    result: ExperimentResult,
    outputs: Outputs,
    fail_on: FailOn,
) -> Result<Exit, CommandError> {
    let is_empty = result.measured_nothing();
    let ExperimentResult { study, analysis, outcome } = result;
    if is_empty {
        match study.trials.first() {
            Some(trial) => {
                let place = format!(" in {}", plural(study.trials.len() as u64, "trial"));
                print_nothing_measured(&place, &trial.run);
            }
            None => print_line("brunt: nothing was measured: no trial was run"),
        }
        outputs.without_default().write_study(&study, &analysis).map_err(runtime_error)?;
        return Ok(Exit::NothingMeasured);
    }
    let written =
        if study.trials.is_empty() { Ok(()) } else { outputs.write_study(&study, &analysis) };
    match outcome {
        // The error of the experiment precedes that of writing: it is the cause of missing trials.
        Err(RigFailure::Host(error)) => {
            let exit = if error.is_of_stage() { Exit::Halted } else { Exit::Failed };
            Err(CommandError { exit, error: error.into() })
        }
        Err(failure) => Err(CommandError { exit: Exit::Halted, error: failure.into() }),
        Ok(_) => {
            let exit = exit_of_study(&study, &analysis, fail_on)
                .max(exit_of_comparison(&analysis, fail_on));
            written.map(|()| exit).map_err(runtime_error)
        }
    }
}

/// Generates a unique path for the folder of an experiment's files.
fn folder_name() -> Result<PathBuf> {
    let named = tempfile::Builder::new().prefix("brunt-").make(|_| Ok(()));
    Ok(named.context("no name for the folder of the experiment's files")?.path().to_owned())
}

/// Returns the folder if the plan uses it as `${dir}`. Other plans need no folder.
fn used_folder(experiment: &Experiment, folder: PathBuf) -> Result<Option<PathBuf>> {
    // In the form in which it occurs in the serialized experiment.
    let path = serde_json::to_string(&folder.display().to_string())?;
    let mut search = BufWriter::new(SearchWriter::new(path.trim_matches('"').as_bytes()));
    serde_json::to_writer(&mut search, experiment)?;
    search.flush()?;
    let is_used = search.get_ref().is_found;
    Ok(is_used.then_some(folder))
}

/// Maximum number of bytes that are searched at once.
const SEARCHED: usize = 64 * 1024;

/// Searches the bytes that are written to it, and keeps none of them: an experiment may be as large
/// as the bodies of its requests.
struct SearchWriter<'n> {
    needle: &'n [u8],
    /// The last bytes, in which the needle may begin.
    tail: Vec<u8>,
    is_found: bool,
}

impl<'n> SearchWriter<'n> {
    fn new(needle: &'n [u8]) -> Self {
        Self { needle, tail: Vec::new(), is_found: false }
    }
}

impl Write for SearchWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A long text arrives at once.
        let bytes = &bytes[..bytes.len().min(SEARCHED)];
        self.tail.extend_from_slice(bytes);
        self.is_found |= self.tail.windows(self.needle.len()).any(|window| window == self.needle);
        let overlap = self.tail.len().min(self.needle.len().saturating_sub(1));
        self.tail.drain(..self.tail.len() - overlap);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_is_cut() {
        let text = b"aab aaab /tmp/x aab";
        for (needle, is_found) in [(&b"aaab"[..], true), (b"/tmp/x", true), (b"aaaa", false)] {
            for piece in 1..=text.len() {
                let mut search = SearchWriter::new(needle);
                text.chunks(piece).for_each(|bytes| search.write_all(bytes).unwrap());
                assert_eq!(search.is_found, is_found, "{needle:?} in pieces of {piece}");
                assert!(search.tail.len() < needle.len());
            }
        }
    }
}
