//! An open WebSocket: messages that requests send and await, and those that the server pushes.

use super::agreement::{Compression, agree};
use super::carrier::Carrier;
use super::deflate::Deflater;
use super::exchange::{MessageExchange, PartialMessage};
use super::frames::{CLOSE, Event, Incoming, PONG, frame};
use super::inbox::{Inbox, InboxRules};
use super::opening::OpeningRequest;
use super::{DONE, STATUS};
use crate::request::{RequestParts, WebSocketAction};
use crate::stream::Idle;
use crate::turn::Turn;
use crate::worker_io::WorkerIo;
use crate::{Reply, Stamps, Timer};
use brunt_model::outcome::{CLOSE_STATUS, Malformed, status_text};
use brunt_model::{Failure, Tick};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

/// Read at once.
const READ: usize = 64 * 1024;
/// An open WebSocket.
pub struct WebSocket<C: Carrier> {
    carrier: C,
    incoming: Incoming,
    /// Compresses messages, where that was agreed on.
    deflater: Option<Box<Deflater>>,
    /// Messages that came before a request awaited them.
    inbox: Inbox,
    /// Bytes behind the last message that was taken.
    rest: Vec<u8>,
    /// Why nothing more comes, where that is known.
    ending: Option<Ending>,
    /// The code of the close frame that ends it; None: none may be sent.
    close_code: Option<u16>,
    /// The server's close frame as text, until it is reported.
    close_note: Option<String>,
    is_used: bool,
    /// When the message of this exchange was written is known, or must not be told by what is written next.
    is_noted: bool,
}

/// Stands for a close frame without a code (RFC 6455 section 7.4.1).
const NO_CODE: u16 = 1005;
/// Close code after a protocol error of the server.
const PROTOCOL_ERROR: u16 = 1002;
/// Reads of early messages before other tasks run.
const MAX_EARLY_READS: u32 = 64;

/// Why nothing more comes on a WebSocket.
#[derive(Debug)]
enum Ending {
    /// A close frame came.
    Closed { code: Option<u16>, reason: String },
    /// The connection ended, or failed.
    Lost(Failure),
    /// Bytes came that are no frames.
    Malformed(Malformed),
}

impl<C: Carrier> WebSocket<C> {
    /// Opens one after the server's reply to its opening request. `rest` are the bytes after that reply.
    ///
    /// # Errors
    ///
    /// The server does not switch to WebSocket, with the reason in words.
    pub fn switched(
        carrier: C,
        opening: &OpeningRequest,
        reply: Reply,
        rest: Vec<u8>,
        parts: &RequestParts,
        rules: &Rc<InboxRules>,
    ) -> Result<Self, (Failure, String)> {
        if reply.status != STATUS {
            return Err((Failure::Protocol, opens_none(reply.status)));
        }
        let fields = reply.kept.and_then(|kept| kept.head).map(|(_, fields)| fields).unwrap_or_default();
        let refuse = |why| (Failure::Protocol, why);
        opening.check(&fields).map_err(refuse)?;
        let agreed = agree(&fields, parts).map_err(refuse)?;
        let mut websocket = Self::over(carrier, agreed, rules);
        websocket.rest = rest;
        Ok(websocket)
    }

    /// Opens one over a stream, after the answer to the extended CONNECT that opened the stream (RFC 8441).
    ///
    /// # Errors
    ///
    /// The server does not open it, with the reason in words.
    pub fn over_stream(
        carrier: C,
        status: u16,
        fields: &[(String, String)],
        parts: &RequestParts,
        rules: &Rc<InboxRules>,
    ) -> Result<Self, (Failure, String)> {
        if !(200..300).contains(&status) {
            return Err((Failure::Protocol, opens_none(status)));
        }
        let agreed = agree(fields, parts).map_err(|why| (Failure::Protocol, why))?;
        Ok(Self::over(carrier, agreed, rules))
    }

    fn over(carrier: C, agreed: Option<Compression>, rules: &Rc<InboxRules>) -> Self {
        Self {
            carrier,
            incoming: Incoming::new(agreed.is_some()),
            deflater: agreed.map(|agreed| Box::new(Deflater::new(agreed))),
            inbox: Inbox::new(rules),
            rest: Vec::new(),
            ending: None,
            close_code: Some(DONE),
            close_note: None,
            is_used: false,
            is_noted: false,
        }
    }

    /// What carries its frames.
    pub fn carrier(&self) -> &C {
        &self.carrier
    }

