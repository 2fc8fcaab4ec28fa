//! Runs the stages of a test one after the other: selects them, passes on variables,
//! and checks their results.

use crate::error::RunError;
use crate::interrupt::Interrupt;
use crate::run::EventListener;
use crate::session::{CommandSession, RunRequest, RunResult};
use crate::world::RealWorld;
use brunt_engine::RunControl;
use brunt_model::plan::ListenerRecords;
use brunt_model::{Event, Plan, Run, SampleRecord, StageKind, StageOutput, TestStage, Text, text};
use std::time::Duration;

/// Determines which stages of a test run, and their initial variables.
#[derive(Debug, Default)]
pub struct StageSequence {
    /// The stage that ended the test.
    ended_by: Option<StageKind>,
    /// Properties and variables that the stages so far pass on.
    stage_output: Option<StageOutput>,
}

/// End of a stage that did not fail.
#[derive(Debug, PartialEq, Eq)]
pub enum StageEnd {
    /// The last step was completed. The texts are warnings of the stage.
    Whole(Vec<Text>),
    /// The stage was stopped early.
    Stopped,
}

/// Carries out stages one after the other, each with the variables of the stages before it, until
/// they are interrupted. `run` carries out one stage, and returns the world in which it ran.
///
/// # Errors
///
/// Those of `run`. No further stage is started after an error.
pub fn run_stages<E>(
    stages: Vec<TestStage>,
    interrupt: &Interrupt,
    mut run: impl FnMut(&TestStage) -> Result<RealWorld, E>,
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
    /// Passes the output of earlier stages to a stage. Returns true if the stage runs.
    pub fn begin(&self, stage: &mut TestStage) -> bool {
        self.hand_to(&mut stage.plan);
        stage.runs_after(self.ended_by)
    }

    /// Passes the output of earlier stages to a plan.
    pub fn hand_to(&self, plan: &mut Plan) {
        if let Some(stage_output) = &self.stage_output {
            plan.apply_stage_output(stage_output);
        }
    }

    /// Ends a stage, and keeps its output. Only setup passes on variables, since each user of a
    /// load has its own.
    pub fn end(&mut self, kind: StageKind, world: &RealWorld) {
        let StageOutput { properties, variables } = world.stage_output();
        let earlier = self.stage_output.take().unwrap_or_default().variables;
        let variables = if kind == StageKind::Setup { variables } else { earlier };
        self.stage_output = Some(StageOutput { properties, variables });
        self.ended_by = self.ended_by.or(world.has_ended_test().then_some(kind));
    }

    /// Carries out a stage in which all requests must succeed. A stage that does not
    /// run counts as completed.
    ///
    /// # Errors
    ///
    /// A step failed, the stage timed out, or it could not be carried out.
    pub fn carry_out(
        &mut self,
        stage: &TestStage,
        session: &CommandSession,
        control: RunControl,
        mut listener: Option<Box<dyn EventListener>>,
    ) -> Result<StageEnd, RunError> {
        let mut stage = stage.clone();
        if !self.begin(&mut stage) {
            return Ok(StageEnd::Whole(Vec::new()));
        }
        let plan = &mut stage.plan;
        let kind = stage.kind;
        // The listener needs each sample to name the step that failed.
        plan.record.records.get_or_insert_with(ListenerRecords::default);
        let world = session.world(plan)?;
        let mut last = LastFailure::default();
        let mut listeners: Vec<&mut dyn EventListener> = vec![&mut last];
        listeners
            .extend(listener.as_deref_mut().map(|listener| listener as &mut dyn EventListener));
        let request = RunRequest { listeners, ..RunRequest::new(plan, &world, control) };
        let RunResult { run, outcome, .. } = session.run(request);
        self.end(kind, &world);
        outcome.map_err(|error| stage_error(kind, &format!("failed: {error}")))?;
        if run.is_interrupted() {
            return Ok(StageEnd::Stopped);
        }
        if let Some(limit) = time_limit(plan, &run) {
            let name = kind.word();
            let seconds = limit.as_secs_f64();
            let wrong = format!(
                "timed out after {seconds} s; give it more time: `{name}: {{timeout: 5m, steps: […]}}`"
            );
            return Err(stage_error(kind, &wrong));
        }
        if world.has_ended_test() {
            let wrong = last.0.map_or_else(
                || "failed: one of its steps ended it".into(),
                |last| why(&stage, &last),
            );
            return Err(stage_error(kind, &wrong));
        }
        Ok(StageEnd::Whole(
            run.warnings.iter().map(|warning| of_stage(kind, warning.clone())).collect(),
        ))
    }
}

/// Adds the stage to a warning.
fn of_stage(kind: StageKind, warning: Text) -> Text {
    match kind {
        StageKind::Setup => text!("warning-stage-setup", warning),
        StageKind::Main => warning,
        StageKind::Teardown => text!("warning-stage-teardown", warning),
    }
}

fn stage_error(kind: StageKind, wrong: &str) -> RunError {
    RunError::Stage(format!("{} {wrong}", kind.word()))
}

/// Time limit of a stage, if the stage reached it.
fn time_limit(plan: &Plan, run: &Run) -> Option<Duration> {
    plan.stop().duration.filter(|limit| run.measured_seconds() >= limit.as_secs_f64())
}

/// Place of the step that failed, and the reason.
fn why(stage: &TestStage, failed: &SampleRecord) -> String {
    let requests = &stage.plan.main().scenario.requests;
    let mut candidates =
        stage.places.iter().zip(requests).filter(|(_, request)| request.label == failed.label);
    let place = match (candidates.next(), candidates.next()) {
        // Several steps may have the same label; then the place is unknown.
        (Some((place, _)), None) => format!(" at {place}"),
        _ => String::new(),
    };
    let status = format!("{} {}", failed.code, failed.message);
    // JMeter begins the messages of failed connections in this way.
    let status =
        failed.message.strip_prefix("Non HTTP response message: ").unwrap_or(status.trim());
    let check =
        failed.failure_message.as_ref().map_or_else(String::new, |check| format!(", {check}"));
    format!("failed{place}: `{}`: {status}{check}", failed.label)
}

/// Listener that keeps the last failed sample, which ended the stage.
#[derive(Default)]
struct LastFailure(Option<SampleRecord>);

impl EventListener for LastFailure {
    fn on_event(&mut self, event: &Event) {
        let Event::Records(records) = event else { return };
        let last =
            // A transaction fails because of its samples, which name the step.
            records.iter().rev().find(|record| !record.success && record.sample_count > 0 && !record.is_transaction);
        if let Some(record) = last {
            self.0 = Some(record.clone());
        }
    }
}
