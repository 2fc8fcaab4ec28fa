//! The published schema of the event log says what the code writes: same names, numbers, types and labels.
//!
//! Both are read as text, into one line a field: `Message.field = number: label type`. The attributes of the Rust types
//! are what `prost` makes the encoding from. The message of a flow is written from the rows of its counters:
//! `BRUNT_WRITE=1` writes it into the schema.

use brunt_model::Flow;
use brunt_model::agent::PROTOCOL_VERSION;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

const PUBLISHED: &str = include_str!("../../../../docs/event-log.proto");
const PUBLISHED_AGENT: &str = include_str!("../../../../docs/agent-protocol.proto");
const AGENT_MESSAGES: &str = include_str!("../../src/codec/agent/messages.rs");
const MESSAGES: &str = concat!(
    include_str!("../../src/codec/wire.rs"),
    include_str!("../../src/tally/sums/messages.rs")
);
const SUMS: &str =
    concat!(include_str!("../../src/tally.rs"), include_str!("../../src/tally/iterations.rs"));
const KINDS: &str = concat!(
    include_str!("../../src/tally/sums/kinds.rs"),
    include_str!("../../src/codec/wire/kinds.rs")
);

#[test]
fn published_schemas_are_those_that_are_written() {
    let agent = messages(AGENT_MESSAGES).into_iter().collect();
    for (text, written, least) in [(PUBLISHED, written(), 150), (PUBLISHED_AGENT, agent, 35)] {
        let published = published(text);
        assert!(published.len() > least, "{} fields", published.len());
        let only =
            |one: &BTreeSet<String>, other| one.difference(other).cloned().collect::<Vec<_>>();
        assert_eq!((only(&published, &written), only(&written, &published)), (vec![], vec![]));
        let lines = text
            .lines()
            .filter(|line| line.contains(" = ") && !line.trim_start().starts_with("//"));
        assert_eq!(lines.count(), published.len() + 1, "each line is understood, and the syntax");
    }
}

#[test]
fn the_published_version_of_agents_messages_is_that_of_the_code() {
    let (first_line, _) = PUBLISHED_AGENT.split_once('\n').expect("a line");
    let version = format!("and its agents, version {PROTOCOL_VERSION}.");
    assert!(first_line.contains(&version), "{version}: {first_line}");
}

#[test]
fn field_numbers_of_a_message_are_distinct() {
    for text in [PUBLISHED, PUBLISHED_AGENT] {
        let places: Vec<String> = published(text).iter().map(|line| place_of(line)).collect();
        assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), places.len(), "{places:?}");
    }
}

#[test]
fn counters_are_published_with_their_definitions() {
    let mut counters: Vec<_> = Flow::COUNTERS.iter().collect();
    counters.sort_by_key(|counter| counter.number);
    let mut message = String::from("message Flow {\n");
    for counter in counters {
        for line in counter.description().lines() {
            writeln!(message, "  // {line}").expect("a string");
        }
        writeln!(message, "  uint64 {} = {};", counter.name, counter.number).expect("a string");
    }
    let (before, rest) = PUBLISHED.split_once("message Flow {\n").expect("the message");
    let (fields, after) = rest.split_once('}').expect("its end");
    if std::env::var_os("BRUNT_WRITE").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/event-log.proto");
        std::fs::write(file, format!("{before}{message}}}{after}"))
            .expect("the schema can be written");
        return;
    }
    assert_eq!(format!("message Flow {{\n{fields}"), message, "`BRUNT_WRITE=1` writes it");
}

/// The message and the number of a line.
fn place_of(line: &str) -> String {
    let (message, rest) = line.split_once('.').expect("message");
    let (_, rest) = rest.split_once(" = ").expect("number");
    format!("{message} {}", rest.split(':').next().expect("number"))
}

fn published(text: &str) -> BTreeSet<String> {
    let (mut found, mut message, mut oneof) = (BTreeSet::new(), String::new(), String::new());
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        let words: Vec<&str> = line.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        let field = match words[..] {
            [label, kind, name, "=", number] => format!("{name} = {number}: {label} {kind}"),
            [kind, name, "=", number] => format!("{name} = {number}: {oneof}{kind}"),
            [name, "=", number] if name != "syntax" => format!("{name} = {number}: value"),
            ["message" | "enum", name, "{"] => {
                name.clone_into(&mut message);
                continue;
            }
            ["oneof", name, "{"] => {
                oneof = format!("{name} ");
                continue;
            }
            ["}"] => {
                oneof.clear();
                continue;
            }
            _ => continue,
        };
        found.insert(format!("{message}.{field}"));
    }
    found
}

