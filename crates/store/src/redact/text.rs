//! Redacts texts: URLs, headers, bodies of requests, and free text such as messages and names.
//!
//! Structured data is redacted by its structure, so that no part of a secret is left. In free
//! text, only known secrets are replaced, and the values of unmistakable forms: URLs, fields of
//! JSON and XML, credentials.

use super::{Redactor, begins_redacted, is_placeholder};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::outcome::DETAILS_FIELD;
use brunt_model::secret::{is_of_oauth, is_secret_field, is_secret_header, is_secret_parameter};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Name of a JSON member.
const JSON_NAME: &str = r#""((?:[^"\\]|\\.)*)"\s*:\s*"#;

/// Name and password in a URL.
static USER: LazyLock<Regex> = LazyLock::new(|| regex(r#"://([^/?#\s"'`<>]*)@"#));
/// `name=value`.
pub(super) static PAIR: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r"([A-Za-z0-9_.\-\[\]%:]+)=",
        r#"^(?:"([^"\n]*)"|'([^'\n]*)'|([^&;\s"'`<>#]*))"#,
    )
});
/// `?name=value`: a parameter of a URL, without punctuation of the text around it.
static PARAMETER: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(r"[?&;#]([A-Za-z0-9_.\-\[\]%]+)=", r#"^([^&;\s"'`<>#]*[^&;\s"'`<>#:,.)\]])"#)
});
/// `"name": "value"` of JSON.
pub(super) static JSON: LazyLock<NamedValues> =
    // A text that was cut ends within the value.
    LazyLock::new(|| NamedValues::new(JSON_NAME, r#"^"((?:[^"\\]|\\.)*)"#));
/// `name: "value"`, an argument of GraphQL.
static ARGUMENT: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r#"(?:^|[^"'\w.\-])([A-Za-z_]\w*)[ \t]*:[ \t]*"#,
        r#"^(?:"""((?s:.)*?)"""|"((?:[^"\\\n]|\\.)*)")"#,
    )
});
/// `(name: 123`, a number as an argument of GraphQL.
static ARGUMENT_NUMBER: LazyLock<NamedValues> =
    LazyLock::new(|| NamedValues::new(r"[(,][ \t\n]*([A-Za-z_]\w*)[ \t]*:[ \t]*", "^([0-9]{3,})"));
/// `put("name", "value")` and `map["name"] = "value"` of a script.
static CALL: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r#"[(\[]\s*["']([^"'\n]*)["']\s*(?:,|\]\s*=)\s*"#,
        r#"^(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')"#,
    )
});
/// `"name": ["value", "value"]`.
static JSON_LIST: LazyLock<NamedValues> =
    LazyLock::new(|| NamedValues::new(JSON_NAME, r"^\[([^\]]*)\]"));
/// `"name": 12`.
static JSON_NUMBER: LazyLock<NamedValues> =
    LazyLock::new(|| NamedValues::new(JSON_NAME, "^(-?[0-9][0-9.eE+-]*)"));
/// A JSON string.
static STRING: LazyLock<Regex> = LazyLock::new(|| regex(r#""((?:[^"\\]|\\.)*)""#));
/// `Name: value` of a text body, to the end of the line.
static LINE: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(r"(?m)^[ \t]*([A-Za-z][A-Za-z0-9_.\-]*)[ \t]*:[ \t]*", r"^([^\r\n]*)")
});
/// `<name>value</name>`.
static XML: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r"<([A-Za-z_][\w.:\-]*)(?:\s[^<>]*)?>\s*",
        // The end of a text that was cut counts as the end of the element.
        r"^(?:<!\[CDATA\[((?s:.)*?)\]\]>|([^<]+)(?:</|…$))",
    )
});
/// `<param name="name">value</param>`, and `<param name="name" value="value"/>`.
static XML_NAMED: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r#"<[A-Za-z_][^<>]*?\s(?:name|key)\s*=\s*["']([^"'<>]*)["']"#,
        r#"^(?:[^<>]*?\s(?:value|content)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')|(?:[^<>]*[^/<>])?>\s*([^<]+)(?:</|…$))"#,
    )
});
/// JMeter's argument: an element with the name, then one with the value.
static XML_ARGUMENT: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r#"name="(?:Argument\.name|Header\.name|Cookie\.name)">\s*([^<]*)</[^<>]*>\s*"#,
        r#"^<[^<>]*name="(?:Argument|Header|Cookie)\.value">([^<]+)</"#,
    )
});
/// `name="value"`, an attribute.
static ATTRIBUTE: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(r"\s([A-Za-z_][\w.:\-]*)\s*=\s*", r#"^(?:"([^"<>]*)"|'([^'<>]*)')"#)
});
/// A private key in PEM, also with its line breaks escaped.
static PRIVATE_KEY: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END|\z)")
});
/// A part of a multipart form.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?s)name="([^"\r\n]*)"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n(.*?)\r?\n--"#)
});
/// An authentication scheme and its credentials.
static SCHEME: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(?i:bearer|basic)[ \t]+([A-Za-z0-9+/=._~\-]{6,})"));
/// The header field of credentials.
static AUTHORIZATION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)\bauthorization["']?[ \t]*[:=][ \t]*["']?(?:[a-z0-9\-]+[ \t]+)?([a-z0-9+/=._~\-]{6,})"#,
    )
});
/// The header field of cookies.
static COOKIE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?i)\bcookie:[ \t]*([^\s"'`=;,]+=[^\s"'`;]+(?:; *[^\s"'`=;,]+=[^\s"'`;]+)*)"#)
});

pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a built-in pattern")
}

/// Finds values that follow a name. A value is read only if its name is secret; other values
/// may contain names themselves.
pub(super) struct NamedValues {
    name: Regex,
    value: Regex,
}

impl NamedValues {
    pub(super) fn new(name: &str, value: &str) -> Self {
        Self { name: regex(name), value: regex(value) }
    }

    /// Replaces the values that `is_secret` accepts, given the name and the text before it.
    pub(super) fn replace(
        &self,
        text: &str,
        is_secret: impl Fn(&str, &str) -> bool,
        replacement: impl Fn(&str, &str) -> String,
    ) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut from = 0;
        while let Some(name) = self.name.captures_at(text, from) {
            let (start, end) =
                name.get(0).map_or((text.len(), text.len()), |all| (all.start(), all.end()));
            from = end;
            if !is_secret(&name[1], &text[..start]) {
                continue;
            }
            let Some(value) = self.value.captures(&text[end..]) else { continue };
            let Some(inner) = (1..value.len()).find_map(|group| value.get(group)) else { continue };
            let trimmed = inner.as_str().trim();
            if trimmed.is_empty() || begins_redacted(trimmed) || is_example(trimmed) {
                continue;
            }
            out.push_str(&text[done..end + inner.start()]);
            out.push_str(&replacement(&name[1], inner.as_str()));
            done = end + inner.end();
            from = done;
        }
        out + &text[done..]
    }
}

impl Redactor {
    /// Redacts a free text, a name, or a URL. Its other words stay, whatever they look like.
    pub fn text(&self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        self.unmistakable_forms(&self.without_known(text))
    }

    /// Redacts the unmistakable forms of secrets in a free text.
    pub(super) fn unmistakable_forms(&self, text: &str) -> String {
        // A fast path: most header values are one word.
        if !text.contains(['=', ':', '@', '"', '<', '(', ' ']) {
            return text.to_owned();
        }
        let text = each(&PRIVATE_KEY, text, |all, key| {
            let value = all.get(1).filter(|_| !begins_redacted(key.trim()))?;
            Some(with_value(all, value, &self.secret(key.trim())))
        });
        let text = self.nested_texts(&text);
        let text = self.users(&text);
        let text = self.parameters(&text);
        let text = self.json_fields(&text);
        let text = ARGUMENT.replace(&text, is_secret_member, |_, value| self.secret(value));
        let text = if text.contains('{') {
            ARGUMENT_NUMBER.replace(&text, is_secret_member, |_, number| self.secret(number))
        } else {
            text
        };
        let text = CALL.replace(&text, is_secret_member, |_, value| self.secret(value));
        let text = self.xml_fields(&text);
        let text = each(&AUTHORIZATION, &text, |all, value| {
            self.credentials_at_end(&all[0], value, looks_random(value))
        });
        let text = each(&COOKIE, &text, |all, value| {
            Some(format!("{}{}", &all[0][..all[0].len() - value.len()], self.cookies(value)))
        });
        // The word after `basic` or `bearer` may be prose, so it must look like credentials.
        each(&SCHEME, &text, |all, value| {
            let is_basic = all[0][..5].eq_ignore_ascii_case("basic");
            let is_secret = if is_basic { user_of(value).is_some() } else { looks_random(value) };
            self.credentials_at_end(&all[0], value, is_secret)
        })
    }

    /// Redacts an absolute or relative URL.
    pub fn url(&self, url: &str) -> String {
        if !url.contains(['?', '@', ';', '=', '#']) {
            return self.without_known(url);
        }
        let (rest, fragment) =
            url.split_once('#').map_or((url, None), |(rest, fragment)| (rest, Some(fragment)));
        let (path, query) =
            rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let path = self.parameters(&self.users(path));
        let query = query
            .map_or(String::new(), |query| format!("?{}", self.form(query, is_secret_parameter)));
        let fragment = fragment.map_or(String::new(), |fragment| {
            format!("#{}", self.form(fragment, is_secret_parameter))
        });
        self.without_known(&(path + &query + &fragment))
    }

