//! Tests digests: what is read from them, when they are made, and what replaces a damaged one.

use super::world::{self, SECOND, experiment, place, plan, store, write};
use crate::digest::SHORT_LOG_BYTES;
use crate::{EntryFilter, ExperimentEnd, Store, StoreError, StoredItem};
use brunt_model::{Environment, Event, Finish, Phase, Reading, Run, Snapshot, Tick, TrialIndex};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Events of a run whose log is long. It started `began` seconds after 1970.
pub fn long_events(began: f64) -> Vec<Event> {
    let labels = 40;
    let mut events = world::events(began);
    let last = events.split_off(events.len() - 1);
    events.drain(3..events.len());
    events.extend((1..labels).map(|id| Event::Label { id, name: format!("/{id}"), hop_of: None }));
    let mut state = began.to_bits();
    let mut number = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for interval in 0..300 {
        let (from, to) = (Tick(interval * SECOND / 10), Tick((interval + 1) * SECOND / 10));
        let mut snapshot = Snapshot { from, to, phase: Phase::Measure, ..Snapshot::default() };
        for label in 0..labels {
            for _ in 0..100 {
                let nanos = 20_000_000 + number(1 << 24);
                snapshot.measured.response.record(nanos);
                snapshot.label(label).response.record(nanos);
            }
            snapshot.label(label).completed += 100;
            snapshot.measured.completed += 100;
            snapshot.flow.completed += 100;
        }
        events.push(Event::Snapshot(Box::new(snapshot)));
        let values = vec![("cpu_seconds".to_owned(), interval as f64 / 7.0)];
        events.push(Event::Reading(Reading { at: to, source: "generator".into(), values }));
    }
    events.extend(last);
    events
}

/// Stores these events, and returns the id of the run.
pub fn keep(store: &Store, belongs: Option<(&str, TrialIndex)>, events: &[Event]) -> String {
    let mut log = store.begin_run(belongs).unwrap();
    write(&mut log, events);
    let id = log.id().to_owned();
    let run = Run::of(events);
    log.finish(&run, &brunt_judge::judge(&run)).unwrap();
    id
}

fn log_of(store: &Store, id: &str) -> PathBuf {
    store.directory().join("runs").join(format!("{id}.events"))
}

pub fn digest_of(store: &Store, id: &str) -> PathBuf {
    store.directory().join("runs").join(format!("{id}.digest"))
}

/// Returns the fold of a log.
fn folded(store: &Store, id: &str) -> Run {
    Run::of(&store.events(id).unwrap().map(Result::unwrap).collect::<Vec<_>>())
}

#[test]
fn a_long_log_has_a_digest_at_its_end() {
    let (_directory, store) = store();
    let long = keep(&store, None, &long_events(1000.0));
    let short = world::keep(&store, None, 1001.0);
    assert!(log_of(&store, &long).metadata().unwrap().len() > SHORT_LOG_BYTES);
    let digest = digest_of(&store, &long).metadata().unwrap();
    assert!(digest.len() < SHORT_LOG_BYTES / 2, "{}", digest.len());
    assert_eq!(digest.permissions().mode() & 0o777, 0o600);
    assert!(!digest_of(&store, &short).exists());
    assert_eq!(fs::read_dir(store.directory().join("incoming")).unwrap().count(), 0);
    assert_eq!(store.run(&long).unwrap(), folded(&store, &long));
}

#[test]
fn the_digest_is_read_instead_of_the_log() {
    let (_directory, store) = store();
    let id = keep(&store, None, &long_events(1000.0));
    let whole = folded(&store, &id);
    // The length stays, so the digest stays valid.
    let bytes = log_of(&store, &id).metadata().unwrap().len();
    File::create(log_of(&store, &id)).unwrap().set_len(bytes).unwrap();
    assert_eq!(store.run(&id).unwrap(), whole);
}

#[test]
fn a_missing_damaged_or_outdated_digest_is_made_again() {
    let (_directory, store) = store();
    let id = keep(&store, None, &long_events(1000.0));
    let path = digest_of(&store, &id);
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let mut of_another_log = whole.clone();
    // The length of the log is a part of the head.
    let at = whole.windows(11).position(|window| window == b"\"log_bytes\"").unwrap();
    of_another_log[at + 12] ^= 1;
    for damaged in [vec![], whole[..whole.len() / 2].to_vec(), flipped, of_another_log] {
        fs::write(&path, damaged).unwrap();
        assert_eq!(store.run(&id).unwrap(), folded(&store, &id));
        assert!(fs::read(&path).unwrap() == whole);
    }
    fs::remove_file(&path).unwrap();
    store.run(&id).unwrap();
    assert!(fs::read(&path).unwrap() == whole);
}

