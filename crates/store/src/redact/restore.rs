//! Secrets put back into a stored experiment before it is sent again, from the one that is asked for now.
//!
//! The two may differ in ports and in secrets: a secret is found by its hash, or by its place where all else of a text is the
//! same. A secret that is found in neither way is named; nothing redacted is ever sent.

use super::{DIGITS, Redactor, is_redacted};
use brunt_model::secret::REDACTED;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Exact secrets by what stands in their place.
type SecretsByHash = BTreeMap<String, String>;

impl Redactor {
    /// What was stored, with the secrets of what is asked for; or where those are that it does not have. `redact` redacts
    /// what is asked for.
    ///
    /// # Errors
    ///
    /// The places of the secrets that `asked` does not have.
    pub fn restored<T>(&self, stored: &T, asked: &T, redact: impl Fn(&Self, &mut T)) -> Result<T, Vec<String>>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        let broken = |error: serde_json::Error| vec![error.to_string()];
        let mut redacted = asked.clone();
        redact(self, &mut redacted);
        let (mut stored, redacted) = (value(stored).map_err(broken)?, value(&redacted).map_err(broken)?);
        let mut known = SecretsByHash::new();
        self.learn(&stored, &redacted, &mut known);
        let mut missing = Vec::new();
        self.put_back(&mut stored, &known, "", &mut missing);
        missing.dedup();
        if missing.is_empty() { serde_json::from_value(stored).map_err(broken) } else { Err(missing) }
    }

    /// Learns from texts at the same place that are the same but for secrets.
    fn learn(&self, stored: &Value, asked: &Value, known: &mut SecretsByHash) {
        match (stored, asked) {
            (Value::String(stored), Value::String(asked)) => {
                let (old, new) = (tokens(stored), tokens(asked));
                if old.len() == new.len() && shape(stored, &old) == shape(asked, &new) {
                    let exact =
                        old.into_iter().zip(new).filter_map(|(old, new)| Some((old.to_owned(), self.exact(new)?)));
                    known.extend(exact);
                }
            }
            (Value::Array(stored), Value::Array(asked)) => {
                stored.iter().zip(asked).for_each(|(stored, asked)| self.learn(stored, asked, known));
            }
            (Value::Object(stored), Value::Object(asked)) => {
                for (key, stored) in stored {
                    asked.get(key).into_iter().for_each(|asked| self.learn(stored, asked, known));
                }
            }
            _ => {}
        }
    }

    fn put_back(&self, value: &mut Value, known: &SecretsByHash, place: &str, missing: &mut Vec<String>) {
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
                    let place = pair_name(item).map_or_else(|| place.to_owned(), |name| format!("{place} `{name}`"));
                    self.put_back(item, known, place.trim(), missing);
                }
            }
            Value::Object(entries) => {
                // The text that it was made from, and its names, are for readers.
                for (key, value) in
                    entries.iter_mut().filter(|entry| !["source", "about", "label", "name"].contains(&&**entry.0))
                {
                    self.put_back(value, known, singular(key), missing);
                }
            }
            _ => {}
        }
    }
}

/// Whether something holds a redacted value: its places.
pub fn redacted_places(value: &impl Serialize) -> Vec<String> {
    let nobody = Redactor::of_process();
    let mut missing = Vec::new();
    if let Ok(mut value) = self::value(value) {
        nobody.put_back(&mut value, &SecretsByHash::new(), "", &mut missing);
    }
    missing.dedup();
    missing
}

fn value(of: &impl Serialize) -> serde_json::Result<Value> {
    serde_json::to_value(of)
}

/// All that stands in place of secrets in a text, in order.
fn tokens(text: &str) -> Vec<&str> {
    let token = |(at, _): (usize, &str)| text.get(at..at + REDACTED.len() + DIGITS).filter(|token| is_redacted(token));
    text.match_indices(REDACTED).filter_map(token).collect()
}

fn shape(text: &str, tokens: &[&str]) -> String {
    tokens.iter().fold(text.to_owned(), |text, token| text.replacen(token, REDACTED, 1))
}

/// A text that stands there as bytes.
fn bytes_of(items: &[Value]) -> Option<String> {
    let bytes = items.iter().map(|item| u8::try_from(item.as_u64()?).ok()).collect::<Option<Vec<u8>>>()?;
    String::from_utf8(bytes).ok()
}

/// The name of a header, which is a pair.
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
