//! `JSONPath` (RFC 9535) in bodies. A path of names and indices alone names one value at most: it is followed through the text,
//! and nothing is kept of the rest, which costs less than a tree of all of it.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json_path::JsonPath;
use std::fmt;

/// A path, compiled.
#[derive(Debug)]
pub struct CompiledPath {
    path: JsonPath,
    /// From the root to the value; None: it may name several.
    steps: Option<Vec<PathStep>>,
}

/// From a value to one that it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// The member of this name.
    Name(String),
    /// The element of this number, from 0.
    Index(usize),
}

impl CompiledPath {
    /// Compiles a path; what does not begin with `$` is one from there.
    ///
    /// # Errors
    ///
    /// Why it is none.
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

    /// All values that it names.
    pub fn all<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        self.path.query(root).all()
    }

    /// From the root to the only value that it may name; None: it may name several.
    pub fn steps(&self) -> Option<&[PathStep]> {
        self.steps.as_deref()
    }
}

/// The steps of a path that has names and indices alone.
fn steps(path: &str) -> Option<Vec<PathStep>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, behind) = if let Some(name) = rest.strip_prefix('.') {
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let (name, behind) = name.split_at(name.find(|c| !is_name(c)).unwrap_or(name.len()));
            (PathStep::Name((!name.is_empty()).then(|| name.to_owned())?), behind)
        } else {
            let (inner, behind) = rest.strip_prefix('[')?.split_once(']')?;
            (in_brackets(inner)?, behind)
        };
        steps.push(step);
        rest = behind;
    }
    Some(steps)
}

/// `'name'`, `"name"` or an index; None: it is something else, or its end is not certain.
fn in_brackets(inner: &str) -> Option<PathStep> {
    let quote = inner.chars().next()?;
    if inner.bytes().all(|byte| byte.is_ascii_digit()) {
        return inner.parse().ok().map(PathStep::Index);
    }
    let name = inner.strip_prefix(['\'', '"'])?.strip_suffix(quote)?;
    (!name.contains([quote, '\\'])).then(|| PathStep::Name(name.to_owned()))
}

/// The value at the end of these steps in a text of JSON; None: there is none, or the text is no JSON.
pub fn follow(text: &str, steps: &[PathStep]) -> Option<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = Follow(steps).deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    found
}

/// The same in a tree.
pub fn at<'v>(root: &'v Value, steps: &[PathStep]) -> Option<&'v Value> {
    steps.iter().try_fold(root, |value, step| match step {
        PathStep::Name(name) => value.as_object()?.get(name),
        PathStep::Index(index) => value.as_array()?.get(*index),
    })
}

/// Follows steps through what is read.
struct Follow<'p>(&'p [PathStep]);

impl<'de> DeserializeSeed<'de> for Follow<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            return serde::Deserialize::deserialize(deserializer).map(Some);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Follow<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (wanted, rest) = match self.0.split_first() {
            Some((PathStep::Name(name), rest)) => (Some(name.as_str()), rest),
            _ => (None, &[][..]),
        };
        let mut found = None;
        // Of several members of one name the last one counts, as in a tree.
        while let Some(is_wanted) = members.next_key_seed(IsName(wanted))? {
            if is_wanted {
                found = members.next_value_seed(Follow(rest))?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        if let Some((PathStep::Index(index), rest)) = self.0.split_first() {
            for _ in 0..*index {
                if elements.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(None);
                }
            }
            found = elements.next_element_seed(Follow(rest))?.flatten();
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }

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

/// Whether a member has this name.
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

/// A string without quotes, any other value as JSON.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_and_indices_are_followed_and_nothing_else() {
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
        for path in ["$..a", "$.*", "$[-1]", "$[0:2]", "$[0,1]", "$[?@.a == 1]", "$['it\\'s']", "$['a','b']", "$.a [0]"]
        {
            assert_eq!(CompiledPath::new(path).unwrap().steps, None, "{path}");
        }
    }

    #[test]
    fn the_last_member_of_a_name_counts_and_the_whole_text_is_json() {
        let found = |text: &str| follow(text, &[PathStep::Name("a".into()), PathStep::Index(1)]);
        assert_eq!(found(r#"{"a":[1,2],"b":{"a":[3,4]}}"#), Some(2.into()));
        assert_eq!(found(r#"{"a":[1,2],"a":[5,{"x":[]}]}"#), Some(serde_json::json!({"x": []})));
        assert_eq!(found(r#"{"\u0061":[0,null]}"#), Some(Value::Null));
        for text in
            [r#"{"a":[1,2]"#, r#"{"a":[1,2]} x"#, r#"{"a":[1]}"#, r#"{"a":{}}"#, r#"{"a":7}"#, "[1,2]", "\"a\"", ""]
        {
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
        let step = prop_oneof!["[a-c]".prop_map(PathStep::Name), (0usize..4).prop_map(PathStep::Index)];
        prop::collection::vec(step, 0..4)
    }

    proptest! {
        #[test]
        fn text_and_tree_hold_the_same(tree in tree(), steps in steps_of()) {
            let text = tree.to_string();
            let tree: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(follow(&text, &steps), at(&tree, &steps).cloned());
        }
    }
}
