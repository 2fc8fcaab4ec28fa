//! Tests that a store writes no secrets.

use super::world::{events, experiment, store};
use crate::Store;
use brunt_model::{Environment, Event};
use std::fs::File;

const CANARY: &str = "Zq7CanarY9x";

/// The events of a run with a secret in its plan, a label and a warning.
fn in_clear() -> Vec<Event> {
    let mut events = events(1000.0);
    if let Event::Started { plan, environment, .. } = &mut events[0] {
        plan.main_mut().scenario.requests[0].url = format!("http://127.0.0.1:8080/?token={CANARY}");
        plan.main_mut().scenario.requests[0].headers.push(("X-Api-Key".into(), CANARY.into()));
        environment.command = format!("brunt http://127.0.0.1:8080/ --bearer {CANARY}");
    }
    events[1] = Event::Label {
        id: 0,
        name: format!("http://127.0.0.1:8080/?token={CANARY}"),
        hop_of: None,
    };
    events
}

fn log_of(store: &Store, id: &str) -> String {
    let file = File::open(store.directory().join("runs").join(format!("{id}.events"))).unwrap();
    let events = crate::log::EventReader::new(file).unwrap();
    events.map(|event| format!("{:?}", event.unwrap())).collect::<Vec<_>>().concat()
}

#[test]
fn secrets_are_redacted_before_they_are_stored() {
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
