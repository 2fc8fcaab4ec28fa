//! Builds runs for tests from single samples, which are folded from events like those
//! of a real run.

pub mod comparison;
mod fleet;
mod sweep;

pub use fleet::fleet;
pub use sweep::sweep_of;

use brunt_model::plan::{ConnectionSettings, Population, RecordSettings};
use brunt_model::sample::ConnectTimes;
use brunt_model::{
    Arrivals, Environment, Event, Failure, Finish, Load, LoadShape, Outcome, Phase, Plan, Reading,
    Request, Run, Sample, Snapshot, Stop, Text, ThinkTime, Tick, Warning,
};
use brunt_model::{ReplyPolicy, Scenario};
use std::time::Duration;

const MS: u64 = 1_000_000;
const URL: &str = "http://127.0.0.1:8080/";

/// A run of ten seconds without warm-up, with intervals of a second and a second of grace.
pub struct RunBuilder {
    pub plan: Plan,
    pub samples: Vec<Sample>,
    pub finish: Finish,
    labels: Vec<String>,
    warnings: Vec<Text>,
    readings: Vec<(String, f64)>,
    /// Readings of a server.
    pub probed: Vec<Reading>,
}

pub fn get(url: &str) -> Request {
    Request::get(url)
}

fn plan(load: Load) -> Plan {
    let seconds = Duration::from_secs;
    Plan {
        populations: Population::only(
            load,
            Scenario::one(get(URL)),
            Stop::after(seconds(10), seconds(1)),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: ConnectionSettings {
            connect_rate: 1000,
            ..ConnectionSettings::plain(seconds(30), seconds(5))
        },
        objectives: Vec::new(),
        until: None,
        record: RecordSettings { interval: seconds(1), labels: 100, samples: false, records: None },
        seed: 1,
        threads: 2,
        processes: 1,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

impl RunBuilder {
    pub fn of(load: Load) -> Self {
        Self {
            plan: plan(load),
            samples: Vec::new(),
            finish: Finish { at: Tick(10_200 * MS), interrupted: false, error: None },
            labels: vec![URL.into()],
            warnings: Vec::new(),
            readings: Vec::new(),
            probed: Vec::new(),
        }
    }

    pub fn closed(users: f64) -> Self {
        Self::of(Load::Closed { users: LoadShape::constant(users), think: ThinkTime::NONE })
    }

    pub fn open(rate: f64, connections: Option<u32>) -> Self {
        let rate = LoadShape::constant(rate);
        Self::of(Load::Open {
            rate,
            arrivals: Arrivals::Poisson,
            connections,
            max_in_flight: 10_000,
        })
    }

    pub fn labels(mut self, labels: &[&str]) -> Self {
        self.plan.main_mut().scenario.requests = labels.iter().map(|l| get(l)).collect();
        self.labels = labels.iter().map(|l| (*l).into()).collect();
        self
    }

    pub fn warn(&mut self, text: &str) {
        self.warnings.push(text.into());
    }

    pub fn read_generator(&mut self) {
        let values = [
            ("cpu_user_seconds", 0.123),
            ("cpu_system_seconds", 0.456),
            ("peak_rss_bytes", 12.3e6),
        ];
        self.readings = values.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        self.readings.push(("threads".into(), 2.0));
    }

    /// Adds a request planned `at_ms` after the start that took `micros`. The first ten of them
    /// passed before it was sent.
    fn sample(&mut self, at_ms: u64, micros: u64, outcome: Outcome) -> &mut Sample {
        let planned = Tick(at_ms * MS);
        self.samples.push(Sample {
            planned,
            free: planned,
            begun: microseconds_after(planned, 2),
            sent: microseconds_after(planned, 10.min(micros)),
            first_byte: microseconds_after(planned, micros * 9 / 10),
            last_byte: microseconds_after(planned, micros),
            reused: true,
            bytes_sent: 80,
            bytes_received: 250,
            outcome,
            ..Sample::default()
        });
        self.samples.last_mut().unwrap()
    }

    pub fn reply(&mut self, at_ms: u64, micros: u64, status: u16) -> &mut Sample {
        self.sample(
            at_ms,
            micros,
            Outcome { status: Some(status), failure: None, expected: status < 400 },
        )
    }

    pub fn failure(&mut self, at_ms: u64, micros: u64, failure: Failure) -> &mut Sample {
        let sample = self.sample(at_ms, micros, Outcome::failed(failure));
        sample.bytes_received = 0;
        sample
    }

    pub fn opened(sample: &mut Sample) {
        sample.opened = true;
        sample.reused = false;
        sample.opening = ConnectTimes { resolve: None, connect: Some(6000), tls: None };
    }

    pub fn events(&self) -> Vec<Event> {
        let environment = Environment { brunt: "0.1.0".into(), cores: 2, ..Environment::default() };
        let plan = Box::new(self.plan.clone());
        let mut events = vec![Event::Started {
            plan,
            environment: environment.into(),
            unix_seconds: 1_782_907_200.25,
        }];
        events.extend(self.labels.iter().enumerate().map(|(id, name)| Event::Label {
            id: id as u32,
            name: name.clone(),
            hop_of: None,
        }));
        let server = Some("nginx/1.26.3".into());
        events.push(Event::Target { addresses: vec!["127.0.0.1".into()], server });
        events.push(Event::Stage { at: Tick::ZERO, phase: Phase::Measure });
        events.extend((0..10).map(|second| self.interval(second, Phase::Measure)));
        events.push(Event::Stage { at: Tick(10_000 * MS), phase: Phase::Grace });
        events.push(self.interval(10, Phase::Grace));
        events.extend(
            self.warnings
                .iter()
                .map(|w| Event::Warning(Warning { at: Tick::ZERO, text: w.clone() })),
        );
        events.extend(self.probed.iter().cloned().map(Event::Reading));
        events.push(Event::Reading(Reading {
            at: self.finish.at,
            source: "generator".into(),
            values: self.readings.clone(),
        }));
        events.push(Event::Finished(self.finish.clone()));
        events
    }

    pub fn run(&self) -> Run {
        Run::of(&self.events())
    }

    /// Returns the snapshot of the samples that ended in this second. Later ones count for the
    /// last second, the grace.
    fn interval(&self, second: u64, phase: Phase) -> Event {
        let from = Tick(second * 1000 * MS);
        let to = Tick((second + 1) * 1000 * MS);
        let mut s = Snapshot { from, to, phase, ..Snapshot::default() };
        s.flow.connections = 64;
        for sample in
            self.samples.iter().filter(|x| (x.last_byte.0 / (1000 * MS)).min(10) == second)
        {
            self.add(&mut s, sample);
        }
        Event::Snapshot(Box::new(s))
    }

    fn add(&self, s: &mut Snapshot, sample: &Sample) {
        let was_begun = u64::from(sample.outcome.failure != Some(Failure::Dropped));
        let completed = u64::from(sample.outcome.is_completed());
        let good = u64::from(sample.outcome.is_good());
        let has_labels = self.labels.len() > 1;
        let Snapshot { flow, measured, .. } = s;
        flow.planned += 1;
        flow.begun += was_begun;
        flow.completed += completed;
        flow.good += good;
        flow.errors += 1 - good;
        flow.bytes_sent += sample.bytes_sent;
        flow.bytes_received += sample.bytes_received;
        flow.opened += u64::from(sample.opened);
        flow.reused += was_begun * u64::from(sample.reused);
        measured.planned += 1;
        measured.begun += was_begun;
        measured.record(sample);
        if has_labels {
            let tally = s.label(sample.label);
            tally.planned += 1;
            tally.begun += was_begun;
            tally.record(sample);
        }
    }
}

fn microseconds_after(tick: Tick, micros: u64) -> Tick {
    Tick(tick.0 + micros * 1000)
}

/// A closed loop of 64 connections: 1,000 replies, all good, 300 µs to 1.3 ms.
pub fn closed() -> RunBuilder {
    let mut story = RunBuilder::closed(64.0);
    for i in 0..1000 {
        let micros = 300 + (i * i) / 1000;
        let sample = story.reply(i * 9, micros, 200);
        if i < 64 {
            RunBuilder::opened(sample);
        }
    }
    story.read_generator();
    story
}

/// An open loop over 50 connections that overloads the server: waits, errors, timeouts, drops.
pub fn overloaded() -> RunBuilder {
    let mut story = RunBuilder::open(200.0, Some(50));
    for i in 0..1900 {
        let status = if i % 100 == 7 { 503 } else { 200 };
        let sample = story.reply(i * 5, 900 + i * 400, status);
        sample.free = Tick(sample.planned.0 + i * 300_000);
        sample.begun = Tick(sample.free.0 + 1500);
        sample.sent = Tick(sample.free.0 + 9000);
    }
    for i in 0..10 {
        story.failure(i * 100, 2_000_000, Failure::Timeout);
    }
    for i in 0..7 {
        story.failure(i * 100, 1500 + i * 1000, Failure::Reset);
    }
    for i in 0..80 {
        story.failure(9000 + i, 0, Failure::Dropped);
    }
    for i in 0..3 {
        story.failure(9990 + i, 1_000_000, Failure::Cut);
    }
    story.warn("the generator had no CPU to spare in 12 % of the time; response times may be too long by up to 1 ms");
    story
}
