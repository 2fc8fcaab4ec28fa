//! Opens the index, and rebuilds it if it is missing or damaged.

use crate::digest::DigestReader;
use crate::directory::{Directory, ids_in};
use crate::entry::{ItemKind, LoadRange, RequestNames};
use crate::experiment::{self, ExperimentHead};
use crate::index::{Index, IndexCheck, OpenedIndex, StartInfo};
use crate::log::PackedReader;
use crate::{StoreError, run_log};
use brunt_model::Event;
use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::BufReader;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Maximum number of rows per transaction: other processes wait for it.
pub const ROWS_PER_TRANSACTION: usize = 500;

/// Work on the index of a large store that takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexWork {
    /// Adds a row for each run without one.
    Rows,
    /// Reads the figures of runs without any.
    Figures,
}

/// Receives the progress of work on the index: the number of runs done, and of all.
pub type IndexProgress = fn(IndexWork, usize, usize);

/// Minimum number of runs of a work with shown progress.
const LONG_WORK: usize = 2000;

/// Reports the progress of a work at each tenth.
pub struct ProgressSteps {
    progress: IndexProgress,
    work: IndexWork,
    done: Cell<usize>,
    total: usize,
}

impl ProgressSteps {
    /// Reports the begin of the work.
    pub fn new(progress: IndexProgress, work: IndexWork, total: usize) -> Self {
        if total >= LONG_WORK {
            progress(work, 0, total);
        }
        Self { progress, work, done: Cell::new(0), total }
    }

    /// Counts further runs as done.
    pub fn count(&self, runs: usize) {
        let before = self.done.get();
        let done = before + runs;
        self.done.set(done);
        if self.total >= LONG_WORK && done * 10 / self.total > before * 10 / self.total {
            (self.progress)(self.work, done, self.total);
        }
    }
}

/// An index, and whether it was compared with the files.
pub struct OpenIndex {
    pub index: Index,
    /// True if all of it was checked, and every file has a row.
    pub is_reconciled: bool,
    /// Its file; None for an index in memory.
    pub file: Option<FileId>,
}

/// Device and number of a file, which another file of the same name does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// Returns that of the file at this path; None without one.
    pub fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|file| Self(file.dev(), file.ino()))
    }
}

/// Opens the index of a store.
///
/// If the disk is full or read-only, an index in memory is built from the files, so that the store
/// stays readable. The check of the schema takes the same time for every size of the store.
pub fn index(
    directory: &Directory,
    check: IndexCheck,
    progress: IndexProgress,
) -> Result<OpenIndex, StoreError> {
    match on_disk(directory, check, progress) {
        Err(error) if error.is_of_the_disk() => filled(Index::in_memory()?, directory, progress),
        Ok(opened) => Ok(OpenIndex { file: FileId::of(&directory.index()), ..opened }),
        error => error,
    }
}

fn on_disk(
    directory: &Directory,
    check: IndexCheck,
    progress: IndexProgress,
) -> Result<OpenIndex, StoreError> {
    let path = directory.lock();
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(StoreError::io(&path))?;
    // Only one process at a time creates an index, or moves a damaged one aside.
    let _ = lock.lock();
    match Index::make(&directory.index(), check)? {
        OpenedIndex::Whole(index) if check == IndexCheck::Schema => {
            Ok(OpenIndex { index, is_reconciled: false, file: None })
        }
        OpenedIndex::Whole(index) | OpenedIndex::Empty(index) => filled(index, directory, progress),
        OpenedIndex::Damaged => {
            move_aside(directory)?;
            match Index::make(&directory.index(), check)? {
                OpenedIndex::Whole(index) | OpenedIndex::Empty(index) => {
                    filled(index, directory, progress)
                }
                OpenedIndex::Damaged => Err(StoreError::Damaged(directory.index())),
            }
        }
    }
}

/// Fills the row of an experiment.
pub fn describe(index: &Index, id: &str, head: &ExperimentHead) -> Result<(), StoreError> {
    let ExperimentHead { experiment, unix_seconds, .. } = head;
    let contenders: Vec<String> =
        experiment.contenders.iter().map(|contender| contender.name.clone()).collect();
    let steps = experiment.contenders.iter().flat_map(|contender| &contender.steps);
    let start = StartInfo {
        started: Some(*unix_seconds),
        what: &experiment.name,
        contenders: &contenders,
        requests: RequestNames::of(steps.map(|step| &step.plan)),
        load: LoadRange::of_experiment(experiment),
        trials: Some(experiment.trials() as u64),
    };
    index.set_start(id, &start)
}

