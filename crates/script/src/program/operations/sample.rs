//! Samples without a request.

use super::fixed_sample::FixedMaker;
use super::{Op, SetVariables, StepFacts, stop};
use crate::ScriptError;
use crate::program::compiler::Compiler;
use crate::program::user::interpreter::{Interpreter, set_last_success};
use crate::replies::reactions::ReplyVerdict;
use crate::replies::records;
use crate::replies::script_call::{ScriptCall, sample_message};
use crate::replies::trace;
use crate::texts::context::UserContext;
use crate::texts::reply_view::{ReplyView, SampleChanges};
use crate::texts::script::{ScriptOutcome, ScriptView};
use crate::texts::template::Template;
use brunt_engine::{UserStep, UserTurn};
use brunt_model::scenario::{EndScope, SampleMaker, ScriptSample};
use brunt_model::{DataType, Failure, Outcome, Sample, SampleRecord};
use brunt_wire::{Prepared, Reply, Transport};
use std::fmt::Write;
use std::time::Duration;

pub const FACTS: StepFacts<'_> = StepFacts {
    is_sampler: true,
    variables: SetVariables::Any,
    ..StepFacts::new(0, Some("a script"))
};

/// Maximum pause of a script within a sample; longer ones are shortened.
const MAX_PAUSE_MILLIS: u64 = 1 << 40;

const GOOD: Outcome = Outcome { status: Some(200), failure: None, expected: true };

/// Makes a sample without a request.
#[derive(Debug)]
pub struct MakeSample {
    label: Template,
    maker: Maker,
    policy: u32,
}

/// A [`SampleMaker`] with compiled texts.
#[derive(Debug)]
enum Maker {
    Variables,
    Script(Box<ScriptCall>),
    Fixed(Box<FixedMaker>),
}

/// A sample before its assertions.
#[derive(Default)]
pub struct RawSample {
    pub changes: SampleChanges,
    pub stop: EndScope,
    /// Milliseconds of the sample beyond the time of making it.
    pub duration: u64,
    /// Milliseconds for which the user pauses.
    pub pause: u64,
    pub latency: u64,
    pub connect: u64,
}

pub fn compile(compiler: &mut Compiler<'_>, sample: &ScriptSample) -> Result<(), ScriptError> {
    let maker = match &sample.maker {
        SampleMaker::Variables => Maker::Variables,
        SampleMaker::Script(script) => {
            Maker::Script(Box::new(ScriptCall::new(script, compiler.feeds)?))
        }
        SampleMaker::Fixed(sample) => {
            Maker::Fixed(Box::new(FixedMaker::compile(compiler, sample)?))
        }
    };
    let label = compiler.text(&sample.label)?.without_secrets(compiler.feeds);
    compiler.push(Op::Sample(Box::new(MakeSample { label, maker, policy: sample.reply_policy })));
    stop::compile_end_by_sample(compiler);
    Ok(())
}

