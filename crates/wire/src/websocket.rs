//! WebSocket (RFC 6455): messages over a connection that began as HTTP/1.1, or over a stream of HTTP/2 (RFC 8441).
//!
//! By the method of its request ([`Action`]) an exchange opens the WebSocket, sends a ping, or closes it. Otherwise it sends one message and waits for the next that comes; without a message it only waits. Where a pattern is
//! looked for in bodies, messages that do not match it are passed over: a server may send of its own accord. Pings are
//! answered. Where compressed replies are asked for, messages are compressed in both directions if the server agrees
//! (`permessage-deflate`).
//!
//! * `agreement`: what a handshake agrees on. `frames`: frames, written and read. `deflate`: messages compressed.
//!   `utf8`: whether text is. `carrier`: what frames are written to and read from.

mod agreement;
mod carrier;
mod deflate;
pub mod frames;
mod utf8;

use crate::collect::ReplyCollector;
use crate::events::EventMeter;
use crate::h1::exchange::{PipelineState, Shared};
use crate::h1::parse::{Framing, Head, RequestKind};
use crate::h2::{self, fields::Fields};
use crate::request::RequestParts;
use crate::sources::Open;
use crate::stream::{Idle, Stream};
use crate::tls::Handshake;
use crate::turn::Turn;
use crate::{Reply, Stamps, Timer, WantedFields, Wants};
use agreement::{Compression, accepts, agree, takes_compressed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::outcome::Malformed;
use brunt_model::{Body, Failure, Tick};
use carrier::Carrier;
use deflate::Deflater;
use frames::{CLOSE, Event, Incoming, PING, PONG, frame};
use regex::bytes::Regex;
use sha1::{Digest, Sha1};
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};
use url::Url;

/// The status of a reply that is a message: that of the switch of protocols.
pub const STATUS: u16 = 101;
/// What the server's answer to our key is made of (RFC 6455 section 1.3).
const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Read at once.
const READ: usize = 64 * 1024;
/// Header fields that belong to the handshake.
const OWN: [&str; 6] =
    ["host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];

/// An open WebSocket.
pub struct WebSocket {
    carrier: Carrier,
    incoming: Incoming,
    /// Compresses messages, where that was agreed on.
    deflater: Option<Box<Deflater>>,
    /// Bytes behind the last message that was taken.
    rest: Vec<u8>,
    is_used: bool,
    /// When the message of this exchange was written is known, or must not be told by what is written next.
    is_noted: bool,
    /// Counts its own connection among those that are open.
    #[allow(dead_code)] // for its drop
    open: Option<Open>,
}

/// What an exchange does on a WebSocket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Action {
    /// Sends a message, where there is one, and awaits one.
    #[default]
    Message,
    /// Opens the WebSocket, where it is not open.
    Open,
    /// Sends a ping with this payload, and awaits its pong.
    Ping([u8; 8]),
    /// Says that it closes, and awaits that the server does.
    Close,
}

/// The code of a WebSocket that is closed with all done (RFC 6455 section 7.4.1).
const DONE: u16 = 1000;

impl Action {
    /// What the method of a request means, and the frame that is sent. `number` is that of the request.
    pub fn of(parts: &RequestParts, number: u64) -> (Self, Option<Vec<u8>>) {
        let payload = number.to_be_bytes();
        match parts.method.as_str() {
            "OPEN" => (Self::Open, None),
            "PING" => (Self::Ping(payload), Some(frame(PING, &payload, number))),
            "CLOSE" => (Self::Close, Some(frame(CLOSE, &DONE.to_be_bytes(), number))),
            _ => (Self::Message, frames::message(&parts.body, number)),
        }
    }
}

/// What is looked for in a message.
pub struct Wanted<'m, 'p> {
    /// What is done.
    pub action: Action,
    /// The frame that is sent; None: none is.
    pub message: Option<&'m [u8]>,
    /// The message in that frame.
    pub body: Option<&'m Body>,
    /// What is kept of the message that comes.
    pub wants: Wants,
    /// What the message that is awaited matches.
    pub pattern: Option<&'p Regex>,
    /// Times the messages, and tells how many are awaited; None: one is.
    pub events: Option<Box<EventMeter>>,
}

