//! Begins, extends, ends and resumes experiments, and reads them with their trials.

use super::{Store, mend};
use crate::entry::{ItemKind, ItemState};
use crate::experiment::{self, ExperimentEnd, ExperimentHead, ExperimentRecord};
use crate::{EntryFilter, StoreError, directory};
use brunt_model::experiment::LoadStep;
use brunt_model::study::Resumption;
use brunt_model::{Environment, Experiment, Question, Study, Trial};
use std::collections::btree_map;
use std::fs::OpenOptions;

impl Store {
    /// Begins an experiment and returns its id. `unix_seconds` is its start, in
    /// seconds since 1970-01-01 UTC.
    pub fn begin_experiment(
        &self,
        experiment: &Experiment,
        environment: &Environment,
        unix_seconds: f64,
    ) -> Result<String, StoreError> {
        let id = self.claim(ItemKind::Experiment)?;
        let path = self.directory.experiment(&id);
        let file = directory::create_new(&path).map_err(StoreError::io(&path))?;
        // Without file locks, an active experiment looks torn to other processes.
        let _ = file.lock();
        let mut head = ExperimentHead {
            experiment: experiment.clone(),
            environment: environment.clone(),
            unix_seconds,
        };
        head.redact(&self.redactor);
        experiment::begin(&file, &head).map_err(StoreError::io(&path))?;
        self.active_experiments.borrow_mut().insert(id.clone(), file);
        self.describe(&id, &head)?;
        Ok(id)
    }

    /// Resumes an experiment that ended before all its trials were complete. Returns
    /// its study so far.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such experiment, or another process writes to it, or its files are damaged.
    pub fn resume_experiment(&self, id: &str) -> Result<Study, StoreError> {
        if let btree_map::Entry::Vacant(vacant) =
            self.active_experiments.borrow_mut().entry(id.to_owned())
        {
            let path = self.directory.experiment(id);
            let file =
                OpenOptions::new().append(true).open(&path).map_err(StoreError::io(&path))?;
            file.try_lock().map_err(|_| StoreError::Busy(id.to_owned()))?;
            // A partial frame would make all later frames unreadable.
            let whole = experiment::read(&path)?.whole_bytes;
            file.set_len(whole).map_err(StoreError::io(&path))?;
            directory::make_private(&path);
            vacant.insert(file);
        }
        self.index().set_end(id, ItemState::Running, None)?;
        self.study(id)
    }

    /// Records the end of an experiment that this process began or resumed.
    pub fn end_experiment(&self, id: &str, end: &ExperimentEnd) -> Result<(), StoreError> {
        let mut record = ExperimentRecord::Ended(end.clone());
        record.redact(&self.redactor);
        self.append(id, &record)?;
        self.active_experiments.borrow_mut().remove(id);
        self.index().set_end(id, mend::progress_of(Some(end)), None)
    }

    /// Appends a step to a contender of an experiment that this process runs.
    ///
    /// The step is on the disk when this returns, so that a later run always belongs
    /// to a recorded step.
    pub fn add_experiment_step(
        &self,
        id: &str,
        contender: usize,
        step: &LoadStep,
    ) -> Result<(), StoreError> {
        let mut grown = Box::new(step.clone());
        self.redactor.step(&mut grown);
        self.append(id, &ExperimentRecord::StepAdded { contender, grown })?;
        self.describe(id, &experiment::read(&self.directory.experiment(id))?.head)
    }

    /// Records that this process resumes an experiment. `question` is the new question if it
    /// changed, for instance to more time.
    pub fn record_resumption(
        &self,
        id: &str,
        unix_seconds: f64,
        question: Option<&Question>,
    ) -> Result<Resumption, StoreError> {
        let resumption = Resumption { unix_seconds, question_changed: question.is_some() };
        let question = question.map(|question| Box::new(question.clone()));
        self.append(id, &ExperimentRecord::Resumed { resumption, question })?;
        Ok(resumption)
    }

    fn append(&self, id: &str, record: &ExperimentRecord) -> Result<(), StoreError> {
        let active = self.active_experiments.borrow();
        let file = active.get(id).ok_or_else(|| StoreError::Unknown(id.into()))?;
        experiment::append(file, record).map_err(StoreError::io(&self.directory.experiment(id)))
    }

    /// Reads an experiment, without its trials.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such experiment, or its file is damaged or cannot be read.
    pub fn experiment(&self, id: &str) -> Result<Experiment, StoreError> {
        Ok(experiment::read(&self.directory.experiment(id))?.head.experiment)
    }

    /// Reads the study of an experiment: the logs of all complete trials, folded and judged again.
    /// If a trial ran twice, the later run counts.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such experiment, or one of its files is damaged
    /// or cannot be read.
    pub fn study(&self, id: &str) -> Result<Study, StoreError> {
        let contents = experiment::read(&self.directory.experiment(id))?;
        let mut trials: Vec<Trial> = Vec::new();
        for entry in self.index().entries(&EntryFilter::RunsOf(id.to_owned()))? {
            let (Some(place), Ok(run)) = (entry.place, self.run(&entry.id)) else { continue };
            if !run.is_interrupted() {
                trials.retain(|trial| trial.place != place);
                trials.push(Trial {
                    place,
                    judgement: brunt_judge::judge(&run),
                    id: Some(entry.id),
                    run,
                });
            }
        }
        let ExperimentHead { experiment, environment, unix_seconds } = contents.head;
        let has_no_end = contents.end.is_none();
        let ExperimentEnd { interrupted, warnings } = contents.end.unwrap_or_default();
        // Only the end record shows whether a search chose all its steps.
        let is_unfinished = if experiment.has_search() {
            has_no_end
        } else if experiment.may_end_early() {
            has_no_end && trials.len() < experiment.trials()
        } else {
            trials.len() < experiment.trials()
        };
        let interrupted = interrupted || is_unfinished;
        let id = Some(id.to_owned());
        let resumptions = contents.resumptions;
        Ok(Study {
            id,
            experiment,
            environment,
            unix_seconds,
            trials,
            warnings,
            interrupted,
            resumptions,
        })
    }
}
