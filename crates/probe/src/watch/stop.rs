//! The end of all collectors.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Whether it is over.
#[derive(Debug, Default)]
pub(super) struct Stop {
    over: Mutex<bool>,
    told: Condvar,
}

impl Stop {
    /// It is over, and all who wait are woken.
    pub fn now(&self) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
    }

    /// Waits for this time, or until it is over: whether it is.
    pub fn within(&self, time: Duration) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.told.wait_timeout_while(over, time, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
