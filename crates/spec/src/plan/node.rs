//! A plan file as a tree of texts, lists and maps, each with the place where it was written.
//!
//! It knows no keys and no types. Every scalar is a text, as on a command line: `on`, `1e3` and
//! `1:30` stay as written, without YAML's conversion to other types.

use crate::error::SourcePosition;

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanNode {
    /// Place where the value begins.
    pub at: SourcePosition,
    /// The value, without its place.
    pub value: PlanValue,
}

/// A value without its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanValue {
    /// Nothing, `null` or `~`: the key counts as missing. In an override, it removes the key.
    Null,
    /// A single value; numbers and booleans are texts too.
    Text {
        /// Text of the value.
        text: String,
        /// True if the text was written without quotes.
        plain: bool,
    },
    /// Values of a list, in order.
    List(Vec<PlanNode>),
    /// Names and values in order; names are unique.
    Map(Vec<NamedNode>),
}

/// A name and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedNode {
    /// Name of the entry.
    pub key: String,
    /// Place where the name begins.
    pub at: SourcePosition,
    /// Value of the entry.
    pub node: PlanNode,
}

impl PlanNode {
    /// Creates an empty map.
    pub(super) fn empty(at: SourcePosition) -> Self {
        Self { at, value: PlanValue::Map(Vec::new()) }
    }

    /// Entries of a map; empty for any other value.
    pub fn entries(&self) -> &[NamedNode] {
        match &self.value {
            PlanValue::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Value of a name in a map.
    pub fn child(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value at the end of a dotted path.
    pub fn below(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, Self::child)
    }

    /// Text of a single value; None for any other value.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            PlanValue::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Kind of the value, for error messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            PlanValue::Null => "nothing",
            PlanValue::Text { .. } => "a single value",
            PlanValue::List(_) => "a list",
            PlanValue::Map(_) => "a map",
        }
    }

    /// Merges another tree into this one: maps are merged by name, everything else is replaced.
    /// Each value keeps the place where it was written.
    pub(crate) fn merge(&mut self, over: &Self) {
        let (PlanValue::Map(entries), PlanValue::Map(others)) = (&mut self.value, &over.value)
        else {
            // Lists are replaced, not joined: an override could not remove an item otherwise.
            self.clone_from(over);
            return;
        };
        for other in others {
            // Null removes an existing key. Without one it stays: a level of a factor may be null.
            if other.node.value == PlanValue::Null
                && entries.iter().any(|entry| entry.key == other.key)
            {
                entries.retain(|entry| entry.key != other.key);
                continue;
            }
            match entries.iter_mut().find(|entry| entry.key == other.key) {
                Some(entry) => {
                    // An error about the value names the place of the override.
                    entry.at = other.at.clone();
                    entry.node.merge(&other.node);
                }
                None => entries.push(other.clone()),
            }
        }
    }

    /// Removes the null values of a map itself, and not those within its values.
    pub(super) fn without_null_entries(&self) -> Self {
        let mut node = self.clone();
        if let PlanValue::Map(entries) = &mut node.value {
            entries.retain(|entry| entry.node.value != PlanValue::Null);
        }
        node
    }

    /// Removes the value at a place, and nothing around it. Returns true if there was one.
    pub(super) fn take_out(&mut self, at: &SourcePosition) -> bool {
        match &mut self.value {
            PlanValue::Map(entries) => {
                // The innermost value at the place: a map begins where its first key does.
                if entries.iter_mut().any(|entry| entry.node.take_out(at)) {
                    return true;
                }
                let index =
                    entries.iter().position(|entry| entry.at == *at || entry.node.at == *at);
                index.map(|index| entries.remove(index)).is_some()
            }
            PlanValue::List(nodes) => {
                if nodes.iter_mut().any(|node| node.take_out(at)) {
                    return true;
                }
                let index = nodes.iter().position(|node| node.at == *at);
                index.map(|index| nodes.remove(index)).is_some()
            }
            PlanValue::Null | PlanValue::Text { .. } => false,
        }
    }

    /// Removes null values, except in a JSON body, where null is a value, and in parts whose reader
    /// checks the names of keys without a value.
    pub(super) fn without_nulls(mut self) -> Self {
        if let PlanValue::Map(entries) = self.value {
            let entries = entries.into_iter().filter(|entry| entry.node.value != PlanValue::Null);
            let entries = entries.map(|entry| match entry.key.as_str() {
                "json" | "scenario" | "setup" | "teardown" | "steps" | "data" => entry,
                _ => NamedNode { node: entry.node.without_nulls(), ..entry },
            });
            self.value = PlanValue::Map(entries.collect());
        } else if let PlanValue::List(nodes) = self.value {
            self.value = PlanValue::List(nodes.into_iter().map(Self::without_nulls).collect());
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
        assert_eq!(
            levels.entries().iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(),
            ["c"]
        );
    }

    #[test]
    fn merged_values_keep_their_positions() {
        let mut base = parse("a: {b: 1, c: 2}", "base").unwrap();
        base.merge(&parse("\na: {c: 3}", "over").unwrap());
        assert_eq!(base.below("a.b").unwrap().at.to_string(), "base:1:8");
        assert_eq!(base.below("a.c").unwrap().at.to_string(), "over:2:8");
    }
}
