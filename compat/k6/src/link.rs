//! Passes steps from a script to the engine, and replies back. The script runs on a stack of its own, which is
//! left at each step and entered again when the step is done.

use crate::exchange::{Hop, ReplyParts, RequestSpec};
use brunt_engine::UserStep;
use brunt_wire::Prepared;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

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

/// A request between its step and its reply.
pub struct RequestInFlight {
    /// What the script asked for.
    pub spec: RequestSpec,
    /// The request of the step.
    pub first: Rc<Prepared>,
    /// The request that is in flight, or was last: the target of a redirect, or the first one.
    pub last: Rc<Prepared>,
    /// The request before it.
    pub before: Rc<Prepared>,
    /// Figures of all requests of the chain.
    pub hops: Vec<Hop>,
    /// The last reply; None without a complete one.
    pub reply: Option<ReplyParts>,
}

impl RequestInFlight {
    /// Creates a request that is not yet sent.
    pub fn new(spec: RequestSpec, first: Rc<Prepared>) -> Self {
        Self {
            spec,
            last: Rc::clone(&first),
            before: Rc::clone(&first),
            first,
            hops: Vec::new(),
            reply: None,
        }
    }
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
        let is_action = !matches!(
            step,
            UserStep::Done | UserStep::BeginTransaction(..) | UserStep::EndTransaction
        );
        self.has_acted.set(self.has_acted.get() || is_action);
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
        let is = |own: &Rc<Prepared>| std::ptr::eq(&raw const **own, prepared);
        requests
            .iter_mut()
            .find(|request| is(&request.first) || is(&request.last) || is(&request.before))
            .map(change)
    }
}
