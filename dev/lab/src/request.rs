//! Parses HTTP/1.x requests incrementally.
//!
//! It accepts pieces of any size, and stores only incomplete parts. It does not know sockets or
//! replies. Of a request it stores only the fields that determine the reply; bodies are counted,
//! and stored only for `--echo`.

use crate::body::UnreadBody;
use crate::h2::upgrade::settings;

/// Maximum size of a head, in bytes.
const MAX_HEAD: usize = 64 * 1024;

/// Maximum number of header fields.
const MAX_HEADERS: usize = 100;

/// Maximum size of a `/bytes/N` body, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Maximum `/delay/MS`, in milliseconds: an hour.
const MAX_DELAY: u64 = 3_600_000;

/// The fields of a request that determine its reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestedReply {
    /// Reply that the path asks for.
    pub route: ReplyRoute,
    /// Framing of the reply.
    pub shape: ReplyShape,
    /// With `--echo`, the complete request with its decoded body.
    pub echo: Option<Vec<u8>>,
    /// Protocol to which an HTTP/1.1 client asks to switch.
    pub upgrade: Option<Upgrade>,
}

/// A protocol to which an HTTP/1.1 connection can switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upgrade {
    /// HTTP/2, with the client's settings (`Upgrade: h2c`).
    Http2(Vec<u8>),
    /// The request opens a WebSocket.
    WebSocket {
        /// Value of `Sec-WebSocket-Key`, which the reply confirms.
        key: Vec<u8>,
        /// The offered extensions, each followed by a comma.
        extensions: Vec<u8>,
    },
}

/// Framing of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplyShape {
    /// True if the client speaks HTTP/1.0.
    pub http10: bool,
    /// True for HEAD: the reply has no body.
    pub head_only: bool,
    /// True if the connection stays open after the reply.
    pub keep_alive: bool,
    /// For a WebSocket, the opcode of the message and of its reply.
    pub message: Option<u8>,
}

/// Reply that a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyRoute {
    /// Any other path: the default reply.
    #[default]
    Plain,
    /// `/status/NNN`: this status.
    Status(u16),
    /// `/redirect/N`: N more redirects.
    Redirect(u32),
    /// `/bytes/N`: a body of N bytes.
    Bytes(usize),
    /// `/delay/MS` or `/delay/5ms`: this number of additional milliseconds of service.
    Delay(u64),
    /// `/stats`: the current figures; it is not counted as an arrival.
    Stats,
}

impl ReplyRoute {
    /// Returns the route of a target in origin or absolute form. A path that is
    /// not special is [`ReplyRoute::Plain`].
    pub fn of(target: &str) -> Self {
        let path = path_of(target);
        let mut parts = path.splitn(3, '/').skip(1);
        match (parts.next(), parts.next()) {
            (Some("stats"), None) => Self::Stats,
            (Some(kind), Some(value)) => Self::numbered(kind, value).unwrap_or_default(),
            _ => Self::Plain,
        }
    }

    fn numbered(kind: &str, value: &str) -> Option<Self> {
        Some(match kind {
            "status" => {
                Self::Status(value.parse().ok().filter(|status| (200..=599).contains(status))?)
            }
            "redirect" => Self::Redirect(value.parse().ok()?),
            "bytes" => Self::Bytes(value.parse().ok().filter(|count| *count <= MAX_BYTES)?),
            "delay" => {
                let millis = value.strip_suffix("ms").unwrap_or(value);
                Self::Delay(millis.parse().ok().filter(|delay| *delay <= MAX_DELAY)?)
            }
            _ => return None,
        })
    }
}

fn path_of(target: &str) -> &str {
    let origin_form = match target.split_once("://") {
        // `/path?url=http://…` is in origin form.
        Some((scheme, rest)) if !scheme.contains('/') => {
            rest.find('/').map_or("/", |start| &rest[start..])
        }
        _ => target,
    };
    origin_form.split(['?', '#']).next().unwrap_or("/")
}

/// Result of a parser step.
#[derive(Debug, PartialEq, Eq)]
pub enum ParserStep {
    /// All input is used; more must arrive.
    Wait,
    /// The client waits for `100 Continue` before it sends the body.
    Continue,
    /// A request is complete.
    Done(RequestedReply),
}