    /// Sends a message, and waits for one.
    ///
    /// # Errors
    ///
    /// What failed, if none came.
    pub async fn exchange<T: Timer>(
        &mut self,
        io: &WorkerIo<T>,
        mut wanted: MessageExchange<'_, '_>,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let was_used = std::mem::replace(&mut self.is_used, true);
        self.is_noted = false;
        self.carrier.begin_message();
        if wanted.action != WebSocketAction::Message {
            wanted.events = None;
        }
        // A message that came before the request was sent is not its reply.
        let is_over =
            std::future::poll_fn(|cx| Poll::Ready(self.take_in(&mut io.buffer.borrow_mut()[..READ], cx).is_ready()))
                .await;
        self.carrier.take_overhead();
        if !wanted.only_awaits() && !wanted.awaits_nothing() {
            self.inbox.pass_over_all();
        }
        if is_over && !wanted.only_awaits() {
            stamps.sent = io.time.now();
            // As with HTTP, a server may close an idle connection without a fault.
            let is_ordinary = matches!(self.ending, Some(Ending::Closed { code: None | Some(1000..=1001), .. }));
            if is_ordinary && was_used && wanted.action != WebSocketAction::Close {
                return Err(Failure::Stale);
            }
            return self.reply(io, wanted, stamps, was_used).await;
        }
        let sent = self.send(&wanted).await;
        stamps.bytes_sent = sent.map_err(|failure| self.lost(failure, was_used, stamps))?;
        stamps.sent = io.time.now();
        if wanted.awaits_nothing() {
            if wanted.message.is_some() {
                self.carrier.flush().await.map_err(|failure| self.lost(failure, was_used, stamps))?;
                self.note_sent(stamps);
            }
            (stamps.first_byte, stamps.last_byte) = (stamps.sent, stamps.sent);
            return Ok(Reply { status: STATUS, keep_alive: !wanted.closes, ..Reply::default() });
        }
        let closes = wanted.closes;
        let reply = self.reply(io, wanted, stamps, was_used).await;
        self.note_sent(stamps);
        reply.map(|reply| Reply { keep_alive: reply.keep_alive && !closes, ..reply })
    }

    /// Notes when the message was written, where another task did that.
    fn note_sent(&mut self, stamps: &mut Stamps) {
        if let Some((sent, bytes)) = self.carrier.sent().filter(|_| !self.is_noted) {
            let first_byte = if stamps.first_byte == Tick::ZERO { sent } else { stamps.first_byte };
            (stamps.sent, stamps.bytes_sent) = (sent.max(stamps.sent).min(first_byte), bytes);
        }
        self.is_noted = true;
    }

    /// Waits for what is wanted.
    async fn reply<T: Timer>(
        &mut self,
        io: &WorkerIo<T>,
        mut wanted: MessageExchange<'_, '_>,
        stamps: &mut Stamps,
        was_used: bool,
    ) -> Result<Reply, Failure> {
        let mut turn = Turn::default();
        let mut message = PartialMessage::new(&wanted);
        let mut is_early = self.incoming.is_within_message();
        loop {
            if let Some(early) = self.inbox.take_first() {
                message.push(&early.payload, early.is_compressed);
                stamps.bytes_received += early.payload.len() as u64;
                if self.take_message(&mut wanted, &mut message, stamps) {
                    (stamps.first_byte, stamps.last_byte) = (stamps.sent, stamps.sent);
                    return Ok(message.answer(C::VERSION, stamps));
                }
                continue;
            }
            if is_early && let Some(begin) = self.inbox.take_partial().filter(|_| wanted.only_awaits()) {
                if !begin.is_empty() {
                    message.push(&begin, self.incoming.is_compressed());
                    stamps.bytes_received += begin.len() as u64;
                }
                is_early = false;
            }
            let event = self
                .next(io, &mut |piece, is_compressed| message.push(piece, is_compressed), &mut turn, stamps, was_used)
                .await?;
            match event {
                Event::Message if std::mem::take(&mut is_early) => {
                    self.pass_over(&wanted, &mut message, stamps);
                }
                Event::Message => {
                    if self.take_message(&mut wanted, &mut message, stamps) {
                        return Ok(message.answer(C::VERSION, stamps));
                    }
                }
                Event::Ping(payload) => {
                    self.note_sent(stamps);
                    let pong = frame(PONG, &payload, stamps.bytes_received);
                    let close_code = self.close_code.take();
                    self.carrier.send(&pong).await.map_err(|failure| self.lost(failure, was_used, stamps))?;
                    self.close_code = close_code;
                }
                Event::Pong(payload) => {
                    if matches!(wanted.action, WebSocketAction::Ping(own) if own[..] == payload[..]) {
                        return Ok(message.answer(C::VERSION, stamps));
                    }
                }
                Event::Close { code: None | Some(DONE), .. } if wanted.action == WebSocketAction::Close => {
                    self.carrier.end();
                    return Ok(Reply { keep_alive: false, ..message.answer(C::VERSION, stamps) });
                }
                Event::Close { code, reason } => return Ok(self.closed(&wanted, code, &reason, stamps)),
            }
        }
    }

