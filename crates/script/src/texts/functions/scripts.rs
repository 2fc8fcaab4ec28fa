//! Functions with a script as their argument. The result is the text of its value; empty if it
//! fails or is `null`.

use super::{Call, Function};
use crate::texts::script::{Languages, SourceKind};
use brunt_model::scenario::ScriptLanguage;

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["groovy"],
        arguments: 1..=2,
        about: "the value of a script in Groovy; variable",
        call: |call| value(call, ScriptLanguage::Groovy),
    },
    Function {
        names: &["BeanShell"],
        arguments: 1..=2,
        about: "the value of a script in BeanShell; variable",
        call: |call| value(call, ScriptLanguage::Beanshell),
    },
    Function {
        names: &["jexl3", "jexl2", "jexl"],
        arguments: 1..=2,
        about: "the value of an expression in JEXL; variable",
        call: |call| value(call, ScriptLanguage::Jexl),
    },
    Function {
        names: &["javaScript"],
        arguments: 1..=2,
        about: "the value of a script in JavaScript; variable",
        call: |call| value(call, ScriptLanguage::Javascript),
    },
];

fn value(call: &Call<'_>, language: ScriptLanguage) -> String {
    match call.user.worker.expressions.text(language, call.text(0), call.user) {
        Ok(text) => call.into_variable(1, text.unwrap_or_default()),
        Err(_) => String::new(),
    }
}

/// Returns the language of a function with a script as its first argument.
fn language(function: &Function) -> Option<ScriptLanguage> {
    Some(match function.names[0] {
        "groovy" => ScriptLanguage::Groovy,
        "BeanShell" => ScriptLanguage::Beanshell,
        "jexl3" => ScriptLanguage::Jexl,
        "javaScript" => ScriptLanguage::Javascript,
        _ => return None,
    })
}

/// Checks that this program was built with the language of a function.
///
/// # Errors
///
/// It was built without it.
pub fn check_built(function: &Function, languages: Languages) -> Result<(), String> {
    language(function).map_or(Ok(()), |language| languages.check_built(language))
}

/// Parses the script of a call with constant arguments, so that errors are found before the load.
pub fn check(function: &Function, source: &str, languages: Languages) -> Result<(), String> {
    let Some(language) = language(function) else { return Ok(()) };
    languages.parse(language, source, SourceKind::Expression).map(|_| ())
}
