//! What is kept of a reply, whatever the protocol, because somebody looks at it.

pub(crate) mod kept_body;

use crate::charset::TextType;
use crate::contract::{Head, Kept, ReplySink, WantedFields, Wants};
use crate::events::{EventMeter, MessageEnds};
use brunt_model::Tick;
use brunt_model::plan::HttpVersion;
use kept_body::{FinishedBody, KeptBody};
use regex::bytes::Regex;

/// What is kept of a reply because somebody looks at it.
#[derive(Default)]
pub(crate) struct ReplyCollector {
    wants: Wants,
    is_page: bool,
    location: Option<String>,
    server: Option<String>,
    cookie: Option<String>,
    encoding: Option<String>,
    fields: Vec<(String, String)>,
    pattern: Option<Regex>,
    text: TextType,
    /// From its first byte on.
    body: Option<KeptBody>,
    first_bytes: Vec<u8>,
    /// Until the body begins, which has it then.
    events: Option<Box<EventMeter>>,
    /// Where each message of the reply lets a piece of the request leave.
    replies: Option<ReplyMessages>,
}

/// The messages of a reply, each of which lets a piece of the request leave.
struct ReplyMessages {
    ends: MessageEnds,
    /// Those that came since they were last taken.
    count: u64,
}

/// Content-Encodings that are decoded, or mean that there is nothing to decode.
const DECODED: [&str; 6] = ["gzip", "x-gzip", "deflate", "permessage-deflate", "identity", ""];

/// So many of the first bytes are kept for the status line.
const STATUS_LINE: usize = 256;

