//! Opening the index, and making it again where it is missing or damaged.

use crate::directory::{Directory, ids_in};
use crate::entry::{Entry, Kind, LoadRange};
use crate::experiment::{self, ExperimentHead};
use crate::index::{Begun, Index, OpenedIndex};
use crate::log::PackedReader;
use crate::{EntryFilter, StoreError, run_log};
use brunt_model::Event;
use std::fs::{self, File, OpenOptions};
use std::io::BufReader;
use std::os::unix::fs::OpenOptionsExt;

/// Opens the index of a store. Where the disk is full or nothing may be written, one in memory is made from the files, so that
/// what is kept can be read.
pub fn index(directory: &Directory) -> Result<Index, StoreError> {
    match on_disk(directory) {
        Err(error) if error.is_of_the_disk() => filled(Index::in_memory()?, directory),
        opened => opened,
    }
}

fn on_disk(directory: &Directory) -> Result<Index, StoreError> {
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
    match Index::make(&directory.index())? {
        OpenedIndex::Whole(index) => reconciled(index, directory),
        OpenedIndex::Empty(index) => filled(index, directory),
        OpenedIndex::Damaged => {
            put_aside(directory)?;
            match Index::make(&directory.index())? {
                OpenedIndex::Whole(index) => Ok(index),
                OpenedIndex::Empty(index) => filled(index, directory),
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

/// A row for each file, and none without one. A row is claimed before its file is there, and has no beginning until then.
fn reconciled(index: Index, directory: &Directory) -> Result<Index, StoreError> {
    let entries = index.entries(&EntryFilter::All)?;
    let is_gone = |entry: &&Entry| {
        let path = match entry.kind {
            Kind::Run => directory.run(&entry.id),
            Kind::Experiment => directory.experiment(&entry.id),
        };
        entry.started_unix_seconds.is_some() && path.try_exists().is_ok_and(|there| !there)
    };
    let gone: Vec<String> = entries.iter().filter(is_gone).map(|entry| entry.id.clone()).collect();
    if !gone.is_empty() {
        index.forget(&gone)?;
    }
    filled(index, directory)
}

/// Gives each file its row, as far as its beginning says what it is. What a run came to is read when it is next looked
/// at: its row stays `open` until then.
fn filled(index: Index, directory: &Directory) -> Result<Index, StoreError> {
    for id in ids_in(&directory.experiments(), ".experiment")? {
        if !index.claim_as(&id, Kind::Experiment)? {
            continue;
        }
        if let Ok(kept) = experiment::read(&directory.experiment(&id)) {
            describe(&index, &id, &kept.asked)?;
        }
    }
    for id in ids_in(&directory.runs(), ".events")? {
        if !index.claim_as(&id, Kind::Run)? {
            continue;
        }
        let log = File::open(directory.run(&id)).ok().map(|file| PackedReader::new(BufReader::new(file)));
        if let Some(Ok(reader)) = log {
            fill_run(&index, &id, reader)?;
        }
    }
    Ok(index)
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
