//! Passes the events of a run to a listener that may be slow, on its own thread, so that it
//! never delays the run.
//!
//! The events wait in a queue. If the queue is full, successive snapshots of one phase of the run
//! are merged, as are readings of one source. The sums stay the same, and the time resolution
//! becomes coarser. All other events stay unchanged and in order. Out of scope: the event log and
//! the steering of the run, which receive every event unchanged.

mod queue;

use crate::run::EventListener;
use brunt_model::Event;
use brunt_model::sync::IgnorePoison;
use queue::EventQueue;
pub use queue::Joined;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Number of waiting events from which on snapshots and readings are merged.
const MAX_WAITING: usize = 64;
/// Maximum time that dropping a mailbox waits for its listener.
const MAX_DROP_WAIT: Duration = Duration::from_secs(1);
/// Stack size of the listener's thread.
const STACK_BYTES: usize = 512 << 10;

/// Passes events to a listener on its own thread.
///
/// Single samples do not pass through it, since no bounded queue can hold them. A listener that
/// needs each sample listens to the run directly. Events that the listener would add to the run
/// ([`EventListener::pending_events`]) are not requested.
pub struct Mailbox {
    shared: Arc<Shared>,
    is_closed: bool,
}

/// Counts of the events that were passed to a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Events that were merged because the listener was slow.
    pub joined: Joined,
    /// True if the listener received all events within its time limit.
    pub is_complete: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: EventQueue,
    /// No further event follows.
    is_closed: bool,
    /// The listener received the last event.
    is_complete: bool,
    /// The listener's thread has ended.
    ended: bool,
}

impl Mailbox {
    /// Starts a thread for a listener.
    pub fn start(listener: impl EventListener + Send + 'static) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let thread = thread::Builder::new().name("brunt-listener".into()).stack_size(STACK_BYTES);
        let shared_with_thread = Arc::clone(&shared);
        thread.spawn(move || deliver(listener, shared_with_thread))?;
        Ok(Self { shared, is_closed: false })
    }

    /// Ends the mailbox. Waits until the listener has received all events, or for `longest`; a
    /// slower listener continues alone.
    pub fn close(mut self, longest: Duration) -> Delivery {
        self.wait(longest)
    }

    fn wait(&mut self, longest: Duration) -> Delivery {
        self.is_closed = true;
        let mut state = self.shared.state();
        state.is_closed = true;
        self.shared.changed.notify_all();
        let wait_result =
            self.shared.changed.wait_timeout_while(state, longest, |state| !state.ended);
        let (state, _) = wait_result.ignore_poison();
        Delivery { joined: state.queue.joined(), is_complete: state.is_complete }
    }
}

impl EventListener for Mailbox {
    fn on_event(&mut self, event: &Event) {
        let mut state = self.shared.state();
        // After the end of the thread, no event would leave the queue.
        if !state.ended && !matches!(event, Event::Samples(_) | Event::Records(_)) {
            state.queue.push(event.clone(), MAX_WAITING);
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        if !self.is_closed {
            self.wait(MAX_DROP_WAIT);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// Waits for the next event; None after the last one.
    fn next(&self) -> Option<Event> {
        let state = self
            .changed
            .wait_while(self.state(), |state| state.queue.is_empty() && !state.is_closed);
        state.ignore_poison().queue.pop()
    }
}

/// Records the end of the listener's thread, even if the listener panicked.
struct EndGuard(Arc<Shared>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.changed.notify_all();
    }
}

fn deliver(mut listener: impl EventListener, shared: Arc<Shared>) {
    // Dropped at the end, also in a panic: it wakes the threads that wait for this one.
    let guard = EndGuard(shared);
    while let Some(event) = guard.0.next() {
        listener.on_event(&event);
    }
    guard.0.state().is_complete = true;
}

#[cfg(test)]
mod tests;
