//! An open WebSocket: exchanges the messages that requests send and await, and keeps those
//! that the server pushes.

use super::agreement::{MessageCompression, negotiate};
use super::carrier::Carrier;
use super::deflate::Deflater;
use super::exchange::{MessageExchange, PartialMessage};
use super::frames::{CLOSE, FrameReader, PONG, WebSocketEvent, frame};
use super::inbox::{Inbox, InboxRules};
use super::opening::OpeningRequest;
use super::{NORMAL_CLOSURE, STATUS};
use crate::request::{RequestParts, WebSocketAction};
use crate::stream::IdleEnd;
use crate::turn::Turn;
use crate::worker_io::WorkerIo;
use crate::{Reply, Stamps, Timer};
use brunt_model::outcome::{CLOSE_STATUS, MalformedReply, status_text};
use brunt_model::{Failure, Tick};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

/// Bytes per read.
const READ: usize = 64 * 1024;

/// An open WebSocket.
pub struct WebSocket<C: Carrier> {
    carrier: C,
    incoming: FrameReader,
    /// Compresses messages, if that was negotiated.
    deflater: Option<Box<Deflater>>,
    /// Messages that were received before a request awaited them.
    inbox: Inbox,
    /// Received bytes after the last message that was processed.
    rest: Vec<u8>,
    /// Why no more messages can arrive, if known.
    ending: Option<Ending>,
    /// Code of the close frame to send at the end; None: none may be sent.
    close_code: Option<u16>,
    /// The server's close frame as text, until it is reported.
    close_note: Option<String>,
    is_used: bool,
    /// True if the send time of the current message was recorded, or if later writes
    /// must not change it.
    is_sent_recorded: bool,
}

/// Represents a close frame without a code (RFC 6455 section 7.4.1).
const NO_CODE: u16 = 1005;
/// Close code after a protocol error of the server.
const PROTOCOL_ERROR: u16 = 1002;
/// Maximum number of reads of early messages before other tasks run.
const MAX_EARLY_READS: u32 = 64;

/// Why no more messages can arrive on a WebSocket.
#[derive(Debug)]
enum Ending {
    /// The server sent a close frame.
    Closed { code: Option<u16>, reason: String },
    /// The connection ended, or failed.
    Lost(Failure),
    /// The received bytes are no valid frames.
    Malformed(MalformedReply),
}

impl<C: Carrier> WebSocket<C> {
    /// Creates a WebSocket after the server's reply to its opening request. `rest` are the
    /// bytes after that reply.
    ///
    /// # Errors
    ///
    /// If the server's reply breaks a rule of the switch to WebSocket, with the rule in words.
    pub fn switched(
        carrier: C,
        opening: &OpeningRequest,
        reply: Reply,
        rest: Vec<u8>,
        parts: &RequestParts,
        rules: &Rc<InboxRules>,
    ) -> Result<Self, (Failure, String)> {
        let fields =
            reply.details.and_then(|kept| kept.head).map(|(_, fields)| fields).unwrap_or_default();
        let protocol_error = |why| (Failure::Protocol, why);
        opening.check(&fields).map_err(protocol_error)?;
        let compression = negotiate(&fields, parts).map_err(protocol_error)?;
        let mut websocket = Self::new(carrier, compression, rules);
        // The server may send its first frames together with the reply.
        websocket.rest = rest;
        Ok(websocket)
    }

    /// Creates a WebSocket over a stream, after the answer to the extended CONNECT that opened
    /// the stream (RFC 8441).
    ///
    /// # Errors
    ///
    /// If the server's answer breaks a rule, with the rule in words.
    pub fn over_stream(
        carrier: C,
        fields: &[(String, String)],
        parts: &RequestParts,
        rules: &Rc<InboxRules>,
    ) -> Result<Self, (Failure, String)> {
        let compression = negotiate(fields, parts).map_err(|why| (Failure::Protocol, why))?;
        Ok(Self::new(carrier, compression, rules))
    }

