//! Time: the one place where the clock is read, and waiting for an instant with the clock's own precision.
//!
//! [`Time`] is one worker's clock and its timers. The real one reads the monotonic clock and waits with one `timerfd`
//! (elsewhere: the runtime's timers, a millisecond coarse), which is set when the runtime has nothing left to run. The fake one stands still while anything can run, and leaps
//! to the next timer when nothing can: an hour passes in milliseconds, and every instant is exact.
//!
//! Timers are lazy: one that is set later than before costs a store, so every request can have a timeout.
//!
//! Out of scope: a source of wall-clock time, but for [`unix_seconds`], which stamps the beginning of a run.
#![allow(clippy::disallowed_methods)] // the one place

mod alarm;
mod coalesce;
mod spin;
mod timers;

use crate::race::{First, race};
use alarm::Alarm;
use brunt_model::{Clock, Tick};
use brunt_wire::Timer;
pub use coalesce::Rests;
use coalesce::{Coalescer, REST};
use rustix::time::{ClockId, clock_gettime};
use spin::Spinner;
use std::cell::{Cell, OnceCell, RefCell};
use std::io;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
pub use timers::Sleep;
use timers::Timers;
use tokio::runtime::{LocalOptions, LocalRuntime};

/// How long a task that a timer woke waits at most for tasks that have already yielded once.
const LONGEST_WAIT: Duration = Duration::from_millis(1);

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

/// The real one, for whoever stamps something beside the workers; the fake one stands still for all but its worker.
impl Clock for Epoch {
    fn now(&self) -> Tick {
        match self {
            Self::Real(began) => Tick(monotonic().saturating_sub(*began)),
            Self::Fake => Tick::ZERO,
        }
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
    /// When timers were fired last.
    fired: Cell<Tick>,
    timers: Timers,
    alarm: OnceCell<Alarm>,
    spinner: Spinner,
    coalescer: Coalescer,
    /// Tasks that a timer woke amid long work have not run yet.
    must_yield: Cell<bool>,
    /// When the first of them was woken.
    woken: Cell<Tick>,
    /// Some task had long work since the alarm rang last.
    long_work: Cell<bool>,
    /// Somebody wants to know the idle time.
    counts_idle: Cell<bool>,
    /// Nanoseconds in which nothing could run.
    idle: Cell<u64>,
    parked: Cell<Tick>,
    /// What stands for tick 0 in libraries that want an instant. It need not be that of the epoch: they only compare.
    base: OnceCell<Instant>,
}

thread_local! {
    /// The clock of this thread's runtime, which moves when the runtime parks.
    static ATTENDED: RefCell<Option<Time>> = const { RefCell::new(None) };
}

/// A runtime for one worker, on this thread. Whenever it has nothing to run it lets the clock of [`Time::attend`] set
/// its alarm, or leap; and whenever it wakes, fire the timers that are due.
///
/// # Errors
///
/// If the system grants no event loop.
pub fn runtime() -> io::Result<LocalRuntime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.on_thread_park(|| ATTENDED.with_borrow(|time| time.iter().for_each(Time::before_park)));
    builder.on_thread_unpark(|| ATTENDED.with_borrow(|time| time.iter().for_each(Time::after_unpark)));
    builder.enable_io();
    #[cfg(not(all(target_os = "linux", not(brunt_portable))))]
    builder.enable_time();
    builder.build_local(LocalOptions::default())
}

impl Time {
    /// The clock of one worker. It must be [attended](Self::attend) to before anybody waits.
    pub fn new(epoch: Epoch) -> Self {
        Self(Rc::new(Inner {
            epoch,
            fake_now: Cell::new(Tick::ZERO),
            fired: Cell::new(Tick::ZERO),
            timers: Timers::default(),
            alarm: OnceCell::new(),
            spinner: Spinner::default(),
            coalescer: Coalescer::default(),
            must_yield: Cell::new(false),
            woken: Cell::new(Tick::ZERO),
            long_work: Cell::new(false),
            counts_idle: Cell::new(false),
            idle: Cell::new(0),
            parked: Cell::new(Tick::ZERO),
            base: OnceCell::new(),
        }))
    }

    /// Makes this the clock of the runtime that this thread is in, until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// If the system grants no timer.
    pub fn attend(&self) -> io::Result<Attended> {
        if let Epoch::Real(epoch) = self.0.epoch {
            let _ = self.0.alarm.set(Alarm::new(epoch)?);
        }
        ATTENDED.set(Some(self.clone()));
        Ok(Attended)
    }

    /// Waits for something no longer than this; None: it took longer, and is dropped.
    pub async fn within<F: Future>(&self, limit: Duration, what: F) -> Option<F::Output> {
        match race(what, self.sleep_until(self.now() + limit)).await {
            First::A(done) => Some(done),
            First::B(()) => None,
        }
    }

    /// Nothing can run: set the alarm for the next timer, once, whatever was set and unset meanwhile.
    fn before_park(&self) {
        if self.0.coalescer.wants_rest(|| self.now()) {
            self.rest();
        }
        if self.0.counts_idle.get() {
            self.0.parked.set(self.now());
        }
        self.ring();
        match (self.0.alarm.get(), self.0.timers.earliest()) {
            (Some(alarm), Some(due)) => {
                if let Some(due) = self.before_spin(due) {
                    alarm.set(due);
                }
            }
            (None, Some(_)) => self.leap(),
            (_, None) => {}
        }
    }

