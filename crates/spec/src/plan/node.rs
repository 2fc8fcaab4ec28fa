//! A plan file as a tree of texts, lists and maps, each with the place where it was written.
//!
//! It knows no key and no type. Every scalar is a text, as it is on a command line, so `on`, `1e3` and
//! `1:30` are what was written, never what YAML would make of them.

use crate::error::Position;

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where it begins.
    pub at: Position,
    /// What it is.
    pub value: Value,
}

/// What stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing, `null` or `~`: as if it had not been written, and in an override, as if it had not been written before.
    Null,
    /// A text; `plain` where no quotes stood around it.
    Text {
        /// The text.
        text: String,
        /// Without quotes.
        plain: bool,
    },
    /// Values in order.
    List(Vec<Node>),
    /// Names and values in order; no name twice.
    Map(Vec<Entry>),
}

/// A name and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub key: String,
    /// Where the name begins.
    pub at: Position,
    /// The value.
    pub node: Node,
}

impl Node {
    /// An empty map.
    pub(super) fn empty(at: Position) -> Self {
        Self { at, value: Value::Map(Vec::new()) }
    }

    /// The entries of a map; none of anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a name in a map.
    pub fn child(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value at the end of a dotted path.
    pub fn below(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, Self::child)
    }

    /// The text, where it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// What kind of thing it is, as a sentence says it.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Text { .. } => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// Lays another tree over this one: maps are merged name by name, everything else is replaced. Places stay with what
    /// was written there.
    pub(crate) fn merge(&mut self, over: &Self) {
        let (Value::Map(own), Value::Map(others)) = (&mut self.value, &over.value) else {
            self.clone_from(over);
            return;
        };
        for other in others {
            if other.node.value == Value::Null && own.iter().any(|entry| entry.key == other.key) {
                own.retain(|entry| entry.key != other.key);
                continue;
            }
            match own.iter_mut().find(|entry| entry.key == other.key) {
                Some(entry) => {
                    entry.at = other.at.clone();
                    entry.node.merge(&other.node);
                }
                None => own.push(other.clone()),
            }
        }
    }

    /// Takes out what stands at a place, and nothing around it; whether it was there.
    pub(super) fn take_out(&mut self, at: &Position) -> bool {
        let is_at = |node: &Self| node.at == *at;
        match &mut self.value {
            Value::Map(entries) => {
                let within = entries.iter_mut().any(|entry| entry.node.take_out(at));
                let found = entries.iter().position(|entry| entry.at == *at || is_at(&entry.node)).filter(|_| !within);
                within || found.map(|found| entries.remove(found)).is_some()
            }
            Value::List(nodes) => {
                let within = nodes.iter_mut().any(|node| node.take_out(at));
                let found = nodes.iter().position(is_at).filter(|_| !within);
                within || found.map(|found| nodes.remove(found)).is_some()
            }
            Value::Null | Value::Text { .. } => false,
        }
    }

    /// Takes out what is null. What is sent as JSON keeps its own.
    pub(super) fn without_nulls(mut self) -> Self {
        if let Value::Map(entries) = self.value {
            let kept = entries.into_iter().filter(|entry| entry.node.value != Value::Null);
            let kept = kept.map(|entry| match entry.key.as_str() {
                "json" => entry,
                _ => Entry { node: entry.node.without_nulls(), ..entry },
            });
            self.value = Value::Map(kept.collect());
        } else if let Value::List(nodes) = self.value {
            self.value = Value::List(nodes.into_iter().map(Self::without_nulls).collect());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::write::Yaml;
    use super::super::yaml::parse;

    fn merged(base: &str, over: &str) -> String {
        let mut base = parse(base, "a").unwrap();
        base.merge(&parse(over, "b").unwrap());
        Yaml::from(&base.without_nulls()).write()
    }

    #[test]
    fn maps_merge_and_everything_else_is_replaced() {
        assert_eq!(
            merged("{a: {b: 1, c: 2}, d: [1, 2]}", "{a: {c: 3, e: 4}, d: [5]}"),
            "a:\n  b: 1\n  c: 3\n  e: 4\nd: [5]\n"
        );
        assert_eq!(merged("{a: {b: 1}}", "{a: x}"), "a: x\n");
        assert_eq!(merged("{a: x}", "{a: {b: 1}}"), "a:\n  b: 1\n");
        assert_eq!(merged("{a: x, b: y}", "{a: ~}"), "b: y\n");
        // Also where nothing is something: a level of a factor without overrides.
        let mut levels = parse("{a: {b: 1}, c: ~}", "a").unwrap();
        levels.merge(&parse("{a: ~}", "b").unwrap());
        assert_eq!(levels.entries().iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn places_stay_with_what_was_written_there() {
        let mut base = parse("a: {b: 1, c: 2}", "base").unwrap();
        base.merge(&parse("\na: {c: 3}", "over").unwrap());
        assert_eq!(base.below("a.b").unwrap().at.to_string(), "base:1:8");
        assert_eq!(base.below("a.c").unwrap().at.to_string(), "over:2:8");
    }
}