#[test]
fn an_active_or_torn_run_has_no_digest() {
    let (directory, store) = store();
    let events = long_events(1000.0);
    let mut log = store.begin_run(None).unwrap();
    let id = log.id().to_owned();
    write(&mut log, &events);
    let elsewhere = Store::open(directory.path()).unwrap();
    elsewhere.run(&id).unwrap();
    assert!(!digest_of(&store, &id).exists(), "it is locked");
    drop(log);
    elsewhere.run(&id).unwrap();
    assert!(digest_of(&store, &id).exists(), "it has an end");
    let torn = {
        let mut log = store.begin_run(None).unwrap();
        write(&mut log, &events[..events.len() - 1]);
        log.id().to_owned()
    };
    assert!(store.run(&torn).unwrap().finish.is_none());
    assert!(!digest_of(&store, &torn).exists());
}

#[test]
fn a_digest_cannot_be_written_but_the_run_is_read() {
    let (_directory, store) = store();
    let id = keep(&store, None, &long_events(1000.0));
    fs::remove_file(digest_of(&store, &id)).unwrap();
    // Root may write to a read-only folder, but nobody to a missing one.
    fs::remove_dir(store.directory().join("incoming")).unwrap();
    assert_eq!(store.run(&id).unwrap().total.completed, 1_200_000);
    assert!(!digest_of(&store, &id).exists());
}

#[test]
fn a_rewritten_log_has_its_own_digest() {
    let (_directory, store) = store();
    let events = long_events(1000.0);
    let id = keep(&store, None, &events);
    let mut log = store.rewrite_run(&id, Tick(SECOND)).unwrap();
    write(&mut log, &events[..60]);
    assert!(digest_of(&store, &id).exists(), "the first log is still there");
    write(&mut log, &events[60..80]);
    assert!(!digest_of(&store, &id).exists());
    let finish = Finish { at: Tick(25 * SECOND), interrupted: true, error: None };
    let mut all = events[..500].to_vec();
    write(&mut log, &events[80..500]);
    log.append(&Event::Finished(finish.clone())).unwrap();
    all.push(Event::Finished(finish));
    let run = Run::of(&all);
    log.finish(&run, &brunt_judge::judge(&run)).unwrap();
    assert_eq!(store.run(&id).unwrap(), run);
    assert!(digest_of(&store, &id).exists());
}

#[test]
fn a_removed_or_discarded_run_leaves_no_digest() {
    let (directory, store) = store();
    let id = keep(&store, None, &long_events(1000.0));
    let again = store.rewrite_run(&id, Tick(1000 * SECOND)).unwrap();
    again.discard().unwrap();
    let other = keep(&store, None, &long_events(1001.0));
    let store = Store::open(directory.path()).unwrap();
    for id in [id, other] {
        store.remove(&StoredItem::Run(id)).unwrap();
    }
    assert_eq!(fs::read_dir(directory.path().join("runs")).unwrap().count(), 0);
    assert!(store.list(&EntryFilter::All).unwrap().is_empty());
}

/// Removes the log of a run by hand, as a pruning does.
fn without_log(store: &Store, id: &str) {
    fs::remove_file(log_of(store, id)).unwrap();
}

#[test]
fn a_run_without_a_log_is_complete_but_has_no_events() {
    let (directory, store) = store();
    let experiment =
        store.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let part = keep(&store, Some((&experiment, place(0, 1, 0))), &long_events(1001.0));
    store.end_experiment(&experiment, &ExperimentEnd::default()).unwrap();
    let alone = keep(&store, None, &long_events(1002.0));
    let run = folded(&store, &alone);
    let before = store.list(&EntryFilter::All).unwrap();
    without_log(&store, &part);
    without_log(&store, &alone);
    drop(store);
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(directory.path().join(name));
    }
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(store.list(&EntryFilter::All).unwrap(), before);
    assert_eq!(store.run(&alone).unwrap(), run);
    assert_eq!(store.study(&experiment).unwrap().trials.len(), 1);
    for error in [store.events(&alone).err(), store.rewrite_run(&alone, Tick(0)).err()] {
        let error = error.unwrap();
        assert!(matches!(error, StoreError::LogRemoved(_)) && error.is_usage_error(), "{error}");
    }
    fs::write(digest_of(&store, &alone), "damaged").unwrap();
    let error = store.run(&alone).unwrap_err();
    assert!(
        error.to_string().contains("its event log was removed by `brunt runs prune`"),
        "{error}"
    );
    assert!(matches!(store.run("2222222"), Err(StoreError::Io { .. })));
    store.remove(&StoredItem::Experiment(experiment)).unwrap();
    store.remove(&StoredItem::Run(alone)).unwrap();
    assert_eq!(fs::read_dir(directory.path().join("runs")).unwrap().count(), 0);
}

