//! Tasks that wait for a connection to change.

use std::task::Waker;

/// Who waits; each task once.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Vec<Waker>);

impl Waiters {
    /// Another one waits.
    pub fn add(&mut self, waker: &Waker) {
        if !self.0.iter().any(|other| other.will_wake(waker)) {
            self.0.push(waker.clone());
        }
    }

    /// Wakes all of them.
    pub fn wake(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}
