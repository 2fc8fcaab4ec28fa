//! A request for any protocol: its parts, and its encodings.
//!
//! `fields`: its header fields in the form that HTTP/2 and HTTP/3 need. Each
//! protocol encodes requests itself.

pub(crate) mod fields;

use crate::origin::{Origin, OriginId};
use brunt_model::Body;
use brunt_model::plan::HttpVersion;
use fields::{RequestFields, TimedPieces};
use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;
use url::Url;

/// The method of a pseudo-request that makes its HTTP/3 connection migrate (RFC 9000 section 9).
pub const MIGRATE: &str = "MIGRATE";

/// A borrowed request with resolved placeholders.
#[derive(Debug, Clone, Copy)]
pub struct RequestDraft<'a> {
    /// HTTP method, such as GET.
    pub method: &'a str,
    /// An absolute http or https URL.
    pub url: &'a str,
    /// Names and values of header fields.
    pub headers: &'a [(String, String)],
    /// The body, which follows the head.
    pub body: &'a Body,
    /// Index of the label of its samples.
    pub label: u32,
    /// Index of the plan's reply policy that applies to its reply.
    pub reply_policy: u32,
    /// All its bytes, which replace method, URL, headers and body.
    pub verbatim: Option<&'a [u8]>,
}

/// The parts of a request, for any protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestParts {
    /// HTTP method, such as GET.
    pub method: String,
    /// The URL, of http, https, ws or wss.
    pub url: Rc<Url>,
    /// Names and values of header fields.
    pub headers: Vec<(String, String)>,
    /// The body, which follows the head.
    pub body: Body,
    /// All its bytes in HTTP/1, which replace the other parts.
    pub verbatim: Option<Vec<u8>>,
    /// The WebSocket message to await; None: any message.
    pub awaited: Option<AwaitedMessage>,
}

/// Recognizes the WebSocket message that a request awaits.
pub trait MessageFilter: std::fmt::Debug {
    /// True if this decoded message is the awaited one.
    fn accepts(&self, message: &[u8]) -> bool;
}

/// A shared [`MessageFilter`]. Two are equal only if they are the same object.
#[derive(Debug, Clone)]
pub struct AwaitedMessage(pub Rc<dyn MessageFilter>);

impl PartialEq for AwaitedMessage {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AwaitedMessage {}

/// Indexes that classify a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tags {
    /// Index of the label of its samples.
    pub label: u32,
    /// Index of the plan's reply policy that applies to its reply.
    pub reply_policy: u32,
}

/// The kind of a request, as far as the framing of its reply depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestKind {
    /// Any method but those below.
    #[default]
    Ordinary,
    /// HEAD: the reply has no body, even if its head announces one.
    Head,
    /// CONNECT: after a 2xx head the connection is a tunnel.
    Connect,
}

impl RequestKind {
    /// Returns the kind of a request with this method. CONNECT is missing because only the
    /// transport sends it, to a proxy.
    pub fn from_method(method: &str) -> Self {
        if method.eq_ignore_ascii_case("HEAD") { Self::Head } else { Self::Ordinary }
    }
}

/// The action of an exchange on a WebSocket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WebSocketAction {
    /// Sends a message, if there is one, and awaits one.
    #[default]
    Message,
    /// Opens the WebSocket if it is not open.
    Open,
    /// Sends a ping with this payload, and awaits its pong.
    Ping([u8; 8]),
    /// Sends a close frame and awaits the server's close frame.
    Close,
}

/// A request that can be sent any number of times: its parts, and its encoding for each
/// protocol that needs one.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    /// The destination of the request.
    pub origin: OriginId,
    /// Indexes of its label and its reply policy.
    pub tags: Tags,
    pub(crate) kind: RequestKind,
    /// True if it has `Connection: close`: no other request follows on its connection.
    pub(crate) closes: bool,
    /// Shared by all requests that differ only in added lines.
    pub(crate) parts: Option<Rc<RequestParts>>,
    /// Header lines that were added to those of the parts.
    pub(crate) added: Vec<String>,
    /// The encoding in HTTP/1. Of a request with a long body, only the bytes before the body.
    pub(crate) h1: Vec<u8>,
    /// The bytes after a long body, which is not a part of `h1`.
    pub(crate) h1_after_body: Option<&'static [u8]>,
    /// The header fields of HTTP/2. Each connection has its own encoding of them, and keeps it.
    pub(crate) h2: Option<Rc<RequestFields>>,
    /// The version of HTTP that sends `h2`.
    pub(crate) version: HttpVersion,
    /// The frame of its WebSocket message.
    pub(crate) message: Option<Rc<[u8]>>,
    pub(crate) action: WebSocketAction,
    /// Time limit from begun to the last byte. None: that of its reply policy.
    pub timeout: Option<Duration>,
    /// Its HTTP/3 frames: the head, and the frame header of the body. They are the same on each
    /// connection. If empty, they are encoded when the request is sent.
    #[cfg(feature = "http3")]
    pub(crate) h3: bytes::Bytes,
}