fn written() -> BTreeSet<String> {
    let counters = Flow::COUNTERS
        .iter()
        .map(|counter| format!("Flow.{} = {}: uint64", counter.name, counter.number));
    [messages(MESSAGES), sums(), kinds(), counters.collect()].concat().into_iter().collect()
}

/// The fields of all messages. Those of a oneof stand in an enum of their own, below the message that has it.
fn messages(text: &str) -> Vec<String> {
    let (mut found, mut message, mut oneof) = (Vec::new(), String::new(), None);
    let mut attribute = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = between(line, "pub struct ", " {") {
            (message, oneof) = (name.to_owned(), None);
        } else if let Some(name) = between(line, "pub enum ", " {") {
            oneof = Some(format!("{} ", snake(name)));
        } else if let Some(inside) = between(line, "#[prost(", ")]") {
            inside.clone_into(&mut attribute);
        } else if let Some(field) =
            between(line, "pub ", ",").and_then(|field| field.split_once(": "))
        {
            found.extend(field_line(&message, field.0, field.1, &attribute));
        } else if let (Some(group), Some((name, kind)), false) =
            (&oneof, line.split_once('('), line.starts_with('#'))
        {
            let line = field_line(&message, &snake(name), kind.trim_end_matches("),"), &attribute);
            found.extend(line.map(|line| line.replacen(": ", &format!(": {group}"), 1)));
        }
    }
    found
}

/// The messages of the types of a sum's rows.
const MESSAGES_OF_TYPES: [(&str, &str); 7] = [
    ("IterationTally", "IterationTally"),
    ("Histogram", "Histogram"),
    ("PhaseTimes", "PhaseTimes"),
    ("Statuses", "StatusCount"),
    ("[u64; Failure::COUNT]", "FailureCount"),
    ("Vec<(Failure, Histogram)>", "FailureTimes"),
    ("Vec<(MalformedReply, u64)>", "MalformedCount"),
];

/// The fields of sums: rows `[prost] name: type = number`.
fn sums() -> Vec<String> {
    let mut fields = Vec::new();
    let mut message = "";
    for line in SUMS.lines().map(str::trim) {
        if let Some(name) = between(line, "pub struct ", " as ") {
            message = name;
        } else if let Some((prost, row)) =
            line.strip_prefix('[').and_then(|line| line.split_once("] "))
        {
            let (name, rest) = row.split_once(": ").expect("a name");
            let (rust, number) = rest
                .trim_end_matches(" (run),")
                .trim_end_matches(',')
                .rsplit_once(" = ")
                .expect("a number");
            let kind = MESSAGES_OF_TYPES
                .iter()
                .find(|entry| entry.0 == rust)
                .map_or(rust, |entry| entry.1);
            fields.extend(field_line(message, name, kind, &format!("{prost}, tag = \"{number}\"")));
        }
    }
    fields
}

/// None for a oneof, whose fields stand elsewhere.
fn field_line(message: &str, name: &str, rust: &str, attribute: &str) -> Option<String> {
    let number = between(attribute, "tag = \"", "\"")?;
    let kind = between(attribute, "enumeration = \"", "\"")
        .unwrap_or_else(|| attribute.split([',', ' ']).next().unwrap_or(""));
    let is_message = kind == "message";
    let kind = if is_message {
        rust.rsplit('<').next().unwrap_or(rust).trim_end_matches('>')
    } else {
        kind
    };
    let label = match () {
        () if attribute.contains("repeated") => "repeated ",
        () if attribute.contains("optional") && !is_message => "optional ",
        () => "",
    };
    Some(format!("{message}.{name} = {number}: {label}{kind}"))
}

fn kinds() -> Vec<String> {
    let (mut found, mut name, mut prefix) = (Vec::new(), "", String::new());
    for line in KINDS.lines().map(str::trim) {
        if let Some(kinds) = between(line, "kinds!(", " {") {
            (name, prefix) = (kinds, snake(kinds).to_uppercase());
            found.push(format!("{name}.{prefix}_UNSPECIFIED = 0: value"));
        } else if let Some((kind, number)) =
            line.trim_end_matches(',').split_once(" = ").filter(|_| !name.is_empty())
        {
            found.push(format!("{name}.{prefix}_{} = {number}: value", snake(kind).to_uppercase()));
        }
    }
    found
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
