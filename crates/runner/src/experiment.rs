//! Carries out an experiment: makes its trials one after the other, stores them, and reports
//! them to an [`Observer`].
//!
//! The crate `rig` orders trials, runs hooks and manages
//! servers. [`crate::decide`] computes results.
//!
//! * `measurer`: makes the runs that `rig` requests, and stores them.
//! * `time_left`: estimate of the remaining time.
//! * `seek`: the trials of a search, one after the other.
//! * `trial`: the plan of a trial.
//! * `messages`: progress of a search.
//! * `resume`: continues an interrupted experiment.
//! * `answers`: compares the replies of contenders.
//! * [`again`]: an experiment that repeats a stored one with another server.

pub mod again;
mod answers;
mod measurer;
mod messages;
mod resume;
mod seek;
mod time_left;
mod trial;

use crate::decide;
use crate::error::RunError;
use crate::run::EventListener;
use crate::session::CommandSession;
use crate::world::RealWorld;
use answers::ReplyDifferences;
use brunt_check::route::connection_error;
use brunt_model::experiment::{ContenderHooks, HookCommands};
use brunt_model::{
    Analysis, Contender, Experiment, Plan, Question, Route, Study, Text, TrialIndex, text,
};
use brunt_rig::{ExperimentFolder, ExperimentOutcome, RigContext, RigFailure};
use brunt_script::Languages;
use brunt_store::{ExperimentEnd, StoredItem};
use measurer::Measurer;
pub use resume::ResumeError;
use seek::Seeker;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
pub use trial::GeneratorCapacity;

/// An experiment, and everything that it needs to run.
pub struct ExperimentRequest<'a> {
    /// Plans of the experiment, their order, and the question.
    pub experiment: &'a Experiment,
    /// First trial of the experiment.
    pub start: ExperimentStart,
    /// This machine, as the load generator.
    pub machine: GeneratorCapacity,
    /// Context for hooks and managed servers.
    pub rig: &'a RigContext<'a>,
    /// Warnings at the start of the report.
    pub notes: Vec<Text>,
    /// Receiver of progress messages.
    pub observer: &'a dyn Observer,
}

/// First trial of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExperimentStart {
    /// It starts with the first of all trials.
    New,
    /// It starts with the first trial that is not in the store.
    Resumed,
}

/// Result of an experiment.
pub struct ExperimentResult {
    /// The trials that were made.
    pub study: Study,
    /// The decisions about the study.
    pub analysis: Analysis,
    /// Reason why the experiment ended.
    pub outcome: Result<ExperimentOutcome, RigFailure<RunError>>,
}

