//! Reads the clock, and waits for instants with the clock's own precision.
//!
//! [`WorkerClock`] is one worker's clock and its timers. The real one reads the monotonic clock and waits
//! with one `timerfd`, which is set when the runtime has nothing left to run. On other systems it
//! uses the runtime's timers, with a resolution of 1 ms. The fake one does not advance while any
//! task can run. When none can, it jumps to the next timer: an hour passes in milliseconds, and
//! every instant is exact.
//!
//! Timers are lazy: setting one to a later instant costs one store, so every request
//! can have a timeout.
//!
//! Out of scope: wall-clock time, except [`unix_seconds`], which stamps the beginning of a run.
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

/// Maximum time for which a task that a timer woke waits for tasks that have already yielded once.
const MAX_YIELD_DELAY: Duration = Duration::from_millis(1);

/// Beginning of a run, the same for all its workers.
#[derive(Debug, Clone, Copy)]
pub enum RunEpoch {
    /// An instant of the system's monotonic clock, in nanoseconds.
    Real(u64),
    /// A separate clock for each worker, which advances only when nothing can run.
    Fake,
}

impl RunEpoch {
    /// Returns the current instant of the real clock.
    pub fn now() -> Self {
        Self::Real(monotonic())
    }

    /// Returns the instant on the system's monotonic clock, in nanoseconds; 0 for the fake clock.
    pub fn nanos(self) -> u64 {
        match self {
            Self::Real(nanos) => nanos,
            Self::Fake => 0,
        }
    }

    /// Returns the instant of the real clock at this wall-clock time, in seconds since 1970-01-01 UTC. As exact as
    /// the wall clock has been since.
    pub fn at_unix_seconds(seconds: f64) -> Self {
        let age = (unix_seconds() - seconds).max(0.0);
        Self::Real(monotonic().saturating_sub((age * 1e9) as u64))
    }
}

/// For code that stamps events outside the workers. The fake clock advances only for its worker.
impl Clock for RunEpoch {
    fn now(&self) -> Tick {
        match self {
            Self::Real(began) => Tick(monotonic().saturating_sub(*began)),
            Self::Fake => Tick::ZERO,
        }
    }
}

/// Reads the system's monotonic clock, in nanoseconds. It does nothing else, because it is
/// read for every request.
#[inline]
fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Seconds since 1970-01-01 UTC.
pub fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// The clock and the timers of one worker. Clones are the same clock.
#[derive(Clone)]
pub struct WorkerClock(Rc<Inner>);

struct Inner {
    epoch: RunEpoch,
    fake_now: Cell<Tick>,
    /// When timers fired last.
    fired: Cell<Tick>,
    timers: Timers,
    alarm: OnceCell<Alarm>,
    spinner: Spinner,
    coalescer: Coalescer,
    /// True while tasks that a timer woke during long work have not run yet.
    must_yield: Cell<bool>,
    /// When the first of those tasks was woken.
    woken: Cell<Tick>,
    /// True if some task had long work since the alarm rang last.
    long_work: Cell<bool>,
    /// True if the idle time is needed.
    counts_idle: Cell<bool>,
    /// Nanoseconds in which no task could run.
    idle: Cell<u64>,
    parked: Cell<Tick>,
    /// The instant of tick 0 for libraries that need an `Instant`. It may differ from the epoch,
    /// because they only compare.
    base: OnceCell<Instant>,
}

thread_local! {
    /// The clock of this thread's runtime, which advances when the runtime parks.
    static RUNTIME_CLOCK: RefCell<Option<WorkerClock>> = const { RefCell::new(None) };
}

/// Number of tasks that run between two polls of the sockets while tasks are ready: a turn.
const TURN_TASKS: u32 = 61;

/// Maximum number of sockets that a poll reports while tasks are ready. It is below [`TURN_TASKS`],
/// so the queue of ready tasks gets shorter in each turn, and the kernel keeps the other events. A
/// task that a timer wakes then waits for few others, instead of those of all sockets with data.
const TURN_EVENTS: usize = 48;

/// Maximum number of sockets that a poll reports after the worker was idle.
const IDLE_EVENTS: usize = 256;