impl MakeSample {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) -> UserStep {
        let label = user.text(&self.label, turn);
        let Some(context) = user.context.as_deref() else { return UserStep::Sample };
        label.clone_into(&mut context.label.borrow_mut());
        let request = Prepared::default();
        let clocks = Sample { outcome: GOOD, ..Sample::default() };
        // Assertions and scripts see a reply with status 200.
        let reply = Reply { status: 200, details: Some(Box::default()), ..Reply::default() };
        let run_state = &user.script.context.run_state;
        let start = run_state.unix_millis();
        let mut reply_view = ReplyView::new(&request, Some(&reply), &clocks, context);
        let raw = self.maker.run(user, turn, context, &reply_view);
        // The pause of a script begins only after this step, but is a part of its sample.
        let elapsed = run_state.unix_millis().saturating_sub(start) + raw.duration;
        reply_view.elapsed_millis = elapsed;
        reply_view.bytes = raw.changes.body.as_ref().map_or(0, |body| body.len() as u64);
        let is_bad = raw.changes.success == Some(false);
        reply_view.change(raw.changes);
        let times =
            reply_view.changes.times.take().unwrap_or((start as i64, (start + elapsed) as i64));
        reply_view.changes.times = Some(times);
        let outcome = if is_bad { Outcome { failure: Some(Failure::Check), ..GOOD } } else { GOOD };
        let mut verdict = ReplyVerdict::new(outcome, user.recording.is_some());
        let reactions = &user.script.compiled.reactions[self.policy as usize];
        let fill = |template: &Template| user.script.text(template, turn.number, Some(context));
        reactions.keep(&reply_view, !is_bad);
        reactions.act(&mut reply_view, &mut verdict, fill);
        reactions.judge(&mut reply_view, &mut verdict, fill);
        reactions.keep(&reply_view, verdict.outcome.is_good());
        let failed = !verdict.outcome.is_good();
        user.failed_sample = Some(failed);
        set_last_success(context, !failed);
        if let Some(recording) = &mut user.recording {
            if reply_view.changes.is_ignored {
                recording.ignore();
            } else {
                let bytes = reply_view.body_bytes().len() as u64;
                let mut record = SampleRecord {
                    bytes,
                    data_type: DataType::Text,
                    latency_millis: raw.latency,
                    connect_millis: raw.connect,
                    ..records::of_user(&reply_view)
                };
                record.details = records::details(&reply_view);
                record.trace = trace::without_exchange(context, None);
                records::judge(
                    &mut record,
                    &reply_view,
                    !failed,
                    verdict.results.unwrap_or_default(),
                );
                recording.add(record);
            }
        }
        let failure_ends =
            if failed { user.script.policy(self.policy).failure_ends } else { EndScope::Nothing };
        // A script among the reactions may have ended a scope.
        let requested = context.stop.take();
        // The script's own stop takes precedence over that of a failure.
        let scope = [raw.stop, requested, failure_ends]
            .into_iter()
            .find(|scope| *scope != EndScope::Nothing);
        let pause = Duration::from_millis(raw.pause.min(MAX_PAUSE_MILLIS));
        let step = if pause.is_zero() { UserStep::Sample } else { UserStep::Think(pause) };
        scope.and_then(|scope| user.end(scope)).unwrap_or(step)
    }
}

impl Maker {
    fn run<T: Transport>(
        &self,
        user: &Interpreter<T>,
        turn: &UserTurn<'_>,
        context: &UserContext,
        reply_view: &ReplyView<'_>,
    ) -> RawSample {
        match self {
            Self::Variables => RawSample::from_variables(context),
            Self::Script(script) => {
                let view = ScriptView::of_new_sample(reply_view);
                match script.run(context, view, |text| user.text(text, turn)) {
                    Ok(outcome) => RawSample::from_script(outcome),
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
    fn from_script(outcome: ScriptOutcome) -> Self {
        let mut changes = outcome.changes;
        // As in JMeter, the value of the script is the body unless the script has set one.
        changes.body = changes.body.or(outcome.value.map(String::into_bytes));
        Self {
            changes,
            stop: outcome.stop,
            duration: outcome.pause,
            pause: outcome.pause,
            ..Self::default()
        }
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

    /// Lists the variables of a user as JMeter's Debug Sampler does.
    fn from_variables(context: &UserContext) -> Self {
        let mut text = String::from("JMeterVariables:\n");
        for (name, value) in context.variables.borrow().all() {
            let _ = writeln!(text, "{name}={value}"); // a String takes anything
        }
        text.push('\n');
        Self {
            changes: SampleChanges { body: Some(text.into_bytes()), ..SampleChanges::default() },
            ..Self::default()
        }
    }
}

/// Returns the message of a script that threw an exception, as JMeter words it.
fn jmeter_message(message: String, script: &str) -> String {
    // JMeter's message contains neither the name of the script nor the line.
    let Some(thrown) = message.strip_prefix(&format!("script `{script}`: ")) else {
        return message;
    };
    let thrown = thrown.rsplit_once(" (line ").map_or(thrown, |(thrown, _)| thrown);
    sample_message(thrown)
}
