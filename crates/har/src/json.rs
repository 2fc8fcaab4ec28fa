//! JSON values with their paths, for errors.

use crate::error::ImportError;
use crate::text::clean;
use serde_json::Value;

/// A value and its path.
#[derive(Debug, Clone)]
pub struct JsonNode<'a> {
    /// Name of the input.
    pub file: &'a str,
    /// JSON path of the value.
    pub path: String,
    /// The value.
    pub value: &'a Value,
}

/// Parses JSON. Errors name the line.
pub fn parse(text: &str, file: &str) -> Result<Value, ImportError> {
    let mut value = serde_json::from_str(text).map_err(|error| {
        let place = format!("{file}:{}:{}", error.line(), error.column());
        let wrong = error.to_string();
        // The place states the position already.
        let wrong = wrong.split(" at line ").next().unwrap_or_default();
        ImportError::new(
            place,
            format!("invalid JSON: {wrong}"),
            "the whole file is expected as it was exported",
        )
    })?;
    // Escapes may contain the characters that mark variables in this crate.
    if ["\\uf8f", "\\uF8F", "\\uF8f", "\\uf8F", "\\ue00", "\\uE00"]
        .iter()
        .any(|escape| text.contains(escape))
    {
        clean_value(&mut value);
    }
    Ok(value)
}

fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(clean_value),
        Value::Object(entries) => {
            let cleaned = std::mem::take(entries).into_iter().map(|(name, mut value)| {
                clean_value(&mut value);
                (clean(&name).into_owned(), value)
            });
            *entries = cleaned.collect();
        }
        _ => {}
    }
}

impl<'a> JsonNode<'a> {
    /// The root of a document.
    pub fn root(file: &'a str, value: &'a Value) -> Self {
        Self { file, path: "$".to_owned(), value }
    }

    /// The value of a key; None if it is missing or null.
    pub fn get(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Self { file: self.file, path: format!("{}.{name}", self.path), value })
    }

    /// The value of a required key. `what` describes it in the error message.
    pub fn need(&self, name: &str, what: &str) -> Result<Self, ImportError> {
        self.get(name).ok_or_else(|| {
            self.error(format!("`{name}` is missing"), format!("{what} is expected"))
        })
    }

    /// The text of a key; empty if it is missing.
    pub fn text(&self, name: &str) -> &'a str {
        self.value.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The value of a key as text: JSON unless it is a text; empty if it is missing.
    pub fn scalar(&self, name: &str) -> String {
        match self.value.get(name) {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        }
    }

    /// The items of a list; none for other values.
    pub fn items(&self) -> impl Iterator<Item = Self> {
        let Self { file, path, value } = self.clone();
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        items.iter().enumerate().map(move |(index, value)| Self {
            file,
            path: format!("{path}[{index}]"),
            value,
        })
    }

    /// The items of the list at a key.
    pub fn list(&self, name: &str) -> Vec<Self> {
        self.get(name).map(|list| list.items().collect()).unwrap_or_default()
    }

    /// The entries of a map; none for other values.
    pub fn entries(&self) -> Vec<(&'a str, Self)> {
        let entries = self.value.as_object().into_iter().flatten();
        entries
            .map(|(name, value)| {
                (
                    name.as_str(),
                    Self { file: self.file, path: format!("{}.{name}", self.path), value },
                )
            })
            .collect()
    }

    /// Creates an error for this value.
    pub fn error(&self, wrong: impl Into<String>, instead: impl Into<String>) -> ImportError {
        ImportError::new(format!("{}: {}", self.file, self.path), wrong, instead)
    }
}
