//! The tasks of one population on one worker: users and connections that are active, or being opened.

use crate::clock::Sleep;
use brunt_model::{Failure, Tick};
use std::cell::{Cell, RefCell};

/// Counts the tasks of a population, and wakes the worker when the last may have ended.
pub struct ActiveTasks {
    /// Users or connections that have not ended.
    tasks: Cell<u64>,
    /// Users of a closed loop that are active, by the shape of the load.
    users: Cell<u64>,
    /// When users of a closed loop left by their scenario: from then on they are idle.
    departures: RefCell<Vec<Tick>>,
    /// No further arrivals come.
    arrivals_are_over: Cell<bool>,
    /// Connections that are still to be opened before the load.
    opening: Cell<u64>,
    /// Connections that were opened before the load.
    opened: Cell<u64>,
    /// Why the first connection that could not be opened was not.
    open_failure: RefCell<Option<String>>,
    /// Wakes the worker.
    pub bell: Sleep,
}

impl ActiveTasks {
    /// No tasks yet; `bell` wakes the worker.
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

    /// A user left for good, or a connection's task ended.
    pub fn end_task(&self) {
        self.tasks.set(self.tasks.get() - 1);
        self.end_request();
    }

    /// A request ended: where the end is near, the worker looks whether it was the last.
    pub fn end_request(&self) {
        if self.tasks.get() == 0 || self.arrivals_are_over.get() {
            self.bell.fire();
        }
    }

    /// Whether no task is left.
    pub fn are_over(&self) -> bool {
        self.tasks.get() == 0
    }

    /// No further arrivals come.
    pub fn end_arrivals(&self) {
        self.arrivals_are_over.set(true);
    }

    /// Whether no further arrivals come.
    pub fn arrivals_are_over(&self) -> bool {
        self.arrivals_are_over.get()
    }

    /// Counts a user as active, or no longer.
    pub fn change_users(&self, is_active: bool) {
        let users = self.users.get();
        self.users.set(if is_active { users + 1 } else { users - 1 });
    }

    /// Users of a closed loop that are active.
    pub fn users(&self) -> u64 {
        self.users.get()
    }

    /// Notes when a user of a closed loop left by its scenario.
    pub fn depart(&self, at: Tick) {
        self.departures.borrow_mut().push(at);
    }

    /// When users left by their scenario, since the last call.
    pub fn take_departures(&self) -> Vec<Tick> {
        self.departures.take()
    }

    /// Sets how many tasks open their connections, or begin without one, before the load.
    pub fn begin_opening(&self, tasks: u64) {
        self.opening.set(tasks);
    }

    /// A task is ready for the load; whether it has opened a connection.
    pub fn end_opening(&self, has_opened: bool) {
        self.opened.set(self.opened.get() + u64::from(has_opened));
        self.opening.set(self.opening.get() - 1);
        if self.opening.get() == 0 {
            self.bell.fire();
        }
    }

    /// Whether tasks are still to become ready for the load.
    pub fn are_opening(&self) -> bool {
        self.opening.get() > 0
    }

    /// Notes why a connection could not be opened. The first reason is kept.
    pub fn fail_opening(&self, failure: Failure, note: Option<&str>) {
        let mut first = self.open_failure.borrow_mut();
        first.get_or_insert_with(|| note.map_or_else(|| failure.row().meaning.to_owned(), str::to_owned));
    }

    /// Why no connection was opened before the load; None where one was, or none was to be.
    pub fn open_failure(&self) -> Option<String> {
        self.open_failure.borrow().clone().filter(|_| self.opened.get() == 0)
    }
}
