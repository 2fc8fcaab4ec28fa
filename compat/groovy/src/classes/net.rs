//! Classes of `java.net`: addresses and URL encoding. They send nothing.

use super::charset::Charset;
use super::{Class, text_at};
use crate::error::{Eval, illegal, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, percent_encode, utf8_percent_encode,
};
use std::any::Any;
use std::borrow::Cow;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.net.URLEncoder", encoder),
    Class::with_static("java.net.URLDecoder", decoder),
    Class::with_constructor("java.net.URL", make_url),
    Class::with_constructor("java.net.URI", make_url).and_call(uri_static),
];

/// Characters that `URLEncoder` leaves unchanged, in addition to letters and digits.
const UNENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'*');

/// True for a character that `URLEncoder` leaves unchanged, and for a space, which it replaces.
fn is_unencoded(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '*' | ' ')
}

/// `URLEncoder.encode`
pub(crate) fn url_encode(text: &str) -> String {
    utf8_percent_encode(text, UNENCODED).to_string().replace("%20", "+")
}

/// `URLDecoder.decode`
pub(crate) fn url_decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

fn encoder(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "encode" {
        return Ok(None);
    }
    let text = text_at(vm, arguments, 0)?;
    let charset = Charset::of_optional(vm, arguments.get(1))?;
    let mut encoded = String::new();
    // Java passes each run of such characters to the character set as a whole.
    for run in text.split_inclusive(is_unencoded) {
        let tail = run.chars().next_back().filter(|letter| is_unencoded(*letter));
        let special = &run[..run.len() - tail.map_or(0, char::len_utf8)];
        if !special.is_empty() {
            encoded.extend(percent_encode(&charset.encode(special), NON_ALPHANUMERIC));
        }
        encoded.extend(tail.map(|letter| if letter == ' ' { '+' } else { letter }));
    }
    vm.string(encoded).map(Some)
}

fn decoder(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "decode" {
        return Ok(None);
    }
    let text = text_at(vm, arguments, 0)?;
    let charset = Charset::of_optional(vm, arguments.get(1))?;
    let mut decoded = String::new();
    let plain = text.replace('+', " ");
    let mut rest = &plain[..];
    while let Some(begin) = rest.find('%') {
        decoded.push_str(&rest[..begin]);
        let mut bytes = Vec::new();
        let mut tail = &rest[begin..];
        while let Some(escape) = tail.strip_prefix('%') {
            let digits = escape
                .get(..2)
                .ok_or_else(|| illegal("URLDecoder: Incomplete trailing escape (%) pattern"))?;
            let byte = digits
                .bytes()
                .all(|digit| digit.is_ascii_hexdigit())
                .then(|| u8::from_str_radix(digits, 16));
            let byte = byte.and_then(Result::ok).ok_or_else(|| {
                illegal(format!(
                    "URLDecoder: Illegal hex characters in escape (%) pattern - `{digits}`"
                ))
            })?;
            bytes.push(byte);
            tail = &escape[2..];
        }
        decoded.push_str(&charset.decode(&bytes));
        rest = tail;
    }
    vm.string(decoded + rest).map(Some)
}

fn uri_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name == "create" { make_url(vm, "java.net.URI", arguments).map(Some) } else { Ok(None) }
}

