//! The functions of `${name(…)}`: those of JMeter under its names without `__`, and some of brunt.
//!
//! | module | functions |
//! |---|---|
//! | `values` | variables, properties, counters, random values |
//! | `texts`, `escapes` | encoding, case, parts of texts; escapes of characters |
//! | `files` | files |
//! | `evaluate` | texts that are parsed during the load |
//! | `times` | the time, and its formats |
//! | `scripts` | scripts |
//! | `plans` | functions of JMeter plans beyond those of JMeter |
//!
//! If a function fails, its result is empty.

mod escapes;
mod evaluate;
mod files;
mod plans;
mod scripts;
mod texts;
mod times;
mod values;

use crate::WordError;
use crate::texts::context::UserContext;
pub use crate::texts::machine::PLAN_FILE;
use crate::texts::pattern::Pattern;
use crate::texts::script::Languages;
pub(crate) use escapes::escape_json;
pub(crate) use plans::padded;
pub use plans::request_url;
use std::fmt;
use std::ops::RangeInclusive;

/// A function of `${name(…)}`.
pub struct Function {
    /// Its names, without `__`; the first one is the main name.
    pub names: &'static [&'static str],
    /// Permitted number of arguments.
    pub arguments: RangeInclusive<usize>,
    /// Description for a list of all functions.
    pub about: &'static str,
    /// Computes the result.
    pub call: fn(&Call<'_>) -> String,
}

impl Function {
    /// True if it chooses a text by another one, which may be that of a variable without a value.
    pub fn is_condition(&self) -> bool {
        self.names.contains(&"if")
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names[0])
    }
}

/// A call of a function.
pub struct Call<'a> {
    /// The arguments, filled in.
    pub arguments: &'a [String],
    /// The place of the call, the same for every user.
    pub site: &'a str,
    /// The user that calls the function.
    pub user: &'a UserContext,
}

impl Call<'_> {
    /// Returns an argument; empty if it is missing.
    pub fn text(&self, number: usize) -> &str {
        self.arguments.get(number).map_or("", String::as_str)
    }

    /// Returns an argument as an integer.
    pub fn number(&self, number: usize) -> Option<i64> {
        self.text(number).trim().parse().ok()
    }

    /// Returns an argument as a finite number.
    pub fn decimal(&self, number: usize) -> Option<f64> {
        self.text(number).trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Returns the text, and stores it in the variable that an argument names.
    pub fn into_variable(&self, number: usize, text: String) -> String {
        self.limited_into_variable(number, Some(text))
    }

    /// The same for a text that may be too long: then it is None.
    pub fn limited_into_variable(&self, number: usize, text: Option<String>) -> String {
        let text = self.user.worker.text_limit.limited(text);
        let name = self.text(number).trim();
        if !name.is_empty() {
            self.user.variables.borrow_mut().set(name, &text);
        }
        text
    }
}

/// Iterates over all functions.
pub fn all() -> impl Iterator<Item = &'static Function> {
    let texts = [texts::FUNCTIONS, escapes::FUNCTIONS, evaluate::FUNCTIONS, plans::FUNCTIONS]
        .into_iter()
        .flatten();
    [values::FUNCTIONS, times::FUNCTIONS, files::FUNCTIONS, scripts::FUNCTIONS]
        .into_iter()
        .flatten()
        .chain(texts)
}

/// Returns the function of this name, with or without `__`.
pub fn find(name: &str) -> Option<&'static Function> {
    let name = name.trim_start_matches("__");
    all().find(|function| function.names.contains(&name))
}

/// True if a regular expression has a group; false if it is malformed.
pub fn has_group(pattern: &str) -> bool {
    Pattern::new(pattern).is_ok_and(|pattern| pattern.groups() > 1)
}

/// True if a text may call a function that reads files.
pub fn reads_files(text: &str) -> bool {
    text.contains("${") && files::FUNCTIONS.iter().any(|function| text.contains(function.names[0]))
}

/// Returns a regular expression that matches the text literally.
pub fn escaped_regex(text: &str) -> String {
    regex::escape(text)
}

/// Checks that this program was built with the requirements of a function.
///
/// # Errors
///
/// It was built without them.
pub(crate) fn check_built(
    function: &Function,
    written: &str,
    languages: Languages,
) -> Result<(), WordError> {
    let built =
        scripts::check_built(function, languages).and_then(|()| files::check_built(function));
    built.map_err(|why| WordError::new(written, why, "a text without it"))
}

/// Checks the first argument of a call, if it is constant.
///
/// # Errors
///
/// It is a malformed script or format.
pub(crate) fn check_constant(
    function: &Function,
    text: &str,
    written: &str,
    languages: Languages,
) -> Result<(), WordError> {
    let instead = format!("one that can be read, or \\{written} for plain text");
    let checked =
        scripts::check(function, text, languages).and_then(|()| times::check(function, text));
    checked.map_err(|why| WordError::new(written, why, instead))
}

/// Returns the error of a call to an unknown function, or with a wrong number of arguments.
pub(crate) fn refusal(name: &str, arguments: usize, written: &str) -> WordError {
    let Some(function) = find(name) else {
        let names: Vec<&str> = all().flat_map(|function| function.names).copied().collect();
        let instead = format!("one of {}, or \\{written} for plain text", names.join(" "));
        return WordError::new(written, format!("there is no function `{name}`"), instead);
    };
    let least = function.arguments.start();
    let most = function.arguments.end();
    let instead = match (least, most) {
        (least, most) if least == most => format!("{least}"),
        (least, &usize::MAX) => format!("{least} or more"),
        (least, most) => format!("{least} to {most}"),
    };
    let wrong = format!("`{name}` ({}) does not take {arguments} arguments", function.about);
    WordError::new(written, wrong, instead)
}

#[cfg(test)]
mod tests;
