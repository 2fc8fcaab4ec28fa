//! Texts by JMeter's rules as texts of a plan file.

use super::Writer;
use crate::text::{self, Piece};
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::ReplyAction;
use brunt_model::scenario::{Scenario, Script, ScriptLanguage, Step};
use brunt_model::secret::is_secret_field;
use brunt_script::expression::{self, Stretch};
use brunt_script::functions;

/// Whether `{n}`, `{uuid}` and the like mean something in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Braces {
    /// In URLs, header fields and bodies.
    Placeholders,
    /// Elsewhere.
    Plain,
}

/// How placeholders begin, behind their brace.
const PLACEHOLDERS: [&str; 5] = ["n}", "uuid}", "random:", "csv:", "var:"];

impl Writer<'_> {
    /// A text as a plan file has it.
    pub(super) fn text(&mut self, text: &str, braces: Braces) -> String {
        let mut out = text.to_owned();
        if text.contains("${") {
            let mut plain = Vec::new();
            self.unknown(&stretches(text), &mut plain);
            for written in plain {
                out = out.replace(&written, &format!("\\{written}"));
            }
        }
        if braces == Braces::Placeholders {
            out = without_placeholders(&out);
        }
        self.filled_in(&dollars(&out))
    }

    /// Marked names of properties that hold secrets, as variables of the environment.
    pub(super) fn filled_in(&self, text: &str) -> String {
        if !text::has_variable(text) {
            return text.to_owned();
        }
        let one = |piece: &Piece<'_>| match piece {
            Piece::Literal(text) => (*text).to_owned(),
            Piece::Variable(name) if self.marks.contains(*name) => format!("${{env.{name}}}"),
            Piece::Variable(name) => (*name).to_owned(),
        };
        text::pieces(text).iter().map(one).collect()
    }

    /// A text where `{n}` means nothing.
    pub(super) fn plain(&mut self, text: &str) -> String {
        self.text(text, Braces::Plain)
    }

    /// What of a text JMeter leaves as it is written, since nothing sets it.
    fn unknown(&mut self, stretches: &[Stretch], plain: &mut Vec<String>) {
        for stretch in stretches {
            match stretch {
                Stretch::Literal(_) => {}
                Stretch::Variable { name, written } => {
                    if !self.is_known(name) {
                        plain.push(written.clone());
                        let place = self.text_place(written);
                        self.notice(format!(
                            "{place}: nothing sets the variable `{name}`; {written} stays as it is written"
                        ));
                    }
                }
                Stretch::Call { name, arguments, written } => {
                    let function = functions::find(name);
                    if function.is_some_and(|function| function.arguments.contains(&arguments.len())) {
                        for argument in arguments {
                            self.unknown(argument, plain);
                        }
                    } else {
                        plain.push(written.clone());
                        let place = self.text_place(written);
                        self.notice(format!(
                            "{place}: the function `{name}` is not known; {written} stays as it is written"
                        ));
                    }
                }
            }
        }
    }

    /// Whether something sets a variable. One that only a function or an extractor of several values sets is declared.
    fn is_known(&mut self, name: &str) -> bool {
        if self.plan_vars.contains(name) || self.known.contains(name) || self.has_scripts {
            return true;
        }
        let of_extractor =
            self.extracted.iter().any(|one| name.strip_prefix(one.as_str()).is_some_and(|rest| rest.starts_with('_')));
        let is_set = of_extractor || self.named_in_calls.contains(name) || self.loops.iter().any(|one| one == name);
        if is_set {
            self.known.insert(name.to_owned());
            self.declared.push((name.to_owned(), String::new()));
        }
        is_set
    }

    /// The source of a script. JMeter fills `${…}` in before it reads it; a plan file only its own variables.
    pub(super) fn source(&mut self, script: &Script, place: &str) -> String {
        let written = &script.source;
        if !written.contains("${") {
            return dollars(written);
        }
        let is_groovy = script.language != ScriptLanguage::Javascript;
        let (mut out, mut quote) = (String::new(), None);
        for stretch in stretches(written) {
            match stretch {
                Stretch::Literal(text) => {
                    follow_quotes(&text, &mut quote);
                    out.push_str(&text);
                }
                Stretch::Variable { name, written }
                    if !self.known.contains(&name) || self.plan_vars.contains(&name) =>
                {
                    out.push_str(&written);
                }
                Stretch::Variable { name, .. } => match quote {
                    Some('"') if is_groovy => out.extend(["${vars.get('", &name, "')}"]),
                    Some(quote) => {
                        let quote = quote.to_string();
                        out.extend([quote.as_str(), " + vars.get(", &quote, &name, &quote, ") + ", &quote]);
                    }
                    None => {
                        out.extend(["vars.get('", &name, "')"]);
                        self.notice(format!("{place}: ${{{name}}} became vars.get('{name}'), a text"));
                    }
                },
                Stretch::Call { name, written, .. } => {
                    let folded = self.unfolded.before.folded(&written);
                    if !folded.contains("${") {
                        out.push_str(&folded);
                        continue;
                    }
                    if functions::find(&name).is_some() {
                        self.notice(format!(
                            "{place}: {written} stays as it is written; a plan file fills no function into scripts"
                        ));
                    }
                    out.push_str(&written);
                }
            }
        }
        self.filled_in(&dollars(&out))
    }

    /// A secret as a variable of the plan; None where the value is none, or holds a variable already.
    pub(super) fn secret(&mut self, field: &str, value: &str) -> Option<String> {
        if !is_secret_field(field) || value.contains("${") || text::has_variable(value) {
            return None;
        }
        self.hidden(field, value)
    }

    /// The same whatever the field is called.
    pub(super) fn hidden(&mut self, field: &str, value: &str) -> Option<String> {
        if value.is_empty() || value.contains("${") || text::has_variable(value) {
            return None;
        }
        let hidden = self.secrets.hide(&mut self.names, field, value);
        match text::pieces(&hidden)[..] {
            [Piece::Variable(name)] => {
                self.plan_vars.insert(name.to_owned());
                Some(format!("${{{name}}}"))
            }
            _ => None,
        }
    }

    /// JSON, or anything like it, with variables in place of the secrets in it.
    pub(super) fn without_secrets(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, name, behind)) = quoted(rest) {
            let value = behind
                .trim_start()
                .strip_prefix(':')
                .and_then(|value| quoted(value).filter(|(gap, ..)| gap.trim().is_empty()));
            let hidden = value.and_then(|(_, value, _)| self.secret(name, value));
            out.extend([before, "\"", name, "\""]);
            rest = behind;
            if let (Some(hidden), Some((gap, _, after))) = (hidden, value) {
                let colon = &behind[..behind.find(':').unwrap_or_default()];
                out.extend([colon, ":", gap, "\"", &hidden, "\""]);
                rest = after;
            }
        }
        out + rest
    }

    /// What sets variables in a scenario.
    pub(super) fn learn(&mut self, scenario: &Scenario, policies: &[&ReplyPolicy]) {
        for file in &scenario.data {
            let header = || {
                let text = std::fs::read(&file.file).unwrap_or_default();
                let text = String::from_utf8_lossy(&text).into_owned();
                let line = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default().to_owned();
                let delimiter = match file.format {
                    brunt_model::scenario::DataFormat::Csv { delimiter, .. } => delimiter,
                    brunt_model::scenario::DataFormat::JsonLines => ',',
                };
                line.split(delimiter).map(|name| name.trim().trim_matches('"').to_owned()).collect::<Vec<_>>()
            };
            self.known.extend(if file.names.is_empty() { header() } else { file.names.clone() });
        }
        for action in policies.iter().flat_map(|policy| &policy.actions) {
            match action {
                ReplyAction::Extract(extractor) => {
                    self.known.insert(extractor.variable.clone());
                    self.extracted.push(extractor.variable.clone());
                }
                ReplyAction::Set { variable, .. } => _ = self.known.insert(variable.clone()),
                ReplyAction::Script(_) | ReplyAction::Keep => {}
            }
        }
        Step::each(&scenario.steps, &mut |step| match step {
            Step::Set { variable, .. } | Step::ForEach { variable, .. } => _ = self.known.insert(variable.clone()),
            Step::Count(counter) => _ = self.known.insert(counter.variable.clone()),
            _ => {}
        });
    }
}

