//! Writes the YAML of plan files: for `brunt plan show`, `brunt import` and edits of single values.

mod scalar;

use super::json::{is_expression, is_typed};
use super::node::{PlanNode, PlanValue};
use scalar::{block, comment, double_quoted, flow, one_line, plain};
use std::time::Duration;

/// Maximum number of characters of a comment, and of a list or map in one line.
const MAX_WIDTH: usize = 100;

/// Returns a time as a plan file has it, in milliseconds or seconds: `1500ms`, `2s`. The
/// shortest is 1 ms.
pub fn plan_time(time: Duration) -> String {
    // A pause below 1 ms would become none.
    let millis = time.as_millis().max(1);
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

/// A value of YAML to write.
#[derive(Debug, Clone, PartialEq)]
pub enum Yaml {
    /// No value: `null` in YAML.
    Null,
    /// A single value, without quotes if YAML allows it.
    Text(String),
    /// A single value in double quotes.
    Quoted(String),
    /// Values of a list, in order.
    List(Vec<Yaml>),
    /// Keys and values in order; in one line if that is short.
    Map(Vec<(String, Yaml)>),
    /// Keys and values in order, in a line each.
    Block(Vec<(String, Yaml)>),
    /// A value with comments.
    Commented {
        /// Comments in the lines before it; an empty comment is an empty line.
        above: Vec<String>,
        /// Comment at the end of its line.
        note: String,
        /// The value; None if there are only comments.
        value: Option<Box<Yaml>>,
    },
}

impl Yaml {
    /// Returns a single value, without quotes if YAML allows it.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A text that stays a text in a JSON body: in quotes if it looks like a number, true or false,
    /// or is one expression.
    pub fn json_text(text: impl Into<String>) -> Self {
        let text = text.into();
        // Without quotes, JSON would get a number or boolean.
        if is_typed(&text) || is_expression(&text) { Self::Quoted(text) } else { Self::Text(text) }
    }

    /// Several single values as a list; one value as itself.
    pub fn texts(mut texts: Vec<String>) -> Self {
        match texts.len() {
            // A list of one value may be written as the value.
            1 => Self::Text(texts.remove(0)),
            _ => Self::List(texts.into_iter().map(Self::Text).collect()),
        }
    }

    /// Returns a map with these entries, in this order.
    pub fn map<const N: usize>(entries: [(&str, Yaml); N]) -> Self {
        Self::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Comments without a value.
    pub fn comments(above: Vec<String>) -> Self {
        Self::Commented { above, note: String::new(), value: None }
    }

    /// The value with comments in the lines before it.
    #[must_use]
    pub fn with_comments(self, above: Vec<String>) -> Self {
        Self::Commented { above, note: String::new(), value: Some(Box::new(self)) }
    }

    /// The value with a comment at the end of its line.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> Self {
        Self::Commented { above: Vec::new(), note: note.into(), value: Some(Box::new(self)) }
    }

    /// Returns the text of a YAML file.
    pub fn write(&self) -> String {
        let mut text = self.lines().join("\n");
        text.push('\n');
        text
    }

    /// The value in one line, as within brackets. Comments are left out.
    pub(super) fn flow(&self) -> String {
        match self {
            Self::Null | Self::Commented { value: None, .. } => "null".to_owned(),
            Self::Text(text) => flow(text),
            Self::Quoted(text) => double_quoted(text),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::flow).collect::<Vec<_>>().join(", "))
            }
            Self::Map(entries) | Self::Block(entries) => {
                let entries = entries.iter().map(|(name, value)| flow_entry(name, value));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            Self::Commented { value: Some(value), .. } => value.flow(),
        }
    }

    /// Lines of the value at the top of a file.
    pub(super) fn lines(&self) -> Vec<String> {
        match self {
            Self::List(items) if !items.is_empty() => items.iter().flat_map(Self::item).collect(),
            Self::Map(entries) | Self::Block(entries) if !entries.is_empty() => {
                entries.iter().flat_map(|(name, value)| value.entry(name)).collect()
            }
            Self::Null | Self::List(_) | Self::Map(_) | Self::Block(_) => vec![self.flow()],
            Self::Text(text) => match block(text) {
                Some((style, lines)) => {
                    std::iter::once(style.to_owned()).chain(indented(lines)).collect()
                }
                None => vec![plain(text)],
            },
            Self::Quoted(text) => vec![double_quoted(text)],
            Self::Commented { above, note, value } => {
                let value = value.as_deref().map(Self::lines).unwrap_or_default();
                with_comments(above, note, value)
            }
        }
    }

    /// `name: value`, in as many lines as it needs.
    fn entry(&self, name: &str) -> Vec<String> {
        if let Self::Commented { above, note, value } = self {
            return with_comments(
                above,
                note,
                value.as_deref().map(|value| value.entry(name)).unwrap_or_default(),
            );
        }
        let mut lines = self.after_key();
        lines[0] =
            format!("{}:{}{}", plain(name), if lines[0].is_empty() { "" } else { " " }, lines[0]);
        lines
    }

    /// The rest of the line of its key, and the lines below the key.
    pub(super) fn after_key(&self) -> Vec<String> {
        let below = match self {
            // Items of a list need no indentation below a key in YAML.
            Self::List(items) if !items.is_empty() && !self.is_short() => self.lines(),
            Self::Map(_) if !self.is_short() => indented(self.lines()),
            Self::Block(entries) if !entries.is_empty() => indented(self.lines()),
            Self::List(_) | Self::Map(_) | Self::Block(_) => return vec![self.flow()],
            Self::Null | Self::Text(_) | Self::Quoted(_) | Self::Commented { .. } => {
                return self.lines();
            }
        };
        std::iter::once(String::new()).chain(below).collect()
    }

    /// The rest of the line of its dash, and the lines below the dash, indented as the dash is.
    pub(super) fn after_dash(&self) -> Vec<String> {
        let mut lines = self.item();
        // The dash is in the text already.
        lines[0].drain(.."- ".len());
        lines
    }

    /// The value as an item of a list. Comments at its start come before the dash.
    fn item(&self) -> Vec<String> {
        match self {
            Self::Commented { above, note, value } => {
                with_comments(above, note, value.as_deref().map(Self::item).unwrap_or_default())
            }
            Self::List(_) if self.is_short() => vec![format!("- {}", self.flow())],
            _ => {
                let mut lines = self.lines();
                let first =
                    lines.iter().position(|line| !line.starts_with('#')).unwrap_or_default();
                for (number, line) in lines.iter_mut().enumerate().skip(first) {
                    match number {
                        _ if number == first => line.insert_str(0, "- "),
                        // Trailing spaces in an empty line of a text would be part of it.
                        _ if line.is_empty() => {}
                        _ => line.insert_str(0, "  "),
                    }
                }
                lines
            }
        }
    }

    /// True if it fits in one line, and contains no list or map that contains others.
    fn is_short(&self) -> bool {
        let values: Vec<&Self> = match self {
            Self::List(items) => items.iter().collect(),
            Self::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
            Self::Block(_) | Self::Commented { .. } => return false,
            Self::Null | Self::Text(_) | Self::Quoted(_) => Vec::new(),
        };
        let is_map = matches!(self, Self::Map(_));
        values.iter().all(|value| value.is_single() || is_map && value.holds_only_single_values())
            && self.flow().chars().count() <= MAX_WIDTH
    }

    fn holds_only_single_values(&self) -> bool {
        match self {
            Self::List(items) => items.iter().all(Self::is_single),
            Self::Map(entries) => entries.iter().all(|(_, value)| value.is_single()),
            Self::Null
            | Self::Text(_)
            | Self::Quoted(_)
            | Self::Block(_)
            | Self::Commented { .. } => false,
        }
    }

    /// True for a single value in one line.
    fn is_single(&self) -> bool {
        match self {
            Self::Text(text) => !text.contains('\n'),
            Self::Null | Self::Quoted(_) => true,
            Self::List(_) | Self::Map(_) | Self::Block(_) | Self::Commented { .. } => false,
        }
    }
}

