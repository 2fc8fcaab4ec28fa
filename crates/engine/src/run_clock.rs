//! The clock of one population on one worker: begin and end of its load and of the measured time,
//! and the cut of the rest.

use crate::clock::{Sleep, WorkerClock};
use crate::gate::LoadBegin;
use crate::recorder::Cohort;
use brunt_model::{Clock, Phase, Stop, Tick};
use std::cell::Cell;
use std::time::Duration;

/// The worker's clock, and the borders of a population's phases.
pub struct RunClock {
    pub time: WorkerClock,
    /// Begin of the load; `NEVER` before the gate opens.
    begins: Cell<Tick>,
    /// Begin of this process's share of the load.
    from: Cell<Tick>,
    /// Begin of the measured time.
    measured_from: Cell<Tick>,
    /// End of the load: no request is begun later.
    ends: Cell<Tick>,
    /// When requests in flight were cut off. None: they were not.
    cut: Cell<Option<Tick>>,
}

/// Begin of a population's measured time, end of its load, and cut of the rest.
pub type PhaseBorders = [Tick; 3];

/// Returns the borders of a population, from the begin of its measured time.
pub fn phase_borders(stop: &Stop, measured_from: Tick) -> PhaseBorders {
    let ends = stop.duration.map_or(Tick::NEVER, |duration| measured_from + duration);
    [measured_from, ends, ends + stop.grace]
}

impl RunClock {
    /// Creates the clock of a load that has not begun.
    pub fn new(time: WorkerClock) -> Self {
        Self {
            time,
            begins: Cell::new(Tick::NEVER),
            from: Cell::new(Tick::NEVER),
            measured_from: Cell::new(Tick::NEVER),
            ends: Cell::new(Tick::NEVER),
            cut: Cell::new(None),
        }
    }

    #[inline]
    pub fn now(&self) -> Tick {
        self.time.now()
    }

    /// Returns the begin of the load; `NEVER` before it is known.
    #[inline]
    pub fn begins(&self) -> Tick {
        self.begins.get()
    }

    /// Returns the begin of this process's share of the load: later than that of the load if the process takes
    /// the place of a lost one.
    #[inline]
    pub fn from(&self) -> Tick {
        self.from.get()
    }

    /// Returns the begin of the measured time.
    #[inline]
    pub fn measured_from(&self) -> Tick {
        self.measured_from.get()
    }

    /// Returns the end of the load: no request is begun later.
    #[inline]
    pub fn ends(&self) -> Tick {
        self.ends.get()
    }

    /// Returns when requests in flight were cut off. None: they were not.
    #[inline]
    pub fn cut(&self) -> Option<Tick> {
        self.cut.get()
    }

    /// True if requests in flight were cut off.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.cut.get().is_some()
    }

    /// Returns the part of the run to which a request belongs.
    #[inline]
    pub fn cohort(&self, planned: Tick) -> Cohort {
        if planned >= self.measured_from.get() { Cohort::Measured } else { Cohort::Warmup }
    }

    /// Returns the phase of the run at an instant after the begin of the load.
    pub fn phase_at(&self, instant: Tick) -> Phase {
        if instant >= self.ends.get() {
            Phase::Grace
        } else if instant >= self.measured_from.get() {
            Phase::Measure
        } else {
            Phase::Warmup
        }
    }

    /// Returns the borders of the phases, with a grace period that may have been shortened.
    pub fn borders(&self, grace: Duration) -> PhaseBorders {
        [self.measured_from.get(), self.ends.get(), self.ends.get() + grace]
    }

    /// Sets the begin of the load.
    pub fn begin(&self, begin: LoadBegin) {
        self.begins.set(begin.begins);
        self.from.set(begin.from);
    }

    /// Sets the begin of the measured time, and the end of the load.
    pub fn measure(&self, from: Tick, ends: Tick) {
        self.measured_from.set(from);
        self.ends.set(ends);
    }

    /// Ends the load earlier than planned, and wakes all waiting tasks.
    pub fn end_early(&self, ends: Tick) {
        self.ends.set(ends);
        self.time.fire_all();
    }

    /// Cuts off requests in flight; the caller wakes the tasks that wait.
    pub fn cut_off(&self) {
        self.cut.set(Some(self.now()));
    }

    /// True if a wait until `due` is over. All timers of a thread fire when the load of any of its
    /// populations ends early; the other populations continue to wait.
    pub fn is_wait_over(&self, due: Tick) -> bool {
        self.time.fired() >= due || self.ends.get() <= due || self.is_cut()
    }

    /// Waits until `due`, or until the load of the population ends. A task that was just woken and
    /// is already late does not wait.
    pub async fn wait_until(&self, timer: &Sleep, due: Tick) {
        if due <= self.time.fired() {
            return;
        }
        loop {
            timer.set(due);
            timer.await;
            if self.is_wait_over(due) {
                return;
            }
        }
    }
}
