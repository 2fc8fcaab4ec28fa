//! Compiles `until`: the conditions of the WebSocket message that a request awaits.

use crate::replies::assertion::CompiledAssertion;
use crate::texts::compiled::Compiled;
use crate::texts::template::Template;
use crate::{Feeds, ScriptError};
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::Assertion;
use brunt_wire::request::{AwaitedMessage, MessageFilter};
use std::rc::Rc;
use std::sync::Arc;

/// The conditions of an awaited message, all of which must hold.
#[derive(Debug, Default)]
pub struct MessageConditions {
    conditions: Vec<Compiled<Assertion, Arc<CompiledAssertion>>>,
}

/// Conditions with the values of one request.
#[derive(Debug)]
struct FilledConditions(Vec<Arc<CompiledAssertion>>);

impl MessageConditions {
    /// Compiles the conditions of a policy.
    ///
    /// # Errors
    ///
    /// One of them makes no sense.
    pub fn new(policy: &ReplyPolicy, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let conditions = policy.until.iter().map(|condition| Compiled::new(condition, feeds, compile));
        Ok(Self { conditions: conditions.collect::<Result<_, _>>()? })
    }

    /// Whether they are the same for each request.
    pub fn are_constant(&self) -> bool {
        self.conditions.iter().all(|condition| matches!(condition, Compiled::Fixed(..)))
    }

    /// The filter of one request, with its texts filled in by `fill`; None: any message is taken.
    ///
    /// # Errors
    ///
    /// In words: a text became something that makes no sense.
    pub fn filter(&self, mut fill: impl FnMut(&Template) -> String) -> Result<Option<AwaitedMessage>, String> {
        let filled =
            self.conditions.iter().map(|condition| condition.with(&mut fill, compile, |_, one| Arc::clone(one)));
        let filled = filled.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        Ok((!filled.is_empty()).then(|| AwaitedMessage(Rc::new(FilledConditions(filled)))))
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
