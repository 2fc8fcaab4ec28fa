//! A tree → the typed words of [`written`](super::written), by serde.
//!
//! Each error carries its key and place: the map that serde reads adds them on the way
//! up. A struct passes its field names to serde, so an unknown name is refused with the
//! most similar one ([`SpecError::unknown_field`]).

use super::node::{NamedNode, PlanNode, PlanValue};
use crate::error::SpecError;
use serde::de::{
    DeserializeOwned, DeserializeSeed, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::{Deserializer, forward_to_deserialize_any};

/// Reads a value from a tree.
///
/// # Errors
///
/// [`SpecError`] with its place if the tree does not fit the type.
pub fn read<T: DeserializeOwned>(node: &PlanNode) -> Result<T, SpecError> {
    T::deserialize(NodeReader(node)).map_err(|e| with_place(e, node))
}

fn with_place(mut error: SpecError, node: &PlanNode) -> SpecError {
    // serde's errors have no place; the innermost node that adds one is the most exact.
    error.position.get_or_insert_with(|| node.at.clone());
    error
}

struct NodeReader<'a>(&'a PlanNode);

impl NodeReader<'_> {
    fn expected<T>(&self, noun: &str, instead: &str) -> Result<T, SpecError> {
        Err(SpecError::new(
            &self.0.at,
            "",
            format!("{} instead of {noun}; write {instead}", self.0.kind()),
        ))
    }

    fn map<'de, V: Visitor<'de>>(
        self,
        names: KnownNames,
        visitor: V,
    ) -> Result<V::Value, SpecError> {
        let PlanValue::Map(entries) = &self.0.value else {
            return self.expected("a map", "`name: value` below it");
        };
        visitor.visit_map(Names::new(entries, names)).map_err(|e| with_place(e, self.0))
    }

    // Serde's own message would name Rust types, such as `u32`.
    fn number<T: std::str::FromStr>(&self) -> Result<T, SpecError> {
        let text = self.0.text().unwrap_or_default();
        text.parse().map_err(|_| {
            let wrong = format!("`{text}`: not a whole number; write one such as 3");
            SpecError::new(&self.0.at, "", wrong)
        })
    }
}

