//! The text of a plan file → a tree with places.
//!
//! YAML 1.2 without features that a plan does not need: tags, several documents, keys that
//! are not texts. Input that would take much memory (aliases of aliases) or much stack
//! (deep nesting) is refused.

use super::node::{NamedNode, PlanNode, PlanValue};
use crate::error::SourcePosition;
use crate::error::SpecError;
use brunt_model::secret::is_secret_field;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};
use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

/// Maximum length of a plan file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// Maximum depth of nesting.
// Reading and filling are recursive, so the depth limits the stack.
const MAX_DEPTH: usize = 32;

/// Maximum number of values, including those of aliases.
const MAX_VALUES: usize = 100_000;

/// Reads the text of a plan file; `file` is its name in errors.
pub fn parse(text: &str, file: &str) -> Result<PlanNode, SpecError> {
    parse_by(ImplicitValues::Refused, text, file)
}

/// Reads the text of a plan file that is edited, so that values may be missing.
pub(super) fn parse_draft(text: &str, file: &str) -> Result<PlanNode, SpecError> {
    parse_by(ImplicitValues::Accepted, text, file)
}

/// Treatment of a name without a colon within `{ }`, such as `b` of `{a: 1,b}`. YAML reads it as a
/// name without a value, and most are the rest of a value with a comma.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ImplicitValues {
    Accepted,
    Refused,
}

fn parse_by(implicit: ImplicitValues, text: &str, file: &str) -> Result<PlanNode, SpecError> {
    if text.len() > MAX_BYTES {
        let wrong = format!(
            "it has {} bytes, and a plan has {MAX_BYTES} at most; write what repeats as vars or factors",
            text.len()
        );
        return Err(SpecError::new(&SourcePosition::whole(file), "", wrong));
    }
    // A byte order mark is not a part of the first key.
    let original = protect_braces(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut builder = TreeBuilder::new(file, &original);
    let error = match builder.read(implicit, &original) {
        Ok(()) => return builder.root(),
        Err(ReadError::Plan(error)) => return Err(error),
        Err(ReadError::Scan(error)) => error,
    };
    let broken = builder.broken(&original, *error.marker(), error.info());
    // An unclosed bracket makes all lines after it parts of a list, so the first error counts.
    let Some(joined) = with_joined_lines(&original) else { return Err(broken) };
    let mut builder = TreeBuilder::new(file, &original);
    match builder.read(implicit, &joined) {
        Ok(()) => builder.root(),
        Err(ReadError::Plan(error)) => Err(error),
        Err(ReadError::Scan(_)) => Err(broken),
    }
}

/// Maximum number of lines within brackets that are indented less than the YAML around them.
// The text is read once for each of them.
const MAX_JOINED_LINES: usize = 2000;

/// Why a text cannot be read.
enum ReadError {
    /// Invalid YAML.
    Scan(ScanError),
    /// YAML that is no plan.
    Plan(SpecError),
}

impl From<SpecError> for ReadError {
    fn from(error: SpecError) -> Self {
        Self::Plan(error)
    }
}

/// Joins lines until the text is YAML. None if it has other errors.
fn with_joined_lines(text: &str) -> Option<String> {
    let mut joined = text.to_owned();
    for _ in 0..MAX_JOINED_LINES {
        match Parser::new_from_str(&joined).find_map(Result::err) {
            None => return Some(joined),
            Some(error) => joined = with_joined_line(&joined, &error)?,
        }
    }
    None
}

/// Joins a line within `{ }` or `[ ]` that begins too far left to the line before it: the
/// specification requires indentation there, but no other reader does, and pasted JSON has none.
/// All characters keep their index. None if the error is another one.
fn with_joined_line(text: &str, error: &ScanError) -> Option<String> {
    if !["invalid indentation", "invalid indentation in flow construct"].contains(&error.info()) {
        return None;
    }
    let index = text.char_indices().nth(error.marker().index())?.0;
    let before = text[..index].trim_end_matches([' ', '\t']).strip_suffix('\n')?;
    // A comment would include the joined line.
    let last_line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    if last_line.starts_with('#') || last_line.contains(" #") {
        return None;
    }
    let (line, end) = match before.strip_suffix('\r') {
        Some(line) => (line, "  "),
        None => (before, " "),
    };
    Some([line, end, &text[before.len() + 1..]].concat())
}

/// Characters that replace the braces of `${name}` while the YAML is read: within `{ }`, YAML would
/// read them as its own braces.
// Private-use characters, which no text of a plan contains by accident.
const BRACES: [char; 2] = ['\u{e000}', '\u{e001}'];

/// Replaces the braces around the names of variables. The positions of all
/// characters stay the same.
pub(super) fn protect_braces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let name_start = &rest[start + 2..];
        let end = name_start
            .find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
            .unwrap_or(name_start.len());
        out.push_str(&rest[..start]);
        if name_start[end..].starts_with('}') {
            out.extend(['$', BRACES[0]]);
            out.push_str(&name_start[..end]);
            out.push(BRACES[1]);
            rest = &name_start[end + 1..];
        } else {
            out.push_str("${");
            rest = name_start;
        }
    }
    out + rest
}

