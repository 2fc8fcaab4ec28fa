//! Samples that are no requests.

use super::fixed_sample::FixedMaker;
use super::{Facts, Op, SetVariables, stop};
use crate::ScriptError;
use crate::program::compiler::Compiler;
use crate::program::user::interpreter::{Interpreter, set_last_success};
use crate::replies::reactions::Verdict;
use crate::replies::records;
use crate::replies::script_call::{ScriptCall, sample_message};
use crate::replies::trace;
use crate::texts::context::UserContext;
use crate::texts::script::{ScriptOutcome, ScriptView};
use crate::texts::searched::{SampleChanges, Searched};
use crate::texts::template::Template;
use brunt_engine::{Step, Turn};
use brunt_model::scenario::{SampleMaker, Scope, ScriptSample};
use brunt_model::{DataType, Failure, Outcome, Sample, SampleRecord};
use brunt_wire::{Prepared, Reply, Transport};
use std::fmt::Write;
use std::time::Duration;

pub const FACTS: Facts<'_> =
    Facts { is_sampler: true, variables: SetVariables::Any, ..Facts::new(0, Some("a script")) };

/// Longer pauses of a script within a sample are shortened to this.
const LONGEST_PAUSE_MILLIS: u64 = 1 << 40;

const GOOD: Outcome = Outcome { status: Some(200), failure: None, expected: true };

/// Makes a sample that is no request.
#[derive(Debug)]
pub struct MakeSample {
    label: Template,
    maker: Maker,
    /// The number of the policy.
    policy: u32,
}

/// A [`SampleMaker`], compiled.
#[derive(Debug)]
enum Maker {
    Variables,
    Script(Box<ScriptCall>),
    Fixed(Box<FixedMaker>),
}

/// A sample before assertions.
#[derive(Default)]
pub struct RawSample {
    pub changes: SampleChanges,
    pub stop: Scope,
    /// Milliseconds that the sample lasts longer than it takes to make it.
    pub duration: u64,
    /// Milliseconds for which the user pauses.
    pub pause: u64,
    pub latency: u64,
    pub connect: u64,
}

pub fn compile(compiler: &mut Compiler<'_>, sample: &ScriptSample) -> Result<(), ScriptError> {
    let maker = match &sample.maker {
        SampleMaker::Variables => Maker::Variables,
        SampleMaker::Script(script) => Maker::Script(Box::new(ScriptCall::new(script, compiler.feeds)?)),
        SampleMaker::Fixed(sample) => Maker::Fixed(Box::new(FixedMaker::compile(compiler, sample)?)),
    };
    let label = compiler.text(&sample.label)?;
    compiler.push(Op::Sample(Box::new(MakeSample { label, maker, policy: sample.reply_policy })));
    stop::compile_end_by_sample(compiler);
    Ok(())
}

