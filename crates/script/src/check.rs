//! Checks parts of a plan by JMeter's rules before the plan is compiled, so that messages
//! can name their place.

use crate::languages::LANGUAGES;
use crate::replies::reactions::Reactions;
use crate::replies::script_call::ScriptCall;
use crate::texts::script::ParsedScript;
use crate::texts::variables::VariableNames;
use crate::{Feeds, ScriptError};
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::{Assertion, ReplyAction};
use brunt_model::scenario::{Script, TextRules};

fn feeds() -> Feeds {
    Feeds::with_variables(TextRules::Jmeter, VariableNames::default(), LANGUAGES)
}

/// Checks an extractor or a script. Texts that users fill in are checked when they are used.
pub fn action(action: &ReplyAction) -> Result<(), ScriptError> {
    let policy = ReplyPolicy { actions: vec![action.clone()], ..ReplyPolicy::default() };
    // Compiling checks the action; the result is not needed.
    Reactions::new(&policy, &mut feeds()).map(|_| ())
}

/// Checks the patterns and paths of an assertion.
pub fn assertion(assertion: &Assertion) -> Result<(), ScriptError> {
    let policy = ReplyPolicy { assertions: vec![assertion.clone()], ..ReplyPolicy::default() };
    // Compiling checks the assertion; the result is not needed.
    Reactions::new(&policy, &mut feeds()).map(|_| ())
}

/// Checks a script without placeholders.
pub fn fixed_script(script: &Script) -> Result<(), ScriptError> {
    ParsedScript::new(LANGUAGES, script).map(|_| ())
}

/// Checks the syntax of a script.
pub fn script(script: &Script) -> Result<(), ScriptError> {
    ScriptCall::new(script, &mut feeds()).map(|_| ())
}

/// Returns a class of a third-party library that the script imports and uses, if only such classes
/// keep it from being parsed. Apache JMeter does not contain them either.
pub fn foreign_class(script: &Script) -> Option<String> {
    crate::languages::foreign_class(script.language, &script.source)
}

/// Checks the syntax of a regular expression.
pub fn pattern(pattern: &str) -> Result<(), String> {
    crate::texts::pattern::Pattern::whole(pattern).map(|_| ())
}
