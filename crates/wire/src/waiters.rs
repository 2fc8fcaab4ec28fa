//! Tasks that wait for a change of a connection.

use std::task::Waker;

/// The wakers of waiting tasks, each task once.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Vec<Waker>);

impl Waiters {
    /// Adds a waiting task.
    pub fn add(&mut self, waker: &Waker) {
        if !self.0.iter().any(|other| other.will_wake(waker)) {
            self.0.push(waker.clone());
        }
    }

    /// Wakes all waiting tasks and removes them.
    pub fn wake(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}