impl WebSocket {
    /// Asks the server to go on as a WebSocket.
    ///
    /// # Errors
    ///
    /// It does not, with the reason in words.
    pub(crate) async fn begin<T: Timer>(
        shared: &Shared<T>,
        mut stream: Stream,
        (parts, number): (&RequestParts, u64),
        open: Open,
    ) -> Result<Self, (Failure, String)> {
        let key = STANDARD.encode(&Sha1::digest(number.to_be_bytes())[..16]);
        let request = handshake(parts, &key);
        let mut ahead = PipelineState::default();
        shared.send_ahead((&mut stream, &mut ahead), &request).await;
        // What comes behind the reply are frames.
        ahead.expect_more(shared.time.now());
        let wants = Wants { fields: WantedFields::All, ..Wants::default() };
        let (asked, keep) = ((&request[..], RequestKind::Ordinary), ReplyCollector::new(wants, None, None));
        let reply = shared.exchange((&mut stream, &mut ahead), asked, (false, keep), &mut Stamps::default()).await;
        let reply = reply.map_err(|failure| (failure, "no answer to the handshake of WebSocket".to_owned()))?;
        if reply.status != STATUS {
            return Err((Failure::Protocol, opens_none(reply.status)));
        }
        let accept = STANDARD.encode(Sha1::digest(format!("{key}{MAGIC}")));
        let fields = reply.kept.and_then(|kept| kept.head).map(|(_, fields)| fields).unwrap_or_default();
        let refuse = |why| (Failure::Protocol, why);
        accepts(&fields, &accept).map_err(refuse)?;
        let agreed = agree(&fields, parts).map_err(refuse)?;
        Ok(Self { rest: ahead.take_came(), ..Self::over(Carrier::Connection(stream, Vec::new()), agreed, Some(open)) })
    }

    /// Opens one over a stream of HTTP/2 (RFC 8441).
    ///
    /// # Errors
    ///
    /// It does not open, with the reason in words.
    pub(crate) async fn begin_over_h2(
        connection: &h2::Connection,
        parts: &RequestParts,
    ) -> Result<Self, (Failure, String)> {
        let fields = Fields::of_websocket(parts, takes_compressed(parts).then_some(agreement::OFFER));
        let fields = fields.map_err(|bad| (Failure::System, bad.to_string()))?;
        let (tunnel, answer) = connection.tunnel(&fields).await?;
        if !(200..300).contains(&answer.status) {
            return Err((Failure::Protocol, opens_none(answer.status)));
        }
        let agreed = agree(&answer.fields, parts).map_err(|why| (Failure::Protocol, why))?;
        Ok(Self::over(Carrier::Http2(tunnel), agreed, None))
    }

    fn over(carrier: Carrier, agreed: Option<Compression>, open: Option<Open>) -> Self {
        Self {
            carrier,
            incoming: Incoming::new(agreed.is_some()),
            deflater: agreed.map(|agreed| Box::new(Deflater::new(agreed))),
            rest: Vec::new(),
            is_used: false,
            is_noted: false,
            open,
        }
    }

