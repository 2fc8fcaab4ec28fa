//! What a user does with a reply by the policy of its request, compiled: extractors in order, then assertions.

use crate::assertion::CompiledAssertion;
use crate::extract::CompiledExtractor;
use crate::searched::Searched;
use crate::template::Template;
use crate::texts::Compiled;
use crate::{Feeds, ScriptError};
use brunt_model::extract::Extractor;
use brunt_model::reply_policy::{Assertion, ReplyAction};
use brunt_model::{Failure, Outcome, ReplyPolicy};

/// What is done with a reply.
#[derive(Debug)]
pub struct Reactions {
    extractors: Vec<Compiled<Extractor, CompiledExtractor>>,
    assertions: Vec<Compiled<Assertion, CompiledAssertion>>,
}

impl Reactions {
    /// Compiles the actions and assertions of a policy.
    ///
    /// # Errors
    ///
    /// One of them makes no sense.
    pub fn new(policy: &ReplyPolicy, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let mut extractors = Vec::new();
        for action in &policy.actions {
            match action {
                ReplyAction::Extract(extractor) => {
                    extractors.push(Compiled::new(extractor, feeds, CompiledExtractor::new)?);
                }
                ReplyAction::Script(script) => {
                    let wrong = format!("`{}` is a script, and this build runs none; leave it out", script.name);
                    return Err(ScriptError::Scenario(wrong));
                }
            }
        }
        let compile = |assertion| Compiled::new(assertion, feeds, CompiledAssertion::new);
        let assertions = policy.assertions.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { extractors, assertions })
    }

    /// Sets variables from a reply; `fill` makes texts. What makes no sense only now is told.
    pub fn extract(&self, searched: &Searched<'_>, fill: impl Fn(&Template) -> String, mut warn: impl FnMut(String)) {
        for extractor in &self.extractors {
            let set = |extractor: &CompiledExtractor| {
                let mut random = searched.user.worker.random.borrow_mut();
                extractor.set(searched, &mut *random);
            };
            if let Err(error) = extractor.with(&fill, CompiledExtractor::new, set) {
                warn(error.to_string());
            }
        }
    }

    /// What became of a request, whose outcome without assertions this is.
    pub fn judge(&self, searched: &Searched<'_>, mut outcome: Outcome, fill: impl Fn(&Template) -> String) -> Outcome {
        if searched.reply.is_none() {
            return outcome;
        }
        for assertion in &self.assertions {
            let look = |assertion: &CompiledAssertion| {
                if assertion.ignores_status() && outcome.failure.is_none() {
                    outcome.expected = true;
                }
                assertion.check(searched)
            };
            let holds = assertion.with(&fill, CompiledAssertion::new, look);
            if !matches!(holds, Ok(Ok(()))) {
                outcome.failure = Some(Failure::Check);
            }
        }
        outcome
    }
}
