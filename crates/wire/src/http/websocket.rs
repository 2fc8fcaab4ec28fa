//! Registers WebSocket: messages over a separate connection, or over a stream of HTTP/2.

use super::Http;
use super::h2::H2Lane;
use super::protocols::ProtocolLane;
use crate::contract::{Reply, Stamps, Timer, WantedDetails, WantedFields};
use crate::events::EventMeter;
use crate::h2::Tunnel;
use crate::request::fields::RequestFields;
use crate::request::{Prepared, RequestParts};
use crate::stream::{ByteStream, IdleEnd};
use crate::tls::Handshake;
use crate::websocket::{
    self, Carrier, MessageExchange, OpeningRequest, SkippedMessages, SocketCarrier, WebSocket,
};
use brunt_model::outcome::MalformedReply;
use brunt_model::plan::HttpVersion;
use brunt_model::{Failure, Tick};
use regex::bytes::Regex;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;

pub(super) use crate::websocket::{InboxRules, prepare};

/// Delay before a request fails because a connection of HTTP/2 opens no WebSocket.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// A separate connection for a WebSocket.
pub struct WebSocketLane {
    state: LaneState,
    /// Messages that the last exchange skipped, if they are wanted.
    pub(super) skipped: SkippedMessages,
}

enum LaneState {
    /// An open WebSocket.
    Open(Box<WebSocket<SocketCarrier>>),
    /// The server refused the handshake. The reply is the outcome of the next request.
    Refused(Box<RefusedHandshake>),
}

/// A refused handshake.
struct RefusedHandshake {
    /// None after it was the outcome of a request.
    reply: Option<Reply>,
    carrier: SocketCarrier,
}

/// Result of a handshake over HTTP/2.
pub(super) enum H2Opening {
    Open(OpenWebSocket),
    Refused(Reply),
}

impl WebSocketLane {
    fn new(state: LaneState) -> Self {
        Self { state, skipped: SkippedMessages::default() }
    }

    fn carrier(&self) -> &SocketCarrier {
        match &self.state {
            LaneState::Open(websocket) => websocket.carrier(),
            LaneState::Refused(refused) => &refused.carrier,
        }
    }
}

/// A WebSocket over a stream of HTTP/2.
pub(super) struct OpenWebSocket {
    /// Path and query of the URL that it was opened with.
    pub path: Box<str>,
    pub websocket: Box<WebSocket<Tunnel>>,
}

