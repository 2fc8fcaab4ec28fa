//! Restores the secrets of a stored experiment before it is sent again, from the experiment that
//! the user passes now.
//!
//! The two may differ in ports and in secrets. A secret is found by its hash, or by its
//! position if the rest of the text is equal. Any other secret is reported as missing; redacted
//! text is never sent.

use super::{DIGITS, Redactor, is_redacted};
use brunt_model::secret::REDACTED;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Maps tokens to exact secrets.
type SecretsByHash = BTreeMap<String, String>;

impl Redactor {
    /// Returns the stored value with the secrets of the current one. `redact` redacts the
    /// current value, for comparison.
    ///
    /// # Errors
    ///
    /// The places of the secrets that `current` does not have.
    pub fn restored<T>(
        &self,
        stored: &T,
        current: &T,
        redact: impl Fn(&Self, &mut T),
    ) -> Result<T, Vec<String>>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        let mut redacted = current.clone();
        redact(self, &mut redacted);
        let mut stored = value(stored).map_err(|error| vec![error.to_string()])?;
        let redacted = value(&redacted).map_err(|error| vec![error.to_string()])?;
        let mut secrets = SecretsByHash::new();
        self.learn(&stored, &redacted, &mut secrets);
        let mut missing = Vec::new();
        self.put_back(&mut stored, &secrets, "", &mut missing);
        missing.dedup();
        if missing.is_empty() {
            serde_json::from_value(stored).map_err(|error| vec![error.to_string()])
        } else {
            Err(missing)
        }
    }

    /// Learns secrets from texts at the same place that differ only in secrets.
    fn learn(&self, stored: &Value, current: &Value, known: &mut SecretsByHash) {
        match (stored, current) {
            (Value::String(stored), Value::String(current)) => {
                let old = tokens(stored);
                let new = tokens(current);
                if old.len() == new.len() && shape(stored, &old) == shape(current, &new) {
                    let exact = old
                        .into_iter()
                        .zip(new)
                        .filter_map(|(old, new)| Some((old.to_owned(), self.exact(new)?)));
                    known.extend(exact);
                }
            }
            (Value::Array(stored), Value::Array(current)) => {
                stored
                    .iter()
                    .zip(current)
                    .for_each(|(stored, current)| self.learn(stored, current, known));
            }
            (Value::Object(stored), Value::Object(current)) => {
                for (key, stored) in stored {
                    current
                        .get(key)
                        .into_iter()
                        .for_each(|current| self.learn(stored, current, known));
                }
            }
            _ => {}
        }
    }

    fn put_back(
        &self,
        value: &mut Value,
        known: &SecretsByHash,
        place: &str,
        missing: &mut Vec<String>,
    ) {
        match value {
            Value::String(text) => {
                for token in tokens(&text.clone()) {
                    match known.get(token).cloned().or_else(|| self.exact(token)) {
                        Some(exact) => *text = text.replacen(token, &exact, 1),
                        None => missing.push(place.to_owned()),
                    }
                }
            }
            Value::Array(items) => {
                if let Some(text) = bytes_of(items).filter(|text| text.contains(REDACTED)) {
                    let mut text = Value::String(text);
                    self.put_back(&mut text, known, "request", missing);
                    *items = text.as_str().unwrap_or_default().bytes().map(Value::from).collect();
                    return;
                }
                for item in items {
                    let place = pair_name(item)
                        .map_or_else(|| place.to_owned(), |name| format!("{place} `{name}`"));
                    self.put_back(item, known, place.trim(), missing);
                }
            }
            Value::Object(entries) => {
                // The source text, the names and the labels are for readers and are never sent.
                for (key, value) in entries
                    .iter_mut()
                    .filter(|entry| !["source", "about", "label", "name"].contains(&&**entry.0))
                {
                    self.put_back(value, known, singular(key), missing);
                }
            }
            _ => {}
        }
    }
}

/// True if a value contains a long body that was not stored.
fn has_omitted_body(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_omitted_body),
        Value::Object(entries) => entries.iter().any(|(key, value)| {
            (key == "omitted" && value.get("sha256").is_some()) || has_omitted_body(value)
        }),
        _ => false,
    }
}

/// Returns the places of redacted values in a value, and of omitted bodies.
pub fn redacted_places(value: &impl Serialize) -> Vec<String> {
    // A redactor that knows no secrets misses every one.
    let no_secrets = Redactor::with_random_key();
    let mut missing = Vec::new();
    if let Ok(mut value) = self::value(value) {
        no_secrets.put_back(&mut value, &SecretsByHash::new(), "", &mut missing);
        if has_omitted_body(&value) {
            missing.push("body".to_owned());
        }
    }
    missing.dedup();
    missing
}

fn value(data: &impl Serialize) -> serde_json::Result<Value> {
    serde_json::to_value(data)
}

/// Returns all tokens of secrets in a text, in order.
fn tokens(text: &str) -> Vec<&str> {
    text.match_indices(REDACTED)
        .filter_map(|(start, _)| {
            text.get(start..start + REDACTED.len() + DIGITS).filter(|token| is_redacted(token))
        })
        .collect()
}

fn shape(text: &str, tokens: &[&str]) -> String {
    tokens.iter().fold(text.to_owned(), |text, token| text.replacen(token, REDACTED, 1))
}

/// Decodes a text that is stored as a list of bytes.
fn bytes_of(items: &[Value]) -> Option<String> {
    let bytes =
        items.iter().map(|item| u8::try_from(item.as_u64()?).ok()).collect::<Option<Vec<u8>>>()?;
    String::from_utf8(bytes).ok()
}

/// Returns the name of a header, which is stored as a pair.
fn pair_name(item: &Value) -> Option<&str> {
    item.as_array().filter(|pair| pair.len() == 2)?.first()?.as_str()
}

fn singular(key: &str) -> &str {
    match key {
        "headers" => "header",
        "environment" => "variable",
        "text" => "body",
        other => other,
    }
}