impl From<&PlanNode> for Yaml {
    fn from(node: &PlanNode) -> Self {
        match &node.value {
            PlanValue::Null => Self::Null,
            // In one line with others it would need quotes, and JSON would get a text.
            PlanValue::Text { text, plain: true } if is_expression(text) => {
                Self::Text(text.clone()).with_comments(Vec::new())
            }
            // Quotes of the file are written again only where they decide about the type.
            PlanValue::Text { text, plain: true } => Self::Text(text.clone()),
            PlanValue::Text { text, plain: false } => Self::json_text(text),
            PlanValue::List(nodes) => Self::List(nodes.iter().map(Self::from).collect()),
            PlanValue::Map(entries) => Self::Block(
                entries.iter().map(|entry| (entry.key.clone(), Self::from(&entry.node))).collect(),
            ),
        }
    }
}

fn flow_entry(name: &str, value: &Yaml) -> String {
    format!("{}: {}", flow(name), value.flow())
}

/// Lines with comments before them. `note` is a comment at the end of the line if there
/// is one short line.
fn with_comments(above: &[String], note: &str, mut lines: Vec<String>) -> Vec<String> {
    let mut all_lines: Vec<String> = above.iter().flat_map(|text| comment(text)).collect();
    match &mut lines[..] {
        _ if note.is_empty() => {}
        [line] if line.len() + note.len() < MAX_WIDTH + 15 => {
            line.extend(["  # ", &one_line(note)]);
        }
        _ => all_lines.extend(comment(note)),
    }
    all_lines.extend(lines);
    all_lines
}

