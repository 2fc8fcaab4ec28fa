//! Time: the one place where the clock is read, and waiting for an instant with the clock's own precision.
//!
//! [`Time`] is one worker's clock and its timers. The real one reads the monotonic clock and waits with one `timerfd`
//! (elsewhere: the runtime's timers, a millisecond coarse). The fake one stands still while anything can run, and leaps
//! to the next timer when nothing can: an hour passes in milliseconds, and every instant is exact.
//!
//! Timers are lazy: one that is set later than before costs a store, so every request can have a timeout.
//!
//! What it is not: a source of wall-clock time, but for [`unix_seconds`], which stamps the beginning of a run.
#![allow(clippy::disallowed_methods)] // the one place

mod alarm;
mod timers;

use brunt_model::{Clock, Tick};
use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};
pub use timers::Sleep;
use timers::Timers;

/// When a run began, as all its workers see it.
#[derive(Debug, Clone, Copy)]
pub enum Epoch {
    /// This instant of the system's monotonic clock, in nanoseconds.
    Real(u64),
    /// A clock of its own for each worker, which only moves when nothing can run.
    Fake,
}

impl Epoch {
    /// Now.
    pub fn now() -> Self {
        Self::Real(monotonic())
    }
}

/// The system's monotonic clock, in nanoseconds: one read of it, and no more than that.
#[inline]
fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Seconds since 1970-01-01 UTC.
pub fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// One worker's clock and timers. Clones are the same clock.
#[derive(Clone)]
pub struct Time(Rc<Inner>);

struct Inner {
    epoch: Epoch,
    fake_now: Cell<Tick>,
    timers: Timers,
}

impl Time {
    /// The clock of one worker. Call [`drive`](Self::drive) on its runtime before anybody waits.
    pub fn new(epoch: Epoch) -> Self {
        Self(Rc::new(Inner { epoch, fake_now: Cell::new(Tick::ZERO), timers: Timers::default() }))
    }

    /// Runs for ever: wakes those whose instant has come. For the real clock only.
    pub async fn drive(self) -> io::Result<()> {
        let Epoch::Real(epoch) = self.0.epoch else { return Ok(()) };
        let alarm = Rc::new(alarm::Alarm::new(epoch)?);
        self.0.timers.attach(&alarm);
        loop {
            if let Some(due) = self.0.timers.earliest() {
                alarm.set_if_earlier(due);
            }
            alarm.rings().await?;
            self.0.timers.fire(self.now());
            // Whoever was woken sets its next timer before we set the alarm: one system call instead of two.
            timers::behind_all_others().await;
        }
    }

    /// Leaps to the next timer that somebody waits for, if the clock is a fake one. For the moment when nothing else
    /// can run.
    pub fn leap(&self) {
        while let (Epoch::Fake, Some(due)) = (self.0.epoch, self.0.timers.earliest()) {
            self.0.fake_now.set(due.max(self.now()));
            if self.0.timers.fire(self.now()) {
                return;
            }
        }
    }

    /// A timer that is not set yet.
    pub fn timer(&self) -> Sleep {
        Sleep::new(Rc::clone(&self.0))
    }

    /// Wakes everybody who waits, whatever for.
    pub fn fire_all(&self) {
        self.0.timers.fire(Tick::NEVER);
    }
}

impl Clock for Time {
    #[inline]
    fn now(&self) -> Tick {
        match self.0.epoch {
            Epoch::Real(epoch) => Tick(monotonic().saturating_sub(epoch)),
            Epoch::Fake => self.0.fake_now.get(),
        }
    }
}

impl brunt_wire::Timer for Time {
    async fn sleep_until(&self, due: Tick) {
        let sleep = self.timer();
        sleep.set(due);
        (&sleep).await;
        // Everybody may have been woken before.
        while self.now() < due {
            sleep.set(due);
            (&sleep).await;
        }
    }
}