    /// Redacts the value of a header.
    pub fn header(&self, name: &str, value: &str) -> String {
        let lower = name.trim().to_ascii_lowercase();
        match &*lower {
            "cookie" | "cookie2" => self.cookies(value),
            "set-cookie" | "set-cookie2" => self.set_cookie(value),
            "referer" | "location" | "origin" | "content-location" => self.url(value),
            // Base64 may hide a secret. Traces show the decoded details.
            DETAILS_FIELD => format!("({} characters of base64)", value.len()),
            _ if !is_secret_header(&lower) => self.text(value),
            _ => match value.trim().split_once(' ') {
                Some((scheme, credentials)) if is_scheme(scheme) => {
                    format!("{scheme} {}", self.credentials(credentials.trim()))
                }
                _ => self.secret(value.trim()),
            },
        }
    }

    /// Redacts the body of a request or reply.
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

    /// Redacts a complete request as it is sent: its first line, headers and body.
    pub fn request(&self, bytes: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = match text.find("\r\n\r\n") {
            Some(end) => (&text[..end], &text[end..]),
            None => (&*text, ""),
        };
        let head: Vec<String> = head
            .split("\r\n")
            .enumerate()
            .map(|(index, line)| self.head_line(index, line))
            .collect();
        let body_start = body.len() - body.trim_start_matches("\r\n").len();
        let redacted = head.join("\r\n") + &body[..body_start] + &self.body(&body[body_start..]);
        // Bytes that are not UTF-8 are replaced in `text`, so a request without secrets is
        // returned as it was.
        if redacted == *text { bytes.to_vec() } else { redacted.into_bytes() }
    }

    /// Redacts a line of a request's head; the first is the request line.
    fn head_line(&self, index: usize, line: &str) -> String {
        match line.split_once(':') {
            Some((name, value)) if index > 0 => {
                let space = &value[..value.len() - value.trim_start().len()];
                format!("{name}:{space}{}", self.header(name, value.trim()))
            }
            _ => line.split(' ').map(|word| self.url(word)).collect::<Vec<_>>().join(" "),
        }
    }

    /// Redacts `NAME:PASSWORD`. The password is secret; without one, the name may be a token.
    pub fn user(&self, user: &str) -> String {
        match user.split_once(':') {
            // A placeholder such as `${env:LOGIN}` contains a colon itself.
            _ if user.contains("${") && user.ends_with('}') => user.to_owned(),
            Some(_) if begins_redacted(user) => user.to_owned(),
            Some((name, password)) if !password.is_empty() => {
                format!("{name}:{}", self.secret(password))
            }
            Some((name, _)) => format!("{}:", self.secret(name)),
            None => self.secret(user),
        }
    }

    /// Redacts `name=value; name=value`.
    pub fn cookies(&self, value: &str) -> String {
        value.split("; ").map(|pair| self.cookie_pair(pair)).collect::<Vec<_>>().join("; ")
    }

    fn cookie_pair(&self, pair: &str) -> String {
        match pair.split_once('=') {
            Some((name, value)) => format!("{name}={}", self.cookie(value.trim())),
            None => self.cookie(pair),
        }
    }

    fn set_cookie(&self, value: &str) -> String {
        // Only the first pair is the cookie; attributes such as `Path` and `Max-Age` follow.
        let (pair, rest) = value.split_at(value.find(';').unwrap_or(value.len()));
        self.cookies(pair) + rest
    }

    /// Redacts credentials: the base64 of a name and password, a token, or parameters.
    fn credentials(&self, value: &str) -> String {
        if let Some(user) = user_of(value) {
            // Remembers the decoded form, too: command lines and plan files contain it.
            self.user(&user);
            self.secret(&user);
        }
        self.secret(value)
    }

    /// Redacts a query or form: the complete value of every secret field.
    fn form(&self, form: &str, is_secret: fn(&str) -> bool) -> String {
        let mut names = form.split('&').filter_map(|field| Some(field.split_once('=')?.0));
        let has_code = names.any(is_of_oauth);
        // `code` is secret only in OAuth.
        let redact_field = |field: &str| match field.split_once('=') {
            Some((name, value)) if is_secret(name) || (has_code && name == "code") => {
                format!("{name}={}", self.secret(value))
            }
            // Some servers also separate fields by semicolons.
            Some((_, value)) if value.contains(';') => {
                let (first, others) = field.split_once(';').unwrap_or((field, ""));
                format!("{};{}", self.form(first, is_secret), self.form(others, is_secret))
            }
            Some((name, value))
                if value.contains("://") || value.to_ascii_uppercase().contains("%3A%2F%2F") =>
            {
                format!("{name}={}", self.nested(value))
            }
            _ => field.to_owned(),
        };
        form.split('&').map(redact_field).collect::<Vec<_>>().join("&")
    }

