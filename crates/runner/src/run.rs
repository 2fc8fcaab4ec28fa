//! One run: engines carry out the plan, listeners receive the events, and the bus folds them.

use crate::error::RunError;
use crate::steer::Steering;
use brunt_engine::{RunControl, RunEpoch, Sink};
use brunt_model::{Environment, Event, Plan, Run, Text, Tick, Warning};
use brunt_store::Redactor;
use std::sync::Arc;

/// Receives the events of a run, and may add events to it.
pub trait EventListener {
    /// Receives an event. All listeners receive the events in the same order.
    fn on_event(&mut self, event: &Event) {
        let _ = event;
    }

    /// Returns events to add at this instant of the run, such as readings and warnings.
    /// Called after each snapshot.
    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        let _ = at;
        Vec::new()
    }

    /// Returns events to add before the last event.
    fn end(&mut self, at: Tick) -> Vec<Event> {
        self.pending_events(at)
    }
}

/// An executor of plans: a [`RealWorld`](crate::RealWorld), with a witness or without.
pub trait PlanExecutor {
    /// Instant 0 of its events.
    fn began(&self) -> RunEpoch;

    /// Executes a plan, and passes every event to the sink.
    ///
    /// # Errors
    ///
    /// The plan cannot be carried out, or not to its end.
    fn run(
        &self,
        plan: &Plan,
        environment: Environment,
        control: &RunControl,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError>;
}

/// Message with the URL that did not reply, and the reason.
pub fn no_reply(run: &Run) -> String {
    let url = run
        .plan
        .iter()
        .flat_map(|plan| &plan.main().scenario.requests)
        .map(|request| request.url.as_str())
        .next();
    let failures = run.failure_summary();
    let error = run.finish.as_ref().and_then(|finish| finish.error.clone());
    let reason = if failures.is_empty() {
        error.unwrap_or_else(|| "no request was begun".into())
    } else {
        failures
    };
    match url {
        // The URL of an expression is known only in a run.
        Some(url) if url.contains("${") => format!("no reply from {url} ({reason})"),
        Some(url) => {
            format!("no reply from {url} ({reason}); for the cause write `brunt check {url}`")
        }
        None => format!("no reply from the server ({reason})"),
    }
}

/// Passes each event to all listeners and the steering, and folds it.
pub(crate) struct EventBus<'a> {
    pub(crate) listeners: Vec<&'a mut dyn EventListener>,
    pub(crate) run: Run,
    pub(crate) steering: Steering,
    /// Warnings that follow the first event.
    pub(crate) notes: Vec<Text>,
    /// Removes secrets from `run`; listeners receive events with their secrets.
    pub(crate) redactor: Arc<Redactor>,
}

impl EventBus<'_> {
    pub(crate) fn publish(&mut self, event: &Event) {
        if let Event::Finished(_) = event {
            // Before the last event, so that the log has the warning, too.
            let last = self.steering.before_end();
            self.tell(last);
            self.gather(|listener, at| listener.end(at));
        }
        self.take(event);
        let notes = std::mem::take(&mut self.notes);
        self.tell(notes);
        let messages = self.steering.after(event, &self.run);
        self.tell(messages);
        if let Event::Snapshot(_) = event {
            self.gather(|listener, at| listener.pending_events(at));
        }
    }

    /// Adds the events of listeners to the run.
    fn gather(&mut self, read_events: fn(&mut dyn EventListener, Tick) -> Vec<Event>) {
        let time = self.run.last_interval_end;
        let new_events: Vec<Event> =
            self.listeners.iter_mut().flat_map(|one| read_events(&mut **one, time)).collect();
        for event in &new_events {
            self.take(event);
        }
    }

    fn tell(&mut self, texts: impl IntoIterator<Item = Text>) {
        let at = self.run.last_interval_end;
        texts.into_iter().for_each(|text| self.take(&Event::Warning(Warning { at, text })));
    }

    fn take(&mut self, event: &Event) {
        self.listeners.iter_mut().for_each(|one| one.on_event(event));
        self.run.fold(&self.redactor.event(event));
    }
}
