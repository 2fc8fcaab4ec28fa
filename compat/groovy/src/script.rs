//! A script, which is parsed once and run as often as needed.

use crate::budget::Budget;
use crate::error::{RunError, SyntaxError};
use crate::host::Host;
use crate::syntax::ast::Code;
use crate::value::Value;
use std::sync::Arc;

/// Language of a script. One grammar parses both; the dialect decides where they contradict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Groovy: `"…"` may contain `${…}`, `1 / 2` is 0.5, a line end terminates a statement.
    Groovy,
    /// `BeanShell` and simple Java: `'a'` is a character, `1 / 2` is 0, `1.5` is a `double`.
    BeanShell,
}

/// A parsed script. Threads can share it.
#[derive(Clone)]
pub struct Script {
    code: Arc<Code>,
}

impl Script {
    /// Parses the source of a script.
    pub fn parse(source: &str, dialect: Dialect) -> Result<Self, SyntaxError> {
        Ok(Self { code: Arc::new(crate::syntax::parse(source, dialect)?) })
    }

    /// Runs the script. Returns the value of its `return`, or of its last statement.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Thrown`] for an uncaught exception, and [`RunError::Budget`] if
    /// the budget is exhausted.
    pub fn run(&self, host: &mut dyn Host, budget: &mut Budget) -> Result<Value, RunError> {
        crate::vm::run(&self.code, host, budget, |vm, value| Ok(vm.keep_result(value)))
    }

    /// Runs the script. Returns the result of `toString()` on its value; `None` for `null`.
    ///
    /// # Errors
    ///
    /// Fails like [`run`](Self::run), or if `toString()` throws an exception.
    pub fn run_to_text(
        &self,
        host: &mut dyn Host,
        budget: &mut Budget,
    ) -> Result<Option<String>, RunError> {
        crate::vm::run(&self.code, host, budget, |vm, value| {
            if value.is_null() {
                Ok(None)
            } else {
                vm.java_text(&value).map(|text| Some(text.to_string()))
            }
        })
    }

    /// Lists unknown classes that the script imports or uses, with their lines, without running it.
    pub fn unsupported(&self) -> Vec<(u32, String)> {
        crate::check::unsupported(&self.code)
    }
}
