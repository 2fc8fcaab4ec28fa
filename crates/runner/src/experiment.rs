//! An experiment, carried out: its trials one after the other, kept, and told to an [`Observer`].
//!
//! The order of trials, hooks and managed servers are in the crate `rig`; results are computed in [`crate::decide`].
//!
//! * `measurer`: makes the runs that `rig` asks for, and keeps them. `left`: how long it will still take.
//! * `seek`: the trials of a search, one after the other. `trial`: each of them. `told`: what is said of it.
//! * `resume`: an experiment that was interrupted, taken up again. `answers`: whether contenders answer alike.
//! * [`again`]: the experiment that repeats a stored one with another server.

pub mod again;
mod answers;
mod left;
mod measurer;
mod resume;
mod seek;
mod told;
mod trial;

use crate::decide;
use crate::error::RunError;
use crate::route::refused;
use crate::run::Listen;
use crate::session::Session;
use crate::world::Real;
use answers::Different;
use brunt_model::experiment::{ContenderHooks, HookCommands};
use brunt_model::{Analysis, Contender, Experiment, Plan, Question, Route, Study, TrialIndex};
use brunt_rig::{End, ExperimentFolder, Failure, RigContext};
use brunt_store::{ExperimentEnd, StoredItem};
use measurer::Measurer;
pub use resume::ResumeError;
use seek::Seeker;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
pub use trial::Machine;

/// An experiment, and what goes with it.
pub struct ExperimentRequest<'a> {
    /// The plans, their order and the question.
    pub experiment: &'a Experiment,
    /// Whether trials that are in the store already are made again.
    pub start: ExperimentStart,
    /// This machine.
    pub machine: Machine,
    /// Hooks and managed servers run in it.
    pub rig: &'a RigContext<'a>,
    /// Warnings that the report begins with.
    pub notes: Vec<String>,
    /// Who is told how it goes on.
    pub observer: &'a dyn Observer,
}

/// How an experiment begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExperimentStart {
    /// With its first trial.
    Anew,
    /// With the first trial that is missing in the store.
    Resumed,
}

/// What an experiment came to.
pub struct ExperimentResult {
    /// The trials that were made.
    pub study: Study,
    /// The decisions about the study.
    pub analysis: Analysis,
    /// How it came to its end.
    pub outcome: Result<End, Failure<RunError>>,
}

