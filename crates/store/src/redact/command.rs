//! Redacts command lines of brunt, and of the tools that it replaces.

use super::Redactor;
use brunt_model::secret::{is_secret_field, is_secret_header};

/// Syntax of an option's value.
#[derive(Clone, Copy)]
enum ValueKind {
    /// `Name: value`.
    Header,
    /// `USER:PASS`.
    User,
    /// A secret without other text.
    Secret,
    /// `name=value`.
    Cookie,
    /// A body, or a field of one.
    Body,
    /// `NAME=VALUE`; secret if the name is.
    Named,
    /// A file name; never secret.
    File,
    /// `FILE:PASSWORD`.
    CertificateFile,
}

/// Options of brunt, siege, httperf and ab with values that may be secret or must not be changed.
const OPTIONS: [(&str, ValueKind); 24] = [
    ("-H", ValueKind::Header),
    ("--header", ValueKind::Header),
    ("--add-header", ValueKind::Header),
    ("--basic", ValueKind::User),
    ("--bearer", ValueKind::Secret),
    ("--cookie", ValueKind::Cookie),
    ("--data", ValueKind::Body),
    ("--form", ValueKind::Body),
    ("--json", ValueKind::Body),
    ("--set", ValueKind::Named),
    ("-J", ValueKind::Named),
    ("-D", ValueKind::Named),
    ("-G", ValueKind::Named),
    ("--jmeterproperty", ValueKind::Named),
    ("--systemproperty", ValueKind::Named),
    ("--password", ValueKind::Secret),
    ("--key-password", ValueKind::Secret),
    ("--pass", ValueKind::Secret),
    ("--key", ValueKind::File),
    ("--cert", ValueKind::File),
    ("--cacert", ValueKind::File),
    ("--header-file", ValueKind::File),
    ("--ssl-certificate", ValueKind::File),
    ("--brunt-secret", ValueKind::File),
];

/// Options that have this meaning for ab only. brunt uses the same letters differently.
const AB_OPTIONS: [(&str, ValueKind); 3] =
    [("-A", ValueKind::User), ("-P", ValueKind::User), ("-C", ValueKind::Cookie)];

/// Options that have this meaning for curl only.
const CURL_OPTIONS: [(&str, ValueKind); 10] = [
    ("-u", ValueKind::User),
    ("--user", ValueKind::User),
    ("-U", ValueKind::User),
    ("--proxy-user", ValueKind::User),
    ("-E", ValueKind::CertificateFile),
    ("--cert", ValueKind::CertificateFile),
    ("--proxy-cert", ValueKind::CertificateFile),
    ("--proxy-pass", ValueKind::Secret),
    ("--oauth2-bearer", ValueKind::Secret),
    ("-b", ValueKind::Cookie),
];

impl Redactor {
    /// Redacts a command line that [`shell_words`] quoted.
    pub fn command(&self, line: &str) -> String {
        let Some(words) = shlex::split(line) else { return self.text(line) };
        let redacted = self.words(&words);
        if redacted == words {
            self.without_known(line)
        } else {
            self.without_known(&shell_words(redacted))
        }
    }

    /// Redacts the words of a command line.
    pub fn words(&self, words: &[String]) -> Vec<String> {
        // The name of the program may follow `brunt`.
        let is_ab = words.iter().take(2).any(|word| word.rsplit('/').next() == Some("ab"));
        let is_curl = words.iter().take(4).any(|word| word.rsplit('/').next() == Some("curl"));
        let of_curl = CURL_OPTIONS.iter().filter(|_| is_curl);
        let of_ab = AB_OPTIONS.iter().filter(|_| is_ab);
        let options: Vec<_> = of_curl.chain(&OPTIONS).chain(of_ab).collect();
        let mut expected = None;
        let mut out = Vec::with_capacity(words.len());
        for word in words {
            if let Some(kind) = expected.take() {
                out.push(self.value(kind, word));
                continue;
            }
            expected = options.iter().find(|row| row.0 == word).map(|row| row.1);
            let joined =
                options.iter().find_map(|(name, kind)| Some((*kind, value_start(word, name)?)));
            out.push(match joined {
                _ if expected.is_some() => word.clone(),
                Some((kind, start)) => {
                    format!("{}{}", &word[..start], self.value(kind, &word[start..]))
                }
                None => self.word(word),
            });
        }
        out
    }

