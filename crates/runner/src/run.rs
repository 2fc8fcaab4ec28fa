//! One run: the engine carries the plan out, and the events are folded, and heard by whoever listens.
//!
//! [`carry_out`] is the way of every run, alone or among others.

use crate::error::RunError;
use crate::processes;
use crate::route::route;
use crate::steer::Steering;
use crate::world::Real;
use brunt_engine::{Control, Sink};
use brunt_model::{Environment, Event, Find, Judgement, Plan, Run, Tick, Warning};
use brunt_store::Redactor;
use std::sync::Arc;

/// Somebody who hears a run, and may have something to add to it.
pub trait Listen {
    /// Hears an event, in the order in which all hear them.
    fn hear(&mut self, event: &Event) {
        let _ = event;
    }

    /// What is to be added now, at that instant of the run: readings, warnings. Asked after each snapshot.
    fn add(&mut self, at: Tick) -> Vec<Event> {
        let _ = at;
        Vec::new()
    }

    /// What is to be added at the end, before the last event.
    fn end(&mut self, at: Tick) -> Vec<Event> {
        self.add(at)
    }
}

/// What a run is carried out with.
pub struct RunContext<'a> {
    /// Where and with what.
    pub environment: Environment,
    /// What must be told right behind the first event.
    pub notes: Vec<String>,
    /// What may be said to it.
    pub control: Control,
    /// The search that the run is a trial of: it ends as soon as its side is decided.
    pub trial_of: Option<Find>,
    /// Those who listen hear secrets as they are; the run that is handed back has none.
    pub redactor: Arc<Redactor>,
    /// All who listen, and may add something.
    pub listeners: Vec<&'a mut dyn Listen>,
}

/// What became of a run. Where the engine failed, `run` is what was measured until then.
pub struct RunResult {
    /// The fold of its events.
    pub run: Run,
    /// What was decided about it.
    pub judgement: Judgement,
    /// Whether the engine failed.
    pub outcome: Result<(), RunError>,
}

/// What carries a plan out: it is told where, and what may be said to the run, and tells every event.
pub type Engine<'a> = &'a dyn Fn(Environment, &Control, &mut dyn Sink) -> Result<(), RunError>;

/// Carries out a plan; nothing is written or shown but by those who listen.
pub fn carry_out(plan: &Plan, world: &Real, with: RunContext) -> RunResult {
    carry_out_by(plan, with, &|environment, control, sink| drive(plan, environment, world, control, sink))
}

/// The engine in this process, or in as many as the plan says.
///
/// # Errors
///
/// The engine cannot carry out the plan, or a further process cannot be used.
pub fn drive(
    plan: &Plan,
    environment: Environment,
    world: &Real,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<(), RunError> {
    match plan.processes {
        0 | 1 => brunt_engine::run(plan, environment, world, control, sink).map_err(Into::into),
        _ => processes::run(plan, environment, world, control, sink),
    }
}

/// The same with another engine, or in another world.
pub fn carry_out_by(plan: &Plan, with: RunContext, engine: Engine<'_>) -> RunResult {
    let RunContext { mut environment, notes, control, trial_of, redactor, listeners } = with;
    // Who listens on the target's port tells the server from the other processes of this machine.
    environment.route = environment.route.or_else(|| route(plan));
    let mut bus =
        EventBus { listeners, run: Run::default(), steering: Steering::new(plan, trial_of, &control), notes, redactor };
    let mut hear = |event: &Event| bus.hear(event);
    let outcome = engine(environment, &control, &mut hear);
    let judgement = brunt_judge::judge(&bus.run);
    RunResult { run: bus.run, judgement, outcome }
}

/// Who did not answer, and why.
pub fn no_reply(run: &Run) -> String {
    let url =
        run.plan.iter().flat_map(|plan| &plan.main().scenario.requests).map(|request| request.url.as_str()).next();
    let failures = run.failures_told();
    let error = run.finish.as_ref().and_then(|finish| finish.error.clone());
    let why = if failures.is_empty() { error.unwrap_or_else(|| "no request was begun".into()) } else { failures };
    format!("no reply from {} ({why})", url.unwrap_or("the server"))
}

/// Where all hear the run.
struct EventBus<'a> {
    listeners: Vec<&'a mut dyn Listen>,
    run: Run,
    steering: Steering,
    /// What must be told right behind the first event.
    notes: Vec<String>,
    /// Those who listen hear secrets as they are; the run that is reported has none.
    redactor: Arc<Redactor>,
}

impl EventBus<'_> {
    fn hear(&mut self, event: &Event) {
        if let Event::Finished(_) = event {
            let last = self.steering.before_end();
            self.tell(last);
            self.gather(|listener, at| listener.end(at));
        }
        self.take(event);
        let notes = std::mem::take(&mut self.notes);
        self.tell(notes);
        let said = self.steering.after(event, &self.run);
        self.tell(said);
        if let Event::Snapshot(_) = event {
            self.gather(|listener, at| listener.add(at));
        }
    }

    /// Takes in what listeners add.
    fn gather(&mut self, from: fn(&mut dyn Listen, Tick) -> Vec<Event>) {
        let at = self.run.seen_to;
        let added: Vec<Event> = self.listeners.iter_mut().flat_map(|one| from(&mut **one, at)).collect();
        for event in &added {
            self.take(event);
        }
    }

    fn tell(&mut self, texts: impl IntoIterator<Item = String>) {
        let at = self.run.seen_to;
        texts.into_iter().for_each(|text| self.take(&Event::Warning(Warning { at, text })));
    }

    fn take(&mut self, event: &Event) {
        self.listeners.iter_mut().for_each(|one| one.hear(event));
        self.run.fold(&self.redactor.event(event));
    }
}
