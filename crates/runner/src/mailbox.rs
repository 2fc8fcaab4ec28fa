//! Hands the events of a run to a listener that may be slow, on a thread of its own, so that it never holds the run up.
//!
//! The events wait in a queue. While the listener is slow and the queue is full, snapshots that follow each other in one part of
//! the run are joined, and readings of one source: the sums stay the same, and the time resolution becomes coarser. All other
//! events are kept, in their order. Out of scope: a way for the event log or for what steers the run, which hear every
//! event as it is.

mod queue;

use crate::run::Listen;
use brunt_model::Event;
pub use queue::Joined;
use queue::Queue;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// While so many events wait, snapshots and readings are joined.
const MOST_WAITING: usize = 64;
/// How long dropping a mailbox waits for its listener.
const PATIENCE: Duration = Duration::from_secs(1);
/// The listener's stack.
const STACK: usize = 512 << 10;

/// Hands events to a listener on a thread of its own.
///
/// Single samples do not pass through it, since no bounded queue can hold them: who needs each sample listens to the run directly.
/// What the listener would add to the run ([`Listen::add`]) is not asked for.
pub struct Mailbox {
    shared: Arc<Shared>,
    closed: bool,
}

/// What became of the events that were handed to a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// What was joined because the listener was slow.
    pub joined: Joined,
    /// Whether the listener heard all events in the time that it was given.
    pub is_complete: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: Queue,
    /// No event follows.
    closed: bool,
    /// The listener heard the last event.
    is_complete: bool,
    /// The listener's thread is over.
    ended: bool,
}

impl Mailbox {
    /// Starts a thread for a listener.
    ///
    /// # Errors
    ///
    /// The system has no room for a thread.
    pub fn start(listener: impl Listen + Send + 'static) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let thread = thread::Builder::new().name("brunt-listener".into()).stack_size(STACK);
        let handed = Arc::clone(&shared);
        thread.spawn(move || deliver(listener, handed))?;
        Ok(Self { shared, closed: false })
    }

    /// Ends it: waits until the listener has heard all events, or for `longest`. A listener that takes longer is left to itself.
    pub fn close(mut self, longest: Duration) -> Delivery {
        self.wait(longest)
    }

    fn wait(&mut self, longest: Duration) -> Delivery {
        self.closed = true;
        let mut state = self.shared.state();
        state.closed = true;
        self.shared.changed.notify_all();
        let waited = self.shared.changed.wait_timeout_while(state, longest, |state| !state.ended);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Delivery { joined: state.queue.joined(), is_complete: state.is_complete }
    }
}

impl Listen for Mailbox {
    fn hear(&mut self, event: &Event) {
        let mut state = self.shared.state();
        // Nobody would take it out again.
        if !state.ended && !matches!(event, Event::Samples(_) | Event::Records(_)) {
            state.queue.push(event.clone(), MOST_WAITING);
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        if !self.closed {
            self.wait(PATIENCE);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next event, once there is one; None after the last.
    fn next(&self) -> Option<Event> {
        let is_idle = |state: &mut State| state.queue.is_empty() && !state.closed;
        let waited = self.changed.wait_while(self.state(), is_idle);
        waited.unwrap_or_else(PoisonError::into_inner).queue.pop()
    }
}

/// Says that the listener's thread is over, also where the listener panicked.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.changed.notify_all();
    }
}

fn deliver(mut listener: impl Listen, shared: Arc<Shared>) {
    let ending = Ending(shared);
    while let Some(event) = ending.0.next() {
        listener.hear(&event);
    }
    ending.0.state().is_complete = true;
}

#[cfg(test)]
mod tests;
