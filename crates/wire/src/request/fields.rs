//! The header fields of a request as HTTP/2 needs them (RFC 9113 section 8.3).

use crate::request::{BadRequest, RequestParts, check_header};
use brunt_model::Body;
use brunt_model::request::{BodyPieces, PieceInterval};
use std::cell::Cell;
use std::fmt::Write;
use std::time::Duration;

/// How a field is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// Kept in the table: it stays the same over requests.
    Index,
    /// Not kept: it differs from request to request.
    Not,
    /// Not kept, by nobody on the way: it is secret.
    Never,
}

/// A header field: its name in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name in lower case.
    pub name: Box<str>,
    /// Its value.
    pub value: Box<str>,
    /// How it is compressed.
    pub indexing: Indexing,
}

/// The fields of a request, and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// Differs from that of any other request of this thread: what was encoded once is known by it.
    pub id: u64,
    /// Those of pseudo headers first.
    pub list: Vec<Field>,
    /// Has a body to send.
    pub has_body: bool,
    /// It is a call of gRPC.
    pub is_grpc: bool,
    /// Its body is sent in pieces at an interval.
    pub timed_pieces: Option<TimedPieces>,
}

/// How many pieces of a body are sent, and how long each is after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedPieces {
    /// How many, with the first.
    pub count: u32,
    /// From one to the next.
    pub interval: Duration,
}

impl TimedPieces {
    fn of(body: &Body) -> Option<Self> {
        let Body::Pieces(BodyPieces { ends, interval: PieceInterval::Time(interval), .. }) = body else { return None };
        Some(Self { count: u32::try_from(ends.len()).unwrap_or(u32::MAX), interval: *interval })
    }
}

/// Fields that belong to a connection of HTTP/1 (RFC 9113 section 8.2.2), and the one that `:authority` stands for.
const NOT_IN_HTTP2: [&str; 6] = ["connection", "keep-alive", "proxy-connection", "upgrade", "http2-settings", "host"];
/// Fields that a client of WebSocket writes itself.
const OF_HANDSHAKE: [&str; 3] = ["sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];
/// Fields that differ from request to request.
const CHANGING: [&str; 7] =
    [":path", "content-length", "if-none-match", "if-modified-since", "range", "etag", "traceparent"];
/// Fields that nobody on the way keeps.
const SECRET: [&str; 2] = ["authorization", "proxy-authorization"];

thread_local! {
    static NEXT_ID: Cell<u64> = const { Cell::new(1) };
}

impl Field {
    fn new(name: &str, value: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let indexing = match name.as_str() {
            name if CHANGING.contains(&name) => Indexing::Not,
            name if SECRET.contains(&name) => Indexing::Never,
            _ => Indexing::Index,
        };
        Self { name: name.into(), value: value.into(), indexing }
    }

    /// Bytes that it counts in a list of header fields (RFC 9113 section 6.5.2).
    pub fn size(&self) -> usize {
        self.name.len() + self.value.len() + 32
    }
}

impl Fields {
    /// Those of a request.
    ///
    /// # Errors
    ///
    /// A field has a character that none may have.
    pub fn of(parts: &RequestParts) -> Result<Self, BadRequest> {
        let RequestParts { method, url, headers, body, .. } = parts;
        let named = |wanted: &'static str| headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let authority = named("host").map_or(host, |(_, value)| value);
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let mut list = vec![
            Field::new(":method", method),
            Field::new(":scheme", url.scheme()),
            Field::new(":authority", authority),
            Field::new(":path", path),
        ];
        add_headers(&mut list, headers)?;
        let length = body.bytes().map(<[u8]>::len);
        if let Some(length) = length.filter(|_| named("content-length").is_none()) {
            list.push(Field::new("content-length", &length.to_string()));
        }
        let is_grpc = named("content-type").is_some_and(|(_, value)| value.starts_with("application/grpc"));
        let has_body = length.is_some_and(|length| length > 0);
        Ok(Self { id: next_id(), list, is_grpc, has_body, timed_pieces: TimedPieces::of(body) })
    }

    /// Those of the extended CONNECT that opens a WebSocket (RFC 8441 section 5), with the offer of an extension.
    ///
    /// # Errors
    ///
    /// A field has a character that none may have.
    pub fn of_websocket(parts: &RequestParts, offer: Option<&str>) -> Result<Self, BadRequest> {
        let RequestParts { url, headers, .. } = parts;
        let host = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
        let authority = host.map_or(&url[url::Position::BeforeHost..url::Position::AfterPort], |(_, value)| value);
        let mut list = vec![
            Field::new(":method", "CONNECT"),
            Field::new(":protocol", "websocket"),
            Field::new(":scheme", if url.scheme() == "wss" { "https" } else { "http" }),
            Field::new(":authority", authority),
            Field::new(":path", &url[url::Position::BeforePath..url::Position::AfterQuery]),
            Field::new("sec-websocket-version", "13"),
        ];
        list.extend(offer.map(|offer| Field::new("sec-websocket-extensions", offer)));
        let own = |name: &str| OF_HANDSHAKE.iter().any(|other| name.eq_ignore_ascii_case(other));
        add_headers(&mut list, headers.iter().filter(|(name, _)| !own(name)))?;
        Ok(Self { id: next_id(), list, has_body: false, is_grpc: false, timed_pieces: None })
    }

    /// The request as a reader knows it from HTTP/1.
    pub fn as_text(&self, body: &Body) -> Vec<u8> {
        let pseudo = |name: &str| self.list.iter().find(|field| *field.name == *name).map_or("", |field| &field.value);
        let (method, path, host) = (pseudo(":method"), pseudo(":path"), pseudo(":authority"));
        let mut text = format!("{method} {path} HTTP/2\r\nhost: {host}\r\n");
        for Field { name, value, .. } in self.list.iter().filter(|field| !field.name.starts_with(':')) {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text += "\r\n";
        [text.as_bytes(), body.bytes().unwrap_or_default()].concat()
    }

    /// The same with a line `Name: value` behind all others.
    #[must_use]
    pub fn with_line(&self, line: &str) -> Self {
        let mut list = self.list.clone();
        if let Some((name, value)) = line.split_once(':') {
            list.push(Field::new(name.trim(), value.trim()));
        }
        Self { id: next_id(), list, ..*self }
    }
}

/// Adds header fields that HTTP/2 has, too.
fn add_headers<'h>(
    list: &mut Vec<Field>,
    headers: impl IntoIterator<Item = &'h (String, String)>,
) -> Result<(), BadRequest> {
    for header @ (name, value) in headers {
        check_header(header)?;
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(BadRequest::TransferEncoding(value.clone(), "HTTP/2 and HTTP/3 frame bodies themselves"));
        }
        if !NOT_IN_HTTP2.iter().any(|other| name.eq_ignore_ascii_case(other)) {
            list.push(Field::new(name, value));
        }
    }
    Ok(())
}

