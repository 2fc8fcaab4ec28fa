//! Rests briefly before a worker polls its sockets, so that one poll returns several replies, like
//! the interrupt coalescing of a network card.
//!
//! With many requests in flight, a fast server writes its replies one by one. A client that waits
//! for each is woken for each, and spends more CPU time on waking than on reading. A rest of 20 µs
//! saved 30 % of the CPU time with HTTP/2 and 8 × 32 streams. The cost: a reply that arrives during
//! a rest is read late, at most by the length of the rest. Reports show that length.
//!
//! Out of scope: an open loop, where a due arrival would wait, too.

use brunt_model::Tick;
use std::cell::Cell;
use std::time::Duration;

/// Length of a rest. At the rate from which workers rest, at least one reply arrives in
/// this time. It is short compared with response times, because 32 or more requests wait
/// for the server at once.
pub(super) const REST: Duration = Duration::from_micros(20);
/// Minimum number of exchanges in flight. With fewer, the server would soon have none left and
/// wait for the client.
const MIN_IN_FLIGHT: u64 = 32;
/// A worker does not rest after a poll that returned more than 1/4 of the exchanges in flight.
const ENOUGH: u64 = 4;
/// Number of exchanges over which their rate and the length of rests are measured.
const WINDOW: u64 = 256;
/// Mean sleep above which the thread shares its core with other processes. Then replies accumulate
/// without rests, and each rest gives the core away.
const LATE: Duration = Duration::from_micros(100);
/// Number of windows without rests after a window in which the thread woke late.
const PAUSE: u64 = 16;

/// Number and length of a worker's rests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rests {
    /// Number of rests.
    pub count: u64,
    /// Total length.
    pub time: Duration,
}

/// Decides before each poll whether to rest. It is off until [`Self::turn_on`].
#[derive(Default)]
pub(super) struct Coalescer {
    is_on: Cell<bool>,
    in_flight: Cell<u64>,
    /// Exchanges that ended since the last poll.
    ended_count: Cell<u64>,
    window_began: Cell<Tick>,
    /// Exchanges that ended since `window_began`.
    in_window: Cell<u64>,
    /// True if in the last window at least one exchange ended per length of a rest.
    is_fast: Cell<bool>,
    /// Number of further windows without rests.
    paused_for: Cell<u64>,
    rests: Cell<Rests>,
    rests_in_window: Cell<Rests>,
}

impl Coalescer {
    pub(super) fn turn_on(&self) {
        // Otherwise the kernel may wake a sleeping thread 50 µs late, to combine timers.
        #[cfg(target_os = "linux")]
        self.is_on
            .set(rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1)).is_ok());
    }

    #[inline]
    pub(super) fn exchange_begins(&self) {
        self.in_flight.set(self.in_flight.get() + 1);
    }

    #[inline]
    pub(super) fn exchange_ended(&self) {
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
        self.ended_count.set(self.ended_count.get() + 1);
    }

    /// True if the worker should rest before the next poll.
    pub(super) fn wants_rest(&self, now: impl FnOnce() -> Tick) -> bool {
        let ended = self.ended_count.take();
        if !self.is_on.get() || self.in_flight.get() < MIN_IN_FLIGHT {
            return false;
        }
        self.in_window.set(self.in_window.get() + ended);
        if self.in_window.get() >= WINDOW {
            self.end_window(now());
        }
        self.is_fast.get()
            && self.paused_for.get() == 0
            && ended > 0
            && ended * ENOUGH < self.in_flight.get()
    }

    fn end_window(&self, now: Tick) {
        let expected = now.nanos_since(self.window_began.replace(now)) / REST.as_nanos() as u64;
        self.is_fast.set(self.in_window.take() >= expected);
        let rests = self.rests_in_window.take();
        let are_late = rests.time > LATE * rests.count as u32;
        self.paused_for.set(if are_late { PAUSE } else { self.paused_for.get().saturating_sub(1) });
    }

    pub(super) fn record_rest(&self, time: Duration) {
        for rests in [&self.rests, &self.rests_in_window] {
            let before = rests.get();
            rests.set(Rests { count: before.count + 1, time: before.time + time });
        }
    }

    pub(super) fn rests(&self) -> Rests {
        self.rests.get()
    }
}

#[cfg(test)]
mod tests {
    use super::{Coalescer, LATE, REST, WINDOW};
    use brunt_model::Tick;
    use std::time::Duration;

    /// Whether a worker rests if each of its polls ends `by_poll` of `in_flight` exchanges, and polls are `gap` apart.
    fn rests(in_flight: u64, by_poll: u64, gap: Duration) -> bool {
        let coalescer = Coalescer::default();
        coalescer.is_on.set(true);
        (0..in_flight).for_each(|_| coalescer.exchange_begins());
        let mut wants_rest = false;
        for poll in 0..1000 {
            for _ in 0..by_poll {
                coalescer.exchange_ended();
                coalescer.exchange_begins();
            }
            wants_rest = coalescer.wants_rest(|| Tick(0) + gap * poll);
        }
        wants_rest
    }

    #[test]
    fn the_clock_rests_with_many_in_flight_and_frequent_small_polls() {
        assert!(rests(256, 2, REST));
        assert!(rests(32, 1, REST / 2));
        assert!(!rests(31, 1, REST / 2), "few are in flight");
        assert!(!rests(64, 16, REST), "polls return many");
        assert!(!rests(1000, 1, REST * 2), "replies come seldom");
        assert!(!rests(1000, 0, REST / 2), "nothing ended");
    }

    #[test]
    fn the_clock_rests_rarely_if_it_wakes_late() {
        for (time, least, most) in [(REST * 2, 900, 1000), (LATE * 2, 50, 80)] {
            let coalescer = Coalescer::default();
            coalescer.is_on.set(true);
            (0..64).for_each(|_| coalescer.exchange_begins());
            for poll in 0..1000 * WINDOW {
                coalescer.exchange_ended();
                coalescer.exchange_begins();
                if coalescer.wants_rest(|| Tick(poll)) {
                    coalescer.record_rest(time);
                }
            }
            let windows = coalescer.rests().count / WINDOW;
            assert!((least..=most).contains(&windows), "rests in {windows} of 1000 windows");
        }
    }

    #[test]
    fn without_coalescing_the_clock_never_rests() {
        let coalescer = Coalescer::default();
        (0..1000).for_each(|_| coalescer.exchange_begins());
        for poll in 0..1000 {
            coalescer.exchange_ended();
            assert!(!coalescer.wants_rest(|| Tick(poll)));
        }
    }
}