/// The reason why the bytes are no HTTP/1.x request.
#[derive(Debug, PartialEq, Eq)]
pub struct MalformedRequest(pub &'static str);

/// Parser of one connection.
#[derive(Debug, Default)]
pub struct RequestParser {
    /// Beginning of an incomplete head.
    partial_head: Vec<u8>,
    /// Request with an incomplete body.
    partial_request: Option<(RequestedReply, UnreadBody)>,
    echo: bool,
}

impl RequestParser {
    /// Creates a parser. With `echo`, complete requests are stored.
    pub fn new(echo: bool) -> Self {
        Self { echo, ..Self::default() }
    }

    /// True if no part of a next request has arrived.
    pub fn is_idle(&self) -> bool {
        self.partial_head.is_empty() && self.partial_request.is_none()
    }

    /// Parses `input`, which is advanced past the used bytes.
    ///
    /// # Errors
    ///
    /// [`MalformedRequest`] if the input is no request.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<ParserStep, MalformedRequest> {
        if self.partial_request.is_none() {
            let Some(head) = self.head(input)? else { return Ok(ParserStep::Wait) };
            if head.body == UnreadBody::Absent {
                return Ok(ParserStep::Done(head.request));
            }
            self.partial_request = Some((head.request, head.body));
            // A client that has begun to send the body no longer waits.
            if head.expects_continue && input.is_empty() {
                return Ok(ParserStep::Continue);
            }
        }
        self.rest_of_body(input)
    }

    fn rest_of_body(&mut self, input: &mut &[u8]) -> Result<ParserStep, MalformedRequest> {
        let Some((request, body)) = &mut self.partial_request else { return Ok(ParserStep::Wait) };
        if !body.take(input, request.echo.as_mut())? {
            return Ok(ParserStep::Wait);
        }
        Ok(self
            .partial_request
            .take()
            .map_or(ParserStep::Wait, |(request, _)| ParserStep::Done(request)))
    }

    fn head(&mut self, input: &mut &[u8]) -> Result<Option<Head>, MalformedRequest> {
        if input.is_empty() {
            return Ok(None);
        }
        let before = self.partial_head.len();
        // A head that arrives in one piece, which is usual, is parsed in place.
        if before > 0 {
            self.partial_head.extend_from_slice(input);
        }
        let bytes = if before > 0 { &self.partial_head[..] } else { *input };
        match parse_head(bytes, self.echo)? {
            Some((head, length)) => {
                *input = &input[length - before..];
                self.partial_head.clear();
                Ok(Some(head))
            }
            None if bytes.len() > MAX_HEAD => {
                Err(MalformedRequest("the head is longer than 64 KiB"))
            }
            None => {
                if before == 0 {
                    self.partial_head.extend_from_slice(input);
                }
                *input = &[];
                Ok(None)
            }
        }
    }
}

struct Head {
    request: RequestedReply,
    body: UnreadBody,
    expects_continue: bool,
}

/// Parses the head at the start of `bytes`. Returns it with its length, or None
/// if it is incomplete.
fn parse_head(bytes: &[u8], echo: bool) -> Result<Option<(Head, usize)>, MalformedRequest> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(MalformedRequest("no HTTP/1.x request")),
    };
    let mut fields = Fields::of(parsed.headers)?;
    let http10 = parsed.version == Some(0);
    let keep_alive = fields.keep_alive.unwrap_or(!http10);
    let shape =
        ReplyShape { http10, head_only: parsed.method == Some("HEAD"), keep_alive, message: None };
    // HTTP/1.0 has neither interim replies nor upgrades.
    let expects_continue = fields.expects_continue && !http10;
    let request = RequestedReply {
        route: ReplyRoute::of(parsed.path.unwrap_or("/")),
        shape,
        echo: echo.then(|| bytes[..length].to_vec()),
        upgrade: fields.upgrade().filter(|_| !http10),
    };
    Ok(Some((Head { request, body: fields.body(), expects_continue }, length)))
}