fn next_id() -> u64 {
    NEXT_ID.with(|next| next.replace(next.get() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Draft;

    #[test]
    fn fields_of_http1_connections_are_left_out() {
        let headers = [("Host", "other"), ("Connection", "close"), ("X-A", "b"), ("TE", "trailers")];
        let headers: Vec<_> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let body = Body::Text("hi".into());
        let url = "https://h:8443/a/b?c=d#e";
        let draft =
            Draft { method: "POST", url, headers: &headers, body: &body, label: 0, reply_policy: 0, verbatim: None };
        let fields = Fields::of(&RequestParts::of(&draft).unwrap()).unwrap();
        let text: Vec<_> = fields.list.iter().map(|f| format!("{}={}", f.name, f.value)).collect();
        let head = ":method=POST :scheme=https :authority=other :path=/a/b?c=d x-a=b te=trailers content-length=2";
        assert_eq!(text.join(" "), head);
        let more = fields.with_line("Cookie: a=b; c=d");
        assert_eq!(more.list.last().unwrap(), &Field::new("cookie", "a=b; c=d"));
        assert_ne!(more.id, fields.id);
    }

    #[test]
    fn a_websocket_is_opened_by_an_extended_connect() {
        let headers = [("Connection", "Upgrade"), ("Sec-WebSocket-Key", "x"), ("Sec-WebSocket-Protocol", "chat")];
        let headers: Vec<_> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let url = "wss://h:8443/chat?room=1";
        let body = Body::Text("hi".into());
        let draft =
            Draft { method: "GET", url, headers: &headers, body: &body, label: 0, reply_policy: 0, verbatim: None };
        let fields = Fields::of_websocket(&RequestParts::of(&draft).unwrap(), Some("permessage-deflate")).unwrap();
        let text: Vec<_> = fields.list.iter().map(|f| format!("{}={}", f.name, f.value)).collect();
        let head = ":method=CONNECT :protocol=websocket :scheme=https :authority=h:8443 :path=/chat?room=1 \
                    sec-websocket-version=13 sec-websocket-extensions=permessage-deflate sec-websocket-protocol=chat";
        assert_eq!(text.join(" "), head);
    }
}
