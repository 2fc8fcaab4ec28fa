//! Redaction: replaces secrets by a keyed short hash, so that equal secrets can be compared and none can be read.
//!
//! A secret `hunter2` becomes `redacted:3f9a12`: the first three bytes of HMAC-SHA256 of the value. The key belongs to a store
//! and never leaves it; a process without a store draws a key of its own. Redaction of redacted data changes nothing.
//!
//! * `names`: which headers and fields are secret. `text`: secrets in free text and bodies. `command`: secrets in command lines.
//! * `plan`: plans, experiments, events and studies. [`restore`]: secrets put back before a stored plan is sent again.
//! * `key`: the key in its file.

mod command;
pub(crate) mod key;
mod names;
mod plan;
pub mod restore;
mod text;

#[cfg(test)]
mod tests;

pub use command::shell_words;
pub use names::{is_secret_field, is_secret_header};

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What stands before the hash of a secret.
pub const MARK: &str = "redacted:";

/// Hexadecimal digits of the hash.
const DIGITS: usize = 6;

/// Values that are searched for in free text, at most: a list of URLs may hold a million tokens.
const MOST_SEARCHED: usize = 256;

/// Shorter values are too common to be searched for in free text.
const SHORTEST_SEARCHED: usize = 4;

/// Longer values are searched for within words, too.
const LONG: usize = 12;

/// Replaces secrets. It remembers those that it has seen: their values are replaced in free text as well.
pub struct Redactor {
    key: Key,
    seen: Mutex<KnownSecrets>,
}

/// The secrets that were seen.
#[derive(Default)]
struct KnownSecrets {
    /// By what stands in their place.
    exact: BTreeMap<String, String>,
    /// Values to search for in free text, and what stands in their place, the longest first.
    searched: Vec<(String, String)>,
}

impl Redactor {
    /// A redactor with this key.
    pub fn new(key: &[u8]) -> Self {
        Self { key: Key::new(HMAC_SHA256, key), seen: Mutex::default() }
    }

    /// A redactor with a key that nobody else has.
    pub fn of_process() -> Self {
        Self::new(&rand::random::<[u8; 32]>())
    }

    /// What stands in place of a secret. Placeholders are no secrets, nor is what is redacted already.
    pub fn secret(&self, value: &str) -> String {
        if value.is_empty() || is_placeholder(value) || is_redacted(value) {
            return value.to_owned();
        }
        let hash = sign(&self.key, value.as_bytes());
        let bytes = hash.as_ref().iter().take(DIGITS / 2);
        let token = bytes.fold(MARK.to_owned(), |token, byte| format!("{token}{byte:02x}"));
        let mut seen = self.seen();
        if !seen.exact.contains_key(&token) {
            seen.exact.insert(token.clone(), value.to_owned());
            seen.search_for(value, &token);
            let decoded = percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned();
            if decoded != value {
                seen.search_for(&decoded, &token);
            }
        }
        token
    }

    /// A text without the secrets that were seen so far, wherever they stand in it.
    fn without_seen(&self, text: &str) -> String {
        let seen = self.seen();
        let mut text = text.to_owned();
        for (value, token) in &seen.searched {
            if text.contains(value.as_str()) {
                text = replaced(&text, value, token);
            }
        }
        text
    }

    /// The exact value of what stands in place of a secret, where this redactor has seen it.
    fn exact(&self, token: &str) -> Option<String> {
        self.seen().exact.get(token).cloned()
    }

    fn seen(&self) -> MutexGuard<'_, KnownSecrets> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownSecrets {
    fn search_for(&mut self, value: &str, token: &str) {
        let common = ["true", "false", "null", "none", "localhost", "basic", "bearer", "http", "https", "brunt"];
        let number = value.len() < DIGITS && value.bytes().all(|b| b.is_ascii_digit());
        let known = self.searched.iter().any(|row| row.0 == value);
        let too_common = value.len() < SHORTEST_SEARCHED || number || common.contains(&&*value.to_ascii_lowercase());
        if too_common || known || self.searched.len() >= MOST_SEARCHED {
            return;
        }
        let at = self.searched.partition_point(|row| row.0.len() > value.len());
        self.searched.insert(at, (value.to_owned(), token.to_owned()));
    }
}

/// The text with a value replaced: a short one only where it is a word of its own.
fn replaced(text: &str, value: &str, token: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(value) {
        let end = at + value.len();
        let joined = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let inside = joined(text[..at].chars().next_back()) || joined(text[end..].chars().next());
        if inside && value.len() < LONG {
            continue;
        }
        out.push_str(&text[done..at]);
        out.push_str(token);
        done = end;
    }
    out + &text[done..]
}

/// Whether a value is what stands in place of a secret.
fn is_redacted(value: &str) -> bool {
    value.strip_prefix(MARK).is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_digit))
}

/// Whether a redacted value stands at the beginning of a text.
fn begins_redacted(text: &str) -> bool {
    text.get(..MARK.len() + DIGITS).is_some_and(is_redacted)
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Whether a value is nothing but a placeholder, such as `${env:TOKEN}`, `$TOKEN`, or `{csv:users.csv:password}`.
fn is_placeholder(value: &str) -> bool {
    let name =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:-/".contains(&b));
    let inner = value.strip_prefix('$').unwrap_or(value);
    let braced = inner.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    braced.is_some_and(name) || (inner.len() < value.len() && name(inner) && !inner.contains(['/', '.', ':']))
}
