//! Changes a request before it is sent, as JMeter's pre-processors do: by links of the last page, a
//! session identifier, or the matches of an extractor.
//!
//! * `links`: the links and forms of a page.

mod links;

use crate::texts::compiled::{Compiled, Texts};
use crate::texts::context::UserContext;
use crate::texts::pattern::Pattern;
use crate::texts::pending::{RequestArgument, RequestPart};
use crate::texts::script::ScriptedRequest;
use crate::texts::template::Template;
use crate::texts::variables::Variables;
use crate::{Feeds, ScriptError};
use brunt_model::modifier::{RequestModifier, SessionModifier, SessionPlace};
use percent_encoding::percent_decode_str;

/// A modifier with compiled texts and expressions.
#[derive(Debug)]
pub struct CompiledModifier(Compiled<RequestModifier, Parts>);

/// The compiled parts of a modifier, besides its texts.
#[derive(Debug)]
enum Parts {
    Link,
    /// The expression that finds the identifier.
    Session(Pattern),
    Matches,
}

impl Texts for RequestModifier {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        match self {
            Self::Link => Self::Link,
            Self::Session(session) => Self::Session(SessionModifier {
                argument: fill(&session.argument),
                ..session.clone()
            }),
            Self::Matches { variable, name_group, value_group } => Self::Matches {
                variable: fill(variable),
                name_group: fill(name_group),
                value_group: fill(value_group),
            },
        }
    }
}

impl CompiledModifier {
    /// Compiles the texts and expressions of a modifier.
    ///
    /// # Errors
    ///
    /// An expression is malformed, or the program was built without a required feature.
    pub fn new(modifier: &RequestModifier, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        Compiled::new(modifier, feeds, Parts::new).map(Self)
    }

    /// Changes the next request. `fill` fills in texts.
    pub fn apply(
        &self,
        user: &UserContext,
        sampler: ScriptedRequest<'_>,
        fill: impl FnMut(&Template) -> String,
    ) {
        let applied = self.0.with(fill, Parts::new, |modifier, parts| match modifier {
            RequestModifier::Link => links::follow(user, sampler),
            RequestModifier::Session(session) => {
                if let Parts::Session(pattern) = parts {
                    rewrite(user, sampler, session, pattern);
                }
            }
            RequestModifier::Matches { variable, name_group, value_group } => {
                take_matches(user, sampler, variable, name_group, value_group);
            }
        });
        if let Err(error) = applied {
            user.trace(|tracing| tracing.note(&error.to_string()));
        }
    }
}

impl Parts {
    fn new(modifier: &RequestModifier) -> Result<Self, ScriptError> {
        match modifier {
            RequestModifier::Link => links::check_built().map(|()| Self::Link),
            RequestModifier::Session(session) => {
                Pattern::new(&identifier(session)).map(Self::Session)
            }
            RequestModifier::Matches { .. } => Ok(Self::Matches),
        }
        .map_err(ScriptError::Scenario)
    }
}

/// White space of Perl.
const SPACE: &str = r" \t\n\r\x0C";

/// Returns the expression that finds the session identifier in one of its groups. It is
/// that of JMeter's `URLRewritingModifier`.
fn identifier(session: &SessionModifier) -> String {
    let name = regex::escape(&session.argument);
    match session.place {
        SessionPlace::Path { equals, question_mark } => {
            let equals = if equals { "=" } else { "" };
            let mark = if question_mark { "" } else { "?" };
            format!(r#";{name}{equals}([^"'<>&{SPACE};{mark}]*)"#)
        }
        SessionPlace::Argument => {
            let name_attribute = attribute("name", &name);
            let value_attribute = attribute("value", r#"([^"']*)"#);
            format!(
                r#"[;?&]{name}=([^"'<>&{SPACE};\\]*)|{name_attribute}[^>]*{value_attribute}|{value_attribute}[^>]*{name_attribute}"#
            )
        }
    }
}

/// Returns the expression for an HTML attribute.
fn attribute(name: &str, value: &str) -> String {
    format!(r#"[{SPACE}](?i-u:{name})[{SPACE}]*=[{SPACE}]*["']{value}["']"#)
}

fn rewrite(
    user: &UserContext,
    sampler: ScriptedRequest<'_>,
    session: &SessionModifier,
    pattern: &Pattern,
) {
    let last = user.last.borrow();
    let Some(last) = last.as_ref() else { return };
    let groups = pattern.find_all(last.details.body.as_deref().unwrap_or_default(), 1).pop();
    // Each alternative of the expression has a group; only that of the match is set.
    let mut value =
        groups.and_then(|groups| groups.into_iter().skip(1).flatten().next()).unwrap_or_default();
    if let Some(name) = &session.kept_as {
        let mut sessions = user.sessions.borrow_mut();
        // As in JMeter, the last identifier is used if the page has none.
        if value.is_empty() {
            value = sessions.get(name).cloned().unwrap_or_default();
        } else {
            sessions.insert(name.clone(), value.clone());
        }
    }
    let ScriptedRequest { pending, texts } = sampler;
    match session.place {
        SessionPlace::Path { equals, .. } => {
            let begin = format!(";{}", session.argument);
            let path = pending.part(RequestPart::Path, texts);
            let path = path.split_once(&begin).map_or(path, |(path, _)| path);
            let path = format!("{path}{begin}{}{value}", if equals { "=" } else { "" });
            pending.set_part(RequestPart::Path, &path, texts);
        }
        SessionPlace::Argument if pending.takes_arguments(texts) => {
            let mut arguments = pending.arguments(texts).to_vec();
            arguments.retain(|argument| argument.name != session.argument);
            let value = if session.encode { value } else { decoded(&value) };
            let name = session.argument.clone();
            arguments.push(RequestArgument { name, value, encode: true, is_bare: false });
            pending.set_arguments(arguments, texts);
        }
        SessionPlace::Argument => {}
    }
}

fn take_matches(
    user: &UserContext,
    sampler: ScriptedRequest<'_>,
    variable: &str,
    names: &str,
    values: &str,
) {
    let variables = user.variables.borrow();
    let number =
        variables.get(&format!("{variable}_matchNr")).and_then(|number| number.trim().parse().ok());
    let has_groups = group(&variables, variable, 1, names).is_some()
        && group(&variables, variable, 1, values).is_some();
    let Some(number) = number.filter(|_| has_groups) else { return };
    let ScriptedRequest { pending, texts } = sampler;
    if !pending.takes_arguments(texts) {
        return;
    }
    let mut arguments = pending.arguments(texts).to_vec();
    for argument in &mut arguments {
        // If several matches have the same name, the last one counts.
        let found_match = (1..=number)
            .rev()
            .find(|one| group(&variables, variable, *one, names) == Some(&argument.name));
        if let Some(value) = found_match.and_then(|one| group(&variables, variable, one, values)) {
            value.clone_into(&mut argument.value);
        }
    }
    pending.set_arguments(arguments, texts);
}

/// Returns a group of a match, as an extractor has stored it in a variable.
fn group<'v>(
    variables: &'v Variables,
    variable: &str,
    number: u64,
    group: &str,
) -> Option<&'v str> {
    variables.get(&format!("{variable}_{number}_g{group}"))
}

/// Decodes a text of a query or form.
fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests;
