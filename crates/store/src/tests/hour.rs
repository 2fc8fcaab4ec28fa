//! Measures a store with a run of an hour: 100 labels at 1,000 requests/s. Run it with
//! `cargo test --release -p brunt-store --lib -- --ignored --nocapture hour`. `BRUNT_HOUR=DIR` keeps
//! the store.

use super::digests::digest_of;
use super::world::{self, SECOND, plan};
use crate::{RunLog, Store};
use brunt_model::reading_names::GENERATOR;
use brunt_model::sample::ConnectTimes;
use brunt_model::{Event, Finish, Outcome, Phase, Reading, Request, Run, Sample, Snapshot, Tick};
use std::path::{Path, PathBuf};
use std::process::Command;

const LABELS: u32 = 100;
const REQUESTS_PER_SECOND: u64 = 1000;
const SECONDS: u64 = 3600;

/// A pseudo-random generator with a known sequence.
struct Numbers(u64);

impl Numbers {
    fn share(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A time with this mean and an exponential distribution, in nanoseconds.
    fn nanos(&mut self, mean: f64) -> u64 {
        (-(1.0 - self.share()).ln() * mean) as u64
    }
}

fn sample(planned: u64, numbers: &mut Numbers) -> Sample {
    let after = |from: Tick, nanos: u64| Tick(from.0 + nanos);
    let planned = Tick(planned);
    let begun = after(planned, numbers.nanos(4e3));
    let sent = after(begun, numbers.nanos(1e4));
    let first_byte = after(sent, 1_000_000 + numbers.nanos(3e6));
    Sample {
        planned,
        free: planned,
        begun,
        sent,
        first_byte,
        last_byte: after(first_byte, numbers.nanos(1e5)),
        opened: numbers.share() < 0.01,
        opening: ConnectTimes { connect: Some(numbers.nanos(1e5)), ..ConnectTimes::default() },
        bytes_sent: 80,
        bytes_received: 4000,
        outcome: Outcome { status: Some(200), failure: None, expected: true },
        label: (numbers.share() * f64::from(LABELS)) as u32,
        ..Sample::default()
    }
}

fn snapshot(number: u64, interval: u64, numbers: &mut Numbers) -> Box<Snapshot> {
    let (from, to) = (Tick(number * interval), Tick((number + 1) * interval));
    let mut snapshot = Snapshot { from, to, phase: Phase::Measure, ..Snapshot::default() };
    let requests = REQUESTS_PER_SECOND * interval / SECOND;
    for request in 0..requests {
        let sample = sample(from.0 + request * interval / requests, numbers);
        snapshot.measured.record(&sample);
        snapshot.label(sample.label).record(&sample);
        snapshot.bin(sample.planned.0 / 10_000_000).planned += 1;
        snapshot.bin(sample.begun.0 / 10_000_000).acted += 1;
    }
    snapshot.labels.sort_by_key(|label| label.0);
    let flow = &mut snapshot.flow;
    [flow.planned, flow.begun, flow.completed, flow.good] = [requests; 4];
    flow.bytes_received = requests * 4000;
    Box::new(snapshot)
}

/// A reading of a generator with two workers: 60 values.
fn reading(at: Tick, numbers: &mut Numbers) -> Event {
    let values =
        (0..60).map(|name| (format!("value_{name}_seconds"), at.seconds() * numbers.share()));
    Event::Reading(Reading { at, source: GENERATOR.into(), values: values.collect() })
}

fn publish(log: &mut RunLog, run: &mut Run, event: &Event) {
    log.append(event).unwrap();
    run.fold(event);
}

/// Stores the run, and returns its id.
fn write(store: &Store, interval: u64) -> String {
    let numbers = &mut Numbers(12);
    let mut log = store.begin_run(None).unwrap();
    let mut run = Run::default();
    let mut plan = plan();
    let urls = (0..LABELS).map(|label| Request::get(&format!("http://127.0.0.1:8080/{label}")));
    plan.main_mut().scenario.requests = urls.collect();
    let started = Event::Started {
        plan: Box::new(plan),
        environment: Box::default(),
        unix_seconds: 1_782_907_200.0,
    };
    publish(&mut log, &mut run, &started);
    publish(&mut log, &mut run, &Event::Stage { at: Tick(0), phase: Phase::Measure });
    for id in 0..LABELS {
        publish(&mut log, &mut run, &Event::Label { id, name: format!("/{id}"), hop_of: None });
    }
    for number in 0..SECONDS * SECOND / interval {
        let snapshot = snapshot(number, interval, numbers);
        let to = snapshot.to;
        publish(&mut log, &mut run, &Event::Snapshot(snapshot));
        if to.0.is_multiple_of(SECOND) {
            publish(&mut log, &mut run, &reading(to, numbers));
        }
    }
    let end = Tick(SECONDS * SECOND);
    publish(&mut log, &mut run, &Event::Stage { at: end, phase: Phase::Grace });
    let finish = Finish { at: end, interrupted: false, error: None };
    publish(&mut log, &mut run, &Event::Finished(finish));
    let id = log.id().to_owned();
    log.finish(&run, &brunt_judge::judge(&run)).unwrap();
    id
}

/// Reads the run in another process, and prints the time. Clocks are forbidden here, so the shell
/// measures it.
fn measure(directory: &Path, id: &str, name: &str) {
    let mut command = Command::new("bash");
    let program = std::env::current_exe().unwrap();
    let test = "--exact tests::hour::the_reader --nocapture >/dev/null 2>&1";
    command
        .arg("-c")
        .arg(format!("TIMEFORMAT='{name}: %R s'; time '{}' {test}", program.display()));
    assert!(command.env(READ, id).env(DIRECTORY, directory).status().unwrap().success());
}

const READ: &str = "BRUNT_HOUR_READ";
const DIRECTORY: &str = "BRUNT_HOUR_DIRECTORY";

/// Not a separate test: the process that [`measure`] starts.
#[test]
fn the_reader() {
    let (Ok(id), Ok(directory)) = (std::env::var(READ), std::env::var(DIRECTORY)) else { return };
    let run = Store::open(Path::new(&directory)).unwrap().run(&id).unwrap();
    assert_eq!(run.total.completed, REQUESTS_PER_SECOND * SECONDS);
}

#[test]
#[ignore = "a measurement: writes 500 MB, and takes a minute"]
fn the_run_of_an_hour_is_read_from_its_digest() {
    let (temporary, _) = world::store();
    let directory =
        std::env::var_os("BRUNT_HOUR").map_or(temporary.path().to_owned(), PathBuf::from);
    for interval in [SECOND, SECOND / 10] {
        let store = Store::open(&directory).unwrap();
        let id = write(&store, interval);
        let megabytes = |path: PathBuf| path.metadata().unwrap().len() as f64 / 1e6;
        let digest = digest_of(&store, &id);
        println!(
            "{id}, intervals of {} ms: log {:.1} MB, digest {:.2} MB",
            interval / 1_000_000,
            megabytes(directory.join(format!("runs/{id}.events"))),
            megabytes(digest.clone()),
        );
        measure(&directory, &id, "with the digest");
        std::fs::remove_file(digest).unwrap();
        measure(&directory, &id, "without a digest, which is written");
        measure(&directory, &id, "with the new digest");
    }
}
