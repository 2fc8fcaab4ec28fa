//! Stores the changes of scripts to a request before it is sent.
//!
//! A part is filled in when a script first reads it, and is sent like this. Other parts are filled
//! in when the request is sent. So no function in a text is called twice.
//!
//! Out of scope: the names of the parts in scripts (`languages`).

use crate::texts::encoding::{form_encoded, is_form};
use brunt_model::Body;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Begin of the User-Agent of JMeter's HTTP client. A header field that begins like this
/// is the client's own.
const CLIENT: &str = "Apache-HttpClient/";
const FORM_TYPE: &str = "application/x-www-form-urlencoded; charset=UTF-8";
const PLAIN_TEXT: &str = "text/plain; charset=UTF-8";

/// Source of the request parts that no script has read.
pub trait RequestTexts {
    /// Label of its samples.
    fn label(&self) -> String;
    /// Its method, in upper case.
    fn method(&self) -> String;
    /// Its URL, with all variables filled in.
    fn url(&self) -> String;
    /// Its header fields, in order.
    fn headers(&self) -> Vec<(String, String)>;
    /// Its body, filled in.
    fn body(&self) -> Body;
    /// True if it has a body.
    fn has_body(&self) -> bool;
    /// Content type in the plan; empty: none.
    fn content_type(&self) -> String;
}

/// A part of the address or another text of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    /// `http` or `https`.
    Protocol,
    /// Name of the server.
    Domain,
    /// Port in the plan; empty: that of the protocol.
    Port,
    /// Path, without the query arguments.
    Path,
    /// Method, such as `GET`.
    Method,
    /// Label of its samples.
    Name,
}

/// An argument of a query or form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestArgument {
    /// Empty for a piece of a body that is no form.
    pub name: String,
    /// Its decoded value.
    pub value: String,
    /// True if name and value are encoded when they are sent. Otherwise they are sent unchanged.
    pub encode: bool,
    /// True if an empty value has no equals sign before it.
    pub is_bare: bool,
}

/// The parts of the next request that scripts have read or changed.
#[derive(Debug, Default)]
pub struct PendingRequest {
    label: OnceCell<String>,
    method: OnceCell<String>,
    url: OnceCell<String>,
    address: OnceCell<Address>,
    content: OnceCell<Content>,
    headers: OnceCell<Headers>,
}

/// All parts of a request, with their final texts.
#[derive(Debug, PartialEq, Eq)]
pub struct SentParts<'t> {
    pub label: Cow<'t, str>,
    pub method: String,
    pub url: Cow<'t, str>,
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

#[derive(Debug, Default)]
struct Address {
    protocol: String,
    domain: String,
    port: String,
    path: String,
}

#[derive(Debug, Default)]
struct Content {
    arguments: Vec<RequestArgument>,
    is_raw: bool,
    /// A body that is no text, or has several parts, in place of arguments.
    other: Option<Body>,
}

/// Header fields of the plan, and those that the client adds.
#[derive(Debug, Default)]
struct Headers {
    shown: Vec<(String, String)>,
    hidden: Vec<(String, String)>,
}

impl PendingRequest {
    /// True if a script has read or changed a part.
    pub fn was_read(&self) -> bool {
        let Self { label, method, url, address, content, headers } = self;
        let texts = [label, method, url];
        texts.iter().any(|text| text.get().is_some())
            || address.get().is_some()
            || content.get().is_some()
            || headers.get().is_some()
    }

    /// Returns a part of the request.
    pub fn part(&self, part: RequestPart, texts: &dyn RequestTexts) -> &str {
        match part {
            RequestPart::Protocol => &self.address(texts).protocol,
            RequestPart::Domain => &self.address(texts).domain,
            RequestPart::Port => &self.address(texts).port,
            RequestPart::Path => &self.address(texts).path,
            RequestPart::Method => self.method.get_or_init(|| texts.method()),
            RequestPart::Name => self.label.get_or_init(|| texts.label()),
        }
    }

