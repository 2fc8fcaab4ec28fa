//! Bounds how long one exchange keeps the thread while its socket stays readable or writable.
//!
//! Tasks of one worker share a thread. A body that never ends, or one that arrives as fast as it is read, would keep its
//! task running; timers, snapshots and the other connections would wait for it.

use crate::Timer;
use brunt_model::Tick;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// After so much work in one poll, the other tasks run.
const LONGEST: Duration = Duration::from_micros(100);

/// One exchange's use of the thread.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// When the first piece of work of this poll was done; zero: none was.
    began: Tick,
    is_over: bool,
    /// It yielded to woken tasks before any further work.
    has_yielded: bool,
}

impl Turn {
    /// A piece of work was done at `now`, and more may follow.
    pub fn worked(&mut self, timer: &impl Timer, now: Tick) {
        timer.fire_due(now);
        self.has_yielded = false;
        if self.began == Tick::ZERO {
            self.began = now;
        } else if now >= self.began + LONGEST {
            self.is_over = true;
        }
    }

    /// Ready where work may go on in this poll. Otherwise the task is woken again behind all that are ready.
    pub fn poll_continue(&mut self, timer: &impl Timer, cx: &mut Context<'_>) -> Poll<()> {
        let to_woken = timer.must_yield(self.has_yielded);
        if !self.is_over && !to_woken {
            return Poll::Ready(());
        }
        *self = Self { has_yielded: to_woken, ..Self::default() };
        if to_woken {
            cx.waker().wake_by_ref();
        } else {
            // This wake-up comes behind a poll of the sockets. With wake-ups at once, the runtime would poll them only every
            // 61 turns while some task always goes on.
            let _ = pin!(tokio::task::yield_now()).poll(cx);
        }
        Poll::Pending
    }

    /// The task waits for its socket: its next poll is a new turn.
    pub fn wait(&mut self) {
        self.began = Tick::ZERO;
    }
}