/// The relevant header fields.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    keep_alive: Option<bool>,
    expects_continue: bool,
    /// Values of `Upgrade`, `HTTP2-Settings` and `Sec-WebSocket-Key`.
    protocols: Option<Vec<u8>>,
    settings: Option<Vec<u8>>,
    key: Option<Vec<u8>>,
    /// True if the version of WebSocket is 13.
    is_rfc6455: bool,
    /// The offered WebSocket extensions.
    extensions: Vec<u8>,
}

impl Fields {
    fn of(headers: &[httparse::Header]) -> Result<Self, MalformedRequest> {
        let mut fields = Self::default();
        for header in headers {
            fields.read(header)?;
        }
        // The two may disagree about the end of the body (RFC 9112, section 6.3).
        if fields.chunked && fields.length.is_some() {
            return Err(MalformedRequest("both Content-Length and Transfer-Encoding"));
        }
        Ok(fields)
    }

    fn read(&mut self, header: &httparse::Header) -> Result<(), MalformedRequest> {
        // Compares lengths first, so that any other field costs one comparison.
        match header.name.len() {
            10 if header.name.eq_ignore_ascii_case("connection") => {
                self.read_connection(header.value);
            }
            14 if header.name.eq_ignore_ascii_case("content-length") => {
                self.read_length(header.value)?;
            }
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                self.chunked = has_token(header.value, "chunked");
                if !self.chunked {
                    return Err(MalformedRequest("a Transfer-Encoding other than chunked"));
                }
            }
            7 if header.name.eq_ignore_ascii_case("upgrade") => {
                self.protocols = Some(header.value.to_vec());
            }
            14 if header.name.eq_ignore_ascii_case("http2-settings") => {
                self.settings = settings(header.value);
            }
            17 if header.name.eq_ignore_ascii_case("sec-websocket-key") => {
                self.key = Some(header.value.to_vec());
            }
            21 if header.name.eq_ignore_ascii_case("sec-websocket-version") => {
                self.is_rfc6455 = header.value == b"13";
            }
            24 if header.name.eq_ignore_ascii_case("sec-websocket-extensions") => {
                self.extensions.extend_from_slice(header.value);
                self.extensions.push(b',');
            }
            6 if header.name.eq_ignore_ascii_case("expect") => {
                self.expects_continue = has_token(header.value, "100-continue");
            }
            _ => {}
        }
        Ok(())
    }

    fn read_connection(&mut self, value: &[u8]) {
        if has_token(value, "close") {
            self.keep_alive = Some(false);
        } else if has_token(value, "keep-alive") {
            self.keep_alive = Some(true);
        }
    }

    fn read_length(&mut self, value: &[u8]) -> Result<(), MalformedRequest> {
        // `parse` would accept a plus sign.
        let text = str::from_utf8(value)
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let length = text
            .and_then(|text| text.parse().ok())
            .ok_or(MalformedRequest("a bad Content-Length"))?;
        match self.length.replace(length) {
            // RFC 9110, section 8.6: a length that is repeated with the same value may be accepted.
            Some(other) if other != length => {
                Err(MalformedRequest("two different Content-Lengths"))
            }
            _ => Ok(()),
        }
    }

    fn upgrade(&mut self) -> Option<Upgrade> {
        let protocols = self.protocols.take()?;
        let asks_for_websocket = has_token(&protocols, "websocket") && self.is_rfc6455;
        let extensions = std::mem::take(&mut self.extensions);
        if let Some(key) = self.key.take().filter(|_| asks_for_websocket) {
            return Some(Upgrade::WebSocket { key, extensions });
        }
        self.settings.take().filter(|_| has_token(&protocols, "h2c")).map(Upgrade::Http2)
    }

    fn body(&self) -> UnreadBody {
        match self.length {
            _ if self.chunked => UnreadBody::chunked(),
            None | Some(0) => UnreadBody::Absent,
            Some(length) => UnreadBody::Counted(length),
        }
    }
}

/// True if a comma-separated field value contains `token`.
fn has_token(value: &[u8], token: &str) -> bool {
    value
        .split(|&byte| byte == b',')
        .any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

#[cfg(test)]
mod tests;