/// Reads a text. A call of no function, such as `${__jm__loop__idx}`, is the variable that it names.
fn stretches(text: &str) -> Vec<Stretch> {
    named(expression::parse(text))
}

fn named(stretches: Vec<Stretch>) -> Vec<Stretch> {
    let one = |stretch: Stretch| match stretch {
        Stretch::Call { name, arguments, written } => match expression::as_variable(&written) {
            Some(variable) if functions::find(&name).is_none() => {
                Stretch::Variable { name: variable.to_owned(), written }
            }
            _ => Stretch::Call { name, arguments: arguments.into_iter().map(named).collect(), written },
        },
        other => other,
    };
    stretches.into_iter().map(one).collect()
}

/// The names that arguments of functions in a text may be.
pub(super) fn names_in_calls(text: &str, names: &mut std::collections::HashSet<String>) {
    fn walk(stretches: &[Stretch], names: &mut std::collections::HashSet<String>) {
        for stretch in stretches {
            let Stretch::Call { arguments, .. } = stretch else { continue };
            for argument in arguments {
                if let [Stretch::Literal(text)] = &argument[..] {
                    names.insert(text.trim().to_owned());
                }
                walk(argument, names);
            }
        }
    }
    if text.contains("${") {
        walk(&expression::parse(text), names);
    }
}