    /// Changes a part. A path with a query adds its arguments, if the method sends them in the URL.
    pub fn set_part(&mut self, part: RequestPart, value: &str, texts: &dyn RequestTexts) {
        // The source of the arguments depends on the previous method.
        if part == RequestPart::Method {
            self.content(texts);
            self.address(texts);
            self.method = OnceCell::from(value.trim().to_ascii_uppercase());
            return;
        }
        if part == RequestPart::Name {
            self.label = OnceCell::from(value.to_owned());
            return;
        }
        let in_url = matches!(self.part(RequestPart::Method, texts), "GET" | "DELETE");
        // A path may be a whole URL, as in JMeter. Then it replaces all parts of the address.
        let is_whole = part == RequestPart::Path && has_scheme(value);
        let query =
            value.split_once('?').filter(|_| part == RequestPart::Path && in_url && !is_whole);
        if let Some((_, query)) = query {
            let arguments = arguments_of(query);
            self.change_content(texts, |content| content.arguments.extend(arguments));
        }
        let value = query.map_or(value, |(path, _)| path);
        self.address(texts);
        // `self.address` above has filled the cell, so this always succeeds.
        let Some(address) = self.address.get_mut() else { return };
        match part {
            RequestPart::Path if is_whole => *address = Address::parse(value),
            RequestPart::Path => value.clone_into(&mut address.path),
            RequestPart::Protocol => value.clone_into(&mut address.protocol),
            RequestPart::Domain => value.clone_into(&mut address.domain),
            _ => value.clone_into(&mut address.port),
        }
    }

    /// Returns the arguments, in order. A body that is no form is one argument without a name.
    pub fn arguments(&self, texts: &dyn RequestTexts) -> &[RequestArgument] {
        &self.content(texts).arguments
    }

    /// True if it can have arguments: its body is no binary and has one part.
    pub fn takes_arguments(&self, texts: &dyn RequestTexts) -> bool {
        self.content(texts).other.is_none()
    }

    /// Replaces all arguments of the request.
    pub fn set_arguments(&mut self, arguments: Vec<RequestArgument>, texts: &dyn RequestTexts) {
        self.change_content(texts, |content| {
            content.arguments = arguments;
            content.other = None;
        });
    }

    /// True if arguments are pieces of a body that is no form.
    pub fn is_raw(&self, texts: &dyn RequestTexts) -> bool {
        self.content(texts).is_raw
    }

    /// Sets whether arguments are pieces of a body that is no form.
    pub fn set_raw(&mut self, is_raw: bool, texts: &dyn RequestTexts) {
        self.change_content(texts, |content| content.is_raw = is_raw);
    }

    /// Returns the header fields, without those that the client adds.
    pub fn headers(&self, texts: &dyn RequestTexts) -> &[(String, String)] {
        &self.all_headers(texts).shown
    }

    /// Replaces the header fields.
    pub fn set_headers(&mut self, headers: Vec<(String, String)>, texts: &dyn RequestTexts) {
        self.all_headers(texts);
        if let Some(all) = self.headers.get_mut() {
            all.shown = headers;
        }
    }

    /// Returns the URL as it would be sent now.
    pub fn whole_url(&self, texts: &dyn RequestTexts) -> String {
        let query =
            if self.sends_body(texts) { String::new() } else { query_of(self.arguments(texts)) };
        self.address(texts).with(&query)
    }

