//! A listener that writes the event log of a run to a file: `--events`.

use crate::run::EventListener;
use brunt_model::Event;
use brunt_model::codec::LogWriter;
use brunt_store::Redactor;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The event log of a run, without secrets.
pub struct EventLog {
    /// None after an error.
    writer: Option<LogWriter<BufWriter<File>>>,
    path: PathBuf,
    redactor: Arc<Redactor>,
    error: Option<EventLogError>,
}

/// Why an event log does not have all events.
#[derive(Debug, thiserror::Error)]
pub enum EventLogError {
    /// The file cannot be created.
    #[error("{path} cannot be written")]
    Create {
        /// File of the event log.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// An event could not be written, so the log ends there.
    #[error("{path}: the event log ends before the run does")]
    Write {
        /// File of the event log.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl EventLog {
    /// Creates the file of an event log.
    pub fn create(path: &Path, redactor: Arc<Redactor>) -> Result<Self, EventLogError> {
        // Created before the run, so that a wrong path is an error before any load.
        let writer = File::create(path).and_then(|file| LogWriter::new(BufWriter::new(file)));
        let writer =
            writer.map_err(|source| EventLogError::Create { path: path.to_owned(), source })?;
        Ok(Self { writer: Some(writer), path: path.to_owned(), redactor, error: None })
    }

    /// Ends the log. Succeeds if it has all events.
    pub fn end(self) -> Result<(), EventLogError> {
        self.error.map_or(Ok(()), Err)
    }
}

impl EventListener for EventLog {
    /// A full disk ends the log, not the run.
    fn on_event(&mut self, event: &Event) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(source) = writer.write(&self.redactor.event(event)) {
            self.writer = None;
            self.error = Some(EventLogError::Write { path: self.path.clone(), source });
        }
    }
}
