//! The functions of `${name(…)}`: those of JMeter under its names without `__`, and a few of our own.
//!
//! | module | functions |
//! |---|---|
//! | `values` | variables, properties, counters, random values |
//! | `texts`, `escapes` | encoding, case, parts of texts; what stands for characters |
//! | `files` | files |
//! | `evaluate` | texts that are read while the load runs |
//! | `times` | the time, and its formats |
//! | `scripts` | scripts |
//! | `plans` | what plans of JMeter need beside JMeter's own functions |
//!
//! Where a function cannot do what it is asked, its text is empty.

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

/// One function.
pub struct Function {
    /// Its name, without `__`, and others that it has.
    pub names: &'static [&'static str],
    /// How many arguments it takes.
    pub arguments: RangeInclusive<usize>,
    /// What it does, for a list of all functions.
    pub about: &'static str,
    /// What it makes of its arguments.
    pub call: fn(&Call<'_>) -> String,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names[0])
    }
}

/// A call of a function.
pub struct Call<'a> {
    /// Its arguments, filled in.
    pub arguments: &'a [String],
    /// The place that calls it: the same for every user.
    pub site: &'a str,
    /// Who calls it.
    pub user: &'a UserContext,
}

impl Call<'_> {
    /// An argument; empty where it was not written.
    pub fn text(&self, number: usize) -> &str {
        self.arguments.get(number).map_or("", String::as_str)
    }

    /// An argument as a whole number.
    pub fn number(&self, number: usize) -> Option<i64> {
        self.text(number).trim().parse().ok()
    }

    /// An argument as a number.
    pub fn decimal(&self, number: usize) -> Option<f64> {
        self.text(number).trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The text, which the variable that an argument names gets, too.
    pub fn into_variable(&self, number: usize, text: String) -> String {
        let name = self.text(number).trim();
        if !name.is_empty() {
            self.user.variables.borrow_mut().set(name, &text);
        }
        text
    }
}

/// All functions.
pub fn all() -> impl Iterator<Item = &'static Function> {
    let texts = [texts::FUNCTIONS, escapes::FUNCTIONS, evaluate::FUNCTIONS, plans::FUNCTIONS].into_iter().flatten();
    [values::FUNCTIONS, times::FUNCTIONS, files::FUNCTIONS, scripts::FUNCTIONS].into_iter().flatten().chain(texts)
}

/// The function of this name, with or without `__`.
pub fn find(name: &str) -> Option<&'static Function> {
    let name = name.trim_start_matches("__");
    all().find(|function| function.names.contains(&name))
}

/// Whether a regular expression has a group; false where it is none.
pub fn has_group(pattern: &str) -> bool {
    Pattern::new(pattern).is_ok_and(|pattern| pattern.groups() > 1)
}

/// Whether a text may call a function that reads files.
pub fn reads_files(text: &str) -> bool {
    text.contains("${") && files::FUNCTIONS.iter().any(|function| text.contains(function.names[0]))
}

/// A regular expression that finds a text as it is.
pub fn escaped_regex(text: &str) -> String {
    regex::escape(text)
}

/// Says of a call that this program was built without what it needs.
///
/// # Errors
///
/// It was.
pub(crate) fn check_built(function: &Function, written: &str, languages: &dyn Languages) -> Result<(), WordError> {
    let built = scripts::check_built(function, languages).and_then(|()| files::check_built(function));
    built.map_err(|why| WordError::new(written, why, "a text without it"))
}

/// Looks at the first argument of a call, which is always this text.
///
/// # Errors
///
/// The script or format that it is cannot be read.
pub(crate) fn check_constant(
    function: &Function,
    text: &str,
    written: &str,
    languages: &dyn Languages,
) -> Result<(), WordError> {
    let instead = format!("one that can be read, or \\{written} for plain text");
    let checked = scripts::check(function, text, languages).and_then(|()| times::check(function, text));
    checked.map_err(|why| WordError::new(written, why, instead))
}

/// Says of a call that there is no such function, or that it takes another number of arguments.
pub(crate) fn refusal(name: &str, arguments: usize, written: &str) -> WordError {
    let Some(function) = find(name) else {
        let names: Vec<&str> = all().flat_map(|function| function.names).copied().collect();
        let instead = format!("one of {}, or \\{written} for plain text", names.join(" "));
        return WordError::new(written, format!("there is no function `{name}`"), instead);
    };
    let (least, most) = (function.arguments.start(), function.arguments.end());
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
