//! One run: the engine carries the plan out, and the events are folded, and heard by whoever listens.
//!
//! [`carry_out`] is the way of every run, alone or among others; [`measure`] is a run alone, with its reports.

use crate::check::short::route;
use crate::exit::Exit;
use crate::keep::{Kept, Watched};
use crate::live::{Live, say};
use crate::output::{Log, Outputs};
use crate::processes;
use crate::signals::Interrupt;
use crate::steer::Steering;
use crate::world::Real;
use anyhow::Result;
use brunt_engine::{Control, Sink, World};
use brunt_model::finding::State;
use brunt_model::reached::Replies;
use brunt_model::{Environment, Event, Find, Judgement, Plan, ProbeSpec, Route, Run, Tick, Warning};
use brunt_store::{Redactor, Store};
use std::sync::Arc;

/// What goes with a run besides its plan.
pub struct Around {
    /// The command line, for the report.
    pub command: String,
    /// Where reports go.
    pub outputs: Outputs,
    /// The event log, where one is kept.
    pub log: Option<Log>,
    /// Where the run is kept.
    pub store: Option<Store>,
    /// What is read of the server meanwhile.
    pub probes: Vec<ProbeSpec>,
    /// No progress, no text.
    pub quiet: bool,
    /// What was decided on the user's behalf and must be told.
    pub notes: Vec<String>,
    /// The way to the server, where it is known before the run.
    pub route: Option<Route>,
    /// Whether a limited generator makes brunt fail.
    pub strict: Strict,
}

/// Whether a limited generator makes brunt fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strict {
    /// It does.
    Yes,
    /// It is reported, and that is all.
    No,
}

impl From<bool> for Strict {
    fn from(asked: bool) -> Self {
        if asked { Self::Yes } else { Self::No }
    }
}

/// Somebody who hears a run, and may have something to add to it.
pub trait Listen {
    /// Hears an event, in the order in which all hear them.
    fn hear(&mut self, event: &Event) {
        let _ = event;
    }

    /// What is to be added now, at that instant of the run: readings, warnings. Asked after each snapshot, and before the
    /// last event.
    fn add(&mut self, at: Tick) -> Vec<Event> {
        let _ = at;
        Vec::new()
    }
}

/// What a run is carried out with.
pub struct With<'a> {
    /// Where and with what.
    pub environment: Environment,
    /// What must be told right behind the first event.
    pub notes: Vec<String>,
    /// What may be said to it.
    pub control: Control,
    /// The search that the run is a trial of: it ends as soon as its side is decided.
    pub trial_of: Option<Find>,
    /// All who listen, and may add something.
    pub listeners: Vec<&'a mut dyn Listen>,
}

/// What became of a run. Where the engine failed, `run` is what was measured until then.
pub struct Carried {
    /// The fold of its events.
    pub run: Run,
    /// What was decided about it.
    pub judgement: Judgement,
    /// Whether the engine failed.
    pub outcome: Result<()>,
}

/// What carries a plan out: it is told where, and what may be said to the run, and tells every event.
pub type Engine<'a> = &'a dyn Fn(Environment, &Control, &mut dyn Sink) -> Result<()>;

/// Carries out a plan; nothing is written or shown but by those who listen.
pub fn carry_out(plan: &Plan, world: &Real, with: With) -> Carried {
    carry_out_by(plan, with, &|environment, control, sink| drive(plan, environment, world, control, sink))
}

