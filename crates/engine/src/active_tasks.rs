//! The tasks of one population on one worker: users and connections that are active, or being opened.

use crate::clock::Sleep;
use brunt_model::{Failure, Text, Tick};
use std::cell::{Cell, RefCell};

/// Counts the tasks of a population, and wakes the worker when the last may have ended.
pub struct ActiveTasks {
    tasks: Cell<u64>,
    /// Users of a closed loop that are active, by the shape of the load.
    users: Cell<u64>,
    /// When users of a closed loop were ended by their scenario; they are idle afterwards.
    departures: RefCell<Vec<Tick>>,
    /// True when no further arrivals come.
    arrivals_are_over: Cell<bool>,
    /// Connections that the worker still has to open before the load.
    opening: Cell<u64>,
    /// Connections that the worker opened before the load.
    opened: Cell<u64>,
    /// Reason of the first connection failure before the load.
    open_failure: RefCell<Option<Text>>,
    /// Wakes the worker.
    pub bell: Sleep,
}

impl ActiveTasks {
    /// Creates the counters without tasks; `bell` wakes the worker.
    pub fn new(bell: Sleep) -> Self {
        Self {
            tasks: Cell::new(0),
            users: Cell::new(0),
            departures: RefCell::default(),
            arrivals_are_over: Cell::new(false),
            opening: Cell::new(0),
            opened: Cell::new(0),
            open_failure: RefCell::default(),
            bell,
        }
    }

    /// Starts a task.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.tasks.set(self.tasks.get() + 1);
        tokio::task::spawn_local(task);
    }

    /// Counts a task as ended: a user that left for good, or a connection.
    pub fn end_task(&self) {
        self.tasks.set(self.tasks.get() - 1);
        self.end_request();
    }

    /// Wakes the worker if this request may have been the last one.
    pub fn end_request(&self) {
        // Not for every request: each wake-up of the worker costs a pass of its loop.
        if self.tasks.get() == 0 || self.arrivals_are_over.get() {
            self.bell.fire();
        }
    }

    /// True if no task is left.
    pub fn are_over(&self) -> bool {
        self.tasks.get() == 0
    }

    /// Notes that no further arrivals come.
    pub fn end_arrivals(&self) {
        self.arrivals_are_over.set(true);
    }

    /// True if no further arrivals come.
    pub fn arrivals_are_over(&self) -> bool {
        self.arrivals_are_over.get()
    }

    /// Counts a user as active, or as no longer active.
    pub fn change_users(&self, is_active: bool) {
        let users = self.users.get();
        self.users.set(if is_active { users + 1 } else { users - 1 });
    }

    /// Number of active users of a closed loop.
    pub fn users(&self) -> u64 {
        self.users.get()
    }

    /// Notes when a user of a closed loop ended by its scenario.
    pub fn depart(&self, ended_at: Tick) {
        self.departures.borrow_mut().push(ended_at);
    }

    /// Returns when users ended by their scenario, since the last call.
    pub fn take_departures(&self) -> Vec<Tick> {
        self.departures.take()
    }

    /// Sets how many tasks must be ready before the load, with or without a connection.
    pub fn begin_opening(&self, tasks: u64) {
        self.opening.set(tasks);
    }

    /// Notes that a task is ready for the load, and whether it opened a connection.
    pub fn end_opening(&self, has_opened: bool) {
        self.opened.set(self.opened.get() + u64::from(has_opened));
        self.opening.set(self.opening.get() - 1);
        if self.opening.get() == 0 {
            self.bell.fire();
        }
    }

    /// True while some task is not ready for the load.
    pub fn are_opening(&self) -> bool {
        self.opening.get() > 0
    }

    /// Notes why a connection could not be opened; only the first reason is stored.
    pub fn fail_opening(&self, failure: Failure, note: Option<&Text>) {
        let mut first = self.open_failure.borrow_mut();
        first.get_or_insert_with(|| note.unwrap_or(&failure.row().meaning).clone());
    }

    /// Returns why no connection could be opened before the load. None if one was opened, or
    /// none had to be.
    pub fn open_failure(&self) -> Option<Text> {
        self.open_failure.borrow().clone().filter(|_| self.opened.get() == 0)
    }
}
