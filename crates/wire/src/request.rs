//! A request as protocols need it: its parts, and room for its encoding in each of them.
//!
//! `fields`: its header fields as HTTP/2 and 3 need them. Each protocol encodes requests itself.

pub(crate) mod fields;

use crate::origin::{Origin, OriginId};
use brunt_model::Body;
use fields::{Fields, TimedPieces};
use std::borrow::Cow;
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

/// What a request asks, as far as the framing of its reply depends on it.
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
    /// The kind of a request of this method. CONNECT is sent by the transport itself, to a proxy.
    pub fn of_method(method: &str) -> Self {
        if method.eq_ignore_ascii_case("HEAD") { Self::Head } else { Self::Ordinary }
    }
}

/// What an exchange does on a WebSocket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WebSocketAction {
    /// Sends a message, where there is one, and awaits one.
    #[default]
    Message,
    /// Opens the WebSocket if it is not open.
    Open,
    /// Sends a ping with this payload, and awaits its pong.
    Ping([u8; 8]),
    /// Sends a close frame and awaits that of the server.
    Close,
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
    pub(crate) action: WebSocketAction,
    /// The frames of its head in HTTP/3, with the head of the frame of its body. They are the same on each connection. Empty: they are
    /// encoded when the request is sent.
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

    /// The parts, borrowed.
    pub(crate) fn draft(&self) -> Draft<'_> {
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
    /// Makes a request ready for a protocol that sends header fields: HTTP/2, and HTTP/3 with its frames added.
    ///
    /// # Errors
    ///
    /// A header field has a character that none may have.
    pub(crate) fn with_fields(parts: Rc<RequestParts>, origin: OriginId, tags: Tags) -> Result<Self, BadRequest> {
        let h2 = Some(Rc::new(Fields::of(&parts)?));
        let asked = RequestKind::of_method(&parts.method);
        Ok(Self { origin, tags, asked, h2, parts: Some(parts), ..Self::default() })
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

    /// What HTTP/1 writes; in HTTP/2 and 3, which compress, the same as text for a reader.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match (&self.h2, self.parts()) {
            (Some(fields), Some(parts)) => Cow::Owned(fields.as_text(&parts.body)),
            (None, Some(parts)) if is_websocket(&parts.url) => {
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
            with.h3.clear();
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
    let websocket = is_websocket(url).then(|| path.to_owned());
    Origin { https: matches!(url.scheme(), "https" | "wss"), host, port, websocket }
}

/// Whether a URL is one of WebSocket.
pub fn is_websocket(url: &Url) -> bool {
    matches!(url.scheme(), "ws" | "wss")
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

/// The URL that `location`, absolute or not, leads to from `base`; None where it is no URL, or not of http.
pub fn resolve(base: &str, location: &str) -> Option<String> {
    let url = Url::parse(base).ok()?.join(location).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.into())
}

/// Whether a field `Connection` says `close` (RFC 9112 section 9.6).
pub fn closes(headers: &[(String, String)]) -> bool {
    let mut fields = headers.iter().filter(|header| header.0.eq_ignore_ascii_case("connection"));
    fields.any(|header| header.1.split(',').any(|option| option.trim().eq_ignore_ascii_case("close")))
}
