//! Writes the log of an active run.
//!
//! Out of scope: the fold and the judgement; the caller passes them at the end.

use crate::StoreError;
use crate::digest::{self, DigestHead, SHORT_LOG_BYTES};
use crate::directory::{self, Directory};
use crate::entry::{ItemState, KeyFigures, LoadRange, RequestNames, progress_of};
use crate::index::{Index, StartInfo};
use crate::log::{LogHead, PackedWriter};
use crate::redact::Redactor;
use brunt_model::{Event, Judgement, Plan, Run, Tick};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of requests of a plan for a digest at the end of the run. The redacted copy of a longer plan
/// needs much memory, so the first report writes the digest of such a run.
const MAX_REQUESTS: usize = 10_000;

/// The log of an active run. Its file is locked while it is open, which shows other processes that
/// the run is active. If it is dropped without [`finish`](Self::finish), the run is stored as one
/// of a stopped writer.
pub struct RunLog {
    id: String,
    directory: Directory,
    path: PathBuf,
    head: LogHead,
    index: Index,
    writer: Option<PackedWriter<File>>,
    whole_bytes: u64,
    redactor: Arc<Redactor>,
    replaces: Option<ReplacedLog>,
}

/// A log that exists, and is replaced when the new one has everything that it has.
struct ReplacedLog {
    path: PathBuf,
    /// End of its last interval.
    to: Tick,
}

impl RunLog {
    pub(crate) fn begin(
        directory: &Directory,
        id: String,
        head: &LogHead,
        redactor: Arc<Redactor>,
    ) -> Result<Self, StoreError> {
        let path = directory.run(&id);
        Self::create(directory, id, path, head, redactor, None)
    }

    /// Begins the log of a run that has one up to the instant `to`.
    pub(crate) fn begin_again(
        directory: &Directory,
        id: String,
        head: &LogHead,
        redactor: Arc<Redactor>,
        to: Tick,
    ) -> Result<Self, StoreError> {
        let replaces = ReplacedLog { path: directory.run(&id), to };
        let path = directory.incoming().join(crate::id::draw());
        Self::create(directory, id, path, head, redactor, Some(replaces))
    }

    fn create(
        directory: &Directory,
        id: String,
        path: PathBuf,
        head: &LogHead,
        redactor: Arc<Redactor>,
        replaces: Option<ReplacedLog>,
    ) -> Result<Self, StoreError> {
        let file = directory::create_new(&path).map_err(StoreError::io(&path))?;
        // Without file locks, an active run looks torn to other processes. Nothing else is lost.
        let _ = file.lock();
        let writer = PackedWriter::new(file, head).map_err(StoreError::io(&path))?;
        let whole_bytes = writer.out().metadata().map_err(StoreError::io(&path))?.len();
        Ok(Self {
            id,
            directory: directory.clone(),
            path,
            head: head.clone(),
            index: Index::open(&directory.index())?,
            writer: Some(writer),
            whole_bytes,
            redactor,
            replaces,
        })
    }

    /// Replaces the log that exists by this one.
    fn replace(&mut self, existing: ReplacedLog) -> io::Result<()> {
        std::fs::rename(&self.path, &existing.path)?;
        self.remove_digest();
        self.path = existing.path;
        Ok(())
    }

    /// Removes the digest of an earlier log. It is not valid for another log, so an error has no
    /// effect.
    fn remove_digest(&self) {
        let _ = std::fs::remove_file(self.directory.digest(&self.id));
    }

    /// Returns the short id of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the file of the log has been removed.
    pub fn is_removed(&self) -> bool {
        !self.path.exists()
    }

