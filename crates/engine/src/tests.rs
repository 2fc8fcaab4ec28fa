//! The engine with a fake clock and a fake transport: hours of load in milliseconds, and every instant exact.
//!
//! A [`Fake`] is a simulated world; [`Fake::run`] runs a plan in it, and checks the invariants of
//! every run: nothing is lost, snapshots follow each other without a gap, and the clocks of every
//! sample are in order.

mod closed;
mod connections;
mod conservation;
mod deadlines;
mod ends;
mod limits;
mod open;
mod overload;
mod parallel;
mod parts;
mod pool;
mod populations;
mod queueing;
mod steps;
mod streams;
mod threads;
mod timers;

use crate::clock::{RunEpoch, WorkerClock};
use crate::control::RunControl;
use crate::run::{EngineError, RunEnvironment, UserSetup, run};
use crate::user::{Numbering, UserStep, UserTurn, Users, VirtualUser};
use brunt_model::finding::ConsistencyCheck;
use brunt_model::plan::{
    ConnectionLifetime, ConnectionSettings, Dialling, Population, RecordSettings,
};
use brunt_model::reply_policy::RedirectRules;
use brunt_model::scenario::ListOrder;
use brunt_model::{
    Arrivals, Body, Environment, Event, Failure, Load, LoadShape, LoadStage, Phase, Plan,
    ReplyPolicy, Run, Sample, Scenario, Snapshot, Stop, Tally, ThinkTime, Tick,
};
use brunt_wire::fake::{FakeTransport, ServerModel, SimulatedReaction, queue};
use brunt_wire::request::RequestDraft;
use brunt_wire::{Prepared, Reply, Transport, redirect};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// The virtual user of these tests: its step at each turn, by label.
enum Next {
    Ask(&'static str),
    Together(usize),
    Parallel(usize, usize),
    Think(Duration),
    Done,
    Leave,
    EndRun,
    Broken,
}

type Follow = Rc<dyn Fn(&Prepared, &Reply) -> Option<Rc<Prepared>>>;
type Formula = Box<dyn FnMut(Tick) -> SimulatedReaction>;
type MakeServer = Arc<dyn Fn() -> Formula + Send + Sync>;
type MakeWire = Arc<dyn Fn(FakeTransport<WorkerClock>) -> FakeTransport<WorkerClock> + Send + Sync>;
type Behave = Arc<dyn Fn(UserTurn<'_>) -> Next + Send + Sync>;

/// A world made of formulas.
#[derive(Clone)]
struct Fake {
    epoch: RunEpoch,
    server: MakeServer,
    wire: MakeWire,
    user: Behave,
    labels: Vec<String>,
    /// Redirects that users follow.
    redirects: u32,
    stop: RunControl,
}

impl Fake {
    /// One label, asked once an iteration; `server` makes a worker's server.
    fn new<F: FnMut(Tick) -> SimulatedReaction + 'static>(
        server: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            epoch: RunEpoch::Fake,
            server: Arc::new(move || Box::new(server())),
            wire: Arc::new(|wire| wire),
            user: Arc::new(
                |turn| if turn.step == 0 { Next::Ask("http://fake/") } else { Next::Done },
            ),
            labels: Vec::new(),
            redirects: 0,
            stop: RunControl::default(),
        }
    }

    /// Simulates servers with one queue; each request takes `service`.
    fn queue(servers: usize, service: Duration) -> Self {
        let service = service.as_nanos() as u64;
        Self::new(move || queue(servers, move || service))
    }

    /// Any number of requests at once, each answered `service` later.
    fn delay(service: Duration) -> Self {
        Self::new(move || move |now: Tick| SimulatedReaction::Reply(200, now + service))
    }

    fn user(mut self, user: impl Fn(UserTurn<'_>) -> Next + Send + Sync + 'static) -> Self {
        self.user = Arc::new(user);
        self
    }

    fn wire(
        mut self,
        wire: impl Fn(FakeTransport<WorkerClock>) -> FakeTransport<WorkerClock> + Send + Sync + 'static,
    ) -> Self {
        self.wire = Arc::new(wire);
        self
    }

    fn door<F: FnMut(Tick) -> SimulatedReaction + 'static>(
        self,
        door: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        self.wire(move |wire| wire.with_connect_model(Rc::new(RefCell::new(door()))))
    }

