//! Runs a drop-in's plan, and writes brunt's own reports, the stored run and notes on stderr.
//!
//! Prints nothing on stdout, which belongs to the tool's report.

use crate::brunt_options::BruntOptions;
use crate::caller::{Caller, Reports};
use crate::error::{ToolError, ToolResult};
use brunt_engine::RunControl;
use brunt_model::finding::{State, Verdict};
use brunt_model::{FleetSettings, Objective, Plan, StageKind, TestStage};
use brunt_runner::{
    CommandSession, EventListener, Interrupt, PlanExecutor, RealWorld, RunRequest, RunResult,
    Storage,
};
use brunt_spec::defaults;
use std::sync::Arc;

/// A run that is ready to start: its files and store are open.
pub struct RunSetup {
    reports: Option<Box<dyn Reports>>,
    notes: bool,
    caller: Arc<Caller>,
    session: CommandSession,
    /// Controls the run, for example to stop it early.
    pub control: RunControl,
}

impl RunSetup {
    /// Opens the report files and the store, and installs the Ctrl-C handler.
    pub fn open(brunt_options: &BruntOptions, caller: &Arc<Caller>) -> ToolResult<Self> {
        Self::with_interrupt(brunt_options, (caller.interrupt)()?, caller)
    }

    /// Opens the report files and the store, with the caller's own Ctrl-C handler.
    pub fn with_interrupt(
        brunt_options: &BruntOptions,
        interrupt: Interrupt,
        caller: &Arc<Caller>,
    ) -> ToolResult<Self> {
        brunt_options.check().map_err(ToolError::new)?;
        let reports = (!brunt_options.outputs.is_empty())
            .then(|| (caller.reports)(&brunt_options.outputs))
            .transpose()?;
        let store = brunt_options.store.as_ref().map(caller.store).transpose()?;
        let control = interrupt.control();
        let fleet = caller.fleet(brunt_options.fleet.as_ref())?;
        let session = caller.session(store, interrupt, fleet);
        Ok(Self {
            reports,
            notes: !brunt_options.no_notes,
            caller: Arc::clone(caller),
            session,
            control,
        })
    }

    /// Creates the resources of a plan's run.
    pub fn world(&self, plan: &Plan) -> ToolResult<RealWorld> {
        Ok(self.session.world(plan)?)
    }

    /// Runs the plan and passes its events to `listener`.
    pub fn run(
        self,
        plan: &Plan,
        engine: &dyn PlanExecutor,
        listener: &mut dyn EventListener,
    ) -> FinishedRun {
        let request = RunRequest {
            storage: Storage::SingleRun,
            listeners: vec![listener],
            ..RunRequest::new(plan, engine, self.control)
        };
        let result = self.session.run(request);
        let is_stored = self.session.store.is_some();
        FinishedRun {
            result,
            is_stored,
            reports: self.reports,
            notes: self.notes,
            caller: self.caller,
        }
    }
}

/// A finished run, before its reports are written.
pub struct FinishedRun {
    /// Events, judgement and outcome of the run.
    pub result: RunResult,
    is_stored: bool,
    reports: Option<Box<dyn Reports>>,
    notes: bool,
    caller: Arc<Caller>,
}

impl FinishedRun {
    /// Writes brunt's reports. Prints to stderr `notes`, the verdict on the generator,
    /// and the stored run's id.
    pub fn finish(self, notes: &[String]) -> ToolResult<()> {
        let RunResult { run, judgement, stored, outcome } = self.result;
        let mut lines = Vec::new();
        if self.notes {
            lines.extend_from_slice(notes);
            let verdict = verdict(&judgement.verdict);
            lines
                .extend(verdict.map(|verdict| {
                    format!("{verdict}; --brunt-report FILE.html shows the reason")
                }));
        }
        if self.is_stored {
            let saved = stored
                .id
                .map_or_else(|| "not saved: no response".into(), |id| format!("saved as {id}"));
            lines.push(stored.trouble.map_or(saved, String::from));
        }
        for line in &lines {
            self.caller.err_redacted(&note_line(line));
        }
        // Notes are printed even if the run failed.
        outcome?;
        self.reports.map_or(Ok(()), |reports| reports.write(&run, &judgement))
    }
}

/// Formats a note as a line of stderr without colons.
///
/// Programs that read the old report from stderr split lines at a colon and take the part
/// before it as a key.
fn note_line(note: &str) -> String {
    format!("brunt - {}", note.replace(": ", " - ").replace(':', "="))
}

/// The verdict as one line with its main cause; None if the generator did not limit the run.
fn verdict(verdict: &Verdict) -> Option<String> {
    let cause = verdict.causes.first().map_or("", |cause| &cause.sentence);
    match verdict.state {
        State::Limited => Some(format!("LIMITED: {cause}")),
        State::BusyMachine => Some(format!("BUSY MACHINE: {cause}")),
        State::Unexplained => Some(format!("UNEXPLAINED LAG: {cause}")),
        State::Invalid => Some("INVALID: consistency check failed; discard this run".into()),
        State::Ok | State::Unjudged => None,
    }
}

/// Sets the number of threads and processes that the users of a JMeter stage need, and the
/// objectives of its thread groups.
///
/// # Errors
///
/// No process of this machine can carry a connection, or too many processes would be needed.
pub fn prepare_stage(
    stage: &mut TestStage,
    objectives: &[Objective],
    requested: Option<u32>,
) -> ToolResult<()> {
    stage.limit_threads();
    if stage.kind == StageKind::Main {
        let users = stage.peak_users();
        let plan = &mut stage.plan;
        plan.objectives = objectives.iter().filter(|one| one.applies_to(plan)).cloned().collect();
        plan.processes = processes(users, requested, plan.fleet.as_ref())?;
    }
    Ok(())
}

/// Number of agents, or of processes for this many connections, given each process's limit of open
/// files.
///
/// # Errors
///
/// No process of this machine can carry any, too many processes would be needed, or there are more
/// agents than connections.
pub fn processes(
    connections: u64,
    requested: Option<u32>,
    fleet: Option<&FleetSettings>,
) -> ToolResult<u32> {
    if let Some(FleetSettings { on, .. }) = fleet {
        // The limits of agents are known only when they have started.
        let agents = on.agents();
        return if agents as u64 <= connections {
            Ok(agents as u32)
        } else {
            Err(ToolError::new(format!(
                "{on}: {connections} connections or users are too few for {agents} agents; write fewer agents"
            )))
        };
    }
    let descriptors =
        brunt_probe::limits::raise_descriptors().saturating_sub(defaults::RESERVED_DESCRIPTORS);
    let needed = connections.div_ceil(descriptors.max(1)).max(1);
    if descriptors == 0 {
        return Err(ToolError::new(format!(
            "no connection can be opened with {} open files: brunt needs that many for itself; raise the limit with ulimit -Hn",
            defaults::RESERVED_DESCRIPTORS
        )));
    }
    if needed > defaults::MAX_PROCESSES {
        return Err(ToolError::new(format!(
            "{connections} connections need {needed} processes of {descriptors} open files each; raise the limit with ulimit -Hn"
        )));
    }
    Ok(requested.unwrap_or(1).max(needed as u32).min(connections.max(1) as u32))
}