    /// Sleeps while replies come in, unless a timer is due before it would wake.
    fn rest(&self) {
        let began = self.now();
        if self.0.timers.earliest().is_none_or(|due| due > began + REST) {
            std::thread::sleep(REST);
            self.0.coalescer.rested(Duration::from_nanos(self.now().nanos_since(began)));
        }
    }

    fn after_unpark(&self) {
        if self.0.counts_idle.get() {
            self.was_idle(self.0.parked.get(), self.now());
        }
        self.ring();
    }

    /// Fires what is due, if the alarm rang.
    fn ring(&self) {
        if self.0.alarm.get().is_some_and(Alarm::rang) && self.fire(self.now()) && self.0.long_work.take() {
            self.let_woken_run();
        }
    }

    /// Lets tasks that a timer woke run before those that have long work and were ready earlier.
    fn let_woken_run(&self) {
        if !self.0.must_yield.replace(true) {
            self.0.woken.set(self.now());
            let time = self.clone();
            // The run queue is first in, first out: this task is behind all that were woken.
            tokio::task::spawn_local(async move { time.0.must_yield.set(false) });
        }
    }

    /// Yields to the tasks that a timer woke together with this one, and to those that timers have woken since.
    pub async fn yield_to_woken(&self) {
        let mut has_yielded = false;
        std::future::poll_fn(|cx| {
            if has_yielded && !brunt_wire::Timer::must_yield(self, true) {
                return Poll::Ready(());
            }
            has_yielded = true;
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    fn fire(&self, now: Tick) -> bool {
        self.0.fired.set(now);
        self.0.timers.fire(now)
    }

    /// Fires timers that are due at `now`. A runtime that never parks has this called by whoever keeps it busy.
    #[inline]
    pub fn catch_up(&self, now: Tick) {
        if self.0.timers.earliest().is_some_and(|due| due <= now) {
            self.fire(now);
        }
    }

    /// When timers were fired last: now, or a little before, for whoever was just woken by one. Costs nothing.
    pub fn fired(&self) -> Tick {
        self.0.fired.get()
    }

    /// Leaps to the next timer that somebody waits for, if the clock is a fake one. Where nobody waits for any, it is not
    /// time that the runtime waits for, and none passes.
    fn leap(&self) {
        let (before, fired) = (self.now(), self.fired());
        while let (Epoch::Fake, Some(due)) = (self.0.epoch, self.0.timers.earliest()) {
            self.0.fake_now.set(due.max(self.now()));
            if self.fire(self.now()) {
                return;
            }
        }
        self.0.fake_now.set(before);
        self.0.fired.set(fired);
    }

    /// Lets the worker rest before it polls its sockets where that saves wake-ups; not by a fake clock.
    pub fn coalesce_replies(&self) {
        if matches!(self.0.epoch, Epoch::Real(_)) {
            self.0.coalescer.turn_on();
        }
    }

    /// How often and how long it rested.
    pub fn rests(&self) -> Rests {
        self.0.coalescer.rests()
    }

    /// A request is about to be sent.
    #[inline]
    pub fn exchange_begins(&self) {
        self.0.coalescer.exchange_begins();
    }

    /// Its reply was read, or it failed.
    #[inline]
    pub fn exchange_ended(&self) {
        self.0.coalescer.exchange_ended();
    }

    /// Counts the idle time from now on.
    pub fn count_idle(&self) {
        self.0.counts_idle.set(true);
    }

    /// Nanoseconds in which nothing could run, since they are counted.
    pub fn idle(&self) -> u64 {
        self.0.idle.get()
    }

    /// Adds idle time: the runtime was parked, or polled the sockets and found nothing.
    pub fn was_idle(&self, from: Tick, to: Tick) {
        self.0.idle.set(self.0.idle.get() + to.nanos_since(from));
    }

    /// A timer that is not set yet.
    pub fn timer(&self) -> Sleep {
        Sleep::new(Rc::clone(&self.0))
    }

    /// Wakes everybody who waits, whatever for.
    pub fn fire_all(&self) {
        self.0.timers.fire(Tick::NEVER);
        self.let_woken_run();
    }

    /// Reads the clock and fires timers that are due, for a task that was busy without doing so.
    pub fn look(&self) {
        brunt_wire::Timer::fire_due(self, self.now());
    }
}

/// This thread's clock is attended to for as long as this lives.
#[must_use]
pub struct Attended;

impl Drop for Attended {
    fn drop(&mut self) {
        ATTENDED.set(None);
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

impl Timer for Time {
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

    fn fire_due(&self, now: Tick) {
        self.0.long_work.set(true);
        if self.0.timers.earliest().is_some_and(|due| due <= now) && self.fire(now) {
            self.let_woken_run();
        }
    }

    #[inline]
    fn must_yield(&self, has_yielded: bool) -> bool {
        // Where timers fire all the time, work still proceeds.
        self.0.must_yield.get() && (!has_yielded || self.now() >= self.0.woken.get() + LONGEST_WAIT)
    }

    fn nanos_since_received(&self, received: Duration, until: Tick) -> Option<u64> {
        let Epoch::Real(_) = self.0.epoch else { return None };
        let (day, now) = (clock_gettime(ClockId::Realtime), self.now());
        let day = Duration::new(day.tv_sec as u64, day.tv_nsec as u32);
        let since = day.checked_sub(received)?.checked_sub(now - until)?;
        Some(brunt_model::time::nanos(since))
    }

    fn base(&self) -> Option<Instant> {
        Some(*self.0.base.get_or_init(Instant::now))
    }

    fn simulate_work(&self, time: Duration) {
        if let Epoch::Fake = self.0.epoch {
            self.0.fake_now.set(self.0.fake_now.get() + time);
        }
    }
}
