//! Schedules tasks: a heap of instants, and the timer that wakes the loop for the earliest.
//!
//! The timer is a timerfd with nanoseconds on the monotonic clock. It is edge-triggered, so that it
//! is never read. This module does not interpret the tasks.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::OwnedFd;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::clock::TickClock;

/// A task that the server performs at a certain tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Sends the reply with this number on its connection, or on this stream.
    Reply(u32),
    /// Sends the next byte of a dripping reply on this stream; before HTTP/2, 0.
    Drip(u32),
    /// Checks if the connection has been idle for too long.
    Idle,
    /// Checks the timers of a QUIC connection.
    Timer,
    /// Closes a connection that only waits for the client's close.
    Linger,
    /// Ends the server at the maximum runtime.
    End,
}

/// A task with its instant and its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Tick at which the task is due.
    pub at: u64,
    /// Sequence number that preserves the order of tasks at the same instant.
    order: u64,
    /// Slot of the connection.
    pub slot: u32,
    /// Generation of the slot, which distinguishes its successive connections.
    pub generation: u32,
    /// What the server does then.
    pub task: Task,
}

impl Ord for Due {
    /// The earliest is the greatest, because [`BinaryHeap`] returns the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The tasks and their timer.
#[derive(Debug)]
pub struct Agenda {
    tasks: BinaryHeap<Due>,
    sequence: u64,
    timer: OwnedFd,
    armed_at: u64,
}

impl Agenda {
    /// Creates an empty agenda.
    ///
    /// # Errors
    ///
    /// If the system provides no timer.
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        Ok(Self { tasks: BinaryHeap::new(), sequence: 0, timer, armed_at: u64::MAX })
    }

    /// Returns the timer, which becomes readable when the earliest task is due.
    pub fn timer(&self) -> &OwnedFd {
        &self.timer
    }

    /// Adds a task for the connection with this slot and generation.
    pub fn add(&mut self, at: u64, slot: u32, generation: u32, task: Task) {
        self.sequence += 1;
        self.tasks.push(Due { at, order: self.sequence, slot, generation, task });
    }

    /// Returns the instant of the earliest task.
    pub fn next_at(&self) -> Option<u64> {
        self.tasks.peek().map(|due| due.at)
    }

    /// Removes and returns the earliest task if it is due at `now`.
    pub fn take(&mut self, now: u64) -> Option<Due> {
        self.tasks.peek().filter(|due| due.at <= now)?;
        self.tasks.pop()
    }

    /// Sets the timer to `ahead` nanoseconds before the earliest task, unless it is
    /// already set to that.
    pub fn arm(&mut self, clock: &TickClock, ahead: u64) -> io::Result<()> {
        let Some(at) = self.next_at().map(|at| at.saturating_sub(ahead)) else { return Ok(()) };
        // Setting the timer costs a system call.
        if at == self.armed_at {
            return Ok(());
        }
        let setting = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: clock.timespec(at),
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        self.armed_at = at;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_ordered_by_time_and_then_by_creation() {
        let mut agenda = Agenda::new().unwrap();
        for (at, slot) in [(5, 1), (3, 2), (5, 3), (9, 4)] {
            agenda.add(at, slot, 0, Task::Linger);
        }
        assert_eq!(agenda.next_at(), Some(3));
        let slots: Vec<u32> = std::iter::from_fn(|| agenda.take(5)).map(|due| due.slot).collect();
        assert_eq!(slots, [2, 1, 3]);
        assert_eq!(agenda.next_at(), Some(9));
    }
}
