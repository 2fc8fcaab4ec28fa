//! One run: the engine carries the plan out, the events are folded, logged and shown, the reports written.

use crate::exit::Exit;
use crate::live::Live;
use crate::output::{Log, Outputs};
use crate::signals;
use crate::world::Real;
use anyhow::Result;
use brunt_engine::Control;
use brunt_model::finding::State;
use brunt_model::{Environment, Event, Judgement, Plan, Route, Run, Tick, Warning};

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
    let stop = Control::default();
    signals::listen(&stop)?;
    let mut log = around.log;
    let mut live = Live::new(plan, around.quiet);
    let mut run = Run::default();
    let mut take = |event: &Event| {
        live.take(event);
        if let Some(log) = &mut log {
            log.take(event);
        }
        run.fold(event);
    };
    let mut notes = around.notes.into_iter();
    let mut sink = |event: &Event| {
        take(event);
        // The first event is Started: what must be told comes right behind it.
        notes.by_ref().for_each(|text| take(&Event::Warning(Warning { at: Tick::ZERO, text })));
    };
    let machine = brunt_probe::machine::environment(around.command, env!("CARGO_PKG_VERSION"));
    let environment = Environment { route: around.route, ..machine };
    let outcome = brunt_engine::run(plan, environment, world, &stop, &mut sink);
    let outcome = outcome.map_err(Into::into).and(log.and_then(|log| log.error).map_or(Ok(()), Err));
    finish(&run, around.outputs, around.strict, outcome)
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