    fn new(carrier: C, compression: Option<MessageCompression>, rules: &Rc<InboxRules>) -> Self {
        Self {
            carrier,
            incoming: FrameReader::new(compression),
            deflater: compression.map(|compression| Box::new(Deflater::new(compression))),
            inbox: Inbox::new(rules),
            rest: Vec::new(),
            ending: None,
            close_code: Some(NORMAL_CLOSURE),
            close_note: None,
            is_used: false,
            is_sent_recorded: false,
        }
    }

    /// Returns the carrier of its frames.
    pub fn carrier(&self) -> &C {
        &self.carrier
    }

    /// Sends a message and waits for one.
    ///
    /// # Errors
    ///
    /// The cause of the failure, if no message was received.
    pub async fn exchange<T: Timer>(
        &mut self,
        io: &WorkerIo<T>,
        mut exchange: MessageExchange<'_, '_>,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let is_reused = std::mem::replace(&mut self.is_used, true);
        self.is_sent_recorded = false;
        self.carrier.begin_message();
        if exchange.action != WebSocketAction::Message {
            // Only messages have events: a ping or a close has none.
            exchange.events = None;
        }
        // A message that arrived before the request was sent is not its reply.
        let is_over = std::future::poll_fn(|cx| {
            let buffer = &mut io.buffer.borrow_mut()[..READ];
            Poll::Ready(self.poll_early_messages(buffer, cx).is_ready())
        })
        .await;
        self.carrier.take_overhead();
        if !exchange.only_awaits() && !exchange.awaits_nothing() {
            self.discard_early_messages(&exchange);
        }
        if is_over && !exchange.only_awaits() {
            stamps.sent = io.time.now();
            // As with HTTP, a server may close an idle connection without an error.
            let is_ordinary =
                matches!(self.ending, Some(Ending::Closed { code: None | Some(1000..=1001), .. }));
            if is_ordinary && is_reused && exchange.action != WebSocketAction::Close {
                return Err(Failure::Stale);
            }
            return self.reply(io, exchange, stamps, is_reused).await;
        }
        let sent = self.send(&exchange).await;
        stamps.bytes_sent =
            sent.map_err(|failure| self.send_failure(failure, is_reused, stamps))?;
        stamps.sent = io.time.now();
        if exchange.awaits_nothing() {
            if exchange.message.is_some() {
                self.carrier
                    .flush()
                    .await
                    .map_err(|failure| self.send_failure(failure, is_reused, stamps))?;
                self.record_sent(stamps);
            }
            stamps.first_byte = stamps.sent;
            stamps.last_byte = stamps.sent;
            return Ok(Reply { status: STATUS, keep_alive: !exchange.closes, ..Reply::default() });
        }
        let closes = exchange.closes;
        let reply = self.reply(io, exchange, stamps, is_reused).await;
        self.record_sent(stamps);
        reply.map(|reply| Reply { keep_alive: reply.keep_alive && !closes, ..reply })
    }

    /// Discards the messages that arrived before the request was sent.
    fn discard_early_messages(&mut self, exchange: &MessageExchange<'_, '_>) {
        if exchange.skipped.is_some() {
            while let Some(early) = self.inbox.take_first() {
                let mut message = PartialMessage::new(exchange);
                message.push(&early.payload, early.is_compressed);
                exchange.skip(&mut message, C::VERSION);
                self.inbox.count_push();
            }
        }
        self.inbox.discard_all();
    }

    /// Records when the message was written, if another task did that.
    fn record_sent(&mut self, stamps: &mut Stamps) {
        if let Some((sent, bytes)) = self.carrier.sent_stamp().filter(|_| !self.is_sent_recorded) {
            let first_byte = if stamps.first_byte == Tick::ZERO { sent } else { stamps.first_byte };
            stamps.sent = sent.max(stamps.sent).min(first_byte);
            stamps.bytes_sent = bytes;
        }
        self.is_sent_recorded = true;
    }

