//! Redaction: replaces secrets by a keyed short hash, so that equal secrets can be compared and none can be read.
//!
//! A secret `hunter2` becomes `redacted:3f9a12`: the first three bytes of HMAC-SHA256 of the value. The key belongs to a store
//! and never leaves it; a process without a store draws a key of its own. Redaction of redacted data changes nothing.
//!
//! Which names are secret is defined in [`brunt_model::secret`]. Values of secret fields are redacted where data has a form, and
//! become known: from then on they are replaced in every text. Other words of a text stay as they are, whatever they look like.
//!
//! * `known_secrets`: secrets seen so far. `text`: messages, URLs, headers, bodies. `source`: plan files and shell commands.
//!   `data`: trees of names and values. `command`: command lines. `plan`: plans, experiments, events and studies.
//! * [`restore`]: secrets put back before a stored plan is sent again. `key`: the key in its file.

mod command;
mod data;
pub(crate) mod key;
mod known_secrets;
mod plan;
pub mod restore;
mod source;
mod text;

#[cfg(test)]
mod tests;

pub use command::shell_words;

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use brunt_model::secret::REDACTED;
use known_secrets::KnownSecrets;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Hexadecimal digits of the hash.
const DIGITS: usize = 6;

/// Shorter values of cookies are settings more often than secrets.
const SHORTEST_COOKIE: usize = 8;

/// Replaces secrets. It remembers those that it has seen: their values are replaced in free text as well.
pub struct Redactor {
    key: Key,
    known: Mutex<KnownSecrets>,
}

impl Redactor {
    /// A redactor with this key.
    pub fn new(key: &[u8]) -> Self {
        Self { key: Key::new(HMAC_SHA256, key), known: Mutex::default() }
    }

    /// A redactor with a key that nobody else has.
    pub fn of_process() -> Self {
        Self::new(&rand::random::<[u8; 32]>())
    }

    /// Replaces a secret, and makes it known. Placeholders and redacted values stay.
    pub fn secret(&self, value: &str) -> String {
        self.replace(value, true)
    }

    /// Makes the secrets known that another redactor knows.
    pub fn know_those_of(&self, other: &Self) {
        let values = other.known_secrets().values();
        for value in values {
            self.secret(&value);
        }
    }

    /// Replaces the value of a cookie. It becomes known unless it may be an ordinary word, such as that of `theme=dark`.
    fn cookie(&self, value: &str) -> String {
        self.replace(value, value.len() >= SHORTEST_COOKIE && text::looks_random(value))
    }

    fn replace(&self, value: &str, is_searched: bool) -> String {
        if value.is_empty() || is_placeholder(value) || is_redacted(value) {
            return value.to_owned();
        }
        let hash = sign(&self.key, value.as_bytes());
        let bytes = hash.as_ref().iter().take(DIGITS / 2);
        let token = bytes.fold(REDACTED.to_owned(), |token, byte| format!("{token}{byte:02x}"));
        self.known_secrets().add(value, &token, is_searched);
        token
    }

    /// A text without the secrets that are known so far, wherever they stand in it.
    fn without_known(&self, text: &str) -> String {
        self.known_secrets().replaced(text)
    }

    /// The exact value of what stands in place of a secret, where this redactor has seen it.
    fn exact(&self, token: &str) -> Option<String> {
        self.known_secrets().exact(token)
    }

    fn known_secrets(&self) -> MutexGuard<'_, KnownSecrets> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a value is what stands in place of a secret.
fn is_redacted(value: &str) -> bool {
    value.strip_prefix(REDACTED).is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_digit))
}

/// Whether a redacted value stands at the beginning of a text.
fn begins_redacted(text: &str) -> bool {
    text.get(..REDACTED.len() + DIGITS).is_some_and(is_redacted)
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
