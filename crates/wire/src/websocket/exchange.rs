//! What a request asks of a WebSocket, and the message that comes for it.

use super::frames::{CLOSE, PING, frame, message};
use super::{DONE, STATUS};
use crate::collect::ReplyCollector;
use crate::contract::{Framing, Head, Kept, Reply, Stamps, Wants};
use crate::events::EventMeter;
use crate::origin::OriginId;
use crate::request::{BadRequest, MessageFilter, Prepared, RequestParts, Tags, WebSocketAction, check_header};
use brunt_model::Body;
use brunt_model::plan::HttpVersion;
use regex::bytes::Regex;
use std::rc::Rc;

/// Makes a message ready. Its header fields are those of the handshake; `number` is that of the request.
///
/// # Errors
///
/// A header field has a character that none may have.
pub fn prepare(parts: Rc<RequestParts>, origin: OriginId, tags: Tags, number: u64) -> Result<Prepared, BadRequest> {
    parts.headers.iter().try_for_each(check_header)?;
    let (action, message) = action(&parts, number);
    let message = message.map(Rc::from);
    Ok(Prepared { origin, tags, action, message, parts: Some(parts), ..Prepared::default() })
}

/// The meaning of a request's method, and the frame that is sent.
fn action(parts: &RequestParts, number: u64) -> (WebSocketAction, Option<Vec<u8>>) {
    let payload = number.to_be_bytes();
    match parts.method.as_str() {
        "OPEN" => (WebSocketAction::Open, None),
        "PING" => (WebSocketAction::Ping(payload), Some(frame(PING, &payload, number))),
        "CLOSE" => (WebSocketAction::Close, Some(frame(CLOSE, &DONE.to_be_bytes(), number))),
        _ => (WebSocketAction::Message, message(&parts.body, number)),
    }
}

/// True if the header fields of a request close the WebSocket after it (`Connection: close`).
pub fn closes(parts: &RequestParts) -> bool {
    let is_close = |value: &str| value.trim().eq_ignore_ascii_case("close");
    parts.headers.iter().any(|(name, value)| name.eq_ignore_ascii_case("connection") && is_close(value))
}

/// One exchange: the message that is sent, and the message that it awaits.
pub struct MessageExchange<'m, 'p> {
    /// The action.
    pub action: WebSocketAction,
    /// The frame that is sent; None: none is.
    pub message: Option<&'m [u8]>,
    /// The message in that frame.
    pub body: Option<&'m Body>,
    /// The parts of the received message to keep.
    pub wants: Wants,
    /// The pattern of the awaited message.
    pub pattern: Option<&'p Regex>,
    /// Recognizes the awaited message.
    pub filter: Option<&'m dyn MessageFilter>,
    /// The WebSocket is closed after it.
    pub closes: bool,
    /// Times the messages and counts them; None: the exchange awaits one message.
    pub events: Option<Box<EventMeter>>,
}

impl MessageExchange<'_, '_> {
    /// Whether it awaits a message and sends none.
    pub fn only_awaits(&self) -> bool {
        self.action == WebSocketAction::Message && self.message.is_none()
    }

    /// Whether it is over as soon as it was sent.
    pub fn awaits_nothing(&self) -> bool {
        self.action == WebSocketAction::Open || self.events.as_ref().is_some_and(|events| events.is_over())
    }

    /// Whether a message that came is the awaited one, or the last of several.
    pub fn takes(&mut self, kept: Option<&Kept>) -> bool {
        if self.action != WebSocketAction::Message {
            return false;
        }
        let matches = self.pattern.is_none() || kept.is_some_and(|kept| kept.matches);
        let is_accepted = self.filter.is_none_or(|filter| kept.is_some_and(|kept| filter.accepts(&kept.body)));
        let is_awaited = matches && is_accepted;
        let Some(events) = &mut self.events else { return is_awaited };
        events.message();
        let has_test = self.pattern.is_some() || self.filter.is_some();
        has_test && is_awaited || events.is_over()
    }
}

/// A message while it is received: the parts to keep, and its length.
pub struct PartialMessage {
    keep: Option<Box<ReplyCollector>>,
    /// The parts of the complete message.
    pub kept: Option<Box<Kept>>,
    pub body_bytes: u64,
}

impl PartialMessage {
    pub fn new(wanted: &MessageExchange<'_, '_>) -> Self {
        Self { keep: ReplyCollector::new(wanted.wants, wanted.pattern, None), kept: None, body_bytes: 0 }
    }

    /// Begins the next one of several messages and adds up their bytes.
    pub fn begin_next(&mut self, wanted: &MessageExchange<'_, '_>) {
        *self = Self { body_bytes: self.body_bytes, ..Self::new(wanted) };
    }

    /// Adds a piece of the message.
    pub fn push(&mut self, piece: &[u8], is_compressed: bool) {
        self.body_bytes += piece.len() as u64;
        if let Some(keep) = &mut self.keep {
            keep.message_piece(piece, is_compressed);
        }
    }

    /// Ends the message and returns the parts to keep.
    pub fn finish(&mut self, version: HttpVersion) -> Option<Box<Kept>> {
        let framing = Framing::None;
        let head = Head { status: STATUS, version, framing, keep_alive: true, length: 0, encoded: false };
        self.keep.take().map(|keep| Box::new((*keep).finish(head)))
    }

    /// The reply that it is, with the bytes that came for it.
    pub fn answer(&mut self, version: HttpVersion, stamps: &mut Stamps) -> Reply {
        let parts = self.kept.take().or_else(|| self.finish(version));
        let body_bytes = self.body_bytes;
        let head_bytes = stamps.bytes_received.saturating_sub(body_bytes);
        stamps.head_bytes = head_bytes;
        Reply { status: STATUS, keep_alive: true, body_bytes, head_bytes, kept: parts, ..Reply::default() }
    }
}
