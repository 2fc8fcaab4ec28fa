//! A store of before, in clear and for everybody to read, is scrubbed.

use super::world::{events, experiment, keep, store};
use crate::experiment::{ExperimentHead, begin};
use crate::log::{Head, PackedWriter};
use crate::{EntryFilter, Store};
use brunt_model::{Environment, Event};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const CANARY: &str = "Zq7CanarY9x";

/// The events of a run with a secret in its plan, a label and a warning.
fn in_clear() -> Vec<Event> {
    let mut events = events(1000.0);
    if let Event::Started { plan, environment, .. } = &mut events[0] {
        plan.main_mut().scenario.requests[0].url = format!("http://127.0.0.1:8080/?token={CANARY}");
        plan.main_mut().scenario.requests[0].headers.push(("X-Api-Key".into(), CANARY.into()));
        environment.command = format!("brunt http://127.0.0.1:8080/ --bearer {CANARY}");
    }
    events[1] = Event::Label { id: 0, name: format!("http://127.0.0.1:8080/?token={CANARY}"), hop_of: None };
    events
}

/// A log as an earlier brunt left it.
fn leave(store: &Store, id: &str, events: &[Event]) {
    let path = store.directory().join("runs").join(format!("{id}.events"));
    let mut writer = PackedWriter::new(File::create_new(&path).unwrap(), &Head::default()).unwrap();
    for event in events {
        writer.write(event).unwrap();
    }
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
}

fn leave_experiment(store: &Store, id: &str) {
    let mut experiment = experiment();
    experiment.source = format!("vars:\n  token: {CANARY}\n");
    experiment.contenders[0].steps[0].plan.main_mut().scenario.requests[0]
        .headers
        .push(("Cookie".into(), format!("a={CANARY}")));
    let path = store.directory().join("experiments").join(format!("{id}.experiment"));
    let asked = ExperimentHead { experiment, environment: Environment::default(), unix_seconds: 1.0 };
    begin(&File::create_new(path).unwrap(), &asked).unwrap();
}

/// A store in which an earlier brunt kept a run and an experiment; the index is made of their files.
fn of_before() -> (tempfile::TempDir, Store) {
    let (directory, store) = store();
    leave(&store, "k7m2xqp", &in_clear());
    leave_experiment(&store, "p3nq8vw");
    drop(store);
    for file in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(directory.path().join(file));
    }
    let store = Store::open(directory.path()).unwrap();
    (directory, store)
}

fn log_of(store: &Store, id: &str) -> String {
    let file = File::open(store.directory().join("runs").join(format!("{id}.events"))).unwrap();
    let events = crate::log::EventReader::new(file).unwrap();
    events.map(|event| format!("{:?}", event.unwrap())).collect::<Vec<_>>().concat()
}

#[test]
fn a_store_of_before_is_scrubbed_once() {
    let (directory, store) = of_before();
    assert!(log_of(&store, "k7m2xqp").contains(CANARY), "it was in clear");
    keep(&store, None, 2000.0);
    let scrubbed = store.scrub().unwrap();
    assert_eq!((scrubbed.runs, scrubbed.experiments, scrubbed.seen), (1, 1, 3));
    assert!(!log_of(&store, "k7m2xqp").contains(CANARY));
    let redacted = store.redactor().secret(CANARY);
    let run = store.run("k7m2xqp").unwrap();
    assert_eq!(run.plan.unwrap().main().scenario.requests[0].headers[0].1, redacted);
    assert_eq!(run.total.completed, 10, "nothing else is lost");
    let entries = store.list(&EntryFilter::All).unwrap();
    assert!(entries.iter().all(|entry| !entry.what.contains(CANARY)), "{entries:?}");
    assert!(store.scrub().unwrap().runs == 0, "it is redacted already");
    drop(store);
    for path in all(directory.path()) {
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()), "{}", path.display());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

fn all(directory: &Path) -> Vec<std::path::PathBuf> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { all(&path) } else { vec![path] }).collect()
}

#[test]
fn what_is_still_in_clear_is_neither_shown_nor_exported() {
    let (directory, store) = of_before();
    let study = store.study("p3nq8vw").unwrap();
    assert!(!serde_json::to_string(&study.experiment).unwrap().contains(CANARY));
    assert!(!serde_json::to_string(&store.run("k7m2xqp").unwrap().plan).unwrap().contains(CANARY));
    let to = directory.path().join("out.brunt");
    store.export(&store.find("k7m2xqp").unwrap(), &to).unwrap();
    let (_other, other) = super::world::store();
    let id = other.import(&to).unwrap();
    assert!(!log_of(&other, &id).contains(CANARY));
    assert!(fs::read_dir(store.directory().join("incoming")).unwrap().next().is_none(), "nothing is left over");
}

#[test]
fn what_is_kept_now_is_redacted_at_once() {
    let (_directory, store) = store();
    let mut log = store.begin_run(None).unwrap();
    super::world::write(&mut log, &in_clear());
    let id = log.id().to_owned();
    assert!(!log_of(&store, &id).contains(CANARY));
    let mut secret = experiment();
    secret.source = format!("brunt sweep http://anna:{CANARY}@h/");
    let id = store.begin_experiment(&secret, &Environment::default(), 1.0).unwrap();
    assert!(store.study(&id).unwrap().experiment.source.contains("anna:redacted:"));
}