    /// Sends a message, and waits for one.
    ///
    /// # Errors
    ///
    /// What failed, if none came.
    pub(crate) async fn exchange<T: Timer>(
        &mut self,
        shared: &Shared<T>,
        wanted: Wanted<'_, '_>,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let was_used = std::mem::replace(&mut self.is_used, true);
        self.is_noted = false;
        self.carrier.begin_message();
        let sent = self.send(&wanted).await;
        stamps.bytes_sent = sent.map_err(|failure| self.lost(failure, was_used, stamps))?;
        stamps.sent = shared.time.now();
        let has_message = wanted.message.is_some();
        let reply = self.reply(shared, (wanted, has_message), stamps, was_used).await;
        self.note_sent(stamps);
        reply
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
        shared: &Shared<T>,
        (mut wanted, was_sent): (Wanted<'_, '_>, bool),
        stamps: &mut Stamps,
        was_used: bool,
    ) -> Result<Reply, Failure> {
        let (mut body_bytes, mut turn) = (0, Turn::default());
        let mut keep = ReplyCollector::new(wanted.wants, wanted.pattern, None);
        if wanted.action != Action::Message {
            wanted.events = None;
        }
        if wanted.action == Action::Open || wanted.events.as_ref().is_some_and(|events| events.is_over()) {
            // Sent, and nothing is awaited. What came meanwhile must not fill the socket.
            if was_sent {
                self.carrier.flush().await.map_err(|failure| self.lost(failure, was_used, stamps))?;
                self.note_sent(stamps);
            }
            let idle = std::future::poll_fn(|cx| Poll::Ready(self.poll_idle(cx))).await;
            if idle.is_ready() {
                return Err(Failure::ClosedEarly);
            }
            (stamps.first_byte, stamps.last_byte) = (stamps.sent, stamps.sent);
            return Ok(Reply { status: STATUS, keep_alive: true, ..Reply::default() });
        }
        loop {
            let mut body = |piece: &[u8], is_compressed: bool| {
                body_bytes += piece.len() as u64;
                if let Some(keep) = &mut keep {
                    keep.message_piece(piece, is_compressed);
                }
            };
            let event = self.next(shared, &mut body, &mut turn, stamps, was_used).await?;
            match event {
                Event::Message => {
                    let head = Head {
                        status: STATUS,
                        version: self.carrier.version(),
                        framing: Framing::None,
                        keep_alive: true,
                        length: 0,
                        encoded: false,
                    };
                    let kept = keep.take().map(|keep| Box::new((*keep).finish(head)));
                    let matches = kept.as_ref().is_some_and(|kept| kept.matches);
                    let is_awaited = match &mut wanted.events {
                        _ if wanted.action != Action::Message => false,
                        None => wanted.pattern.is_none() || matches,
                        Some(events) => {
                            events.message();
                            matches || events.is_over()
                        }
                    };
                    if is_awaited {
                        return Ok(Reply { kept, ..answer(stamps, body_bytes) });
                    }
                    // The server sent it of its own accord.
                    keep = ReplyCollector::new(wanted.wants, wanted.pattern, None);
                    if wanted.events.is_none() {
                        body_bytes = 0;
                        (stamps.first_byte, stamps.bytes_received) = (Tick::ZERO, 0);
                    }
                }
                Event::Ping(payload) => {
                    self.note_sent(stamps);
                    let pong = frame(PONG, &payload, stamps.bytes_received);
                    self.carrier.send(&pong).await.map_err(|failure| self.lost(failure, was_used, stamps))?;
                }
                Event::Pong(payload) => {
                    if matches!(wanted.action, Action::Ping(own) if own[..] == payload[..]) {
                        return Ok(answer(stamps, 0));
                    }
                }
                Event::Close(_) if wanted.action == Action::Close => {
                    self.carrier.end();
                    return Ok(Reply { keep_alive: false, ..answer(stamps, 0) });
                }
                Event::Close(_) => {
                    return Err(if was_used && stamps.first_byte == Tick::ZERO {
                        Failure::Stale
                    } else {
                        Failure::ClosedEarly
                    });
                }
            }
        }
    }

    /// Sends the message; how many bytes it took.
    async fn send(&mut self, wanted: &Wanted<'_, '_>) -> Result<u64, Failure> {
        let Some(usual) = wanted.message else { return Ok(0) };
        let Self { carrier, deflater, .. } = self;
        let body = wanted.body.filter(|_| wanted.action == Action::Message);
        let packed = deflater.as_mut().zip(body).and_then(|(deflater, body)| deflater.frame(body));
        let message = packed.unwrap_or(usual);
        let n = carrier.send_at_once(message)?;
        if n < message.len() {
            Box::pin(carrier.send(&message[n..])).await?;
        }
        Ok(message.len() as u64)
    }