    fn run(&self, plan: &Plan) -> Seen {
        self.run_listening(plan, |_| ())
    }

    fn run_listening(&self, plan: &Plan, listen: impl FnMut(&Event)) -> Seen {
        let seen = self.try_run(plan, listen).unwrap();
        seen.check(plan, self.epoch);
        seen
    }

    fn try_run(&self, plan: &Plan, listen: impl FnMut(&Event)) -> Result<Seen, EngineError> {
        carry_out(self, plan, &self.stop, listen)
    }

    /// The users of a worker, over any transport.
    fn folk<T: Transport>(&self, transport: &Rc<T>, labels: &Numbering) -> Box<dyn Users> {
        let request = |name: &str| {
            let draft = RequestDraft {
                method: "GET",
                url: name,
                headers: &[],
                body: &Body::None,
                label: labels(name),
                reply_policy: 0,
                verbatim: None,
            };
            Rc::new(transport.prepare(&draft).unwrap())
        };
        let known = self.labels.iter().map(|name| (name.clone(), request(name))).collect();
        let other = request("http://fake/");
        let transport = Rc::clone(transport);
        let follow = move |from: &Prepared, reply: &Reply| {
            redirect::follow(&*transport, from, reply, RedirectRules::Rfc9110, |_| ())
        };
        let follow: Follow = Rc::new(follow);
        Box::new(Folk {
            user: Arc::clone(&self.user),
            known,
            other,
            follow,
            redirects: self.redirects,
        })
    }
}

/// Runs a plan in a world, and stores all its events.
fn carry_out<W: RunEnvironment>(
    world: &W,
    plan: &Plan,
    control: &RunControl,
    mut listen: impl FnMut(&Event),
) -> Result<Seen, EngineError> {
    let mut seen = Seen { run: Run::default(), events: Vec::new(), samples: Vec::new() };
    let mut sink = |event: &Event| {
        listen(event);
        seen.run.fold(event);
        match event {
            Event::Samples(samples) => seen.samples.extend(samples),
            other => seen.events.push(other.clone()),
        }
    };
    run(plan, Environment::default(), world, control, &mut sink)?;
    seen.samples.sort_by_key(|s| s.planned);
    Ok(seen)
}

impl RunEnvironment for Fake {
    type Transport = FakeTransport<WorkerClock>;

    fn epoch(&self) -> RunEpoch {
        self.epoch
    }

    fn transport(
        &self,
        _: usize,
        _: Option<usize>,
        time: &WorkerClock,
    ) -> Rc<FakeTransport<WorkerClock>> {
        let server: ServerModel = Rc::new(RefCell::new((self.server)()));
        Rc::new((self.wire)(FakeTransport::new(time.clone(), server, Rc::new(Cell::new(0)))))
    }

    fn users(
        &self,
        transport: &Rc<FakeTransport<WorkerClock>>,
        of: UserSetup<'_>,
    ) -> Box<dyn Users> {
        self.folk(transport, of.labels)
    }

    fn labels(&self) -> Vec<String> {
        self.labels.clone()
    }
}

#[derive(Clone)]
struct Folk {
    user: Behave,
    known: Vec<(String, Rc<Prepared>)>,
    other: Rc<Prepared>,
    follow: Follow,
    redirects: u32,
}

impl Users for Folk {
    fn user(&self, _: u64) -> Box<dyn VirtualUser> {
        Box::new(self.clone())
    }

    fn first(&self) -> Option<Rc<Prepared>> {
        Some(Rc::clone(&self.other))
    }
}

