//! The header fields of a request in the form that HTTP/2 and HTTP/3 need (RFC 9113 section 8.3).

use crate::events::MessageEnds;
use crate::request::{BadRequest, RequestParts, check_header, check_length};
use brunt_model::Body;
use brunt_model::plan::HttpVersion;
use brunt_model::request::{BodyPieces, PieceInterval};
use std::cell::Cell;
use std::fmt::Write;
use std::time::Duration;

/// How a field is compressed (RFC 7541 section 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// Added to the dynamic table, because it is the same in many requests.
    Index,
    /// Not added, because it differs from request to request.
    Without,
    /// Never added by any node on the way, because it is secret.
    Never,
}

/// A header field with its compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderField {
    /// The name, in lower case.
    pub name: Box<str>,
    pub value: Box<str>,
    pub indexing: Indexing,
}

/// The header fields of a request, and facts about its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFields {
    /// Unique among the requests of this thread. It identifies blocks that were already encoded.
    pub id: u64,
    /// The fields, pseudo-headers first.
    pub list: Vec<HeaderField>,
    /// True if there is a body to send.
    pub has_body: bool,
    /// True for a gRPC call.
    pub is_grpc: bool,
    /// Number of messages of gRPC in the body, if it is not sent in pieces.
    pub messages: u64,
    /// Set if the body is sent in pieces, and time decides when.
    pub timed_pieces: Option<TimedPieces>,
}

/// When the pieces of a body are sent, if time decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedPieces {
    /// Number of pieces, including the first. None: no limit.
    pub count: Option<u64>,
    /// Time from the start of one piece to the next. None: replies release the pieces.
    pub interval: Option<Duration>,
    /// Time from the first piece after which no further piece is sent.
    pub duration: Option<Duration>,
}

impl TimedPieces {
    fn from_body(body: &Body) -> Option<Self> {
        let Body::Pieces(BodyPieces { interval, count, duration, .. }) = body else { return None };
        let interval = match interval {
            PieceInterval::Time(interval) => Some(*interval),
            PieceInterval::Reply => None,
        };
        (interval.is_some() || duration.is_some()).then_some(Self {
            count: *count,
            interval,
            duration: *duration,
        })
    }

    /// Time from the first piece to the one of this number, counted from 0. None: time does not
    /// release it.
    pub fn offset(&self, number: u64) -> Option<Duration> {
        let interval = self.interval.filter(|_| self.count.is_none_or(|count| number < count))?;
        Some(interval.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX)))
    }
}

/// Number of messages of gRPC in a body.
fn messages(body: &[u8]) -> u64 {
    MessageEnds::default().push(body)
}

