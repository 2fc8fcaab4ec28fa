//! Who hears a run besides those who show it: the store, which keeps it, and what is read of the server meanwhile.
//!
//! Out of scope: the store or the probes themselves. Neither can end a run: what goes wrong is a warning in it.

use crate::run::Listen;
use brunt_engine::Epoch;
use brunt_model::reached::Replies;
use brunt_model::{Event, Judgement, ProbeSpec, Run, Tick, TrialIndex, Warning};
use brunt_probe::watch::{Observed, Watch};
use brunt_store::{RunLog, Store};

/// A run that is being kept.
pub struct StoredRun {
    log: RunLog,
    /// What is to be told of the log, once.
    trouble: Option<String>,
    /// It belongs to no experiment.
    alone: bool,
}

/// The place of a finished run in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageResult {
    /// Its short id; None: it is not stored.
    pub id: Option<String>,
    /// The error, as a sentence.
    pub trouble: Option<String>,
}

impl StoredRun {
    /// Begins to keep a run; of which experiment it is, and which trial, where it is of one. Why it is not kept, where that
    /// cannot be.
    ///
    /// # Errors
    ///
    /// The reason, as a sentence, why the store cannot begin a run.
    pub fn begin(store: &Store, belongs: Option<(&str, TrialIndex)>) -> Result<Self, String> {
        let log = store.begin_run(belongs).map_err(|error| format!("this run is not stored: {error}"))?;
        Ok(Self { log, trouble: None, alone: belongs.is_none() })
    }

    /// Ends the run. A single run that measured nothing is removed, so that no later run is compared with it.
    pub fn finish(self, run: &Run, judgement: &Judgement) -> StorageResult {
        let id = self.log.id().to_owned();
        if self.alone && run.replies() == Replies::None && !run.interrupted() {
            let trouble = self.log.discard().err().map(|error| format!("run {id} cannot be removed: {error}"));
            return StorageResult { id: None, trouble };
        }
        let trouble = self.log.finish(run, judgement).err();
        let trouble = trouble.map(|error| format!("run {id} may be listed with outdated facts: {error}"));
        StorageResult { id: Some(id), trouble: self.trouble.or(trouble) }
    }
}

impl Listen for StoredRun {
    fn hear(&mut self, event: &Event) {
        if let Err(error) = self.log.take(event) {
            let told = format!("{}: the event log is incomplete: {error}", self.log.path().display());
            self.trouble = Some(told);
        }
    }

    fn add(&mut self, at: Tick) -> Vec<Event> {
        self.trouble.take().map(|text| Event::Warning(Warning { at, text })).into_iter().collect()
    }
}

/// What is read of the server while a run goes on.
pub struct ServerReadings(Watch);

impl ServerReadings {
    /// Begins to read; None where nothing is to be read. `epoch`: when the run began, as it will stamp its events.
    pub fn begin(specs: &[ProbeSpec], epoch: Epoch) -> Option<Self> {
        (!specs.is_empty()).then(|| Self(Watch::start(specs, epoch)))
    }
}

impl Listen for ServerReadings {
    fn add(&mut self, at: Tick) -> Vec<Event> {
        let event = |seen| match seen {
            Observed::Reading(reading) => Event::Reading(reading),
            Observed::Warning(text) => Event::Warning(Warning { at, text }),
        };
        self.0.drain().into_iter().map(event).collect()
    }
}