    /// Waits for the awaited message, pong or close frame.
    async fn reply<T: Timer>(
        &mut self,
        io: &WorkerIo<T>,
        mut exchange: MessageExchange<'_, '_>,
        stamps: &mut Stamps,
        is_reused: bool,
    ) -> Result<Reply, Failure> {
        let mut turn = Turn::default();
        let mut message = PartialMessage::new(&exchange);
        let mut is_early = self.incoming.is_within_message();
        loop {
            if let Some(early) = self.inbox.take_first() {
                message.push(&early.payload, early.is_compressed);
                stamps.bytes_received += early.payload.len() as u64;
                if self.end_message(&mut exchange, &mut message, stamps) {
                    stamps.first_byte = stamps.sent;
                    stamps.last_byte = stamps.sent;
                    return Ok(message.answer(C::VERSION, stamps));
                }
                continue;
            }
            // An exchange that sends nothing accepts a message of which a part arrived before it.
            if is_early
                && let Some(begin) = self.inbox.take_partial().filter(|_| exchange.only_awaits())
            {
                if !begin.is_empty() {
                    message.push(&begin, self.incoming.is_compressed());
                    stamps.bytes_received += begin.len() as u64;
                }
                is_early = false;
            }
            let event = self
                .next(
                    io,
                    &mut |piece, is_compressed| message.push(piece, is_compressed),
                    &mut turn,
                    stamps,
                    is_reused,
                )
                .await?;
            match event {
                WebSocketEvent::Message if std::mem::take(&mut is_early) => {
                    self.skip_message(&exchange, &mut message, stamps);
                }
                WebSocketEvent::Message => {
                    if self.end_message(&mut exchange, &mut message, stamps) {
                        return Ok(message.answer(C::VERSION, stamps));
                    }
                }
                WebSocketEvent::Ping(payload) => {
                    self.record_sent(stamps);
                    let pong = frame(PONG, &payload, stamps.bytes_received);
                    // If this send fails within the frame, a close frame must not follow.
                    let close_code = self.close_code.take();
                    self.carrier
                        .send(&pong)
                        .await
                        .map_err(|failure| self.send_failure(failure, is_reused, stamps))?;
                    self.close_code = close_code;
                }
                WebSocketEvent::Pong(payload) => {
                    if matches!(exchange.action, WebSocketAction::Ping(own) if own[..] == payload[..])
                    {
                        return Ok(message.answer(C::VERSION, stamps));
                    }
                }
                WebSocketEvent::Close { code: None | Some(NORMAL_CLOSURE), .. }
                    if exchange.action == WebSocketAction::Close =>
                {
                    self.carrier.end();
                    return Ok(Reply { keep_alive: false, ..message.answer(C::VERSION, stamps) });
                }
                WebSocketEvent::Close { code, reason } => {
                    return Ok(self.close_reply(&exchange, code, &reason, stamps));
                }
            }
        }
    }

    /// Ends a received message. Returns true if it is the awaited one; any other one is skipped.
    fn end_message(
        &mut self,
        exchange: &mut MessageExchange<'_, '_>,
        message: &mut PartialMessage,
        stamps: &mut Stamps,
    ) -> bool {
        message.kept = message.finish(C::VERSION);
        let is_awaited = exchange.is_satisfied_by(message.kept.as_deref());
        if !is_awaited {
            self.skip_message(exchange, message, stamps);
        }
        is_awaited
    }

    /// Skips a message. If the exchange awaits several, each counts for the request.
    fn skip_message(
        &mut self,
        exchange: &MessageExchange<'_, '_>,
        message: &mut PartialMessage,
        stamps: &mut Stamps,
    ) {
        if exchange.events.is_some() {
            message.begin_next(exchange);
            return;
        }
        self.inbox.count_push();
        exchange.skip(message, C::VERSION);
        *message = PartialMessage::new(exchange);
        stamps.first_byte = Tick::ZERO;
        stamps.bytes_received = 0;
    }

    /// Builds the reply for a close frame of the server: its code is the status, and
    /// its reason the body.
    fn close_reply(
        &mut self,
        exchange: &MessageExchange<'_, '_>,
        code: Option<u16>,
        reason: &str,
        stamps: &mut Stamps,
    ) -> Reply {
        let status = CLOSE_STATUS + code.unwrap_or(NO_CODE);
        self.close_code = Some(code.unwrap_or(NORMAL_CLOSURE));
        let mut note = format!("the server closed the WebSocket: {}", status_text(status));
        if !reason.is_empty() {
            note.extend([", ", reason]);
        }
        self.close_note = Some(note);
        let mut message = PartialMessage::new(exchange);
        message.push(reason.as_bytes(), false);
        stamps.bytes_received = stamps.bytes_received.max(reason.len() as u64);
        Reply { status, keep_alive: false, ..message.answer(C::VERSION, stamps) }
    }