    /// Returns the final parts of the request.
    pub fn finish(self, texts: &dyn RequestTexts) -> SentParts<'static> {
        let is_url_read = self.url.get().is_some() || self.address.get().is_some();
        let is_content_read = self.content.get().is_some();
        let takes_query = takes_query(texts);
        // The plan's URL is used unless a script has read a part of it.
        let url = if is_url_read || is_content_read && takes_query {
            self.whole_url(texts)
        } else {
            texts.url()
        };
        let (body, media_type) = match () {
            () if is_content_read && self.sends_body(texts) => self.content(texts).body(),
            () if is_content_read => (Body::None, None),
            () => (texts.body(), None),
        };
        let Headers { mut shown, hidden } = match self.headers.into_inner() {
            Some(headers) => headers,
            None => Headers::split(texts.headers()),
        };
        for (name, value) in hidden {
            // The old type does not fit content that a script has read or changed.
            let is_old_type = is_content_read && name.eq_ignore_ascii_case("content-type");
            if !is_old_type && !has_field(&shown, &name) {
                shown.push((name, value));
            }
        }
        if let Some(media_type) = media_type.filter(|_| !has_field(&shown, "content-type")) {
            shown.push(("Content-Type".into(), media_type.into()));
        }
        SentParts {
            label: self.label.into_inner().unwrap_or_else(|| texts.label()).into(),
            method: self.method.into_inner().unwrap_or_else(|| texts.method()),
            url: url.into(),
            headers: shown,
            body,
        }
    }

    fn address(&self, texts: &dyn RequestTexts) -> &Address {
        self.address.get_or_init(|| {
            let url = self.url.get_or_init(|| texts.url());
            // Arguments of a query are part of the content. Any other query stays in the path.
            let path =
                if takes_query(texts) { url.split('?').next().unwrap_or_default() } else { url };
            Address::parse(path)
        })
    }

    fn content(&self, texts: &dyn RequestTexts) -> &Content {
        self.content.get_or_init(|| {
            if takes_query(texts) {
                let url = self.url.get_or_init(|| texts.url());
                let arguments =
                    url.split_once('?').map_or_else(Vec::new, |(_, query)| arguments_of(query));
                return Content { arguments, ..Content::default() };
            }
            let kind = texts.content_type();
            match texts.body() {
                Body::None => Content::default(),
                Body::Text(text) if is_form(&kind) => {
                    Content { arguments: arguments_of(&text), ..Content::default() }
                }
                Body::Text(value) if !kind.trim_start().starts_with("multipart/") => {
                    let arguments = vec![RequestArgument {
                        value: (*value).clone(),
                        ..RequestArgument::default()
                    }];
                    Content { arguments, is_raw: true, other: None }
                }
                other => Content { other: Some(other), ..Content::default() },
            }
        })
    }

    fn change_content(&mut self, texts: &dyn RequestTexts, change: impl FnOnce(&mut Content)) {
        self.content(texts);
        if let Some(content) = self.content.get_mut() {
            change(content);
        }
    }

    fn all_headers(&self, texts: &dyn RequestTexts) -> &Headers {
        self.headers.get_or_init(|| Headers::split(texts.headers()))
    }

    /// True if the arguments are sent in the body.
    fn sends_body(&self, texts: &dyn RequestTexts) -> bool {
        let content = self.content(texts);
        content.other.is_some()
            || content.is_raw
            || !sends_query(self.part(RequestPart::Method, texts))
    }
}

/// True if the original arguments of a request are in its URL.
fn takes_query(texts: &dyn RequestTexts) -> bool {
    !texts.has_body() && sends_query(&texts.method())
}

/// True if a method sends its arguments in the URL.
fn sends_query(method: &str) -> bool {
    matches!(method, "GET" | "DELETE" | "OPTIONS" | "HEAD" | "TRACE")
}

