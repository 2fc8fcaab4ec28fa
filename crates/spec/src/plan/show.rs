//! A tree as YAML again: what `brunt plan show` prints.

use super::node::{Node, Value};
use std::fmt::Write;

/// The tree as the text of a YAML file. Short lists stand on one line.
pub fn yaml(node: &Node) -> String {
    let mut out = String::new();
    block(node, 0, &mut out);
    out
}

fn block(node: &Node, indent: usize, out: &mut String) {
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                let _ = write!(out, "{:indent$}{}:", "", quoted(&entry.key));
                below(&entry.node, indent + 2, out);
            }
        }
        Value::List(nodes) => {
            for node in nodes {
                let _ = write!(out, "{:indent$}-", "");
                below(node, indent + 2, out);
            }
        }
        Value::Null | Value::Text { .. } => {
            let _ = writeln!(out, "{:indent$}{}", "", inline(node));
        }
    }
}

/// What stands behind a name or dash: on its line where that is short.
fn below(node: &Node, indent: usize, out: &mut String) {
    let scalars = |nodes: &[Node]| nodes.iter().all(|n| matches!(n.value, Value::Null | Value::Text { .. }));
    let short = match &node.value {
        Value::Null | Value::Text { .. } => true,
        Value::List(nodes) => scalars(nodes),
        Value::Map(entries) => entries.is_empty(),
    };
    if short {
        let _ = writeln!(out, " {}", inline(node));
    } else {
        out.push('\n');
        block(node, indent, out);
    }
}

fn inline(node: &Node) -> String {
    match &node.value {
        Value::Null => "~".to_owned(),
        Value::Text { text, .. } => quoted(text),
        Value::List(nodes) => format!("[{}]", nodes.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entry = |(key, node): (&String, &Node)| format!("{}: {}", quoted(key), inline(node));
            format!("{{{}}}", entries.iter().map(|e| entry((&e.key, &e.node))).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text in quotes where YAML would read something else without them.
fn quoted(text: &str) -> String {
    let special = |c: char| c.is_control() || "[]{},#&*!|>'\"%@`\\".contains(c);
    let plain = !text.is_empty()
        && text.trim() == text
        && !text.contains(special)
        && !text.contains(": ")
        && !text.ends_with(':')
        && !text.starts_with(['-', '?', ':', '<', '=', '~'])
        && !["null", "true", "false"].contains(&text)
        || ["true", "false"].contains(&text);
    if plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::yaml::parse;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_is_read_as_it_was_shown(text: String, key in "[a-z:#-]{1,9}") {
            let node = parse("a: x", "p").unwrap();
            let mut node = node;
            if let Value::Map(entries) = &mut node.value {
                entries[0].key.clone_from(&key);
                entries[0].node.value = Value::List(vec![Node { at: entries[0].at.clone(), value: Value::Text { text: text.clone(), plain: false } }]);
            }
            let shown = yaml(&node);
            let back = parse(&shown, "p").unwrap_or_else(|e| panic!("{shown:?}: {e}"));
            let Value::List(list) = &back.child(&key).expect("the key").value else { panic!("{shown:?}") };
            prop_assert_eq!(list[0].text(), Some(text.as_str()), "{}", shown);
        }
    }
}
