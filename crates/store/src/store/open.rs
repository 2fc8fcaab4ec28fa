//! Opening the index, and making it again where it is missing or damaged.

use crate::entry::{Kind, LoadRange};
use crate::experiment::{self, Asked};
use crate::index::{Begun, Found, Index};
use crate::log::PackedReader;
use crate::place::{Directory, ids_in};
use crate::{StoreError, run_log};
use brunt_model::Event;
use std::fs::{self, File, OpenOptions};
use std::io::BufReader;
use std::os::unix::fs::OpenOptionsExt;

/// Opens the index of a store.
pub fn index(directory: &Directory) -> Result<Index, StoreError> {
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
        Found::Whole(index) => Ok(index),
        Found::Empty(index) => filled(index, directory),
        Found::Damaged => {
            put_aside(directory)?;
            match Index::make(&directory.index())? {
                Found::Whole(index) => Ok(index),
                Found::Empty(index) => filled(index, directory),
                Found::Damaged => Err(StoreError::Damaged(directory.index())),
            }
        }
    }
}

/// Fills an experiment's row.
pub fn describe(index: &Index, id: &str, asked: &Asked) -> Result<(), StoreError> {
    let Asked { experiment, unix_seconds, .. } = asked;
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

/// Gives each file its row, as far as its beginning says what it is. What a run came to is read when it is next looked
/// at: its row stays `open` until then.
fn filled(index: Index, directory: &Directory) -> Result<Index, StoreError> {
    for id in ids_in(&directory.experiments(), ".experiment")? {
        index.claim_as(&id, Kind::Experiment)?;
        if let Ok(kept) = experiment::read(&directory.experiment(&id)) {
            describe(&index, &id, &kept.asked)?;
        }
    }
    for id in ids_in(&directory.runs(), ".events")? {
        index.claim_as(&id, Kind::Run)?;
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
