//! Requests out of bytes: an incremental HTTP/1.x request parser.
//!
//! Takes whatever pieces the socket gives and keeps only what is incomplete. It knows nothing of sockets or replies,
//! and of a request it keeps only what decides the reply; bodies are counted off, and kept only for `--echo`.

use crate::body::Body;
use crate::h2::upgrade::settings;

/// The longest head that is accepted, in bytes.
const LONGEST_HEAD: usize = 64 * 1024;

/// The most header fields that are accepted.
const MOST_HEADERS: usize = 100;

/// The most bytes `/bytes/N` gives.
const MOST_BYTES: usize = 64 << 20;

/// The longest `/delay/MS`: an hour.
const LONGEST_DELAY: u64 = 3_600_000;

/// What decides the reply to one request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// What is asked for.
    pub route: Route,
    /// How the reply must be framed.
    pub shape: Shape,
    /// With `--echo`: the whole request, body decoded.
    pub echo: Option<Vec<u8>>,
    /// What an HTTP/1.1 client asks to go on with.
    pub upgrade: Option<Upgrade>,
}

/// A protocol to which a connection of HTTP/1.1 can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upgrade {
    /// HTTP/2, with these settings of the client (`Upgrade: h2c`).
    Http2(Vec<u8>),
    /// WebSocket, with this `Sec-WebSocket-Key`, and the extensions that are offered, each behind a comma.
    WebSocket {
        /// The key.
        key: Vec<u8>,
        /// The offers.
        extensions: Vec<u8>,
    },
}

/// What decides the framing of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// The client speaks HTTP/1.0.
    pub http10: bool,
    /// The reply to HEAD has no body.
    pub head_only: bool,
    /// The connection stays open after the reply.
    pub keep_alive: bool,
    /// Of a WebSocket, the opcode of the message, which is that of the reply, too.
    pub message: Option<u8>,
}

/// What a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Route {
    /// The usual reply.
    #[default]
    Plain,
    /// `/status/NNN`: this status.
    Status(u16),
    /// `/redirect/N`: N more redirects.
    Redirect(u32),
    /// `/bytes/N`: a body of N bytes.
    Bytes(usize),
    /// `/delay/MS`: that many more milliseconds of service.
    Delay(u64),
    /// `/stats`: the figures so far; no arrival.
    Stats,
}

impl Route {
    /// The route of a target in origin or absolute form; what is no special path is [`Route::Plain`].
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
            "status" => Self::Status(value.parse().ok().filter(|status| (200..=599).contains(status))?),
            "redirect" => Self::Redirect(value.parse().ok()?),
            "bytes" => Self::Bytes(value.parse().ok().filter(|count| *count <= MOST_BYTES)?),
            "delay" => Self::Delay(value.parse().ok().filter(|delay| *delay <= LONGEST_DELAY)?),
            _ => return None,
        })
    }
}

fn path_of(target: &str) -> &str {
    let origin_form = match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => rest.find('/').map_or("/", |at| &rest[at..]),
        _ => target,
    };
    origin_form.split(['?', '#']).next().unwrap_or("/")
}

/// What the parser found next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// All input is used up; more must come.
    Wait,
    /// The client waits for `100 Continue` before it sends the body.
    Continue,
    /// A request is complete.
    Done(Request),
}

/// The bytes are no HTTP/1.x request; says why.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// The parser of one connection.
#[derive(Debug, Default)]
pub struct Parser {
    /// The incomplete head so far.
    held: Vec<u8>,
    /// The request whose body is still coming.
    open: Option<(Request, Body)>,
    echo: bool,
}

impl Parser {
    /// A parser that keeps whole requests when `echo` is set.
    pub fn new(echo: bool) -> Self {
        Self { echo, ..Self::default() }
    }

    /// Whether nothing of a next request has come yet.
    pub fn is_idle(&self) -> bool {
        self.held.is_empty() && self.open.is_none()
    }

    /// Reads on in `input`, which is moved past what was used.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the input is no request.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Step, Malformed> {
        if self.open.is_none() {
            let Some(head) = self.head(input)? else { return Ok(Step::Wait) };
            if head.body == Body::Absent {
                return Ok(Step::Done(head.request));
            }
            self.open = Some((head.request, head.body));
            if head.expects_continue && input.is_empty() {
                return Ok(Step::Continue);
            }
        }
        self.rest_of_body(input)
    }

    fn rest_of_body(&mut self, input: &mut &[u8]) -> Result<Step, Malformed> {
        let Some((request, body)) = &mut self.open else { return Ok(Step::Wait) };
        if !body.take(input, request.echo.as_mut())? {
            return Ok(Step::Wait);
        }
        Ok(self.open.take().map_or(Step::Wait, |(request, _)| Step::Done(request)))
    }

    fn head(&mut self, input: &mut &[u8]) -> Result<Option<Head>, Malformed> {
        if input.is_empty() {
            return Ok(None);
        }
        let before = self.held.len();
        if before > 0 {
            self.held.extend_from_slice(input);
        }
        let bytes = if before > 0 { &self.held[..] } else { *input };
        match parse_head(bytes, self.echo)? {
            Some((head, length)) => {
                *input = &input[length - before..];
                self.held.clear();
                Ok(Some(head))
            }
            None if bytes.len() > LONGEST_HEAD => Err(Malformed("the head is longer than 64 KiB")),
            None => {
                if before == 0 {
                    self.held.extend_from_slice(input);
                }
                *input = &[];
                Ok(None)
            }
        }
    }
}