impl ReplyCollector {
    /// Bytes that came before the end of the head.
    pub fn first(&mut self, bytes: &[u8]) {
        let line = if self.wants.status_line { STATUS_LINE } else { 0 };
        let room = if self.wants.head { bytes.len() } else { line.saturating_sub(self.first_bytes.len()) };
        self.first_bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub fn new(wants: Wants, pattern: Option<&Regex>, events: Option<Box<EventMeter>>) -> Option<Box<Self>> {
        let nothing = wants == Wants::default() && events.is_none();
        let (location, server, cookie, encoding) = (None, None, None, None);
        let (fields, body, first_bytes) = (Vec::new(), None, Vec::new());
        let pattern = pattern.filter(|_| wants.matches).cloned();
        let keep = Self {
            wants,
            is_page: false,
            location,
            server,
            cookie,
            encoding,
            fields,
            pattern,
            text: TextType::default(),
            body,
            first_bytes,
            events,
            replies: None,
        };
        (!nothing).then(|| Box::new(keep))
    }

    /// The same that counts messages, each of which lets a piece of the request leave.
    pub fn counting_messages(before: Option<Box<Self>>) -> Box<Self> {
        let mut keep = before.unwrap_or_default();
        keep.replies = Some(ReplyMessages { ends: MessageEnds::default(), count: 0 });
        keep
    }

    /// The messages that came since the last call, where they let pieces of the request leave.
    pub fn take_replies(&mut self) -> u64 {
        self.replies.as_mut().map_or(0, |replies| std::mem::take(&mut replies.count))
    }

    /// A piece of the request was written, to which the next event of the reply is the answer.
    pub fn sent(&mut self, now: Tick) {
        if self.replies.is_none() {
            return;
        }
        match (&mut self.body, &mut self.events) {
            (Some(body), _) => body.sent(now),
            (None, Some(events)) => events.sent(now),
            (None, None) => {}
        }
    }

    pub fn finish(mut self, head: Head) -> Kept {
        let received = self.body.take();
        let has_body = received.is_some();
        let FinishedBody { bytes: body, matches, is_broken } = received.unwrap_or_else(|| self.empty_body()).finish();
        let undecoded = if has_body { self.undecoded(is_broken) } else { None };
        let head = (self.wants.head || self.wants.fields != WantedFields::None).then_some((head, self.fields));
        let Self { location, server, cookie, first_bytes, .. } = self;
        Kept { location, body, text: self.text, undecoded, matches, server, cookie, head, first_bytes }
    }

    /// Why the body is not decoded, where it should be.
    fn undecoded(&self, is_broken: bool) -> Option<String> {
        let encoding = self.encoding.as_deref().filter(|_| self.looks_at_body())?;
        if is_broken {
            return Some(format!("its `{encoding}` data is damaged, or too long when it is unpacked"));
        }
        let is_known = DECODED.contains(&encoding);
        (!is_known).then(|| format!("its Content-Encoding `{encoding}` is unknown; brunt decodes gzip and deflate"))
    }

    fn looks_at_body(&self) -> bool {
        self.pattern.is_some() || self.wants.body || self.is_page
    }

    /// The encoding of the body that comes; the first one that is told holds.
    pub fn set_encoding(&mut self, encoding: &str) {
        if self.encoding.is_none() {
            self.encoding = Some(encoding.to_owned());
        }
    }

    /// A piece of a message of a WebSocket.
    pub fn message_piece(&mut self, piece: &[u8], is_compressed: bool) {
        if is_compressed {
            self.set_encoding("permessage-deflate");
        }
        self.body(piece);
    }

    /// The head of a reply that came over a stream.
    pub fn head_of_stream(&mut self, version: HttpVersion, status: u16, lines: &[(Vec<u8>, Vec<u8>)]) {
        if self.wants.head || self.wants.status_line {
            let mut text = format!("{version} {status}\r\n").into_bytes();
            for (name, value) in lines.iter().filter(|(name, _)| name != b":status") {
                text.extend_from_slice(&[name, &b": "[..], value, b"\r\n"].concat());
            }
            text.extend_from_slice(b"\r\n");
            self.first(&text);
        }
        for (name, value) in lines.iter().filter(|(name, _)| name != b":status") {
            self.header(&String::from_utf8_lossy(name), value);
        }
    }

    /// Fields behind the body: they stand behind those of the head.
    pub fn trailers(&mut self, lines: &[(Vec<u8>, Vec<u8>)]) {
        for (name, value) in lines {
            self.header(&String::from_utf8_lossy(name), value);
        }
    }

    /// No more of the reply is awaited, though it has not come to its end.
    pub fn is_over(&self) -> bool {
        self.body.as_ref().is_some_and(KeptBody::is_over)
    }

    fn empty_body(&mut self) -> KeptBody {
        let keeps = (self.wants.body || self.is_page).then(Vec::new);
        let charset = self.text.foreign_charset();
        KeptBody::new(self.encoding.as_deref(), charset, self.pattern.as_ref(), keeps, self.events.take())
    }
}

impl ReplySink for ReplyCollector {
    fn header(&mut self, name: &str, value: &[u8]) {
        let text = || String::from_utf8_lossy(value).trim().to_owned();
        if self.wants.head || self.wants.fields.have(name) {
            self.fields.push((name.to_owned(), text()));
        }
        if self.wants.page && name.eq_ignore_ascii_case("content-type") {
            self.is_page = value.trim_ascii().starts_with(b"text/html");
        }
        if (self.pattern.is_some() || self.wants.body || self.wants.page) && name.eq_ignore_ascii_case("content-type") {
            self.text = TextType::of(&text());
        }
        if self.wants.location && name.eq_ignore_ascii_case("location") {
            self.location = Some(text());
        } else if self.wants.cookie && name.eq_ignore_ascii_case("set-cookie") {
            self.cookie = text().split(';').next().map(|pair| pair.trim().to_owned());
        } else if self.wants.server && name.eq_ignore_ascii_case("server") {
            self.server = Some(text());
        } else if name.eq_ignore_ascii_case("content-encoding") {
            self.encoding = Some(text().to_ascii_lowercase());
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if let Some(replies) = &mut self.replies {
            replies.count += replies.ends.push(bytes);
        }
        if self.body.is_some() || self.looks_at_body() || self.events.is_some() {
            let mut body = self.body.take().unwrap_or_else(|| self.empty_body());
            body.push(bytes);
            self.body = Some(body);
        }
    }
}