/// Adds a row for every file that has none, as far as its head can be read, and removes the
/// rows without a file.
///
/// A row is claimed before its file exists, and has no start until then. The figures of a run are
/// read at its next lookup; its row stays `open` until then.
fn filled(
    index: Index,
    directory: &Directory,
    progress: IndexProgress,
) -> Result<OpenIndex, StoreError> {
    // Rows first: if another process begins a run in the meantime, it has a file here and no row,
    // and claiming its id again has no effect.
    let rows = index.rows()?;
    let experiments = ids_in(&directory.experiments(), &[".experiment"])?;
    // After the removal of its log, a run still has its digest.
    let runs = ids_in(&directory.runs(), &[".events", ".digest"])?;
    let without_file: Vec<String> = rows
        .iter()
        .filter(|(id, row)| {
            row.has_begun
                && !(if row.kind == ItemKind::Run { &runs } else { &experiments }).contains(*id)
        })
        .map(|(id, _)| id.clone())
        .collect();
    if !without_file.is_empty() {
        index.forget(&without_file)?;
    }
    fill(&index, experiments.iter().filter(|id| !rows.contains_key(*id)), |id| {
        add_experiment(&index, directory, id)
    })?;
    let without_row: Vec<&String> = runs.iter().filter(|id| !rows.contains_key(*id)).collect();
    let shown = ProgressSteps::new(progress, IndexWork::Rows, without_row.len());
    fill(&index, without_row.into_iter(), |id| {
        shown.count(1);
        add_run(&index, directory, id)
    })?;
    Ok(OpenIndex { index, is_reconciled: true, file: None })
}

/// Adds a row for each id, many in one transaction.
fn fill<'i>(
    index: &Index,
    ids: impl Iterator<Item = &'i String>,
    add: impl Fn(&str) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let ids: Vec<&String> = ids.collect();
    ids.chunks(ROWS_PER_TRANSACTION)
        .try_for_each(|part| index.in_transaction(|| part.iter().try_for_each(|id| add(id))))
}

fn add_experiment(index: &Index, directory: &Directory, id: &str) -> Result<(), StoreError> {
    if index.claim_as(id, ItemKind::Experiment)?
        && let Ok(contents) = experiment::read(&directory.experiment(id))
    {
        describe(index, id, &contents.head)?;
    }
    Ok(())
}

fn add_run(index: &Index, directory: &Directory, id: &str) -> Result<(), StoreError> {
    if !index.claim_as(id, ItemKind::Run)? {
        return Ok(());
    }
    match brunt_files::open_regular(&directory.run(id)) {
        Ok(file) => match PackedReader::new(BufReader::new(file)) {
            Ok(reader) => fill_run(index, id, reader),
            Err(_) => Ok(()),
        },
        Err(_) => fill_run_without_log(index, directory, id),
    }
}

fn fill_run_without_log(index: &Index, directory: &Directory, id: &str) -> Result<(), StoreError> {
    let Ok(Some(reader)) = DigestReader::open(&directory.digest(id)) else { return Ok(()) };
    if let Some(trial) = &reader.head().belongs {
        index.set_trial(id, trial)?;
    }
    if let Ok(Some(run)) = reader.run()
        && let Some(plan) = &run.plan
    {
        run_log::record_start(index, id, plan, run.unix_seconds)?;
    }
    Ok(())
}

fn fill_run(
    index: &Index,
    id: &str,
    mut log: PackedReader<BufReader<File>>,
) -> Result<(), StoreError> {
    if let Some(trial) = &log.head().belongs {
        index.set_trial(id, trial)?;
    }
    if let Ok(Some(Event::Started { plan, unix_seconds, .. })) = log.next_event() {
        run_log::record_start(index, id, &plan, unix_seconds)?;
    }
    Ok(())
}

/// Renames the damaged index, because its owner may want to examine it. Only the
/// latest one is kept.
fn move_aside(directory: &Directory) -> Result<(), StoreError> {
    let index = directory.index();
    fs::rename(&index, index.with_extension("damaged")).map_err(StoreError::io(&index))?;
    for extension in ["sqlite-wal", "sqlite-shm"] {
        let path = index.with_extension(extension);
        fs::remove_file(&path).or_else(super::ignore_missing).map_err(StoreError::io(&path))?;
    }
    Ok(())
}
