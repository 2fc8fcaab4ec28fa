//! Passes steps from a script to the engine, and replies back. Each script has a separate stack, which it
//! leaves with each step, and enters again after the step.

use crate::exchange::RequestInFlight;
use brunt_engine::UserStep;
use brunt_wire::Prepared;
use std::cell::{Cell, RefCell};

/// The place where script and engine meet. One at a time runs, so no borrow overlaps another.
#[derive(Default)]
pub struct Link {
    step: RefCell<Option<UserStep>>,
    requests: RefCell<Vec<RequestInFlight>>,
    /// True if the script shall end: the run is over.
    is_over: Cell<bool>,
    /// True if the iteration has performed a step.
    pub has_acted: Cell<bool>,
}

impl Link {
    /// Gives a step to the engine, and returns when it is done. Must be called on the script's stack.
    ///
    /// # Errors
    ///
    /// The run is over.
    pub fn suspend(&self, step: UserStep) -> Result<(), ()> {
        if self.is_over.get() {
            return Err(());
        }
        // A group without a request is no action of the user.
        let is_action = !matches!(
            step,
            UserStep::Done | UserStep::BeginTransaction(..) | UserStep::EndTransaction
        );
        self.has_acted.set(self.has_acted.get() || is_action);
        // The engine takes it after the stack is left.
        self.step.replace(Some(step));
        self.wait()
    }

    /// Leaves the script's stack, and returns when it is entered again.
    ///
    /// # Errors
    ///
    /// The run is over.
    pub fn wait(&self) -> Result<(), ()> {
        generator::co_yield_with(());
        if self.is_over.get() { Err(()) } else { Ok(()) }
    }

    /// Takes the step that the script has given.
    pub fn take_step(&self) -> Option<UserStep> {
        self.step.take()
    }

    /// Ends the script at its present step.
    pub fn end(&self) {
        self.is_over.set(true);
    }

    /// True if the script shall end.
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Notes the requests of the next step.
    pub fn begin(&self, requests: Vec<RequestInFlight>) {
        self.requests.replace(requests);
    }

    /// Takes the requests of the last step.
    pub fn take(&self) -> Vec<RequestInFlight> {
        self.requests.take()
    }

    /// Calls a function with the request in flight that has sent `prepared`.
    pub fn with<T>(
        &self,
        prepared: &Prepared,
        change: impl FnOnce(&mut RequestInFlight) -> T,
    ) -> Option<T> {
        let mut requests = self.requests.borrow_mut();
        // The requests of a batch may be equal, so only their identity tells them apart.
        let own = requests.iter_mut().find(|request| {
            [&request.first, &request.last, &request.before]
                .into_iter()
                .any(|one| std::ptr::eq(&raw const **one, prepared))
        });
        own.map(change)
    }
}
