//! Made-up runs: two a week for half a year. The server becomes slower with a new version, and
//! faster with a new kernel.

use brunt_model::{Environment, Event, Finish, Phase, Plan, Run, Snapshot, Tick};
use brunt_store::Store;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Number of runs.
pub const RUNS: usize = 52;
/// The first run with the new server, and the first one with the new kernel.
pub const NEW_SERVER: usize = 20;
pub const NEW_KERNEL: usize = 38;
/// A run with a consistency check that failed.
pub const INVALID: usize = 30;

const SECOND: u64 = 1_000_000_000;
const HALF_WEEK: f64 = 302_400.0;
/// 2026-05-04.
const FIRST: f64 = 1_777_852_800.0;

/// Writes all runs.
pub fn write(store: &Store) {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    for number in 0..RUNS {
        let events = events(number, &mut random);
        let mut log = store.begin_run(None).expect("a log");
        for event in &events {
            log.append(event).expect("an event");
        }
        let run = Run::of(&events);
        log.finish(&run, &brunt_judge::judge(&run)).expect("an end");
    }
}

fn plan() -> Plan {
    let text = r#"{
        "populations": [{"name": "main", "scenario": {"requests": [{"label": "/cart", "method": "GET",
            "url": "http://shop.example:8080/cart", "headers": [], "body": "none", "weight": 1}], "steps": [{"next": "sequence"}]},
        "load": {"model": "open", "rate": {"stages": [{"from": 1000.0, "to": 1000.0, "duration_seconds": 10.0}]},
            "arrivals": "even", "connections": null, "max_in_flight": 900},
        "stop": {"warmup_seconds": 0.0, "duration_seconds": 10.0, "requests": null, "grace_seconds": 5.0}}],
        "connection": {"http": "1.1", "requests_per_connection": null, "retry_stale": true, "timeout_seconds": 30.0,
            "connect_timeout_seconds": 10.0, "connect_rate": 5000, "resolve": [], "resolve_every_seconds": null,
            "proxy": null, "unix_socket": null, "source": [], "receive_rate": null, "tls":
            {"cacert": null, "cert": null, "key": null, "insecure": true, "sni": null, "no_resumption": false}},
        "reply_policies": [{"checks": {"status": [{"least": 200, "most": 299}], "body": null, "same_length": false}}],
        "objectives": [], "record": {"interval_seconds": 0.1, "labels": 1000, "samples": false}, "seed": 7,
        "threads": 1, "processes": 1, "precise": false}"#;
    serde_json::from_str(text).expect("a plan")
}

fn events(number: usize, random: &mut Pcg64Mcg) -> Vec<Event> {
    let kernel = if number < NEW_KERNEL { "Linux 6.1.0" } else { "Linux 6.12.0" };
    let server = if number < NEW_SERVER { "nginx/1.24" } else { "nginx/1.26" };
    let environment = Environment {
        brunt: "0.1.0".into(),
        kernel: kernel.into(),
        server: Some(server.into()),
        ..Environment::default()
    };
    let level = match number {
        ..NEW_SERVER => 8.0e6,
        NEW_SERVER..NEW_KERNEL => 9.2e6,
        _ => 8.6e6,
    };
    let of_run = level * (1.0 + 0.02 * noise(random));
    let unix_seconds = FIRST + HALF_WEEK * number as f64;
    let mut events = vec![
        Event::Started { plan: Box::new(plan()), environment: Box::new(environment), unix_seconds },
        Event::Label { id: 0, name: "/cart".into(), hop_of: None },
        Event::Stage { at: Tick(0), phase: Phase::Measure },
    ];
    for tenth in 0..100 {
        // Replies without a request are impossible, so the figures of this run are invalid.
        let excess = u64::from(number == INVALID);
        events.push(snapshot(tenth, of_run * (1.0 + 0.02 * noise(random)), excess));
    }
    events.push(Event::Finished(Finish { at: Tick(10 * SECOND), interrupted: false, error: None }));
    events
}

/// A tenth of a second with 100 replies; one of 50 takes twice as long.
fn snapshot(tenth: u64, level: f64, excess: u64) -> Event {
    let (from, to) = (Tick(tenth * SECOND / 10), Tick((tenth + 1) * SECOND / 10));
    let mut snapshot = Snapshot { from, to, phase: Phase::Measure, ..Snapshot::default() };
    snapshot.flow.planned = 100;
    snapshot.flow.begun = 100;
    snapshot.flow.completed = 100 + excess;
    snapshot.flow.good = 100;
    snapshot.measured.planned = 100;
    snapshot.measured.begun = 100;
    snapshot.measured.completed = 100 + excess;
    snapshot.measured.good = 100;
    // The consistency checks compare all of these with the counts.
    snapshot.measured.statuses.add(200, 100 + excess);
    snapshot.measured.lag.record_n(0, 100);
    snapshot.measured.queue_wait.record_n(0, 100);
    for (share, count) in [(0.5, 50), (0.7, 48), (1.0, 2)] {
        let nanos = (level * share) as u64;
        snapshot.measured.response.record_n(nanos, count);
        snapshot.measured.service.record_n(nanos, count);
        snapshot.measured.phases.first_byte.record_n(nanos, count);
        snapshot.flow.in_flight_nanos += nanos * count;
    }
    Event::Snapshot(Box::new(snapshot))
}

/// Noise with mean 0 and standard deviation 1, between −3.5 and 3.5.
fn noise(random: &mut Pcg64Mcg) -> f64 {
    let sum: f64 = (0..4).map(|_| random.random::<f64>() - 0.5).sum();
    sum * 3.0_f64.sqrt()
}
