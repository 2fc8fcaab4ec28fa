//! The lease of an agent: how long it may continue its load without a message from the controller.
//!
//! A network may fail without closing a connection. Then the controller no longer controls the load,
//! so the agent stops it by itself.

use brunt_model::time::nanos;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Interval at which the lease is checked.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Time between the end of the lease and the end of the process. Requests in flight end meanwhile.
const END_AFTER: Duration = Duration::from_secs(3);

/// State of the lease at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseState {
    /// A message of the controller arrived recently, or there is no lease.
    Held,
    /// The load must stop.
    Expired,
    /// The process must end.
    Abandoned,
}

/// Lease of the last run; shared by the reader and the watchdog. It continues after the run, since an
/// agent without a controller must end.
#[derive(Debug, Default)]
pub struct Lease {
    /// When the last message arrived, in nanoseconds of the clock.
    last_message: AtomicU64,
    /// Length in nanoseconds; 0: there is none.
    length: AtomicU64,
    /// True if it has expired since it began.
    has_expired: AtomicBool,
}

impl Lease {
    /// Begins a lease of this length at `now`.
    pub fn begin(&self, length: Option<Duration>, now: u64) {
        self.renew(now);
        self.has_expired.store(false, Ordering::Release);
        self.length.store(length.map_or(0, nanos), Ordering::Release);
    }

    /// True if the lease has expired since it began, even if it was renewed afterwards.
    pub fn has_expired(&self) -> bool {
        self.has_expired.load(Ordering::Acquire)
    }

    /// Renews the lease because a message arrived.
    pub fn renew(&self, now: u64) {
        self.last_message.fetch_max(now, Ordering::AcqRel);
    }

    /// Returns the state at `now`.
    pub fn state(&self, now: u64) -> LeaseState {
        let length = self.length.load(Ordering::Acquire);
        let silence = now.saturating_sub(self.last_message.load(Ordering::Acquire));
        match silence {
            _ if length == 0 => LeaseState::Held,
            silence if silence >= length + nanos(END_AFTER) => LeaseState::Abandoned,
            silence if silence >= length => {
                self.has_expired.store(true, Ordering::Release);
                LeaseState::Expired
            }
            _ => LeaseState::Held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_expires_without_messages_and_is_renewed_by_them() {
        let second = 1_000_000_000;
        let lease = Lease::default();
        assert_eq!(lease.state(1_000 * second), LeaseState::Held, "no lease");
        lease.begin(Some(Duration::from_secs(1)), 10 * second);
        assert_eq!(lease.state(11 * second - 1), LeaseState::Held);
        assert!(!lease.has_expired());
        assert_eq!(lease.state(11 * second), LeaseState::Expired);
        lease.renew(11 * second);
        assert_eq!(lease.state(11 * second), LeaseState::Held);
        assert!(lease.has_expired(), "the load has stopped");
        assert_eq!(lease.state(15 * second), LeaseState::Abandoned);
    }
}
