//! A run of a simulated load, folded from its events.

use crate::explain::findings;
use brunt_model::event::Finish;
use brunt_model::outcome::Failure;
use brunt_model::plan::{ConnectionSettings, Population, RecordSettings};
use brunt_model::sample::ConnectTimes;
use brunt_model::{
    Arrivals, Environment, Event, Finding, Judgement, Load, LoadShape, Outcome, Phase, Plan,
    Reading, Request, Route, Run, Sample, Snapshot, Stop, ThinkTime, Tick,
};
use brunt_model::{ReplyPolicy, Scenario};
use std::time::Duration;

const SECOND: f64 = 1e9;
/// Start of the measured time; connections are opened before it.
const BEGINS: f64 = 0.1;
const INTERVAL: f64 = 0.1;

/// A request, as the simulated server receives it.
#[derive(Clone, Copy)]
pub struct SimulatedRequest {
    /// Number of the request, from 0.
    pub number: u64,
    /// Seconds since the start of the measured time.
    pub at: f64,
}

/// Reply of the simulated server.
#[derive(Clone, Copy)]
pub struct Reply {
    pub seconds: f64,
    /// Part of the time that passes between first and last byte.
    pub receiving: f64,
    pub status: u16,
    pub failure: Option<Failure>,
    pub bytes: u64,
    /// Seconds that opening the connection took.
    pub connecting: Option<f64>,
}

/// A good reply after this many seconds.
pub fn reply(seconds: f64) -> Reply {
    Reply { seconds, receiving: 0.0, status: 200, failure: None, bytes: 1000, connecting: None }
}

/// A failure after this many seconds.
pub fn failure(failure: Failure, seconds: f64) -> Reply {
    Reply { failure: Some(failure), ..reply(seconds) }
}

/// A load, a server, and their environment.
pub struct World {
    pub plan: Plan,
    pub environment: Environment,
    pub judgement: Judgement,
    pub finish: Option<Finish>,
    /// Total number of connections opened in place of others.
    pub replaced: u64,
    /// Number of idle connections among the closed ones.
    pub closed_idle: u64,
    /// Number of WebSocket messages that no request awaited.
    pub pushes: u64,
    /// Maximum number of open connections; None means one per user.
    pub held: Option<u64>,
    seconds: f64,
    answer: Box<dyn Fn(SimulatedRequest) -> Reply>,
    readings: Vec<Reading>,
}

impl World {
    /// A closed loop of 5 s with this many users and this think time in seconds.
    pub fn closed(users: u32, think: f64) -> Self {
        let think = ThinkTime {
            least: Duration::from_secs_f64(think),
            most: Duration::from_secs_f64(think),
        };
        Self::of(Load::Closed { users: LoadShape::constant(f64::from(users)), think })
    }

    /// An open loop of 5 s with this many evenly spaced arrivals per second.
    pub fn open(rate: f64) -> Self {
        let (rate, arrivals) = (LoadShape::constant(rate), Arrivals::Even);
        Self::of(Load::Open { rate, arrivals, connections: None, max_in_flight: 100_000 })
    }

    fn of(load: Load) -> Self {
        Self {
            plan: plan(load),
            environment: Environment {
                cores: 4,
                command: "brunt http://h/".into(),
                ..Environment::default()
            },
            judgement: Judgement::default(),
            finish: Some(Finish { at: Tick(0), interrupted: false, error: None }),
            replaced: 0,
            closed_idle: 0,
            pushes: 0,
            held: None,
            seconds: 5.0,
            answer: Box::new(|_| reply(0.001)),
            readings: Vec::new(),
        }
    }

    pub fn lasting(mut self, seconds: f64) -> Self {
        self.plan.main_mut().stop.duration = Some(Duration::from_secs_f64(seconds));
        self.seconds = seconds;
        self
    }

    /// Ends the run this many seconds after the start of the measured time,
    /// independent of the plan.
    pub fn ending_at(mut self, seconds: f64) -> Self {
        self.seconds = seconds;
        self
    }

