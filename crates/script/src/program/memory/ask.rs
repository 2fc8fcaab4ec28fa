//! One request that is to be made, and those that follow from its reply.

use super::{Fields, value};
use crate::program::user::WorkerScript;
use brunt_engine::Step;
use brunt_model::Body;
use brunt_wire::Transport;
use brunt_wire::request::{RequestParts, Tags};
use std::rc::Rc;
use url::{Position, Url};

/// One request that is to be made.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is sent, without the fields that follow from earlier replies.
    pub parts: Rc<RequestParts>,
    /// Where its reply comes from: its own URL, or that of the last redirect.
    pub url: Rc<Url>,
    pub tags: Tags,
    /// Which of the list it is.
    pub entry: Option<usize>,
    /// Redirects that led here.
    pub hops: u32,
    /// How often it was repeated.
    pub repeats: u32,
    /// A page led here.
    pub is_element: bool,
}

impl Ask {
    /// A request of a list.
    pub fn listed(parts: Rc<RequestParts>, tags: Tags) -> Self {
        Self { url: Rc::clone(&parts.url), parts, tags, entry: None, hops: 0, repeats: 0, is_element: false }
    }

    /// Another request.
    fn to(&self, parts: RequestParts) -> Self {
        Self { url: Rc::clone(&parts.url), parts: Rc::new(parts), entry: None, ..self.clone() }
    }

    /// The same with the label of a request that is in no list.
    pub fn labelled<T: Transport>(self, worker_script: &WorkerScript<T>) -> Self {
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

    /// Where a reply redirects to: 307 with the same method and body, the others as a GET.
    pub fn redirected(&self, status: u16, from: &Url, fields: &Fields) -> Option<Self> {
        if !matches!(status, 301 | 302 | 303 | 307) {
            return None;
        }
        let url = from.join(value(fields, "location")?).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let parts = if status == 307 { led(&self.parts, url) } else { get(&self.parts, url) };
        Some(Self { hops: self.hops + 1, repeats: 0, ..self.to(parts) })
    }

    /// Something that the page of this request is made of.
    pub fn element(&self, url: Url) -> Self {
        Self { hops: 0, repeats: 0, is_element: true, ..self.to(get(&self.parts, url)) }
    }

    /// The step of asking it, with further header fields.
    pub fn step<T: Transport>(&self, transport: &T, extra: &Fields) -> Step {
        let parts = if extra.is_empty() { Rc::clone(&self.parts) } else { Rc::new(with_extra(&self.parts, extra)) };
        match transport.prepare_parts(parts, self.tags) {
            Ok(prepared) => Step::Request(Rc::new(prepared)),
            Err(why) => Step::Broken(why.to_string()),
        }
    }
}

/// The same request with further header fields, behind the field Host where that is the first.
fn with_extra(parts: &RequestParts, extra: &Fields) -> RequestParts {
    // Cookies and credentials among the further fields take the place of those that the request gives.
    let begins_with_host = parts.headers.first().is_some_and(|field| field.0.eq_ignore_ascii_case("host"));
    let (host, rest) = parts.headers.split_at(usize::from(begins_with_host));
    let headers =
        host.iter().chain(extra).chain(rest.iter().filter(|field| !is_replaced(&field.0, extra))).cloned().collect();
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

/// Whether a header field of a request gives way to one of these.
fn is_replaced(name: &str, extra: &Fields) -> bool {
    ["cookie", "authorization"].contains(&&*name.to_ascii_lowercase()) && value(extra, name).is_some()
}

/// The same request to another URL.
fn led(parts: &RequestParts, url: Url) -> RequestParts {
    let mut headers = parts.headers.clone();
    let host = url[Position::BeforeHost..Position::AfterPort].to_owned();
    headers
        .iter_mut()
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .for_each(|(_, value)| value.clone_from(&host));
    RequestParts { url: Rc::new(url), headers, verbatim: None, ..parts.clone() }
}

/// A GET of another URL, with the same header fields but for those of a body.
fn get(parts: &RequestParts, url: Url) -> RequestParts {
    let mut parts = led(parts, url);
    parts.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
    RequestParts { method: "GET".into(), body: Body::None, ..parts }
}

/// Bytes of a request with further header fields, behind the field Host where that is the first.
fn with_fields(bytes: &[u8], extra: &Fields) -> Vec<u8> {
    let ends =
        |from: usize| bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| from + at + 1);
    let mut at = ends(0);
    if bytes.get(at..at + 5).is_some_and(|name| name.eq_ignore_ascii_case(b"host:")) {
        at = ends(at);
    }
    let lines: Vec<String> = extra.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    [&bytes[..at], lines.concat().as_bytes(), &bytes[at..]].concat()
}
