//! A drop-in's plan carried out, and all that is not the tool's own report: reports of ours, the store, notes on stderr.
//!
//! It prints nothing on stdout. That belongs to the tool.

use crate::caller::{Caller, Reports};
use crate::error::{Result, ToolError};
use crate::side::Side;
use brunt_engine::Control;
use brunt_model::Plan;
use brunt_model::finding::{State, Verdict};
use brunt_runner::keep::StoredRun;
use brunt_runner::{Engine, Listen, RunContext, RunResult, carry_out_by};
use brunt_spec::defaults;
use brunt_store::Store;
use std::sync::Arc;

/// Everything around a run that could go wrong before it, and did not.
pub struct RunSetup {
    reports: Option<Box<dyn Reports>>,
    store: Option<Store>,
    notes: bool,
    caller: Arc<Caller>,
    /// What may be said to the run.
    pub control: Control,
}

impl RunSetup {
    /// Opens the files of the reports and the store, and listens to Ctrl-C.
    pub fn open(side: &Side, caller: &Arc<Caller>) -> Result<Self> {
        Self::among(side, (caller.interrupt)()?.control(), caller)
    }

    /// The same where somebody else listens to Ctrl-C, and says so by `control`.
    pub fn among(side: &Side, control: Control, caller: &Arc<Caller>) -> Result<Self> {
        let reports = (!side.outputs.is_empty()).then(|| (caller.reports)(&side.outputs)).transpose()?;
        let store = side.store.as_ref().map(caller.store).transpose()?;
        Ok(Self { reports, store, notes: !side.no_notes, caller: Arc::clone(caller), control })
    }

    /// Carries the plan out while `listener` hears it.
    pub fn run(self, plan: &Plan, engine: Engine<'_>, listener: &mut dyn Listen) -> FinishedRun {
        let mut kept = self
            .store
            .as_ref()
            .and_then(|store| StoredRun::begin(store, None).map_err(|why| self.caller.say(&why)).ok());
        let mut listeners: Vec<&mut dyn Listen> = vec![&mut *listener];
        listeners.extend(kept.as_mut().map(|kept| kept as &mut dyn Listen));
        let command = self.caller.command.clone();
        let environment = brunt_probe::machine::environment(command, env!("CARGO_PKG_VERSION"));
        let redactor = (self.caller.redactor)();
        let with =
            RunContext { environment, notes: Vec::new(), control: self.control, trial_of: None, redactor, listeners };
        let carried = carry_out_by(plan, with, engine);
        FinishedRun { carried, kept, reports: self.reports, notes: self.notes, caller: self.caller }
    }
}

/// A run that is over, before anything of ours was written.
pub struct FinishedRun {
    /// What it came to.
    pub carried: RunResult,
    kept: Option<StoredRun>,
    reports: Option<Box<dyn Reports>>,
    notes: bool,
    caller: Arc<Caller>,
}

impl FinishedRun {
    /// Writes the reports of ours, and says on stderr what the old report cannot: `notes`, and whether we were the limit.
    pub fn finish(self, notes: &[String]) -> Result<()> {
        let RunResult { run, judgement, outcome } = self.carried;
        let say = |note: &str| self.caller.say(note);
        if self.notes {
            for note in notes {
                say(&note_line(note));
            }
            if let Some(note) = verdict(&judgement.verdict) {
                say(&note_line(&format!("{note}; --brunt-report FILE.html shows the reason")));
            }
        }
        if let Some(kept) = self.kept {
            let (id, trouble) = kept.finish(&run, &judgement);
            let kept = || id.map_or_else(|| "not saved: no response".into(), |id| format!("saved as {id}"));
            say(&note_line(&trouble.unwrap_or_else(kept)));
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
