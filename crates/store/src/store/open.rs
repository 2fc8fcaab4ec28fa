//! Opening the index, and making it again where it is missing or damaged.

use crate::directory::{Directory, ids_in};
use crate::entry::{Kind, LoadRange};
use crate::experiment::{self, ExperimentHead};
use crate::index::{Begun, Index, IndexCheck, OpenedIndex};
use crate::log::PackedReader;
use crate::{StoreError, run_log};
use brunt_model::Event;
use std::fs::{self, File, OpenOptions};
use std::io::BufReader;
use std::os::unix::fs::OpenOptionsExt;

/// Rows that one transaction fills: other processes wait for it.
const ROWS_AT_ONCE: usize = 500;

/// An index, and how far it was compared with the files.
pub struct OpenIndex {
    pub index: Index,
    /// True if all of it was checked, and each file has its row.
    pub is_reconciled: bool,
}

/// Opens the index of a store. Where the disk is full or nothing may be written, one in memory is made from the files, so that
/// what is kept can be read. The check of the schema alone takes the same time for every size of the store.
pub fn index(directory: &Directory, check: IndexCheck) -> Result<OpenIndex, StoreError> {
    match on_disk(directory, check) {
        Err(error) if error.is_of_the_disk() => filled(Index::in_memory()?, directory),
        opened => opened,
    }
}

fn on_disk(directory: &Directory, check: IndexCheck) -> Result<OpenIndex, StoreError> {
    let path = directory.lock();
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(StoreError::io(&path))?;
    // Only one process at a time makes an index, or puts a damaged one aside.
    let _ = lock.lock();
    match Index::make(&directory.index(), check)? {
        OpenedIndex::Whole(index) if check == IndexCheck::Schema => Ok(OpenIndex { index, is_reconciled: false }),
        OpenedIndex::Whole(index) | OpenedIndex::Empty(index) => filled(index, directory),
        OpenedIndex::Damaged => {
            put_aside(directory)?;
            match Index::make(&directory.index(), check)? {
                OpenedIndex::Whole(index) | OpenedIndex::Empty(index) => filled(index, directory),
                OpenedIndex::Damaged => Err(StoreError::Damaged(directory.index())),
            }
        }
    }
}

/// Fills an experiment's row.
pub fn describe(index: &Index, id: &str, asked: &ExperimentHead) -> Result<(), StoreError> {
    let ExperimentHead { experiment, unix_seconds, .. } = asked;
    let contenders: Vec<String> = experiment.contenders.iter().map(|contender| contender.name.clone()).collect();
    let begun = Begun {
        started: Some(*unix_seconds),
        what: &experiment.name,
        contenders: &contenders,
        load: LoadRange::of_experiment(experiment),
        trials: Some(experiment.trials() as u64),
    };
    index.begun(id, &begun)
}

/// Gives each file its row, as far as its beginning says what it is, and removes the rows without a file. A row is claimed before its
/// file is there, and has no beginning until then. What a run came to is read when it is next looked at: its row stays `open` until then.
fn filled(index: Index, directory: &Directory) -> Result<OpenIndex, StoreError> {
    // Rows first: a run that another process begins meanwhile has a file and no row here, and claiming its id fails.
    let known = index.known()?;
    let experiments = ids_in(&directory.experiments(), ".experiment")?;
    let runs = ids_in(&directory.runs(), ".events")?;
    let gone: Vec<String> = known
        .iter()
        .filter(|(id, row)| row.has_begun && !(if row.kind == Kind::Run { &runs } else { &experiments }).contains(*id))
        .map(|(id, _)| id.clone())
        .collect();
    if !gone.is_empty() {
        index.forget(&gone)?;
    }
    fill(&index, experiments.iter().filter(|id| !known.contains_key(*id)), |id| add_experiment(&index, directory, id))?;
    fill(&index, runs.iter().filter(|id| !known.contains_key(*id)), |id| add_run(&index, directory, id))?;
    Ok(OpenIndex { index, is_reconciled: true })
}

/// Adds a row for each of the ids, many in one transaction.
fn fill<'i>(
    index: &Index,
    ids: impl Iterator<Item = &'i String>,
    add: impl Fn(&str) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let ids: Vec<&String> = ids.collect();
    ids.chunks(ROWS_AT_ONCE).try_for_each(|part| index.at_once(|| part.iter().try_for_each(|id| add(id))))
}

fn add_experiment(index: &Index, directory: &Directory, id: &str) -> Result<(), StoreError> {
    if index.claim_as(id, Kind::Experiment)?
        && let Ok(kept) = experiment::read(&directory.experiment(id))
    {
        describe(index, id, &kept.asked)?;
    }
    Ok(())
}

fn add_run(index: &Index, directory: &Directory, id: &str) -> Result<(), StoreError> {
    if !index.claim_as(id, Kind::Run)? {
        return Ok(());
    }
    let log = File::open(directory.run(id)).ok().map(|file| PackedReader::new(BufReader::new(file)));
    if let Some(Ok(reader)) = log {
        fill_run(index, id, reader)?;
    }
    Ok(())
}

fn fill_run(index: &Index, id: &str, mut log: PackedReader<BufReader<File>>) -> Result<(), StoreError> {
    if let Some(belongs) = &log.head().belongs {
        index.belongs(id, belongs)?;
    }
    if let Ok(Some(Event::Started { plan, unix_seconds, .. })) = log.next_event() {
        run_log::begun(index, id, &plan, unix_seconds)?;
    }
    Ok(())
}

/// The damaged index may hold what its owner wants to look at: it is kept, once.
fn put_aside(directory: &Directory) -> Result<(), StoreError> {
    let index = directory.index();
    fs::rename(&index, index.with_extension("damaged")).map_err(StoreError::io(&index))?;
    for rest in ["sqlite-wal", "sqlite-shm"] {
        let path = index.with_extension(rest);
        fs::remove_file(&path).or_else(super::not_there).map_err(StoreError::io(&path))?;
    }
    Ok(())
}