fn has_scheme(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn has_field(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|header| header.0.eq_ignore_ascii_case(name))
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Address {
    fn parse(url: &str) -> Self {
        // The URL need not be valid: a script may complete it.
        let (protocol, rest) = url.split_once("://").unwrap_or(("http", url));
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (domain, port) =
            authority.rsplit_once(':').filter(|(_, port)| is_port(port)).unwrap_or((authority, ""));
        let [protocol, domain, port, path] = [protocol, domain, port, path].map(str::to_owned);
        Self { protocol, domain, port, path }
    }

    fn with(&self, query: &str) -> String {
        let Self { protocol, domain, port, path } = self;
        let protocol = if protocol.is_empty() { "http" } else { protocol };
        let port = if matches!(port.trim(), "" | "0") {
            String::new()
        } else {
            format!(":{}", port.trim())
        };
        let slash = if path.starts_with(['/', '?']) || path.is_empty() { "" } else { "/" };
        let mark = match query {
            "" => "",
            _ if path.contains('?') => "&",
            _ => "?",
        };
        format!("{protocol}://{domain}{port}{slash}{}{mark}{query}", path.replace(' ', "%20"))
    }
}

impl Content {
    /// Returns the body, and its media type if no header field specifies it.
    fn body(&self) -> (Body, Option<&'static str>) {
        if let Some(other) = &self.other {
            return (other.clone(), None);
        }
        let arguments = &self.arguments;
        // Arguments without names are pieces of one text.
        if self.is_raw
            || !arguments.is_empty() && arguments.iter().all(|argument| argument.name.is_empty())
        {
            let text: String = arguments.iter().map(|argument| argument.value.as_str()).collect();
            return (Body::from_text(text), Some(PLAIN_TEXT));
        }
        (Body::from_text(query_of(arguments)), Some(FORM_TYPE))
    }
}

impl Headers {
    /// Separates the fields of the plan from those that the client adds.
    fn split(all: Vec<(String, String)>) -> Self {
        let (hidden, shown) =
            all.into_iter().partition(|(name, value)| match name.to_ascii_lowercase().as_str() {
                "connection" => true,
                "user-agent" => value.starts_with(CLIENT),
                "content-type" => value == PLAIN_TEXT || value == FORM_TYPE,
                _ => false,
            });
        Self { shown, hidden }
    }
}

/// Parses the arguments of a query or form.
fn arguments_of(text: &str) -> Vec<RequestArgument> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(parse_argument).collect()
}