/// A text that a plan file's own `$` leaves alone: of several in a row all but the last are doubled.
pub(super) fn dollars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(next) = characters.next() {
        out.push(next);
        if next == '$' && characters.peek() == Some(&'$') {
            out.push('$');
        }
    }
    out
}

fn without_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, next) in text.char_indices() {
        let begins = next == '{'
            && PLACEHOLDERS.iter().any(|head| text[at + 1..].starts_with(head))
            && !text[..at].ends_with('$');
        if begins {
            out.push('\\');
        }
        out.push(next);
    }
    out
}

/// In which quotes the end of a stretch of a script is.
fn follow_quotes(text: &str, quote: &mut Option<char>) {
    let mut escaped = false;
    for next in text.chars() {
        match (*quote, next) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), next) if open == next => *quote = None,
            (None, '"' | '\'') => *quote = Some(next),
            (Some('\''), '\n') => *quote = None,
            _ => {}
        }
    }
}

/// The first text within double quotes: what stands before it, the text, what stands behind it.
fn quoted(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('"')?;
    let mut escaped = false;
    let end = rest.char_indices().find(|(_, next)| {
        let is_end = *next == '"' && !escaped;
        escaped = *next == '\\' && !escaped;
        is_end
    });
    let (end, _) = end?;
    Some((before, &rest[..end], &rest[end + 1..]))
}

/// Each text of a tree.
pub(super) fn each(value: &serde_json::Value, visit: &mut dyn FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => visit(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| each(item, visit)),
        serde_json::Value::Object(entries) => entries.values().for_each(|item| each(item, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_and_braces_stay() {
        assert_eq!(dollars("a$ $${x} $$$"), "a$ $$${x} $$$$$");
        assert_eq!(without_placeholders("{n} ${n} {uuid} {m}"), "\\{n} ${n} \\{uuid} {m}");
        assert_eq!(quoted(r#"a "b\"c" d"#), Some(("a ", r#"b\"c"#, " d")));
    }
}