/// Fields that are specific to HTTP/1 connections (RFC 9113 section 8.2.2), and
/// `host`, which `:authority` replaces.
const NOT_IN_HTTP2: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "upgrade", "http2-settings", "host"];
/// Fields that the WebSocket handshake sets itself.
const HANDSHAKE_FIELDS: [&str; 3] =
    ["sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];
/// Fields that differ from request to request.
const VARYING: [&str; 7] = [
    ":path",
    "content-length",
    "if-none-match",
    "if-modified-since",
    "range",
    "etag",
    "traceparent",
];
/// Fields that no node on the way may store.
const SECRET: [&str; 2] = ["authorization", "proxy-authorization"];

thread_local! {
    static NEXT_ID: Cell<u64> = const { Cell::new(1) };
}

impl HeaderField {
    fn new(name: &str, value: &str) -> Self {
        // HTTP/2 and HTTP/3 allow only lower case (RFC 9113 section 8.2).
        let name = name.to_ascii_lowercase();
        let indexing = match name.as_str() {
            name if VARYING.contains(&name) => Indexing::Without,
            name if SECRET.contains(&name) => Indexing::Never,
            _ => Indexing::Index,
        };
        Self { name: name.into(), value: value.into(), indexing }
    }

    /// Size of the field in a header list (RFC 9113 section 6.5.2).
    pub fn size(&self) -> usize {
        self.name.len() + self.value.len() + 32
    }
}

impl RequestFields {
    /// Builds the fields of a request.
    ///
    /// # Errors
    ///
    /// If a field contains a character that is not allowed.
    pub fn from_request(parts: &RequestParts) -> Result<Self, BadRequest> {
        let RequestParts { method, url, headers, body, .. } = parts;
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let authority = header_value(headers, "host").unwrap_or(host);
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let mut list = vec![
            HeaderField::new(":method", method),
            HeaderField::new(":scheme", url.scheme()),
            HeaderField::new(":authority", authority),
            HeaderField::new(":path", path),
        ];
        check_length(headers, body.bytes().unwrap_or_default())?;
        add_headers(&mut list, headers)?;
        let length = body.bytes().map(<[u8]>::len);
        // Pieces may be sent again, or for some time.
        let announced = length.filter(|_| {
            !matches!(body, Body::Pieces(_)) && header_value(headers, "content-length").is_none()
        });
        if let Some(length) = announced {
            list.push(HeaderField::new("content-length", &length.to_string()));
        }
        let content_type = header_value(headers, "content-type");
        let is_grpc = content_type.is_some_and(|value| value.starts_with("application/grpc"));
        let has_body = length.is_some_and(|length| length > 0);
        Ok(Self {
            id: next_id(),
            list,
            is_grpc,
            has_body,
            messages: body.bytes().filter(|_| is_grpc).map_or(0, messages),
            timed_pieces: TimedPieces::from_body(body),
        })
    }

    /// Builds the fields of the extended CONNECT that opens a WebSocket (RFC 8441 section 5).
    /// `offer` is the value of Sec-WebSocket-Extensions.
    ///
    /// # Errors
    ///
    /// If a field contains a character that is not allowed.
    pub fn from_websocket(parts: &RequestParts, offer: Option<&str>) -> Result<Self, BadRequest> {
        let RequestParts { url, headers, .. } = parts;
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let authority = header_value(headers, "host").unwrap_or(host);
        let mut list = vec![
            HeaderField::new(":method", "CONNECT"),
            HeaderField::new(":protocol", "websocket"),
            HeaderField::new(":scheme", if url.scheme() == "wss" { "https" } else { "http" }),
            HeaderField::new(":authority", authority),
            HeaderField::new(":path", &url[url::Position::BeforePath..url::Position::AfterQuery]),
            HeaderField::new("sec-websocket-version", "13"),
        ];
        list.extend(offer.map(|offer| HeaderField::new("sec-websocket-extensions", offer)));
        let own_headers = headers.iter().filter(|(name, _)| !is_handshake_field(name));
        add_headers(&mut list, own_headers)?;
        Ok(Self {
            id: next_id(),
            list,
            has_body: false,
            is_grpc: false,
            messages: 0,
            timed_pieces: None,
        })
    }

    /// Returns the request as text in the form of HTTP/1, for display. `version` is its version of
    /// HTTP.
    pub fn as_text(&self, version: HttpVersion, body: &Body) -> Vec<u8> {
        let method = self.value(":method");
        let path = self.value(":path");
        let host = self.value(":authority");
        let mut text = format!("{method} {path} {version}\r\nhost: {host}\r\n");
        for HeaderField { name, value, .. } in
            self.list.iter().filter(|field| !field.name.starts_with(':'))
        {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text += "\r\n";
        [text.as_bytes(), body.bytes().unwrap_or_default()].concat()
    }

    /// Returns the deadline of a gRPC call, from its field `grpc-timeout`: up to 8 digits and a unit.
    pub fn deadline(&self) -> Option<Duration> {
        let (unit, digits) = self.value("grpc-timeout").as_bytes().split_last()?;
        let count: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(match unit {
            b'n' => Duration::from_nanos(count),
            b'u' => Duration::from_micros(count),
            b'm' => Duration::from_millis(count),
            b'S' => Duration::from_secs(count),
            b'M' => Duration::from_secs(count.checked_mul(60)?),
            b'H' => Duration::from_secs(count.checked_mul(3600)?),
            _ => return None,
        })
    }

    /// Returns the value of a field, or an empty text.
    fn value(&self, name: &str) -> &str {
        self.list.iter().find(|field| *field.name == *name).map_or("", |field| &field.value)
    }

    /// Returns a copy with a line `Name: value` after all others.
    #[must_use]
    pub fn with_line(&self, line: &str) -> Self {
        let mut list = self.list.clone();
        if let Some((name, value)) = line.split_once(':') {
            list.push(HeaderField::new(name.trim(), value.trim()));
        }
        // A new number, because the encoder caches blocks by it.
        Self { id: next_id(), list, ..*self }
    }
}

/// Returns the value of the first header field with this name, in any case.
fn header_value<'h>(headers: &'h [(String, String)], wanted: &str) -> Option<&'h str> {
    headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
        .map(|(_, value)| value.as_str())
}

