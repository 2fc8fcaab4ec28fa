//! A timer for tests of exchanges.

use crate::Timer;
use brunt_model::{Clock, Tick};
use std::time::Duration;

/// A clock that stands still and makes nobody wait.
#[derive(Clone)]
pub struct Still;

impl Clock for Still {
    fn now(&self) -> Tick {
        Tick(1)
    }
}

impl Timer for Still {
    async fn sleep_until(&self, _: Tick) {}

    fn fire_due(&self, _: Tick) {}

    fn must_yield(&self, _: bool) -> bool {
        false
    }

    fn simulate_work(&self, _: Duration) {}

    fn nanos_since_received(&self, _: Duration, _: Tick) -> Option<u64> {
        None
    }
}
