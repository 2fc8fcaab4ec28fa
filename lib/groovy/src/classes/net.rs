//! Classes of `java.net`: addresses and URL encoding. They send nothing.

use super::charset::Charset;
use super::{Class, text_at};
use crate::error::{Eval, illegal, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode, utf8_percent_encode};
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
            let digits =
                escape.get(..2).ok_or_else(|| illegal("URLDecoder: Incomplete trailing escape (%) pattern"))?;
            let byte = digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u8::from_str_radix(digits, 16));
            let byte = byte.and_then(Result::ok).ok_or_else(|| {
                illegal(format!("URLDecoder: Illegal hex characters in escape (%) pattern - `{digits}`"))
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
    let mut texts = Vec::new();
    for argument in arguments {
        texts.push(vm.text(argument)?.to_string());
    }
    let text = match &texts[..] {
        [protocol, host, file] => format!("{protocol}://{host}{file}"),
        [protocol, host, port, file] if port.parse::<i32>().is_ok() => format!("{protocol}://{host}:{port}{file}"),
        [scheme, host, path, fragment] => {
            format!("{scheme}://{host}{path}#{fragment}").trim_end_matches("#null").to_owned()
        }
        [_, relative] => relative.clone(),
        [text, ..] => text.clone(),
        [] => String::new(),
    };
    let is_url = class == "java.net.URL";
    let (protocol, rest) = match text.split_once(':') {
        Some((protocol, rest)) if !protocol.contains('/') => (protocol.to_owned(), rest),
        _ if is_url => return Err(throw("java.net.MalformedURLException", format!("no protocol: {text}"))),
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
    Ok(Value::native(Url { class, protocol, authority, path, query, fragment, text: text.clone() }))
}

impl Url {
    fn host(&self) -> &str {
        let host = self.authority.rsplit('@').next().unwrap_or("");
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(host, _)| host)
    }

    fn port(&self) -> i32 {
        self.authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(-1)
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
            "getProtocol" | "getScheme" => Value::str(&self.protocol),
            "getHost" => Value::str(self.host()),
            "getPort" => Value::Int(self.port()),
            "getDefaultPort" => Value::Int(if self.protocol == "https" { 443 } else { 80 }),
            "getAuthority" => Value::str(&self.authority),
            "getPath" => Value::from(self.decoded(&self.path)),
            "getRawPath" => Value::str(&self.path),
            "getQuery" => Value::optional(self.query.as_deref().map(|query| self.decoded(query))),
            "getRawQuery" => Value::optional(self.query.as_deref()),
            "getRef" | "getFragment" => Value::optional(self.fragment.as_deref()),
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
