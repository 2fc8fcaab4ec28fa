//! A request as a protocol needs it: what it says, and its bytes in HTTP/1.

use crate::h1::parse::RequestKind;
use crate::h2::fields::{Fields, TimedPieces};
use crate::origin::{Origin, OriginId};
use crate::websocket::{self, Action};
use brunt_model::Body;
use std::borrow::Cow;
use std::io::Write;
use std::rc::Rc;
use url::Url;

/// The method of a request that is none: its connection of HTTP/3 migrates (RFC 9000 section 9).
pub const MIGRATE: &str = "MIGRATE";

/// A request whose placeholders are filled in, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// GET, POST, …
    pub method: &'a str,
    /// An absolute http or https URL.
    pub url: &'a str,
    /// Names and values.
    pub headers: &'a [(String, String)],
    /// What is sent behind the head.
    pub body: &'a Body,
    /// Number of the label of its samples.
    pub label: u32,
    /// What is made of its reply: a number of the plan's policies.
    pub reply_policy: u32,
    /// All of its bytes, in place of what method, URL, headers and body say.
    pub verbatim: Option<&'a [u8]>,
}

/// What a request says, whatever the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestParts {
    /// GET, POST, …
    pub method: String,
    /// An http or https URL.
    pub url: Rc<Url>,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// What is sent behind the head.
    pub body: Body,
    /// All of its bytes in HTTP/1, in place of what the others say.
    pub verbatim: Option<Vec<u8>>,
    /// The message of a WebSocket that is awaited; None: any.
    pub awaited: Option<AwaitedMessage>,
}

/// Recognizes the message of a WebSocket that a request awaits.
pub trait MessageFilter: std::fmt::Debug {
    /// Whether this message, decoded, is the awaited one.
    fn accepts(&self, message: &[u8]) -> bool;
}

/// A shared [`MessageFilter`]. Two are equal if they are the same one.
#[derive(Debug, Clone)]
pub struct AwaitedMessage(pub Rc<dyn MessageFilter>);

impl PartialEq for AwaitedMessage {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AwaitedMessage {}

/// Numbers that go with a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tags {
    /// Of the label of its samples.
    pub label: u32,
    /// Of the plan's policies: what is made of its reply.
    pub reply_policy: u32,
}

/// A request that is ready to be sent any number of times: its parts, and its encoding for each protocol that needs one.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    /// Where it goes.
    pub origin: OriginId,
    /// Its label and its policy.
    pub tags: Tags,
    pub(crate) asked: RequestKind,
    /// It says itself that no other request follows on its connection: `Connection: close`.
    pub(crate) closes: bool,
    /// Shared by all that differ in added lines only.
    pub(crate) parts: Option<Rc<RequestParts>>,
    /// Header lines that were added to those of the parts.
    pub(crate) added: Vec<String>,
    /// The encoding in HTTP/1.
    pub(crate) h1: Vec<u8>,
    /// The header fields of HTTP/2. Their encoding depends on the connection, which keeps it.
    pub(crate) h2: Option<Rc<Fields>>,
    /// The frame of a message that is sent over a WebSocket.
    pub(crate) message: Option<Rc<[u8]>>,
    /// What is done on a WebSocket.
    pub(crate) action: Action,
    /// The frames of its head in HTTP/3, with the head of the frame of its body. They are the same on each connection.
    #[cfg(feature = "http3")]
    pub(crate) h3: bytes::Bytes,
}

impl RequestParts {
    /// The parts of a draft.
    ///
    /// # Errors
    ///
    /// The URL is none, or neither of http nor of https.
    pub fn of(draft: &Draft<'_>) -> Result<Self, BadRequest> {
        let Draft { method, url, headers, body, verbatim, .. } = *draft;
        let url = Rc::new(parse_url(url)?);
        let verbatim = verbatim.map(<[u8]>::to_vec);
        let method = method.to_owned();
        Ok(Self { method, url, headers: headers.to_vec(), body: body.clone(), verbatim, awaited: None })
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> Origin {
        origin(&self.url)
    }

    fn draft(&self) -> Draft<'_> {
        let Self { method, url, headers, body, verbatim, .. } = self;
        Draft { method, url: url.as_str(), headers, body, label: 0, reply_policy: 0, verbatim: verbatim.as_deref() }
    }
}

impl Draft<'_> {
    /// Its label and its policy.
    pub fn tags(&self) -> Tags {
        Tags { label: self.label, reply_policy: self.reply_policy }
    }
}

