//! Reads runs, from their digests if possible, and makes the digests of long logs.

use super::{Store, ignore_missing, mend};
use crate::StoreError;
use crate::digest::{self, DigestHead, DigestReader, SHORT_LOG_BYTES};
use crate::log::{EventReader, TrialOf};
use brunt_model::Run;
use brunt_model::codec::LogError;
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};

impl Store {
    /// Reads a run: from its digest, or from its log up to the first damaged event. If the log is
    /// long and the run has ended, its digest is written for the next time.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such run, or its log, or a digest without a log, is damaged or
    /// cannot be read.
    pub fn run(&self, id: &str) -> Result<Run, StoreError> {
        let Some(log_bytes) = self.log_bytes(id)? else { return self.run_without_log(id) };
        if log_bytes <= SHORT_LOG_BYTES {
            return self.folded(id).map(|folded| folded.run);
        }
        if let Some(run) = self.digested(id, log_bytes) {
            return Ok(run);
        }
        let folded = self.folded(id)?;
        // A digest only saves time, so a full or read-only disk is no error here.
        let _ = self.write_digest(id, log_bytes, &folded);
        Ok(folded.run)
    }

    /// Returns an iterator over the events of a run.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such run, its log was removed, or cannot be read.
    pub fn events(&self, id: &str) -> Result<EventReader<BufReader<File>>, StoreError> {
        let path = self.directory.run(id);
        let file = match brunt_files::open_regular(&path) {
            Err(error)
                if error.kind() == ErrorKind::NotFound && self.directory.digest(id).exists() =>
            {
                return Err(StoreError::LogRemoved(id.into()));
            }
            file => file.map_err(StoreError::io(&path))?,
        };
        EventReader::new(BufReader::new(file)).map_err(StoreError::log(&path))
    }

    /// Returns the length of a log. None if only the digest of the run is left.
    pub(crate) fn log_bytes(&self, id: &str) -> Result<Option<u64>, StoreError> {
        let path = self.directory.run(id);
        match fs::metadata(&path) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error)
                if error.kind() == ErrorKind::NotFound && self.directory.digest(id).exists() =>
            {
                Ok(None)
            }
            Err(error) => Err(StoreError::io(&path)(error)),
        }
    }

    /// Removes the log of an ended run, after its digest is on the disk.
    pub(super) fn replace_log_by_digest(&self, id: &str) -> Result<(), StoreError> {
        let Some(log_bytes) = self.log_bytes(id)? else { return Ok(()) };
        self.ensure_log_is_not_locked(id)?;
        if self.digested(id, log_bytes).is_none() {
            let folded = self.folded(id)?;
            self.write_digest(id, log_bytes, &folded)?;
            // Only a digest that can be read may replace the log.
            if self.digested(id, log_bytes).is_none() {
                return Err(StoreError::DigestDamaged(self.directory.digest(id)));
            }
        }
        // The name of the digest must be on the disk before that of the log is removed.
        let folder = self.directory.runs();
        File::open(&folder)
            .and_then(|folder| folder.sync_all())
            .map_err(StoreError::io(&folder))?;
        let path = self.directory.run(id);
        fs::remove_file(&path).or_else(ignore_missing).map_err(StoreError::io(&path))
    }

    fn ensure_log_is_not_locked(&self, id: &str) -> Result<(), StoreError> {
        let is_locked = mend::is_locked(&self.directory.run(id));
        if is_locked { Err(StoreError::Busy(id.into())) } else { Ok(()) }
    }

    /// Reads a run from its digest. None if there is no digest that is valid for the log.
    fn digested(&self, id: &str, log_bytes: u64) -> Option<Run> {
        let reader = DigestReader::open(&self.directory.digest(id)).ok()??;
        if reader.head().is_valid_for(log_bytes) { reader.run().ok()? } else { None }
    }

    /// Reads a run whose log was removed, from its digest.
    fn run_without_log(&self, id: &str) -> Result<Run, StoreError> {
        let path = self.directory.digest(id);
        let reader = DigestReader::open(&path).map_err(StoreError::io(&path))?;
        let run = reader.map(DigestReader::run).transpose().map_err(StoreError::io(&path))?;
        run.flatten().ok_or(StoreError::DigestDamaged(path))
    }

    fn folded(&self, id: &str) -> Result<FoldedLog, StoreError> {
        let mut run = Run::default();
        let mut events = self.events(id)?;
        for event in &mut events {
            match event {
                Ok(event) => run.fold(&event),
                Err(LogError::Torn(_)) => break,
                Err(error) => return Err(StoreError::log(&self.directory.run(id))(error)),
            }
        }
        run.warnings.extend(events.warning());
        let belongs = match events {
            EventReader::Packed(reader) => reader.head().belongs.clone(),
            EventReader::Plain(_) => None,
        };
        Ok(FoldedLog { run, belongs })
    }

    /// Writes the digest of a log that was read, unless its writer may still add to it.
    fn write_digest(&self, id: &str, log_bytes: u64, folded: &FoldedLog) -> Result<(), StoreError> {
        if folded.run.finish.is_none() {
            return Err(StoreError::NoEnd(id.into()));
        }
        self.ensure_log_is_not_locked(id)?;
        let head = DigestHead::new(folded.belongs.clone(), log_bytes);
        digest::write(&self.directory, id, &head, &folded.run)
    }
}

/// A log that was read.
struct FoldedLog {
    run: Run,
    belongs: Option<TrialOf>,
}
