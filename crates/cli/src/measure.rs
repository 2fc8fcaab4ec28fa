//! A run alone: carried out by the runner, with its reports, what is said on the terminal, and how brunt is to exit.

use crate::exit::Exit;
use crate::live::{Live, say};
use crate::output::{self, Log, Outputs};
use crate::redact;
use crate::signals;
use crate::trace::Tracer;
use anyhow::Result;
use brunt_engine::World;
use brunt_model::finding::State;
use brunt_model::reached::Replies;
use brunt_model::{Environment, Judgement, Plan, ProbeSpec, Route, Run};
use brunt_runner::keep::{ServerReadings, StoredRun};
use brunt_runner::run::no_reply;
use brunt_runner::{Listen, LiveOutputs, Real, ResultFile, RunContext, RunResult, carry_out};
use brunt_store::Store;

/// What goes with a run besides its plan.
pub struct MeasureContext<'f> {
    /// The command line, for the report.
    pub command: String,
    /// Where reports go.
    pub outputs: Outputs,
    /// The event log, where one is kept.
    pub log: Option<Log>,
    /// The result file, where one is written.
    pub jtl: Option<&'f mut ResultFile>,
    /// Systems that receive figures meanwhile.
    pub live_outputs: Option<&'f mut LiveOutputs>,
    /// Where the run is kept.
    pub store: Option<Store>,
    /// What is read of the server meanwhile.
    pub probes: Vec<ProbeSpec>,
    /// No progress, no text.
    pub quiet: bool,
    /// Shows each sample; reports are made only where they are asked for.
    pub tracer: Option<&'f mut Tracer>,
    /// What was decided on the user's behalf and must be told.
    pub notes: Vec<String>,
    /// Name of the plan, where there is one.
    pub plan_name: Option<String>,
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
pub fn measure(plan: &Plan, world: &Real, around: MeasureContext<'_>) -> Result<Exit> {
    let MeasureContext { command, outputs, mut log, mut jtl, live_outputs, store, probes, quiet, .. } = around;
    let (mut notes, route, strict) = (around.notes, around.route, around.strict);
    let mut tracer = around.tracer;
    let traced = tracer.is_some();
    let control = signals::listen()?.control();
    let mut kept = store.as_ref().map(|store| StoredRun::begin(store, None)).transpose().unwrap_or_else(|why| {
        if quiet {
            say(&format!("warning: {why}"));
        }
        notes.push(why);
        None
    });
    let (mut live, mut watched) =
        (Live::new(plan, quiet || traced).start(), ServerReadings::begin(&probes, world.epoch()));
    let mut listeners: Vec<&mut dyn Listen> = vec![&mut *live];
    listeners.extend(watched.as_mut().map(|watched| watched as &mut dyn Listen));
    listeners.extend(log.as_mut().map(|log| log as &mut dyn Listen));
    listeners.extend(jtl.as_deref_mut().map(|jtl| jtl as &mut dyn Listen));
    listeners.extend(live_outputs.map(|outputs| outputs as &mut dyn Listen));
    listeners.extend(tracer.as_deref_mut().map(|tracer| tracer as &mut dyn Listen));
    listeners.extend(kept.as_mut().map(|kept| kept as &mut dyn Listen));
    let machine = brunt_probe::machine::environment(command, env!("CARGO_PKG_VERSION"));
    let plan_name = around.plan_name;
    let environment = Environment { route, plan_name, strict: strict == Strict::Yes, ..machine };
    let redactor = redact::current();
    let with = RunContext { environment, notes, control, trial_of: None, redactor, listeners };
    let carried = carry_out(plan, world, with);
    drop(live);
    let outputs = if traced { outputs.asked_for() } else { outputs };
    let written = report(outputs, &carried);
    if let Some(kept) = kept {
        tell_kept(&kept.finish(&carried.run, &carried.judgement), quiet);
    }
    written?;
    carried.outcome?;
    log.and_then(|log| log.error).map_or(Ok(()), Err)?;
    output::whole(jtl.as_deref())?;
    let exit = match tracer {
        Some(tracer) => tracer.end(carried.run.interrupted())?,
        None => exit_of(&carried.run, &carried.judgement, strict),
    };
    tell_exit(exit, quiet);
    Ok(exit)
}

/// More warnings are not said of a run without a reply.
const MOST_WARNINGS: usize = 5;

/// Writes the reports. Of a run without a reply only those that were asked for: the text says it in one line.
fn report(outputs: Outputs, carried: &RunResult) -> Result<()> {
    let run = &carried.run;
    // Thread groups of JMeter may have scripts only.
    let asks = run.plan.as_ref().is_none_or(|plan| plan.requests().next().is_some());
    let nothing = asks && run.replies() == Replies::None && !run.interrupted() && carried.outcome.is_ok();
    if !nothing {
        return outputs.write(run, &carried.judgement);
    }
    let why = no_reply(run);
    say(&format!("brunt: nothing was measured: {why}"));
    let others = run.warnings.iter().filter(|warning| !why.contains(&**warning));
    others.take(MOST_WARNINGS).for_each(|warning| say(&format!("  {warning}")));
    outputs.asked_for().write(run, &carried.judgement)
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
        say(&format!("saved as {id}; show it with: brunt report {id} -o html=FILE"));
    }
}

/// How a run's figures make brunt exit. `strict`: a limited generator is a failure too.
pub fn exit_of(run: &Run, judgement: &Judgement, strict: Strict) -> Exit {
    let missed = run.plan.iter().flat_map(|p| &p.objectives).any(|o| !o.judge(run).met);
    let ends = [
        (missed || run.replies() == Replies::NoneGood, Exit::ObjectiveMissed),
        (judgement.verdict.state.is_disturbed() && strict == Strict::Yes, Exit::Limited),
        (judgement.verdict.state == State::Invalid, Exit::Invalid),
        (run.interrupted(), Exit::Interrupted),
        (run.replies() == Replies::None, Exit::NothingMeasured),
    ];
    ends.into_iter().filter(|e| e.0).map(|e| e.1).max().unwrap_or(Exit::Measured)
}
