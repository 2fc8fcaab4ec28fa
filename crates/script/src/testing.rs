//! Users without a run, for the tests of this crate.

use crate::CompiledScript;
use crate::texts::context::{SharedState, UserContext, WorkerContext};
use crate::texts::script::{Expressions, Languages};
use crate::texts::variables::{VariableNames, Variables};
use brunt_engine::{Numbering, RunEpoch, RunState, UserSetup, Users, WorkerClock};
use brunt_model::load::{LoadShape, ThinkTime};
use brunt_model::plan::{ConnectionSettings, RecordSettings};
use brunt_model::{Load, Plan, Population, ReplyPolicy, Scenario, Stop, Tick};
use brunt_wire::http::{Common, Http};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A run without a clock, at a second of the year 2026.
pub struct StillRun;

impl RunState for StillRun {
    fn now(&self) -> Tick {
        Tick::ZERO
    }

    fn unix_millis(&self) -> u64 {
        1_780_000_000_123
    }

    fn unix_millis_at(&self, at: Tick) -> u64 {
        self.unix_millis() + at.nanos_since(Tick::ZERO) / 1_000_000
    }

    fn active_users(&self) -> (u64, u64) {
        (2, 5)
    }

    fn among_processes(&self, n: u64) -> u64 {
        n
    }
}

/// Creates a user without variables.
pub fn user() -> UserContext {
    user_with(Arc::default())
}

/// Creates a user of a run with this shared state.
pub fn user_with(shared_state: Arc<SharedState>) -> UserContext {
    let worker = WorkerContext {
        population: "main".into(),
        expressions: Expressions::new(Languages::CORE),
        ..WorkerContext::new(shared_state, Rc::new(StillRun), 1)
    };
    UserContext::new(&Rc::new(worker), Variables::new(&Arc::new(VariableNames::default())), 2)
}

/// Creates a closed loop of one population.
pub fn plan(scenario: Scenario, users: f64, policies: Vec<ReplyPolicy>) -> Plan {
    let load = Load::Closed { users: LoadShape::constant(users), think: ThinkTime::NONE };
    Plan {
        populations: Population::only(load, scenario, Stop::after(Duration::ZERO, Duration::ZERO)),
        reply_policies: policies,
        connection: ConnectionSettings::plain(Duration::from_secs(1), Duration::from_secs(1)),
        objectives: Vec::new(),
        until: None,
        record: RecordSettings {
            interval: Duration::from_secs(1),
            labels: 10,
            samples: false,
            records: None,
        },
        seed: 1,
        threads: 1,
        processes: 1,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

/// Creates the users of the first population of a plan, on its only worker.
pub fn users(plan: &Plan) -> Box<dyn Users> {
    users_of(&CompiledScript::all(plan, Languages::CORE).unwrap().remove(0), plan)
}

/// Creates the users of a compiled population.
pub fn users_of(compiled: &Arc<CompiledScript>, plan: &Plan) -> Box<dyn Users> {
    let wire = Rc::new(Http::new(Common::new(plan).unwrap(), 0, WorkerClock::new(RunEpoch::Fake)));
    let labels: Numbering = Rc::new(|_| 0);
    let run_state: Rc<dyn RunState> = Rc::new(StillRun);
    compiled.users(
        &wire,
        UserSetup { population: 0, worker: 0, labels: &labels, run_state: &run_state },
    )
}
