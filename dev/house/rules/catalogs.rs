//! Checks the catalogs of texts: both languages have the same messages with the same arguments, and
//! the source uses exactly these.

use super::{SOURCES, assert_none, files, root, sources};
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Crates with a catalog for each language.
const CATALOGS: [&str; 6] = ["model", "judge", "report", "search", "runner", "web"];

/// The crate with the messages of `text!`.
const COMMON: &str = "model";

/// Beginnings of calls with the id of a message and its arguments: a common one, or one of the crate that calls.
const CALLS: [(&str, Option<&str>); 3] =
    [("text!(", Some(COMMON)), ("message!(", None), ("viewer.text(", None)];

/// Arguments of each message, and of each attribute of it.
type Messages = BTreeMap<String, BTreeSet<String>>;

#[test]
fn all_languages_have_the_same_messages() {
    let mut wrong = Vec::new();
    for catalog in CATALOGS {
        let english = messages(catalog, "en");
        let chinese = messages(catalog, "zh");
        for (id, arguments) in &english {
            match chinese.get(id) {
                None => wrong.push(format!("{catalog}/zh has no message {id}")),
                Some(others) if others != arguments => {
                    wrong.push(format!("{catalog}: {id} has {arguments:?}, and {others:?} in zh"));
                }
                Some(_) => {}
            }
        }
        let strays = chinese.keys().filter(|id| !english.contains_key(*id));
        wrong.extend(strays.map(|id| format!("{catalog}/en has no message {id}")));
    }
    assert_none(&wrong);
}

#[test]
fn the_source_uses_all_messages_with_their_arguments() {
    let known: BTreeMap<&str, Messages> =
        CATALOGS.into_iter().map(|catalog| (catalog, messages(catalog, "en"))).collect();
    let mut literals = BTreeSet::new();
    let mut wrong = Vec::new();
    let literal = Regex::new(r#""([A-Za-z0-9.-]+)""#).unwrap();
    for (file, source) in sources(&SOURCES) {
        literals.extend(literal.captures_iter(&source).map(|found| found[1].to_owned()));
        let caller = file.split('/').nth(1).unwrap_or_default();
        for MessageCall { catalog, id, arguments } in calls(&source) {
            let catalog = catalog.unwrap_or(caller);
            match known.get(catalog).and_then(|messages| messages.get(&id)) {
                None => wrong.push(format!("{file}: {catalog} has no message {id}")),
                Some(expected) if *expected != arguments => {
                    wrong.push(format!("{file}: {id} takes {expected:?}, not {arguments:?}"));
                }
                Some(_) => {}
            }
        }
    }
    let ids = known.values().flat_map(|messages| messages.keys());
    let unused = ids.filter(|id| !literals.contains(*id));
    wrong.extend(unused.map(|id| format!("{id} is not used")));
    assert_none(&wrong);
}

/// A message that a source formats, with the names of its arguments.
struct MessageCall {
    /// The crate with the message; None for the crate of the source.
    catalog: Option<&'static str>,
    id: String,
    arguments: BTreeSet<String>,
}

fn calls(source: &str) -> Vec<MessageCall> {
    let mut calls = Vec::new();
    let places = CALLS.into_iter().flat_map(|(call, catalog)| {
        source.match_indices(call).map(move |(start, _)| (start + call.len(), catalog))
    });
    for (start, catalog) in places {
        let parts = outermost_parts(&source[start..]);
        let id = parts[0].trim().trim_matches('"').to_owned();
        // The definitions of the macros and their docs have no id of a catalog.
        if parts[0].trim().starts_with('"') && !parts[0].contains('`') {
            let names = parts[1..].iter().map(|part| part.split('=').next().unwrap_or(part).trim());
            let arguments = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
            calls.push(MessageCall { catalog, id, arguments });
        }
    }
    calls
}

/// Splits the arguments of a call at its outermost commas, up to its closing parenthesis.
fn outermost_parts(call: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (index, letter) in call.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                parts.push(&call[start..index]);
                return parts;
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&call[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    panic!("a call without an end: {call}")
}

/// Messages of a language. A message without a text of its own only groups its attributes.
fn messages(catalog: &str, language: &str) -> Messages {
    let mut all = Messages::new();
    let root = root().join("crates").join(catalog).join("texts").join(language);
    for file in files(&root, "ftl") {
        let source = fs::read_to_string(file).expect("a catalog");
        let resource = parser::parse(source).unwrap_or_else(|(_, errors)| panic!("{errors:?}"));
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            let id = message.id.name;
            for attribute in &message.attributes {
                let name = format!("{id}.{}", attribute.id.name);
                assert_eq!(all.insert(name, variables(&attribute.value)), None, "{id} twice");
            }
            if let Some(value) = &message.value {
                assert_eq!(all.insert(id.clone(), variables(value)), None, "{id} twice");
            }
        }
    }
    all
}

fn variables(pattern: &Pattern<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for element in &pattern.elements {
        match element {
            PatternElement::TextElement { .. } => {}
            PatternElement::Placeable { expression } => match expression {
                Expression::Inline(inline) => found.extend(variable(inline)),
                Expression::Select { selector, variants } => {
                    found.extend(variable(selector));
                    found.extend(variants.iter().flat_map(|variant| variables(&variant.value)));
                }
            },
        }
    }
    found
}

fn variable(expression: &InlineExpression<String>) -> Option<String> {
    match expression {
        InlineExpression::VariableReference { id } => Some(id.name.clone()),
        InlineExpression::StringLiteral { .. } => None,
        other => panic!("catalogs have arguments and strings only, not {other:?}"),
    }
}