    pub fn answering(mut self, answer: impl Fn(SimulatedRequest) -> Reply + 'static) -> Self {
        self.answer = Box::new(answer);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn loopback(self) -> Self {
        self.with(|world| world.environment.addresses = vec!["127.0.0.1".into()])
    }

    pub fn route(self, route: Route) -> Self {
        self.with(|world| world.environment.route = Some(route))
    }

    /// Adds a counter of the machine with this growth per second.
    pub fn counting(mut self, name: &str, per_second: f64) -> Self {
        for i in 0..=(self.seconds / 0.5) as u32 {
            let at = f64::from(i) * 0.5;
            let values = vec![(name.to_owned(), 1000.0 + per_second * at)];
            self.readings.push(Reading {
                at: tick(BEGINS + at),
                source: "generator".into(),
                values,
            });
        }
        self
    }

    /// Adds a reading of a source, as a formula of the seconds of measured time.
    pub fn reading(mut self, source: &str, name: &str, value: impl Fn(f64) -> f64) -> Self {
        for second in 0..=self.seconds as u32 {
            let at = f64::from(second);
            self.readings.push(Reading {
                at: tick(BEGINS + at),
                source: source.into(),
                values: vec![(name.to_owned(), value(at))],
            });
        }
        self
    }

    /// Adds a constant reading of the machine.
    pub fn holding(mut self, name: &str, value: f64) -> Self {
        for i in 0..=(self.seconds / 0.5) as u32 {
            let (at, values) = (tick(BEGINS + f64::from(i) * 0.5), vec![(name.to_owned(), value)]);
            self.readings.push(Reading { at, source: "generator".into(), values });
        }
        self
    }

    /// Returns the findings on the run.
    pub fn judged(&self) -> Vec<Finding> {
        findings(&self.run(), &self.judgement)
    }

    /// Returns the findings on a run that was interrupted before its load began.
    pub fn before_the_load(&self) -> Vec<Finding> {
        let finish = Finish { at: Tick(0), interrupted: true, error: None };
        findings(&Run::of(&[self.started(), Event::Finished(finish)]), &self.judgement)
    }

    /// Returns the finding of a rule.
    pub fn finds(&self, rule: &str) -> Option<Finding> {
        self.judged().into_iter().find(|finding| finding.rule == rule)
    }

    /// Returns the sentence of a rule, which must find something.
    pub fn says(&self, rule: &str) -> String {
        self.finds(rule)
            .unwrap_or_else(|| panic!("no {rule} among {:?}", self.judged()))
            .sentence
            .into()
    }

    /// Asserts that the rule finds nothing.
    pub fn is_silent(&self, rule: &str) {
        assert_eq!(self.finds(rule), None);
    }

    /// Builds the run.
    pub fn run(&self) -> Run {
        let mut run = Run::default();
        run.fold(&self.started());
        for reading in &self.readings {
            run.fold(&Event::Reading(reading.clone()));
        }
        let mut phase = None;
        for snapshot in self.snapshots() {
            if phase != Some(snapshot.phase) {
                phase = Some(snapshot.phase);
                run.fold(&Event::Stage { at: snapshot.from, phase: snapshot.phase });
            }
            run.fold(&Event::Snapshot(Box::new(snapshot)));
        }
        self.finish.iter().for_each(|finish| run.fold(&Event::Finished(finish.clone())));
        run
    }

    fn started(&self) -> Event {
        let (plan, environment) = (Box::new(self.plan.clone()), Box::new(self.environment.clone()));
        Event::Started { plan, environment, unix_seconds: 0.0 }
    }

    fn snapshots(&self) -> Vec<Snapshot> {
        let samples = self.samples();
        let last = samples.iter().map(|s| s.last_byte).max().unwrap_or_default();
        let ends = BEGINS + self.seconds;
        let mut snapshots = timeline(ends, last.seconds().max(ends));
        let peak = self.held.unwrap_or(self.users().max(1));
        let opened = samples.iter().filter(|sample| sample.opened).count() as u64;
        snapshots[0].flow.opened = opened.max(peak + self.replaced);
        snapshots[0].flow.closed_idle = self.closed_idle;
        snapshots[0].flow.pushes = self.pushes;
        for sample in &samples {
            record(&mut snapshots, sample);
        }
        for snapshot in &mut snapshots {
            snapshot.flow.users = self.users();
            snapshot.flow.connections = peak;
        }
        snapshots
    }

    fn users(&self) -> u64 {
        match &self.plan.main().load {
            Load::Closed { users, .. } => users.peak() as u64,
            Load::Open { .. } => 0,
        }
    }

    fn samples(&self) -> Vec<Sample> {
        match &self.plan.main().load {
            Load::Closed { think, .. } => self.looping(think.mean().as_secs_f64()),
            Load::Open { rate, .. } => {
                let distance = 1.0 / rate.peak();
                let due = (0..(self.seconds / distance) as u64).map(|n| (n, n as f64 * distance));
                due.map(|(number, at)| self.sample(SimulatedRequest { number, at })).collect()
            }
        }
    }

    fn looping(&self, think: f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        let mut next: Vec<f64> = vec![0.0; self.users() as usize];
        let enough = self.plan.main().stop.requests.unwrap_or(100_000) as usize;
        // The user whose request is due first is next, so requests are in order of time,
        // and so are their numbers.
        while let Some(first) = next.iter_mut().min_by(|a, b| a.total_cmp(b)) {
            if *first >= self.seconds || samples.len() >= enough {
                break;
            }
            let asked = SimulatedRequest { number: samples.len() as u64, at: *first };
            let sample = self.sample(asked);
            *first = sample.last_byte.seconds() - BEGINS + think;
            samples.push(sample);
        }
        samples
    }

    fn sample(&self, asked: SimulatedRequest) -> Sample {
        let reply = (self.answer)(asked);
        let begun = tick(BEGINS + asked.at);
        let (sent, last) = (begun, tick(BEGINS + asked.at + reply.seconds));
        let good = self.plan.policy().checks.expects(reply.status);
        let outcome = match reply.failure {
            Some(failure) => Outcome::failed(failure),
            None => Outcome { status: Some(reply.status), failure: None, expected: good },
        };
        let connect = reply.connecting.map(|seconds| (seconds * SECOND) as u64);
        Sample {
            planned: begun,
            free: begun,
            begun,
            sent,
            first_byte: tick(BEGINS + asked.at + reply.seconds - reply.receiving),
            last_byte: last,
            opening: ConnectTimes { connect, ..ConnectTimes::default() },
            opened: connect.is_some(),
            bytes_received: if reply.failure.is_none() { reply.bytes } else { 0 },
            outcome,
            ..Sample::default()
        }
    }
}

fn tick(seconds: f64) -> Tick {
    Tick((seconds * SECOND).round() as u64)
}

fn timeline(ends: f64, last: f64) -> Vec<Snapshot> {
    let count = (last / INTERVAL).floor() as usize + 1;
    let at = |i: usize| tick(i as f64 * INTERVAL);
    let phase = |i: usize| match at(i) {
        Tick(0) => Phase::Setup,
        at if at < tick(ends - 1e-6) => Phase::Measure,
        _ => Phase::Grace,
    };
    let snapshot =
        |i| Snapshot { from: at(i), to: at(i + 1), phase: phase(i), ..Snapshot::default() };
    (0..count.max(2)).map(snapshot).collect()
}

fn record(snapshots: &mut [Snapshot], sample: &Sample) {
    let at = |tick: Tick| (tick.0 / tick_width()) as usize;
    let (from, to) = (at(sample.begun), at(sample.last_byte).min(snapshots.len() - 1));
    let begins = &mut snapshots[from];
    let dropped = sample.outcome.failure == Some(Failure::Dropped);
    begins.flow.planned += 1;
    begins.flow.arrivals += 1;
    begins.measured.planned += 1;
    begins.flow.begun += u64::from(!dropped);
    begins.measured.begun += u64::from(!dropped);
    let ends = &mut snapshots[to];
    ends.flow.completed += u64::from(sample.outcome.is_completed());
    ends.flow.good += u64::from(sample.outcome.is_good());
    ends.flow.errors += u64::from(!sample.outcome.is_good());
    ends.flow.bytes_received += sample.bytes_received;
    ends.measured.record(sample);
    if !dropped {
        snapshots[from..to].iter_mut().for_each(|s| s.flow.in_flight += 1);
        for snapshot in &mut snapshots[from..=to] {
            let within =
                sample.last_byte.min(snapshot.to).nanos_since(sample.begun.max(snapshot.from));
            snapshot.flow.in_flight_nanos += within;
        }
    }
}

fn tick_width() -> u64 {
    (INTERVAL * SECOND) as u64
}

fn plan(load: Load) -> Plan {
    let second = Duration::from_secs(1);
    Plan {
        populations: Population::only(
            load,
            Scenario::one(Request { label: "/".into(), ..Request::get("http://h/") }),
            Stop::after(5 * second, 5 * second),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: connection(),
        objectives: Vec::new(),
        until: None,
        record: RecordSettings { interval: second / 10, labels: 10, samples: false, records: None },
        seed: 1,
        processes: 1,
        threads: 1,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

fn connection() -> ConnectionSettings {
    ConnectionSettings {
        connect_rate: 5000,
        ..ConnectionSettings::plain(Duration::from_secs(30), Duration::from_secs(10))
    }
}