impl MakeSample {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &Turn<'_>) -> Step {
        let label = user.text(&self.label, turn);
        let Some(context) = user.context.as_deref() else { return Step::Sample };
        label.clone_into(&mut context.label.borrow_mut());
        let request = Prepared::default();
        let clocks = Sample { outcome: GOOD, ..Sample::default() };
        let reply = Reply { status: 200, kept: Some(Box::default()), ..Reply::default() };
        let surroundings = &user.script.context.surroundings;
        let start = surroundings.unix_millis();
        let mut searched = Searched::new(&request, Some(&reply), &clocks, context);
        let raw = self.maker.run(user, turn, context, &searched);
        let elapsed = surroundings.unix_millis().saturating_sub(start) + raw.duration;
        searched.elapsed_millis = elapsed;
        searched.bytes = raw.changes.body.as_ref().map_or(0, |body| body.len() as u64);
        let is_bad = raw.changes.success == Some(false);
        searched.change(raw.changes);
        let times = searched.changes.times.take().unwrap_or((start as i64, (start + elapsed) as i64));
        searched.changes.times = Some(times);
        let outcome = if is_bad { Outcome { failure: Some(Failure::Check), ..GOOD } } else { GOOD };
        let mut verdict = Verdict::new(outcome, user.recording.is_some());
        let reactions = &user.script.compiled.reactions[self.policy as usize];
        let fill = |template: &Template| user.script.text(template, turn.number, Some(context));
        reactions.keep(&searched, !is_bad);
        reactions.act(&mut searched, &mut verdict, fill);
        reactions.judge(&mut searched, &mut verdict, fill);
        reactions.keep(&searched, verdict.outcome.is_good());
        let failed = !verdict.outcome.is_good();
        user.failed_sample = Some(failed);
        set_last_success(context, !failed);
        if let Some(recording) = &mut user.recording {
            if searched.changes.is_ignored {
                recording.ignore();
            } else {
                let bytes = searched.body_bytes().len() as u64;
                let mut record = SampleRecord {
                    bytes,
                    data_type: DataType::Text,
                    latency_millis: raw.latency,
                    connect_millis: raw.connect,
                    ..records::of_user(&searched)
                };
                record.details = records::details(&searched);
                record.trace = trace::without_exchange(context, None);
                records::judge(&mut record, &searched, !failed, verdict.results.unwrap_or_default());
                recording.add(record);
            }
        }
        let failure_ends = if failed { user.script.policy(self.policy).failure_ends } else { Scope::Nothing };
        let requested = context.stop.take();
        let scope = [raw.stop, requested, failure_ends].into_iter().find(|scope| *scope != Scope::Nothing);
        let pause = Duration::from_millis(raw.pause.min(LONGEST_PAUSE_MILLIS));
        let step = if pause.is_zero() { Step::Sample } else { Step::Think(pause) };
        scope.and_then(|scope| user.end(scope)).unwrap_or(step)
    }
}

impl Maker {
    fn run<T: Transport>(
        &self,
        user: &Interpreter<T>,
        turn: &Turn<'_>,
        context: &UserContext,
        searched: &Searched<'_>,
    ) -> RawSample {
        match self {
            Self::Variables => RawSample::listing(context),
            Self::Script(script) => {
                let view = ScriptView::making(searched);
                match script.run(context, view, |text| user.text(text, turn)) {
                    Ok(outcome) => RawSample::of_script(outcome),
                    Err(why) if script.is_forgiving => {
                        RawSample::failure("500".into(), jmeter_message(why, script.name()))
                    }
                    Err(why) => RawSample::failure("500".into(), why),
                }
            }
            Self::Fixed(sample) => sample.run(user, turn),
        }
    }
}

impl RawSample {
    fn of_script(outcome: ScriptOutcome) -> Self {
        let mut changes = outcome.changes;
        changes.body = changes.body.or(outcome.value.map(String::into_bytes));
        Self { changes, stop: outcome.stop, duration: outcome.pause, pause: outcome.pause, ..Self::default() }
    }

    fn failure(code: String, message: String) -> Self {
        let changes = SampleChanges {
            code: Some(code),
            message: Some(message),
            success: Some(false),
            ..SampleChanges::default()
        };
        Self { changes, ..Self::default() }
    }

    /// The variables of a user as JMeter's Debug Sampler lists them.
    fn listing(context: &UserContext) -> Self {
        let mut text = String::from("JMeterVariables:\n");
        for (name, value) in context.variables.borrow().all() {
            let _ = writeln!(text, "{name}={value}"); // a String takes anything
        }
        text.push('\n');
        Self { changes: SampleChanges { body: Some(text.into_bytes()), ..SampleChanges::default() }, ..Self::default() }
    }
}

/// The message of a script that threw, in JMeter's words.
fn jmeter_message(message: String, script: &str) -> String {
    let Some(thrown) = message.strip_prefix(&format!("script `{script}`: ")) else { return message };
    let thrown = thrown.rsplit_once(" (line ").map_or(thrown, |(thrown, _)| thrown);
    sample_message(thrown)
}