fn is_handshake_field(name: &str) -> bool {
    HANDSHAKE_FIELDS.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Adds header fields, except those that HTTP/2 does not allow.
fn add_headers<'h>(
    list: &mut Vec<HeaderField>,
    headers: impl IntoIterator<Item = &'h (String, String)>,
) -> Result<(), BadRequest> {
    for header @ (name, value) in headers {
        check_header(header)?;
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(BadRequest::TransferEncoding(
                value.clone(),
                "HTTP/2 and HTTP/3 frame bodies themselves",
            ));
        }
        if !NOT_IN_HTTP2.iter().any(|other| name.eq_ignore_ascii_case(other)) {
            list.push(HeaderField::new(name, value));
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
    use crate::request::RequestDraft;

    #[test]
    fn fields_of_http1_connections_are_omitted() {
        let headers =
            [("Host", "other"), ("Connection", "close"), ("X-A", "b"), ("TE", "trailers")];
        let headers: Vec<_> =
            headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let body = Body::Text("hi".into());
        let url = "https://h:8443/a/b?c=d#e";
        let draft = RequestDraft {
            method: "POST",
            url,
            headers: &headers,
            body: &body,
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        let fields =
            RequestFields::from_request(&RequestParts::from_draft(&draft).unwrap()).unwrap();
        let text: Vec<_> = fields.list.iter().map(|f| format!("{}={}", f.name, f.value)).collect();
        let head = ":method=POST :scheme=https :authority=other :path=/a/b?c=d x-a=b te=trailers content-length=2";
        assert_eq!(text.join(" "), head);
        for (version, line) in [(HttpVersion::V2, "HTTP/2"), (HttpVersion::V3, "HTTP/3")] {
            let text = String::from_utf8(fields.as_text(version, &body)).unwrap();
            assert!(
                text.starts_with(&format!("POST /a/b?c=d {line}\r\nhost: other\r\n")),
                "{text}"
            );
        }
        let more = fields.with_line("Cookie: a=b; c=d");
        assert_eq!(more.list.last().unwrap(), &HeaderField::new("cookie", "a=b; c=d"));
        assert_ne!(more.id, fields.id);
    }

    #[test]
    fn the_deadline_of_a_call_has_a_unit() {
        for (value, millis) in [
            ("300m", Some(300)),
            ("2S", Some(2_000)),
            ("2000000u", Some(2_000)),
            ("5000000n", Some(5)),
            ("1M", Some(60_000)),
            ("1H", Some(3_600_000)),
            ("7", None),
            ("x", None),
            ("", None),
        ] {
            let list = vec![HeaderField::new("grpc-timeout", value)];
            let fields = RequestFields {
                id: 0,
                list,
                has_body: true,
                is_grpc: true,
                messages: 0,
                timed_pieces: None,
            };
            assert_eq!(fields.deadline(), millis.map(Duration::from_millis), "{value}");
        }
    }

    #[test]
    fn a_websocket_is_opened_by_an_extended_connect() {
        let headers = [
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", "x"),
            ("Sec-WebSocket-Protocol", "chat"),
        ];
        let headers: Vec<_> =
            headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let url = "wss://h:8443/chat?room=1";
        let body = Body::Text("hi".into());
        let draft = RequestDraft {
            method: "GET",
            url,
            headers: &headers,
            body: &body,
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        let fields = RequestFields::from_websocket(
            &RequestParts::from_draft(&draft).unwrap(),
            Some("permessage-deflate"),
        )
        .unwrap();
        let text: Vec<_> = fields.list.iter().map(|f| format!("{}={}", f.name, f.value)).collect();
        let head = ":method=CONNECT :protocol=websocket :scheme=https :authority=h:8443 :path=/chat?room=1 \
                    sec-websocket-version=13 sec-websocket-extensions=permessage-deflate sec-websocket-protocol=chat";
        assert_eq!(text.join(" "), head);
    }
}
