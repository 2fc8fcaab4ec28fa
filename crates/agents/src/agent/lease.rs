//! The lease of an agent: how long it may continue its load without a message from the controller.
//!
//! A network may fail without closing a connection. Then the controller no longer controls the load,
//! so the agent stops it by itself. Messages that a network has held back do not extend the lease: they count
//! from the instant at which they were sent.
//!
//! Time for which the agent itself did not run is no silence of the controller: messages may be unread, and without
//! CPU it sends no load, either.

use brunt_model::time::nanos;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Interval at which the lease is checked.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Longest time between two checks that counts as silence. More shows that this process did not run.
const MAX_COUNTED: Duration = CHECK_INTERVAL.saturating_mul(2);

/// Time between the end of the lease and the end of the process. Requests in flight end meanwhile.
const END_AFTER: Duration = Duration::from_secs(3);

/// Most by which the clocks of agent and controller differ in speed, as a divisor: 500 ppm.
const MOST_DRIFT: i128 = 2_000;

/// Estimates when the messages of one controller were sent, on the clock of this machine.
#[derive(Debug, Default)]
pub struct SendTimes {
    /// Least time between the sender's clock when a message was sent, and this one when it arrived; and the
    /// instant of the last message.
    least: Option<(i128, u64)>,
}

impl SendTimes {
    /// Returns when a message was sent that has this time of the sender's clock. The fastest message so far counts as
    /// sent when it arrived.
    pub fn sent(&mut self, sender_time: u64, received: u64) -> u64 {
        let difference = i128::from(received) - i128::from(sender_time);
        let least = self.least.map_or(difference, |(least, before)| {
            difference.min(least + i128::from(received.saturating_sub(before)) / MOST_DRIFT)
        });
        self.least = Some((least, received));
        u64::try_from(i128::from(sender_time) + least).unwrap_or(received)
    }
}

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
    /// When the last message was sent, in nanoseconds of the clock.
    last_message: AtomicU64,
    /// Length in nanoseconds; 0: there is none.
    length: AtomicU64,
    /// When the lease was checked last.
    last_check: AtomicU64,
    /// True if it has expired since it began.
    has_expired: AtomicBool,
}

impl Lease {
    /// Begins a lease of this length at `now`.
    pub fn begin(&self, length: Option<Duration>, now: u64) {
        self.renew(now);
        self.last_check.store(now, Ordering::Release);
        self.has_expired.store(false, Ordering::Release);
        self.length.store(length.map_or(0, nanos), Ordering::Release);
    }

    /// True if the lease has expired since it began, even if it was renewed afterwards.
    pub fn has_expired(&self) -> bool {
        self.has_expired.load(Ordering::Acquire)
    }

    /// Renews the lease because of a message that was sent at this instant.
    pub fn renew(&self, sent: u64) {
        self.last_message.fetch_max(sent, Ordering::AcqRel);
    }

    /// Returns the state at `now`. Call it at each [`CHECK_INTERVAL`]: time by which a call is late does not count.
    pub fn check(&self, now: u64) -> LeaseState {
        let counted_from = now.saturating_sub(nanos(MAX_COUNTED));
        let late = counted_from.saturating_sub(self.last_check.swap(now, Ordering::AcqRel));
        let message = self.last_message.load(Ordering::Acquire);
        self.renew(message.saturating_add(late).min(counted_from));
        self.state(now)
    }

    /// Returns the state at `now`.
    fn state(&self, now: u64) -> LeaseState {
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
    fn a_message_that_was_held_back_counts_from_its_send_time() {
        let milli = 1_000_000;
        // The sender's clock is an hour ahead.
        let sender = |millis: u64| millis * milli + 3_600_000 * milli;
        let mut times = SendTimes::default();
        // Delays of 3, 1 and 2 ms: the fastest message sets the offset.
        assert_eq!(times.sent(sender(1_000), 1_003 * milli), 1_003 * milli);
        assert_eq!(times.sent(sender(1_200), 1_201 * milli), 1_201 * milli);
        let sent = times.sent(sender(1_400), 1_402 * milli);
        assert!(sent.abs_diff(1_401 * milli) < milli / 2, "{sent}");
        let held_back = times.sent(sender(1_600), 11_600 * milli);
        assert!(held_back.abs_diff(1_601 * milli) < 10 * milli, "{held_back}");
    }

    #[test]
    fn clocks_of_different_speed_do_not_end_a_lease() {
        let second = 1_000_000_000;
        let mut times = SendTimes::default();
        for number in 0..36_000 {
            // For ten hours the agent's clock gains 100 ppm.
            let sent = number * second;
            let received = sent + sent / 10_000;
            assert!(received - times.sent(sent, received) < second / 1_000);
        }
    }

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

    #[test]
    fn time_without_cpu_is_no_silence() {
        let milli = 1_000_000;
        let lease = Lease::default();
        lease.begin(Some(Duration::from_secs(1)), 10_000 * milli);
        for check in [10_050, 10_100] {
            assert_eq!(lease.check(check * milli), LeaseState::Held);
        }
        // The process is stopped for a minute. Messages of this time are unread.
        assert_eq!(lease.check(70_000 * milli), LeaseState::Held);
        // Of the silence, 100 ms before and 100 ms of the minute count.
        let checks = (70_050..).step_by(50);
        let expired = checks.clone().find(|now| lease.check(now * milli) == LeaseState::Expired);
        assert_eq!(expired, Some(70_800));
    }

    #[test]
    fn a_message_during_a_late_check_counts_from_its_send_time() {
        let milli = 1_000_000;
        let lease = Lease::default();
        lease.begin(Some(Duration::from_secs(1)), 10_000 * milli);
        lease.renew(19_990 * milli);
        assert_eq!(lease.check(20_000 * milli), LeaseState::Held);
        assert_eq!(lease.state(20_980 * milli), LeaseState::Held);
        assert_eq!(lease.state(20_990 * milli), LeaseState::Expired);
    }
}