impl Prepared {
    /// Encodes a request in HTTP/1.
    ///
    /// # Errors
    ///
    /// A header field has a character that none may have.
    pub fn for_h1(
        parts: Rc<RequestParts>,
        (origin, id): (&Origin, OriginId),
        tags: Tags,
        style: Style,
    ) -> Result<Self, BadRequest> {
        let h1 = encode(&parts.draft(), &parts.url, origin, style)?;
        let asked = asked(&parts.method);
        let closes = closes(&parts.headers);
        Ok(Self { origin: id, tags, asked, closes, h1, parts: Some(parts), ..Self::default() })
    }

    /// Makes a request ready for HTTP/2.
    ///
    /// # Errors
    ///
    /// A header field has a character that none may have.
    pub fn for_h2(parts: Rc<RequestParts>, origin: OriginId, tags: Tags) -> Result<Self, BadRequest> {
        let (h2, asked) = (Some(Rc::new(Fields::of(&parts)?)), asked(&parts.method));
        Ok(Self { origin, tags, asked, h2, parts: Some(parts), ..Self::default() })
    }

    /// Makes a message of a WebSocket ready. Its header fields are those of the handshake.
    ///
    /// # Errors
    ///
    /// A header field has a character that none may have.
    pub fn for_websocket(
        parts: Rc<RequestParts>,
        origin: OriginId,
        tags: Tags,
        number: u64,
    ) -> Result<Self, BadRequest> {
        parts.headers.iter().try_for_each(check_header)?;
        let (action, message) = Action::of(&parts, number);
        let message = message.map(Rc::from);
        Ok(Self { origin, tags, action, message, parts: Some(parts), ..Self::default() })
    }

    /// Makes a request ready for HTTP/3.
    ///
    /// # Errors
    ///
    /// A header field has a character that none may have, or the URL is not of https.
    pub fn for_h3(parts: Rc<RequestParts>, origin: OriginId, tags: Tags) -> Result<Self, BadRequest> {
        if parts.url.scheme() != "https" {
            return Err(BadRequest::NoTls(parts.url.to_string()));
        }
        Ok(Self::for_h2(parts, origin, tags)?.with_h3_frames())
    }

    /// Whether it changes nothing on the server, and has no body (RFC 9110 section 9.2.1).
    #[cfg(feature = "http3")]
    pub(crate) fn is_safe(&self) -> bool {
        let has_body = self.h2.as_ref().is_none_or(|fields| fields.has_body);
        !has_body && self.parts().is_some_and(|parts| matches!(&*parts.method, "GET" | "HEAD" | "OPTIONS"))
    }

    /// Whether it has its connection go on from another local port instead of being sent.
    #[cfg(feature = "http3")]
    pub(crate) fn migrates(&self) -> bool {
        self.parts().is_some_and(|parts| parts.method == MIGRATE)
    }

    #[cfg(feature = "http3")]
    fn with_h3_frames(mut self) -> Self {
        if let (Some(fields), Some(parts)) = (&self.h2, &self.parts) {
            self.h3 = crate::h3::head_frames(fields, &parts.body);
        }
        self
    }

    #[cfg(not(feature = "http3"))]
    fn with_h3_frames(self) -> Self {
        self
    }

    /// What HTTP/1 writes; in HTTP/2 and 3, which compress, the same as text for a reader.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match (&self.h2, self.parts()) {
            (Some(fields), Some(parts)) => Cow::Owned(fields.as_text(&parts.body)),
            (None, Some(parts)) if websocket::is_websocket(&parts.url) => {
                Cow::Owned(parts.body.bytes().unwrap_or_default().to_vec())
            }
            _ => Cow::Borrowed(&self.h1),
        }
    }

    /// Its body is sent in pieces at an interval.
    pub(crate) fn timed_pieces(&self) -> Option<TimedPieces> {
        self.h2.as_ref()?.timed_pieces
    }

    /// Bytes that are written for certain, where that is known before.
    pub fn least_bytes(&self) -> u64 {
        self.h1.len() as u64
    }

    /// What it says, but for [added](Self::with_line) lines; None where it was never prepared.
    pub fn parts(&self) -> Option<&RequestParts> {
        self.parts.as_deref()
    }

    /// Path and query of its URL; empty where it was never prepared.
    pub(crate) fn path(&self) -> &str {
        self.parts.as_ref().map_or("", |parts| &parts.url[url::Position::BeforePath..url::Position::AfterQuery])
    }

    /// The URL; empty where it was never prepared.
    pub fn url(&self) -> &str {
        self.parts.as_ref().map_or("", |parts| parts.url.as_str())
    }

    /// The same with a header line behind all others. What has no head stays as it is.
    #[must_use]
    pub fn with_line(&self, line: &str) -> Self {
        let mut with = self.clone();
        if let Some(fields) = &self.h2 {
            with.h2 = Some(Rc::new(fields.with_line(line)));
            with.added.push(line.to_owned());
            #[cfg(feature = "http3")]
            if !self.h3.is_empty() {
                return with.with_h3_frames();
            }
            return with;
        }
        if let Some(end) = self.h1.windows(4).position(|four| four == b"\r\n\r\n") {
            with.h1.splice(end + 2..end + 2, [line.as_bytes(), b"\r\n"].concat());
            with.added.push(line.to_owned());
        }
        with
    }
}

