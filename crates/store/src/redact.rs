//! Replaces secrets by a short keyed hash, so that equal secrets can be compared and
//! none can be read.
//!
//! A secret `hunter2` becomes `redacted:3f9a12`: the first three bytes of HMAC-SHA256 of the value.
//! The key belongs to a store and never leaves it. A process without a store draws its own key.
//! Redaction of redacted data changes nothing.
//!
//! Secret names are defined in [`brunt_model::secret`]. In structured data, the values of secret
//! fields are redacted and remembered. From then on they are replaced in every text. Other words of
//! a text stay as they are, whatever they look like.
//!
//! * `known_secrets`: secrets seen so far. `text`: messages, URLs, headers, bodies. `source`: plan
//!   files and shell commands.
//! * `data`: trees of names and values. `command`: command lines. `plan`: plans, experiments,
//!   events, runs and studies.
//! * [`restore`]: restores the secrets before a stored plan is sent again. `key`: the key in its
//!   file.

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
use brunt_model::numbers::hexadecimal;
use brunt_model::secret::REDACTED;
use brunt_model::sync::IgnorePoison;
use known_secrets::KnownSecrets;
use std::sync::{Mutex, MutexGuard};

/// Number of hexadecimal digits of the hash.
const DIGITS: usize = 6;

/// Minimum length of a secret cookie value; shorter ones are usually settings.
const SHORTEST_COOKIE: usize = 8;

/// Replaces secrets, and remembers them in order to replace their values in free text as well.
pub struct Redactor {
    key: Key,
    known: Mutex<KnownSecrets>,
}

impl Redactor {
    /// Creates a redactor with this key.
    pub fn new(key: &[u8]) -> Self {
        Self { key: Key::new(HMAC_SHA256, key), known: Mutex::default() }
    }

    /// Creates a redactor with a random key.
    pub fn with_random_key() -> Self {
        Self::new(&rand::random::<[u8; 32]>())
    }

    /// Replaces a secret, and remembers it. Placeholders and redacted values stay.
    pub fn secret(&self, value: &str) -> String {
        self.replace(value, true)
    }

    /// The secrets that this redactor remembers.
    pub fn secrets(&self) -> Vec<String> {
        self.known_secrets().values()
    }

    /// Adds the secrets that another redactor remembers.
    pub fn add_secrets_of(&self, other: &Self) {
        for value in other.secrets() {
            self.secret(&value);
        }
    }

    /// Replaces the value of a cookie. It is remembered unless it may be an ordinary word, such
    /// as that of `theme=dark`.
    fn cookie(&self, value: &str) -> String {
        self.replace(value, value.len() >= SHORTEST_COOKIE && text::looks_random(value))
    }

    fn replace(&self, value: &str, is_searched: bool) -> String {
        if value.is_empty() || is_placeholder(value) || is_redacted(value) {
            return value.to_owned();
        }
        let hash = sign(&self.key, value.as_bytes());
        let token = REDACTED.to_owned() + &hexadecimal(&hash.as_ref()[..DIGITS / 2]);
        self.known_secrets().add(value, &token, is_searched);
        token
    }

    /// Replaces all known secrets in a text.
    fn without_known(&self, text: &str) -> String {
        self.known_secrets().replaced(text)
    }

    /// Returns the exact secret of a token, if this redactor has seen it.
    fn exact(&self, token: &str) -> Option<String> {
        self.known_secrets().exact(token)
    }

    fn known_secrets(&self) -> MutexGuard<'_, KnownSecrets> {
        self.known.lock().ignore_poison()
    }
}

/// True if a value is the token of a secret.
fn is_redacted(value: &str) -> bool {
    value
        .strip_prefix(REDACTED)
        .is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_digit))
}

/// True if a text begins with the token of a secret.
fn begins_redacted(text: &str) -> bool {
    text.get(..REDACTED.len() + DIGITS).is_some_and(is_redacted)
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// True if a value is only a placeholder, such as
/// `${env:TOKEN}`, `$TOKEN`, or `{csv:users.csv:password}`.
fn is_placeholder(value: &str) -> bool {
    let inner = value.strip_prefix('$').unwrap_or(value);
    let braced = inner.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    braced.is_some_and(is_placeholder_name)
        || (inner.len() < value.len()
            && is_placeholder_name(inner)
            && !inner.contains(['/', '.', ':']))
}

fn is_placeholder_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:-/".contains(&b))
}