/// Why an experiment was not begun.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// What its plan names is not there, such as a certificate.
    #[error("{contender}")]
    Plan {
        /// Name of the contender.
        contender: String,
        /// Why.
        source: Box<RunError>,
    },
    /// Nothing listens where the server should be.
    #[error("nothing was measured: no connection to {contender} ({why})")]
    NoConnection {
        /// Name of the contender.
        contender: String,
        /// The error of the system.
        why: String,
    },
    /// A server that is to be compared does not reply.
    #[error("no response from {contender} ({url}): {why}; nothing was measured")]
    NoReply {
        /// Name of the contender.
        contender: String,
        /// The URL of the request.
        url: String,
        /// The error.
        why: String,
    },
    /// It cannot be taken up again.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The folder of its files cannot be made.
    #[error("{path}: no folder for the experiment's files")]
    Folder {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl ExperimentResult {
    /// Whether all trials were made as asked, and no reply came to any.
    pub fn measured_nothing(&self) -> bool {
        !self.study.interrupted && !self.study.trials.is_empty() && self.study.measured_nothing()
    }
}

/// Who is told how an experiment goes on.
pub trait Observer {
    /// Who hears the run that begins now; `title` says which of how many it is.
    fn progress(&self, plan: &Plan, title: String) -> Box<dyn Listen>;

    /// Who hears setup or teardown, beside the runner.
    fn stage(&self) -> Option<Box<dyn Listen>> {
        None
    }

    /// The way to the server of a run that begins now, and what its reader should be told.
    fn preflight(&self, plan: &Plan) -> (Option<Route>, Vec<String>);

    /// What goes on beside the runs, until something else does; empty: nothing more.
    fn show(&self, line: &str);

    /// Something that stays.
    fn tell(&self, line: &str);

    /// What a trial came to, whose load was known beforehand.
    fn made(&self, line: &str);
}

impl Session {
    /// Carries out an experiment, or the trials that are left of it, and stores it. An experiment without any reply is removed from the
    /// store.
    ///
    /// # Errors
    ///
    /// It cannot be begun. Once it is begun, whatever was measured is in the result.
    pub fn experiment(&mut self, request: ExperimentRequest) -> Result<ExperimentResult, Refusal> {
        let ExperimentRequest { experiment, start, machine, rig, notes, observer } = request;
        check_plans(experiment)?;
        let foreseen = look_at_contenders(experiment, observer)?;
        check_connections(experiment)?;
        let mut study = self.begin(experiment, start)?;
        study.warnings.extend(notes.into_iter().chain(foreseen));
        let path = study.experiment.scratch.as_deref();
        let folder = path.map(|path| ExperimentFolder::make(path, rig).map_err(|source| (path.to_owned(), source)));
        let _folder = folder.transpose().map_err(|(path, source)| Refusal::Folder { path, source })?;
        // A study that is taken up again keeps the environment in which it was begun.
        self.environment.clone_from(&study.environment);
        let (study, outcome) = self.trials(study, machine, rig, observer);
        Ok(self.end(study, outcome, observer))
    }

    /// The study as far as it is made; from now on it is in the store.
    fn begin(&mut self, experiment: &Experiment, start: ExperimentStart) -> Result<Study, Refusal> {
        if let (ExperimentStart::Resumed, Some(store)) = (start, &self.store) {
            let study = resume::taken_up(store, experiment)?;
            return Ok(Study { warnings: Vec::new(), ..study });
        }
        let unix_seconds = brunt_engine::clock::unix_seconds();
        let mut study = Study {
            id: None,
            experiment: experiment.clone(),
            environment: self.environment.clone(),
            unix_seconds,
            trials: Vec::new(),
            warnings: Vec::new(),
            interrupted: false,
            resumptions: Vec::new(),
        };
        let stored =
            self.store.as_ref().map(|store| store.begin_experiment(experiment, &self.environment, unix_seconds));
        match stored {
            Some(Ok(id)) => study.id = Some(id),
            Some(Err(error)) => {
                study.warnings.push(format!("this experiment is not stored: {error}"));
                self.store = None;
            }
            None => {}
        }
        Ok(study)
    }

    /// Makes the trials that are missing.
    fn trials(
        &self,
        study: Study,
        machine: Machine,
        rig: &RigContext,
        observer: &dyn Observer,
    ) -> (Study, Result<End, Failure<RunError>>) {
        let experiment = study.experiment.clone();
        let done: BTreeSet<TrialIndex> = study.trials.iter().map(|trial| trial.place).collect();
        let conditions = Conditions { session: self, machine, observer };
        let mut measurer = Measurer::new(study, &experiment, conditions, rig.time);
        let outcome = match Seeker::new(&experiment.question, &measurer.study) {
            _ if decide::is_decided(&measurer.study) => Ok(End::Enough),
            Some(mut seeker) => brunt_rig::pursue(&experiment, &mut seeker, rig, &mut measurer),
            None => brunt_rig::conduct(&experiment, &done, rig, &mut measurer),
        };
        (measurer.study, outcome)
    }

    /// Ends the experiment in the store, and analyses it.
    fn end(
        &self,
        mut study: Study,
        outcome: Result<End, Failure<RunError>>,
        observer: &dyn Observer,
    ) -> ExperimentResult {
        study.interrupted = !matches!(outcome, Ok(End::Whole | End::Enough));
        if let Err(failure) = &outcome {
            study.warnings.push(format!("the experiment was stopped: {failure:#}"));
        }
        self.redactor.study(&mut study);
        if let (Some(store), Some(id)) = (&self.store, &study.id) {
            let ended = ExperimentEnd { interrupted: study.interrupted, warnings: study.warnings.clone() };
            if let Err(error) = store.end_experiment(id, &ended) {
                study.warnings.push(format!("the list of experiments may be wrong about {id}: {error}"));
            }
        }
        let analysis = if study.trials.is_empty() { Analysis::default() } else { decide::analysis(&study) };
        let result = ExperimentResult { study, analysis, outcome };
        if let (true, Some(store), Some(id)) = (result.measured_nothing(), &self.store, &result.study.id)
            && let Err(error) = store.remove(&StoredItem::Experiment(id.clone()))
        {
            observer.tell(&format!("warning: experiment {id} cannot be removed: {error}"));
        }
        result
    }
}

/// What plans name, such as certificates, is to be there before anything is begun.
fn check_plans(experiment: &Experiment) -> Result<(), Refusal> {
    for contender in &experiment.contenders {
        let plan = contender.steps.first().map(|step| &step.plan);
        let stages = plan.iter().flat_map(|plan| &plan.around).map(|stage| &stage.plan);
        for plan in plan.into_iter().chain(stages) {
            Real::new(plan)
                .map_err(|source| Refusal::Plan { contender: contender.name.clone(), source: Box::new(source) })?;
        }
    }
    Ok(())
}

/// Asks each contender of a comparison once, and tells the differences between the replies and the questions that stay undecided.
/// Returns those that the runs will not show.
fn look_at_contenders(experiment: &Experiment, observer: &dyn Observer) -> Result<Vec<String>, Refusal> {
    let Question::Compare(compare) = &experiment.question else { return Ok(Vec::new()) };
    let Different { all, beside_runs } = answers::differences(experiment)?;
    let steps = match experiment.contenders.first() {
        Some(_) if experiment.grows() => experiment.given(),
        Some(contender) => contender.steps.len(),
        None => 0,
    };
    let undecidable =
        brunt_judge::compare::foreseen(experiment.contenders.len(), steps, experiment.repetitions, compare);
    for difference in &all {
        observer.tell(&format!("different replies: {difference}"));
    }
    for sentence in &undecidable {
        observer.tell(sentence);
    }
    Ok([beside_runs, undecidable].concat())
}

/// Checks that servers accept connections, except those that brunt or a hook starts. Otherwise all trials would measure nothing.
fn check_connections(experiment: &Experiment) -> Result<(), Refusal> {
    if experiment.hooks != HookCommands::default() {
        return Ok(());
    }
    let others_start =
        |contender: &Contender| contender.server.is_some() || contender.hooks != ContenderHooks::default();
    for contender in experiment.contenders.iter().filter(|contender| !others_start(contender)) {
        if let Some(why) = contender.steps.first().and_then(|step| refused(&step.plan)) {
            return Err(Refusal::NoConnection { contender: contender.name.clone(), why });
        }
    }
    Ok(())
}

/// What the trials of an experiment are carried out with.
struct Conditions<'a> {
    session: &'a Session,
    machine: Machine,
    observer: &'a dyn Observer,
}