fn indented(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    lines.into_iter().map(|line| if line.is_empty() { line } else { format!("  {line}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::json::json_text;
    use super::super::node::NamedNode;
    use super::super::yaml::parse;
    use super::*;
    use crate::error::SourcePosition;
    use proptest::prelude::*;

    #[test]
    fn lines_are_short_and_unbroken() {
        let tree = Yaml::map([
            ("load", Yaml::map([("users", Yaml::text("1..5/4s,5"))])),
            (
                "steps",
                Yaml::List(vec![
                    Yaml::map([
                        ("get", Yaml::text("/")),
                        ("extract", Yaml::map([("a", Yaml::text("x: y"))])),
                    ]),
                    Yaml::map([("script", Yaml::text("a\n  b\n"))]),
                ]),
            ),
        ]);
        let expected = "load: {users: \"1..5/4s,5\"}\nsteps:\n- get: /\n  extract: {a: \"x: y\"}\n- script: |\n    a\n      b";
        assert_eq!(tree.lines().join("\n"), expected);
    }

    fn json_value() -> impl Strategy<Value = PlanValue> {
        let text = prop_oneof![
            "[a-z0-9]{0,3}",
            "-?[0-9]{1,3}(\\.[0-9])?",
            Just("true".to_owned()),
            Just("${id}".to_owned()),
            Just("${random(1, 2)}".to_owned()),
            Just("${f(a: b #c)} d".to_owned()),
        ];
        let text = (text, any::<bool>()).prop_map(|(text, plain)| {
            // YAML needs quotes around some texts.
            let plain = plain && !text.is_empty() && !text.contains('#');
            PlanValue::Text { text, plain }
        });
        prop_oneof![1 => Just(PlanValue::Null), 6 => text].prop_recursive(3, 12, 3, |inner| {
            let at = SourcePosition::whole("p");
            let node = inner.prop_map(move |value| PlanNode { at: at.clone(), value });
            let entry = node.clone().prop_map(|node| (node.at.clone(), node));
            prop_oneof![
                proptest::collection::vec(node, 0..3).prop_map(PlanValue::List),
                proptest::collection::vec(entry, 0..3).prop_map(|nodes| {
                    let entries = nodes.into_iter().zip(["a", "b", "c"]);
                    let entries =
                        entries.map(|((at, node), key)| NamedNode { key: key.into(), at, node });
                    PlanValue::Map(entries.collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn types_of_json_are_read_back(value in json_value()) {
            let at = SourcePosition::whole("p");
            let node = PlanNode { at: at.clone(), value };
            let entry = NamedNode { key: "json".into(), at: at.clone(), node: node.clone() };
            let shown = Yaml::from(&PlanNode { at, value: PlanValue::Map(vec![entry]) }).write();
            let back = parse(&shown, "p").unwrap_or_else(|e| panic!("{shown:?}: {e}"));
            let back = back.child("json").expect("the key");
            prop_assert_eq!(json_text(back), json_text(&node), "{}", shown);
        }

        #[test]
        fn written_texts_are_read_back(text: String, key in "[a-z:#-]{1,9}") {
            let mut node = parse("a: x", "p").unwrap();
            if let PlanValue::Map(entries) = &mut node.value {
                entries[0].key.clone_from(&key);
                entries[0].node.value = PlanValue::List(vec![PlanNode { at: entries[0].at.clone(), value: PlanValue::Text { text: text.clone(), plain: false } }]);
            }
            let shown = Yaml::from(&node).write();
            let back = parse(&shown, "p").unwrap_or_else(|e| panic!("{shown:?}: {e}"));
            let PlanValue::List(list) = &back.child(&key).expect("the key").value else { panic!("{shown:?}") };
            prop_assert_eq!(list[0].text(), Some(text.as_str()), "{}", shown);
        }
    }
}
