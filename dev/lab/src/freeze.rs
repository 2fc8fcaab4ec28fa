//! Handles freezes: an external SIGSTOP stops the whole server, and a later SIGCONT continues it.
//!
//! A stopped process does not notice the freeze, but the kernel keeps receiving and stamping
//! packets. The process that stopped it therefore reports the period later, in a line on its
//! standard input. The truth then treats the freeze as a stall. Machines that freeze by themselves
//! are out of scope, because the period is unknown.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::{TickClock, monotonic};

/// A period in which a server was stopped, in nanoseconds. It is in `CLOCK_MONOTONIC` when it is
/// reported, and in ticks inside the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freeze {
    /// Start of the freeze.
    pub from: u64,
    /// End of the freeze.
    pub to: u64,
}

impl Freeze {
    /// Stops a process for this time, and continues it. The process must be a child of the caller.
    ///
    /// # Errors
    ///
    /// If the process cannot be signaled.
    pub fn impose(process: Pid, length: Duration) -> io::Result<Self> {
        kill_process(process, Signal::STOP)?;
        // Both readings lie within the stop: the process did not run in any part of the period.
        let from = monotonic();
        thread::sleep(length);
        let to = monotonic();
        kill_process(process, Signal::CONT)?;
        Ok(Self { from, to })
    }

    /// Parses a line in the format of [`fmt::Display`]: `frozen FROM TO`.
    pub fn parse(line: &str) -> Option<Self> {
        let (from, to) = line.trim().strip_prefix("frozen ")?.split_once(' ')?;
        let freeze = Self { from: from.parse().ok()?, to: to.parse().ok()? };
        (freeze.from < freeze.to).then_some(freeze)
    }

    /// Returns the instant at which a reply leaves that is ready at `instant`: the same, or the
    /// end of the freeze.
    pub fn release(&self, instant: u64) -> u64 {
        if (self.from..self.to).contains(&instant) { self.to } else { instant }
    }

    /// Converts the freeze to ticks of a clock.
    #[must_use]
    pub fn in_ticks(&self, clock: &TickClock) -> Self {
        Self { from: clock.tick_of(self.from), to: clock.tick_of(self.to) }
    }
}

impl fmt::Display for Freeze {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "frozen {} {}", self.from, self.to)
    }
}

/// The reported freezes. Clones share the same list.
#[derive(Debug, Clone, Default)]
pub struct Freezes(Arc<Mutex<Vec<Freeze>>>);

impl Freezes {
    /// Adds the freeze of a line. Other lines are ignored.
    pub fn take_line(&self, line: &str) {
        if let Some(freeze) = Freeze::parse(line) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(freeze);
        }
    }

    /// Returns all freezes in ticks, earliest first.
    pub fn in_ticks(&self, clock: &TickClock) -> Vec<Freeze> {
        let freezes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ticks: Vec<Freeze> = freezes.iter().map(|freeze| freeze.in_ticks(clock)).collect();
        ticks.sort_by_key(|freeze| freeze.from);
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freeze_is_read_from_a_line() {
        let freeze = Freeze { from: 12, to: 2_000_000_012 };
        assert_eq!(Freeze::parse(&format!("{freeze}\n")), Some(freeze));
        for nonsense in ["", "frozen", "frozen 1", "frozen 5 5", "frozen 6 5", "thawed 1 2"] {
            assert_eq!(Freeze::parse(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn replies_due_in_a_freeze_are_delayed() {
        let freeze = Freeze { from: 10, to: 30 };
        assert_eq!([9, 10, 29, 30].map(|instant| freeze.release(instant)), [9, 30, 30, 30]);
    }

    #[test]
    fn freezes_are_sorted() {
        let told = Freezes::default();
        told.take_line("frozen 7 8");
        told.take_line("nonsense");
        told.take_line("frozen 3 5");
        let froms: Vec<u64> =
            told.in_ticks(&TickClock::start()).iter().map(|freeze| freeze.from).collect();
        assert_eq!(froms, [0, 0], "both lie before the clock began");
    }
}