/// The engine in this process, or in as many as the plan says.
pub fn drive(
    plan: &Plan,
    environment: Environment,
    world: &Real,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<()> {
    match plan.processes {
        0 | 1 => brunt_engine::run(plan, environment, world, control, sink).map_err(Into::into),
        _ => processes::run(plan, environment, world, control, sink),
    }
}

/// The same with another engine, or in another world.
pub fn carry_out_by(plan: &Plan, with: With, engine: Engine<'_>) -> Carried {
    let With { mut environment, notes, control, trial_of, listeners } = with;
    // Who listens on the target's port tells the server from the other processes of this machine.
    environment.route = environment.route.or_else(|| route(plan));
    let redactor = crate::redact::current();
    let mut hall =
        Hall { listeners, run: Run::default(), steering: Steering::new(plan, trial_of, &control), notes, redactor };
    let mut hear = |event: &Event| hall.hear(event);
    let outcome = engine(environment, &control, &mut hear);
    let judgement = brunt_judge::judge(&hall.run);
    Carried { run: hall.run, judgement, outcome }
}

/// Carries out a plan and reports it; how brunt is to exit.
pub fn measure(plan: &Plan, world: &Real, around: Around) -> Result<Exit> {
    let Around { command, outputs, mut log, store, probes, quiet, mut notes, route, strict } = around;
    let control = Interrupt::listen()?.control();
    let mut kept = store.as_ref().map(|store| Kept::begin(store, None)).transpose().unwrap_or_else(|why| {
        if quiet {
            say(&format!("warning: {why}"));
        }
        notes.push(why);
        None
    });
    let (mut live, mut watched) = (Live::new(plan, quiet), Watched::begin(&probes, world.epoch()));
    let mut listeners: Vec<&mut dyn Listen> = vec![&mut live];
    listeners.extend(watched.as_mut().map(|watched| watched as &mut dyn Listen));
    listeners.extend(log.as_mut().map(|log| log as &mut dyn Listen));
    listeners.extend(kept.as_mut().map(|kept| kept as &mut dyn Listen));
    let machine = brunt_probe::machine::environment(command, env!("CARGO_PKG_VERSION"));
    let environment = Environment { route, strict: strict == Strict::Yes, ..machine };
    let carried = carry_out(plan, world, With { environment, notes, control, trial_of: None, listeners });
    let written = report(outputs, &carried);
    if let Some(kept) = kept {
        tell_kept(&kept.finish(&carried.run, &carried.judgement), quiet);
    }
    written?;
    carried.outcome?;
    log.and_then(|log| log.error).map_or(Ok(()), Err)?;
    let exit = exit_of(&carried.run, &carried.judgement, strict);
    tell_exit(exit, quiet);
    Ok(exit)
}

/// Writes the reports. Of a run without a reply only those that were asked for: the text says it in one line.
fn report(outputs: Outputs, carried: &Carried) -> Result<()> {
    let run = &carried.run;
    let nothing = run.replies() == Replies::None && !run.interrupted() && carried.outcome.is_ok();
    if !nothing {
        return outputs.write(run, &carried.judgement);
    }
    say(&format!("brunt: nothing was measured: {}", no_reply(run)));
    outputs.asked_for().write(run, &carried.judgement)
}

/// Who did not answer, and why.
pub fn no_reply(run: &Run) -> String {
    let url = run.plan.iter().flat_map(|plan| &plan.script.requests).map(|request| request.url.as_str()).next();
    let failures = run.failures_told();
    let error = run.finish.as_ref().and_then(|finish| finish.error.clone());
    let why = if failures.is_empty() { error.unwrap_or_else(|| "no request was begun".into()) } else { failures };
    format!("no reply from {} ({why})", url.unwrap_or("the server"))
}

/// Says why a measured run makes brunt fail, so that the code need not be looked up.
pub fn tell_exit(exit: Exit, quiet: bool) {
    if !matches!(exit, Exit::Measured | Exit::NothingMeasured | Exit::Interrupted) && !quiet {
        say(&format!("brunt: exit code {}: {}", exit.code(), exit.meaning()));
    }
}

/// How to find the run again.
fn tell_kept((id, trouble): &(Option<String>, Option<String>), quiet: bool) {
    if let Some(trouble) = trouble {
        say(&format!("warning: {trouble}"));
    } else if let Some(id) = id
        && !quiet
    {
        say(&format!("kept as {id}: brunt report {id} -o html=FILE shows it again"));
    }
}

/// Where all hear the run.
struct Hall<'a> {
    listeners: Vec<&'a mut dyn Listen>,
    run: Run,
    steering: Steering,
    /// What must be told right behind the first event.
    notes: Vec<String>,
    /// Those who listen hear secrets as they are; the run that is reported has none.
    redactor: Arc<Redactor>,
}

impl Hall<'_> {
    fn hear(&mut self, event: &Event) {
        if let Event::Finished(_) = event {
            let last = self.steering.before_end();
            self.tell(last);
            self.gather();
        }
        self.take(event);
        let notes = std::mem::take(&mut self.notes);
        self.tell(notes);
        let said = self.steering.after(event, &self.run);
        self.tell(said);
        if let Event::Snapshot(_) = event {
            self.gather();
        }
    }

    /// Takes in what listeners add.
    fn gather(&mut self) {
        let at = self.run.seen_to;
        let added: Vec<Event> = self.listeners.iter_mut().flat_map(|one| one.add(at)).collect();
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

/// How a run's figures make brunt exit. `strict`: a limited generator is a failure too.
pub fn exit_of(run: &Run, judgement: &Judgement, strict: Strict) -> Exit {
    let missed = run.plan.iter().flat_map(|p| &p.objectives).any(|o| !o.judge(run).met);
    let ends = [
        (missed || run.replies() == Replies::NoneGood, Exit::ObjectiveMissed),
        (judgement.verdict.state == State::Limited && strict == Strict::Yes, Exit::Limited),
        (judgement.verdict.state == State::Invalid, Exit::Invalid),
        (run.interrupted(), Exit::Interrupted),
        (run.replies() == Replies::None, Exit::NothingMeasured),
    ];
    ends.into_iter().filter(|e| e.0).map(|e| e.1).max().unwrap_or(Exit::Measured)
}
