//! Tests export and import.

use super::digests;
use super::world::{experiment, keep, place, store};
use crate::archive::{ArchiveFile, ArchiveLimits, Contents, MAGIC, ReceivedItem};
use crate::retention::RetentionLimits;
use crate::{EntryFilter, ExperimentEnd, StoreError, StoredItem};
use brunt_model::Environment;
use brunt_model::codec::frame;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

#[test]
fn an_exported_experiment_is_complete() {
    let (directory, from) = store();
    let id = from.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    for (n, contender) in [0, 1, 0, 1].into_iter().enumerate() {
        keep(&from, Some((&id, place(n as u32 / 2, contender, 0))), 1001.0 + n as f64);
    }
    let file = directory.path().join("e.brunt");
    let named = StoredItem::Experiment(id.clone());
    assert!(matches!(from.export(&named, &file), Err(StoreError::Busy(_))));
    from.end_experiment(&id, &ExperimentEnd { interrupted: true, warnings: Vec::new() }).unwrap();
    from.export(&named, &file).unwrap();

    let (_elsewhere, to) = store();
    assert_eq!(to.import(&file).unwrap(), id);
    assert_eq!(to.import(&file).unwrap(), id, "what is here already is not taken in twice");
    let ids = |study: &brunt_model::Study| {
        study.trials.iter().map(|t| (t.place, t.id.clone())).collect::<Vec<_>>()
    };
    assert_eq!(ids(&to.study(&id).unwrap()), ids(&from.study(&id).unwrap()));
    assert_eq!(to.list(&EntryFilter::All).unwrap(), from.list(&EntryFilter::All).unwrap());
}

#[test]
fn an_imported_experiment_gets_a_new_id_if_its_id_exists() {
    let (directory, from) = store();
    let id = from.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let run = keep(&from, Some((&id, place(0, 1, 1))), 1001.0);
    from.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    let file = directory.path().join("e.brunt");
    from.export(&StoredItem::Experiment(id.clone()), &file).unwrap();

    let (elsewhere, to) = store();
    to.index().claim_as(&id, crate::ItemKind::Run).unwrap();
    fs::copy(from.directory.run(&run), to.directory.run(&id)).unwrap();
    let new = to.import(&file).unwrap();
    assert_ne!(new, id);
    let study = to.study(&new).unwrap();
    assert_eq!((study.trials.len(), study.trials[0].id.as_deref()), (1, Some(run.as_str())));
    assert_eq!(fs::read_dir(elsewhere.path().join("incoming")).unwrap().count(), 0);
}

#[test]
fn a_received_item_keeps_its_id_and_is_stored_once() {
    let (directory, from) = store();
    let id = from.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let run = keep(&from, Some((&id, place(0, 1, 1))), 1001.0);
    from.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    from.set_note(&StoredItem::Experiment(id.clone()), "new kernel").unwrap();
    let file = directory.path().join("e.brunt");
    from.export(&StoredItem::Experiment(id.clone()), &file).unwrap();
    let (_elsewhere, to) = store();
    let limits = ArchiveLimits::default();
    let received = to.receive(&file, &limits).unwrap();
    assert_eq!(received, ReceivedItem { item: StoredItem::Experiment(id.clone()), is_new: true });
    assert!(!to.receive(&file, &limits).unwrap().is_new);
    assert_eq!(to.entry(&id).unwrap().note.as_deref(), Some("new kernel"));
    assert_eq!(to.study(&id).unwrap().trials.len(), 1);
    // A run without its experiment loses the name of the experiment, and is the same run.
    let alone = directory.path().join("run.brunt");
    from.export(&StoredItem::Run(run.clone()), &alone).unwrap();
    assert!(!to.receive(&alone, &limits).unwrap().is_new);
    let (_third, third) = store();
    assert!(third.receive(&alone, &limits).unwrap().is_new);
    assert!(!third.receive(&alone, &limits).unwrap().is_new);
    assert_eq!(third.entry(&run).unwrap().experiment, None);
}

#[test]
fn a_run_is_the_same_one_as_its_digest() {
    let (directory, from) = store();
    let day = 86_400.0;
    let id = digests::keep(&from, None, &digests::long_events(day));
    let item = StoredItem::Run(id.clone());
    let (with_log, with_digest) = (directory.path().join("log"), directory.path().join("digest"));
    from.export(&item, &with_log).unwrap();
    let (_elsewhere, to) = store();
    let limits = ArchiveLimits::default();
    assert!(to.receive(&with_log, &limits).unwrap().is_new);
    let retention = RetentionLimits {
        logs_older_than: Some(Duration::from_hours(24)),
        ..RetentionLimits::default()
    };
    to.prune(&to.plan_pruning(&retention, 3.0 * day).unwrap()).unwrap();
    assert!(!to.directory.run(&id).exists());
    assert!(
        !to.receive(&with_log, &limits).unwrap().is_new,
        "a push is repeated after a retention"
    );
    to.export(&item, &with_digest).unwrap();
    assert!(!from.receive(&with_digest, &limits).unwrap().is_new);
    let small = ArchiveLimits { unpacked_bytes: 1000, ..limits };
    let (_third, third) = store();
    let refused = third.receive(&with_digest, &small).unwrap_err();
    assert!(refused.to_string().contains("unpacks to more than 1000 bytes"), "{refused}");
    let other = digests::keep(&third, None, &digests::long_events(2.0 * day));
    fs::rename(third.directory.run(&other), third.directory.run(&id)).unwrap();
    third.index().claim_as(&id, crate::ItemKind::Run).unwrap();
    assert!(matches!(third.receive(&with_log, &limits), Err(StoreError::OtherContent(_))));
}

