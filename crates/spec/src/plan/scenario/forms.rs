//! Tables of forms. A form is a map that one key defines, with further keys.
//!
//! A form is a struct with the keys of one kind. Its table generates the JSON Schema, and refuses
//! keys of other kinds.

use crate::error::{SpecError, one_of, unknown};
use crate::plan::parts::{PartKey, PartKind, description};
use crate::plan::{NamedNode, PlanNode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Describes keys; a function of [`JsonSchema`].
pub(in crate::plan) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// The keys of a kind.
pub(in crate::plan) struct FormKeys {
    /// Keys that define the kind. A map has exactly one of them.
    defined_by: &'static [&'static str],
    /// Describes the keys of this kind only.
    own_keys: Describe,
    /// Describe the keys that several kinds share.
    shared: &'static [Describe],
    /// Describes the keys that all kinds of the table have.
    common: Option<Describe>,
    /// A map of this kind with its required keys, as YAML; `{kind}` is the key that defines it.
    example: &'static str,
    /// Returns the reason why a key of another kind is refused, with a remedy. None: the general
    /// reason of the table applies.
    refusal: fn(&str) -> Option<String>,
}

impl FormKeys {
    /// The keys of a form, defined by one of `defined_by`. `example` is a map with the required keys;
    /// `{kind}` in it is the key that defines it.
    pub const fn of<F: JsonSchema>(
        defined_by: &'static [&'static str],
        example: &'static str,
    ) -> Self {
        Self {
            defined_by,
            own_keys: F::json_schema,
            shared: &[],
            common: None,
            example,
            refusal: |_| None,
        }
    }

    /// Adds keys that all kinds of the table have.
    pub const fn and(self, common: Describe) -> Self {
        Self { common: Some(common), ..self }
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
pub(in crate::plan) struct FormTable {
    rows: Vec<(&'static FormKeys, Vec<String>)>,
    noun: &'static str,
}

/// The kind of a map, found by its keys.
pub(in crate::plan) enum FormMatch<'n> {
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

    /// All kinds, by the keys that define them.
    pub fn kinds(&self) -> Vec<PartKind> {
        let mut generator = SchemaGenerator::default();
        let kinds = self.rows.iter().flat_map(|(row, _)| {
            let mut schema = (row.own_keys)(&mut generator);
            let properties = schema.remove("properties").unwrap_or_default();
            let about_kind = description(schema.get("description"));
            row.defined_by.iter().map(move |name| PartKind {
                // Several keys define requests, so the description of the key is more precise.
                about: match row.defined_by {
                    [_] => about_kind.clone(),
                    _ => description(properties[name].get("description")),
                },
                name: (*name).to_owned(),
                example: row.example.replace("{kind}", name),
            })
        });
        kinds.collect()
    }

    /// Keys of the kind of a map, without checks; None if the map has no kind.
    pub fn keys(&self, node: &PlanNode) -> Option<Vec<PartKey>> {
        let (row, _) = self.rows.iter().find(|(row, _)| {
            node.entries().iter().any(|entry| row.defined_by.contains(&entry.key.as_str()))
        })?;
        let mut generator = SchemaGenerator::default();
        let properties = properties(row, &mut generator);
        let required = row.defined_by.iter().find(|key| node.child(key).is_some());
        let keys = PartKey::of_properties(properties, generator.definitions()).into_iter();
        // The other keys that define this kind would make it another one.
        let keys = keys.filter(|key| {
            required == Some(&key.name.as_str()) || !row.defined_by.contains(&key.name.as_str())
        });
        Some(keys.collect())
    }

    /// All keys that define a kind.
    pub fn defining_keys(&self) -> impl Iterator<Item = &'static str> {
        self.rows.iter().flat_map(|(row, _)| row.defined_by).copied()
    }

    /// Finds the kind of a map. A key that no kind has is an error, and so is a key that only
    /// other kinds have.
    pub fn find<'n>(&self, node: &'n PlanNode) -> Result<FormMatch<'n>, SpecError> {
        let mut all: Vec<&String> = Vec::new();
        for key in self.rows.iter().flat_map(|(_, keys)| keys) {
            if !all.contains(&key) {
                all.push(key);
            }
        }
        // A misspelled kind would otherwise be reported as a missing one.
        if let Some(entry) = node.entries().iter().find(|entry| !all.contains(&&entry.key)) {
            let kind = node.entries().iter().find_map(|entry| self.row_of(&entry.key));
            let keys = kind.map_or(all, |row| self.rows[row].1.iter().collect());
            return Err(SpecError::new(&entry.at, entry.key.as_str(), unknown(&entry.key, &keys)));
        }
        let mut defined =
            node.entries().iter().filter_map(|entry| Some((self.row_of(&entry.key)?, entry)));
        match (defined.next(), defined.next()) {
            (None, _) => Ok(FormMatch::Nothing),
            (Some((_, one)), Some((_, other))) => Ok(FormMatch::Twice(one, other)),
            (Some((kind, entry)), None) => {
                self.check_keys(kind, node, entry)?;
                Ok(FormMatch::Kind(kind, entry))
            }
        }
    }

    /// Row of the kind that a key defines.
    fn row_of(&self, key: &str) -> Option<usize> {
        self.rows.iter().position(|(row, _)| row.defined_by.contains(&key))
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
    for group in [&row.own_keys].into_iter().chain(row.shared).chain(&row.common) {
        if let Some(Value::Object(properties)) = group(generator).remove("properties") {
            all.extend(properties);
        }
    }
    all
}
