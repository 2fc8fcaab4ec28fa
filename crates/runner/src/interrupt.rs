//! A flag that stops a run or an experiment early. The caller decides about its source, such
//! as a signal handler.

use brunt_engine::RunControl;
use brunt_model::sync::IgnorePoison;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Stops the current run and those that would follow. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<InterruptState>);

#[derive(Debug, Default)]
struct InterruptState {
    stopped: AtomicBool,
    /// Control of the current run.
    current: Mutex<RunControl>,
}

impl Interrupt {
    /// True if the flag is set.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Acquire)
    }

    /// Returns the control of a run that begins. It stops with the flag, or at once if
    /// the flag is set.
    pub fn control(&self) -> RunControl {
        let mut current = self.0.current.lock().ignore_poison();
        *current = RunControl::default();
        // The flag may have been set between two runs.
        if self.is_stopped() {
            current.stop();
        }
        current.clone()
    }

    /// Sets the flag, and stops the current run.
    pub fn stop(&self) {
        // The flag first: a run that begins in between sees it in `control`.
        self.0.stopped.store(true, Ordering::Release);
        self.0.current.lock().ignore_poison().stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_ends_the_current_run_and_later_ones() {
        let interrupt = Interrupt::default();
        let (past, current) = (interrupt.control(), interrupt.control());
        interrupt.stop();
        assert!(!past.is_stopped() && current.is_stopped() && interrupt.control().is_stopped());
    }
}
