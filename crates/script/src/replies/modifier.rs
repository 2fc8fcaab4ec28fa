//! Changes a request before it is sent, as JMeter's pre-processors do: by links of the last page, by the identifier of a
//! session, by the matches of an extractor.
//!
//! * `links`: the links and forms of a page.

mod links;

use crate::texts::compiled::{Compiled, Texts};
use crate::texts::context::UserContext;
use crate::texts::pattern::Pattern;
use crate::texts::pending::{RequestArgument, RequestPart};
use crate::texts::script::Sampler;
use crate::texts::template::Template;
use crate::{Feeds, ScriptError};
use brunt_model::modifier::{RequestModifier, SessionModifier, SessionPlace};
use percent_encoding::percent_decode_str;

/// A modifier, compiled.
#[derive(Debug)]
pub struct CompiledModifier(Compiled<RequestModifier, Ready>);

/// What a modifier is made of, besides its texts.
#[derive(Debug)]
enum Ready {
    Link,
    /// The expression that finds the identifier.
    Session(Pattern),
    Matches,
}

impl Texts for RequestModifier {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        match self {
            Self::Link => Self::Link,
            Self::Session(session) => {
                Self::Session(SessionModifier { argument: fill(&session.argument), ..session.clone() })
            }
            Self::Matches { variable, name_group, value_group } => {
                Self::Matches { variable: fill(variable), name_group: fill(name_group), value_group: fill(value_group) }
            }
        }
    }
}

impl CompiledModifier {
    /// Compiles a modifier.
    ///
    /// # Errors
    ///
    /// An expression in a text is malformed, or the program was built without what it needs.
    pub fn new(modifier: &RequestModifier, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        Compiled::new(modifier, feeds, Ready::new).map(Self)
    }

    /// Changes the request that is about to be sent; `fill` makes texts.
    pub fn apply(&self, user: &UserContext, sampler: Sampler<'_>, fill: impl FnMut(&Template) -> String) {
        let applied = self.0.with(fill, Ready::new, |modifier, ready| match modifier {
            RequestModifier::Link => links::follow(user, sampler),
            RequestModifier::Session(session) => {
                if let Ready::Session(pattern) = ready {
                    rewrite(user, sampler, session, pattern);
                }
            }
            RequestModifier::Matches { variable, name_group, value_group } => {
                take_matches(user, sampler, (variable, name_group, value_group));
            }
        });
        if let Err(error) = applied {
            user.trace(|tracing| tracing.note(&error.to_string()));
        }
    }
}

impl Ready {
    fn new(modifier: &RequestModifier) -> Result<Self, ScriptError> {
        match modifier {
            RequestModifier::Link => links::check_built().map(|()| Self::Link),
            RequestModifier::Session(session) => Pattern::new(&identifier(session)).map(Self::Session),
            RequestModifier::Matches { .. } => Ok(Self::Matches),
        }
        .map_err(ScriptError::Scenario)
    }
}

/// The expression that finds the identifier of a session, in one of its groups. It is that of JMeter's
/// `URLRewritingModifier`.
fn identifier(session: &SessionModifier) -> String {
    /// White space of Perl.
    const SPACE: &str = r" \t\n\r\x0C";
    let name = regex::escape(&session.argument);
    match session.place {
        SessionPlace::Path { equals, question_mark } => {
            let equals = if equals { "=" } else { "" };
            let mark = if question_mark { "" } else { "?" };
            format!(r#";{name}{equals}([^"'<>&{SPACE};{mark}]*)"#)
        }
        SessionPlace::Argument => {
            let attribute =
                |name: &str, value: &str| format!(r#"[{SPACE}](?i-u:{name})[{SPACE}]*=[{SPACE}]*["']{value}["']"#);
            let (named, valued) = (attribute("name", &name), attribute("value", r#"([^"']*)"#));
            format!(r#"[;?&]{name}=([^"'<>&{SPACE};\\]*)|{named}[^>]*{valued}|{valued}[^>]*{named}"#)
        }
    }
}

fn rewrite(user: &UserContext, sampler: Sampler<'_>, session: &SessionModifier, pattern: &Pattern) {
    let last = user.last.borrow();
    let Some(last) = last.as_ref() else { return };
    let found = pattern.find_all(last.details.body.as_deref().unwrap_or_default(), 1).pop();
    let mut value = found.and_then(|groups| groups.into_iter().skip(1).flatten().next()).unwrap_or_default();
    if let Some(name) = &session.kept_as {
        let mut sessions = user.sessions.borrow_mut();
        if value.is_empty() {
            value = sessions.get(name).cloned().unwrap_or_default();
        } else {
            sessions.insert(name.clone(), value.clone());
        }
    }
    let Sampler { pending, texts } = sampler;
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

fn take_matches(user: &UserContext, sampler: Sampler<'_>, (variable, names, values): (&str, &str, &str)) {
    let variables = user.variables.borrow();
    let group = |number: u64, group: &str| variables.get(&format!("{variable}_{number}_g{group}"));
    let number = variables.get(&format!("{variable}_matchNr")).and_then(|number| number.trim().parse().ok());
    let Some(number) = number.filter(|_| group(1, names).is_some() && group(1, values).is_some()) else { return };
    let Sampler { pending, texts } = sampler;
    if !pending.takes_arguments(texts) {
        return;
    }
    let mut arguments = pending.arguments(texts).to_vec();
    for argument in &mut arguments {
        // Of two matches with one name the last counts.
        let found = (1..=number).rev().find(|match_number| group(*match_number, names) == Some(&argument.name));
        if let Some(value) = found.and_then(|match_number| group(match_number, values)) {
            value.clone_into(&mut argument.value);
        }
    }
    pending.set_arguments(arguments, texts);
}

/// A text of a query or form, decoded.
fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests;
