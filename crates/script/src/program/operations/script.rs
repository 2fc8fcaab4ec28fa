//! Scripts between requests, and changes of a request before it is sent.

use super::pause::{self, pause};
use super::{Op, SetVariables, StepFacts, final_step};
use crate::ScriptError;
use crate::program::compiler::{Compiler, next_request};
use crate::program::user::interpreter::Interpreter;
use crate::replies::modifier::CompiledModifier;
use crate::replies::script_call::ScriptCall;
use crate::texts::pending::PendingRequest;
use crate::texts::script::{ScriptView, ScriptedRequest};
use crate::texts::template::Template;
use brunt_engine::{UserStep, UserTurn};
use brunt_model::modifier::RequestModifier;
use brunt_model::scenario::{EndScope, ScenarioStep, Script};
use brunt_wire::Transport;

pub const FACTS: StepFacts<'_> =
    StepFacts { variables: SetVariables::Any, ..StepFacts::preparation(Some("a script")) };

/// Runs a script between requests.
#[derive(Debug)]
pub struct RunScript {
    call: Box<ScriptCall>,
    /// Number of the next request, if the script may change it.
    request: Option<u32>,
    /// True if the value of the script is a pause in milliseconds.
    is_pause: bool,
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    script: &Script,
    following: &[ScenarioStep],
) -> Result<(), ScriptError> {
    let call = Box::new(ScriptCall::new(script, compiler.feeds)?);
    compiler.push(Op::Script(RunScript {
        call,
        request: next_request(following),
        is_pause: false,
    }));
    Ok(())
}

pub fn compile_pause(
    compiler: &mut Compiler<'_>,
    script: &Script,
    following: &[ScenarioStep],
) -> Result<(), ScriptError> {
    let call = Box::new(ScriptCall::new(script, compiler.feeds)?);
    compiler.push(Op::Script(RunScript { call, request: next_request(following), is_pause: true }));
    Ok(())
}

impl RunScript {
    /// Returns the name of the script.
    pub fn name(&self) -> &str {
        self.call.name()
    }

    pub fn run<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> Option<UserStep> {
        let context = user.context.as_deref()?;
        // A script that does not read the request leaves it as earlier steps have changed it.
        let (mut pending, unchanged) = match (self.request, user.pending.take()) {
            (Some(request), Some(earlier)) if earlier.0 == request => (Some(earlier), None),
            (Some(request), earlier) => {
                (Some(Box::new((request, PendingRequest::default()))), earlier)
            }
            (None, earlier) => (None, earlier),
        };
        let number = user.request_number(turn);
        let texts =
            self.request.map(|request| user.script.entry(request as usize, number, Some(context)));
        let sampler = pending.as_mut().zip(texts.as_ref());
        let view = ScriptView::between_requests(
            sampler.map(|(pending, texts)| ScriptedRequest { pending: &mut pending.1, texts }),
        );
        let result = self.call.run(context, view, |template| user.text(template, turn));
        user.pending = pending.filter(|pending| pending.1.was_read()).or(unchanged);
        match result {
            Ok(outcome) if outcome.stop != EndScope::Nothing => Some(final_step(outcome.stop)),
            Ok(outcome) => {
                let value = outcome.value.filter(|_| self.is_pause);
                let value = value.map_or(0.0, |value| pause::number(&value).trunc());
                pause(outcome.pause as f64 + value.max(0.0))
            }
            Err(why) if self.call.is_forgiving => {
                user.context.iter().for_each(|context| context.trace(|tracing| tracing.note(&why)));
                None
            }
            Err(why) => Some(UserStep::Broken(why)),
        }
    }
}

pub const CHANGE_FACTS: StepFacts<'_> = StepFacts::preparation(Some("a change of a request"));

/// Changes the next request.
#[derive(Debug)]
pub struct ChangeRequest {
    modifier: Box<CompiledModifier>,
    request: u32,
}

pub fn compile_change(
    compiler: &mut Compiler<'_>,
    modifier: &RequestModifier,
    following: &[ScenarioStep],
) -> Result<(), ScriptError> {
    let modifier = Box::new(CompiledModifier::new(modifier, compiler.feeds)?);
    // Samples without a request are not changed.
    if let Some(request) = next_request(following) {
        compiler.push(Op::Change(ChangeRequest { modifier, request }));
    }
    Ok(())
}

impl ChangeRequest {
    /// Returns the number of the request that it changes.
    pub fn request(&self) -> usize {
        self.request as usize
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        let Some(context) = user.context.as_deref() else { return };
        let earlier = user.pending.take().filter(|pending| pending.0 == self.request);
        let mut pending =
            earlier.unwrap_or_else(|| Box::new((self.request, PendingRequest::default())));
        let number = user.request_number(turn);
        let texts = user.script.entry(self.request as usize, number, Some(context));
        let fill = |template: &Template| user.text(template, turn);
        self.modifier.apply(
            context,
            ScriptedRequest { pending: &mut pending.1, texts: &texts },
            fill,
        );
        user.pending = Some(pending);
    }
}
