//! Samples with fixed parts.

use super::pause::{MAX_PAUSE_MILLIS, number};
use super::sample::RawSample;
use crate::ScriptError;
use crate::program::compiler::Compiler;
use crate::program::user::interpreter::Interpreter;
use crate::texts::reply_view::SampleChanges;
use crate::texts::template::Template;
use brunt_engine::UserTurn;
use brunt_model::scenario::FixedSample;
use brunt_wire::Transport;

/// A [`FixedSample`] with compiled texts.
#[derive(Debug)]
pub struct FixedMaker {
    success: bool,
    code: Template,
    message: Template,
    body: Template,
    elapsed: Template,
    latency: Template,
    connect: Template,
    waits: bool,
}

impl FixedMaker {
    pub fn compile(compiler: &mut Compiler<'_>, sample: &FixedSample) -> Result<Self, ScriptError> {
        Ok(Self {
            success: sample.success,
            code: compiler.text(&sample.code)?,
            message: compiler.text(&sample.message)?,
            body: compiler.text(&sample.body)?,
            elapsed: compiler.text(&sample.elapsed)?,
            latency: compiler.text(&sample.latency)?,
            connect: compiler.text(&sample.connect)?,
            waits: sample.waits,
        })
    }

    pub fn run<T: Transport>(&self, user: &Interpreter<T>, turn: &UserTurn<'_>) -> RawSample {
        let changes = SampleChanges {
            code: Some(user.text(&self.code, turn)),
            message: Some(user.text(&self.message, turn)),
            body: Some(user.text(&self.body, turn).into_bytes()),
            success: Some(self.success),
            ..SampleChanges::default()
        };
        let elapsed = millis(&user.text(&self.elapsed, turn));
        RawSample {
            changes,
            duration: elapsed,
            pause: if self.waits { elapsed } else { 0 },
            latency: millis(&user.text(&self.latency, turn)),
            connect: millis(&user.text(&self.connect, turn)),
            ..RawSample::default()
        }
    }
}

fn millis(text: &str) -> u64 {
    number(text).clamp(0.0, MAX_PAUSE_MILLIS) as u64
}
