//! A drop-in's plan carried out, and all that is not the tool's own report: reports of ours, the store, notes on stderr.
//!
//! It prints nothing on stdout. That belongs to the tool.

use crate::caller::{Caller, Reports};
use crate::error::{Result, ToolError};
use crate::side::Side;
use brunt_engine::Control;
use brunt_model::finding::{State, Verdict};
use brunt_model::{Objective, Plan, StageKind, TestStage};
use brunt_runner::{Engine, Interrupt, Listen, RunRequest, RunResult, Session, Storage};
use brunt_spec::defaults;
use std::sync::Arc;

/// Everything around a run that could go wrong before it, and did not.
pub struct RunSetup {
    reports: Option<Box<dyn Reports>>,
    notes: bool,
    caller: Arc<Caller>,
    session: Session,
    /// What may be said to the run.
    pub control: Control,
}

impl RunSetup {
    /// Opens the files of the reports and the store, and listens to Ctrl-C.
    pub fn open(side: &Side, caller: &Arc<Caller>) -> Result<Self> {
        Self::among(side, (caller.interrupt)()?, caller)
    }

    /// Opens the files of the reports and the store, for a caller that listens to Ctrl-C itself.
    pub fn among(side: &Side, interrupt: Interrupt, caller: &Arc<Caller>) -> Result<Self> {
        let reports = (!side.outputs.is_empty()).then(|| (caller.reports)(&side.outputs)).transpose()?;
        let store = side.store.as_ref().map(caller.store).transpose()?;
        let control = interrupt.control();
        let session = caller.session(store, interrupt);
        Ok(Self { reports, notes: !side.no_notes, caller: Arc::clone(caller), session, control })
    }

    /// Carries the plan out while `listener` hears it.
    pub fn run(self, plan: &Plan, engine: &dyn Engine, listener: &mut dyn Listen) -> FinishedRun {
        let request = RunRequest {
            storage: Storage::Alone,
            listeners: vec![listener],
            ..RunRequest::new(plan, engine, self.control)
        };
        let result = self.session.run(request);
        let stores = self.session.store.is_some();
        FinishedRun { result, stores, reports: self.reports, notes: self.notes, caller: self.caller }
    }
}

/// A run that is over, before anything of ours was written.
pub struct FinishedRun {
    /// What it came to.
    pub result: RunResult,
    stores: bool,
    reports: Option<Box<dyn Reports>>,
    notes: bool,
    caller: Arc<Caller>,
}

impl FinishedRun {
    /// Writes the reports of ours, and says on stderr what the old report cannot: `notes`, and whether we were the limit.
    pub fn finish(self, notes: &[String]) -> Result<()> {
        let RunResult { run, judgement, stored, outcome } = self.result;
        let mut lines = Vec::new();
        if self.notes {
            lines.extend_from_slice(notes);
            let verdict = verdict(&judgement.verdict);
            lines.extend(verdict.map(|verdict| format!("{verdict}; --brunt-report FILE.html shows the reason")));
        }
        if self.stores {
            let saved = stored.id.map_or_else(|| "not saved: no response".into(), |id| format!("saved as {id}"));
            lines.push(stored.trouble.unwrap_or(saved));
        }
        for line in &lines {
            self.caller.say(&note_line(line));
        }
        outcome?;
        self.reports.map_or(Ok(()), |reports| reports.write(&run, &judgement))
    }
}

/// A note as a line of stderr. Programs that read the old report from there split lines at a colon and take what stands before
/// it for a key: a note has none.
fn note_line(note: &str) -> String {
    format!("brunt - {}", note.replace(": ", " - ").replace(':', "="))
}

/// Whether the figures are the server's, in a line: the gravest cause with its figures.
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

/// Gives a stage of a .jmx plan as many threads and processes as its users need; objectives are of the thread groups.
///
/// # Errors
///
/// No process of this machine can carry a connection, or too many processes would be needed.
pub fn prepare_stage(stage: &mut TestStage, objectives: &[Objective], asked: Option<u32>) -> Result<()> {
    stage.limit_threads();
    if stage.kind == StageKind::Main {
        let users = stage.peak_users();
        let plan = &mut stage.plan;
        plan.objectives = objectives.iter().filter(|one| one.applies_to(plan)).cloned().collect();
        plan.processes = processes(users, asked)?;
    }
    Ok(())
}

/// In how many processes so many connections are carried: one may have only so many open files.
///
/// # Errors
///
/// No process of this machine can carry any, or too many processes would be needed.
pub fn processes(connections: u64, asked: Option<u32>) -> Result<u32> {
    let room = brunt_probe::limits::raise_descriptors().saturating_sub(defaults::DESCRIPTORS_KEPT);
    let needed = connections.div_ceil(room.max(1)).max(1);
    if room == 0 {
        return Err(ToolError::told(format!(
            "no connection can be opened with {} open files: brunt needs that many for itself; raise the limit with ulimit -Hn",
            defaults::DESCRIPTORS_KEPT
        )));
    }
    if needed > defaults::MOST_PROCESSES {
        return Err(ToolError::told(format!(
            "{connections} connections need {needed} processes of {room} open files each; raise the limit with ulimit -Hn"
        )));
    }
    Ok(asked.unwrap_or(1).max(needed as u32).min(connections.max(1) as u32))
}
