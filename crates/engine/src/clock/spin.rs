//! Busy-waits for the last 100 µs before an instant: the kernel's timer and the scheduler wake a
//! sleeping thread some 10 µs late.
//!
//! Out of scope: a permanent busy loop. The thread sleeps until shortly before a timer is due, and
//! also reads replies between two clock reads.

use super::WorkerClock;
use brunt_model::{Clock, Tick};
use std::cell::RefCell;
use std::task::{Poll, Waker};
use std::time::Duration;

/// Length of the busy wait: longer than a wake-up takes on an ordinary machine.
const AHEAD: Duration = Duration::from_micros(100);

/// Waker of the spinning task, if there is one and it waits.
#[derive(Default)]
pub(super) struct Spinner(RefCell<Option<Waker>>);

impl WorkerClock {
    /// Busy-waits shortly before each timer is due. It runs in a separate task, which is dropped
    /// when the run is over.
    pub async fn spin(&self) {
        loop {
            self.until_near().await;
            while let Some(due) = self.0.timers.earliest().filter(|due| self.is_near(*due)) {
                let now = self.now();
                if due <= now {
                    self.fire(now);
                }
                // Reads replies, and runs the tasks that the timer woke.
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

    /// Returns when the thread must wake, for an alarm at `due`. None: it must not sleep at all.
    pub(super) fn before_spin(&self, due: Tick) -> Option<Tick> {
        let mut spinner = self.0.spinner.0.borrow_mut();
        if spinner.is_none() {
            return Some(due);
        }
        if self.is_near(due) {
            // The spinning task keeps the thread awake until the timer fires.
            spinner.take().into_iter().for_each(Waker::wake);
            return None;
        }
        Some(Tick(due.0 - AHEAD.as_nanos() as u64))
    }
}
