//! Checks parts of a plan by JMeter's rules before the plan is compiled, so that messages
//! can name their place.

use crate::replies::reactions::Reactions;
use crate::replies::script_call::ScriptCall;
use crate::texts::script::{Languages, ParsedScript};
use crate::texts::variables::VariableNames;
use crate::{Feeds, ScriptError};
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::{Assertion, ReplyAction};
use brunt_model::scenario::{Script, TextRules};

fn feeds(languages: Languages) -> Feeds {
    Feeds::with_variables(TextRules::Jmeter, VariableNames::default(), languages)
}

/// Checks an extractor or a script. Texts that users fill in are checked when they are used.
pub fn action(action: &ReplyAction, languages: Languages) -> Result<(), ScriptError> {
    let policy = ReplyPolicy { actions: vec![action.clone()], ..ReplyPolicy::default() };
    // Compiling checks the action; the result is not needed.
    Reactions::new(&policy, &mut feeds(languages)).map(|_| ())
}

/// Checks the patterns and paths of an assertion.
pub fn assertion(assertion: &Assertion, languages: Languages) -> Result<(), ScriptError> {
    let policy = ReplyPolicy { assertions: vec![assertion.clone()], ..ReplyPolicy::default() };
    // Compiling checks the assertion; the result is not needed.
    Reactions::new(&policy, &mut feeds(languages)).map(|_| ())
}

/// Checks a script without placeholders.
pub fn fixed_script(script: &Script, languages: Languages) -> Result<(), ScriptError> {
    ParsedScript::new(languages, script).map(|_| ())
}

/// Checks the syntax of a script.
pub fn script(script: &Script, languages: Languages) -> Result<(), ScriptError> {
    ScriptCall::new(script, &mut feeds(languages)).map(|_| ())
}

/// Checks the syntax of a regular expression.
pub fn pattern(pattern: &str) -> Result<(), String> {
    crate::texts::pattern::Pattern::whole(pattern).map(|_| ())
}
