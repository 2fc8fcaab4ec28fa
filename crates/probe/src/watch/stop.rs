//! Signals all collectors to stop.

use brunt_model::sync::IgnorePoison;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// A request to stop, which wakes all waiting threads.
#[derive(Debug, Default)]
pub(super) struct Stop {
    is_requested: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Requests the stop, and wakes all waiting threads.
    pub fn request(&self) {
        *self.is_requested.lock().ignore_poison() = true;
        self.changed.notify_all();
    }

    /// Waits for this time, or until the stop is requested. Returns true if it is requested.
    pub fn wait(&self, time: Duration) -> bool {
        let is_requested = self.is_requested.lock().ignore_poison();
        let waited =
            self.changed.wait_timeout_while(is_requested, time, |is_requested| !*is_requested);
        *waited.ignore_poison().0
    }
}
