//! Secrets in texts: URLs, headers, bodies of requests, and free text such as warnings, plan files and messages.
//!
//! Data that has a form is redacted by its form, so that nothing of a secret is left. Free text is searched for the secrets
//! that were seen before, and then for what looks like one.

use super::names::is_secret_in_prose;
use super::{Redactor, begins_redacted, is_placeholder, is_secret_field, is_secret_header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// How sure it is that a name is that of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The body of a request.
    Body,
    /// Words of people among others.
    Prose,
}

/// A name and password in a URL.
static USER: LazyLock<Regex> = LazyLock::new(|| regex(r#"://([^/?#\s"'`<>]*)@"#));
/// `name=value`.
static PAIR: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(r"([A-Za-z0-9_.\-\[\]%:]+)=", r#"^(?:"([^"\n]*)"|'([^'\n]*)'|([^&;\s"'`<>#]*))"#)
});
/// `"name": value` of JSON: a string, a list, or a number.
static JSON: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(r#""((?:[^"\\]|\\.)*)"\s*:\s*"#, r#"^(?:"((?:[^"\\]|\\.)*)"|\[([^\]]*)\]|(-?[0-9][0-9.eE+-]*))"#)
});
/// A string of JSON.
static STRING: LazyLock<Regex> = LazyLock::new(|| regex(r#""((?:[^"\\]|\\.)*)""#));
/// `Name: value` of headers and YAML, to the end of the line.
static LINE: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r#"([A-Za-z][A-Za-z0-9_.\-]*)["']?[ \t]*:[ \t]*"#,
        r#"^(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([^\r\n"'`]*))"#,
    )
});
/// `<name>value</name>`.
static XML: LazyLock<Regex> = LazyLock::new(|| regex(r"<([A-Za-z_][\w.:\-]*)[^<>]*>([^<]*)</"));
/// A part of a form with several parts.
static PART: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?s)name="([^"\r\n]*)"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n(.*?)\r?\n--"#));
/// A scheme of authentication and its credentials.
static SCHEME: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(?i:bearer|basic|token|apikey)[ \t]+([A-Za-z0-9+/=._~\-]{6,})"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours")
}

/// Values that stand behind a name. A value is only looked at where its name says that it is secret: others may hold names.
struct NamedValues {
    name: Regex,
    value: Regex,
}

impl NamedValues {
    fn new(name: &str, value: &str) -> Self {
        Self { name: regex(name), value: regex(value) }
    }

    /// The text with the values replaced whose names, and what stands before them, say that they are secret.
    fn replace(
        &self,
        text: &str,
        is_secret: impl Fn(&str, Option<char>) -> bool,
        make: impl Fn(&str, &Captures<'_>) -> String,
    ) -> String {
        let (mut out, mut done, mut at) = (String::with_capacity(text.len()), 0, 0);
        while let Some(name) = self.name.captures_at(text, at) {
            let (begin, end) = name.get(0).map_or((text.len(), text.len()), |all| (all.start(), all.end()));
            at = end;
            if !is_secret(&name[1], text[..begin].chars().next_back()) {
                continue;
            }
            let Some(value) = self.value.captures(&text[end..]) else { continue };
            let Some(inner) = (1..=3).find_map(|group| value.get(group)) else { continue };
            let shown = inner.as_str().trim();
            // A message about a variable, such as `password: ${env.PASSWORD}: it is not set`.
            let is_message = shown.split_once(": ").is_some_and(|(first, _)| is_placeholder(first));
            if shown.is_empty() || begins_redacted(shown) || is_message {
                continue;
            }
            out.push_str(&text[done..end + inner.start()]);
            out.push_str(&make(&name[1], &value));
            done = end + inner.end();
            at = done;
        }
        out + &text[done..]
    }
}

impl Redactor {
    /// A free text, or a URL.
    pub fn text(&self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let text = self.without_seen(text);
        // Most values of headers are one word.
        if text.contains(['=', ':', '@', '"', '<', ' ']) { self.forms(&text, Kind::Prose) } else { text }
    }