/// The WebSocket that carries a message.
pub(super) enum MessageRoute<'l> {
    /// A separate connection.
    Connection(&'l mut WebSocketLane),
    /// A stream of HTTP/2.
    H2(&'l mut H2Lane),
}

impl ProtocolLane for WebSocketLane {
    fn handshake(&self) -> Option<Handshake> {
        self.carrier().stream.handshake()
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.carrier().stream.peer()
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        match &mut self.state {
            LaneState::Open(websocket) => websocket.poll_idle(cx),
            // It is kept until a request has its reply.
            LaneState::Refused(_) => Poll::Pending,
        }
    }
}

impl Carrier for Tunnel {
    const VERSION: HttpVersion = HttpVersion::V2;

    fn send_at_once(&self, bytes: &[u8]) -> Result<usize, Failure> {
        self.send_at_once(bytes)
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let n = std::future::poll_fn(|cx| self.poll_send(rest, cx)).await?;
            rest = &rest[n..];
        }
        Ok(())
    }

    fn send_if_room(&mut self, frame: &[u8], _: &mut Context<'_>) {
        if self.has_room(frame.len()) {
            // An error shows at the next read.
            let _ = Self::send_at_once(self, frame);
        }
    }

    fn poll_read(
        &mut self,
        buffer: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<Result<usize, Failure>> {
        Self::poll_read(self, buffer, cx)
    }

    fn begin_message(&self) {
        self.begin_message();
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        std::future::poll_fn(|cx| self.poll_flush(cx)).await
    }

    fn received_at(&self, now: Tick) -> Tick {
        self.last_received().min(now)
    }

    fn take_overhead(&self) -> u64 {
        self.take_overhead()
    }

    fn sent_stamp(&self) -> Option<(Tick, u64)> {
        self.sent_stamp()
    }

    fn cause(&self) -> Option<MalformedReply> {
        self.cause()
    }

    fn end(&self) {
        self.end();
    }
}

/// Builds the exchange of a request on a WebSocket: the message to send, and the reply
/// to await and keep.
pub(super) fn message_exchange<'m, 'p>(
    request: &'m Prepared,
    wants: WantedDetails,
    pattern: Option<&'p Regex>,
    events: Option<Box<EventMeter>>,
) -> MessageExchange<'m, 'p> {
    let parts = request.parts();
    MessageExchange {
        action: request.action,
        message: request.message.as_deref(),
        body: parts.map(|parts| &parts.body),
        wants,
        pattern,
        filter: parts.and_then(|parts| parts.awaited.as_ref()).map(|awaited| &*awaited.0),
        closes: parts.is_some_and(websocket::closes),
        events,
        skipped: None,
    }
}

impl<T: Timer + 'static> Http<T> {
    /// Opens a WebSocket on a connection that was just opened.
    pub(super) async fn begin_websocket(
        &self,
        mut stream: ByteStream,
        parts: &RequestParts,
    ) -> Result<WebSocketLane, Failure> {
        let number = (self.worker as u64) << 40 | self.opened.get() as u64;
        let opening = OpeningRequest::new(parts, number);
        let wants = WantedDetails { fields: WantedFields::All, ..WantedDetails::default() };
        let reply = self.switch(&mut stream, &opening.bytes, wants).await;
        let (reply, rest) = reply.map_err(|failure| {
            self.note_failure(failure, &"no answer to the handshake of WebSocket")
        })?;
        let carrier = SocketCarrier::new(stream, self.common.sources.count_connection());
        if reply.status != websocket::STATUS {
            let reply = Some(Reply { keep_alive: false, is_refusal: true, ..reply });
            let refused = Box::new(RefusedHandshake { reply, carrier });
            return Ok(WebSocketLane::new(LaneState::Refused(refused)));
        }
        let opened = WebSocket::switched(carrier, &opening, reply, rest, parts, &self.inbox_rules);
        let websocket = opened.map_err(|(failure, why)| self.note_failure(failure, &why))?;
        Ok(WebSocketLane::new(LaneState::Open(Box::new(websocket))))
    }

    /// Opens a WebSocket over a stream of HTTP/2.
    pub(super) async fn open_over_h2(
        &self,
        h2: &H2Lane,
        request: &Prepared,
    ) -> Result<H2Opening, Failure> {
        let parts = request.parts().ok_or(Failure::System)?;
        let fields = RequestFields::from_websocket(parts, websocket::offer(parts));
        let fields = fields.map_err(|bad| self.note_failure(Failure::System, &bad))?;
        let opened = h2.connection().tunnel(&fields).await;
        let (tunnel, answer) = opened.map_err(|(failure, why)| self.note_cause(failure, &why))?;
        // Over HTTP/2, success is a 2xx status instead of 101 (RFC 8441 section 5).
        if !(200..300).contains(&answer.status) {
            let reply = Reply { status: answer.status, is_refusal: true, ..Reply::default() };
            return Ok(H2Opening::Refused(reply));
        }
        let opened = WebSocket::over_stream(tunnel, &answer.fields, parts, &self.inbox_rules);
        let websocket = opened.map_err(|(failure, why)| self.note_failure(failure, &why))?;
        let path = request.path().into();
        Ok(H2Opening::Open(OpenWebSocket { path, websocket: Box::new(websocket) }))
    }

    /// Sends a WebSocket message and waits for the awaited one. Over HTTP/2 it opens a
    /// WebSocket if the lane has none to the same path. One that failed, or that is not awaited
    /// to its end, is closed.
    pub(super) async fn exchange_message(
        &self,
        route: MessageRoute<'_>,
        request: &Prepared,
        mut exchange: MessageExchange<'_, '_>,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let h2 = match route {
            MessageRoute::Connection(WebSocketLane { state, skipped }) => {
                exchange.collect_skipped(skipped);
                let websocket = match state {
                    LaneState::Open(websocket) => websocket,
                    LaneState::Refused(refused) => {
                        let reply = refused.reply.take().ok_or(Failure::System)?;
                        return Ok(self.refusal(reply, self.time().now(), stamps));
                    }
                };
                let reply = websocket.exchange(&self.h1.io, exchange, stamps).await;
                self.note_close(websocket);
                return reply;
            }
            MessageRoute::H2(h2) => h2,
        };
        exchange.collect_skipped(&h2.skipped);
        let begun = self.time().now();
        if let Some(reply) = h2.refused.take() {
            return Ok(self.refusal(Reply { keep_alive: true, ..*reply }, begun, stamps));
        }
        let mut open = match h2.take_websocket(request.path()) {
            Some(open) => open,
            None => match self.open_over_h2(h2, request).await {
                Ok(H2Opening::Open(open)) => open,
                // The HTTP/2 connection is kept.
                Ok(H2Opening::Refused(reply)) => {
                    let reply = self.refusal(reply, begun, stamps);
                    return Ok(Reply { keep_alive: true, ..reply });
                }
                Err(failure) => {
                    // Without a pause, lanes whose WebSockets are refused at once
                    // would occupy the thread.
                    self.time().sleep_until(self.time().now() + REFUSED_PAUSE).await;
                    return Err(failure);
                }
            },
        };
        let reply = open.websocket.exchange(&self.h1.io, exchange, stamps).await;
        self.note_close(&mut open.websocket);
        let reply = reply?;
        if reply.keep_alive {
            h2.websockets.push(open);
        }
        // The HTTP/2 connection is kept for the next message.
        Ok(Reply { keep_alive: true, ..reply })
    }

    /// Stamps the reply to a refused handshake, which was sent at `sent`, and reports its status.
    fn refusal(&self, reply: Reply, sent: Tick, stamps: &mut Stamps) -> Reply {
        let status = reply.status;
        let note =
            format!("the server does not open a WebSocket here: it answered with status {status}");
        *self.note.borrow_mut() = Some(note.into());
        let now = self.time().now();
        stamps.sent = sent;
        stamps.first_byte = now;
        stamps.last_byte = now;
        stamps.head_bytes = reply.head_bytes;
        stamps.bytes_received = reply.head_bytes + reply.body_bytes;
        reply
    }

    /// Reports the close frame with which the server ended a WebSocket.
    fn note_close<C: Carrier>(&self, websocket: &mut WebSocket<C>) {
        if let Some(note) = websocket.take_close_note() {
            *self.note.borrow_mut() = Some(note.into());
        }
    }
}
