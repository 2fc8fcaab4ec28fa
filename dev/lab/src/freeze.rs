//! Freezes: the whole server was stopped from outside (SIGSTOP), and went on later (SIGCONT).
//!
//! A stopped process knows nothing of it, but the kernel goes on to receive and to stamp. So whoever stopped it tells it
//! afterwards, in a line on its standard input, from when to when; the truth then takes the freeze for a stall given
//! after the fact. It is not for machines that froze by themselves: nobody would know when.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::{Clock, monotonic};

/// A time in which a server was stopped, in nanoseconds: of `CLOCK_MONOTONIC` as it is told, in ticks once the lab has
/// taken it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freeze {
    /// When it was stopped.
    pub from: u64,
    /// When it went on.
    pub to: u64,
}

impl Freeze {
    /// Stops a process for this time, and lets it go on. The process is the caller's own child.
    ///
    /// # Errors
    ///
    /// If the process cannot be signalled.
    pub fn impose(process: Pid, length: Duration) -> io::Result<Self> {
        kill_process(process, Signal::STOP)?;
        let from = monotonic();
        thread::sleep(length);
        let to = monotonic();
        kill_process(process, Signal::CONT)?;
        Ok(Self { from, to })
    }

    /// Reads a line as [`fmt::Display`] writes it: `frozen FROM TO`.
    pub fn parse(line: &str) -> Option<Self> {
        let (from, to) = line.trim().strip_prefix("frozen ")?.split_once(' ')?;
        let freeze = Self { from: from.parse().ok()?, to: to.parse().ok()? };
        (freeze.from < freeze.to).then_some(freeze)
    }

    /// When a reply that is ready at `instant` leaves: at once, or when the server goes on.
    pub fn release(&self, instant: u64) -> u64 {
        if (self.from..self.to).contains(&instant) { self.to } else { instant }
    }

    /// The same in ticks of a clock.
    #[must_use]
    pub fn in_ticks(&self, clock: &Clock) -> Self {
        Self { from: clock.tick_of(self.from), to: clock.tick_of(self.to) }
    }
}

impl fmt::Display for Freeze {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "frozen {} {}", self.from, self.to)
    }
}

/// The freezes that were told so far. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Freezes(Arc<Mutex<Vec<Freeze>>>);

impl Freezes {
    /// Takes in a line; one that tells of no freeze is passed over.
    pub fn take_line(&self, line: &str) {
        if let Some(freeze) = Freeze::parse(line) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(freeze);
        }
    }

    /// All of them in ticks, the earliest first.
    pub fn in_ticks(&self, clock: &Clock) -> Vec<Freeze> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ticks: Vec<Freeze> = told.iter().map(|freeze| freeze.in_ticks(clock)).collect();
        ticks.sort_by_key(|freeze| freeze.from);
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freeze_is_told_in_a_line() {
        let freeze = Freeze { from: 12, to: 2_000_000_012 };
        assert_eq!(Freeze::parse(&format!("{freeze}\n")), Some(freeze));
        for nonsense in ["", "frozen", "frozen 1", "frozen 5 5", "frozen 6 5", "thawed 1 2"] {
            assert_eq!(Freeze::parse(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn it_holds_what_falls_into_it() {
        let freeze = Freeze { from: 10, to: 30 };
        assert_eq!([9, 10, 29, 30].map(|instant| freeze.release(instant)), [9, 30, 30, 30]);
    }

    #[test]
    fn freezes_are_kept_in_order() {
        let told = Freezes::default();
        told.take_line("frozen 7 8");
        told.take_line("nonsense");
        told.take_line("frozen 3 5");
        let froms: Vec<u64> = told.in_ticks(&Clock::start()).iter().map(|freeze| freeze.from).collect();
        assert_eq!(froms, [0, 0], "both lie before the clock began");
    }
}