impl VirtualUser for Folk {
    fn next(&mut self, turn: UserTurn<'_>) -> UserStep {
        match (self.user)(turn) {
            Next::Ask(name) => {
                let known = self.known.iter().find(|k| k.0 == name);
                UserStep::Request(Rc::clone(known.map_or(&self.other, |k| &k.1)))
            }
            Next::Together(count) => UserStep::Together(vec![Rc::clone(&self.other); count]),
            Next::Parallel(count, most) => {
                UserStep::Parallel(vec![Rc::clone(&self.other); count], most)
            }
            Next::Think(time) => UserStep::Think(time),
            Next::Done => UserStep::Done,
            Next::Leave => UserStep::Leave,
            Next::EndRun => UserStep::EndRun,
            Next::Broken => UserStep::Broken("this user is broken".into()),
        }
    }

    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        if hops >= self.redirects {
            return None;
        }
        (self.follow)(from, reply)
    }
}

/// What came out of a run.
struct Seen {
    run: Run,
    /// All but samples.
    events: Vec<Event>,
    /// By the instant at which they were due.
    samples: Vec<Sample>,
}

impl Seen {
    fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        self.events
            .iter()
            .filter_map(|e| if let Event::Snapshot(s) = e { Some(&**s) } else { None })
    }

    fn begins(&self) -> Tick {
        self.run.phase_start(Phase::Warmup).or(self.run.phase_start(Phase::Measure)).unwrap()
    }

    /// Instants of the samples since the load began, in nanoseconds.
    fn planned(&self) -> Vec<u64> {
        self.samples.iter().map(|s| s.planned.nanos_since(self.begins())).collect()
    }

    fn responses(&self) -> Vec<u64> {
        self.samples.iter().map(Sample::response_nanos).collect()
    }

    /// What must hold of every run.
    fn check(&self, plan: &Plan, epoch: RunEpoch) {
        assert!(matches!(self.events.first(), Some(Event::Started { .. })));
        assert!(matches!(self.events.last(), Some(Event::Finished(_))));
        assert_eq!(broken(&self.run), []);
        // Whether arrivals keep to their schedule on the system's clock is the machine's doing too.
        if matches!(epoch, RunEpoch::Fake) {
            assert_eq!(displaced(&self.run), []);
        }
        self.check_counts();
        self.check_snapshots();
        if plan.record.samples {
            self.check_samples();
        }
        if !self.run.labels.is_empty() {
            let by_label =
                |f: fn(&Tally) -> u64| self.run.steps().map(|(_, tally)| f(tally)).sum::<u64>();
            assert_eq!(by_label(|t| t.begun), self.run.total.begun, "begun by label");
            assert_eq!(by_label(|t| t.completed), self.run.total.completed, "completed by label");
        }
    }

    fn check_counts(&self) {
        let mut all = self.run.total.clone();
        all.merge(&self.run.warmup);
        for t in [&self.run.total, &self.run.warmup] {
            assert_eq!(
                t.planned,
                t.begun + t.failed_by(Failure::Dropped),
                "planned = begun + dropped"
            );
            assert_eq!(
                t.begun,
                t.completed + t.failed() + t.failed_by(Failure::Cut),
                "begun = completed + failed + cut"
            );
            assert_eq!(t.response.count(), t.completed + t.failed_by(Failure::Timeout));
            assert_eq!((t.queue_wait.count(), t.lag.count()), (t.begun, t.begun));
            assert_eq!(t.statuses.sorted().iter().map(|s| s.1).sum::<u64>(), t.completed);
        }
        let flow = self.run.flow_all;
        assert_eq!((flow.planned, flow.begun), (all.planned, all.begun), "flow");
        assert_eq!(
            (flow.completed, flow.good, flow.errors),
            (all.completed, all.good, all.errors()),
            "flow"
        );
        assert_eq!(
            (flow.bytes_sent, flow.bytes_received),
            (all.bytes_sent, all.bytes_received),
            "flow"
        );
        assert_eq!((flow.in_flight, flow.waiting), (0, 0), "left over");
    }

    fn check_snapshots(&self) {
        let all: Vec<_> = self.snapshots().collect();
        assert!(all.iter().all(|s| s.from <= s.to));
        assert!(
            all.windows(2).all(|w| w[0].to == w[1].from && w[0].phase <= w[1].phase),
            "{:?}",
            { all.iter().map(|s| (s.from, s.to, s.phase)).collect::<Vec<_>>() }
        );
        let stages: Vec<_> = self.run.phases.iter().map(|p| p.0).collect();
        assert!(stages.windows(2).all(|w| w[0] < w[1]), "{stages:?}");
    }

    fn check_samples(&self) {
        assert_eq!(self.samples.len() as u64, self.run.flow_all.begun);
        for s in &self.samples {
            let clocks = [s.planned, s.free, s.begun, s.sent, s.last_byte];
            assert!(clocks.is_sorted(), "{s:?}");
            let connection = s.sent.nanos_since(s.begun);
            let parts = s.queue_wait_nanos() + s.lag_nanos() + connection + s.service_nanos();
            assert_eq!(parts, s.response_nanos());
        }
        // Snapshots and samples leave on different ways, and agree.
        let counted =
            |s: &&Sample| s.outcome.is_completed() || s.outcome.failure == Some(Failure::Timeout);
        let sum: u128 =
            self.samples.iter().filter(counted).map(|s| u128::from(s.response_nanos())).sum();
        assert_eq!(sum, self.run.total.response.sum() + self.run.warmup.response.sum());
    }
}

