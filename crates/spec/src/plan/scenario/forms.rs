//! Tables of forms. A form is a map that one key defines, with keys that go with it.
//!
//! A form is a struct with the keys of one kind. Its table gives the JSON Schema, and refuses keys that do not go with a kind.

use crate::error::{SpecError, one_of, unknown};
use crate::plan::{Entry, Node};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Describes keys; a function of [`JsonSchema`].
pub(super) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// The keys of a kind.
pub(super) struct FormKeys {
    /// The keys that define it. A map has one of them.
    defined_by: &'static [&'static str],
    /// Describes its own keys.
    own: Describe,
    /// Describe the keys that it shares with other kinds.
    shared: &'static [Describe],
    /// Returns the reason why a key of other kinds does not go with it, with a remedy. None: the general one.
    refusal: fn(&str) -> Option<String>,
}

impl FormKeys {
    /// The keys of a form, defined by one of `defined_by`.
    pub const fn of<F: JsonSchema>(defined_by: &'static [&'static str]) -> Self {
        Self { defined_by, own: F::json_schema, shared: &[], refusal: |_| None }
    }

    /// The same with keys that it shares with other kinds.
    pub const fn with(self, shared: &'static [Describe]) -> Self {
        Self { shared, ..self }
    }

    /// The same with its own reasons why a key does not go with it.
    pub const fn refusing(self, refusal: fn(&str) -> Option<String>) -> Self {
        Self { refusal, ..self }
    }
}

/// A table of forms.
pub(super) struct FormTable {
    rows: Vec<(&'static FormKeys, Vec<String>)>,
    noun: &'static str,
}

/// What the keys of a map define.
pub(super) enum Defined<'n> {
    Nothing,
    /// The row of its kind, and the entry that defines it.
    Kind(usize, &'n Entry),
    /// Two entries that define it.
    Twice(&'n Entry, &'n Entry),
}

impl FormTable {
    /// A table with these rows. `noun` names the maps in errors, such as `step`.
    pub fn new(noun: &'static str, rows: impl IntoIterator<Item = &'static FormKeys>) -> Self {
        let mut generator = SchemaGenerator::default();
        let keys_of = |row: &'static FormKeys| {
            let keys = properties(row, &mut generator).into_iter().map(|(key, _)| key).collect();
            (row, keys)
        };
        Self { rows: rows.into_iter().map(keys_of).collect(), noun }
    }

    /// All keys that define a kind.
    pub fn defining_keys(&self) -> impl Iterator<Item = &'static str> {
        self.rows.iter().flat_map(|(row, _)| row.defined_by).copied()
    }

    /// Returns what a map defines. A key that no kind has is an error, and one that only other kinds have.
    pub fn find<'n>(&self, node: &'n Node) -> Result<Defined<'n>, SpecError> {
        let all: Vec<&String> = self.rows.iter().flat_map(|(_, keys)| keys).collect();
        if let Some(entry) = node.entries().iter().find(|entry| !all.contains(&&entry.key)) {
            return Err(SpecError::new(&entry.at, entry.key.as_str(), unknown(&entry.key, &all)));
        }
        let mut defined = node.entries().iter().filter_map(|entry| {
            let kind = self.rows.iter().position(|(row, _)| row.defined_by.contains(&entry.key.as_str()))?;
            Some((kind, entry))
        });
        match (defined.next(), defined.next()) {
            (None, _) => Ok(Defined::Nothing),
            (Some((_, one)), Some((_, other))) => Ok(Defined::Twice(one, other)),
            (Some((kind, entry)), None) => {
                self.check_keys(kind, node, entry)?;
                Ok(Defined::Kind(kind, entry))
            }
        }
    }

    fn check_keys(&self, kind: usize, node: &Node, defined: &Entry) -> Result<(), SpecError> {
        let (row, keys) = &self.rows[kind];
        let Some(entry) = node.entries().iter().find(|entry| !keys.contains(&entry.key)) else { return Ok(()) };
        let wrong = (row.refusal)(&entry.key).unwrap_or_else(|| {
            let owners = self.rows.iter().filter(|(_, keys)| keys.contains(&entry.key));
            let owners: Vec<String> = owners.map(|(row, _)| format!("`{}`", row.defined_by[0])).collect();
            format!(
                "a {} with `{}` has no key `{}`; leave it out, or write it with {}",
                self.noun,
                defined.key,
                entry.key,
                one_of(&owners)
            )
        });
        Err(SpecError::new(&entry.at, entry.key.as_str(), wrong))
    }
}

/// Describes a map of each of the kinds. It does not use their [`FormTable`], which describes them to know their keys.
pub(super) fn schemas<'r>(rows: impl IntoIterator<Item = &'r FormKeys>, generator: &mut SchemaGenerator) -> Vec<Value> {
    let kind = |row: &FormKeys| {
        let required = row.defined_by.iter().map(|key| json_schema!({ "required": [key] }).to_value());
        let mut schema = (row.own)(generator);
        schema.insert("properties".into(), properties(row, generator).into());
        schema.insert("additionalProperties".into(), false.into());
        schema.insert("anyOf".into(), required.collect());
        schema.to_value()
    };
    rows.into_iter().map(kind).collect()
}

fn properties(row: &FormKeys, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut all = Map::new();
    for group in [&row.own].into_iter().chain(row.shared) {
        if let Some(Value::Object(properties)) = group(generator).remove("properties") {
            all.extend(properties);
        }
    }
    all
}
