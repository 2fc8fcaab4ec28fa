//! A run alone: carried out by the runner, with its reports, what is said on the terminal, and how brunt is to exit.

use crate::exit::{Exit, FailOn, exit_of};
use crate::live::{Live, say};
use crate::output::{self, Outputs};
use crate::process::command_line;
use crate::redact;
use crate::signals;
use crate::trace;
use anyhow::Result;
use brunt_model::reached::Replies;
use brunt_model::{Environment, Plan, ProbeSpec, Route};
use brunt_runner::run::no_reply;
use brunt_runner::trace::Tracer;
use brunt_runner::{EventLog, Listen, LiveOutputs, Real, ResultFile, RunRequest, RunResult, Session, Storage};
use brunt_store::Store;
use std::io;

/// What goes with a run besides its plan and the session.
pub struct MeasureContext<'f> {
    /// Where reports go.
    pub outputs: Outputs,
    /// The event log, where one is kept.
    pub log: Option<EventLog>,
    /// The result file, where one is written.
    pub jtl: Option<&'f mut ResultFile>,
    /// Systems that receive figures meanwhile.
    pub live_outputs: &'f mut LiveOutputs,
    /// Whether it is stored.
    pub storage: Storage<'f>,
    /// What is read of the server meanwhile.
    pub probes: &'f [ProbeSpec],
    /// No progress, no text.
    pub quiet: bool,
    /// Shows each sample; reports are made only where they are asked for.
    pub tracer: Option<&'f mut Tracer>,
    /// What was decided on the user's behalf and must be told.
    pub notes: Vec<String>,
    /// The way to the server, where it is known before the run.
    pub route: Option<Route>,
}

/// The session of this command. A store is opened before, as it brings the redactor.
pub fn session(store: Option<Store>, plan_name: Option<String>, is_strict: bool) -> io::Result<Session> {
    let machine = brunt_probe::machine::environment(command_line(), env!("CARGO_PKG_VERSION"));
    let environment = Environment { plan_name, strict: is_strict, ..machine };
    Ok(Session { environment, store, redactor: redact::current(), interrupt: signals::listen()? })
}

/// Carries out a plan and reports it; how brunt is to exit.
pub fn measure(session: &Session, plan: &Plan, world: &Real, around: MeasureContext<'_>) -> Result<Exit> {
    let MeasureContext { outputs, mut log, mut jtl, live_outputs, mut tracer, quiet, .. } = around;
    let traced = tracer.is_some();
    let mut live = Live::new(plan, quiet || traced).start();
    let mut listeners: Vec<&mut dyn Listen> = vec![&mut *live, live_outputs];
    listeners.extend(log.as_mut().map(|log| log as &mut dyn Listen));
    listeners.extend(jtl.as_deref_mut().map(|jtl| jtl as &mut dyn Listen));
    listeners.extend(tracer.as_deref_mut().map(|tracer| tracer as &mut dyn Listen));
    let request = RunRequest {
        storage: around.storage,
        route: around.route,
        notes: around.notes,
        probes: around.probes,
        listeners,
        ..RunRequest::new(plan, world, session.interrupt.control())
    };
    let result = session.run(request);
    drop(live);
    let outputs = if traced { outputs.asked_for() } else { outputs };
    let written = report(outputs, &result);
    tell_stored(&result, quiet);
    written?;
    result.outcome?;
    log.map_or(Ok(()), EventLog::end)?;
    output::whole(jtl.as_deref())?;
    let exit = match tracer {
        Some(tracer) => trace::end(tracer, result.run.interrupted())?,
        None => exit_of(
            &result.run,
            &result.judgement,
            FailOn { limited: result.run.environment.strict, ..FailOn::default() },
        ),
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

/// How to find the run again. The report has the warnings of the run.
fn tell_stored(result: &RunResult, quiet: bool) {
    let stored = &result.stored;
    match (&stored.trouble, &stored.id) {
        (Some(trouble), _) if quiet || !result.run.warnings.contains(trouble) => say(&format!("warning: {trouble}")),
        (None, Some(id)) if !quiet => say(&format!("saved as {id}; show it with: brunt report {id} -o html=FILE")),
        _ => {}
    }
}
