//! Ctrl-C: once to end what goes on and see what was measured, twice to quit.

use crate::exit::Exit;
use brunt_engine::Control;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Signals that come together are one: timeout(1) sends its own to the process and again to its group, and nobody who
/// pressed Ctrl-C once is to lose the report.
const ONE_SIGNAL: Duration = Duration::from_millis(200);

/// Whether somebody wants it to end: the run that goes on, and those that were to come. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Heard>);

#[derive(Debug, Default)]
struct Heard {
    stopped: AtomicBool,
    /// Of the run that goes on.
    current: Mutex<Control>,
}

impl Interrupt {
    /// Listens to SIGINT and SIGTERM: the first one stops, the second ends the process at once. Managed servers are then
    /// ended by their guards.
    pub fn listen() -> io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let interrupt = Self::default();
        let heard = interrupt.clone();
        thread::Builder::new().name("brunt-signals".into()).spawn(move || {
            loop {
                if signals.wait().next().is_none() {
                    continue;
                }
                if heard.is_stopped() {
                    std::process::exit(i32::from(Exit::Interrupted.code()));
                }
                heard.stop();
                thread::sleep(ONE_SIGNAL);
                signals.pending().for_each(drop);
                let _ = writeln!(io::stderr(), "\nstopping; once more to quit without a report");
            }
        })?;
        Ok(interrupt)
    }

    /// Whether the first signal came.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Acquire)
    }

    /// The control of the run that begins now: it is stopped by the first signal, or already.
    pub fn control(&self) -> Control {
        let mut current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Control::default();
        if self.is_stopped() {
            current.stop();
        }
        current.clone()
    }

    fn stop(&self) {
        self.0.stopped.store(true, Ordering::Release);
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner).stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_the_run_that_goes_on_and_those_to_come() {
        let interrupt = Interrupt::default();
        let (past, current) = (interrupt.control(), interrupt.control());
        interrupt.stop();
        assert!(!past.is_stopped() && current.is_stopped() && interrupt.control().is_stopped());
    }
}