    /// Returns the text of the server's close frame. Later calls return None.
    pub fn take_close_note(&mut self) -> Option<String> {
        self.close_note.take()
    }

    /// Sends the message, and returns the number of its bytes.
    async fn send(&mut self, exchange: &MessageExchange<'_, '_>) -> Result<u64, Failure> {
        let Some(prepared) = exchange.message else { return Ok(0) };
        let Self { carrier, deflater, .. } = self;
        let body = exchange.body.filter(|_| exchange.action == WebSocketAction::Message);
        let compressed =
            deflater.as_mut().zip(body).and_then(|(deflater, body)| deflater.frame(body));
        let message = compressed.unwrap_or(prepared);
        // If sending stops within the message, a close frame would become a part of it.
        let close_code = self.close_code.take();
        let n = carrier.send_at_once(message)?;
        if n < message.len() {
            Box::pin(carrier.send(&message[n..])).await?;
        }
        self.close_code = close_code.filter(|_| exchange.action != WebSocketAction::Close);
        Ok(message.len() as u64)
    }

    /// Waits for the next message or control frame.
    async fn next<T: Timer>(
        &mut self,
        io: &WorkerIo<T>,
        body: &mut dyn FnMut(&[u8], bool),
        turn: &mut Turn,
        stamps: &mut Stamps,
        is_reused: bool,
    ) -> Result<WebSocketEvent, Failure> {
        if let Some(ending) = self.ending.take() {
            if stamps.first_byte == Tick::ZERO {
                stamps.first_byte = stamps.sent;
                stamps.last_byte = stamps.sent;
            }
            return match ending {
                Ending::Closed { code, reason } => Ok(WebSocketEvent::Close { code, reason }),
                Ending::Lost(failure) => Err(self.send_failure(failure, is_reused, stamps)),
                Ending::Malformed(cause) => {
                    stamps.malformed = Some(cause);
                    Err(Failure::Protocol)
                }
            };
        }
        std::future::poll_fn(|cx| {
            loop {
                if !self.rest.is_empty() {
                    let bytes = std::mem::take(&mut self.rest);
                    let received = self.receive_time(io.time.now(), stamps);
                    if let Some(event) = self.parse(&bytes, body, received, &mut *stamps)? {
                        return Poll::Ready(Ok(event));
                    }
                    continue;
                }
                ready!(turn.poll_continue(&io.time, cx));
                let mut buffer = io.buffer.borrow_mut();
                let n = match self.carrier.poll_read(&mut buffer[..READ], cx) {
                    Poll::Pending => {
                        turn.wait();
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(0)) => {
                        // The server closed the idle connection before it received the message.
                        let is_stale = is_reused && stamps.first_byte == Tick::ZERO;
                        return Poll::Ready(Err(if is_stale {
                            Failure::Stale
                        } else {
                            Failure::ClosedEarly
                        }));
                    }
                    Poll::Ready(Ok(n)) => n,
                    Poll::Ready(Err(failure)) => {
                        return Poll::Ready(Err(self.failure_with_cause(failure, stamps)));
                    }
                };
                let now = io.time.now();
                let received = self.receive_time(now, stamps);
                let event = self.parse(&buffer[..n], body, received, &mut *stamps)?;
                turn.worked(&io.time, now);
                if let Some(event) = event {
                    return Poll::Ready(Ok(event));
                }
            }
        })
        .await
    }

    /// Returns when bytes that are read at `now` were received. It is never before
    /// the message was sent.
    fn receive_time(&self, now: Tick, stamps: &Stamps) -> Tick {
        self.carrier.received_at(now).max(stamps.sent)
    }

    /// Records why the carrier is over, if its peer gave a cause, and returns the failure.
    fn failure_with_cause(&self, failure: Failure, stamps: &mut Stamps) -> Failure {
        let carrier_cause = || self.carrier.cause().filter(|cause| cause.failure() == failure);
        stamps.malformed = stamps.malformed.or_else(carrier_cause);
        failure
    }

