//! Where workers wait for each other, so that the load begins everywhere at the same instant.
//!
//! In a run of several processes the last worker does not open it: it says so to somebody, who opens all gates.

use brunt_model::Tick;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Opens when all workers are there.
pub struct Gate {
    inner: Mutex<Inner>,
    /// Who opens it, when all are there; None: the last one does.
    keeper: Option<Keeper>,
}

/// Is told since when all are there.
pub type Keeper = Box<dyn Fn(Tick) + Send + Sync>;

#[derive(Debug)]
struct Inner {
    missing: usize,
    state: State,
    wakers: Vec<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Shut,
    Open(Tick),
    GivenUp,
}

impl Gate {
    /// A gate for so many workers.
    pub fn new(workers: usize) -> Self {
        Self { inner: Mutex::new(Inner { missing: workers, state: State::Shut, wakers: Vec::new() }), keeper: None }
    }

    /// A gate that somebody else opens, when he has heard that all are there.
    pub fn held(workers: usize, keeper: Keeper) -> Self {
        Self { keeper: Some(keeper), ..Self::new(workers) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that one more worker is ready at `now`. The last one's instant is when the load begins, unless somebody else
    /// says when.
    pub fn ready(&self, now: Tick) {
        let mut inner = self.inner();
        inner.missing = inner.missing.saturating_sub(1);
        if inner.missing > 0 {
            return;
        }
        match &self.keeper {
            None => inner.turn(State::Open(now)),
            Some(keeper) => {
                drop(inner);
                keeper(now);
            }
        }
    }

    /// The load begins at this instant.
    pub fn open(&self, at: Tick) {
        self.inner().turn(State::Open(at));
    }

    /// There will be no load: everybody goes home. Too late where it has begun.
    pub fn give_up(&self) {
        self.inner().turn(State::GivenUp);
    }

    /// Waits for the beginning; None: there is none.
    pub async fn wait(&self) -> Option<Tick> {
        std::future::poll_fn(|cx| {
            let mut inner = self.inner();
            match inner.state {
                State::Open(begins) => return Poll::Ready(Some(begins)),
                State::GivenUp => return Poll::Ready(None),
                State::Shut => inner.wakers.push(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }
}

impl Inner {
    /// Once and for all.
    fn turn(&mut self, state: State) {
        if self.state == State::Shut {
            self.state = state;
            self.wakers.drain(..).for_each(Waker::wake);
        }
    }
}
