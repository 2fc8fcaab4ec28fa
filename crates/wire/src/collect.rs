//! Collects the requested parts of a reply, for every protocol.

pub(crate) mod body;

use crate::charset::TextType;
use crate::contract::{ReplyDetails, ReplyHead, ReplySink, WantedDetails, WantedFields};
use crate::events::{EventMeter, MessageEnds};
use body::{BodyCollector, FinishedBody, UnpackError};
use brunt_model::Tick;
use brunt_model::plan::HttpVersion;
use regex::bytes::Regex;
use std::fmt::Write;

/// Collects the requested parts of one reply.
#[derive(Default)]
pub(crate) struct ReplyCollector {
    wants: WantedDetails,
    is_page: bool,
    location: Option<String>,
    server: Option<String>,
    cookie: Option<String>,
    encoding: Option<String>,
    fields: Vec<(String, String)>,
    pattern: Option<Regex>,
    text: TextType,
    /// Created when the first byte of the body arrives.
    body: Option<BodyCollector>,
    first_bytes: Vec<u8>,
    /// Moves into `body` when the body begins.
    events: Option<Box<EventMeter>>,
    /// The trailers of a chunked body as text.
    trailers: Vec<u8>,
    /// Counts messages, if each message of the reply allows another piece of the
    /// request to be sent.
    messages: Option<MessageCounter>,
}

/// Counts the messages of a reply, each of which allows a piece of the request to be sent.
struct MessageCounter {
    ends: MessageEnds,
    /// Messages received since the last call of `take_messages`.
    count: u64,
}

/// Content-Encodings that are decoded, or that need no decoding.
const DECODED: [&str; 6] = ["gzip", "x-gzip", "deflate", "permessage-deflate", "identity", ""];

/// Bytes at the start of a reply that are kept for its status line.
const STATUS_LINE: usize = 256;