/// Restores the braces of a text.
pub(super) fn restore_braces(text: &str) -> String {
    text.replace(BRACES[0], "{").replace(BRACES[1], "}")
}

struct TreeBuilder {
    file: Arc<str>,
    open: Vec<OpenCollection>,
    /// By the number of the anchor: the value, and its number of values.
    anchors: HashMap<usize, (PlanNode, usize)>,
    size: usize,
    /// The text of the file.
    characters: Vec<char>,
    /// Index of the first character of each line.
    line_starts: Vec<usize>,
    /// Index of the character after the last key or value.
    key_end: usize,
    root: Option<PlanNode>,
}

/// A list or map that was not read to its end yet.
struct OpenCollection {
    node: PlanNode,
    anchor: usize,
    /// Number of values before it.
    size_before: usize,
    /// The name of the value that follows.
    key: Option<(String, SourcePosition)>,
}

impl TreeBuilder {
    fn new(file: &str, text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let ends = characters.iter().enumerate().filter(|(_, letter)| **letter == '\n');
        let line_starts = iter::once(0).chain(ends.map(|(index, _)| index + 1)).collect();
        Self {
            file: file.into(),
            open: Vec::new(),
            anchors: HashMap::new(),
            size: 0,
            characters,
            line_starts,
            key_end: 0,
            root: None,
        }
    }