/// Creates a runtime for one worker, on this thread. Before it parks, the clock of [`WorkerClock::install`]
/// sets its alarm, or the fake clock jumps. When it wakes, the clock fires the due timers.
///
/// # Errors
///
/// If the system grants no event loop.
pub fn runtime() -> io::Result<LocalRuntime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.on_thread_park(|| {
        RUNTIME_CLOCK.with_borrow(|time| time.iter().for_each(WorkerClock::before_park));
    });
    builder.on_thread_unpark(|| {
        RUNTIME_CLOCK.with_borrow(|time| time.iter().for_each(WorkerClock::after_unpark));
    });
    builder.enable_io();
    builder.event_interval(TURN_TASKS);
    builder.max_io_events_per_tick(IDLE_EVENTS);
    builder.max_io_events_per_busy_tick(TURN_EVENTS);
    // On Linux the `timerfd` replaces tokio's timers, which have a resolution of 1 ms.
    #[cfg(not(all(target_os = "linux", not(brunt_portable))))]
    builder.enable_time();
    builder.build_local(LocalOptions::default())
}

impl WorkerClock {
    /// Creates the clock of one worker. [`install`](Self::install) must be called
    /// before any task waits.
    pub fn new(epoch: RunEpoch) -> Self {
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

    /// Makes this the clock of the runtime of this thread, until the returned guard is dropped.
    ///
    /// # Errors
    ///
    /// If the system grants no timer.
    pub fn install(&self) -> io::Result<RuntimeHookGuard> {
        if let RunEpoch::Real(epoch) = self.0.epoch {
            let _ = self.0.alarm.set(Alarm::new(epoch)?);
        }
        RUNTIME_CLOCK.set(Some(self.clone()));
        Ok(RuntimeHookGuard)
    }

    /// Waits for `work` at most for `limit`. None: the limit passed, and `work` was dropped.
    pub async fn within<F: Future>(&self, limit: Duration, work: F) -> Option<F::Output> {
        match race(work, self.sleep_until(self.now() + limit)).await {
            First::A(done) => Some(done),
            First::B(()) => None,
        }
    }

    /// Sets the alarm for the next timer before the runtime parks: once, however often
    /// timers were set meanwhile.
    fn before_park(&self) {
        if self.0.coalescer.wants_rest(|| self.now()) {
            self.rest();
        }
        if self.0.counts_idle.get() {
            self.0.parked.set(self.now());
        }
        self.fire_if_rung();
        match (self.0.alarm.get(), self.0.timers.earliest()) {
            (Some(alarm), Some(due)) => {
                if let Some(due) = self.before_spin(due) {
                    alarm.set(due);
                }
            }
            (None, Some(_)) => self.jump(),
            (_, None) => {}
        }
    }

    /// Sleeps while replies arrive, unless a timer is due before it would wake.
    fn rest(&self) {
        let began = self.now();
        // A due timer must not wait for the rest.
        if self.0.timers.earliest().is_none_or(|due| due > began + REST) {
            std::thread::sleep(REST);
            self.0.coalescer.record_rest(Duration::from_nanos(self.now().nanos_since(began)));
        }
    }

    fn after_unpark(&self) {
        if self.0.counts_idle.get() {
            self.was_idle(self.0.parked.get(), self.now());
        }
        self.fire_if_rung();
    }

    /// Fires the due timers if the alarm rang.
    fn fire_if_rung(&self) {
        if self.0.alarm.get().is_some_and(Alarm::take_ring)
            && self.fire(self.now())
            && self.0.long_work.take()
        {
            self.run_woken_first();
        }
    }

    /// Runs the tasks that a timer woke before ready tasks with long work.
    fn run_woken_first(&self) {
        if !self.0.must_yield.replace(true) {
            self.0.woken.set(self.now());
            let time = self.clone();
            // The run queue is first in, first out: this task runs after all tasks that were woken.
            tokio::task::spawn_local(async move { time.0.must_yield.set(false) });
        }
    }

    /// Yields to the tasks that a timer woke together with this one, and to those that
    /// timers have woken since.
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

    /// Fires the timers that are due at `now`. A task that keeps the runtime
    /// from parking calls this.
    #[inline]
    pub fn catch_up(&self, now: Tick) {
        if self.0.timers.earliest().is_some_and(|due| due <= now) {
            self.fire(now);
        }
    }

    /// Returns when timers fired last: for a task that a timer just woke, now or slightly earlier.
    /// Costs no clock read.
    pub fn fired(&self) -> Tick {
        self.0.fired.get()
    }

    /// Advances a fake clock to the next timer that a task waits for. If no task waits for a timer,
    /// the runtime waits for something else, and no time passes.
    fn jump(&self) {
        let before = self.now();
        let fired = self.fired();
        while let (RunEpoch::Fake, Some(due)) = (self.0.epoch, self.0.timers.earliest()) {
            self.0.fake_now.set(due.max(self.now()));
            if self.fire(self.now()) {
                return;
            }
        }
        // No task waited for these timers, so no time passes.
        self.0.fake_now.set(before);
        self.0.fired.set(fired);
    }

    /// Lets the worker rest before it polls its sockets if that saves wake-ups. A
    /// fake clock never rests.
    pub fn coalesce_replies(&self) {
        if matches!(self.0.epoch, RunEpoch::Real(_)) {
            self.0.coalescer.turn_on();
        }
    }

    /// Returns the number and total length of the rests.
    pub fn rests(&self) -> Rests {
        self.0.coalescer.rests()
    }

    /// Notes that a request is about to be sent.
    #[inline]
    pub fn exchange_begins(&self) {
        self.0.coalescer.exchange_begins();
    }

    /// Notes that a reply was read, or that its request failed.
    #[inline]
    pub fn exchange_ended(&self) {
        self.0.coalescer.exchange_ended();
    }

    /// Begins to count idle time.
    pub fn count_idle(&self) {
        self.0.counts_idle.set(true);
    }

    /// Nanoseconds in which nothing could run, since counting began.
    pub fn idle(&self) -> u64 {
        self.0.idle.get()
    }

    /// Adds idle time: the runtime was parked, or its poll of the sockets found nothing.
    pub fn was_idle(&self, from: Tick, to: Tick) {
        self.0.idle.set(self.0.idle.get() + to.nanos_since(from));
    }

    /// Creates a timer that is not set.
    pub fn timer(&self) -> Sleep {
        Sleep::new(Rc::clone(&self.0))
    }

    /// Wakes every task that waits for a timer, whatever its instant.
    pub fn fire_all(&self) {
        self.0.timers.fire(Tick::NEVER);
        self.run_woken_first();
    }

    /// Reads the clock and fires due timers, for a task that was busy for long.
    pub fn fire_due_now(&self) {
        brunt_wire::Timer::fire_due(self, self.now());
    }
}

/// Keeps this thread's clock connected to its runtime until it is dropped.
#[must_use]
pub struct RuntimeHookGuard;

impl Drop for RuntimeHookGuard {
    fn drop(&mut self) {
        RUNTIME_CLOCK.set(None);
    }
}

impl Clock for WorkerClock {
    #[inline]
    fn now(&self) -> Tick {
        match self.0.epoch {
            RunEpoch::Real(epoch) => Tick(monotonic().saturating_sub(epoch)),
            RunEpoch::Fake => self.0.fake_now.get(),
        }
    }
}

impl Timer for WorkerClock {
    async fn sleep_until(&self, due: Tick) {
        let sleep = self.timer();
        sleep.set(due);
        (&sleep).await;
        // `fire_all` may have woken this task early.
        while self.now() < due {
            sleep.set(due);
            (&sleep).await;
        }
    }

