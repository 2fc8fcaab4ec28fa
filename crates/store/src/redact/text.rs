//! Secrets in texts: URLs, headers, bodies of requests, and free text such as messages and names.
//!
//! Data that has a form is redacted by its form, so that nothing of a secret is left. Free text keeps all of its words but those
//! that are known to be secret, and those of the forms that nothing else has: URLs, fields of JSON and XML, credentials.

use super::{Redactor, begins_redacted, is_placeholder};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::secret::{is_of_oauth, is_secret_field, is_secret_header, is_secret_parameter};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The name of a member of JSON.
const JSON_NAME: &str = r#""((?:[^"\\]|\\.)*)"\s*:\s*"#;

/// A name and password in a URL.
static USER: LazyLock<Regex> = LazyLock::new(|| regex(r#"://([^/?#\s"'`<>]*)@"#));
/// `name=value`.
pub(super) static PAIR: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(r"([A-Za-z0-9_.\-\[\]%:]+)=", r#"^(?:"([^"\n]*)"|'([^'\n]*)'|([^&;\s"'`<>#]*))"#)
});
/// `?name=value`: a parameter of a URL, without punctuation of the text around it.
static PARAMETER: LazyLock<NamedValues> =
    LazyLock::new(|| NamedValues::new(r"[?&;#]([A-Za-z0-9_.\-\[\]%]+)=", r#"^([^&;\s"'`<>#]*[^&;\s"'`<>#:,.)\]])"#));
/// `"name": "value"` of JSON.
pub(super) static JSON: LazyLock<NamedValues> =
    LazyLock::new(|| NamedValues::new(JSON_NAME, r#"^"((?:[^"\\]|\\.)*)""#));
/// `"name": ["value", "value"]`.
static JSON_LIST: LazyLock<NamedValues> = LazyLock::new(|| NamedValues::new(JSON_NAME, r"^\[([^\]]*)\]"));
/// `"name": 12`.
static JSON_NUMBER: LazyLock<NamedValues> = LazyLock::new(|| NamedValues::new(JSON_NAME, "^(-?[0-9][0-9.eE+-]*)"));
/// A string of JSON.
static STRING: LazyLock<Regex> = LazyLock::new(|| regex(r#""((?:[^"\\]|\\.)*)""#));
/// `Name: value` of a text body, to the end of the line.
static LINE: LazyLock<NamedValues> =
    LazyLock::new(|| NamedValues::new(r"(?m)^[ \t]*([A-Za-z][A-Za-z0-9_.\-]*)[ \t]*:[ \t]*", r"^([^\r\n]*)"));
/// `<name>value</name>`.
static XML: LazyLock<Regex> = LazyLock::new(|| regex(r"<([A-Za-z_][\w.:\-]*)[^<>]*>([^<]*)</"));
/// A part of a form with several parts.
static PART: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?s)name="([^"\r\n]*)"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n(.*?)\r?\n--"#));
/// A scheme of authentication and its credentials.
static SCHEME: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?i:bearer|basic)[ \t]+([A-Za-z0-9+/=._~\-]{6,})"));
/// The header field of credentials.
static AUTHORIZATION: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?i)\bauthorization["']?[ \t]*[:=][ \t]*["']?(?:[a-z0-9\-]+[ \t]+)?([a-z0-9+/=._~\-]{6,})"#)
});
/// The header field of cookies.
static COOKIE: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?i)\bcookie:[ \t]*([^\s"'`=;,]+=[^\s"'`;]+(?:; *[^\s"'`=;,]+=[^\s"'`;]+)*)"#));

pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours")
}

/// Values that stand behind a name. A value is only looked at where its name says that it is secret: others may hold names.
pub(super) struct NamedValues {
    name: Regex,
    value: Regex,
}

impl NamedValues {
    pub(super) fn new(name: &str, value: &str) -> Self {
        Self { name: regex(name), value: regex(value) }
    }

