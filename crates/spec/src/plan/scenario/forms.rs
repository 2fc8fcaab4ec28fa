//! Tables of forms. A form is a map that one key defines, with further keys.
//!
//! A form is a struct with the keys of one kind. Its table generates the JSON Schema, and refuses
//! keys of other kinds.

use crate::error::{SpecError, one_of, unknown};
use crate::plan::{NamedNode, PlanNode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Describes keys; a function of [`JsonSchema`].
pub(super) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// The keys of a kind.
pub(super) struct FormKeys {
    /// Keys that define the kind. A map has exactly one of them.
    defined_by: &'static [&'static str],
    /// Describes the keys of this kind only.
    own_keys: Describe,
    /// Describe the keys that several kinds share.
    shared: &'static [Describe],
    /// Returns the reason why a key of another kind is refused, with a remedy. None: the general
    /// reason of the table applies.
    refusal: fn(&str) -> Option<String>,
}

impl FormKeys {
    /// The keys of a form, defined by one of `defined_by`.
    pub const fn of<F: JsonSchema>(defined_by: &'static [&'static str]) -> Self {
        Self { defined_by, own_keys: F::json_schema, shared: &[], refusal: |_| None }
    }

    /// Adds keys that several kinds share.
    pub const fn with(self, shared: &'static [Describe]) -> Self {
        Self { shared, ..self }
    }

    /// Sets the reasons why keys of other kinds are refused.
    pub const fn refusing(self, refusal: fn(&str) -> Option<String>) -> Self {
        Self { refusal, ..self }
    }
}

/// A table of forms.
pub(super) struct FormTable {
    rows: Vec<(&'static FormKeys, Vec<String>)>,
    noun: &'static str,
}

/// The kind of a map, found by its keys.
pub(super) enum FormMatch<'n> {
    Nothing,
    /// Row of the kind, and the entry that defines it.
    Kind(usize, &'n NamedNode),
    /// Two entries that each define a kind.
    Twice(&'n NamedNode, &'n NamedNode),
}

impl FormTable {
    /// A table with these rows. `noun` names the maps in errors, such as `step`.
    pub fn new(noun: &'static str, rows: impl IntoIterator<Item = &'static FormKeys>) -> Self {
        // The JSON Schema lists the keys, so that no second list of them can differ.
        let mut generator = SchemaGenerator::default();
        let rows = rows.into_iter().map(|row| (row, key_names(row, &mut generator))).collect();
        Self { rows, noun }
    }

    /// All keys that define a kind.
    pub fn defining_keys(&self) -> impl Iterator<Item = &'static str> {
        self.rows.iter().flat_map(|(row, _)| row.defined_by).copied()
    }

    /// Finds the kind of a map. A key that no kind has is an error, and so is a key that only
    /// other kinds have.
    pub fn find<'n>(&self, node: &'n PlanNode) -> Result<FormMatch<'n>, SpecError> {
        let all: Vec<&String> = self.rows.iter().flat_map(|(_, keys)| keys).collect();
        // A misspelled kind would otherwise be reported as a missing one.
        if let Some(entry) = node.entries().iter().find(|entry| !all.contains(&&entry.key)) {
            return Err(SpecError::new(&entry.at, entry.key.as_str(), unknown(&entry.key, &all)));
        }
        let mut defined = node.entries().iter().filter_map(|entry| {
            let kind = self
                .rows
                .iter()
                .position(|(row, _)| row.defined_by.contains(&entry.key.as_str()))?;
            Some((kind, entry))
        });
        match (defined.next(), defined.next()) {
            (None, _) => Ok(FormMatch::Nothing),
            (Some((_, one)), Some((_, other))) => Ok(FormMatch::Twice(one, other)),
            (Some((kind, entry)), None) => {
                self.check_keys(kind, node, entry)?;
                Ok(FormMatch::Kind(kind, entry))
            }
        }
    }

    fn check_keys(
        &self,
        kind: usize,
        node: &PlanNode,
        defined: &NamedNode,
    ) -> Result<(), SpecError> {
        let (row, keys) = &self.rows[kind];
        let Some(entry) = node.entries().iter().find(|entry| !keys.contains(&entry.key)) else {
            return Ok(());
        };
        let wrong = (row.refusal)(&entry.key).unwrap_or_else(|| {
            let owners = self.rows.iter().filter(|(_, keys)| keys.contains(&entry.key));
            let owners: Vec<String> =
                owners.map(|(row, _)| format!("`{}`", row.defined_by[0])).collect();
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

/// JSON Schemas of a map of each kind. This does not use the [`FormTable`], which calls it to
/// know the keys.
pub(super) fn schemas<'r>(
    rows: impl IntoIterator<Item = &'r FormKeys>,
    generator: &mut SchemaGenerator,
) -> Vec<Value> {
    rows.into_iter().map(|row| schema(row, generator)).collect()
}

fn schema(row: &FormKeys, generator: &mut SchemaGenerator) -> Value {
    let required = row.defined_by.iter().map(|key| json_schema!({ "required": [key] }).to_value());
    let mut schema = (row.own_keys)(generator);
    schema.insert("properties".into(), properties(row, generator).into());
    schema.insert("additionalProperties".into(), false.into());
    // A request has several defining keys, such as `get` and `post`; one of them is required.
    schema.insert("anyOf".into(), required.collect());
    schema.to_value()
}

fn key_names(row: &FormKeys, generator: &mut SchemaGenerator) -> Vec<String> {
    properties(row, generator).into_iter().map(|(key, _)| key).collect()
}

fn properties(row: &FormKeys, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut all = Map::new();
    for group in [&row.own_keys].into_iter().chain(row.shared) {
        if let Some(Value::Object(properties)) = group(generator).remove("properties") {
            all.extend(properties);
        }
    }
    all
}
