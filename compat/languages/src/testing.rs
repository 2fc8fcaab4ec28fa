//! A user without a run, for the tests of this crate.

use crate::LANGUAGES;
use brunt_engine::RunState;
use brunt_model::Tick;
use brunt_script::scripting::{
    Expressions, SharedState, UserContext, VariableNames, Variables, WorkerContext,
};
use std::rc::Rc;
use std::sync::Arc;

/// A run without a clock, at a second of the year 2026.
struct StillRun;

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
    let worker = WorkerContext {
        population: "main".into(),
        expressions: Expressions::new(LANGUAGES),
        ..WorkerContext::new(Arc::<SharedState>::default(), Rc::new(StillRun), 1)
    };
    UserContext::new(&Rc::new(worker), Variables::new(&Arc::new(VariableNames::default())), 2)
}
