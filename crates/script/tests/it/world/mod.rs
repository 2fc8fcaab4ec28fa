//! A run without a server, carried out by the engine on a fake clock.

use brunt_engine::{RunEnvironment, RunEpoch, UserSetup, Users, WorkerClock};
use brunt_model::load::{Arrivals, LoadShape, ThinkTime};
use brunt_model::plan::{ConnectionSettings, RecordSettings};
use brunt_model::scenario::ScenarioStep;
use brunt_model::{Load, Plan, Population, ReplyPolicy, Request, Scenario, Stop, Tick};
use brunt_script::CompiledScript;
use brunt_wire::fake::{FakeTransport, SimulatedReaction};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A millisecond in nanoseconds.
pub const MS: u64 = 1_000_000;

/// So many milliseconds.
pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A server that answers each request, after a time that depends on its number.
#[derive(Clone)]
pub struct Fake {
    /// By population.
    pub scripts: Vec<Arc<CompiledScript>>,
    pub answer: fn(u64, Tick) -> SimulatedReaction,
}

impl RunEnvironment for Fake {
    type Transport = FakeTransport<WorkerClock>;

    fn epoch(&self) -> RunEpoch {
        RunEpoch::Fake
    }

    fn transport(
        &self,
        _: usize,
        _: Option<usize>,
        time: &WorkerClock,
    ) -> Rc<FakeTransport<WorkerClock>> {
        let (answer, mut n) = (self.answer, 0);
        let server = move |now| {
            n += 1;
            answer(n - 1, now)
        };
        Rc::new(FakeTransport::new(
            time.clone(),
            Rc::new(RefCell::new(server)),
            Rc::new(Cell::new(0)),
        ))
    }

    fn users(
        &self,
        transport: &Rc<FakeTransport<WorkerClock>>,
        of: UserSetup<'_>,
    ) -> Box<dyn Users> {
        self.scripts[of.population].users(transport, of)
    }

    fn labels(&self) -> Vec<String> {
        self.scripts[0].labels()
    }
}

/// A plan with two requests.
pub fn plan(load: Load, seconds: u64, steps: Vec<ScenarioStep>) -> Plan {
    let requests = vec![Request::get("http://h/a"), Request::get("http://h/b")];
    let stop = Stop::after(Duration::from_secs(seconds), Duration::from_secs(5));
    Plan {
        populations: Population::only(load, Scenario::of(requests, steps), stop),
        reply_policies: vec![ReplyPolicy::default()],
        connection: ConnectionSettings::plain(Duration::from_secs(30), Duration::from_secs(10)),
        objectives: Vec::new(),
        until: None,
        record: RecordSettings { interval: ms(100), labels: 100, samples: true, records: None },
        seed: 7,
        threads: 1,
        processes: 1,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

/// A closed loop.
pub fn closed(users: f64) -> Load {
    Load::Closed { users: LoadShape::constant(users), think: ThinkTime::NONE }
}

/// An open loop.
pub fn open(rate: f64) -> Load {
    let (rate, arrivals) = (LoadShape::constant(rate), Arrivals::Even);
    Load::Open { rate, arrivals, connections: None, max_in_flight: 1000 }
}

/// Each request takes 100 ms.
pub fn after_100ms(_: u64, now: Tick) -> SimulatedReaction {
    SimulatedReaction::Reply(200, now + ms(100))
}

/// 300 ms.
pub const PAUSE: ScenarioStep = ScenarioStep::Think(ThinkTime {
    least: Duration::from_millis(300),
    most: Duration::from_millis(300),
});