    fn fire_due(&self, now: Tick) {
        // Only tasks with long work call this function.
        self.0.long_work.set(true);
        if self.0.timers.earliest().is_some_and(|due| due <= now) && self.fire(now) {
            self.run_woken_first();
        }
    }

    #[inline]
    fn must_yield(&self, has_yielded: bool) -> bool {
        // Long work also proceeds if timers fire all the time.
        self.0.must_yield.get()
            && (!has_yielded || self.now() >= self.0.woken.get() + MAX_YIELD_DELAY)
    }

    fn nanos_since_received(&self, received: Duration, until: Tick) -> Option<u64> {
        let RunEpoch::Real(_) = self.0.epoch else { return None };
        // The kernel stamps packets with the wall clock. `checked_sub` fails if that was set back.
        let real_time = clock_gettime(ClockId::Realtime);
        let now = self.now();
        let real_time = Duration::new(real_time.tv_sec as u64, real_time.tv_nsec as u32);
        let since = real_time.checked_sub(received)?.checked_sub(now - until)?;
        Some(brunt_model::time::nanos(since))
    }

    fn base(&self) -> Option<Instant> {
        Some(*self.0.base.get_or_init(Instant::now))
    }

    fn simulate_work(&self, time: Duration) {
        if let RunEpoch::Fake = self.0.epoch {
            self.0.fake_now.set(self.0.fake_now.get() + time);
        }
    }
}