impl<'de> Deserializer<'de> for NodeReader<'_> {
    type Error = SpecError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        match &self.0.value {
            PlanValue::Null => visitor.visit_unit(),
            // Texts stay texts: the type that reads them knows whether `1e3` is a number.
            PlanValue::Text { text, .. } => visitor.visit_str(text),
            PlanValue::List(nodes) => visitor.visit_seq(Items { nodes: nodes.iter(), number: 0 }),
            PlanValue::Map(entries) => {
                visitor.visit_map(Names::new(entries, KnownNames::Undecided))
            }
        }
        .map_err(|e| with_place(e, self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        if self.0.value == PlanValue::Null {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        match self.0.text() {
            Some("true") => visitor.visit_bool(true),
            Some("false") => visitor.visit_bool(false),
            Some(text) => Err(SpecError::new(
                &self.0.at,
                "",
                format!("`{text}` is neither true nor false; write one of the two"),
            )),
            None => self.expected("true or false", "one of the two"),
        }
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        visitor.visit_u16(self.number()?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        visitor.visit_u32(self.number()?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        visitor.visit_u64(self.number()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        if self.0.text().is_none() {
            self.expected("a single value", "one")
        } else {
            self.deserialize_any(visitor)
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        if matches!(self.0.value, PlanValue::List(_)) {
            self.deserialize_any(visitor)
        } else {
            self.expected("a list", "[a, b], or a line `- a` for each")
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SpecError> {
        self.map(KnownNames::All, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SpecError> {
        // Other tools list the steps directly.
        if matches!(self.0.value, PlanValue::List(_)) && fields.contains(&"steps") {
            return self.expected("a map", "`steps:` above it");
        }
        self.map(KnownNames::Fields(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SpecError> {
        match (&self.0.value, self.0.entries()) {
            (PlanValue::Text { text, .. }, _) => visitor
                // A variant without settings is a word, such as `host`.
                .visit_enum(Choice { name: text, node: &PlanNode::empty(self.0.at.clone()) })
                .map_err(|e| with_place(e, self.0)),
            (_, [entry]) => visitor
                .visit_enum(Choice { name: &entry.key, node: &entry.node })
                .map_err(|e| with_place(e, self.0)),
            _ => self.expected("one word, or one name with its settings", "`name` or `name: {…}`"),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &str,
        visitor: V,
    ) -> Result<V::Value, SpecError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

struct Items<'a> {
    nodes: std::slice::Iter<'a, PlanNode>,
    number: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = SpecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SpecError> {
        let Some(node) = self.nodes.next() else { return Ok(None) };
        let number = self.number;
        self.number += 1;
        seed.deserialize(NodeReader(node))
            .map(Some)
            .map_err(|e| e.within(&format!("[{number}]"), &node.at))
    }
}

/// The names that a map may have.
#[derive(Clone, Copy)]
enum KnownNames {
    /// All names.
    All,
    /// The fields of a struct.
    Fields(&'static [&'static str]),
    /// The type that reads the map knows them.
    Undecided,
}

struct Names<'a> {
    entries: std::slice::Iter<'a, NamedNode>,
    value: Option<&'a NamedNode>,
    known: KnownNames,
}

impl<'a> Names<'a> {
    fn new(entries: &'a [NamedNode], known: KnownNames) -> Self {
        Self { entries: entries.iter(), value: None, known }
    }

    /// True if the entry counts as missing. A misspelled name without a value does not, so that it
    /// is refused like one with a value.
    fn is_missing(&self, entry: &NamedNode) -> bool {
        let is_known = match self.known {
            KnownNames::All => true,
            KnownNames::Fields(fields) => fields.contains(&entry.key.as_str()),
            KnownNames::Undecided => false,
        };
        is_known && entry.node.value == PlanValue::Null
    }
}

impl<'de> MapAccess<'de> for Names<'_> {
    type Error = SpecError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, SpecError> {
        self.value = loop {
            match self.entries.next() {
                Some(entry) if self.is_missing(entry) => {}
                other => break other,
            }
        };
        let Some(entry) = self.value else { return Ok(None) };
        seed.deserialize(entry.key.as_str().into_deserializer()).map(Some).map_err(
            |mut e: SpecError| {
                e.position.get_or_insert_with(|| entry.at.clone());
                e
            },
        )
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, SpecError> {
        let entry = self.value.take().ok_or_else(|| SpecError::custom("a value is missing"))?;
        seed.deserialize(NodeReader(&entry.node)).map_err(|e| e.within(&entry.key, &entry.node.at))
    }
}

/// A variant of an enum: its name, and its content.
struct Choice<'a> {
    name: &'a str,
    node: &'a PlanNode,
}

impl<'de, 'a> EnumAccess<'de> for Choice<'a> {
    type Error = SpecError;
    type Variant = VariantContent<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, VariantContent<'a>), SpecError> {
        let name: serde::de::value::StrDeserializer<'_, SpecError> = self.name.into_deserializer();
        seed.deserialize(name).map(|value| (value, VariantContent(self)))
    }
}

struct VariantContent<'a>(Choice<'a>);

impl<'de> VariantAccess<'de> for VariantContent<'_> {
    type Error = SpecError;

    fn unit_variant(self) -> Result<(), SpecError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, SpecError> {
        let Choice { name, node } = self.0;
        seed.deserialize(NodeReader(node)).map_err(|e| e.within(name, &node.at))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, SpecError> {
        NodeReader(self.0.node).deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SpecError> {
        let Choice { name, node } = self.0;
        NodeReader(node)
            .deserialize_struct("", names, visitor)
            .map_err(|e| e.within(name, &node.at))
    }
}
