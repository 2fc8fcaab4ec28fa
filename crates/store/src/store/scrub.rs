//! Rewriting what an earlier brunt kept in clear: `brunt runs scrub`.
//!
//! Each file is written anew beside the store's own, and takes its place in one step: whoever interrupts this finds every file
//! as it was or as it is to be, and may begin again.

use super::{Store, mend};
use crate::directory::{self, ids_in};
use crate::entry::Kind;
use crate::log::{EventReader, PackedReader, PackedWriter};
use crate::{Redactor, StoreError, experiment, id};
use brunt_model::codec::LogError;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// What a scrub came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScrubResult {
    /// Runs whose logs held secrets, and were written anew.
    pub runs: u64,
    /// Experiments likewise.
    pub experiments: u64,
    /// Runs and experiments that were looked at.
    pub seen: u64,
    /// Ids of those that a process writes to; they stay as they are.
    pub busy: Vec<String>,
    /// Ids of those that cannot be read, and stay as they are.
    pub unreadable: Vec<String>,
}

impl Store {
    /// Redacts the secrets in all that is kept, and takes every file from everybody but its owner.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if a file cannot be read or written anew.
    pub fn scrub(&self) -> Result<ScrubResult, StoreError> {
        self.reconcile()?;
        let mut scrubbed = ScrubResult::default();
        for id in ids_in(&self.directory.experiments(), ".experiment")? {
            self.scrub_one(&id, Kind::Experiment, &mut scrubbed)?;
        }
        for id in ids_in(&self.directory.runs(), ".events")? {
            self.scrub_one(&id, Kind::Run, &mut scrubbed)?;
        }
        self.drop_aside()?;
        self.index().vacuum()?;
        self.make_all_private()?;
        Ok(scrubbed)
    }

    fn scrub_one(&self, id: &str, kind: Kind, scrubbed: &mut ScrubResult) -> Result<(), StoreError> {
        let path = match kind {
            Kind::Run => self.directory.run(id),
            Kind::Experiment => self.directory.experiment(id),
        };
        scrubbed.seen += 1;
        if mend::is_locked(&path) {
            scrubbed.busy.push(id.to_owned());
            return Ok(());
        }
        match self.scrub_file(&path, kind) {
            Ok(false) => {}
            Ok(true) if kind == Kind::Run => scrubbed.runs += 1,
            Ok(true) => scrubbed.experiments += 1,
            Err(StoreError::Io { path, source }) => return Err(StoreError::Io { path, source }),
            Err(_) => {
                scrubbed.unreadable.push(id.to_owned());
                return Ok(());
            }
        }
        // A scrub that was interrupted before this left the row as it was.
        self.describe_again(id, kind)
    }

    /// Writes a file anew where it holds secrets; whether it did.
    pub(crate) fn scrub_file(&self, path: &Path, kind: Kind) -> Result<bool, StoreError> {
        let Some(new) = self.scrubbed_copy(path, kind)? else { return Ok(false) };
        fs::rename(&new, path).map_err(StoreError::io(path))?;
        Ok(true)
    }

    /// A copy of a file with its secrets redacted, where it holds some.
    pub(crate) fn scrubbed_copy(&self, path: &Path, kind: Kind) -> Result<Option<PathBuf>, StoreError> {
        let new = self.directory.incoming().join(id::draw());
        let written = match kind {
            Kind::Run => scrub_run(path, &new, &self.redactor),
            Kind::Experiment => experiment::scrub(path, &new, &self.redactor),
        };
        match written {
            Ok(true) => Ok(Some(new)),
            other => {
                let _ = fs::remove_file(&new);
                other.map(|_| None)
            }
        }
    }

    fn describe_again(&self, id: &str, kind: Kind) -> Result<(), StoreError> {
        match kind {
            Kind::Run => {
                let Ok(run) = self.run(id) else { return Ok(()) };
                let Some(plan) = &run.plan else { return Ok(()) };
                crate::run_log::begun(&self.index(), id, plan, run.unix_seconds)
            }
            Kind::Experiment => {
                let mut asked = experiment::read(&self.directory.experiment(id))?.asked;
                asked.redact(&self.redactor);
                self.describe(id, &asked)
            }
        }
    }

    /// A damaged index that was put aside says what the files said.
    fn drop_aside(&self) -> Result<(), StoreError> {
        let aside = self.directory.index().with_extension("damaged");
        fs::remove_file(&aside).or_else(super::not_there).map_err(StoreError::io(&aside))
    }

    fn make_all_private(&self) -> Result<(), StoreError> {
        let directory = &self.directory;
        let folders = [directory.runs(), directory.experiments(), directory.tags(), directory.baselines()];
        for folder in folders.into_iter().chain([directory.incoming()]) {
            for entry in fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
                directory::make_private(&entry.map_err(StoreError::io(&folder))?.path());
            }
        }
        for file in [directory.index(), directory.lock(), directory.key()] {
            directory::make_private(&file);
        }
        for rest in ["sqlite-wal", "sqlite-shm"] {
            directory::make_private(&directory.index().with_extension(rest));
        }
        Ok(())
    }
}

/// Writes a run's log anew with its secrets redacted; false where it holds none. What is torn off its end is left out. A log
/// with events of a later version of brunt stays as it is: to write it anew would lose them.
fn scrub_run(from: &Path, to: &Path, redactor: &Redactor) -> Result<bool, StoreError> {
    let open = || File::open(from).map(BufReader::new).map_err(StoreError::io(from));
    let head = PackedReader::new(open()?).map_err(StoreError::log(from))?.head().clone();
    let mut redacted = head.clone();
    if let Some(belongs) = &mut redacted.belongs {
        belongs.contender = redactor.label(&belongs.contender);
    }
    let mut changed = redacted != head;
    let whole = each(from, open()?, |event| {
        changed |= *redactor.event(event) != *event;
        Ok(())
    })?;
    if !changed || whole == KnownKinds::NotKnown {
        return Ok(false);
    }
    let file = directory::create_new(to).map_err(StoreError::io(to))?;
    let mut writer = PackedWriter::new(BufWriter::new(file), &redacted).map_err(StoreError::io(to))?;
    each(from, open()?, |event| {
        writer.write(&redactor.event(event)).map_err(StoreError::io(to))?;
        Ok(())
    })?;
    writer.out().get_ref().sync_all().map_err(StoreError::io(to))?;
    Ok(true)
}

/// Whether all events of a log are of kinds that this version knows.
#[derive(PartialEq, Eq)]
enum KnownKinds {
    Known,
    NotKnown,
}

/// Goes through a log as far as it is whole.
fn each(
    path: &Path,
    from: BufReader<File>,
    mut see: impl FnMut(&brunt_model::Event) -> Result<(), StoreError>,
) -> Result<KnownKinds, StoreError> {
    let mut log = EventReader::new(from).map_err(StoreError::log(path))?;
    for event in &mut log {
        match event {
            Ok(event) => see(&event)?,
            Err(LogError::Torn(_)) => break,
            Err(error) => return Err(StoreError::log(path)(error)),
        }
    }
    Ok(if log.skipped() == 0 { KnownKinds::Known } else { KnownKinds::NotKnown })
}
