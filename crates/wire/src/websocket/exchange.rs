//! The exchange of a request on a WebSocket: the message to send, and the message that
//! is received for it.

use super::frames::{CLOSE, PING, frame, message};
use super::{NORMAL_CLOSURE, STATUS};
use crate::collect::ReplyCollector;
use crate::contract::{Framing, Reply, ReplyDetails, ReplyHead, Stamps, WantedDetails};
use crate::events::EventMeter;
use crate::origin::OriginId;
use crate::request::{
    BadRequest, MessageFilter, Prepared, RequestParts, Tags, WebSocketAction, check_header,
};
use brunt_model::Body;
use brunt_model::plan::HttpVersion;
use regex::bytes::Regex;
use std::cell::RefCell;
use std::rc::Rc;

/// Encodes a message. Its header fields apply to the handshake; `number` is that of the request.
///
/// # Errors
///
/// If a header field contains a character that is not allowed.
pub fn prepare(
    parts: Rc<RequestParts>,
    origin: OriginId,
    tags: Tags,
    number: u64,
) -> Result<Prepared, BadRequest> {
    parts.headers.iter().try_for_each(check_header)?;
    let (action, message) = action(&parts, number);
    let message = message.map(Rc::from);
    Ok(Prepared { origin, tags, action, message, parts: Some(parts), ..Prepared::default() })
}

/// Returns the action for a request's method, and the frame to send.
fn action(parts: &RequestParts, number: u64) -> (WebSocketAction, Option<Vec<u8>>) {
    let payload = number.to_be_bytes();
    match parts.method.as_str() {
        "OPEN" => (WebSocketAction::Open, None),
        "PING" => (WebSocketAction::Ping(payload), Some(frame(PING, &payload, number))),
        "CLOSE" => {
            (WebSocketAction::Close, Some(frame(CLOSE, &NORMAL_CLOSURE.to_be_bytes(), number)))
        }
        _ => (WebSocketAction::Message, message(&parts.body, number)),
    }
}

/// True if the header fields of a request close the WebSocket after it (`Connection: close`).
pub fn closes(parts: &RequestParts) -> bool {
    let mut fields =
        parts.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    fields.any(|(_, value)| value.trim().eq_ignore_ascii_case("close"))
}

/// One exchange: the message to send, and the message to await.
pub struct MessageExchange<'m, 'p> {
    pub action: WebSocketAction,
    /// The frame to send; None: no frame is sent.
    pub message: Option<&'m [u8]>,
    /// The message in that frame.
    pub body: Option<&'m Body>,
    /// The parts of the received message to keep.
    pub wants: WantedDetails,
    /// The pattern of the awaited message.
    pub pattern: Option<&'p Regex>,
    /// Recognizes the awaited message.
    pub filter: Option<&'m dyn MessageFilter>,
    /// True if the WebSocket is closed after it.
    pub closes: bool,
    /// Times and counts messages. None: the exchange awaits one message.
    pub events: Option<Box<EventMeter>>,
    /// Collects the messages that are skipped. None: they are not wanted.
    pub skipped: Option<SkippedMessages>,
}

/// Messages that an exchange skipped. The lane has them too, because an exchange that is not awaited
/// to its end is dropped.
pub type SkippedMessages = Rc<RefCell<Vec<Vec<u8>>>>;

/// Maximum number of skipped messages of an exchange that are kept.
const MAX_SKIPPED: usize = 100;

impl MessageExchange<'_, '_> {
    /// Collects skipped messages in the list of its lane, if they are wanted.
    pub fn collect_skipped(&mut self, list: &SkippedMessages) {
        if self.wants.skipped {
            list.borrow_mut().clear();
            self.skipped = Some(Rc::clone(list));
        }
    }

    /// Keeps a message that is skipped.
    pub fn skip(&self, message: &mut PartialMessage, version: HttpVersion) {
        let Some(skipped) = &self.skipped else { return };
        let mut skipped = skipped.borrow_mut();
        if skipped.len() < MAX_SKIPPED
            && let Some(kept) = message.kept.take().or_else(|| message.finish(version))
        {
            skipped.push(kept.body);
        }
    }

    /// True if it awaits a message without sending one.
    pub fn only_awaits(&self) -> bool {
        self.action == WebSocketAction::Message && self.message.is_none()
    }

    /// True if it is over as soon as its message was sent.
    pub fn awaits_nothing(&self) -> bool {
        self.action == WebSocketAction::Open
            || self.events.as_ref().is_some_and(|events| events.is_over())
    }

    /// True if a received message is the awaited one, or the last of several.
    pub fn is_satisfied_by(&mut self, kept: Option<&ReplyDetails>) -> bool {
        if self.action != WebSocketAction::Message {
            return false;
        }
        let matches = self.pattern.is_none() || kept.is_some_and(|kept| kept.matches);
        let is_accepted =
            self.filter.is_none_or(|filter| kept.is_some_and(|kept| filter.accepts(&kept.body)));
        let is_awaited = matches && is_accepted;
        let Some(events) = &mut self.events else { return is_awaited };
        events.message();
        let has_test = self.pattern.is_some() || self.filter.is_some();
        has_test && is_awaited || events.is_over()
    }
}

/// A message while it is received: the parts to keep, and its length.
pub struct PartialMessage {
    collector: Option<Box<ReplyCollector>>,
    /// The kept parts of the complete message.
    pub kept: Option<Box<ReplyDetails>>,
    pub body_bytes: u64,
}

impl PartialMessage {
    pub fn new(exchange: &MessageExchange<'_, '_>) -> Self {
        let collector = ReplyCollector::new(exchange.wants, exchange.pattern, None);
        Self { collector, kept: None, body_bytes: 0 }
    }

    /// Begins the next one of several messages, and keeps the sum of their bytes.
    pub fn begin_next(&mut self, exchange: &MessageExchange<'_, '_>) {
        *self = Self { body_bytes: self.body_bytes, ..Self::new(exchange) };
    }

    /// Adds a piece of the message.
    pub fn push(&mut self, piece: &[u8], is_compressed: bool) {
        self.body_bytes += piece.len() as u64;
        if let Some(collector) = &mut self.collector {
            collector.push_message(piece, is_compressed);
        }
    }

    /// Ends the message and returns its kept parts.
    pub fn finish(&mut self, version: HttpVersion) -> Option<Box<ReplyDetails>> {
        let framing = Framing::None;
        let head = ReplyHead {
            status: STATUS,
            version,
            framing,
            keep_alive: true,
            length: 0,
            encoded: false,
        };
        self.collector.take().map(|collector| Box::new((*collector).finish(head)))
    }

    /// Builds the reply of the exchange from the message, and sets the head bytes.
    pub fn answer(&mut self, version: HttpVersion, stamps: &mut Stamps) -> Reply {
        let parts = self.kept.take().or_else(|| self.finish(version));
        let body_bytes = self.body_bytes;
        let head_bytes = stamps.bytes_received.saturating_sub(body_bytes);
        stamps.head_bytes = head_bytes;
        Reply {
            status: STATUS,
            keep_alive: true,
            body_bytes,
            head_bytes,
            details: parts,
            ..Reply::default()
        }
    }
}