#[test]
fn incomplete_files_of_killed_processes_are_removed_after_a_day() {
    let (directory, _store) = store();
    let old = directory.path().join("incoming/old");
    let new = directory.path().join("incoming/new");
    fs::write(&new, "").unwrap();
    fs::File::create(&old).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    crate::Store::open(directory.path()).unwrap();
    assert!(new.exists() && !old.exists());
}

#[test]
fn a_received_item_replaces_no_other_one() {
    let (directory, from) = store();
    let id = keep(&from, None, 1.0);
    let file = directory.path().join("run.brunt");
    from.export(&StoredItem::Run(id.clone()), &file).unwrap();
    let limits = ArchiveLimits::default();
    let (_elsewhere, to) = store();
    let other = keep(&to, None, 2.0);
    fs::rename(to.directory.run(&other), to.directory.run(&id)).unwrap();
    to.index().claim_as(&id, crate::ItemKind::Run).unwrap();
    assert!(
        matches!(to.receive(&file, &limits), Err(StoreError::OtherContent(taken)) if taken == id)
    );
    let (_third, third) = store();
    let tagged = keep(&third, None, 3.0);
    third.tag(&StoredItem::Run(tagged), &id).unwrap();
    assert!(matches!(third.receive(&file, &limits), Err(StoreError::OtherContent(_))));
}

#[test]
fn received_archives_are_bounded_and_read_to_their_end() {
    let (directory, from) = store();
    let id = keep(&from, None, 1.0);
    let file = directory.path().join("run.brunt");
    let (elsewhere, to) = store();
    let refused = |limits: &ArchiveLimits| match to.receive(&file, limits) {
        Err(StoreError::Received(text)) => text,
        other => panic!("{other:?}"),
    };
    let limits = ArchiveLimits::default();
    from.export(&StoredItem::Run(id.clone()), &file).unwrap();
    assert!(refused(&ArchiveLimits { bytes: 100, ..limits }).contains("(maximum: 100)"));
    assert!(refused(&ArchiveLimits { files: 0, ..limits }).contains("has 1 files"));
    let small = ArchiveLimits { unpacked_bytes: 100, ..limits };
    assert!(refused(&small).contains("unpacks to more than 100 bytes"));
    // A log with a damaged event, in frames of the archive that are whole.
    let mut log = fs::read(from.directory.run(&id)).unwrap();
    let middle = log.len() / 2;
    log[middle] ^= 1;
    write_archive(&file, &[(&id, &log)]);
    assert!(refused(&limits).contains("has a damaged log"));
    // A deflate stream that unpacks to 1000 times its size.
    let mut bomb = fs::read(from.directory.run(&id)).unwrap()[..8].to_vec();
    bomb.extend(frame(b"{\"belongs\":null}").unwrap());
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&vec![0; 64 << 20]).unwrap();
    bomb.extend(frame(&packer.finish().unwrap()).unwrap());
    assert!(bomb.len() < 100_000);
    write_archive(&file, &[(&id, &bomb)]);
    assert!(refused(&limits).contains("has a damaged log"));
    write_archive(&file, &[("../../x", &log)]);
    assert!(refused(&limits).contains("is truncated or damaged"));
    let whole = fs::read(from.directory.run(&id)).unwrap();
    write_archive(&file, &[(&id, &whole), (&id, &whole)]);
    assert!(refused(&limits).contains("two files of one id"));
    write_archive(&file, &[(&id, &whole), ("k7m2xqp", &whole)]);
    assert!(refused(&limits).contains("more than one run"));
    assert!(to.list(&EntryFilter::All).unwrap().is_empty());
    for folder in ["incoming", "runs", "experiments"] {
        assert_eq!(fs::read_dir(elsewhere.path().join(folder)).unwrap().count(), 0);
    }
}

/// Writes an archive of runs with these logs.
fn write_archive(path: &Path, logs: &[(&str, &[u8])]) {
    let files = logs.iter().map(|(id, log)| ArchiveFile {
        id: (*id).to_owned(),
        experiment: false,
        digest: false,
        bytes: log.len() as u64,
    });
    let contents = Contents { files: files.collect(), note: None };
    let mut bytes = MAGIC.to_vec();
    bytes.extend(frame(&serde_json::to_vec(&contents).unwrap()).unwrap());
    for (_, log) in logs {
        bytes.extend(frame(log).unwrap());
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn damaged_archives_are_refused_without_leftovers() {
    let (directory, from) = store();
    let id = keep(&from, None, 1.0);
    let file = directory.path().join("run.brunt");
    from.export(&StoredItem::Run(id), &file).unwrap();
    let whole = fs::read(&file).unwrap();
    let (elsewhere, to) = store();
    let mut tries: Vec<Vec<u8>> =
        (0..whole.len()).step_by(7).map(|cut| whole[..cut].to_vec()).collect();
    for at in (0..whole.len()).step_by(5) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        tries.push(flipped);
    }
    tries.push([&whole[..], b"more"].concat());
    for bytes in tries {
        fs::write(&file, bytes).unwrap();
        assert!(matches!(to.import(&file), Err(StoreError::Archive { .. })));
    }
    assert!(to.list(&EntryFilter::All).unwrap().is_empty());
    for folder in ["incoming", "runs", "experiments"] {
        assert_eq!(fs::read_dir(elsewhere.path().join(folder)).unwrap().count(), 0);
    }
    fs::write(&file, whole).unwrap();
    to.import(&file).unwrap();
}
