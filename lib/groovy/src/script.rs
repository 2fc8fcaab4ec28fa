//! A script: parsed once, run as often as needed.

use crate::budget::Budget;
use crate::error::{RunError, SyntaxError};
use crate::host::Host;
use crate::syntax::ast::Code;
use crate::value::Value;
use std::sync::Arc;

/// The language that a script is written in. Both are read by one grammar; the dialect decides where they contradict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Groovy: `"…"` may hold `${…}`, `1 / 2` is 0.5, a line end ends a statement.
    Groovy,
    /// `BeanShell` and simple Java: `'a'` is a character, `1 / 2` is 0, `1.5` is a `double`.
    BeanShell,
}

/// A script that has been parsed. It can be shared between threads.
#[derive(Clone)]
pub struct Script {
    code: Arc<Code>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// [`SyntaxError`] with the place that cannot be read.
    pub fn parse(source: &str, dialect: Dialect) -> Result<Self, SyntaxError> {
        Ok(Self { code: Arc::new(crate::syntax::parse(source, dialect)?) })
    }

    /// Runs the script: the value of its `return`, or of its last statement.
    ///
    /// # Errors
    ///
    /// [`RunError::Thrown`] if an exception is not caught, [`RunError::Budget`] if the budget is used up.
    pub fn run(&self, host: &mut dyn Host, budget: &mut Budget) -> Result<Value, RunError> {
        crate::vm::run(&self.code, host, budget, |vm, value| Ok(vm.detached(value)))
    }

    /// Runs the script: the text of its value, as `toString()` makes it; `None` if that is `null`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); `toString()` may throw, too.
    pub fn run_to_text(&self, host: &mut dyn Host, budget: &mut Budget) -> Result<Option<String>, RunError> {
        crate::vm::run(&self.code, host, budget, |vm, value| {
            if value.is_null() { Ok(None) } else { vm.java_text(&value).map(|text| Some(text.to_string())) }
        })
    }

    /// Classes that the script imports or names and that are not known here, with their lines. Runs nothing.
    pub fn unsupported(&self) -> Vec<(u32, String)> {
        crate::check::unsupported(&self.code)
    }
}
