//! Languages of scripts in JMeter's plans, as rows for `brunt_script`.
//!
//! A script has a limited number of operations. It reaches files below the folder of its plan, but
//! neither processes nor the network.
//!
//! * `groovy`: Groovy and `BeanShell`, which `brunt_groovy` interprets. `jexl`: expressions of JEXL.

mod groovy;
mod jexl;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use brunt_groovy::Dialect;
use brunt_model::scenario::{Script, ScriptLanguage};
use brunt_script::Languages;
use brunt_script::scripting::LanguageRow;

/// All languages: those of the core, and those of JMeter's plans.
pub const LANGUAGES: Languages = Languages::with(ROWS);

const ROWS: &[LanguageRow] = &[groovy::GROOVY, groovy::BEANSHELL, jexl::ROW];

/// Returns a class of a third-party library that the script imports and uses, if only such classes
/// keep it from being parsed. Apache JMeter does not contain them either.
pub fn foreign_class(script: &Script) -> Option<String> {
    match script.language {
        ScriptLanguage::Groovy => groovy::foreign_class(&script.source, Dialect::Groovy),
        ScriptLanguage::Beanshell => groovy::foreign_class(&script.source, Dialect::BeanShell),
        ScriptLanguage::Javascript | ScriptLanguage::Jexl => None,
    }
}
