//! Defines the types of values in a plan file: single values, lists of them, durations, sizes and
//! commands.

use super::written::CommandKeys;
use crate::words::{bytes, duration, events};
use brunt_model::reply_policy::Events;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A single value, as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Scalar(pub String);

/// A single value, or a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScalarList(pub Vec<String>);

/// A duration, which may be zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurationKey(pub Duration);

/// A duration above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PositiveDuration(pub Duration);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

/// A single value that is read like an argument of the command line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadValue<T>(pub T);

/// A value with a parser, and with a description in the JSON Schema.
pub trait FromScalar: Sized {
    /// Description of the value, with an example.
    const ABOUT: &'static str;

    /// Reads the value from a word.
    fn read(word: &str) -> Result<Self, brunt_script::WordError>;
}

impl FromScalar for Events {
    const ABOUT: &'static str = "Format of the events, maximum number and maximum time, such as sse, lines,100 or messages,20,10s.";

    fn read(word: &str) -> Result<Self, brunt_script::WordError> {
        events::parse(word)
    }
}

/// A single value as a short form, or a map.
#[derive(Debug, Clone, JsonSchema)]
#[serde(untagged)]
pub enum ScalarOr<T> {
    /// A single value.
    Scalar(Scalar),
    /// A map with further settings.
    Map(T),
}

/// A value that is read from the tree, because serde does not pass on positions in the file. Its
/// schema is that of a `T`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nested<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Nested<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<'de, T> Deserialize<'de> for Nested<T> {
    // An `Option`, because the reader of the tree reports a missing value.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The owner of the key reads the node again, with its positions.
        Option::<IgnoredAny>::deserialize(deserializer)?;
        Ok(Self(PhantomData))
    }
}

/// Shell commands, in order.
#[derive(Debug, Clone, Default)]
pub struct Commands(pub Vec<ScalarOr<CommandKeys>>);

impl JsonSchema for Scalar {
    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // YAML reads `true` and `5` as boolean and number, so editors must accept them.
        json_schema!({ "description": "A single value.", "type": ["string", "number", "boolean"] })
    }
}

impl JsonSchema for ScalarList {
    fn schema_name() -> Cow<'static, str> {
        "Words".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<Scalar>();
        json_schema!({ "description": "A single value, or a list of them.", "anyOf": [word, { "type": "array", "items": word }] })
    }
}

impl JsonSchema for DurationKey {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A duration, such as 500ms, 1.5s or 2m; a number without a unit is in seconds.", "type": ["string", "number"] })
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A size in bytes, such as 500, 10k or 64KiB.", "type": ["string", "number"] })
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bytes::size(&Scalar::deserialize(deserializer)?.0).map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for PositiveDuration {
    fn schema_name() -> Cow<'static, str> {
        DurationKey::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        DurationKey::json_schema(generator)
    }
}

impl<T: FromScalar> JsonSchema for ReadValue<T> {
    fn schema_name() -> Cow<'static, str> {
        "Words".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": T::ABOUT, "type": ["string", "number", "array"] })
    }
}

impl<'de, T: FromScalar> Deserialize<'de> for ReadValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = ScalarList::deserialize(deserializer)?;
        // A list in YAML is the same as a list with commas.
        T::read(&words.0.join(",")).map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for Commands {
    fn schema_name() -> Cow<'static, str> {
        "Commands".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<ScalarOr<CommandKeys>>();
        json_schema!({ "description": "A shell command, or a list of them.", "anyOf": [one, { "type": "array", "items": one }] })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ScalarOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordOrMap(PhantomData))
    }
}

struct WordOrMap<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for WordOrMap<T> {
    type Value = ScalarOr<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a single value or a map")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ScalarOr<T>, E> {
        Ok(ScalarOr::Scalar(Scalar(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ScalarOr<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(ScalarOr::Map)
    }
}

impl<'de> Deserialize<'de> for ScalarList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        one_or_many(deserializer, "a single value, or a list of them")
            .map(|words: Vec<Scalar>| Self(words.into_iter().map(|word| word.0).collect()))
    }
}

impl<'de> Deserialize<'de> for Commands {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let commands: Vec<ScalarOr<CommandKeys>> =
            one_or_many(deserializer, "a command, {run, timeout}, or a list of them")?;
        Ok(Self(
            commands
                .into_iter()
                .filter(
                    |command| !matches!(command, ScalarOr::Scalar(Scalar(text)) if text.is_empty()),
                )
                .collect(),
        ))
    }
}

impl<'de> Deserialize<'de> for DurationKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        duration::parse(&Scalar::deserialize(deserializer)?.0).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for PositiveDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        duration::positive(&Scalar::deserialize(deserializer)?.0)
            .map(Self)
            .map_err(D::Error::custom)
    }
}

/// Reads a list, or a single item as a list of one. `expected` names both in errors.
fn one_or_many<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    expected: &'static str,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(OneOrMany(expected, PhantomData))
}

struct OneOrMany<T>(&'static str, PhantomData<T>);
impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(StrDeserializer::new(text))?])
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
        Ok(vec![T::deserialize(MapAccessDeserializer::new(map))?])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(all)
    }
}