struct Head {
    request: Request,
    body: Body,
    expects_continue: bool,
}

/// The head at the start of `bytes` and its length, or none if it is incomplete.
fn parse_head(bytes: &[u8], echo: bool) -> Result<Option<(Head, usize)>, Malformed> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Malformed("no HTTP/1.x request")),
    };
    let mut fields = Fields::of(parsed.headers)?;
    let http10 = parsed.version == Some(0);
    let keep_alive = fields.keep_alive.unwrap_or(!http10);
    let shape = Shape { http10, head_only: parsed.method == Some("HEAD"), keep_alive, message: None };
    let expects_continue = fields.expects_continue && !http10;
    let request = Request {
        route: Route::of(parsed.path.unwrap_or("/")),
        shape,
        echo: echo.then(|| bytes[..length].to_vec()),
        upgrade: fields.upgrade().filter(|_| !http10),
    };
    Ok(Some((Head { request, body: fields.body(), expects_continue }, length)))
}

/// The header fields that matter here.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    keep_alive: Option<bool>,
    expects_continue: bool,
    /// The values of `Upgrade`, `HTTP2-Settings` and `Sec-WebSocket-Key`.
    protocols: Option<Vec<u8>>,
    settings: Option<Vec<u8>>,
    key: Option<Vec<u8>>,
    /// The version of WebSocket is 13.
    is_rfc6455: bool,
    /// The extensions of WebSocket that are offered.
    extensions: Vec<u8>,
}

impl Fields {
    fn of(headers: &[httparse::Header]) -> Result<Self, Malformed> {
        let mut fields = Self::default();
        for header in headers {
            fields.read(header)?;
        }
        if fields.chunked && fields.length.is_some() {
            return Err(Malformed("both Content-Length and Transfer-Encoding"));
        }
        Ok(fields)
    }

    fn read(&mut self, header: &httparse::Header) -> Result<(), Malformed> {
        // The lengths of the names that matter; any other field costs one comparison.
        match header.name.len() {
            10 if header.name.eq_ignore_ascii_case("connection") => self.read_connection(header.value),
            14 if header.name.eq_ignore_ascii_case("content-length") => self.read_length(header.value)?,
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                self.chunked = has_token(header.value, "chunked");
                if !self.chunked {
                    return Err(Malformed("a Transfer-Encoding other than chunked"));
                }
            }
            7 if header.name.eq_ignore_ascii_case("upgrade") => self.protocols = Some(header.value.to_vec()),
            14 if header.name.eq_ignore_ascii_case("http2-settings") => self.settings = settings(header.value),
            17 if header.name.eq_ignore_ascii_case("sec-websocket-key") => self.key = Some(header.value.to_vec()),
            21 if header.name.eq_ignore_ascii_case("sec-websocket-version") => self.is_rfc6455 = header.value == b"13",
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

    fn read_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        let text = str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let length = text.and_then(|text| text.parse().ok()).ok_or(Malformed("a bad Content-Length"))?;
        match self.length.replace(length) {
            Some(other) if other != length => Err(Malformed("two different Content-Lengths")),
            _ => Ok(()),
        }
    }

    fn upgrade(&mut self) -> Option<Upgrade> {
        let protocols = self.protocols.take()?;
        let websocket = has_token(&protocols, "websocket") && self.is_rfc6455;
        let http2 = || self.settings.take().filter(|_| has_token(&protocols, "h2c")).map(Upgrade::Http2);
        let extensions = std::mem::take(&mut self.extensions);
        let key = self.key.take().filter(|_| websocket);
        key.map(|key| Upgrade::WebSocket { key, extensions }).or_else(http2)
    }

    fn body(&self) -> Body {
        match self.length {
            _ if self.chunked => Body::chunked(),
            None | Some(0) => Body::Absent,
            Some(length) => Body::Counted(length),
        }
    }
}

/// Whether a comma-separated field value names `token`.
fn has_token(value: &[u8], token: &str) -> bool {
    value.split(|&byte| byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

#[cfg(test)]
mod tests;
