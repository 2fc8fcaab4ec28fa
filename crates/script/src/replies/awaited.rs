//! Compiles `until`: conditions for the WebSocket message that a request awaits.

use crate::replies::assertion::CompiledAssertion;
use crate::texts::compiled::Compiled;
use crate::texts::template::Template;
use crate::{Feeds, ScriptError};
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::Assertion;
use brunt_wire::request::{AwaitedMessage, MessageFilter};
use std::rc::Rc;
use std::sync::Arc;

/// Conditions for an awaited message, all of which must hold.
#[derive(Debug, Default)]
pub struct MessageConditions {
    conditions: Vec<Compiled<Assertion, Arc<CompiledAssertion>>>,
}

/// Conditions with the values of one request.
#[derive(Debug)]
struct FilledConditions(Vec<Arc<CompiledAssertion>>);

impl MessageConditions {
    /// Compiles the conditions of a policy.
    pub fn new(policy: &ReplyPolicy, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let conditions =
            policy.until.iter().map(|condition| Compiled::new(condition, feeds, compile));
        Ok(Self { conditions: conditions.collect::<Result<_, _>>()? })
    }

    /// True if they are the same for each request.
    pub fn are_constant(&self) -> bool {
        self.conditions.iter().all(|condition| matches!(condition, Compiled::Fixed(..)))
    }

    /// Creates the filter of one request, with its texts filled in by `fill`. None:
    /// any message is accepted.
    ///
    /// # Errors
    ///
    /// Describes a condition that is malformed with its values.
    pub fn filter(
        &self,
        mut fill: impl FnMut(&Template) -> String,
    ) -> Result<Option<AwaitedMessage>, String> {
        let conditions = self
            .conditions
            .iter()
            .map(|condition| condition.with(&mut fill, compile, |_, one| Arc::clone(one)));
        let conditions =
            conditions.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        Ok((!conditions.is_empty()).then(|| AwaitedMessage(Rc::new(FilledConditions(conditions)))))
    }
}

fn compile(assertion: &Assertion) -> Result<Arc<CompiledAssertion>, ScriptError> {
    CompiledAssertion::new(assertion).map(Arc::new)
}

impl MessageFilter for FilledConditions {
    fn accepts(&self, message: &[u8]) -> bool {
        let text = String::from_utf8_lossy(message);
        self.0.iter().all(|condition| condition.holds_for(&text))
    }
}
