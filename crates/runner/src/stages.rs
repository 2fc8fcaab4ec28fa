//! The stages of a test, one after the other: which of them run, with what each begins, and whether it did what it should.

use crate::error::RunError;
use crate::interrupt::Interrupt;
use crate::run::Listen;
use crate::session::{RunRequest, RunResult, Session};
use crate::world::Real;
use brunt_engine::Control;
use brunt_model::plan::Records;
use brunt_model::{Event, HandedOn, Plan, Run, SampleRecord, StageKind, TestStage};
use std::time::Duration;

/// Which stages of a test run, and with what each begins.
#[derive(Debug, Default)]
pub struct StageSequence {
    /// The stage that ended the test.
    ended: Option<StageKind>,
    handed: Option<HandedOn>,
}

/// How a stage that did not fail came to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum StageEnd {
    /// With its last step; and what its reader should know.
    Whole(Vec<String>),
    /// Somebody stopped it.
    Stopped,
}

/// Carries out stages one after the other, each with what those before it handed on, until somebody stops them. `run` carries
/// out one stage, and returns the world in which it ran.
///
/// # Errors
///
/// Those of `run`; no further stage is then begun.
pub fn carry_out_all<E>(
    stages: Vec<TestStage>,
    interrupt: &Interrupt,
    mut run: impl FnMut(&TestStage) -> Result<Real, E>,
) -> Result<(), E> {
    let mut sequence = StageSequence::default();
    for mut stage in stages {
        if interrupt.is_stopped() {
            break;
        }
        if sequence.begin(&mut stage) {
            let world = run(&stage)?;
            sequence.end(stage.kind, &world);
        }
    }
    Ok(())
}

impl StageSequence {
    /// Lets a stage begin with what those before it handed on; whether it runs.
    pub fn begin(&self, stage: &mut TestStage) -> bool {
        self.hand_to(&mut stage.plan);
        stage.runs_behind(self.ended)
    }

    /// Lets a plan begin with what the stages before it handed on.
    pub fn hand_to(&self, plan: &mut Plan) {
        if let Some(handed) = &self.handed {
            plan.begin_with(handed);
        }
    }

    /// A stage is over. Variables are those of setup: each user of a load has its own.
    pub fn end(&mut self, kind: StageKind, world: &Real) {
        let HandedOn { properties, variables } = world.handed_on();
        let before = self.handed.take().unwrap_or_default().variables;
        let variables = if kind == StageKind::Setup { variables } else { before };
        self.handed = Some(HandedOn { properties, variables });
        self.ended = self.ended.or(world.has_ended_test().then_some(kind));
    }

    /// Carries out a stage whose requests are to succeed. One that does not run is whole.
    ///
    /// # Errors
    ///
    /// A step failed, the stage took too long, or it could not be carried out.
    pub fn carry_out(
        &mut self,
        stage: &TestStage,
        session: &Session,
        control: Control,
        mut listener: Option<Box<dyn Listen>>,
    ) -> Result<StageEnd, RunError> {
        let mut stage = stage.clone();
        if !self.begin(&mut stage) {
            return Ok(StageEnd::Whole(Vec::new()));
        }
        let (plan, kind) = (&mut stage.plan, stage.kind);
        plan.record.records.get_or_insert_with(Records::default);
        let failed = |why: String| RunError::Stage(format!("{} {why}", kind.word()));
        let world = Real::new(plan)?;
        let mut last = LastFailure::default();
        let mut listeners: Vec<&mut dyn Listen> = vec![&mut last];
        listeners.extend(listener.as_deref_mut().map(|listener| listener as &mut dyn Listen));
        let request = RunRequest { listeners, ..RunRequest::new(plan, &world, control) };
        let RunResult { run, outcome, .. } = session.run(request);
        self.end(kind, &world);
        outcome.map_err(|error| failed(format!("failed: {error}")))?;
        if run.interrupted() {
            return Ok(StageEnd::Stopped);
        }
        if let Some(limit) = time_limit(plan, &run) {
            let (name, seconds) = (kind.word(), limit.as_secs_f64());
            return Err(failed(format!(
                "timed out after {seconds} s; give it more time: `{name}: {{timeout: 5m, steps: […]}}`"
            )));
        }
        if world.has_ended_test() {
            return Err(failed(
                last.0.map_or_else(|| "failed: one of its steps ended it".into(), |last| why(&stage, &last)),
            ));
        }
        Ok(StageEnd::Whole(run.warnings.iter().map(|warning| format!("{}: {warning}", kind.word())).collect()))
    }
}

/// Its time limit, where it has used it up.
fn time_limit(plan: &Plan, run: &Run) -> Option<Duration> {
    plan.stop().duration.filter(|limit| run.measured_seconds() >= limit.as_secs_f64())
}

/// Which step failed, and why.
fn why(stage: &TestStage, failed: &SampleRecord) -> String {
    let requests = &stage.plan.main().scenario.requests;
    let mut of_it = stage.places.iter().zip(requests).filter(|(_, request)| request.label == failed.label);
    let place = match (of_it.next(), of_it.next()) {
        (Some((place, _)), None) => format!(" at {place}"),
        _ => String::new(),
    };
    let status = format!("{} {}", failed.code, failed.message);
    let status = failed.message.strip_prefix("Non HTTP response message: ").unwrap_or(status.trim());
    let check = failed.failure_message.as_ref().map_or_else(String::new, |check| format!(", {check}"));
    format!("failed{place}: `{}`: {status}{check}", failed.label)
}

/// Keeps the last sample that failed: the one that ended the stage.
#[derive(Default)]
struct LastFailure(Option<SampleRecord>);

impl Listen for LastFailure {
    fn hear(&mut self, event: &Event) {
        let Event::Records(records) = event else { return };
        let failed = |record: &&SampleRecord| !record.success && record.sample_count > 0 && !record.is_transaction;
        if let Some(record) = records.iter().rev().find(failed) {
            self.0 = Some(record.clone());
        }
    }
}