/// Reason why an experiment was not started.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentRefusal {
    /// A file that the plan names does not exist, such as a certificate.
    #[error("{contender}")]
    Plan {
        /// Name of the contender.
        contender: String,
        /// Cause of the error.
        source: Box<RunError>,
    },
    /// No process accepts connections at the address of the server.
    #[error("nothing was measured: no connection to {contender} ({why})")]
    NoConnection {
        /// Name of the contender.
        contender: String,
        /// Error of the system.
        why: String,
    },
    /// A server of a comparison does not reply.
    #[error("no response from {contender} ({url}): {why}; nothing was measured")]
    NoReply {
        /// Name of the contender.
        contender: String,
        /// URL of the request.
        url: String,
        /// Error of the request.
        why: String,
    },
    /// The experiment cannot be resumed.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The folder of its files cannot be created.
    #[error("{path}: no folder for the experiment's files")]
    Folder {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl ExperimentResult {
    /// True if all trials were completed, and none got a reply.
    pub fn measured_nothing(&self) -> bool {
        !self.study.interrupted && !self.study.trials.is_empty() && self.study.has_no_reply()
    }
}

/// Receives the progress of an experiment.
pub trait Observer {
    /// Returns the listener of a run that begins. `title` contains its index and
    /// the number of trials.
    fn progress(&self, plan: &Plan, title: String) -> Box<dyn EventListener>;

    /// Returns a listener of setup or teardown, in addition to the runner.
    fn stage(&self) -> Option<Box<dyn EventListener>> {
        None
    }

    /// Returns the route to the server of a run that begins, and notes for the report.
    fn preflight(&self, plan: &Plan) -> (Option<Route>, Vec<Text>);

    /// Shows the current activity between runs until the next call; an empty line shows nothing.
    fn show_status(&self, line: &str);

    /// Prints a message permanently.
    fn print(&self, line: &str);

    /// Prints the result of a trial with a given load.
    fn trial_finished(&self, line: &str);
}

impl CommandSession {
    /// Carries out an experiment, or the trials of it that are missing, and stores it. An
    /// experiment without any reply is removed from the store.
    ///
    /// # Errors
    ///
    /// The experiment cannot be started. After the start, all measurements are in the result.
    pub fn experiment(
        &mut self,
        request: ExperimentRequest,
    ) -> Result<ExperimentResult, ExperimentRefusal> {
        let ExperimentRequest { experiment, start, machine, rig, notes, observer } = request;
        check_plans(experiment, self.languages)?;
        for sentence in brunt_judge::compare::undecidable(experiment) {
            observer.print(&sentence);
        }
        // Before the study begins: a server that does not reply must leave nothing in the store.
        let reply_notes = compare_replies(experiment, self.languages, observer)?;
        check_connections(experiment)?;
        let mut study = self.begin(experiment, start)?;
        study.warnings.extend(notes.into_iter().chain(reply_notes));
        let path = study.experiment.scratch.as_deref();
        let folder = path.map(|path| {
            ExperimentFolder::make(path, rig).map_err(|source| (path.to_owned(), source))
        });
        let _folder = folder
            .transpose()
            .map_err(|(path, source)| ExperimentRefusal::Folder { path, source })?;
        // A resumed study keeps the environment of its start.
        self.environment.clone_from(&study.environment);
        let (study, outcome) = self.trials(study, machine, rig, observer);
        Ok(self.end(study, outcome, observer))
    }

    /// Begins or resumes the study. From here on it is in the store.
    fn begin(
        &mut self,
        experiment: &Experiment,
        start: ExperimentStart,
    ) -> Result<Study, ExperimentRefusal> {
        if let (ExperimentStart::Resumed, Some(store)) = (start, &self.store) {
            let study = resume::resume(store, experiment)?;
            // The warnings of the interrupted part would be listed twice.
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
        let stored = self
            .store
            .as_ref()
            .map(|store| store.begin_experiment(experiment, &self.environment, unix_seconds));
        match stored {
            Some(Ok(id)) => study.id = Some(id),
            Some(Err(error)) => {
                let why = error.to_string();
                study.warnings.push(text!("warning-not-stored-experiment", why));
                // The trials could not refer to an experiment that the store does not have.
                self.store = None;
            }
            None => {}
        }
        Ok(study)
    }

    /// Makes the missing trials.
    fn trials(
        &self,
        study: Study,
        machine: GeneratorCapacity,
        rig: &RigContext,
        observer: &dyn Observer,
    ) -> (Study, Result<ExperimentOutcome, RigFailure<RunError>>) {
        let experiment = study.experiment.clone();
        let done: BTreeSet<TrialIndex> = study.trials.iter().map(|trial| trial.place).collect();
        let conditions = Conditions { session: self, machine, observer };
        let mut measurer = Measurer::new(study, &experiment, conditions, rig.time);
        let outcome = match Seeker::new(&experiment.question, &measurer.study) {
            // A resumed experiment may have its answer already.
            _ if decide::is_decided(&measurer.study) => Ok(ExperimentOutcome::Enough),
            Some(mut seeker) => brunt_rig::pursue(&experiment, &mut seeker, rig, &mut measurer),
            None => brunt_rig::conduct(&experiment, &done, rig, &mut measurer),
        };
        (measurer.study, outcome)
    }

    /// Ends the experiment in the store, and analyzes it.
    fn end(
        &self,
        mut study: Study,
        outcome: Result<ExperimentOutcome, RigFailure<RunError>>,
        observer: &dyn Observer,
    ) -> ExperimentResult {
        study.interrupted =
            !matches!(outcome, Ok(ExperimentOutcome::Whole | ExperimentOutcome::Enough));
        if let Err(failure) = &outcome {
            let why = format!("{failure:#}");
            study.warnings.push(text!("warning-stopped", why));
        }
        // Trials ran with the secrets; results and reports must not contain them.
        self.redactor.study(&mut study);
        if let (Some(store), Some(id)) = (&self.store, &study.id) {
            let end =
                ExperimentEnd { interrupted: study.interrupted, warnings: study.warnings.clone() };
            if let Err(error) = store.end_experiment(id, &end) {
                study.warnings.push(
                    format!("the list of experiments may be wrong about {id}: {error}").into(),
                );
            }
        }
        let analysis =
            if study.trials.is_empty() { Analysis::default() } else { decide::analysis(&study) };
        let result = ExperimentResult { study, analysis, outcome };
        if let (true, Some(store), Some(id)) =
            (result.measured_nothing(), &self.store, &result.study.id)
            && let Err(error) = store.remove(&StoredItem::Experiment(id.clone()))
        {
            observer.print(&format!("warning: experiment {id} cannot be removed: {error}"));
        }
        result
    }
}

/// Checks that files of the plans, such as certificates, exist before the experiment begins.
fn check_plans(experiment: &Experiment, languages: Languages) -> Result<(), ExperimentRefusal> {
    for contender in &experiment.contenders {
        let plan = contender.steps.first().map(|step| &step.plan);
        let stages = plan.iter().flat_map(|plan| &plan.stages).map(|stage| &stage.plan);
        for plan in plan.into_iter().chain(stages) {
            // Creating the world reads all files that the plan names.
            RealWorld::new(plan, languages).map_err(|source| ExperimentRefusal::Plan {
                contender: contender.name.clone(),
                source: Box::new(source),
            })?;
        }
    }
    Ok(())
}

/// Sends one request to each contender of a comparison, and reports differences between the replies.
/// Returns those that are not visible in the runs.
fn compare_replies(
    experiment: &Experiment,
    languages: Languages,
    observer: &dyn Observer,
) -> Result<Vec<Text>, ExperimentRefusal> {
    let Question::Compare(_) = &experiment.question else { return Ok(Vec::new()) };
    let mut plans = experiment.contenders.iter().flat_map(|contender| &contender.steps);
    let ReplyDifferences { all, not_in_runs } = if plans.any(|step| step.plan.is_elsewhere()) {
        // This machine may have no way to the servers.
        ReplyDifferences::default()
    } else {
        answers::differences(experiment, languages)?
    };
    for difference in &all {
        observer.print(&format!("different replies: {difference}"));
    }
    Ok(not_in_runs)
}

/// Checks that servers accept connections, except those that brunt or a hook starts. Otherwise no
/// trial would measure anything.
fn check_connections(experiment: &Experiment) -> Result<(), ExperimentRefusal> {
    // A hook of the experiment may start the servers of all contenders.
    if experiment.hooks != HookCommands::default() {
        return Ok(());
    }
    for contender in experiment.contenders.iter().filter(|contender| !is_started_later(contender)) {
        // This machine may have no way to the server of agents elsewhere.
        let step = contender.steps.first().filter(|step| !step.plan.is_elsewhere());
        if let Some(why) = step.and_then(|step| connection_error(&step.plan)) {
            return Err(ExperimentRefusal::NoConnection { contender: contender.name.clone(), why });
        }
    }
    Ok(())
}

/// True if brunt starts the server of a contender, or a hook may start it.
fn is_started_later(contender: &Contender) -> bool {
    contender.server.is_some() || contender.hooks != ContenderHooks::default()
}

/// Context for the trials of an experiment.
struct Conditions<'a> {
    session: &'a CommandSession,
    machine: GeneratorCapacity,
    observer: &'a dyn Observer,
}