/// A parsed URL or URI.
struct Url {
    class: &'static str,
    text: String,
    protocol: String,
    authority: String,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

/// `new URL(text)`, `new URL(protocol, host, [port,] file)`
pub(crate) fn make_url(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let is_url = class == "java.net.URL";
    let mut parts = Vec::new();
    for argument in arguments {
        parts.push(if argument.is_null() { None } else { Some(vm.text(argument)?.to_string()) });
    }
    let text = if let (false, Some(text)) = (is_url, join_parts(&parts)) {
        text
    } else {
        let texts: Vec<String> =
            parts.into_iter().map(|part| part.unwrap_or_else(|| "null".to_owned())).collect();
        match &texts[..] {
            [protocol, host, rest @ .., file] if matches!(rest, [] | [_]) => {
                let host = if host.contains(':') && !host.starts_with('[') {
                    format!("[{host}]")
                } else {
                    host.clone()
                };
                let port = rest
                    .first()
                    .filter(|port| *port != "-1")
                    .map_or_else(String::new, |port| format!(":{port}"));
                format!("{protocol}://{host}{port}{file}")
            }
            [_, relative] => relative.clone(),
            [text, ..] => text.clone(),
            [] => String::new(),
        }
    };
    let (protocol, rest) = match text.split_once(':') {
        Some((protocol, rest)) if !protocol.contains('/') => (protocol.to_owned(), rest),
        _ if is_url => {
            return Err(throw("java.net.MalformedURLException", format!("no protocol: {text}")));
        }
        _ => (String::new(), text.as_str()),
    };
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment.to_owned())),
        None => (rest, None),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query.to_owned())),
        None => (rest, None),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (rest[..end].to_owned(), rest[end..].to_owned())
        }
        None => (String::new(), rest.to_owned()),
    };
    let class = if is_url { "java.net.URL" } else { "java.net.URI" };
    let url = Url { class, protocol, authority, path, query, fragment, text: text.clone() };
    if let (true, Some(port)) = (is_url, url.authority_parts().2)
        && !port.is_empty()
        && port.parse::<i32>().is_err()
    {
        return Err(throw(
            "java.net.MalformedURLException",
            format!("invalid port `{port}` in {text}"),
        ));
    }
    if let Some(index) = text.find(|letter| " \"<>\\^`{|}".contains(letter)).filter(|_| !is_url) {
        return Err(throw(
            "java.net.URISyntaxException",
            format!("Illegal character at index {index}: {text}"),
        ));
    }
    Ok(Value::native(url))
}

/// Characters that the constructors of `URI` with several parts escape, besides those beyond ASCII.
const ILLEGAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// An escaped part of a URI after its separator; empty if the part is null.
fn prefixed(separator: &str, part: Option<&String>) -> String {
    part.map_or_else(String::new, |part| {
        format!("{separator}{}", utf8_percent_encode(part, ILLEGAL))
    })
}

/// Text of a URI of escaped parts; `None` for another number of parts.
fn join_parts(parts: &[Option<String>]) -> Option<String> {
    let (scheme, rest) = parts.split_first()?;
    let rest: Vec<Option<&String>> = rest.iter().map(Option::as_ref).collect();
    let scheme = scheme.as_ref().map_or_else(String::new, |scheme| format!("{scheme}:"));
    Some(match rest[..] {
        [specific, fragment] => {
            format!("{scheme}{}{}", prefixed("", specific), prefixed("#", fragment))
        }
        [host, path, fragment] => {
            format!(
                "{scheme}{}{}{}",
                prefixed("//", host),
                prefixed("", path),
                prefixed("#", fragment)
            )
        }
        [authority, path, query, fragment] => format!(
            "{scheme}{}{}{}{}",
            prefixed("//", authority),
            prefixed("", path),
            prefixed("?", query),
            prefixed("#", fragment)
        ),
        [user, host, port, path, query, fragment] => {
            let user = user.map_or_else(String::new, |user| {
                format!("{}@", utf8_percent_encode(user, ILLEGAL))
            });
            let port = port
                .filter(|port| *port != "-1")
                .map_or_else(String::new, |port| format!(":{port}"));
            format!(
                "{scheme}{}{}{}{}",
                host.map_or_else(String::new, |host| format!("//{user}{host}{port}")),
                prefixed("", path),
                prefixed("?", query),
                prefixed("#", fragment)
            )
        }
        _ => return None,
    })
}