/// Why a request cannot be put on the wire.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// It is no URL.
    #[error("`{0}` is no URL: {1}; write one such as http://127.0.0.1:8080/path")]
    Url(String, url::ParseError),
    /// Neither http nor https.
    #[error("`{0}`: brunt speaks http, https, ws and wss; write http://… or https://…")]
    Scheme(String),
    /// HTTP/3 without TLS.
    #[error("`{0}`: HTTP/3 needs TLS; write https://…, or --http 1.1")]
    NoTls(String),
    /// A WebSocket over HTTP/3.
    #[error("`{0}`: brunt opens WebSockets over HTTP/1.1 and HTTP/2; write --http 1.1 or --http 2")]
    NoWebSocket(String),
    /// A line break where none may be.
    #[error("header `{0}` holds a line break or another control character; remove it")]
    Header(String),
    /// A framing of the body that brunt does not write.
    #[error(
        "`Transfer-Encoding: {0}` cannot be sent: {1}; leave it out, or write `Transfer-Encoding: chunked` with --http 1.1"
    )]
    TransferEncoding(String, &'static str),
}

/// How requests are written, whatever they ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// HTTP/1.0 instead of HTTP/1.1.
    pub http10: bool,
    /// One request a connection: say so.
    pub close: bool,
    /// Plain http goes to a proxy, which wants the whole URL.
    pub absolute: bool,
}

/// A URL of http or https.
///
/// # Errors
///
/// [`BadRequest`] if it is no such URL.
pub fn parse_url(url: &str) -> Result<Url, BadRequest> {
    let parsed = Url::parse(url).map_err(|e| BadRequest::Url(url.into(), e))?;
    if matches!(parsed.scheme(), "http" | "https" | "ws" | "wss") {
        Ok(parsed)
    } else {
        Err(BadRequest::Scheme(url.into()))
    }
}

/// A URL and its origin.
///
/// # Errors
///
/// [`BadRequest`] if it is no such URL.
pub fn origin_of(url: &str) -> Result<(Url, Origin), BadRequest> {
    let parsed = parse_url(url)?;
    let origin = origin(&parsed);
    Ok((parsed, origin))
}

fn origin(url: &Url) -> Origin {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = url.port_or_known_default().unwrap_or(80);
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let websocket = websocket::is_websocket(url).then(|| path.to_owned());
    Origin { https: matches!(url.scheme(), "https" | "wss"), host, port, websocket }
}

/// Whether a header field may be sent.
///
/// # Errors
///
/// It has a line break or another control character.
pub fn check_header((name, value): &(String, String)) -> Result<(), BadRequest> {
    let is_plain = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let is_broken = |text: &str| !is_plain(text) && text.chars().any(|c| c.is_control() && c != '\t');
    if is_broken(name) || is_broken(value) { Err(BadRequest::Header(name.clone())) } else { Ok(()) }
}

