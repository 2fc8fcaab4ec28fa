//! The clock of one population on one worker: when its load begins, is measured and ends, and when the rest is cut off.

use crate::clock::{Sleep, Time};
use crate::recorder::Cohort;
use brunt_model::{Clock, Phase, Stop, Tick};
use std::cell::Cell;
use std::time::Duration;

/// The worker's clock, and the instants at which the phases of a population's run begin and end.
pub struct RunClock {
    /// The worker's clock.
    pub time: Time,
    /// When the load begins; `NEVER` before the gate has opened.
    begins: Cell<Tick>,
    /// When the measured time begins.
    measured_from: Cell<Tick>,
    /// When no new request is begun any more.
    ends: Cell<Tick>,
    /// When requests in flight were cut off; None: they were not.
    cut: Cell<Option<Tick>>,
}

/// When the measured time of a population begins, when its load ends, and when the rest is cut off.
pub type PhaseBorders = [Tick; 3];

/// The borders of a population, from the begin of its measured time.
pub fn phase_borders(stop: &Stop, measured_from: Tick) -> PhaseBorders {
    let ends = stop.duration.map_or(Tick::NEVER, |duration| measured_from + duration);
    [measured_from, ends, ends + stop.grace]
}

impl RunClock {
    /// The clock of a load that has not begun.
    pub fn new(time: Time) -> Self {
        Self {
            time,
            begins: Cell::new(Tick::NEVER),
            measured_from: Cell::new(Tick::NEVER),
            ends: Cell::new(Tick::NEVER),
            cut: Cell::new(None),
        }
    }

    /// The time.
    #[inline]
    pub fn now(&self) -> Tick {
        self.time.now()
    }

    /// When the load begins; `NEVER` before that is known.
    #[inline]
    pub fn begins(&self) -> Tick {
        self.begins.get()
    }

    /// When the measured time begins.
    #[inline]
    pub fn measured_from(&self) -> Tick {
        self.measured_from.get()
    }

    /// When no new request is begun any more.
    #[inline]
    pub fn ends(&self) -> Tick {
        self.ends.get()
    }

    /// When requests in flight were cut off; None: they were not.
    #[inline]
    pub fn cut(&self) -> Option<Tick> {
        self.cut.get()
    }

    /// Whether requests in flight were cut off.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.cut.get().is_some()
    }

    /// The part of the run to which a request belongs.
    #[inline]
    pub fn cohort(&self, planned: Tick) -> Cohort {
        if planned >= self.measured_from.get() { Cohort::Measured } else { Cohort::Warmup }
    }

    /// The phase of the run at an instant after the begin of the load.
    pub fn phase_at(&self, at: Tick) -> Phase {
        if at >= self.ends.get() {
            Phase::Grace
        } else if at >= self.measured_from.get() {
            Phase::Measure
        } else {
            Phase::Warmup
        }
    }

    /// The borders of the phases, with a grace that may have been shortened.
    pub fn borders(&self, grace: Duration) -> PhaseBorders {
        [self.measured_from.get(), self.ends.get(), self.ends.get() + grace]
    }

    /// Sets when the load begins.
    pub fn begin(&self, begins: Tick) {
        self.begins.set(begins);
    }

    /// Sets when the measured time begins, and the load ends.
    pub fn measure(&self, from: Tick, ends: Tick) {
        self.measured_from.set(from);
        self.ends.set(ends);
    }

    /// Ends the load earlier than planned, and wakes all waiting tasks.
    pub fn end_early(&self, ends: Tick) {
        self.ends.set(ends);
        self.time.fire_all();
    }

    /// Cuts off requests in flight; the caller wakes those that wait.
    pub fn cut_off(&self) {
        self.cut.set(Some(self.now()));
    }

    /// True if a wait until `due` is over. All timers of a thread fire when the load of any of its populations ends early; the other
    /// populations continue to wait.
    pub fn is_wait_over(&self, due: Tick) -> bool {
        self.time.fired() >= due || self.ends.get() <= due || self.is_cut()
    }

    /// Waits until `due`, or until the load of the population ends. A task that was just woken and is late already does not wait.
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