#[test]
fn a_run_without_a_log_is_exported_and_imported() {
    let (directory, from) = store();
    let id = from.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let run = keep(&from, Some((&id, place(0, 1, 0))), &long_events(1001.0));
    from.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    without_log(&from, &run);
    let file = directory.path().join("e.brunt");
    from.export(&StoredItem::Experiment(id.clone()), &file).unwrap();

    let (_elsewhere, to) = store();
    // The id of the experiment is in use, so the head of the digest must be rewritten.
    to.index().claim_as(&id, crate::ItemKind::Run).unwrap();
    fs::copy(log_of_a_run(&to), log_of(&to, &id)).unwrap();
    let new = to.import(&file).unwrap();
    assert_ne!(new, id);
    assert_eq!(to.study(&new).unwrap().trials[0].run, from.run(&run).unwrap());
    let (_elsewhere, to) = store();
    assert_eq!(to.import(&file).unwrap(), id);
    assert_eq!(to.import(&file).unwrap(), id, "it is not imported twice");

    let mut damaged = fs::read(&file).unwrap();
    let half = damaged.len() / 2;
    damaged[half] ^= 1;
    fs::write(&file, damaged).unwrap();
    let (_elsewhere, to) = store();
    assert!(matches!(to.import(&file), Err(StoreError::Archive { .. })));
}

fn log_of_a_run(store: &Store) -> PathBuf {
    let id = world::keep(store, None, 1.0);
    log_of(store, &id)
}

#[test]
fn a_digest_has_no_secrets() {
    const CANARY: &str = "Zq7CanarY9x";
    let (directory, store) = store();
    let mut events = long_events(1000.0);
    let mut secret = plan();
    let mut second = secret.main().clone();
    second.name = "second".into();
    secret.populations.push(second);
    for population in &mut secret.populations {
        population.scenario.requests[0].url = format!("http://127.0.0.1:8080/?token={CANARY}");
    }
    let environment = Environment {
        command: format!("brunt http://127.0.0.1:8080/ --bearer {CANARY}"),
        server: Some(format!("nginx {CANARY}")),
        ..Environment::default()
    };
    events[0] = Event::Started {
        plan: Box::new(secret),
        environment: Box::new(environment),
        unix_seconds: 1000.0,
    };
    events[1] = Event::Label { id: 0, name: format!("/?token={CANARY}"), hop_of: None };
    let texts = [
        Event::Warning(brunt_model::Warning { at: Tick(0), text: format!("no {CANARY}").into() }),
        Event::CheckFailures(vec![brunt_model::CheckFailure::new("json", CANARY, CANARY)]),
    ];
    events.splice(3..3, texts);
    let error = Some(format!("refused {CANARY}").into());
    *events.last_mut().unwrap() =
        Event::Finished(Finish { at: Tick(30 * SECOND), interrupted: true, error });
    let id = keep(&store, None, &events);
    let run = store.run(&id).unwrap();
    assert_eq!(run, folded(&store, &id));
    assert!(format!("{run:?}").contains("redacted:") && run.populations.len() == 2);
    assert!(!format!("{run:?}").contains(CANARY), "{run:?}");
    for file in fs::read_dir(directory.path().join("runs")).unwrap() {
        let bytes = unpacked(&fs::read(file.unwrap().path()).unwrap());
        assert!(!bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()));
    }
}

/// Returns the bytes of a file, and those of the deflate stream of a digest in it.
fn unpacked(file: &[u8]) -> Vec<u8> {
    let mut out = file.to_vec();
    if let Some(rest) = file.strip_prefix(crate::digest::MAGIC) {
        let head = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        let mut stream = flate2::read::DeflateDecoder::new(&rest[8 + head..]);
        std::io::Read::read_to_end(&mut stream, &mut out).unwrap();
    }
    out
}