    /// A URL, absolute or relative.
    pub fn url(&self, url: &str) -> String {
        if !url.contains(['?', '@', ';', '=']) {
            return url.to_owned();
        }
        let (rest, fragment) = url.split_once('#').map_or((url, None), |(rest, fragment)| (rest, Some(fragment)));
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let path = self.pairs(&self.users(path), Kind::Prose);
        let query = query.map_or(String::new(), |query| format!("?{}", self.form(query)));
        let fragment = fragment.map_or(String::new(), |fragment| format!("#{}", self.form(fragment)));
        path + &query + &fragment
    }

    /// The value of a header.
    pub fn header(&self, name: &str, value: &str) -> String {
        let lower = name.trim().to_ascii_lowercase();
        match &*lower {
            "cookie" | "cookie2" => self.cookies(value),
            "set-cookie" | "set-cookie2" => self.set_cookie(value),
            "referer" | "location" | "origin" | "content-location" => self.url(value),
            _ if !is_secret_header(&lower) => self.text(value),
            _ => match value.trim().split_once(' ') {
                Some((scheme, credentials)) if is_scheme(scheme) => {
                    format!("{scheme} {}", self.credentials(credentials.trim()))
                }
                _ => self.secret(value.trim()),
            },
        }
    }

    /// The body of a request.
    pub fn body(&self, body: &str) -> String {
        let is_form = !body.contains(|c: char| c.is_whitespace() || "\"<>{}".contains(c));
        if is_form && body.contains('=') { self.form(body) } else { self.forms(body, Kind::Body) }
    }

    /// A whole request as it is sent: its first line, headers and body.
    pub fn request(&self, bytes: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = match text.find("\r\n\r\n") {
            Some(end) => (&text[..end], &text[end..]),
            None => (&*text, ""),
        };
        let line = |(number, line): (usize, &str)| match line.split_once(':') {
            Some((name, value)) if number > 0 => {
                let space = &value[..value.len() - value.trim_start().len()];
                format!("{name}:{space}{}", self.header(name, value.trim()))
            }
            _ => line.split(' ').map(|word| self.url(word)).collect::<Vec<_>>().join(" "),
        };
        let head: Vec<String> = head.split("\r\n").enumerate().map(line).collect();
        let ends = body.len() - body.trim_start_matches("\r\n").len();
        let redacted = head.join("\r\n") + &body[..ends] + &self.body(&body[ends..]);
        if redacted == *text { bytes.to_vec() } else { redacted.into_bytes() }
    }

    /// `NAME:PASSWORD`, of which the password is secret; without one, the name may be a token.
    pub fn user(&self, user: &str) -> String {
        match user.split_once(':') {
            _ if user.contains("${") && user.ends_with('}') => user.to_owned(),
            Some(_) if begins_redacted(user) => user.to_owned(),
            Some((name, password)) if !password.is_empty() => format!("{name}:{}", self.secret(password)),
            Some((name, _)) => format!("{}:", self.secret(name)),
            None => self.secret(user),
        }
    }