    fn read(&mut self, implicit: ImplicitValues, text: &str) -> Result<(), ReadError> {
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(ReadError::Scan)?;
            if implicit == ImplicitValues::Refused {
                self.check_value(&event)?;
            }
            self.key_end = span.end.index();
            self.handle_event(event, span.start)?;
        }
        Ok(())
    }

    fn root(self) -> Result<PlanNode, SpecError> {
        self.root.filter(|root| root.value != PlanValue::Null).ok_or_else(|| {
            SpecError::new(
                &SourcePosition::whole(&self.file),
                "",
                "the plan is empty; `brunt plan new` writes a plan to begin with",
            )
        })
    }

    fn handle_event(&mut self, event: Event<'_>, mark: Marker) -> Result<(), SpecError> {
        let at = self.position(mark);
        match event {
            // A second document would be ignored in silence.
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(SpecError::new(&at, "", "a second document begins here; write one plan a file"))
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(SpecError::new(
                &at,
                "",
                "a tag (`!…`) has no meaning in a plan; leave it out, or put quotes around it",
            )),
            Event::Scalar(text, style, anchor, None) => {
                if style == ScalarStyle::Plain {
                    check_spaces(&text).map_err(|wrong| SpecError::new(&at, "", wrong))?;
                }
                let node = PlanNode { at, value: scalar(&text, style) };
                self.size += 1;
                self.close(node, anchor, 1)
            }
            Event::SequenceStart(anchor, None) => {
                self.begin(PlanNode { at, value: PlanValue::List(Vec::new()) }, anchor)
            }
            Event::MappingStart(anchor, None) => self.begin(PlanNode::empty(at), anchor),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(OpenCollection { node, anchor, size_before, .. }) => {
                    // The number of values within, which an alias of it adds.
                    self.close(node, anchor, self.size - size_before)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => self.alias(anchor, &at),
            _ => Ok(()),
        }
    }

    /// Refuses a name without a colon within `{ }`.
    fn check_value(&self, event: &Event<'_>) -> Result<(), SpecError> {
        let (Event::Scalar(text, ScalarStyle::Plain, ..), Some(open)) = (event, self.open.last())
        else {
            return Ok(());
        };
        let (Some((key, at)), PlanValue::Map(entries)) = (&open.key, &open.node.value) else {
            return Ok(());
        };
        let mut after_key =
            self.characters[self.key_end..].iter().skip_while(|c| c.is_whitespace());
        if !text.is_empty() || after_key.next() == Some(&':') {
            return Ok(());
        }
        let before = entries.last().and_then(|entry| match &entry.node.value {
            PlanValue::Text { text, plain: true } => Some((&entry.key, text)),
            _ => None,
        });
        let wrong = match before {
            Some((name, _)) if is_secret_field(name) => {
                format!("a comma ends the value of `{name}`; write quotes around the value")
            }
            Some((name, text)) => format!(
                "`{key}` has no value, because a comma ends that of `{name}`; write {name}: \"{text},{key}\""
            ),
            None => format!("`{key}` has no value; write {key}: VALUE"),
        };
        Err(SpecError::new(at, "", wrong))
    }

    fn begin(&mut self, node: PlanNode, anchor: usize) -> Result<(), SpecError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(SpecError::new(
                &node.at,
                "",
                format!("more than {MAX_DEPTH} levels within each other; a plan has a few"),
            ));
        }
        // A list or map cannot be the key of a map.
        if let Some(OpenCollection {
            node: PlanNode { value: PlanValue::Map(_), .. },
            key: None,
            ..
        }) = self.open.last()
        {
            return Err(SpecError::new(
                &node.at,
                "",
                format!(
                    "{} instead of a name; write `name: value`, and quotes around a value that begins with [ or {{",
                    node.kind()
                ),
            ));
        }
        self.open.push(OpenCollection { node, anchor, size_before: self.size, key: None });
        self.size += 1;
        Ok(())
    }

    /// Adds a complete value to the innermost open list or map, or makes it the root.
    fn close(&mut self, node: PlanNode, anchor: usize, size: usize) -> Result<(), SpecError> {
        if self.size > MAX_VALUES {
            return Err(SpecError::new(
                &node.at,
                "",
                format!(
                    "with its aliases the plan has more than {MAX_VALUES} values; write fewer of them"
                ),
            ));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.node.value {
            PlanValue::List(nodes) => nodes.push(node),
            PlanValue::Map(entries) => match open.key.take() {
                Some((key, at)) => entries.push(NamedNode { key, at, node }),
                None => open.key = Some(name(entries, node)?),
            },
            PlanValue::Null | PlanValue::Text { .. } => {}
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, at: &SourcePosition) -> Result<(), SpecError> {
        // The parser refuses unknown anchors. An anchor without a value is one that is still open.
        let Some((node, size)) = self.anchors.get(&anchor) else {
            return Err(SpecError::new(
                at,
                "",
                "the alias refers to its own parent; write its value out",
            ));
        };
        // An alias counts with its whole content, or aliases of aliases could fill the memory.
        self.size += size;
        if self.size > MAX_VALUES {
            return Err(SpecError::new(
                at,
                "",
                format!(
                    "with its aliases the plan has more than {MAX_VALUES} values; write fewer of them"
                ),
            ));
        }
        // The content is already counted, and a copy has no anchor.
        self.close(node.clone(), 0, 0)
    }

    fn position(&self, mark: Marker) -> SourcePosition {
        // The parser counts joined lines as one.
        let index = mark.index();
        let line = self.line_starts.partition_point(|start| *start <= index);
        let column = index - self.line_starts[line - 1];
        SourcePosition::within(&self.file, line as u32, column as u32 + 1)
    }

    /// Error for invalid YAML. A tab is reported first: it looks like spaces, and is
    /// the most common cause.
    fn broken(&self, text: &str, mark: Marker, info: &str) -> SpecError {
        // The parser reports a tab by another message, up to two lines later.
        let position = self.position(mark);
        let line = position.line_and_column().0 as usize;
        let until = text.lines().take(line).collect::<Vec<_>>();
        if let Some(number) =
            until.iter().rposition(|line| begins_with_tab(line)).filter(|n| n + 2 >= line)
        {
            let column = until[number].find('\t').unwrap_or(0) + 1;
            let at = SourcePosition::within(&self.file, number as u32 + 1, column as u32);
            return SpecError::new(&at, "", "a tab precedes the text; write spaces, two per level");
        }
        for (number, line) in until.iter().enumerate().rev().take(2) {
            let place = line.char_indices().enumerate().find_map(|(column, (index, letter))| {
                let (_, name) = FALSE_SPACES.into_iter().find(|(space, _)| *space == letter)?;
                let before = line[..index].trim();
                (before.is_empty() || before.ends_with([':', '-']))
                    .then_some((column, letter, name))
            });
            if let Some((column, letter, name)) = place {
                let at = SourcePosition::within(&self.file, number as u32 + 1, column as u32 + 1);
                let code = u32::from(letter);
                let wrong = format!("{name} (U+{code:04X}); write an ordinary space");
                return SpecError::new(&at, "", wrong);
            }
        }
        let remedy = "check the indentation, quotes and brackets here and above";
        SpecError::new(&position, "", format!("invalid YAML: {info}; {remedy}"))
    }
}

/// Characters that look like a space, or like nothing, and are none in YAML, with their names.
const FALSE_SPACES: [(char, &str); 6] = [
    ('\u{a0}', "no-break space"),
    ('\u{202f}', "narrow no-break space"),
    ('\u{3000}', "ideographic space"),
    ('\u{2003}', "em space"),
    ('\u{200b}', "zero-width space"),
    ('\u{feff}', "byte order mark"),
];

/// Refuses a character that looks like a space at the begin or end of a text without quotes, or
/// after a colon: it belongs to the text, and nobody sees it.
fn check_spaces(text: &str) -> Result<(), String> {
    for (false_space, name) in FALSE_SPACES {
        let after_colon = format!(":{false_space}");
        let place = if text.starts_with(false_space) {
            "before"
        } else if text.ends_with(false_space) {
            "after"
        } else if text.contains(&after_colon) {
            "after a colon of"
        } else {
            continue;
        };
        let code = u32::from(false_space);
        // The text itself may be secret.
        return Err(format!(
            "{name} (U+{code:04X}) {place} the text; write an ordinary space, or quotes around the text"
        ));
    }
    Ok(())
}

fn begins_with_tab(line: &str) -> bool {
    line.trim_start_matches(' ').starts_with('\t')
}

/// Reads a key of a map, with its place.
fn name(entries: &[NamedNode], node: PlanNode) -> Result<(String, SourcePosition), SpecError> {
    let PlanValue::Text { text, .. } = node.value else {
        return Err(SpecError::new(
            &node.at,
            "",
            format!("{} instead of a name; write `name: value`", node.kind()),
        ));
    };
    // YAML 1.2 requires unique keys, but the parser reports both.
    if let Some(first) = entries.iter().find(|entry| entry.key == text) {
        let wrong = format!("`{text}` is given twice (first at {}); write it once", first.at);
        return Err(SpecError::new(&node.at, "", wrong));
    }
    Ok((text, node.at))
}

fn scalar(text: &str, style: ScalarStyle) -> PlanValue {
    let plain = style == ScalarStyle::Plain;
    match text {
        "" | "~" | "null" if plain => PlanValue::Null,
        _ => PlanValue::Text { text: restore_braces(text), plain },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(text: &str) -> String {
        parse(text, "plan.yaml").unwrap_err().to_string()
    }

    #[test]
    fn values_are_texts_with_places() {
        let node =
            parse("load:\n  rate: 50..1500+50\n  precise: on\n'a b': [x, 010]\n", "p").unwrap();
        let rate = node.below("load.rate").unwrap();
        assert_eq!((rate.text(), rate.at.to_string().as_str()), (Some("50..1500+50"), "p:2:9"));
        assert_eq!(node.below("load.precise").unwrap().text(), Some("on"));
        let PlanValue::List(list) = &node.child("a b").unwrap().value else { panic!("no list") };
        assert_eq!((list[1].text(), list[1].at.to_string().as_str()), (Some("010"), "p:4:12"));
    }

    #[test]
    fn variables_need_no_quotes_within_braces() {
        let node =
            parse("a: {b: exec ${x}/y, c: [${p.q}, '${r}'], d: $${s}}\ne: ${not this}\n", "p")
                .unwrap();
        assert_eq!(node.below("a.b").unwrap().text(), Some("exec ${x}/y"));
        assert_eq!(node.below("a.d").unwrap().text(), Some("$${s}"));
        assert_eq!(node.below("a.d").unwrap().at.to_string(), "p:1:45");
        assert_eq!(node.child("e").unwrap().text(), Some("${not this}"));
        let PlanValue::List(list) = &node.below("a.c").unwrap().value else { panic!("no list") };
        assert_eq!((list[0].text(), list[1].text()), (Some("${p.q}"), Some("${r}")));
    }

    /// JSON as a browser copies it: `PyYAML` and js-yaml read it at any column.
    #[test]
    fn pasted_json_needs_no_indentation() {
        let pasted =
            "a:\n  - b: {\n\"c\": [\n1,\r\n 2\n],\n    \"d\": 3\n  }\n    e: ${x} # e\nf: {\n}\n";
        let node = parse(pasted, "p").unwrap();
        let PlanValue::List(list) = &node.child("a").unwrap().value else { panic!("no list") };
        let PlanValue::List(numbers) = &list[0].below("b.c").unwrap().value else {
            panic!("no list")
        };
        assert_eq!(numbers.iter().map(PlanNode::text).collect::<Vec<_>>(), [Some("1"), Some("2")]);
        let d = list[0].below("b.d").unwrap();
        assert_eq!((d.text(), d.at.to_string().as_str()), (Some("3"), "p:7:10"));
        let e = list[0].child("e").unwrap();
        assert_eq!((e.text(), e.at.to_string().as_str()), (Some("${x}"), "p:9:8"));
        // The first error of a text with others.
        assert_eq!(message("a:\n  b: {\n\"c\": 1\n]\n").split(':').nth(1), Some("3"));
    }

    #[test]
    fn aliases_have_the_value_of_their_anchor() {
        let node = parse("a: &x {b: 1}\nc: *x\n", "p").unwrap();
        assert_eq!(node.below("c.b").unwrap().text(), Some("1"));
    }

    #[test]
    fn malformed_yaml_is_reported_with_its_position() {
        let texts = [
            "",
            "# only a comment\n",
            "---\n",
            "a: 1\n---\nb: 2\n",
            "a:\n\tb: 1\n",
            "a: 1\na: 2\n",
            "a: !!int 1\n",
            "a: [1, 2\n",
            "a: 'x\n",
            "a: b: c\n",
            "[a]: 1\n",
            "{a: 1}: 2\n",
            "a: *x\n",
            "a: &x [*x]\n",
            "~: 1\n",
            "a: }\n",
            "load: {users: 0..9/3s,9/2m}\n",
            "a: {b}\n",
            "a: {b: 'x',c}\n",
            "a: {password: x,c}\n",
            "load:\n\u{a0}\u{a0}users: 5\n",
            "load:\n  users: 5\u{a0}\n",
            "load:\u{a0}5\n",
            "load:\n  users:\u{a0}5\n  rate: 5\n",
            "load:\n  rate: 5\n\u{a0} users: 5\n",
            "load:\n  \u{3000}users: 5\n",
        ];
        let message: Vec<_> = texts.iter().map(|text| message(text)).collect();
        insta::assert_snapshot!(message.join("\n"), @r#"
    plan.yaml: the plan is empty; `brunt plan new` writes a plan to begin with
    plan.yaml: the plan is empty; `brunt plan new` writes a plan to begin with
    plan.yaml: the plan is empty; `brunt plan new` writes a plan to begin with
    plan.yaml:2:1: a second document begins here; write one plan a file
    plan.yaml:2:1: a tab precedes the text; write spaces, two per level
    plan.yaml:2:1: `a` is given twice (first at plan.yaml:1:1); write it once
    plan.yaml:1:4: a tag (`!…`) has no meaning in a plan; leave it out, or put quotes around it
    plan.yaml:2:1: invalid YAML: while parsing a flow sequence, expected ',' or ']'; check the indentation, quotes and brackets here and above
    plan.yaml:1:4: invalid YAML: while scanning a quoted scalar, found unexpected end of stream; check the indentation, quotes and brackets here and above
    plan.yaml:1:5: invalid YAML: mapping values are not allowed in this context; check the indentation, quotes and brackets here and above
    plan.yaml:1:1: a list instead of a name; write `name: value`, and quotes around a value that begins with [ or {
    plan.yaml:1:1: a map instead of a name; write `name: value`, and quotes around a value that begins with [ or {
    plan.yaml:1:4: invalid YAML: while parsing node, found unknown anchor; check the indentation, quotes and brackets here and above
    plan.yaml:1:8: the alias refers to its own parent; write its value out
    plan.yaml:1:1: nothing instead of a name; write `name: value`
    plan.yaml:1:4: invalid YAML: misplaced bracket; check the indentation, quotes and brackets here and above
    plan.yaml:1:23: `9/2m` has no value, because a comma ends that of `users`; write users: "0..9/3s,9/2m"
    plan.yaml:1:5: `b` has no value; write b: VALUE
    plan.yaml:1:12: `c` has no value; write c: VALUE
    plan.yaml:1:17: a comma ends the value of `password`; write quotes around the value
    plan.yaml:2:1: no-break space (U+00A0) before the text; write an ordinary space, or quotes around the text
    plan.yaml:2:10: no-break space (U+00A0) after the text; write an ordinary space, or quotes around the text
    plan.yaml:1:1: no-break space (U+00A0) after a colon of the text; write an ordinary space, or quotes around the text
    plan.yaml:2:3: no-break space (U+00A0) after a colon of the text; write an ordinary space, or quotes around the text
    plan.yaml:3:1: no-break space (U+00A0) before the text; write an ordinary space, or quotes around the text
    plan.yaml:2:3: ideographic space (U+3000) before the text; write an ordinary space, or quotes around the text
    "#);
    }

    #[test]
    fn yaml_that_needs_much_memory_or_stack_is_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let ten = vec![format!("*a{}", n - 1); 10].join(", ");
            bomb = format!("{bomb}a{n}: &a{n} [{ten}]\n");
        }
        let deep = format!("a: {}{}", "[".repeat(5000), "]".repeat(5000));
        let long = "x".repeat(MAX_BYTES + 1);
        insta::assert_snapshot!([bomb, deep, long].map(|text| message(&text)).join("\n"), @r"
    plan.yaml:5:45: with its aliases the plan has more than 100000 values; write fewer of them
    plan.yaml:1:259: invalid YAML: recursion limit exceeded; check the indentation, quotes and brackets here and above
    plan.yaml: it has 1048577 bytes, and a plan has 1048576 at most; write what repeats as vars or factors
    ");
    }

    proptest! {
        #[test]
        fn nothing_panics(text: String, lines in "([a-c]{1,2}: ?[\\[{*&!'\"x\\n]{0,4}[ \\t]{0,3}\n?){0,9}") {
            let _ = (parse(&text, "p"), parse(&lines, "p"));
        }
    }
}