    fn value(&self, kind: ValueKind, value: &str) -> String {
        // `@FILE`, as in curl: the value is the name of a file.
        if value.starts_with('@') {
            return value.to_owned();
        }
        match kind {
            ValueKind::Header => match value.split_once(':') {
                Some((name, value)) => {
                    let space = &value[..value.len() - value.trim_start().len()];
                    format!("{name}:{space}{}", self.header(name, value.trim()))
                }
                None => match value.split_once(' ') {
                    // The header lacks its colon.
                    Some((name, value)) if is_secret_header(name) => {
                        format!("{name} {}", self.secret(value))
                    }
                    _ => self.text(value),
                },
            },
            ValueKind::User => self.user(value),
            ValueKind::Secret => self.secret(value),
            ValueKind::Cookie => self.cookies(value),
            ValueKind::Body => self.body(value),
            ValueKind::Named => self.named(value),
            ValueKind::File => value.to_owned(),
            ValueKind::CertificateFile => match value.split_once(':') {
                Some((file, password)) if !value.starts_with("pkcs11:") => {
                    format!("{file}:{}", self.secret(password))
                }
                _ => value.to_owned(),
            },
        }
    }

    /// Redacts a word that is no value of a known option. It may be a URL, with a name before it.
    fn word(&self, word: &str) -> String {
        // A command in one word, such as that of `brunt import curl`.
        if word.trim_start().starts_with("curl ") {
            return self.command(word);
        }
        let word = match word.split_once("://").map_or(word, |(_, rest)| rest).split_once('@') {
            // The scheme of a URL is optional.
            Some((user, _))
                if !word.starts_with('-')
                    && !user.contains(['/', '?', '#', ' '])
                    && user.contains(':') =>
            {
                word.replacen(user, &self.user(user), 1)
            }
            _ => word.to_owned(),
        };
        match word.find('?') {
            Some(query) if !word.contains(char::is_whitespace) => {
                let parameters = if word.starts_with("influx=") {
                    self.influx_password(&word[query..])
                } else {
                    word[query..].to_owned()
                };
                self.text(&word[..query]) + &self.url(&parameters)
            }
            _ => self.named(&word),
        }
    }

    /// Redacts the password of InfluxDB 1, which is the parameter `p`. Elsewhere, `p` is often a page.
    fn influx_password(&self, query: &str) -> String {
        let parameter = |parameter: &str| match parameter.trim_start_matches('?').split_once('=') {
            Some(("p", password)) => {
                parameter[..parameter.len() - password.len()].to_owned() + &self.secret(password)
            }
            _ => parameter.to_owned(),
        };
        query.split('&').map(parameter).collect::<Vec<_>>().join("&")
    }

    /// Redacts `NAME=VALUE`. In `NAME=URL` the name is a contender, and the value is no secret.
    fn named(&self, word: &str) -> String {
        match word.split_once('=') {
            Some((name, value))
                if is_secret_field(name.trim_start_matches('-')) && !value.contains("://") =>
            {
                format!("{name}={}", self.secret(value))
            }
            _ => self.text(word),
        }
    }
}

/// Returns the start of an option's value in the same word, such
/// as `--bearer=TOKEN` or `-HName:value`.
fn value_start(word: &str, option: &str) -> Option<usize> {
    let rest = word.strip_prefix(option)?;
    if option.starts_with("--") {
        rest.starts_with('=').then_some(option.len() + 1)
    } else {
        (!rest.is_empty()).then_some(option.len())
    }
}

/// Joins words to one line, quoted for a shell.
pub fn shell_words(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ")
}

fn shell_word(word: &str) -> String {
    if !word.is_empty() && word.chars().all(needs_no_quotes) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn needs_no_quotes(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c)
}
