//! Creates runs and experiments for tests.

use crate::{RunLog, Store};
use brunt_model::experiment::{ContenderHooks, HookCommands, LoadStep, TrialOrder};
use brunt_model::{
    Contender, Event, Experiment, Finish, Phase, Plan, Run, Snapshot, Tick, TrialIndex, Warning,
};
use std::time::Duration;
use tempfile::TempDir;

pub const SECOND: u64 = 1_000_000_000;

pub fn plan() -> Plan {
    let text = r#"{
        "populations": [{"name": "main", "scenario": {"requests": [{"label": "/", "method": "GET",
            "url": "http://127.0.0.1:8080/", "headers": [], "body": "none", "weight": 1}], "steps": [{"next": "sequence"}]},
        "load": {"model": "open", "rate": {"stages": [{"from": 50.0, "to": 50.0, "duration_seconds": 1.0}]},
            "arrivals": "poisson", "connections": null, "max_in_flight": 9},
        "stop": {"warmup_seconds": 0.0, "duration_seconds": 1.0, "requests": null, "grace_seconds": 5.0}}],
        "connection": {"http": "1.1", "requests_per_connection": 1, "retry_stale": true, "timeout_seconds": 30.0,
            "connect_timeout_seconds": 10.0, "connect_rate": 5000, "resolve": [], "resolve_every_seconds": null,
            "proxy": null, "unix_socket": null, "source": [], "receive_rate": null, "tls":
            {"cacert": null, "cert": null, "key": null, "insecure": true, "sni": null, "no_resumption": false}},
        "reply_policies": [{"checks": {"status": [{"least": 200, "most": 299}], "body": null, "same_length": false}}],
        "objectives": [], "record": {"interval_seconds": 0.1, "labels": 1000, "samples": false}, "seed": 7,
        "threads": 1, "processes": 1, "precise": false}"#;
    serde_json::from_str(text).unwrap()
}

/// Returns a run of one second with ten replies, which started `began` seconds after 1970.
pub fn events(began: f64) -> Vec<Event> {
    let mut events = vec![
        Event::Started { plan: Box::new(plan()), environment: Box::default(), unix_seconds: began },
        Event::Label { id: 0, name: "/".into(), hop_of: None },
        Event::Stage { at: Tick(0), phase: Phase::Measure },
    ];
    events.extend((0..10).map(|tenth| snapshot(tenth, 1)));
    events.push(Event::Warning(Warning { at: Tick(SECOND), text: "slow".into() }));
    events.push(Event::Finished(Finish { at: Tick(SECOND), interrupted: false, error: None }));
    events
}

/// Returns a tenth of a second with this number of replies of 20 ms.
pub fn snapshot(tenth: u64, replies: u64) -> Event {
    let (from, to) = (Tick(tenth * SECOND / 10), Tick((tenth + 1) * SECOND / 10));
    let mut snapshot = Snapshot { from, to, phase: Phase::Measure, ..Snapshot::default() };
    (snapshot.flow.planned, snapshot.flow.begun, snapshot.flow.completed) =
        (replies, replies, replies);
    (snapshot.measured.planned, snapshot.measured.begun, snapshot.measured.completed) =
        (replies, replies, replies);
    (snapshot.flow.good, snapshot.measured.good) = (replies, replies);
    snapshot.measured.response.record_n(20_000_000, replies);
    Event::Snapshot(Box::new(snapshot))
}

pub fn store() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    (directory, store)
}

pub fn write(log: &mut RunLog, events: &[Event]) {
    for event in events {
        log.append(event).unwrap();
    }
}

/// Stores a complete run, and returns its id.
pub fn keep(store: &Store, belongs: Option<(&str, TrialIndex)>, began: f64) -> String {
    let mut log = store.begin_run(belongs).unwrap();
    write(&mut log, &events(began));
    let (id, run) = (log.id().to_owned(), Run::of(&events(began)));
    log.finish(&run, &brunt_judge::judge(&run)).unwrap();
    id
}

/// Returns an experiment of two contenders at two loads, with two repetitions.
pub fn experiment() -> Experiment {
    let step = |load| LoadStep::new(load, plan());
    let contender = |name: &str| Contender {
        name: name.into(),
        factors: Vec::new(),
        steps: vec![step(50.0), step(100.0)],
        server: None,
        hooks: ContenderHooks::default(),
        probes: Vec::new(),
    };
    Experiment {
        name: "e1-php".into(),
        about: String::new(),
        contenders: vec![contender("nginx"), contender("apache")],
        repetitions: 2,
        order: TrialOrder::Interleaved,
        cooldown: Duration::ZERO,
        hooks: HookCommands::default(),
        seed: 1,
        directory: ".".into(),
        scratch: None,
        question: brunt_model::Question::Sweep,
        source: "name: e1-php".into(),
    }
}

/// Returns the same experiment as a search for the capacity of one contender.
pub fn search() -> Experiment {
    let find = r#"{"find": {"objectives": [{"name": "p99 < 50ms", "all": [{"metric": {"quantile": 0.99}, "relation":
        "below", "bound": 0.05}]}], "precision": 0.02, "within_seconds": 60.0, "start": 50.0, "most": null, "trial":
        {"warmup_seconds": 1.0, "measured_seconds": 2.0}, "between": {"cool": 1.0}, "overload": null}}"#;
    let mut experiment = experiment();
    experiment.contenders.truncate(1);
    experiment.contenders[0].steps.truncate(1);
    Experiment { repetitions: 1, question: serde_json::from_str(find).unwrap(), ..experiment }
}

pub fn place(repetition: u32, contender: usize, step: usize) -> TrialIndex {
    TrialIndex { repetition, contender, step }
}
