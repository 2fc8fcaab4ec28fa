//! Runs a single plan with its reports and terminal output, and selects the exit code.

use crate::exit::{Exit, FailOn, exit_of};
use crate::languages::LANGUAGES;
use crate::live::{Live, print_line};
use crate::output::Outputs;
use crate::process::command_line;
use crate::redact;
use crate::result_file::{self, ResultFile};
use crate::signals;
use crate::team::TeamRun;
use crate::trace;
use anyhow::Result;
use brunt_agents::Fleet;
use brunt_live::LiveOutputs;
use brunt_model::reached::ReplyKind;
use brunt_model::{Environment, Plan, ProbeSpec, Route, Run, Text};
use brunt_runner::run::no_reply;
use brunt_runner::trace::Tracer;
use brunt_runner::{
    CommandSession, EventListener, EventLog, PlanExecutor, RunRequest, RunResult, Storage,
};
use brunt_store::{Store, StoredItem};
use std::io;
use std::sync::Arc;

/// Everything around a run except its plan and the session.
pub struct MeasureContext<'f> {
    /// Destinations of all reports.
    pub outputs: Outputs,
    /// Event log, if requested.
    pub log: Option<EventLog>,
    /// Result file of JMeter's format, if requested.
    pub jtl: Option<&'f mut ResultFile>,
    /// Services that receive figures during the run.
    pub live_outputs: &'f mut LiveOutputs,
    /// Whether and where the run is stored.
    pub storage: Storage<'f>,
    /// Probes of the server.
    pub probes: &'f [ProbeSpec],
    /// Suppresses progress and text.
    pub quiet: bool,
    /// Prints each sample. Then only requested reports are written.
    pub tracer: Option<&'f mut Tracer>,
    /// Notes on decisions that brunt made for the user.
    pub notes: Vec<Text>,
    /// Network route to the server, if it is known before the run.
    pub route: Option<Route>,
    /// Studio that leases the servers and receives the run.
    pub team: Option<&'f TeamRun>,
}

/// Creates the session of this command. The store must be opened first,
/// since it provides the redactor.
pub fn session(
    store: Option<Store>,
    plan_name: Option<String>,
    fail_on: FailOn,
    fleet: Option<Arc<Fleet>>,
) -> io::Result<CommandSession> {
    let machine = brunt_probe::machine::environment(command_line(), env!("CARGO_PKG_VERSION"));
    let environment = Environment {
        plan_name,
        strict: fail_on.limited,
        allowed_loss_percent: fail_on.allowed_loss_percent,
        ..machine
    };
    Ok(CommandSession {
        environment,
        store,
        redactor: redact::current(),
        interrupt: signals::listen()?,
        fleet,
        languages: LANGUAGES,
    })
}

/// Runs a plan, writes its reports, and returns the exit code.
pub fn measure(
    session: &CommandSession,
    plan: &Plan,
    engine: &dyn PlanExecutor,
    context: MeasureContext<'_>,
) -> Result<Exit> {
    let MeasureContext { outputs, mut log, mut jtl, live_outputs, mut tracer, quiet, .. } = context;
    let is_tracing = tracer.is_some();
    let mut live = Live::new(plan, quiet || is_tracing).start();
    let mut listeners: Vec<&mut dyn EventListener> = vec![&mut *live, live_outputs];
    listeners.extend(log.as_mut().map(|log| log as &mut dyn EventListener));
    listeners.extend(jtl.as_deref_mut().map(|jtl| jtl as &mut dyn EventListener));
    listeners.extend(tracer.as_deref_mut().map(|tracer| tracer as &mut dyn EventListener));
    let team = context.team;
    let mut lease_notes = team.map(TeamRun::listener);
    if let Some(notes) = &mut lease_notes {
        listeners.push(notes);
    }
    let request = RunRequest {
        storage: context.storage,
        route: context.route,
        notes: context.notes,
        probes: context.probes,
        listeners,
        ..RunRequest::new(plan, engine, session.interrupt.control())
    };
    let result = session.run(request);
    // The progress must have ended before the report is printed.
    drop(live);
    let outputs = if is_tracing { outputs.without_default() } else { outputs };
    let written = report(outputs, &result);
    print_stored_id(&result, quiet);
    if let (Some(team), Some(store), Some(id)) = (team, &session.store, &result.stored.id) {
        team.push(store, &StoredItem::Run(id.clone()), quiet);
    }
    // A failed run has a report, too: of everything until the failure.
    written?;
    result.outcome?;
    log.map_or(Ok(()), EventLog::end)?;
    result_file::check_complete(jtl.as_deref())?;
    let exit = match tracer {
        Some(tracer) => trace::end(tracer, result.run.is_interrupted())?,
        None => exit_of(&result.run, &result.judgement, FailOn::recorded_in(&result.run)),
    };
    print_exit_reason(exit, quiet);
    Ok(exit)
}

/// Maximum number of warnings that are printed for a run without a reply.
const MAX_WARNINGS: usize = 5;

/// Writes the reports. Without a reply, only requested reports are written, and
/// one line replaces the text.
fn report(outputs: Outputs, result: &RunResult) -> Result<()> {
    let run = &result.run;
    // Thread groups of JMeter may contain only scripts.
    let has_requests = run.plan.as_ref().is_none_or(|plan| plan.requests().next().is_some());
    let is_empty = has_requests
        && run.replies() == ReplyKind::None
        && !run.is_interrupted()
        && result.outcome.is_ok();
    if !is_empty {
        return outputs.write(run, &result.judgement);
    }
    print_nothing_measured("", run);
    outputs.without_default().write(run, &result.judgement)
}

/// Prints why a run got no reply, with its warnings. `place` follows `nothing was measured`.
pub fn print_nothing_measured(place: &str, run: &Run) {
    let why = no_reply(run);
    print_line(&format!("brunt: nothing was measured{place}: {why}"));
    let others = run.warnings.iter().filter(|warning| !why.contains(warning.as_str()));
    others.take(MAX_WARNINGS).for_each(|warning| print_line(&format!("  {warning}")));
}

/// Prints why a completed run makes brunt fail, so that the user need not look up the exit code.
pub fn print_exit_reason(exit: Exit, quiet: bool) {
    if !matches!(exit, Exit::Measured | Exit::NothingMeasured | Exit::Interrupted) && !quiet {
        print_line(&format!("brunt: exit code {}: {}", exit.code(), exit.meaning()));
    }
}

/// Prints how to show the run again. The report contains the run's warnings.
fn print_stored_id(result: &RunResult, quiet: bool) {
    let stored = &result.stored;
    match (&stored.trouble, &stored.id) {
        (Some(trouble), _) if quiet || !result.run.warnings.contains(trouble) => {
            print_line(&format!("warning: {trouble}"));
        }
        (None, Some(id)) if !quiet => {
            print_line(&format!("saved as {id}; show it with: brunt report {id} -o html=FILE"));
        }
        _ => {}
    }
}