impl RequestParts {
    /// Copies the parts of a draft.
    ///
    /// # Errors
    ///
    /// If the URL is invalid or has another scheme than http, https, ws or wss.
    pub fn from_draft(draft: &RequestDraft<'_>) -> Result<Self, BadRequest> {
        let RequestDraft { method, url, headers, body, verbatim, .. } = *draft;
        let url = Rc::new(parse_url(url)?);
        let verbatim = verbatim.map(<[u8]>::to_vec);
        let method = method.to_owned();
        Ok(Self {
            method,
            url,
            headers: headers.to_vec(),
            body: body.clone(),
            verbatim,
            awaited: None,
        })
    }

    /// Returns scheme, host and port.
    pub fn origin(&self) -> Origin {
        origin(&self.url)
    }

    /// Returns a draft that borrows the parts.
    pub(crate) fn draft(&self) -> RequestDraft<'_> {
        let Self { method, url, headers, body, verbatim, .. } = self;
        RequestDraft {
            method,
            url: url.as_str(),
            headers,
            body,
            label: 0,
            reply_policy: 0,
            verbatim: verbatim.as_deref(),
        }
    }
}

impl RequestDraft<'_> {
    /// Returns the indexes of its label and its reply policy.
    pub fn tags(&self) -> Tags {
        Tags { label: self.label, reply_policy: self.reply_policy }
    }
}

impl Prepared {
    /// Encodes a request for a protocol that sends header fields: HTTP/2, and HTTP/3,
    /// which adds its frames.
    ///
    /// # Errors
    ///
    /// If a header field contains a character that is not allowed.
    pub(crate) fn with_fields(
        parts: Rc<RequestParts>,
        origin: OriginId,
        tags: Tags,
        version: HttpVersion,
    ) -> Result<Self, BadRequest> {
        let h2 = Some(Rc::new(RequestFields::from_request(&parts)?));
        let kind = RequestKind::from_method(&parts.method);
        Ok(Self { origin, tags, kind, h2, version, parts: Some(parts), ..Self::default() })
    }

    /// True if it changes nothing on the server and has no body (RFC 9110 section 9.2.1).
    #[cfg(feature = "http3")]
    pub(crate) fn is_safe(&self) -> bool {
        let has_body = self.h2.as_ref().is_none_or(|fields| fields.has_body);
        // The safe methods of RFC 9110 section 9.2.1, without TRACE.
        !has_body
            && self
                .parts()
                .is_some_and(|parts| matches!(&*parts.method, "GET" | "HEAD" | "OPTIONS"))
    }

    /// True if it makes its connection migrate to another local port instead of being sent.
    #[cfg(feature = "http3")]
    pub(crate) fn migrates(&self) -> bool {
        self.parts().is_some_and(|parts| parts.method == MIGRATE)
    }

    /// True if it is a call of gRPC.
    pub fn is_call(&self) -> bool {
        self.h2.as_ref().is_some_and(|fields| fields.is_grpc)
    }

    /// Returns the deadline that it announces to the server (`grpc-timeout`).
    pub fn announced_deadline(&self) -> Option<Duration> {
        self.h2.as_ref()?.deadline()
    }

    /// Returns the bytes of HTTP/1. For HTTP/2 and HTTP/3, which compress, returns the
    /// equivalent text for display.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match (&self.h2, self.parts()) {
            (Some(fields), Some(parts)) => Cow::Owned(fields.as_text(self.version, &parts.body)),
            (None, Some(parts)) if is_websocket(&parts.url) => {
                Cow::Owned(parts.body.bytes().unwrap_or_default().to_vec())
            }
            _ if self.h1_after_body.is_some() => Cow::Owned(self.h1_bytes().0.concat()),
            _ => Cow::Borrowed(&self.h1),
        }
    }

    /// Returns the bytes of HTTP/1, in up to three pieces.
    pub(crate) fn h1_bytes(&self) -> RequestBytes<'_> {
        let Some(after_body) = self.h1_after_body else { return RequestBytes::from(&*self.h1) };
        let body = self.parts().and_then(|parts| parts.body.bytes()).unwrap_or_default();
        RequestBytes([&self.h1, body, after_body])
    }

    /// Returns the schedule of the pieces, if its body is sent in pieces at an interval.
    pub(crate) fn timed_pieces(&self) -> Option<TimedPieces> {
        self.h2.as_ref()?.timed_pieces
    }

    /// Minimum number of bytes that are written, if known before sending.
    pub fn least_bytes(&self) -> u64 {
        self.h1_bytes().len() as u64
    }

    /// Returns its parts, without [added](Self::with_line) lines. None if it was never prepared.
    pub fn parts(&self) -> Option<&RequestParts> {
        self.parts.as_deref()
    }

    /// Path and query of its URL; empty if it was never prepared.
    pub(crate) fn path(&self) -> &str {
        self.parts
            .as_ref()
            .map_or("", |parts| &parts.url[url::Position::BeforePath..url::Position::AfterQuery])
    }

    /// The URL; empty if it was never prepared.
    pub fn url(&self) -> &str {
        self.parts.as_ref().map_or("", |parts| parts.url.as_str())
    }

    /// Returns a copy with a header line after all others. A request without a
    /// head is copied unchanged.
    #[must_use]
    pub fn with_line(&self, line: &str) -> Self {
        let mut copy = self.clone();
        if let Some(fields) = &self.h2 {
            copy.h2 = Some(Rc::new(fields.with_line(line)));
            copy.added.push(line.to_owned());
            #[cfg(feature = "http3")]
            copy.h3.clear();
            return copy;
        }
        if let Some(end) = self.h1.windows(4).position(|four| four == b"\r\n\r\n") {
            // The line goes after the last header field, before the empty line that ends the head.
            copy.h1.splice(end + 2..end + 2, [line.as_bytes(), b"\r\n"].concat());
            copy.added.push(line.to_owned());
        }
        copy
    }
}

