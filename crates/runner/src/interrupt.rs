//! A flag that stops a run or an experiment early. Who sets it, for instance a signal handler, is up to the caller.

use brunt_engine::Control;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Whether somebody wants it to end: the run that goes on, and those that were to come. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<InterruptState>);

#[derive(Debug, Default)]
struct InterruptState {
    stopped: AtomicBool,
    /// Of the run that goes on.
    current: Mutex<Control>,
}

impl Interrupt {
    /// Whether somebody said so.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Acquire)
    }

    /// The control of the run that begins now: it is stopped with this, or already.
    pub fn control(&self) -> Control {
        let mut current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Control::default();
        if self.is_stopped() {
            current.stop();
        }
        current.clone()
    }

    /// Somebody wants it to end.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Release);
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner).stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_the_run_that_goes_on_and_those_to_come() {
        let interrupt = Interrupt::default();
        let (past, current) = (interrupt.control(), interrupt.control());
        interrupt.stop();
        assert!(!past.is_stopped() && current.is_stopped() && interrupt.control().is_stopped());
    }
}
