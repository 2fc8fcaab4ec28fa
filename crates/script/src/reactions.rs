//! What a user does with a reply by the policy of its request, compiled: extractors in order, then assertions.

use crate::assertion::CompiledAssertion;
use crate::extract::CompiledExtractor;
use crate::scripts::{ParsedScript, ScriptOutcome};
use crate::searched::Searched;
use crate::template::{Place, Template};
use crate::texts::Compiled;
use crate::{Feeds, ScriptError};
use brunt_model::extract::Extractor;
use brunt_model::reply_policy::{Assertion, ReplyAction};
use brunt_model::scenario::Scope;
use brunt_model::{Failure, Outcome, ReplyPolicy};

/// What is done with a reply.
#[derive(Debug)]
pub struct Reactions {
    actions: Vec<Action>,
    assertions: Vec<Compiled<Assertion, CompiledAssertion>>,
}

#[derive(Debug)]
enum Action {
    Extract(Compiled<Extractor, CompiledExtractor>),
    /// A script and its parameters.
    Script(Box<ParsedScript>, Template),
    /// A variable, and its text.
    Set(String, Template),
}

impl Action {
    fn new(action: &ReplyAction, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        Ok(match action {
            ReplyAction::Extract(extractor) => Self::Extract(Compiled::new(extractor, feeds, CompiledExtractor::new)?),
            ReplyAction::Script(script) => {
                let parameters = Template::compile_expressions(&script.parameters, Place::Text, feeds)?;
                Self::Script(Box::new(ParsedScript::new(script, &script.source)?), parameters)
            }
            ReplyAction::Set { variable, value } => {
                Self::Set(variable.clone(), Template::compile_expressions(value, Place::Text, feeds)?)
            }
        })
    }
}

impl Reactions {
    /// Compiles the actions and assertions of a policy.
    ///
    /// # Errors
    ///
    /// One of them makes no sense.
    pub fn new(policy: &ReplyPolicy, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let actions = policy.actions.iter().map(|action| Action::new(action, feeds)).collect::<Result<_, _>>()?;
        let compile = |assertion| Compiled::new(assertion, feeds, CompiledAssertion::new);
        let assertions = policy.assertions.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { actions, assertions })
    }

    /// Sets variables from a reply and runs scripts, in order; what became of the request, which a script may say. `fill` makes
    /// texts. An extractor or script that makes no sense only now is a failure of the request.
    pub fn act(&self, searched: &Searched<'_>, mut outcome: Outcome, fill: impl Fn(&Template) -> String) -> Outcome {
        for action in &self.actions {
            let went_well = match action {
                Action::Extract(extractor) => {
                    let set = |extractor: &CompiledExtractor| {
                        let mut random = searched.user.worker.random.borrow_mut();
                        extractor.set(searched, &mut *random);
                    };
                    extractor.with(&fill, CompiledExtractor::new, set).is_ok()
                }
                Action::Script(script, parameters) => {
                    let reply = Some((searched, outcome.is_good()));
                    let ran = script.run(searched.user, reply, &fill(parameters));
                    ran.map(|ran| obey(&ran, searched, &mut outcome)).is_ok()
                }
                Action::Set(variable, value) => {
                    let value = fill(value);
                    searched.user.variables.borrow_mut().set(variable, &value);
                    true
                }
            };
            if !went_well && searched.reply.is_some() {
                outcome.failure = Some(Failure::Check);
            }
        }
        outcome
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

/// What a script says of the reply and of its user.
fn obey(ran: &ScriptOutcome, searched: &Searched<'_>, outcome: &mut Outcome) {
    if ran.stop != Scope::Nothing {
        searched.user.stop.set(ran.stop);
    }
    match ran.success {
        Some(true) if searched.reply.is_some() => (outcome.expected, outcome.failure) = (true, None),
        Some(false) if searched.reply.is_some() => outcome.failure = Some(Failure::Check),
        _ => {}
    }
}
