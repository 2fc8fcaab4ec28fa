//! Secrets in command lines: those of brunt, and of the tools that it stands in for.

use super::Redactor;
use brunt_model::secret::{is_secret_field, is_secret_header};

/// What an option's value is.
#[derive(Clone, Copy)]
enum Value {
    /// `Name: value`.
    Header,
    /// `USER:PASS`.
    User,
    /// A secret as a whole.
    Secret,
    /// `name=value`.
    Cookie,
    /// A body, or a field of one.
    Body,
    /// `NAME=VALUE`; the name decides.
    Named,
    /// The name of a file.
    File,
}

/// Options of brunt and of siege, httperf and ab that have a value of that kind.
const OPTIONS: [(&str, Value); 22] = [
    ("-H", Value::Header),
    ("--header", Value::Header),
    ("--add-header", Value::Header),
    ("--basic", Value::User),
    ("--bearer", Value::Secret),
    ("--cookie", Value::Cookie),
    ("--data", Value::Body),
    ("--form", Value::Body),
    ("--json", Value::Body),
    ("--set", Value::Named),
    ("-J", Value::Named),
    ("-D", Value::Named),
    ("-G", Value::Named),
    ("--jmeterproperty", Value::Named),
    ("--systemproperty", Value::Named),
    ("--password", Value::Secret),
    ("--key", Value::File),
    ("--cert", Value::File),
    ("--cacert", Value::File),
    ("--header-file", Value::File),
    ("--ssl-certificate", Value::File),
    ("--brunt-secret", Value::File),
];

/// Options that mean this to ab, and something else to brunt.
const OF_AB: [(&str, Value); 3] = [("-A", Value::User), ("-P", Value::User), ("-C", Value::Cookie)];

impl Redactor {
    /// A command line as [`shell_words`] writes it.
    pub fn command(&self, line: &str) -> String {
        let Some(words) = shlex::split(line) else { return self.text(line) };
        let redacted = self.words(&words);
        if redacted == words { self.without_known(line) } else { self.without_known(&shell_words(redacted)) }
    }

    /// The words of a command line.
    pub fn words(&self, words: &[String]) -> Vec<String> {
        let is_ab = words.iter().take(2).any(|word| word.rsplit('/').next() == Some("ab"));
        let options = || OPTIONS.iter().chain(OF_AB.iter().filter(|_| is_ab));
        let mut expected = None;
        let mut out = Vec::with_capacity(words.len());
        for word in words {
            if let Some(kind) = expected.take() {
                out.push(self.value(kind, word));
                continue;
            }
            expected = options().find(|row| row.0 == word).map(|row| row.1);
            let joined = options().find_map(|(name, kind)| Some((*name, *kind, joined(word, name)?)));
            out.push(match joined {
                _ if expected.is_some() => word.clone(),
                Some((_, kind, at)) => format!("{}{}", &word[..at], self.value(kind, &word[at..])),
                None => self.word(word),
            });
        }
        out
    }

    fn value(&self, kind: Value, value: &str) -> String {
        if value.starts_with('@') {
            return value.to_owned();
        }
        match kind {
            Value::Header => match value.split_once(':') {
                Some((name, value)) => {
                    let space = &value[..value.len() - value.trim_start().len()];
                    format!("{name}:{space}{}", self.header(name, value.trim()))
                }
                None => match value.split_once(' ') {
                    // Its colon was forgotten.
                    Some((name, value)) if is_secret_header(name) => format!("{name} {}", self.secret(value)),
                    _ => self.text(value),
                },
            },
            Value::User => self.user(value),
            Value::Secret => self.secret(value),
            Value::Cookie => self.cookies(value),
            Value::Body => self.body(value),
            Value::Named => self.named(value),
            Value::File => value.to_owned(),
        }
    }

    /// A word that belongs to no such option: perhaps a URL, with a name before it.
    fn word(&self, word: &str) -> String {
        let word = match word.split_once("://").map_or(word, |(_, rest)| rest).split_once('@') {
            // A URL may do without its scheme.
            Some((user, _)) if !word.starts_with('-') && !user.contains(['/', '?', '#', ' ']) && user.contains(':') => {
                word.replacen(user, &self.user(user), 1)
            }
            _ => word.to_owned(),
        };
        match word.find('?') {
            Some(at) if !word.contains(char::is_whitespace) => self.text(&word[..at]) + &self.url(&word[at..]),
            _ => self.named(&word),
        }
    }

    /// `NAME=VALUE`; of `NAME=URL` the name is that of a contender.
    fn named(&self, word: &str) -> String {
        match word.split_once('=') {
            Some((name, value)) if is_secret_field(name.trim_start_matches('-')) && !value.contains("://") => {
                format!("{name}={}", self.secret(value))
            }
            _ => self.text(word),
        }
    }
}

/// Where the value begins of an option that stands in the same word.
fn joined(word: &str, option: &str) -> Option<usize> {
    let rest = word.strip_prefix(option)?;
    match () {
        () if option.starts_with("--") => rest.starts_with('=').then_some(option.len() + 1),
        () => (!rest.is_empty()).then_some(option.len()),
    }
}

/// Words as a shell would take them, in one line.
pub fn shell_words(words: impl IntoIterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let quoted = words.into_iter().map(|word| {
        if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
