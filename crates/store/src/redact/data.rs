//! Redacts trees of names and values: plan files, plans, and similar data.

use super::Redactor;
use brunt_model::secret::{is_secret_field, is_secret_header};
use serde_json::{Map, Value};

/// Keys that contain rules for finding a value, and no values.
const RULES: [&str; 2] = ["extract", "schema"];

/// Keys of values that have their name in a sibling entry.
const VALUES: [&str; 5] = ["value", "values", "text", "default", "initial"];

/// Keys of names that have their value in a sibling entry.
const NAMES: [&str; 3] = ["name", "variable", "key"];

impl Redactor {
    /// Redacts the values of secret names in a tree, and known secrets in its other texts. Keys
    /// stay as they are.
    pub fn data(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => self.list(items),
            Value::Object(entries) => self.entries(entries),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Redacts a list. A list of two may be a name and its value.
    fn list(&self, items: &mut [Value]) {
        if let [Value::String(name), value] = items
            && !value.is_array()
            && !value.is_object()
            && is_secret_name(name)
        {
            self.every_text(value);
            return;
        }
        for item in items {
            self.data(item);
        }
    }

    fn entries(&self, entries: &mut Map<String, Value>) {
        let name = NAMES.iter().find_map(|key| entries.get(*key)?.as_str());
        let has_secret_name = name.is_some_and(is_secret_name);
        for (key, value) in entries {
            match (&**key, value) {
                (key, _) if RULES.contains(&key) => {}
                ("headers", Value::Object(headers)) => self.headers(headers),
                ("cookies", Value::Object(cookies)) => {
                    cookies.values_mut().for_each(|value| self.every_text(value));
                }
                ("basic", Value::String(user)) => *user = self.user(user),
                (key, value) if has_secret_name && VALUES.contains(&key) => self.every_text(value),
                (key, value) if is_secret_name(key) && !value.is_object() => self.every_text(value),
                (_, value) => self.data(value),
            }
        }
    }

    fn headers(&self, headers: &mut Map<String, Value>) {
        for (name, value) in headers {
            match value {
                Value::String(text) => *text = self.header(name, text),
                other => self.data(other),
            }
        }
    }

    /// Replaces every text and number of a secret value.
    fn every_text(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.secret(text),
            Value::Number(number) => *value = Value::String(self.secret(&number.to_string())),
            Value::Array(items) => items.iter_mut().for_each(|item| self.every_text(item)),
            Value::Object(entries) => entries.values_mut().for_each(|item| self.every_text(item)),
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// True for the name of a secret field. A name that begins with `X-` is checked as a header.
fn is_secret_name(name: &str) -> bool {
    is_secret_field(name)
        || ((name.starts_with("X-") || name.starts_with("x-")) && is_secret_header(name))
}
