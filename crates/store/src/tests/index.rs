//! Tests that the index is rebuilt from the files, and that one of a later brunt stays unchanged.

use super::world::{events, experiment, keep, place, store, write};
use crate::{EntryFilter, ExperimentEnd, Store, StoreError, StoredItem};
use brunt_model::Environment;
use std::fs;
use std::path::Path;

fn without_index(directory: &Path) {
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(directory.join(name));
    }
}

#[test]
fn a_missing_or_damaged_index_is_rebuilt() {
    let (directory, store) = store();
    let id = store.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    keep(&store, Some((&id, place(0, 1, 0))), 1001.0);
    store.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    let alone = keep(&store, None, 1002.0);
    let mut torn = store.begin_run(None).unwrap();
    write(&mut torn, &events(1003.0)[..9]);
    drop(torn);
    store.tag(&StoredItem::Run(alone.clone()), "baseline").unwrap();
    let before = store.list(&EntryFilter::All).unwrap();
    drop(store);

    without_index(directory.path());
    assert_eq!(Store::open(directory.path()).unwrap().list(&EntryFilter::All).unwrap(), before);
    let index = directory.path().join("index.sqlite");
    let mut bytes = fs::read(&index).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0x5a);
    for damage in [b"no database at all, but long enough to have a head of one".repeat(4), bytes] {
        without_index(directory.path());
        fs::write(&index, damage).unwrap();
        let again = Store::open(directory.path()).unwrap();
        assert_eq!(again.find("baseline").unwrap(), StoredItem::Run(alone.clone()));
        assert_eq!(again.find("e1-php").unwrap(), StoredItem::Experiment(id.clone()));
        assert_eq!(again.list(&EntryFilter::All).unwrap(), before);
        assert!(directory.path().join("index.damaged").exists());
    }
}

#[test]
fn an_index_of_a_later_version_is_not_changed() {
    let (directory, store) = store();
    drop(store);
    let index = directory.path().join("index.sqlite");
    rusqlite::Connection::open(&index).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(directory.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
}

/// A pseudo-random generator with a known sequence.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Changes bytes of the structure at random: the list stays the same, or the error describes the
/// damage. A changed byte in a figure's cell is not detected: `SQLite` has no checksums, and the
/// logs are authoritative.
#[test]
fn a_corrupted_index_is_rebuilt_or_refused() {
    let (directory, store) = store();
    let id = store.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    keep(&store, Some((&id, place(0, 1, 0))), 1001.0);
    store.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    keep(&store, None, 1002.0);
    let before = store.list(&EntryFilter::All).unwrap();
    drop(store);
    let index = directory.path().join("index.sqlite");
    let whole = fs::read(&index).unwrap();
    let ids = |entries: &[crate::IndexEntry]| {
        entries.iter().map(|e| (e.id.clone(), e.kind)).collect::<Vec<_>>()
    };
    let mut numbers = Numbers(12);
    for round in 0..400 {
        without_index(directory.path());
        let mut bytes = whole.clone();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(bytes.len());
            bytes[at] = numbers.below(256) as u8;
        }
        if round % 10 == 0 {
            bytes.truncate(numbers.below(whole.len()));
        }
        fs::write(&index, &bytes).unwrap();
        match Store::open(directory.path()).and_then(|store| store.list(&EntryFilter::All)) {
            Ok(after) => {
                let (mut was, mut is) = (ids(&before), ids(&after));
                was.sort_by(|a, b| a.0.cmp(&b.0));
                is.sort_by(|a, b| a.0.cmp(&b.0));
                assert_eq!(is, was, "round {round}");
            }
            Err(error) => {
                assert!(matches!(error, StoreError::Newer { .. }), "round {round}: {error}");
            }
        }
    }
}

#[test]
fn storing_a_run_reads_no_other_rows() {
    let (directory, store) = store();
    let removed = keep(&store, None, 1000.0);
    let kept = keep(&store, None, 1001.0);
    drop(store);
    fs::remove_file(directory.path().join(format!("runs/{removed}.events"))).unwrap();
    let rows = || {
        let index = rusqlite::Connection::open(directory.path().join("index.sqlite")).unwrap();
        index.query_row("SELECT count(*) FROM kept", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let store = Store::open(directory.path()).unwrap();
    let new = keep(&store, None, 1002.0);
    assert_eq!(rows(), 3, "the row without a file was looked for");
    let ids: Vec<String> =
        store.list(&EntryFilter::All).unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!((ids, rows()), (vec![kept, new], 2));
}

#[test]
fn a_run_is_stored_even_if_all_rows_are_damaged() {
    let (directory, store) = store();
    let before = keep(&store, None, 1000.0);
    drop(store);
    let index = directory.path().join("index.sqlite");
    let mut bytes = fs::read(&index).unwrap();
    // The first page contains the schema.
    bytes[4096..].fill(0x5a);
    fs::write(&index, bytes).unwrap();
    let store = Store::open(directory.path()).unwrap();
    let new = keep(&store, None, 1001.0);
    let ids: Vec<String> =
        store.list(&EntryFilter::All).unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [before, new]);
}