fn parse_argument(pair: &str) -> RequestArgument {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let plain_name = decode(name);
    let plain_value = decode(value);
    // Text that would be encoded differently is sent unchanged.
    let encode = form_encoded(&plain_name) == name
        && form_encoded(&plain_value) == value
        && pair.contains('=');
    let is_bare = !pair.contains('=');
    if encode {
        RequestArgument { name: plain_name, value: plain_value, encode, is_bare }
    } else {
        RequestArgument { name: name.to_owned(), value: value.to_owned(), encode, is_bare }
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// Formats arguments as a query or form. Arguments without a name are omitted.
fn query_of(arguments: &[RequestArgument]) -> String {
    let named_arguments = arguments.iter().filter(|argument| !argument.name.is_empty());
    let pairs = named_arguments.map(|RequestArgument { name, value, encode, is_bare }| {
        match (encode, is_bare) {
            (true, _) => format!("{}={}", form_encoded(name), form_encoded(value)),
            (false, true) if value.is_empty() => name.clone(),
            (false, _) => format!("{name}={value}"),
        }
    });
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A request that counts how often its URL is filled in.
    #[derive(Default)]
    struct Texts {
        method: &'static str,
        body: Body,
        kind: &'static str,
        filled: Cell<u32>,
    }

    impl RequestTexts for Texts {
        fn label(&self) -> String {
            "label".into()
        }
        fn method(&self) -> String {
            self.method.into()
        }
        fn url(&self) -> String {
            self.filled.set(self.filled.get() + 1);
            "http://h:8080/a?x=1&y=a+b".into()
        }
        fn headers(&self) -> Vec<(String, String)> {
            let own = [("X", "1"), ("Content-Type", self.kind), ("Connection", "keep-alive")];
            own.iter()
                .filter(|own| !own.1.is_empty())
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect()
        }
        fn body(&self) -> Body {
            self.body.clone()
        }
        fn has_body(&self) -> bool {
            self.body != Body::None
        }
        fn content_type(&self) -> String {
            self.kind.into()
        }
    }

    fn get() -> Texts {
        Texts { method: "GET", ..Texts::default() }
    }

    fn named(name: &str, value: &str) -> RequestArgument {
        RequestArgument { name: name.into(), value: value.into(), encode: true, is_bare: false }
    }

    fn url(change: impl FnOnce(&mut PendingRequest, &Texts)) -> String {
        let texts = get();
        let mut pending = PendingRequest::default();
        change(&mut pending, &texts);
        let url = pending.finish(&texts).url;
        assert_eq!(texts.filled.get(), 1, "the URL is filled in once");
        url.into_owned()
    }

    #[test]
    fn parts_of_a_url_are_changed_separately() {
        assert_eq!(url(|_, _| ()), "http://h:8080/a?x=1&y=a+b");
        assert_eq!(
            url(|one, texts| one.set_part(RequestPart::Path, "b c", texts)),
            "http://h:8080/b%20c?x=1&y=a+b"
        );
        assert_eq!(
            url(|one, texts| one.set_part(RequestPart::Path, "/b?z=2", texts)),
            "http://h:8080/b?x=1&y=a+b&z=2"
        );
        assert_eq!(
            url(|one, texts| one.set_part(RequestPart::Domain, "other", texts)),
            "http://other:8080/a?x=1&y=a+b"
        );
        assert_eq!(
            url(|one, texts| one.set_part(RequestPart::Port, "0", texts)),
            "http://h/a?x=1&y=a+b"
        );
        let whole = url(|one, texts| one.set_part(RequestPart::Path, "https://z/q", texts));
        assert_eq!(whole, "https://z/q?x=1&y=a+b");
        let argument = url(|one, texts| {
            let mut all = one.arguments(texts).to_vec();
            assert_eq!(all, [named("x", "1"), named("y", "a b")]);
            all.remove(0);
            all.push(named("n", "ü&"));
            one.set_arguments(all, texts);
        });
        assert_eq!(argument, "http://h:8080/a?y=a+b&n=%C3%BC%26");
    }

    #[test]
    fn a_method_takes_arguments_into_the_body() {
        let texts = get();
        let mut pending = PendingRequest::default();
        pending.set_part(RequestPart::Method, "post", &texts);
        pending.set_part(RequestPart::Name, "new", &texts);
        let SentParts { label, method, url, headers, body } = pending.finish(&texts);
        assert_eq!((&*label, method.as_str(), &*url), ("new", "POST", "http://h:8080/a"));
        assert_eq!(body, Body::Text("x=1&y=a+b".into()));
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(
            headers,
            ["X: 1", "Connection: keep-alive", &format!("Content-Type: {FORM_TYPE}")]
        );
    }

    #[test]
    fn a_body_may_be_another_text() {
        let texts =
            Texts { method: "POST", body: Body::Text("old".into()), kind: PLAIN_TEXT, ..get() };
        let mut pending = PendingRequest::default();
        assert_eq!(
            (pending.arguments(&texts)[0].value.as_str(), pending.is_raw(&texts)),
            ("old", true)
        );
        pending.set_arguments(
            vec![RequestArgument { value: "{}".into(), ..RequestArgument::default() }],
            &texts,
        );
        pending.set_headers(vec![("Content-Type".into(), "application/json".into())], &texts);
        let parts = pending.finish(&texts);
        assert_eq!(
            (parts.body, &*parts.url),
            (Body::Text("{}".into()), "http://h:8080/a?x=1&y=a+b")
        );
        let types: Vec<_> = parts.headers.iter().map(|header| header.1.as_str()).collect();
        assert_eq!(types, ["application/json", "keep-alive"]);
    }

    #[test]
    fn a_form_keeps_values_that_no_script_changes() {
        let texts = Texts {
            method: "POST",
            body: Body::Text("a=%2f&b=2".into()),
            kind: FORM_TYPE,
            ..get()
        };
        let mut pending = PendingRequest::default();
        let mut all = pending.arguments(&texts).to_vec();
        all.push(named("c", " "));
        pending.set_arguments(all, &texts);
        assert_eq!(pending.finish(&texts).body, Body::Text("a=%2f&b=2&c=+".into()));
        let multipart = Texts {
            method: "POST",
            body: Body::Text("--x".into()),
            kind: "multipart/form-data",
            ..get()
        };
        let pending = PendingRequest::default();
        assert!(pending.arguments(&multipart).is_empty());
        assert_eq!(pending.finish(&multipart).body, Body::Text("--x".into()));
    }
}