    /// Whether the whole message that came is the awaited one; another one is passed over.
    fn take_message(
        &mut self,
        wanted: &mut MessageExchange<'_, '_>,
        message: &mut PartialMessage,
        stamps: &mut Stamps,
    ) -> bool {
        message.kept = message.finish(C::VERSION);
        let is_awaited = wanted.takes(message.kept.as_deref());
        if !is_awaited {
            self.pass_over(wanted, message, stamps);
        }
        is_awaited
    }

    /// Passes over a message. Of several that are awaited, each counts for the request.
    fn pass_over(&mut self, wanted: &MessageExchange<'_, '_>, message: &mut PartialMessage, stamps: &mut Stamps) {
        if wanted.events.is_some() {
            message.begin_next(wanted);
            return;
        }
        self.inbox.count_push();
        *message = PartialMessage::new(wanted);
        stamps.first_byte = Tick::ZERO;
        stamps.bytes_received = 0;
    }

    /// The server closed the WebSocket: a reply with its code as the status and its reason as the body.
    fn closed(
        &mut self,
        wanted: &MessageExchange<'_, '_>,
        code: Option<u16>,
        reason: &str,
        stamps: &mut Stamps,
    ) -> Reply {
        let status = CLOSE_STATUS + code.unwrap_or(NO_CODE);
        self.close_code = Some(code.unwrap_or(DONE));
        let mut note = format!("the server closed the WebSocket: {}", status_text(status));
        if !reason.is_empty() {
            note.extend([", ", reason]);
        }
        self.close_note = Some(note);
        let mut message = PartialMessage::new(wanted);
        message.push(reason.as_bytes(), false);
        stamps.bytes_received = stamps.bytes_received.max(reason.len() as u64);
        Reply { status, keep_alive: false, ..message.answer(C::VERSION, stamps) }
    }

    /// Takes the text of the server's close frame; it is returned once.
    pub fn take_close_note(&mut self) -> Option<String> {
        self.close_note.take()
    }

    /// Sends the message; how many bytes it took.
    async fn send(&mut self, wanted: &MessageExchange<'_, '_>) -> Result<u64, Failure> {
        let Some(usual) = wanted.message else { return Ok(0) };
        let Self { carrier, deflater, .. } = self;
        let body = wanted.body.filter(|_| wanted.action == WebSocketAction::Message);
        let packed = deflater.as_mut().zip(body).and_then(|(deflater, body)| deflater.frame(body));
        let message = packed.unwrap_or(usual);
        // A close frame within a message would be a part of it.
        let close_code = self.close_code.take();
        let n = carrier.send_at_once(message)?;
        if n < message.len() {
            Box::pin(carrier.send(&message[n..])).await?;
        }
        self.close_code = close_code.filter(|_| wanted.action != WebSocketAction::Close);
        Ok(message.len() as u64)
    }