/// Writes the head and body of an HTTP/1 request (RFC 9112 section 3).
///
/// # Errors
///
/// [`BadRequest`] if a field cannot stand in a request.
pub fn encode(draft: &Draft<'_>, url: &Url, origin: &Origin, style: Style) -> Result<Vec<u8>, BadRequest> {
    if let Some(bytes) = draft.verbatim {
        return Ok(bytes.to_vec());
    }
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(draft.method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(target(url, style.absolute && !origin.https).as_bytes());
    out.extend_from_slice(if style.http10 { b" HTTP/1.0\r\n" } else { b" HTTP/1.1\r\n" });
    if !has(draft.headers, "host") {
        field(&mut out, "Host", host(url));
    }
    if let Some(value) = connection(style).filter(|_| !has(draft.headers, "connection")) {
        field(&mut out, "Connection", value);
    }
    for header in draft.headers {
        check_header(header)?;
        field(&mut out, &header.0, &header.1);
    }
    let body = draft.body.bytes();
    if is_chunked(draft.headers, style)? {
        out.extend_from_slice(b"\r\n");
        put_chunks(&mut out, body.unwrap_or_default());
        return Ok(out);
    }
    if let Some(body) = body.filter(|_| !has(draft.headers, "content-length")) {
        let _ = write!(out, "Content-Length: {}\r\n", body.len()); // a Vec takes anything
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body.unwrap_or_default());
    Ok(out)
}

/// True if the header fields ask for a body in chunks. If a body were framed in another way than its head says, a server would
/// read its rest as a further request.
fn is_chunked(headers: &[(String, String)], style: Style) -> Result<bool, BadRequest> {
    let mut codings = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    let Some((_, coding)) = codings.next() else { return Ok(false) };
    let why = if codings.next().is_some() || !coding.trim().eq_ignore_ascii_case("chunked") {
        "brunt frames bodies in chunks only"
    } else if style.http10 {
        "HTTP/1.0 has no chunks"
    } else if has(headers, "content-length") {
        "the request has a Content-Length, too"
    } else {
        return Ok(true);
    };
    Err(BadRequest::TransferEncoding(coding.clone(), why))
}

/// Writes a body as one chunk and the last one (RFC 9112 section 7.1).
fn put_chunks(out: &mut Vec<u8>, body: &[u8]) {
    if !body.is_empty() {
        let _ = write!(out, "{:x}\r\n", body.len()); // a Vec takes anything
        out.extend_from_slice(body);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

/// The URL that `location`, absolute or not, leads to from `base`; None where it is no URL, or not of http.
pub fn resolve(base: &str, location: &str) -> Option<String> {
    let url = Url::parse(base).ok()?.join(location).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.into())
}

/// What the reply's framing depends on.
pub fn asked(method: &str) -> RequestKind {
    if method.eq_ignore_ascii_case("HEAD") { RequestKind::Head } else { RequestKind::Ordinary }
}

fn connection(style: Style) -> Option<&'static str> {
    match (style.close, style.http10) {
        (true, false) => Some("close"),
        (false, true) => Some("keep-alive"),
        _ => None,
    }
}

/// Whether a field `Connection` says `close` (RFC 9112 section 9.6).
pub fn closes(headers: &[(String, String)]) -> bool {
    let mut fields = headers.iter().filter(|header| header.0.eq_ignore_ascii_case("connection"));
    fields.any(|header| header.1.split(',').any(|option| option.trim().eq_ignore_ascii_case("close")))
}

fn target(url: &Url, absolute: bool) -> &str {
    if absolute { before_fragment(url.as_str()) } else { before_fragment(&url[url::Position::BeforePath..]) }
}

fn before_fragment(s: &str) -> &str {
    s.split('#').next().unwrap_or(s)
}

fn host(url: &Url) -> &str {
    &url[url::Position::BeforeHost..url::Position::AfterPort]
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|h| h.0.eq_ignore_ascii_case(name))
}

