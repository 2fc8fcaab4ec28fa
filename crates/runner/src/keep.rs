//! Listeners that are part of each run: the store, and the probes that read the server.
//!
//! Out of scope: the store and the probes themselves. Their errors never end a run; they
//! become warnings in it.

use crate::run::EventListener;
use brunt_engine::RunEpoch;
use brunt_model::reached::ReplyKind;
use brunt_model::{Event, Judgement, ProbeSpec, Run, Text, Tick, TrialIndex, Warning, text};
use brunt_probe::watch::{ReadingTask, WatchEvent};
use brunt_store::{RunLog, Store};

/// A run that is being stored.
pub struct StoredRun {
    log: RunLog,
    /// Error of the log that is not reported yet.
    trouble: Option<Text>,
    /// True if the run belongs to no experiment.
    is_single_run: bool,
}

/// Place of a finished run in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageResult {
    /// Short id of the run; None if it is not stored.
    pub id: Option<String>,
    /// Error as a sentence; None without an error.
    pub trouble: Option<Text>,
}

impl StoredRun {
    /// Begins to store a run. `trial` is the id of its experiment, and the index of the trial.
    ///
    /// # Errors
    ///
    /// A sentence with the reason why the store cannot begin a run.
    pub fn begin(store: &Store, trial: Option<(&str, TrialIndex)>) -> Result<Self, String> {
        let log =
            store.begin_run(trial).map_err(|error| format!("this run is not stored: {error}"))?;
        Ok(Self { log, trouble: None, is_single_run: trial.is_none() })
    }

    /// Stores a run once more, which an earlier process has stored up to this instant.
    ///
    /// # Errors
    ///
    /// A sentence with the reason why the store cannot do it.
    pub fn begin_again(store: &Store, id: &str, published_to: Tick) -> Result<Self, String> {
        let log = store
            .rewrite_run(id, published_to)
            .map_err(|error| format!("the run {id} is not stored to its end: {error}"))?;
        // What the earlier process has measured stays, whatever follows.
        Ok(Self { log, trouble: None, is_single_run: false })
    }

    /// Id of the run.
    pub fn id(&self) -> &str {
        self.log.id()
    }

    /// Ends the run. A single run that measured nothing is removed, so that no later run
    /// is compared with it.
    pub fn finish(self, run: &Run, judgement: &Judgement) -> StorageResult {
        let id = self.log.id().to_owned();
        // A trial without replies stays: the capacity of a search depends on it.
        if self.is_single_run && run.replies() == ReplyKind::None && !run.is_interrupted() {
            let trouble = self
                .log
                .discard()
                .err()
                .map(|error| format!("run {id} cannot be removed: {error}").into());
            return StorageResult { id: None, trouble };
        }
        if self.log.is_removed() {
            let path = self.log.path().display().to_string();
            let removed =
                format!("this run is not stored: its log {path} was removed during the run");
            // The row in the list is removed with it; an error of the index changes nothing for the user.
            let _ = self.log.finish(run, judgement);
            return StorageResult { id: None, trouble: Some(removed.into()) };
        }
        let trouble = self.log.finish(run, judgement).err();
        let trouble = trouble
            .map(|error| format!("run {id} may be listed with outdated facts: {error}").into());
        StorageResult { id: Some(id), trouble: self.trouble.or(trouble) }
    }
}

impl EventListener for StoredRun {
    fn on_event(&mut self, event: &Event) {
        if let Err(error) = self.log.append(event) {
            let path = self.log.path().display().to_string();
            let text = text!("warning-log-incomplete", path, why = error.to_string());
            self.trouble = Some(text);
        }
    }

    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        self.trouble.take().map(|text| Event::Warning(Warning { at, text })).into_iter().collect()
    }
}

/// Listener that adds readings of the server to a run.
pub struct ServerReadings(ReadingTask);

impl ServerReadings {
    /// Starts the probes; None without probes. `epoch` is the begin of the run, to which the times
    /// of its events refer.
    pub fn begin(specs: &[ProbeSpec], epoch: RunEpoch) -> Option<Self> {
        (!specs.is_empty()).then(|| Self(ReadingTask::start(specs, epoch)))
    }
}

impl EventListener for ServerReadings {
    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        let mut events = Vec::new();
        for observed in self.0.drain() {
            events.push(match observed {
                WatchEvent::Reading(reading) => Event::Reading(reading),
                WatchEvent::Warning(text) => Event::Warning(Warning { at, text }),
            });
        }
        events
    }
}