/// The bytes of a request: all of them, or its head, its long body and the bytes after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestBytes<'r>([&'r [u8]; 3]);

impl<'r> From<&'r [u8]> for RequestBytes<'r> {
    fn from(bytes: &'r [u8]) -> Self {
        Self([bytes, &[], &[]])
    }
}

impl<'r> RequestBytes<'r> {
    /// Number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    /// Returns the rest of the piece at this offset. Empty: there are no more bytes.
    #[inline]
    pub fn rest(&self, mut offset: usize) -> &'r [u8] {
        for piece in self.0 {
            if offset < piece.len() {
                return &piece[offset..];
            }
            offset -= piece.len();
        }
        &[]
    }
}

/// Why a request cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// The text is no valid URL.
    #[error("`{0}` is no URL: {1}; write one such as http://127.0.0.1:8080/path")]
    Url(String, url::ParseError),
    /// The scheme is not http, https, ws or wss.
    #[error("`{0}`: brunt speaks http, https, ws and wss; write http://… or https://…")]
    Scheme(String),
    /// HTTP/3 without TLS.
    #[error("`{0}`: HTTP/3 needs TLS; write https://…, or --http 1.1")]
    NoTls(String),
    /// A WebSocket over HTTP/3.
    #[error("`{0}`: brunt opens WebSockets over HTTP/1.1 and HTTP/2; write --http 1.1 or --http 2")]
    NoWebSocket(String),
    /// A header field has a control character that is not allowed.
    #[error("header `{0}` holds a line break or another control character; remove it")]
    Header(String),
    /// The request requires a framing of the body that brunt does not support.
    #[error(
        "`Transfer-Encoding: {0}` cannot be sent: {1}; leave it out, or write `Transfer-Encoding: chunked` with --http 1.1"
    )]
    TransferEncoding(String, &'static str),
    /// The given length is not that of the body: the server would wait for the rest, or read it as
    /// another request.
    #[error("`Content-Length: {0}`: the body has {1} bytes; leave the field out")]
    ContentLength(String, usize),
}

/// Parses a URL of http, https, ws or wss.
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

/// Parses a URL and returns it with its origin.
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
    // Brackets belong to the notation of an IPv6 address in a URL (RFC 3986 section 3.2.2).
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = url.port_or_known_default().unwrap_or(80);
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let websocket = is_websocket(url).then(|| path.to_owned());
    Origin { https: matches!(url.scheme(), "https" | "wss"), host, port, websocket }
}

/// True if the scheme of a URL is ws or wss.
pub fn is_websocket(url: &Url) -> bool {
    matches!(url.scheme(), "ws" | "wss")
}

/// Checks that a header field may be sent.
///
/// # Errors
///
/// If it contains a line break or another control character.
pub fn check_header(header: &(String, String)) -> Result<(), BadRequest> {
    let (name, value) = header;
    if has_control(name) || has_control(value) {
        Err(BadRequest::Header(name.clone()))
    } else {
        Ok(())
    }
}

/// Checks a given length of the body.
///
/// # Errors
///
/// If the body has another length.
pub fn check_length(headers: &[(String, String)], body: &[u8]) -> Result<(), BadRequest> {
    let mut fields = headers.iter().filter(|field| field.0.eq_ignore_ascii_case("content-length"));
    match fields.find(|field| field.1.trim().parse() != Ok(body.len())) {
        Some((_, wrong)) => Err(BadRequest::ContentLength(wrong.clone(), body.len())),
        None => Ok(()),
    }
}

fn has_control(text: &str) -> bool {
    // Nearly every text is plain ASCII: the first test avoids decoding it.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    !is_plain && text.chars().any(|c| c.is_control() && c != '\t')
}

/// Resolves `location`, absolute or not, against `base`. None if the result is no URL
/// of http or https.
pub fn resolve(base: &str, location: &str) -> Option<String> {
    // `Location` may be relative (RFC 9110 section 10.2.2).
    let url = Url::parse(base).ok()?.join(location).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.into())
}

/// True if a field `Connection` contains `close` (RFC 9112 section 9.6).
pub fn closes(headers: &[(String, String)]) -> bool {
    let mut fields = headers.iter().filter(|header| header.0.eq_ignore_ascii_case("connection"));
    fields
        .any(|header| header.1.split(',').any(|option| option.trim().eq_ignore_ascii_case("close")))
}
