//! One run: the engine carries the plan out, the events are folded, logged and shown, the reports written.

use crate::exit::Exit;
use crate::live::Live;
use crate::output::{Log, Outputs};
use crate::processes;
use crate::signals;
use crate::steer::Steering;
use crate::world::Real;
use anyhow::Result;
use brunt_engine::Control;
use brunt_model::finding::State;
use brunt_model::{Environment, Event, Judgement, Plan, Route, Run, Warning};

/// What goes with a run besides its plan.
pub struct Around {
    /// The command line, for the report.
    pub command: String,
    /// Where reports go.
    pub outputs: Outputs,
    /// The event log, where one is kept.
    pub log: Option<Log>,
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

/// Carries out a plan and reports it; how brunt is to exit.
pub fn measure(plan: &Plan, world: &Real, around: Around) -> Result<Exit> {
    let control = Control::default();
    signals::listen(&control)?;
    let mut listener = Listener {
        live: Live::new(plan, around.quiet),
        log: around.log,
        run: Run::default(),
        steering: Steering::new(plan, &control),
        notes: around.notes,
    };
    let machine = brunt_probe::machine::environment(around.command, env!("CARGO_PKG_VERSION"));
    let environment = Environment { route: around.route, ..machine };
    let mut hear = |event: &Event| listener.hear(event);
    let outcome = match plan.processes {
        0 | 1 => brunt_engine::run(plan, environment, world, &control, &mut hear).map_err(Into::into),
        _ => processes::run(plan, environment, world, &control, &mut hear),
    };
    let log_error = listener.log.and_then(|log| log.error).map_or(Ok(()), Err);
    finish(&listener.run, around.outputs, around.strict, outcome.and(log_error))
}

/// All who listen to a run.
struct Listener {
    live: Live,
    log: Option<Log>,
    run: Run,
    steering: Steering,
    /// What must be told right behind the first event.
    notes: Vec<String>,
}

impl Listener {
    fn hear(&mut self, event: &Event) {
        if let Event::Finished(_) = event {
            let last = self.steering.before_end();
            self.tell(last);
        }
        self.take(event);
        let notes = std::mem::take(&mut self.notes);
        self.tell(notes);
        let said = self.steering.after(event, &self.run);
        self.tell(said);
    }

    fn tell(&mut self, texts: impl IntoIterator<Item = String>) {
        let at = self.run.seen_to;
        texts.into_iter().for_each(|text| self.take(&Event::Warning(Warning { at, text })));
    }

    fn take(&mut self, event: &Event) {
        self.live.take(event);
        if let Some(log) = &mut self.log {
            log.take(event);
        }
        self.run.fold(event);
    }
}

/// Reports what was measured, whatever happened.
fn finish(run: &Run, outputs: Outputs, strict: Strict, outcome: Result<()>) -> Result<Exit> {
    let judgement = brunt_judge::judge(run);
    outputs.write(run, &judgement)?;
    outcome?;
    Ok(exit_of(run, &judgement, strict))
}

/// How a run's figures make brunt exit. `strict`: a limited generator is a failure too.
pub fn exit_of(run: &Run, judgement: &Judgement, strict: Strict) -> Exit {
    let missed = run.plan.iter().flat_map(|p| &p.objectives).any(|o| !o.judge(run).met);
    let ends = [
        (missed, Exit::ObjectiveMissed),
        (judgement.verdict.state == State::Limited && strict == Strict::Yes, Exit::Limited),
        (judgement.verdict.state == State::Invalid, Exit::Invalid),
        (run.interrupted(), Exit::Interrupted),
        (run.total.completed == 0, Exit::NothingMeasured),
    ];
    ends.into_iter().filter(|e| e.0).map(|e| e.1).max().unwrap_or(Exit::Measured)
}