    /// Redacts a URL in a query. It is secret as a whole if it contains a secret and is encoded.
    fn nested(&self, value: &str) -> String {
        let plain = percent_encoding::percent_decode_str(value).decode_utf8_lossy();
        let safe = self.url(&plain);
        if safe == plain {
            value.to_owned()
        } else if plain == value {
            safe
        } else {
            self.secret(value)
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
        // The token is quoted, so that the text stays valid JSON.
        JSON_NUMBER
            .replace(&text, is_secret_member, |_, number| format!("\"{}\"", self.secret(number)))
    }

    fn xml_fields(&self, text: &str) -> String {
        if !text.contains(['<', '=']) {
            return text.to_owned();
        }
        let mut text = text.to_owned();
        for form in [&XML_ARGUMENT, &XML_NAMED, &XML] {
            text = form.replace(&text, is_secret_member, |_, value| {
                let trimmed = value.trim();
                value.replacen(trimmed, &self.secret(trimmed), 1)
            });
        }
        ATTRIBUTE.replace(&text, is_secret_member, |_, value| self.secret(value))
    }

    /// Redacts texts within the strings of a JSON text, such as a JSON text of its own.
    fn nested_texts(&self, text: &str) -> String {
        if !text.contains('\\') {
            return text.to_owned();
        }
        each(&STRING, text, |all, escaped| {
            if !escaped.contains('\\') {
                return None;
            }
            let inner: String = serde_json::from_str(&all[0]).ok()?;
            let redacted = self.body(&inner);
            (redacted != inner).then(|| serde_json::Value::String(redacted).to_string())
        })
    }

    /// Replaces the credentials at the end of a match.
    fn credentials_at_end(&self, all: &str, value: &str, is_secret: bool) -> Option<String> {
        let start = all.len() - value.len();
        (is_secret && !is_example(value))
            .then(|| format!("{}{}", &all[..start], self.credentials(value)))
    }
}

/// True if the field before a value is secret.
pub(super) fn is_secret_member(name: &str, _: &str) -> bool {
    is_secret_field(name)
}

/// Returns a match with one of its groups replaced.
fn with_value(all: &Captures<'_>, value: regex::Match<'_>, replacement: &str) -> String {
    let start = value.start() - all.get(0).map_or(0, |whole| whole.start());
    format!("{}{replacement}{}", &all[0][..start], &all[0][start + value.len()..])
}

/// Decodes `NAME:PASSWORD` in base64.
fn user_of(credentials: &str) -> Option<String> {
    let plain = STANDARD.decode(credentials).ok()?;
    String::from_utf8(plain).ok().filter(|user| user.contains(':'))
}

/// Replaces each match by the result of `make`, called with the match and its first group.
/// None keeps a match.
pub(super) fn each(
    pattern: &Regex,
    text: &str,
    make: impl Fn(&Captures<'_>, &str) -> Option<String>,
) -> String {
    pattern
        .replace_all(text, |c: &Captures<'_>| make(c, &c[1]).unwrap_or_else(|| c[0].to_owned()))
        .into_owned()
}

fn is_scheme(word: &str) -> bool {
    let schemes = [
        "basic",
        "bearer",
        "digest",
        "dpop",
        "negotiate",
        "ntlm",
        "token",
        "apikey",
        "aws4-hmac-sha256",
        "hawk",
    ];
    schemes.contains(&&*word.to_ascii_lowercase())
}

/// True for placeholders of help and messages: `TOKEN`, `…`, `<token>`, `***`.
fn is_example(value: &str) -> bool {
    let is_name = value.chars().all(|c| c.is_ascii_uppercase() || c == '_') && value.len() > 1;
    is_name || is_placeholder(value) || value.chars().all(|c| "….*<>".contains(c))
}

/// True if a value is not an English word; `basic` and `bearer` also occur in prose.
pub(super) fn looks_random(value: &str) -> bool {
    let value = value.trim_end_matches('.');
    !is_placeholder(value)
        && (value.contains(|c: char| c.is_ascii_digit() || "=._+/~".contains(c))
            || has_capital_inside(value))
}

fn has_capital_inside(value: &str) -> bool {
    value.chars().skip(1).any(|c| c.is_ascii_uppercase())
        && value.chars().any(|c| c.is_ascii_lowercase())
}