impl ReplyCollector {
    /// Receives bytes that precede the end of the head.
    pub fn push_head_bytes(&mut self, bytes: &[u8]) {
        let line = if self.wants.status_line { STATUS_LINE } else { 0 };
        let room =
            if self.wants.head { bytes.len() } else { line.saturating_sub(self.first_bytes.len()) };
        self.first_bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns None if no part of the reply is needed.
    pub fn new(
        wants: WantedDetails,
        pattern: Option<&Regex>,
        events: Option<Box<EventMeter>>,
    ) -> Option<Box<Self>> {
        if wants == WantedDetails::default() && events.is_none() {
            return None;
        }
        let pattern = pattern.filter(|_| wants.matches).cloned();
        Some(Box::new(Self { wants, pattern, events, ..Self::default() }))
    }

    /// Makes `collector` count messages, each of which allows a piece of the request to be sent.
    pub fn counting_messages(collector: Option<Box<Self>>) -> Box<Self> {
        let mut collector = collector.unwrap_or_default();
        collector.messages = Some(MessageCounter { ends: MessageEnds::default(), count: 0 });
        collector
    }

    /// Returns the number of messages since the last call. Zero unless messages are counted.
    pub fn take_messages(&mut self) -> u64 {
        self.messages.as_mut().map_or(0, |messages| std::mem::take(&mut messages.count))
    }

    /// Records when a piece of the request was sent. The next event of the reply answers it.
    pub fn record_sent(&mut self, now: Tick) {
        if self.messages.is_none() {
            return;
        }
        match (&mut self.body, &mut self.events) {
            (Some(body), _) => body.record_sent(now),
            (None, Some(events)) => events.record_sent(now),
            (None, None) => {}
        }
    }

    pub fn finish(mut self, head: ReplyHead) -> ReplyDetails {
        let trailers = std::mem::take(&mut self.trailers);
        for line in trailers.split(|byte| *byte == b'\n') {
            // A line without a colon is no field.
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let name = String::from_utf8_lossy(&line[..colon]);
            self.header(name.trim(), &line[colon + 1..]);
        }
        let received = self.body.take();
        let has_body = received.is_some();
        let FinishedBody { bytes: body, matches, error } =
            received.unwrap_or_else(|| self.empty_body()).finish();
        let undecoded = if has_body { self.decoding_error(error) } else { None };
        let head = (self.wants.head || self.wants.fields != WantedFields::None)
            .then_some((head, self.fields));
        let Self { location, server, cookie, first_bytes, .. } = self;
        ReplyDetails {
            location,
            body,
            text: self.text,
            undecoded,
            matches,
            server,
            cookie,
            head,
            first_bytes,
        }
    }

    /// Why the body was not decoded, though its content was needed.
    fn decoding_error(&self, error: Option<UnpackError>) -> Option<String> {
        let encoding = self.encoding.as_deref().filter(|_| self.looks_at_body())?;
        match error {
            Some(UnpackError::Damaged) => {
                return Some(format!("its `{encoding}` data is damaged or incomplete"));
            }
            Some(UnpackError::TooLong) => {
                return Some(format!(
                    "its `{encoding}` data is too long when it is unpacked: more than 64 MiB, or more than 4 MiB and 100 times its packed size"
                ));
            }
            None => {}
        }
        let is_known = encoding.split(',').all(|coding| DECODED.contains(&coding.trim()));
        (!is_known).then(|| {
            format!("its Content-Encoding `{encoding}` is unknown; brunt decodes gzip and deflate")
        })
    }

    fn looks_at_body(&self) -> bool {
        self.pattern.is_some() || self.wants.body || self.is_page
    }

    /// Sets the Content-Encoding of the body. Only the first call has an effect.
    pub fn set_encoding(&mut self, encoding: &str) {
        if self.encoding.is_none() {
            self.encoding = Some(encoding.to_owned());
        }
    }

    /// Receives a piece of a WebSocket message.
    pub fn push_message(&mut self, piece: &[u8], is_compressed: bool) {
        if is_compressed {
            self.set_encoding("permessage-deflate");
        }
        self.body(piece);
    }

    /// Receives the head of a reply on a stream (HTTP/2 and 3).
    pub fn push_stream_head(
        &mut self,
        version: HttpVersion,
        status: u16,
        lines: &[(Vec<u8>, Vec<u8>)],
    ) {
        if self.wants.head || self.wants.status_line {
            let mut text = format!("{version} {status}\r\n").into_bytes();
            for (name, value) in lines.iter().filter(|(name, _)| name != b":status") {
                text.extend_from_slice(&[name, &b": "[..], value, b"\r\n"].concat());
            }
            text.extend_from_slice(b"\r\n");
            self.push_head_bytes(&text);
        }
        for (name, value) in lines.iter().filter(|(name, _)| name != b":status") {
            self.header(&String::from_utf8_lossy(name), value);
        }
    }

    /// Receives the trailers. They are kept after the fields of the head.
    pub fn push_trailers(&mut self, lines: &[(Vec<u8>, Vec<u8>)]) {
        for (name, value) in lines {
            self.header(&String::from_utf8_lossy(name), value);
        }
    }

    /// True if the rest of the reply is not needed, though its end was not received.
    pub fn is_over(&self) -> bool {
        self.body.as_ref().is_some_and(BodyCollector::is_over)
    }

    fn empty_body(&mut self) -> BodyCollector {
        let retained = (self.wants.body || self.is_page).then(Vec::new);
        let charset = self.text.foreign_charset();
        BodyCollector::new(
            self.encoding.as_deref(),
            charset,
            self.pattern.as_ref(),
            retained,
            self.events.take(),
        )
    }
}

impl ReplySink for ReplyCollector {
    fn header(&mut self, name: &str, value: &[u8]) {
        if self.wants.head || self.wants.fields.contains(name) {
            self.fields.push((name.to_owned(), trimmed_text(value)));
        }
        if self.wants.page && name.eq_ignore_ascii_case("content-type") {
            self.is_page = value.trim_ascii().starts_with(b"text/html");
        }
        if (self.pattern.is_some() || self.wants.body || self.wants.page)
            && name.eq_ignore_ascii_case("content-type")
        {
            self.text = TextType::from_content_type(&trimmed_text(value));
        }
        if self.wants.location && name.eq_ignore_ascii_case("location") {
            self.location = Some(location_text(value));
        } else if self.wants.cookie && name.eq_ignore_ascii_case("set-cookie") {
            self.cookie = trimmed_text(value).split(';').next().map(|pair| pair.trim().to_owned());
        } else if self.wants.server && name.eq_ignore_ascii_case("server") {
            self.server = Some(trimmed_text(value));
        } else if name.eq_ignore_ascii_case("content-encoding") {
            let coding = trimmed_text(value).to_ascii_lowercase();
            // Several fields are one list (RFC 9110 section 5.3).
            self.encoding = Some(match self.encoding.take() {
                Some(codings) => format!("{codings}, {coding}"),
                None => coding,
            });
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if let Some(messages) = &mut self.messages {
            messages.count += messages.ends.push(bytes);
        }
        if self.body.is_some() || self.looks_at_body() || self.events.is_some() {
            let mut body = self.body.take().unwrap_or_else(|| self.empty_body());
            body.push(bytes);
            self.body = Some(body);
        }
    }

    fn trailer_byte(&mut self, byte: u8) {
        self.trailers.push(byte);
    }
}

/// The text of a field: UTF-8, else ISO-8859-1 (RFC 9110 section 5.5).
fn trimmed_text(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => text.trim().to_owned(),
        Err(_) => encoding_rs::mem::decode_latin1(value).trim().to_owned(),
    }
}

/// The text of a URL. Bytes that are not UTF-8 are percent-encoded, as curl does.
fn location_text(value: &[u8]) -> String {
    if std::str::from_utf8(value).is_ok() {
        return trimmed_text(value);
    }
    let mut text = String::new();
    for &byte in value.trim_ascii() {
        if byte.is_ascii() {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_latin_1_are_decoded() {
        let wants = WantedDetails { location: true, head: true, ..WantedDetails::default() };
        let mut collector = ReplyCollector::new(wants, None, None).expect("a collector");
        collector.header("X-Name", b" M\xfcller ");
        collector.header("X-Name", "Müller".as_bytes());
        collector.header("Location", b" /M\xfcller?a=%20 ");
        assert!(collector.fields[..2].iter().all(|field| field.1 == "Müller"));
        assert_eq!(collector.location.as_deref(), Some("/M%fcller?a=%20"));
        collector.header("Location", "/Müller".as_bytes());
        assert_eq!(collector.location.as_deref(), Some("/Müller"));
    }

    #[test]
    fn several_codings_are_a_list() {
        let wants = WantedDetails { body: true, ..WantedDetails::default() };
        let mut collector = ReplyCollector::new(wants, None, None).expect("a collector");
        collector.header("Content-Encoding", b"deflate");
        collector.header("Content-Encoding", b"GZIP");
        assert_eq!(collector.encoding.as_deref(), Some("deflate, gzip"));
        assert_eq!(collector.decoding_error(None), None);
        collector.header("Content-Encoding", b"br");
        assert!(
            collector
                .decoding_error(None)
                .is_some_and(|why| why.contains("`deflate, gzip, br` is unknown"))
        );
    }
}