fn field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(url: &str, headers: &[(&str, &str)], body: &Body, style: Style) -> String {
        let headers: Vec<_> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let (parsed, origin) = origin_of(url).unwrap();
        let draft = Draft { method: "POST", url, headers: &headers, body, label: 0, reply_policy: 0, verbatim: None };
        String::from_utf8(encode(&draft, &parsed, &origin, style).unwrap()).unwrap()
    }

    #[test]
    fn a_plain_request() {
        assert_eq!(
            text("http://h:81/a?b=c#d", &[("A", "b")], &Body::None, Style::default()),
            "POST /a?b=c HTTP/1.1\r\nHost: h:81\r\nA: b\r\n\r\n"
        );
    }

    #[test]
    fn own_headers_take_the_place_of_ours() {
        assert_eq!(
            text("http://h", &[("host", "x"), ("Content-Length", "9")], &Body::Text("hi".into()), Style::default()),
            "POST / HTTP/1.1\r\nhost: x\r\nContent-Length: 9\r\n\r\nhi"
        );
    }

    #[test]
    fn a_body_in_chunks_is_framed_and_other_codings_are_refused() {
        let chunked = [("Transfer-Encoding", "chunked")];
        assert_eq!(
            text("http://h/", &chunked, &Body::Text("hello".into()), Style::default()),
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        );
        assert!(text("http://h/", &chunked, &Body::None, Style::default()).ends_with("\r\n\r\n0\r\n\r\n"));
        let old = Style { http10: true, ..Style::default() };
        for (headers, style) in [
            (vec![("Transfer-Encoding", "gzip, chunked")], Style::default()),
            (vec![chunked[0], ("Content-Length", "5")], Style::default()),
            (vec![chunked[0], chunked[0]], Style::default()),
            (chunked.to_vec(), old),
        ] {
            let headers: Vec<_> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            assert!(matches!(is_chunked(&headers, style), Err(BadRequest::TransferEncoding(..))), "{headers:?}");
        }
    }

    #[test]
    fn old_version_proxy_and_close() {
        let style = Style { http10: true, close: false, absolute: true };
        assert_eq!(
            text("http://[::1]:80/a", &[], &Body::Bytes(vec![b'x']), style),
            "POST http://[::1]/a HTTP/1.0\r\nHost: [::1]\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx"
        );
        let style = Style { close: true, ..Style::default() };
        assert!(text("https://h/", &[], &Body::None, style).contains("\r\nConnection: close\r\n"));
    }

    #[test]
    fn bytes_that_were_written_elsewhere_are_left_alone() {
        let (url, origin) = origin_of("http://h/a").unwrap();
        let bytes: &[u8] = b"GET /a b HTTP/1.0\r\nx:y\r\n\r\n";
        let draft = Draft {
            method: "GET",
            url: "http://h/a",
            headers: &[],
            body: &Body::None,
            label: 0,
            reply_policy: 0,
            verbatim: Some(bytes),
        };
        assert_eq!(encode(&draft, &url, &origin, Style::default()).unwrap(), bytes);
    }

    #[test]
    fn lines_are_added_without_a_copy_of_the_parts() {
        let headers = vec![("A".to_owned(), "b".to_owned())];
        let body = Body::Text("hi".into());
        let draft = Draft {
            method: "PUT",
            url: "http://h/x",
            headers: &headers,
            body: &body,
            label: 3,
            reply_policy: 1,
            verbatim: None,
        };
        let parts = RequestParts::of(&draft).unwrap();
        let origin = parts.origin();
        let first = Prepared::for_h1(Rc::new(parts), (&origin, OriginId(7)), draft.tags(), Style::default()).unwrap();
        let second = first.with_line("Cookie: c=d").with_line("E: f");
        let head = "PUT /x HTTP/1.1\r\nHost: h\r\nA: b\r\nContent-Length: 2\r\n";
        assert_eq!(String::from_utf8_lossy(&first.bytes()), format!("{head}\r\nhi"));
        assert_eq!(String::from_utf8_lossy(&second.bytes()), format!("{head}Cookie: c=d\r\nE: f\r\n\r\nhi"));
        assert_eq!(
            (second.added.join("|"), second.origin, second.tags),
            ("Cookie: c=d|E: f".into(), OriginId(7), draft.tags())
        );
        assert!(std::ptr::eq(first.parts().unwrap(), second.parts().unwrap()));
        assert_eq!((second.url(), &second.parts().unwrap().headers), ("http://h/x", &headers));
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        assert!(matches!(origin_of("ftp://h/"), Err(BadRequest::Scheme(_))));
        assert!(matches!(origin_of("nonsense"), Err(BadRequest::Url(..))));
        let (url, origin) = origin_of("http://h/").unwrap();
        let headers = vec![("A".to_owned(), "b\r\nC: d".to_owned())];
        let draft = Draft {
            method: "GET",
            url: "http://h/",
            headers: &headers,
            body: &Body::None,
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        assert_eq!(encode(&draft, &url, &origin, Style::default()), Err(BadRequest::Header("A".into())));
        let handshake = RequestParts::of(&Draft { url: "ws://h/", ..draft }).unwrap();
        let message = Prepared::for_websocket(Rc::new(handshake), OriginId::default(), Tags::default(), 0);
        assert_eq!(message.map(|_| ()), Err(BadRequest::Header("A".into())));
    }
}
