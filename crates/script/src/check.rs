//! Whether parts of a plan by JMeter's rules make sense, before the plan is compiled: for messages that name their place.

use crate::languages::LANGUAGES;
use crate::replies::reactions::Reactions;
use crate::replies::script_call::ScriptCall;
use crate::texts::script::ParsedScript;
use crate::texts::variables::Names;
use crate::{Feeds, ScriptError};
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::{Assertion, ReplyAction};
use brunt_model::scenario::{Script, TextRules};

fn feeds() -> Feeds {
    Feeds::with_variables(TextRules::Jmeter, Names::default(), LANGUAGES)
}

/// Why an extractor or a script makes no sense; one whose texts users fill in is looked at when it is used.
///
/// # Errors
///
/// What is wrong with it.
pub fn action(action: &ReplyAction) -> Result<(), ScriptError> {
    let policy = ReplyPolicy { actions: vec![action.clone()], ..ReplyPolicy::default() };
    Reactions::new(&policy, &mut feeds()).map(|_| ())
}

/// Why an assertion makes no sense.
///
/// # Errors
///
/// What is wrong with it.
pub fn assertion(assertion: &Assertion) -> Result<(), ScriptError> {
    let policy = ReplyPolicy { assertions: vec![assertion.clone()], ..ReplyPolicy::default() };
    Reactions::new(&policy, &mut feeds()).map(|_| ())
}

/// Why a script cannot be read that is taken as it is written.
///
/// # Errors
///
/// What is wrong with it.
pub fn fixed_script(script: &Script) -> Result<(), ScriptError> {
    ParsedScript::new(LANGUAGES, script).map(|_| ())
}

/// Why a script cannot be read.
///
/// # Errors
///
/// What is wrong with it.
pub fn script(script: &Script) -> Result<(), ScriptError> {
    ScriptCall::new(script, &mut feeds()).map(|_| ())
}

/// The class of a library that a script imports and uses, where nothing but such classes keeps it from being read: Apache JMeter has
/// none of them either.
pub fn foreign_class(script: &Script) -> Option<String> {
    crate::languages::foreign_class(script.language, &script.source)
}

/// Whether this is a regular expression.
///
/// # Errors
///
/// Why it is none.
pub fn pattern(pattern: &str) -> Result<(), String> {
    crate::texts::pattern::Pattern::whole(pattern).map(|_| ())
}