    /// The next thing that comes whole.
    async fn next<T: Timer>(
        &mut self,
        io: &WorkerIo<T>,
        body: &mut dyn FnMut(&[u8], bool),
        turn: &mut Turn,
        stamps: &mut Stamps,
        was_used: bool,
    ) -> Result<Event, Failure> {
        if let Some(ending) = self.ending.take() {
            if stamps.first_byte == Tick::ZERO {
                (stamps.first_byte, stamps.last_byte) = (stamps.sent, stamps.sent);
            }
            return match ending {
                Ending::Closed { code, reason } => Ok(Event::Close { code, reason }),
                Ending::Lost(failure) => Err(self.lost(failure, was_used, stamps)),
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
                    let at = self.came(io.time.now(), stamps);
                    if let Some(event) = self.take(&bytes, body, (at, &mut *stamps))? {
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
                        let is_stale = was_used && stamps.first_byte == Tick::ZERO;
                        return Poll::Ready(Err(if is_stale { Failure::Stale } else { Failure::ClosedEarly }));
                    }
                    Poll::Ready(Ok(n)) => n,
                    Poll::Ready(Err(failure)) => return Poll::Ready(Err(self.caused(failure, stamps))),
                };
                let now = io.time.now();
                let at = self.came(now, stamps);
                let event = self.take(&buffer[..n], body, (at, &mut *stamps))?;
                turn.worked(&io.time, now);
                if let Some(event) = event {
                    return Poll::Ready(Ok(event));
                }
            }
        })
        .await
    }

    /// When bytes came that are taken in `now`; not before the message was sent.
    fn came(&self, now: Tick, stamps: &Stamps) -> Tick {
        self.carrier.received_at(now).max(stamps.sent)
    }

    /// Notes why the carrier is over, where its peer told.
    fn caused(&self, failure: Failure, stamps: &mut Stamps) -> Failure {
        let is_of_it = |cause: &Malformed| cause.failure() == failure;
        stamps.malformed = stamps.malformed.or_else(|| self.carrier.cause().filter(is_of_it));
        failure
    }

    /// What a failure in sending is; on a WebSocket that was used it may have been closed before.
    fn lost(&self, failure: Failure, was_used: bool, stamps: &mut Stamps) -> Failure {
        match self.caused(failure, stamps) {
            Failure::Reset | Failure::ClosedEarly if was_used => Failure::Stale,
            other => other,
        }
    }

    /// Takes in bytes that came; those behind what is whole are kept.
    fn take(
        &mut self,
        bytes: &[u8],
        body: &mut dyn FnMut(&[u8], bool),
        (now, stamps): (Tick, &mut Stamps),
    ) -> Result<Option<Event>, Failure> {
        let taken = self.incoming.take(bytes, body);
        let (used, event) = taken.map_err(|cause| {
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

    /// Resolves when the idle connection is of no more use. A ping is answered where the socket takes it at once.
    pub fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Idle> {
        ready!(self.take_in(&mut [0; 4096], cx));
        let is_malformed = matches!(self.ending, Some(Ending::Malformed(_)));
        Poll::Ready(if is_malformed { Idle::Unsolicited } else { Idle::Closed })
    }

    /// Takes in what came before a request awaits it; ready if nothing more can come.
    fn take_in(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<()> {
        let rest = std::mem::take(&mut self.rest);
        self.take_early(&rest, cx);
        for _ in 0..MAX_EARLY_READS {
            if self.ending.is_some() {
                return Poll::Ready(());
            }
            match ready!(self.carrier.poll_read(buffer, cx)) {
                Ok(0) => self.ending = Some(Ending::Lost(Failure::ClosedEarly)),
                Ok(n) => self.take_early(&buffer[..n], cx),
                Err(failure) => self.ending = Some(Ending::Lost(failure)),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Takes in bytes that came before a request awaits them.
    fn take_early(&mut self, mut bytes: &[u8], cx: &mut Context<'_>) {
        while !bytes.is_empty() && self.ending.is_none() {
            let Self { incoming, inbox, .. } = self;
            let (used, event) = match incoming.take(bytes, &mut |piece, _| inbox.push_piece(piece)) {
                Ok(taken) => taken,
                Err(cause) => {
                    self.close_code = self.close_code.and(Some(PROTOCOL_ERROR));
                    self.ending = Some(Ending::Malformed(cause));
                    return;
                }
            };
            bytes = &bytes[used..];
            match event {
                Some(Event::Message) => self.inbox.end_message(self.incoming.is_compressed()),
                Some(Event::Ping(payload)) => self.carrier.send_if_room(&frame(PONG, &payload, used as u64), cx),
                Some(Event::Close { code, reason }) => {
                    self.close_code = self.close_code.and(code.or(Some(DONE)));
                    self.ending = Some(Ending::Closed { code, reason });
                }
                Some(Event::Pong(_)) | None => {}
            }
        }
    }
}

impl<C: Carrier> Drop for WebSocket<C> {
    /// Sends a close frame (RFC 6455 section 7.1.2) if the socket accepts it at once.
    fn drop(&mut self) {
        if let Some(code) = self.close_code {
            let close = frame(CLOSE, &code.to_be_bytes(), 0);
            self.carrier.send_if_room(&close, &mut Context::from_waker(Waker::noop()));
            self.carrier.end();
        }
    }
}

/// Why there is no WebSocket.
fn opens_none(status: u16) -> String {
    format!("the server does not open a WebSocket here: it answered with status {status}")
}
