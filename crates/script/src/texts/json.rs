//! Searches bodies with `JSONPath` (RFC 9535). A path of names and indices selects at most one
//! value. It is followed through the text without storing the rest, which costs less than a tree
//! of the whole body.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json_path::JsonPath;
use std::fmt;

/// A `JSONPath`, compiled once for many searches.
#[derive(Debug)]
pub struct CompiledPath {
    path: JsonPath,
    /// Steps from the root to the value. None: the path may select several.
    steps: Option<Vec<PathStep>>,
}

/// A step from a value to one of its members or elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    Name(String),
    /// Index of an element, from 0.
    Index(usize),
}

impl CompiledPath {
    /// Compiles a path. A path without `$` begins at the root.
    pub fn new(path: &str) -> Result<Self, String> {
        let path = path.trim();
        let from_root = match path.chars().next() {
            Some('$') => path.to_owned(),
            Some('[') => format!("${path}"),
            _ => format!("$.{path}"),
        };
        let compiled = JsonPath::parse(&from_root).map_err(|error| error.to_string())?;
        Ok(Self { path: compiled, steps: steps(&from_root) })
    }

    /// Returns all values that it selects.
    pub fn all<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        self.path.query(root).all()
    }

    /// Returns the steps to the only value that it may select. None: it may select several.
    pub fn steps(&self) -> Option<&[PathStep]> {
        self.steps.as_deref()
    }
}

/// Parses a path that consists of names and indices.
fn steps(path: &str) -> Option<Vec<PathStep>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, remainder) = if let Some(name) = rest.strip_prefix('.') {
            let (name, remainder) =
                name.split_at(name.find(|c: char| !is_name_character(c)).unwrap_or(name.len()));
            (PathStep::Name((!name.is_empty()).then(|| name.to_owned())?), remainder)
        } else {
            let (inner, remainder) = rest.strip_prefix('[')?.split_once(']')?;
            (in_brackets(inner)?, remainder)
        };
        steps.push(step);
        rest = remainder;
    }
    Some(steps)
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Parses `'name'`, `"name"` or an index. None for anything else, or if the end of
/// the name is ambiguous.
fn in_brackets(inner: &str) -> Option<PathStep> {
    let quote = inner.chars().next()?;
    if inner.bytes().all(|byte| byte.is_ascii_digit()) {
        return inner.parse().ok().map(PathStep::Index);
    }
    let name = inner.strip_prefix(['\'', '"'])?.strip_suffix(quote)?;
    (!name.contains([quote, '\\'])).then(|| PathStep::Name(name.to_owned()))
}

/// Returns the value at these steps in a JSON text. None: there is none, or the text is no JSON.
pub fn follow(text: &str, steps: &[PathStep]) -> Option<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = StepsSeed(steps).deserialize(&mut deserializer).ok()?;
    // A text with more than one value is not JSON.
    deserializer.end().ok()?;
    value
}

/// Returns the value at these steps in a tree.
pub fn value_at<'v>(root: &'v Value, steps: &[PathStep]) -> Option<&'v Value> {
    steps.iter().try_fold(root, |value, step| match step {
        PathStep::Name(name) => value.as_object()?.get(name),
        PathStep::Index(index) => value.as_array()?.get(*index),
    })
}

/// Deserializes the value at these steps, and skips the rest.
struct StepsSeed<'p>(&'p [PathStep]);

impl<'de> DeserializeSeed<'de> for StepsSeed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            return serde::Deserialize::deserialize(deserializer).map(Some);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StepsSeed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (name, rest) = match self.0.split_first() {
            Some((PathStep::Name(name), rest)) => (Some(name.as_str()), rest),
            _ => (None, &[][..]),
        };
        let mut value = None;
        // If several members have the same name, the last one counts, as in a tree.
        while let Some(is_match) = members.next_key_seed(IsName(name))? {
            if is_match {
                value = members.next_value_seed(StepsSeed(rest))?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut value = None;
        if let Some((PathStep::Index(index), rest)) = self.0.split_first() {
            for _ in 0..*index {
                if elements.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(None);
                }
            }
            value = elements.next_element_seed(StepsSeed(rest))?.flatten();
        }
        // The rest is read, too, so that malformed JSON is noticed.
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(value)
    }

    // The steps lead into a value that has neither members nor elements.
    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Deserializes a key, and compares it with this name.
struct IsName<'n>(Option<&'n str>);

impl<'de> DeserializeSeed<'de> for IsName<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsName<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name))
    }
}

/// Returns a string without quotes, any other value as JSON.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_names_and_indices_are_followed() {
        let name = |name: &str| PathStep::Name(name.into());
        for (path, expected) in [
            ("$", Some(vec![])),
            ("token", Some(vec![name("token")])),
            ("$.a.b_2[3]", Some(vec![name("a"), name("b_2"), PathStep::Index(3)])),
            ("$['a b'][\"c.d\"]", Some(vec![name("a b"), name("c.d")])),
            ("[0].x", Some(vec![PathStep::Index(0), name("x")])),
        ] {
            assert_eq!(CompiledPath::new(path).unwrap().steps, expected, "{path}");
        }
        for path in [
            "$..a",
            "$.*",
            "$[-1]",
            "$[0:2]",
            "$[0,1]",
            "$[?@.a == 1]",
            "$['it\\'s']",
            "$['a','b']",
            "$.a [0]",
        ] {
            assert_eq!(CompiledPath::new(path).unwrap().steps, None, "{path}");
        }
    }

    #[test]
    fn the_last_member_of_a_name_is_used_and_the_whole_text_must_be_json() {
        let found = |text: &str| follow(text, &[PathStep::Name("a".into()), PathStep::Index(1)]);
        assert_eq!(found(r#"{"a":[1,2],"b":{"a":[3,4]}}"#), Some(2.into()));
        assert_eq!(found(r#"{"a":[1,2],"a":[5,{"x":[]}]}"#), Some(serde_json::json!({"x": []})));
        assert_eq!(found(r#"{"\u0061":[0,null]}"#), Some(Value::Null));
        for text in [
            r#"{"a":[1,2]"#,
            r#"{"a":[1,2]} x"#,
            r#"{"a":[1]}"#,
            r#"{"a":{}}"#,
            r#"{"a":7}"#,
            "[1,2]",
            "\"a\"",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-c\"\\\\\u{e9}]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c]", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn steps_of() -> impl Strategy<Value = Vec<PathStep>> {
        let step =
            prop_oneof!["[a-c]".prop_map(PathStep::Name), (0usize..4).prop_map(PathStep::Index)];
        prop::collection::vec(step, 0..4)
    }

    proptest! {
        #[test]
        fn text_and_tree_give_the_same_values(tree in tree(), steps in steps_of()) {
            let text = tree.to_string();
            let tree: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(follow(&text, &steps), value_at(&tree, &steps).cloned());
        }
    }
}