    /// Returns the failure for an error while sending. A reused WebSocket may
    /// have been closed before.
    fn send_failure(&self, failure: Failure, is_reused: bool, stamps: &mut Stamps) -> Failure {
        match self.failure_with_cause(failure, stamps) {
            Failure::Reset | Failure::ClosedEarly if is_reused => Failure::Stale,
            other => other,
        }
    }

    /// Parses received bytes up to the next event. The bytes after it are kept.
    fn parse(
        &mut self,
        bytes: &[u8],
        body: &mut dyn FnMut(&[u8], bool),
        now: Tick,
        stamps: &mut Stamps,
    ) -> Result<Option<WebSocketEvent>, Failure> {
        let parsed = self.incoming.parse(bytes, body);
        let (used, event) = parsed.map_err(|cause| {
            stamps.malformed = Some(cause);
            self.close_code = self.close_code.and(Some(PROTOCOL_ERROR));
            Failure::Protocol
        })?;
        if stamps.first_byte == Tick::ZERO {
            stamps.first_byte = now;
        }
        stamps.last_byte = now;
        stamps.bytes_received += used as u64 + self.carrier.take_overhead();
        self.rest.extend_from_slice(&bytes[used..]);
        Ok(event)
    }

    /// Resolves when the idle connection becomes unusable. A ping is answered if the socket accepts
    /// the pong at once.
    pub fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        ready!(self.poll_early_messages(&mut [0; 4096], cx));
        let is_malformed = matches!(self.ending, Some(Ending::Malformed(_)));
        Poll::Ready(if is_malformed { IdleEnd::Unsolicited } else { IdleEnd::Closed })
    }

    /// Processes bytes that arrive before a request awaits them. Ready if no more can arrive.
    fn poll_early_messages(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<()> {
        let rest = std::mem::take(&mut self.rest);
        self.receive_early(&rest, cx);
        for _ in 0..MAX_EARLY_READS {
            if self.ending.is_some() {
                return Poll::Ready(());
            }
            match ready!(self.carrier.poll_read(buffer, cx)) {
                Ok(0) => self.ending = Some(Ending::Lost(Failure::ClosedEarly)),
                Ok(n) => self.receive_early(&buffer[..n], cx),
                Err(failure) => self.ending = Some(Ending::Lost(failure)),
            }
        }
        // More may be readable, but other tasks run first.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Processes bytes that were received before a request awaited them.
    fn receive_early(&mut self, mut bytes: &[u8], cx: &mut Context<'_>) {
        while !bytes.is_empty() && self.ending.is_none() {
            let Self { incoming, inbox, .. } = self;
            let (used, event) = match incoming.parse(bytes, &mut |piece, _| inbox.push_piece(piece))
            {
                Ok(parsed) => parsed,
                Err(cause) => {
                    self.close_code = self.close_code.and(Some(PROTOCOL_ERROR));
                    self.ending = Some(Ending::Malformed(cause));
                    return;
                }
            };
            bytes = &bytes[used..];
            match event {
                Some(WebSocketEvent::Message) => {
                    self.inbox.end_message(self.incoming.is_compressed());
                }
                Some(WebSocketEvent::Ping(payload)) => {
                    self.carrier.send_if_room(&frame(PONG, &payload, used as u64), cx);
                }
                Some(WebSocketEvent::Close { code, reason }) => {
                    self.close_code = self.close_code.and(code.or(Some(NORMAL_CLOSURE)));
                    self.ending = Some(Ending::Closed { code, reason });
                }
                Some(WebSocketEvent::Pong(_)) | None => {}
            }
        }
    }
}

impl<C: Carrier> Drop for WebSocket<C> {
    /// Sends a close frame (RFC 6455 section 7.1.2) if the socket accepts it at once.
    fn drop(&mut self) {
        if let Some(code) = self.close_code {
            // An endpoint should send a close frame before it closes the connection
            // (RFC 6455 section 7.1.1).
            let close = frame(CLOSE, &code.to_be_bytes(), 0);
            self.carrier.send_if_room(&close, &mut Context::from_waker(Waker::noop()));
            self.carrier.end();
        }
    }
}