impl Url {
    /// User information, host and port of the authority.
    fn authority_parts(&self) -> (Option<&str>, &str, Option<&str>) {
        let (user, address) = match self.authority.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, &*self.authority),
        };
        // The address of IPv6 itself has colons.
        let begin = address.rfind(']').unwrap_or(0);
        match address[begin..].find(':') {
            Some(colon) => (user, &address[..begin + colon], Some(&address[begin + colon + 1..])),
            None => (user, address, None),
        }
    }

    /// True if the authority is a server's. That of a `URI` may be any name, without a host and a port.
    fn has_server(&self) -> bool {
        let (_, host, port) = self.authority_parts();
        self.class == "java.net.URL"
            || !host.is_empty()
                && (host.starts_with('[')
                    || host.chars().all(|letter| {
                        letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.')
                    }))
                && port.is_none_or(|port| port.bytes().all(|digit| digit.is_ascii_digit()))
    }

    fn host(&self) -> Option<&str> {
        self.has_server().then(|| self.authority_parts().1)
    }

    fn port(&self) -> i32 {
        let port = self.authority_parts().2.filter(|_| self.has_server());
        port.and_then(|port| port.parse().ok()).unwrap_or(-1)
    }

    fn user(&self) -> Option<&str> {
        self.authority_parts().0.filter(|_| self.has_server())
    }

    /// Decodes the text of a part. Only `URI` decodes; `URL` returns parts unchanged.
    fn decoded(&self, text: &str) -> String {
        let decoded: Cow<'_, str> = percent_decode_str(text).decode_utf8_lossy();
        if self.class == "java.net.URI" { decoded.into_owned() } else { text.to_owned() }
    }
}

impl Native for Url {
    fn class_name(&self) -> &str {
        self.class
    }

    fn call(&self, vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "getProtocol" => Value::str(&self.protocol),
            "getScheme" => {
                Value::optional(Some(&*self.protocol).filter(|scheme| !scheme.is_empty()))
            }
            "getHost" => Value::optional(self.host()),
            "getPort" => Value::Int(self.port()),
            "getUserInfo" | "getRawUserInfo" => Value::optional(self.user()),
            "getDefaultPort" => Value::Int(match &*self.protocol.to_ascii_lowercase() {
                "http" => 80,
                "https" => 443,
                "ftp" => 21,
                _ => -1,
            }),
            "getAuthority" | "getRawAuthority"
                if self.authority.is_empty() && self.class == "java.net.URI" =>
            {
                Value::Null
            }
            "getAuthority" | "getRawAuthority" => Value::str(&self.authority),
            "getSchemeSpecificPart" | "getRawSchemeSpecificPart" => {
                let text = self.text.split_once('#').map_or(&*self.text, |(text, _)| text);
                let part = text
                    .strip_prefix(&*self.protocol)
                    .and_then(|rest| rest.strip_prefix(':'))
                    .unwrap_or(text);
                Value::from(if name.contains("Raw") { part.to_owned() } else { self.decoded(part) })
            }
            "getPath" => Value::from(self.decoded(&self.path)),
            "getRawPath" => Value::str(&self.path),
            "getQuery" => Value::optional(self.query.as_deref().map(|query| self.decoded(query))),
            "getRawQuery" => Value::optional(self.query.as_deref()),
            "getRef" | "getRawFragment" => Value::optional(self.fragment.as_deref()),
            "getFragment" => {
                Value::optional(self.fragment.as_deref().map(|fragment| self.decoded(fragment)))
            }
            "getFile" => match &self.query {
                Some(query) => Value::from(format!("{}?{query}", self.path)),
                None => Value::str(&self.path),
            },
            "toExternalForm" | "toASCIIString" => Value::str(&self.text),
            "toURI" | "toURL" => {
                let class = if name == "toURI" { "java.net.URI" } else { "java.net.URL" };
                make_url(vm, class, &[Value::str(&self.text)])?
            }
            "openConnection" | "openStream" | "getText" => {
                return Err(throw(
                    "java.io.IOException",
                    "scripts may not open connections; use an HTTP request instead",
                ));
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.text.clone()))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::str(&self.text))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