    /// The next thing that comes whole.
    async fn next<T: Timer>(
        &mut self,
        shared: &Shared<T>,
        body: &mut dyn FnMut(&[u8], bool),
        turn: &mut Turn,
        stamps: &mut Stamps,
        was_used: bool,
    ) -> Result<Event, Failure> {
        std::future::poll_fn(|cx| {
            loop {
                if !self.rest.is_empty() {
                    let bytes = std::mem::take(&mut self.rest);
                    let at = self.came(shared.time.now(), stamps);
                    if let Some(event) = self.take(&bytes, body, (at, &mut *stamps))? {
                        return Poll::Ready(Ok(event));
                    }
                    continue;
                }
                ready!(turn.poll_continue(&shared.time, cx));
                let mut buffer = shared.buffer.borrow_mut();
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
                let now = shared.time.now();
                let at = self.came(now, stamps);
                let event = self.take(&buffer[..n], body, (at, &mut *stamps))?;
                turn.worked(&shared.time, now);
                if let Some(event) = event {
                    return Poll::Ready(Ok(event));
                }
            }
        })
        .await
    }

    /// When bytes came that are taken in `now`; not before the message was sent.
    fn came(&self, now: Tick, stamps: &Stamps) -> Tick {
        self.carrier.came(now).max(stamps.sent)
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

    /// Resolves when the idle connection is of no more use. Messages that come meanwhile are passed over; a ping is answered
    /// where the socket takes it at once.
    pub fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Idle> {
        let rest = std::mem::take(&mut self.rest);
        if let Some(idle) = self.pass_over(&rest, cx) {
            return Poll::Ready(idle);
        }
        let mut buffer = [0; 4096];
        loop {
            let n = match ready!(self.carrier.poll_read(&mut buffer, cx)) {
                Ok(0) | Err(_) => return Poll::Ready(Idle::Closed),
                Ok(n) => n,
            };
            if let Some(idle) = self.pass_over(&buffer[..n], cx) {
                return Poll::Ready(idle);
            }
        }
    }

    /// Bytes came that nobody waits for; why the connection is of no more use, if it is.
    fn pass_over(&mut self, mut bytes: &[u8], cx: &mut Context<'_>) -> Option<Idle> {
        while !bytes.is_empty() {
            match self.incoming.take(bytes, &mut |_, _| ()) {
                Err(_) => return Some(Idle::Unsolicited),
                Ok((_, Some(Event::Close(_)))) => return Some(Idle::Closed),
                Ok((used, event)) => {
                    bytes = &bytes[used..];
                    if let Some(Event::Ping(payload)) = event {
                        self.carrier.send_if_room(&frame(PONG, &payload, used as u64), cx);
                    }
                }
            }
        }
        None
    }

    /// What the TLS handshake agreed on, where there was one.
    pub fn handshake(&self) -> Option<Handshake> {
        self.carrier.handshake()
    }

    /// The address at the other end.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.carrier.peer()
    }
}

/// What was awaited has come.
fn answer(stamps: &mut Stamps, body_bytes: u64) -> Reply {
    stamps.head_bytes = stamps.bytes_received - body_bytes;
    let head_bytes = stamps.head_bytes;
    Reply { status: STATUS, keep_alive: true, body_bytes, head_bytes, ..Reply::default() }
}

/// Why there is no WebSocket.
fn opens_none(status: u16) -> String {
    format!("the server does not open a WebSocket here: it answered with status {status}")
}

/// The request for a WebSocket (RFC 6455 section 4.1).
fn handshake(parts: &RequestParts, key: &str) -> Vec<u8> {
    let path = &parts.url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &parts.url[url::Position::BeforeHost..url::Position::AfterPort];
    let mut text = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
    );
    if takes_compressed(parts) {
        text.extend(["Sec-WebSocket-Extensions: ", agreement::OFFER, "\r\n"]);
    }
    for (name, value) in parts.headers.iter().filter(|(name, _)| !OWN.contains(&name.to_ascii_lowercase().as_str())) {
        text.extend([name.as_str(), ": ", value, "\r\n"]);
    }
    (text + "\r\n").into_bytes()
}

/// Whether a URL is one of WebSocket.
pub fn is_websocket(url: &Url) -> bool {
    matches!(url.scheme(), "ws" | "wss")
}