    /// Replaces the values that `is_secret` finds secret by their names and the text before them.
    pub(super) fn replace(
        &self,
        text: &str,
        is_secret: impl Fn(&str, &str) -> bool,
        make: impl Fn(&str, &str) -> String,
    ) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut at = 0;
        while let Some(name) = self.name.captures_at(text, at) {
            let (begin, end) = name.get(0).map_or((text.len(), text.len()), |all| (all.start(), all.end()));
            at = end;
            if !is_secret(&name[1], &text[..begin]) {
                continue;
            }
            let Some(value) = self.value.captures(&text[end..]) else { continue };
            let Some(inner) = (1..value.len()).find_map(|group| value.get(group)) else { continue };
            let shown = inner.as_str().trim();
            if shown.is_empty() || begins_redacted(shown) || is_example(shown) {
                continue;
            }
            out.push_str(&text[done..end + inner.start()]);
            out.push_str(&make(&name[1], inner.as_str()));
            done = end + inner.end();
            at = done;
        }
        out + &text[done..]
    }
}

impl Redactor {
    /// A free text, a name, or a URL. Its other words stay, whatever they look like.
    pub fn text(&self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        self.free(&self.without_known(text))
    }

    /// The forms that nothing but data has.
    pub(super) fn free(&self, text: &str) -> String {
        // Most values of headers are one word.
        if !text.contains(['=', ':', '@', '"', '<', ' ']) {
            return text.to_owned();
        }
        let text = self.users(text);
        let text = self.parameters(&text);
        let text = self.json_fields(&text);
        let text = self.xml_fields(&text);
        let text =
            each(&AUTHORIZATION, &text, |all, value| self.credentials_at_end(&all[0], value, looks_random(value)));
        let text = each(&COOKIE, &text, |all, value| {
            Some(format!("{}{}", &all[0][..all[0].len() - value.len()], self.cookies(value)))
        });
        each(&SCHEME, &text, |all, value| {
            let is_basic = all[0][..5].eq_ignore_ascii_case("basic");
            let is_secret = if is_basic { user_of(value).is_some() } else { looks_random(value) };
            self.credentials_at_end(&all[0], value, is_secret)
        })
    }

    /// A URL, absolute or relative.
    pub fn url(&self, url: &str) -> String {
        if !url.contains(['?', '@', ';', '=', '#']) {
            return self.without_known(url);
        }
        let (rest, fragment) = url.split_once('#').map_or((url, None), |(rest, fragment)| (rest, Some(fragment)));
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let path = self.parameters(&self.users(path));
        let query = query.map_or(String::new(), |query| format!("?{}", self.form(query, is_secret_parameter)));
        let fragment =
            fragment.map_or(String::new(), |fragment| format!("#{}", self.form(fragment, is_secret_parameter)));
        self.without_known(&(path + &query + &fragment))
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

    /// The body of a request or reply.
    pub fn body(&self, body: &str) -> String {
        let is_form = !body.contains(|c: char| c.is_whitespace() || "\"<>{}".contains(c));
        if is_form && body.contains('=') {
            return self.without_known(&self.form(body, is_secret_field));
        }
        let text = each(&PART, body, |all, name| {
            let value = all.get(2).filter(|_| is_secret_field(name))?;
            Some(with_value(all, value, &self.secret(value.as_str())))
        });
        let is_data = text.trim_start().starts_with(['{', '[', '<', '"']);
        let text = self.text(&text);
        if is_data {
            return text;
        }
        let text = LINE.replace(&text, is_secret_member, |name, value| self.header(name, value));
        PAIR.replace(&text, is_secret_member, |_, value| self.secret(value))
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
            Some((name, value)) => format!("{name}={}", self.cookie(value.trim())),
            None => self.cookie(pair),
        };
        value.split("; ").map(pair).collect::<Vec<_>>().join("; ")
    }

    fn set_cookie(&self, value: &str) -> String {
        let (pair, rest) = value.split_at(value.find(';').unwrap_or(value.len()));
        self.cookies(pair) + rest
    }

    /// Base64 of a name and password, a token, or parameters.
    fn credentials(&self, value: &str) -> String {
        if let Some(user) = user_of(value) {
            // Command lines and plan files have it in this form.
            drop((self.user(&user), self.secret(&user)));
        }
        self.secret(value)
    }

