//! The last stretch before an instant, spent awake: a sleeping thread is woken some tens of microseconds late, by the
//! kernel's timer and by the way back onto a core.
//!
//! Out of scope: a busy loop. The thread sleeps until shortly before a timer is due, and even then takes in replies
//! between two looks at the clock.

use super::Time;
use brunt_model::{Clock, Tick};
use std::cell::RefCell;
use std::task::{Poll, Waker};
use std::time::Duration;

/// How long before an instant the thread is awake: more than waking takes on an ordinary machine.
const AHEAD: Duration = Duration::from_micros(100);

/// The task that spins, where one was asked for and it is waiting.
#[derive(Default)]
pub(super) struct Spinner(RefCell<Option<Waker>>);

impl Time {
    /// Spends the last stretch before each instant awake; for a task of its own, that is dropped when the run is over.
    pub async fn spin(&self) {
        loop {
            self.until_near().await;
            while let Some(due) = self.0.timers.earliest().filter(|due| self.is_near(*due)) {
                let now = self.now();
                if due <= now {
                    self.fire(now);
                }
                // Replies are taken in, and whoever was woken runs.
                tokio::task::yield_now().await;
            }
        }
    }

    fn is_near(&self, due: Tick) -> bool {
        due <= self.now() + AHEAD
    }

    async fn until_near(&self) {
        std::future::poll_fn(|cx| {
            if self.0.timers.earliest().is_some_and(|due| self.is_near(due)) {
                return Poll::Ready(());
            }
            *self.0.spinner.0.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Before a sleep for an alarm at `due`: when the thread is to wake instead; None where it must not sleep at all.
    pub(super) fn before_spin(&self, due: Tick) -> Option<Tick> {
        let mut spinner = self.0.spinner.0.borrow_mut();
        if spinner.is_none() {
            return Some(due);
        }
        if self.is_near(due) {
            spinner.take().into_iter().for_each(Waker::wake);
            return None;
        }
        Some(Tick(due.0 - AHEAD.as_nanos() as u64))
    }
}