    /// `name=value; name=value`.
    pub fn cookies(&self, value: &str) -> String {
        let pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) => format!("{name}={}", self.secret(value.trim())),
            None => self.secret(pair),
        };
        value.split("; ").map(pair).collect::<Vec<_>>().join("; ")
    }

    fn set_cookie(&self, value: &str) -> String {
        let (pair, rest) = value.split_at(value.find(';').unwrap_or(value.len()));
        self.cookies(pair) + rest
    }

    /// Base64 of a name and password, a token, or parameters.
    fn credentials(&self, value: &str) -> String {
        if let Ok(plain) = STANDARD.decode(value)
            && let Ok(user) = String::from_utf8(plain)
            && user.contains(':')
        {
            // Command lines and plan files have it in this form.
            let _ = (self.user(&user), self.secret(&user));
        }
        self.secret(value)
    }

    /// A query or form: every value of a secret field to its end.
    fn form(&self, form: &str) -> String {
        let field = |field: &str| match field.split_once('=') {
            Some((name, value)) if is_secret_field(name) => format!("{name}={}", self.secret(value)),
            Some((name, value)) if value.contains("://") || value.contains("%3A%2F%2F") => {
                format!("{name}={}", self.nested(value))
            }
            _ => field.to_owned(),
        };
        form.split('&').map(field).collect::<Vec<_>>().join("&")
    }

    /// A URL in a query: secret as a whole where it holds a secret and is encoded.
    fn nested(&self, value: &str) -> String {
        let plain = percent_encoding::percent_decode_str(value).decode_utf8_lossy();
        let safe = self.url(&plain);
        match () {
            () if safe == plain => value.to_owned(),
            () if plain == value => safe,
            () => self.secret(value),
        }
    }

    fn forms(&self, text: &str, kind: Kind) -> String {
        let text = self.users(text);
        let named = |name: &str, _: Option<char>| is_secret_field(name) || is_hyphenated_secret(name);
        let text = JSON.replace(&text, named, |name, value| match (value.get(1), value.get(2)) {
            (Some(text), _) => self.header(name_of_cookie(name), text.as_str()),
            (_, Some(list)) => each(&STRING, list.as_str(), |_, one| Some(format!("\"{}\"", self.secret(one)))),
            _ => format!("\"{}\"", self.secret(&value[0])),
        });
        let text = each(&XML, &text, |c, name| {
            (is_secret_field(name))
                .then(|| c[0].replacen(&format!(">{}<", &c[2]), &format!(">{}<", self.secret(&c[2])), 1))
        });
        let text = each(&PART, &text, |c, name| {
            let value = c.get(2).filter(|_| is_secret_field(name))?;
            let begin = value.start() - c.get(0)?.start();
            Some(format!("{}{}{}", &c[0][..begin], self.secret(value.as_str()), &c[0][begin + value.len()..]))
        });
        let text = self.lines(&text, kind);
        let text = self.pairs(&text, kind);
        each(&SCHEME, &text, |c, value| {
            let begin = c[0].len() - value.len();
            looks_random(value).then(|| format!("{}{}", &c[0][..begin], self.secret(value)))
        })
    }

    fn users(&self, text: &str) -> String {
        each(&USER, text, |_, user| Some(format!("://{}@", self.user(user))))
    }

    fn lines(&self, text: &str, kind: Kind) -> String {
        let secret = |name: &str, _: Option<char>| match kind {
            Kind::Prose => is_secret_in_prose(name) || is_hyphenated_secret(name),
            Kind::Body => is_secret_field(name) || is_hyphenated_secret(name),
        };
        LINE.replace(text, secret, |name, value| self.header(name_of_cookie(name), value_of(value).trim()))
    }

    fn pairs(&self, text: &str, kind: Kind) -> String {
        let secret = |name: &str, before: Option<char>| match kind {
            Kind::Prose if !matches!(before, Some('?' | '&')) => is_secret_in_prose(name),
            Kind::Prose | Kind::Body => is_secret_field(name),
        };
        PAIR.replace(text, secret, |_, value| self.secret(value_of(value)))
    }
}

/// What was found of a value, without quotes.
fn value_of<'a>(value: &'a Captures<'_>) -> &'a str {
    (1..=3).find_map(|group| value.get(group)).map_or("", |found| found.as_str())
}

/// Names with a hyphen are those of headers.
fn is_hyphenated_secret(name: &str) -> bool {
    name.contains('-') && is_secret_header(name)
}

/// Fields have no schemes of authentication; a header that is none of a cookie stands for them.
fn name_of_cookie(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    if lower.contains("cookie") && is_secret_header(name) { name } else { "Authorization" }
}

/// The text with what is made of each match and its first group; None leaves a match as it is.
fn each(pattern: &Regex, text: &str, make: impl Fn(&Captures<'_>, &str) -> Option<String>) -> String {
    let make = |c: &Captures<'_>| make(c, &c[1]).unwrap_or_else(|| c[0].to_owned());
    pattern.replace_all(text, make).into_owned()
}

fn is_scheme(word: &str) -> bool {
    let schemes = ["basic", "bearer", "digest", "negotiate", "ntlm", "token", "apikey", "aws4-hmac-sha256", "hawk"];
    schemes.contains(&&*word.to_ascii_lowercase())
}

/// Words of prose stand behind `basic` and `token` as well.
fn looks_random(value: &str) -> bool {
    let value = value.trim_end_matches('.');
    !is_placeholder(value)
        && (value.contains(|c: char| c.is_ascii_digit() || "=._+/~".contains(c)) || has_capital_inside(value))
}

fn has_capital_inside(value: &str) -> bool {
    value.chars().skip(1).any(|c| c.is_ascii_uppercase()) && value.chars().any(|c| c.is_ascii_lowercase())
}