    /// A query or form: every value of a secret field to its end.
    fn form(&self, form: &str, is_secret: fn(&str) -> bool) -> String {
        let mut names = form.split('&').filter_map(|field| Some(field.split_once('=')?.0));
        let has_code = names.any(is_of_oauth);
        let field = |field: &str| match field.split_once('=') {
            Some((name, value)) if is_secret(name) || (has_code && name == "code") => {
                format!("{name}={}", self.secret(value))
            }
            Some((name, value)) if value.contains("://") || value.to_ascii_uppercase().contains("%3A%2F%2F") => {
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

    fn users(&self, text: &str) -> String {
        each(&USER, text, |_, user| Some(format!("://{}@", self.user(user))))
    }

    fn parameters(&self, text: &str) -> String {
        PARAMETER.replace(text, |name, _| is_secret_parameter(name), |_, value| self.secret(value))
    }

    fn json_fields(&self, text: &str) -> String {
        let text = JSON.replace(text, is_secret_member, |name, value| {
            if is_secret_header(name) { self.header(name, value) } else { self.secret(value) }
        });
        let text = JSON_LIST.replace(&text, is_secret_member, |_, list| {
            each(&STRING, list, |_, one| Some(format!("\"{}\"", self.secret(one))))
        });
        JSON_NUMBER.replace(&text, is_secret_member, |_, number| format!("\"{}\"", self.secret(number)))
    }

    fn xml_fields(&self, text: &str) -> String {
        each(&XML, text, |all, name| {
            let value = all.get(2).filter(|value| is_secret_field(name) && !is_example(value.as_str().trim()))?;
            Some(with_value(all, value, &self.secret(value.as_str())))
        })
    }

    /// A match that ends with credentials.
    fn credentials_at_end(&self, all: &str, value: &str, is_secret: bool) -> Option<String> {
        let begin = all.len() - value.len();
        (is_secret && !is_example(value)).then(|| format!("{}{}", &all[..begin], self.credentials(value)))
    }
}

/// True if the field before a value is secret.
pub(super) fn is_secret_member(name: &str, _: &str) -> bool {
    is_secret_field(name)
}

/// A match with another text in place of one of its groups.
fn with_value(all: &Captures<'_>, value: regex::Match<'_>, replacement: &str) -> String {
    let begin = value.start() - all.get(0).map_or(0, |whole| whole.start());
    format!("{}{replacement}{}", &all[0][..begin], &all[0][begin + value.len()..])
}

/// `NAME:PASSWORD` in base64.
fn user_of(credentials: &str) -> Option<String> {
    let plain = STANDARD.decode(credentials).ok()?;
    String::from_utf8(plain).ok().filter(|user| user.contains(':'))
}

/// The text with what is made of each match and its first group; None leaves a match as it is.
pub(super) fn each(pattern: &Regex, text: &str, make: impl Fn(&Captures<'_>, &str) -> Option<String>) -> String {
    let make = |c: &Captures<'_>| make(c, &c[1]).unwrap_or_else(|| c[0].to_owned());
    pattern.replace_all(text, make).into_owned()
}

fn is_scheme(word: &str) -> bool {
    let schemes = ["basic", "bearer", "digest", "negotiate", "ntlm", "token", "apikey", "aws4-hmac-sha256", "hawk"];
    schemes.contains(&&*word.to_ascii_lowercase())
}

/// True for placeholders of help and messages: `TOKEN`, `…`, `<token>`, `***`.
fn is_example(value: &str) -> bool {
    let is_name = value.chars().all(|c| c.is_ascii_uppercase() || c == '_') && value.len() > 1;
    is_name || is_placeholder(value) || value.chars().all(|c| "….*<>".contains(c))
}

/// True if a value is not an English word; `basic` and `bearer` occur in prose, too.
pub(super) fn looks_random(value: &str) -> bool {
    let value = value.trim_end_matches('.');
    !is_placeholder(value)
        && (value.contains(|c: char| c.is_ascii_digit() || "=._+/~".contains(c)) || has_capital_inside(value))
}

fn has_capital_inside(value: &str) -> bool {
    value.chars().skip(1).any(|c| c.is_ascii_uppercase()) && value.chars().any(|c| c.is_ascii_lowercase())
}
