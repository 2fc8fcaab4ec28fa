//! What is due when: a heap of instants, and the timer that wakes the loop for the earliest.
//!
//! The timer is a timerfd with nanoseconds on the monotonic clock, edge-triggered, so that it is never read. Nothing
//! here knows what the duties mean.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::OwnedFd;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::clock::Clock;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duty {
    /// The reply with this number on its connection, or on this stream, may leave.
    Reply(u32),
    /// The next byte of a dripping reply on this stream; before HTTP/2, 0.
    Drip(u32),
    /// See whether the connection has been idle for too long.
    Idle,
    /// See what the timers of a connection of QUIC say.
    Timer,
    /// Close a connection that only waits for the client's close.
    Linger,
    /// The longest runtime is over.
    End,
}

/// A duty, its instant and its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The tick.
    pub at: u64,
    /// Keeps duties of one instant in their order.
    order: u64,
    /// The connection's slot, and which of the slot's connections it was.
    pub slot: u32,
    /// See `slot`.
    pub generation: u32,
    /// What to do.
    pub duty: Duty,
}

impl Ord for Due {
    /// The earliest is the greatest, as [`BinaryHeap`] gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The duties and their timer.
#[derive(Debug)]
pub struct Agenda {
    duties: BinaryHeap<Due>,
    made: u64,
    timer: OwnedFd,
    armed: u64,
}

impl Agenda {
    /// An empty agenda.
    ///
    /// # Errors
    ///
    /// If the system grants no timer.
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self { duties: BinaryHeap::new(), made: 0, timer, armed: u64::MAX })
    }

    /// What becomes readable when the earliest duty is due.
    pub fn timer(&self) -> &OwnedFd {
        &self.timer
    }

    /// Adds a duty.
    pub fn add(&mut self, at: u64, slot: u32, generation: u32, duty: Duty) {
        self.made += 1;
        self.duties.push(Due { at, order: self.made, slot, generation, duty });
    }

    /// The instant of the earliest duty.
    pub fn next_at(&self) -> Option<u64> {
        self.duties.peek().map(|due| due.at)
    }

    /// Takes the earliest duty if it is due at `now`.
    pub fn take(&mut self, now: u64) -> Option<Due> {
        self.duties.peek().filter(|due| due.at <= now)?;
        self.duties.pop()
    }

    /// Sets the timer to `ahead` nanoseconds before the earliest duty, unless it is set so already.
    ///
    /// # Errors
    ///
    /// If the timer cannot be set.
    pub fn arm(&mut self, clock: &Clock, ahead: u64) -> io::Result<()> {
        let Some(at) = self.next_at().map(|at| at.saturating_sub(ahead)) else { return Ok(()) };
        if at == self.armed {
            return Ok(());
        }
        let setting = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: clock.timespec(at) };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        self.armed = at;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duties_come_in_order_of_time_and_then_of_making() {
        let mut agenda = Agenda::new().unwrap();
        for (at, slot) in [(5, 1), (3, 2), (5, 3), (9, 4)] {
            agenda.add(at, slot, 0, Duty::Linger);
        }
        assert_eq!(agenda.next_at(), Some(3));
        let slots: Vec<u32> = std::iter::from_fn(|| agenda.take(5)).map(|due| due.slot).collect();
        assert_eq!(slots, [2, 1, 3]);
        assert_eq!(agenda.next_at(), Some(9));
    }
}
