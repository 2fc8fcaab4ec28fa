//! Limits how long one exchange occupies the thread while its socket stays readable or writable.
//!
//! Tasks of one worker share a thread. A body that never ends, or that arrives as fast as
//! it is read, would keep its task running. Timers, snapshots and the other connections
//! would have to wait.

use crate::Timer;
use brunt_model::Tick;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Time of work in one poll after which the other tasks run.
const MAX_WORK: Duration = Duration::from_micros(100);

/// The use of the thread by one exchange.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// When the first piece of work of this poll ended. Zero if there was none.
    began: Tick,
    is_over: bool,
    /// True if it yielded to woken tasks before any further work.
    has_yielded: bool,
}

impl Turn {
    /// Records a piece of work that ended at `now`, after which more may follow.
    pub fn worked(&mut self, timer: &impl Timer, now: Tick) {
        timer.fire_due(now);
        self.has_yielded = false;
        if self.began == Tick::ZERO {
            self.began = now;
        } else if now >= self.began + MAX_WORK {
            self.is_over = true;
        }
    }

    /// Ready if work may continue in this poll. Otherwise the task is woken again, after all
    /// tasks that are ready.
    pub fn poll_continue(&mut self, timer: &impl Timer, cx: &mut Context<'_>) -> Poll<()> {
        let yields_to_woken = timer.must_yield(self.has_yielded);
        if !self.is_over && !yields_to_woken {
            return Poll::Ready(());
        }
        *self = Self { has_yielded: yields_to_woken, ..Self::default() };
        if yields_to_woken {
            cx.waker().wake_by_ref();
        } else {
            // `yield_now` wakes the task after the runtime has polled the sockets. With
            // immediate wake-ups, the runtime would poll them only every 61 turns while
            // some task is always ready.
            let _ = pin!(tokio::task::yield_now()).poll(cx);
        }
        Poll::Pending
    }

    /// Records that the task waits for its socket: its next poll is a new turn.
    pub fn wait(&mut self) {
        self.began = Tick::ZERO;
    }
}
