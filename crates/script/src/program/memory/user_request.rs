//! A request, and the requests that follow from its reply.

use super::{Fields, value};
use crate::program::user::WorkerScript;
use brunt_engine::UserStep;
use brunt_model::Body;
use brunt_wire::Transport;
use brunt_wire::request::{RequestParts, Tags};
use std::rc::Rc;
use url::{Position, Url};

/// A request of the scenario, or one that follows from a reply.
#[derive(Debug, Clone)]
pub struct UserRequest {
    /// The request without the fields that follow from earlier replies.
    pub parts: Rc<RequestParts>,
    /// URL of its reply: its own, or that of the last redirect.
    pub url: Rc<Url>,
    pub tags: Tags,
    /// Index in the list of requests. None: not in the list.
    pub entry: Option<usize>,
    /// Number of redirects before this request.
    pub hops: u32,
    /// Number of earlier attempts.
    pub repeats: u32,
    /// True if it requests an element of a page.
    pub is_element: bool,
}

impl UserRequest {
    /// Creates a request of the list.
    pub fn from_list(parts: Rc<RequestParts>, tags: Tags) -> Self {
        Self {
            url: Rc::clone(&parts.url),
            parts,
            tags,
            entry: None,
            hops: 0,
            repeats: 0,
            is_element: false,
        }
    }

    /// Creates another request with the tags of this one.
    fn to(&self, parts: RequestParts) -> Self {
        Self { url: Rc::clone(&parts.url), parts: Rc::new(parts), entry: None, ..self.clone() }
    }

    /// Sets the label of a request that is not in the list.
    pub fn with_label<T: Transport>(self, worker_script: &WorkerScript<T>) -> Self {
        let label = match self.parts.method.as_str() {
            "GET" => worker_script.number_of(self.parts.url.as_str()),
            method => worker_script.number_of(&format!("{method} {}", self.parts.url)),
        };
        Self { tags: Tags { label, ..self.tags }, ..self }
    }

    /// Repeats the request, with credentials if some are known.
    pub fn again(&self) -> Self {
        Self { repeats: self.repeats + 1, ..self.clone() }
    }

    /// Returns the request to which a reply redirects. 307 keeps method and body; other
    /// redirects become a GET.
    pub fn redirected(&self, status: u16, from: &Url, fields: &Fields) -> Option<Self> {
        if !matches!(status, 301 | 302 | 303 | 307) {
            return None;
        }
        let url = from
            .join(value(fields, "location")?)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let parts = if status == 307 {
            redirected_parts(&self.parts, url)
        } else {
            get_parts(&self.parts, url)
        };
        Some(Self { hops: self.hops + 1, repeats: 0, ..self.to(parts) })
    }

    /// Returns the request for an element of this page.
    pub fn element(&self, url: Url) -> Self {
        // An element begins a redirect chain of its own.
        Self { hops: 0, repeats: 0, is_element: true, ..self.to(get_parts(&self.parts, url)) }
    }

    /// Returns the step of this request, with further header fields.
    pub fn step<T: Transport>(&self, transport: &T, extra: &Fields) -> UserStep {
        let parts = if extra.is_empty() {
            Rc::clone(&self.parts)
        } else {
            Rc::new(with_extra(&self.parts, extra))
        };
        match transport.prepare_parts(parts, self.tags) {
            Ok(prepared) => UserStep::Request(Rc::new(prepared)),
            Err(why) => UserStep::Broken(why.to_string()),
        }
    }
}

/// Adds header fields to a request, after the field Host if that is the first.
fn with_extra(parts: &RequestParts, extra: &Fields) -> RequestParts {
    // Cookies and credentials in `extra` replace those of the request.
    let begins_with_host =
        parts.headers.first().is_some_and(|field| field.0.eq_ignore_ascii_case("host"));
    let (host, rest) = parts.headers.split_at(usize::from(begins_with_host));
    let headers = host
        .iter()
        .chain(extra)
        .chain(rest.iter().filter(|field| !is_replaced(&field.0, extra)))
        .cloned()
        .collect();
    let verbatim = parts.verbatim.as_ref().map(|bytes| with_fields(bytes, extra));
    let RequestParts { method, url, body, .. } = parts;
    RequestParts {
        method: method.clone(),
        url: Rc::clone(url),
        headers,
        body: body.clone(),
        verbatim,
        awaited: parts.awaited.clone(),
    }
}

/// True if a header field of a request is replaced by one of `extra`.
fn is_replaced(name: &str, extra: &Fields) -> bool {
    ["cookie", "authorization"].contains(&&*name.to_ascii_lowercase())
        && value(extra, name).is_some()
}

/// Returns the same request to another URL.
fn redirected_parts(parts: &RequestParts, url: Url) -> RequestParts {
    let mut headers = parts.headers.clone();
    let host = url[Position::BeforeHost..Position::AfterPort].to_owned();
    headers
        .iter_mut()
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .for_each(|(_, value)| value.clone_from(&host));
    RequestParts { url: Rc::new(url), headers, verbatim: None, ..parts.clone() }
}

/// Returns a GET of another URL, with the same header fields except those of a body.
fn get_parts(parts: &RequestParts, url: Url) -> RequestParts {
    let mut parts = redirected_parts(parts, url);
    parts.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
    RequestParts { method: "GET".into(), body: Body::None, ..parts }
}

/// Adds header fields to the bytes of a request, after the field Host if that is the first.
fn with_fields(bytes: &[u8], extra: &Fields) -> Vec<u8> {
    let mut position = line_end(bytes, 0);
    if bytes.get(position..position + 5).is_some_and(|name| name.eq_ignore_ascii_case(b"host:")) {
        position = line_end(bytes, position);
    }
    let lines: Vec<String> =
        extra.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    [&bytes[..position], lines.concat().as_bytes(), &bytes[position..]].concat()
}

/// Returns the index after the line that contains `from`.
fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |offset| from + offset + 1)
}
