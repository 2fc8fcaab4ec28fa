//! Synchronizes the workers, so that the load begins at the same instant on all of them.
//!
//! In a run of several processes the last worker does not open the gate. It reports to the parent
//! process, which opens the gates of all processes.

use brunt_model::Tick;
use brunt_model::sync::IgnorePoison;
use std::sync::{Mutex, MutexGuard};
use std::task::{Poll, Waker};

/// A barrier that opens when all workers are ready.
pub struct Gate {
    inner: Mutex<Inner>,
    /// Called when all workers are ready, in place of opening the gate. None: the
    /// last worker opens it.
    on_ready: Option<OnReady>,
}

/// Begin of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadBegin {
    /// Instant at which the load of the run begins.
    pub begins: Tick,
    /// Instant from which this process carries out its share: later, if it takes the place of a lost process.
    pub from: Tick,
}

impl LoadBegin {
    /// The begin of a process that takes part from the start.
    pub fn at(begins: Tick) -> Self {
        Self { begins, from: begins }
    }
}

/// Receives the instant from which all workers are ready.
pub type OnReady = Box<dyn Fn(Tick) + Send + Sync>;

#[derive(Debug)]
struct Inner {
    missing: usize,
    state: State,
    wakers: Vec<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Shut,
    Open(LoadBegin),
    GivenUp,
}

impl Gate {
    /// Creates a gate for this number of workers.
    pub fn new(workers: usize) -> Self {
        Self {
            inner: Mutex::new(Inner { missing: workers, state: State::Shut, wakers: Vec::new() }),
            on_ready: None,
        }
    }

    /// Creates a gate that is opened from outside, after `on_ready` was called.
    pub fn with_callback(workers: usize, on_ready: OnReady) -> Self {
        Self { on_ready: Some(on_ready), ..Self::new(workers) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().ignore_poison()
    }

    /// Counts one more worker as ready at `now`. The load begins when the last one is ready, unless
    /// the gate is opened from outside.
    pub fn ready(&self, now: Tick) {
        let mut inner = self.inner();
        inner.missing = inner.missing.saturating_sub(1);
        if inner.missing > 0 {
            return;
        }
        match &self.on_ready {
            None => inner.settle(State::Open(LoadBegin::at(now))),
            Some(on_ready) => {
                // `on_ready` may open this gate, which takes the lock again.
                drop(inner);
                on_ready(now);
            }
        }
    }

    /// Opens the gate: the load begins.
    pub fn open(&self, begin: LoadBegin) {
        self.inner().settle(State::Open(begin));
    }

    /// Cancels the load for all workers. Has no effect if it has begun.
    pub fn give_up(&self) {
        self.inner().settle(State::GivenUp);
    }

    /// Waits for the gate, and returns when the load begins. None: there is no load.
    pub async fn wait(&self) -> Option<LoadBegin> {
        std::future::poll_fn(|cx| {
            let mut inner = self.inner();
            match inner.state {
                State::Open(begin) => return Poll::Ready(Some(begin)),
                State::GivenUp => return Poll::Ready(None),
                State::Shut => inner.wakers.push(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }
}

impl Inner {
    /// Sets the final state; later calls have no effect.
    fn settle(&mut self, state: State) {
        if self.state == State::Shut {
            self.state = state;
            self.wakers.drain(..).for_each(Waker::wake);
        }
    }
}
