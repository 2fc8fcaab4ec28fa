//! Converts texts from JMeter's rules to those of a plan file.

use super::Writer;
use brunt_har::text::{self, Braces, TextPiece};
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::ReplyAction;
use brunt_model::scenario::{DataFile, DataFormat, Scenario, ScenarioStep, Script, ScriptLanguage};
use brunt_model::secret::is_secret_field;
use brunt_script::expression::{self, TextPart};
use brunt_script::{functions, template};

impl Writer<'_> {
    /// Converts a text for the plan file.
    pub(super) fn text(&mut self, text: &str, braces: Braces) -> String {
        let mut out = text.to_owned();
        if text.contains("${") {
            let mut unresolved = Vec::new();
            self.find_unresolved(&stretches(text), &mut unresolved);
            for written in unresolved {
                out = out.replace(&written, &format!("\\{written}"));
            }
        }
        if braces == Braces::Placeholders {
            out = without_placeholders(&out);
        }
        self.filled_in(&escape_dollars(&out))
    }

    /// Replaces marked properties, which hold secrets, by environment variables.
    pub(super) fn filled_in(&self, text: &str) -> String {
        if !text::has_variable(text) {
            return text.to_owned();
        }
        let pieces = text::pieces(text);
        let parts = pieces.iter().map(|piece| match piece {
            TextPiece::Literal(text) => (*text).to_owned(),
            TextPiece::Variable(name) if self.environment_names.contains(*name) => {
                format!("${{env.{name}}}")
            }
            TextPiece::Variable(name) => (*name).to_owned(),
        });
        parts.collect()
    }

    /// Converts a text without placeholders.
    pub(super) fn plain(&mut self, text: &str) -> String {
        self.text(text, Braces::Plain)
    }

    /// Collects the expressions that JMeter leaves as written, since nothing sets them.
    fn find_unresolved(&mut self, stretches: &[TextPart], unresolved: &mut Vec<String>) {
        for stretch in stretches {
            match stretch {
                TextPart::Literal(_) => {}
                TextPart::Variable { name, written } => {
                    if !self.is_known(name) {
                        unresolved.push(written.clone());
                        let place = self.text_place(written);
                        self.notice(format!(
                            "{place}: nothing sets the variable `{name}`; {written} stays as it is written"
                        ));
                    }
                }
                TextPart::Call { name, arguments, written } => {
                    let function = functions::find(name);
                    if function
                        .is_some_and(|function| function.arguments.contains(&arguments.len()))
                    {
                        for argument in arguments {
                            self.find_unresolved(argument, unresolved);
                        }
                    } else {
                        unresolved.push(written.clone());
                        let place = self.text_place(written);
                        self.notice(format!(
                            "{place}: the function `{name}` is not known; {written} stays as it is written"
                        ));
                    }
                }
            }
        }
    }

    /// True if something sets the variable. A variable that only a function or an extractor of
    /// several values sets is declared.
    fn is_known(&mut self, name: &str) -> bool {
        // A script may set any variable.
        if self.plan_vars.contains(name) || self.known.contains(name) || self.has_scripts {
            return true;
        }
        let is_of_extractor = self
            .extracted
            .iter()
            .any(|one| name.strip_prefix(one.as_str()).is_some_and(|rest| rest.starts_with('_')));
        let is_set = is_of_extractor || self.named_in_calls.contains(name);
        if is_set {
            self.known.insert(name.to_owned());
            self.declared.push((name.to_owned(), String::new()));
        }
        is_set
    }

    /// Converts the source of a script. JMeter expands `${…}` before it runs a script; a plan file
    /// expands only its own variables.
    pub(super) fn source(&mut self, script: &Script, place: &str) -> String {
        let written = &script.source;
        if !written.contains("${") {
            return escape_dollars(written);
        }
        let is_groovy = script.language != ScriptLanguage::Javascript;
        let mut out = String::new();
        let mut quote = None;
        for stretch in stretches(written) {
            match stretch {
                TextPart::Literal(text) => {
                    follow_quotes(&text, &mut quote);
                    out.push_str(&text);
                }
                TextPart::Variable { name, written }
                    if !self.known.contains(&name) || self.plan_vars.contains(&name) =>
                {
                    out.push_str(&written);
                }
                TextPart::Variable { name, .. } => match quote {
                    Some('"') if is_groovy => out.extend(["${vars.get('", &name, "')}"]),
                    Some(quote) => {
                        let quote = quote.to_string();
                        out.extend([
                            quote.as_str(),
                            " + vars.get(",
                            &quote,
                            &name,
                            &quote,
                            ") + ",
                            &quote,
                        ]);
                    }
                    None => {
                        out.extend(["vars.get('", &name, "')"]);
                        self.notice(format!(
                            "{place}: ${{{name}}} became vars.get('{name}'), a text"
                        ));
                    }
                },
                TextPart::Call { name, written, .. } => {
                    let folded = self.unevaluated.before.folded(&written);
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
        self.filled_in(&escape_dollars(&out))
    }

    /// Replaces a secret by a variable of the plan. None if the value is not secret
    /// or already contains a variable.
    pub(super) fn secret(&mut self, field: &str, value: &str) -> Option<String> {
        if !is_secret_field(field) || value.contains("${") || text::has_variable(value) {
            return None;
        }
        self.hide(field, value)
    }

    /// Replaces a value by a variable of the plan, whatever its field is called.
    pub(super) fn hide(&mut self, field: &str, value: &str) -> Option<String> {
        if value.is_empty() || value.contains("${") || text::has_variable(value) {
            return None;
        }
        let hidden = self.secrets.hide(&mut self.names, field, value);
        match text::pieces(&hidden)[..] {
            [TextPiece::Variable(name)] => {
                self.plan_vars.insert(name.to_owned());
                Some(format!("${{{name}}}"))
            }
            _ => None,
        }
    }

    /// Replaces secrets in JSON or similar text by variables.
    pub(super) fn without_secrets(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, name, tail)) = quoted(rest) {
            let value = tail
                .trim_start()
                .strip_prefix(':')
                .and_then(|value| quoted(value).filter(|(gap, ..)| gap.trim().is_empty()));
            let hidden = value.and_then(|(_, value, _)| self.secret(name, value));
            out.extend([before, "\"", name, "\""]);
            rest = tail;
            if let (Some(hidden), Some((gap, _, after))) = (hidden, value) {
                let colon = &tail[..tail.find(':').unwrap_or_default()];
                out.extend([colon, ":", gap, "\"", &hidden, "\""]);
                rest = after;
            }
        }
        out + rest
    }

    /// Collects the variables that a scenario sets.
    pub(super) fn collect_variables(&mut self, scenario: &Scenario, policies: &[&ReplyPolicy]) {
        for file in &scenario.data {
            let names = if file.names.is_empty() { header_names(file) } else { file.names.clone() };
            self.known.extend(names);
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
        ScenarioStep::each(&scenario.steps, &mut |step| match step {
            ScenarioStep::Set { variable, .. } | ScenarioStep::ForEach { variable, .. } => {
                _ = self.known.insert(variable.clone());
            }
            ScenarioStep::Count(counter) => _ = self.known.insert(counter.variable.clone()),
            _ => {}
        });
    }
}

/// The column names in the first line of a data file.
fn header_names(file: &DataFile) -> Vec<String> {
    let text = brunt_files::read(file.file.as_ref()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    let delimiter = match file.format {
        DataFormat::Csv { delimiter, .. } => delimiter,
        DataFormat::JsonLines => ',',
    };
    line.split(delimiter).map(|name| name.trim().trim_matches('"').to_owned()).collect()
}

/// Parses a text. A call of an unknown function, such as `${__jm__loop__idx}`, is
/// the variable of that name.
fn stretches(text: &str) -> Vec<TextPart> {
    calls_to_variables(expression::parse(text))
}

fn calls_to_variables(stretches: Vec<TextPart>) -> Vec<TextPart> {
    let stretches = stretches.into_iter().map(|stretch| match stretch {
        TextPart::Call { name, arguments, written } => match expression::as_variable(&written) {
            Some(variable) if functions::find(&name).is_none() => {
                TextPart::Variable { name: variable.to_owned(), written }
            }
            _ => {
                let arguments = arguments.into_iter().map(calls_to_variables).collect();
                TextPart::Call { name, arguments, written }
            }
        },
        other => other,
    });
    stretches.collect()
}

/// Collects literal arguments of functions, which may be names of variables.
pub(super) fn names_in_calls(text: &str, names: &mut std::collections::HashSet<String>) {
    fn walk(stretches: &[TextPart], names: &mut std::collections::HashSet<String>) {
        for stretch in stretches {
            let TextPart::Call { arguments, .. } = stretch else { continue };
            for argument in arguments {
                if let [TextPart::Literal(text)] = &argument[..] {
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

/// Escapes `$` for a plan file: of several in a row, all but the last are doubled.
pub(super) fn escape_dollars(text: &str) -> String {
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

/// Escapes placeholders. The brace of a variable is none.
fn without_placeholders(text: &str) -> String {
    template::without_placeholders(text, |before| before.ends_with('$'))
}

/// Updates the open quote at the end of a stretch of a script.
fn follow_quotes(text: &str, quote: &mut Option<char>) {
    let mut escaped = false;
    for next in text.chars() {
        match (*quote, next) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), next) if open == next => *quote = None,
            (None, '"' | '\'') => *quote = Some(next),
            // A text in single quotes ends with its line.
            (Some('\''), '\n') => *quote = None,
            _ => {}
        }
    }
}

/// Finds the first text in double quotes; returns the text before it, the quoted text,
/// and the text after it.
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

/// Calls a function for each text of a tree.
pub(super) fn each_text(value: &serde_json::Value, visit: &mut dyn FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => visit(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| each_text(item, visit)),
        serde_json::Value::Object(entries) => {
            entries.values().for_each(|item| each_text(item, visit));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_and_braces_are_escaped() {
        assert_eq!(escape_dollars("a$ $${x} $$$"), "a$ $$${x} $$$$$");
        assert_eq!(without_placeholders("{n} ${n} {uuid} {m}"), "\\{n} ${n} \\{uuid} {m}");
        assert_eq!(quoted(r#"a "b\"c" d"#), Some(("a ", r#"b\"c"#, " d")));
    }
}
