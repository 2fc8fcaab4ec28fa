//! Experiments: begun, grown, ended, taken up again, and read back with their trials.

use super::{Store, mend};
use crate::entry::{Kind, Progress};
use crate::experiment::{self, ExperimentEnd, ExperimentHead, ExperimentRecord};
use crate::{EntryFilter, StoreError, directory};
use brunt_model::experiment::Step;
use brunt_model::study::Resumption;
use brunt_model::{Environment, Experiment, Question, Study, Trial};
use std::collections::btree_map;
use std::fs::OpenOptions;

impl Store {
    /// Begins an experiment, at so many seconds since 1970-01-01 UTC; its id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if its files or its row cannot be made.
    pub fn begin_experiment(
        &self,
        experiment: &Experiment,
        environment: &Environment,
        unix_seconds: f64,
    ) -> Result<String, StoreError> {
        let id = self.claim(Kind::Experiment)?;
        let path = self.directory.experiment(&id);
        let file = directory::create_new(&path).map_err(StoreError::io(&path))?;
        let _ = file.lock();
        let mut asked =
            ExperimentHead { experiment: experiment.clone(), environment: environment.clone(), unix_seconds };
        asked.redact(&self.redactor);
        experiment::begin(&file, &asked).map_err(StoreError::io(&path))?;
        self.carried_out.borrow_mut().insert(id.clone(), file);
        self.describe(&id, &asked)?;
        Ok(id)
    }

    /// Takes an experiment up again that ended before all its trials were made; what is there of it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such experiment, or another process writes to it, or its files are damaged.
    pub fn resume_experiment(&self, id: &str) -> Result<Study, StoreError> {
        if let btree_map::Entry::Vacant(vacant) = self.carried_out.borrow_mut().entry(id.to_owned()) {
            let path = self.directory.experiment(id);
            let file = OpenOptions::new().append(true).open(&path).map_err(StoreError::io(&path))?;
            file.try_lock().map_err(|_| StoreError::Busy(id.to_owned()))?;
            // Behind half a frame nothing could be read again.
            let whole = experiment::read(&path)?.whole_bytes;
            file.set_len(whole).map_err(StoreError::io(&path))?;
            directory::make_private(&path);
            vacant.insert(file);
        }
        self.index().ended(id, Progress::Running, None)?;
        self.study(id)
    }

    /// Says how an experiment ended that this process began or took up again.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if its files or its row cannot be written.
    pub fn end_experiment(&self, id: &str, ended: &ExperimentEnd) -> Result<(), StoreError> {
        let mut later = ExperimentRecord::Ended(ended.clone());
        later.redact(&self.redactor);
        self.append(id, &later)?;
        self.carried_out.borrow_mut().remove(id);
        self.index().ended(id, mend::progress_of(Some(ended)), None)
    }

    /// Appends a step that was chosen on the way to a contender of an experiment that this process carries out; on the disk
    /// when it returns, so that a run that is begun after it belongs to a step that is there.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if its file cannot be written.
    pub fn grow_experiment(&self, id: &str, contender: usize, step: &Step) -> Result<(), StoreError> {
        let mut grown = Box::new(step.clone());
        self.redactor.step(&mut grown);
        self.append(id, &ExperimentRecord::Grown { contender, grown })?;
        self.describe(id, &experiment::read(&self.directory.experiment(id))?.asked)
    }

    /// States that an experiment that this process took up again is continued at an instant; with its question where that is
    /// another from now on, for instance one with more time.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if its file cannot be written.
    pub fn state_resumption(
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

    fn append(&self, id: &str, later: &ExperimentRecord) -> Result<(), StoreError> {
        let carried_out = self.carried_out.borrow();
        let file = carried_out.get(id).ok_or_else(|| StoreError::Unknown(id.into()))?;
        experiment::append(file, later).map_err(StoreError::io(&self.directory.experiment(id)))
    }

    /// What an experiment came to: the logs of all trials that were made to their end, folded and judged again. Of a
    /// trial that was made twice, the later counts.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such experiment, or a file of it is damaged or cannot be read.
    pub fn study(&self, id: &str) -> Result<Study, StoreError> {
        let contents = experiment::read(&self.directory.experiment(id))?;
        let mut trials: Vec<Trial> = Vec::new();
        for entry in self.index().entries(&EntryFilter::RunsOf(id.to_owned()))? {
            let (Some(place), Ok(run)) = (entry.place, self.run(&entry.id)) else { continue };
            if !run.interrupted() {
                trials.retain(|trial| trial.place != place);
                trials.push(Trial { place, judgement: brunt_judge::judge(&run), id: Some(entry.id), run });
            }
        }
        let ExperimentHead { experiment, environment, unix_seconds } = contents.asked;
        let nobody_ended = contents.ended.is_none();
        let ExperimentEnd { interrupted, warnings } = contents.ended.unwrap_or_default();
        let unfinished = match () {
            () if experiment.grows() => nobody_ended,
            () if experiment.may_end_early() => nobody_ended && trials.len() < experiment.trials(),
            () => trials.len() < experiment.trials(),
        };
        let interrupted = interrupted || unfinished;
        let id = Some(id.to_owned());
        let resumptions = contents.resumptions;
        Ok(Study { id, experiment, environment, unix_seconds, trials, warnings, interrupted, resumptions })
    }
}
