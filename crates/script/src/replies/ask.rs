//! One request that is to be made, and those that follow from its reply.

use super::{Fields, value};
use crate::user::{LastUrl, WorkerScript};
use brunt_engine::Step;
use brunt_model::{Body, Request};
use brunt_wire::Transport;
use brunt_wire::request::{RequestParts, Tags, parse_url};
use std::rc::Rc;
use url::{Position, Url};

/// One request that is to be made.
#[derive(Debug, Clone)]
pub struct Ask {
    pub request: Rc<Request>,
    /// Of the request; None where it is none.
    pub url: Option<Rc<Url>>,
    pub label: u32,
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
    pub fn listed(request: Request, last_url: &LastUrl, label: u32) -> Self {
        let url = last_url.parse(&request.url).ok();
        Self { request: Rc::new(request), url, label, entry: None, hops: 0, repeats: 0, is_element: false }
    }

    /// Another request that goes to this URL.
    fn to(&self, url: Url, request: Request) -> Self {
        Self { request: Rc::new(request), url: Some(Rc::new(url)), entry: None, ..self.clone() }
    }

    /// The same with the number of its label.
    pub fn labelled<T: Transport>(self, worker_script: &WorkerScript<T>) -> Self {
        Self { label: worker_script.number_of(&self.request.label), ..self }
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
        let request = if status == 307 { led(&self.request, &url) } else { get(&self.request, &url) };
        Some(Self { hops: self.hops + 1, repeats: 0, ..self.to(url, request) })
    }

    /// Something that the page of this request is made of.
    pub fn element(&self, url: Url) -> Self {
        let request = get(&self.request, &url);
        Self { hops: 0, repeats: 0, is_element: true, ..self.to(url, request) }
    }

    /// The step of asking it, with further header fields.
    pub fn step<T: Transport>(&self, transport: &T, extra: &Fields) -> Step {
        let Request { method, url, headers, body, verbatim, reply_policy, .. } = &*self.request;
        // Cookies among the further fields have those that the request gives in them.
        let has_cookies = value(extra, "cookie").is_some();
        let stays = |field: &&(String, String)| !has_cookies || !field.0.eq_ignore_ascii_case("cookie");
        let headers: Vec<_> = headers.iter().filter(stays).cloned().collect();
        let headers: Vec<_> = match headers.split_first() {
            Some((host, rest)) if host.0.eq_ignore_ascii_case("host") => {
                [host].into_iter().chain(extra).chain(rest).cloned().collect()
            }
            _ => extra.iter().chain(&headers).cloned().collect(),
        };
        let verbatim = verbatim.as_ref().map(|bytes| with_fields(bytes, extra));
        let tags = Tags { label: self.label, reply_policy: *reply_policy };
        // Where the request was redirected, its last URL is another.
        let known = self.url.as_ref().filter(|known| known.as_str() == url);
        let prepared = known.map_or_else(|| parse_url(url), |known| Ok(Url::clone(known))).and_then(|url| {
            let parts = RequestParts { method: method.clone(), url, headers, body: body.clone(), verbatim };
            transport.prepare_parts(parts, tags)
        });
        prepared.map_or_else(|why| Step::Broken(why.to_string()), |prepared| Step::Request(Rc::new(prepared)))
    }
}

/// The same request to another URL.
fn led(request: &Request, url: &Url) -> Request {
    let mut headers = request.headers.clone();
    let host = url[Position::BeforeHost..Position::AfterPort].to_owned();
    headers
        .iter_mut()
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .for_each(|(_, value)| value.clone_from(&host));
    let label = match request.method.as_str() {
        "GET" => url.to_string(),
        method => format!("{method} {url}"),
    };
    Request { label, url: url.to_string(), headers, verbatim: None, ..request.clone() }
}

/// A GET of another URL, with the same header fields but for those of a body.
fn get(request: &Request, url: &Url) -> Request {
    let mut request = led(request, url);
    request.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
    Request { label: url.to_string(), method: "GET".into(), body: Body::None, ..request }
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