/// The consistency checks that fail.
fn broken(run: &Run) -> Vec<ConsistencyCheck> {
    brunt_judge::conservation::checks(run).into_iter().filter(|check| !check.holds).collect()
}

/// Arrivals that differ from the plan: on an undisturbed clock, a defect.
fn displaced(run: &Run) -> Vec<ConsistencyCheck> {
    brunt_judge::arrivals::checks(run).into_iter().filter(|check| !check.holds).collect()
}

/// A plan for `load` of this duration, with a short grace, snapshots each 100 ms and every sample.
fn plan(load: Load, duration: Duration) -> Plan {
    Plan {
        populations: Population::only(
            load,
            Scenario::list(Vec::new(), ListOrder::Sequence),
            Stop::after(duration, secs(5)),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: ConnectionSettings::plain(secs(30), secs(10)),
        objectives: Vec::new(),
        until: None,
        record: RecordSettings { interval: ms(100), labels: 1000, samples: true, records: None },
        seed: 7,
        threads: 1,
        processes: 1,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

fn closed(users: f64, duration: Duration) -> Plan {
    thinking(LoadShape::constant(users), ThinkTime::NONE, duration)
}

fn thinking(users: LoadShape, think: ThinkTime, duration: Duration) -> Plan {
    plan(Load::Closed { users, think }, duration)
}

fn open(rate: f64, arrivals: Arrivals, duration: Duration) -> Plan {
    shaped(LoadShape::constant(rate), arrivals, duration)
}

fn shaped(rate: LoadShape, arrivals: Arrivals, duration: Duration) -> Plan {
    plan(Load::Open { rate, arrivals, connections: None, max_in_flight: 100_000 }, duration)
}

/// Creates an open loop over at most this number of connections.
fn capped(rate: f64, arrivals: Arrivals, cap: u32, duration: Duration) -> Plan {
    let rate = LoadShape::constant(rate);
    plan(Load::Open { rate, arrivals, connections: Some(cap), max_in_flight: 100_000 }, duration)
}

/// Stages: from, to, seconds.
fn shape(stages: &[(f64, f64, u64)]) -> LoadShape {
    let stage = |&(from, to, s): &(f64, f64, u64)| LoadStage { from, to, duration: Some(secs(s)) };
    LoadShape { stages: stages.iter().map(stage).collect() }
}

/// Returns begin and end of service for each of the arrivals at `planned`, if `servers` serve them
/// in order: the recursion of Kiefer and Wolfowitz ("On the theory of queues with many servers",
/// 1955).
fn recursion(planned: &[u64], servers: usize, mut service: impl FnMut() -> u64) -> Vec<(u64, u64)> {
    let mut free = vec![0; servers];
    let serve = |&at: &u64| {
        let server = free.iter_mut().min().unwrap();
        let begun = at.max(*server);
        *server = begun + service();
        (begun, *server)
    };
    planned.iter().map(serve).collect()
}

/// Whether `a` is within `share` of `b`.
fn near(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= share * b.abs()
}
