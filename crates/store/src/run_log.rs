//! The log of a run that goes on.
//!
//! Out of scope: the fold or the judgement; whoever measures has them, and hands them over at the end.

use crate::StoreError;
use crate::directory::{self, Directory};
use crate::entry::{Figures, LoadRange, Progress, progress_of};
use crate::index::{Begun, Index};
use crate::log::{Head, PackedWriter};
use crate::redact::Redactor;
use brunt_model::{Event, Judgement, Plan, Run};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The log of a run that goes on. Its file is locked while it lives: that is how others know. Dropped without
/// [`finish`](Self::finish), it stays as a run whose writer went away.
pub struct RunLog {
    id: String,
    path: PathBuf,
    index: Index,
    writer: Option<PackedWriter<File>>,
    whole_bytes: u64,
    redactor: Arc<Redactor>,
}

impl RunLog {
    pub(crate) fn begin(
        directory: &Directory,
        id: String,
        head: &Head,
        redactor: Arc<Redactor>,
    ) -> Result<Self, StoreError> {
        let path = directory.run(&id);
        let file = directory::create_new(&path).map_err(StoreError::io(&path))?;
        // Where the file system knows no locks, a run that goes on looks torn to others, and nothing else is lost.
        let _ = file.lock();
        let writer = PackedWriter::new(file, head).map_err(StoreError::io(&path))?;
        let whole_bytes = writer.out().metadata().map_err(StoreError::io(&path))?.len();
        Ok(Self { id, path, index: Index::open(&directory.index())?, writer: Some(writer), whole_bytes, redactor })
    }

    /// The run's short id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an event, its secrets redacted, unless it holds single records; when this returns, the system has it. The first error ends the log, not the run: all later
    /// events are let go in silence, and what was whole stays whole.
    ///
    /// # Errors
    ///
    /// If the log cannot be written; only once.
    pub fn take(&mut self, event: &Event) -> io::Result<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        if matches!(event, Event::Records(_)) {
            return Ok(());
        }
        let event = self.redactor.event(event);
        match writer.write(&event) {
            Ok(bytes) => self.whole_bytes += bytes,
            Err(error) => {
                let _ = writer.out().set_len(self.whole_bytes);
                self.writer = None;
                return Err(error);
            }
        }
        if let Event::Started { plan, unix_seconds, .. } = &*event {
            // What the index does not take now, it takes at the end.
            let _ = begun(&self.index, &self.id, plan, *unix_seconds);
        }
        Ok(())
    }

    /// Removes the log and its row, as if the run had never begun.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the log or its row cannot be removed.
    pub fn discard(self) -> Result<(), StoreError> {
        std::fs::remove_file(&self.path).map_err(StoreError::io(&self.path))?;
        self.index.forget(&[self.id])
    }

    /// Completes the run's row, and sees to it that the log is on the disk.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the log or its row cannot be written, also if an earlier event could not.
    pub fn finish(self, run: &Run, judgement: &Judgement) -> Result<(), StoreError> {
        if let Some(writer) = &self.writer {
            writer.out().sync_data().map_err(StoreError::io(&self.path))?;
        }
        // Of a log that ended early, a part of what these figures were made from can be read again, and no more.
        let progress = if self.writer.is_some() { progress_of(run) } else { Progress::Torn };
        complete(&self.index, &self.id, progress, (run, judgement))
    }
}

/// Writes all that a run's fold says into its row.
pub(crate) fn complete(
    index: &Index,
    id: &str,
    progress: Progress,
    (run, judgement): (&Run, &Judgement),
) -> Result<(), StoreError> {
    if let Some(plan) = &run.plan {
        begun(index, id, plan, run.unix_seconds)?;
    }
    index.ended(id, progress, Some(&Figures::of(run, judgement)))
}

/// Writes what a run's first event says into its row.
pub(crate) fn begun(index: &Index, id: &str, plan: &Plan, unix_seconds: f64) -> Result<(), StoreError> {
    let what = plan.main().scenario.requests.first().map_or("", |request| request.url.as_str());
    let load = Some(LoadRange::of_plan(plan));
    index.begun(id, &Begun { started: Some(unix_seconds), what, contenders: &[], load, trials: None })
}