    /// Appends an event, with its secrets redacted. Events with single records are skipped.
    ///
    /// The system has the event when this returns. The first error ends the log, not the run: later
    /// events are discarded silently, and the complete events stay readable.
    ///
    /// # Errors
    ///
    /// If the log cannot be written. It is reported once.
    pub fn append(&mut self, event: &Event) -> io::Result<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        if matches!(event, Event::Records(_)) {
            return Ok(());
        }
        let event = self.redactor.event(event);
        let written = match &*event {
            Event::Snapshot(_) => ensure_linked(writer.out()).and_then(|()| writer.write(&event)),
            _ => writer.write(&event),
        };
        match written {
            Ok(bytes) => self.whole_bytes += bytes,
            Err(error) => {
                // Removes the incomplete frame.
                let _ = writer.out().set_len(self.whole_bytes);
                self.writer = None;
                return Err(error);
            }
        }
        match &*event {
            Event::Started { plan, unix_seconds, .. } => {
                // If the index cannot be written now, the row is filled at the end.
                let _ = record_start(&self.index, &self.id, plan, *unix_seconds);
            }
            Event::Snapshot(snapshot) => {
                if let Some(existing) = self.replaces.take_if(|log| snapshot.to >= log.to) {
                    self.replace(existing)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Removes the log and its row, as if the run had never started.
    pub fn discard(self) -> Result<(), StoreError> {
        self.remove_digest();
        std::fs::remove_file(&self.path).map_err(StoreError::io(&self.path))?;
        self.index.forget(&[self.id])
    }

    /// Completes the run's row, and syncs the log to the disk. A long log gets a digest. The row of a log that was removed
    /// is removed, too.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the log or its row cannot be written, also if an earlier event could not.
    pub fn finish(mut self, run: &Run, judgement: &Judgement) -> Result<(), StoreError> {
        if self.is_removed() {
            self.remove_digest();
            return self.index.forget(&[self.id]);
        }
        if let Some(existing) = self.replaces.take() {
            let path = existing.path.clone();
            self.replace(existing).map_err(StoreError::io(&path))?;
        }
        if let Some(writer) = &self.writer {
            writer.out().sync_data().map_err(StoreError::io(&self.path))?;
        }
        // If the log ended early, only part of the data of these figures can be read again.
        let progress = if self.writer.is_some() { progress_of(run) } else { ItemState::Torn };
        complete(&self.index, &self.id, progress, run, judgement)?;
        // A digest only saves time, and can be made later, so an error is ignored.
        let _ = self.write_digest(run);
        Ok(())
    }

    fn write_digest(&self, run: &Run) -> Result<(), StoreError> {
        let is_complete = self.writer.is_some() && run.finish.is_some();
        let requests = run.plan.as_ref().map_or(0, |plan| plan.requests().count());
        if !is_complete || self.whole_bytes <= SHORT_LOG_BYTES || requests > MAX_REQUESTS {
            return Ok(());
        }
        let mut run = run.clone();
        self.redactor.run(&mut run);
        let head = DigestHead::new(self.head.belongs.clone(), self.whole_bytes);
        digest::write(&self.directory, &self.id, &head, &run)
    }
}

/// Fails if a file has no name any more: it ends with this process.
fn ensure_linked(file: &File) -> io::Result<()> {
    if file.metadata()?.nlink() == 0 {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the file was removed during the run"));
    }
    Ok(())
}

/// Writes the key figures of a run into its row.
pub(crate) fn complete(
    index: &Index,
    id: &str,
    progress: ItemState,
    run: &Run,
    judgement: &Judgement,
) -> Result<(), StoreError> {
    if let Some(plan) = &run.plan {
        record_start(index, id, plan, run.unix_seconds)?;
    }
    index.set_end(id, progress, Some(&KeyFigures::of(run, judgement)))
}

/// Writes the data of a run's first event into its row.
pub(crate) fn record_start(
    index: &Index,
    id: &str,
    plan: &Plan,
    unix_seconds: f64,
) -> Result<(), StoreError> {
    StartRow::of_run(plan, unix_seconds).write(index, id)
}

/// Columns of a run's row that its first event has.
pub(crate) struct StartRow {
    started: f64,
    what: String,
    requests: RequestNames,
    load: LoadRange,
}

impl StartRow {
    /// Returns the columns of a run with this plan.
    pub fn of_run(plan: &Plan, unix_seconds: f64) -> Self {
        let first = plan.main().scenario.requests.first();
        Self {
            started: unix_seconds,
            what: first.map_or(String::new(), |request| request.url.clone()),
            requests: RequestNames::of(std::iter::once(plan)),
            load: LoadRange::of_plan(plan),
        }
    }

    /// Writes the columns into a row.
    pub fn write(&self, index: &Index, id: &str) -> Result<(), StoreError> {
        let start = StartInfo {
            started: Some(self.started),
            what: &self.what,
            contenders: &[],
            requests: self.requests.clone(),
            load: Some(self.load),
            trials: None,
        };
        index.set_start(id, &start)
    }
}
