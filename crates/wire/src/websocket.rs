//! WebSocket (RFC 6455): messages over a connection that began as HTTP/1.1.
//!
//! An exchange sends one message and waits for the next that comes; without a message it only waits. Where a pattern is
//! looked for in bodies, messages that do not match it are passed over: a server may send of its own accord. Pings are
//! answered. Extensions are not offered, so messages come as they are.

use crate::collect::ReplyCollector;
use crate::events::EventMeter;
use crate::h1::exchange::{PipelineState, Shared};
use crate::h1::parse::{Framing, Head, RequestKind, Sink};
use crate::request::RequestParts;
use crate::sources::Open;
use crate::stream::{Idle, Stream};
use crate::tls::Handshake;
use crate::turn::Turn;
use crate::{Reply, Stamps, Timer, WantedFields, Wants, error};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::outcome::Malformed;
use brunt_model::plan::HttpVersion;
use brunt_model::{Body, Failure, Tick};
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

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const LAST: u8 = 0x80;
const MASKED: u8 = 0x80;

/// An open WebSocket.
pub struct WebSocket {
    stream: Stream,
    incoming: Incoming,
    /// Bytes behind the last message that was taken.
    rest: Vec<u8>,
    is_used: bool,
    /// Counts it among the connections that are open.
    #[allow(dead_code)] // for its drop
    open: Open,
}

/// The frame of a message, masked; None where nothing is sent.
pub fn message(body: &Body, number: u64) -> Option<Vec<u8>> {
    match body {
        Body::None => None,
        Body::Text(text) => Some(frame(TEXT, text.as_bytes(), number)),
        Body::Bytes(bytes) => Some(frame(BINARY, bytes, number)),
    }
}

/// A frame with a mask that depends on a number. Masks protect what stands between a browser and the server; here each
/// need only be another one.
fn frame(opcode: u8, payload: &[u8], number: u64) -> Vec<u8> {
    let mut out = vec![LAST | opcode];
    match payload.len() {
        length @ 0..126 => out.push(MASKED | length as u8),
        length @ 126..65_536 => {
            out.push(MASKED | 0x7e);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(MASKED | 0x7f);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    let mask = ((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
    let mask = mask.to_be_bytes();
    out.extend_from_slice(&mask);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    out
}

/// What came whole.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Event {
    Message,
    Ping(Vec<u8>),
    Pong,
    Close(Option<u16>),
}

/// Where the reading of frames stands.
#[derive(Debug, Default)]
struct Incoming {
    /// The beginning of a frame's head.
    head: Vec<u8>,
    frame: Option<Frame>,
    /// The payload of a control frame.
    control: Vec<u8>,
    /// A message has begun, and its last frame has not come.
    in_message: bool,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    is_last: bool,
    opcode: u8,
    left: u64,
}

impl Incoming {
    /// Takes bytes in until something is whole; how many were taken. Payloads of messages go to `body`.
    fn take(&mut self, bytes: &[u8], body: &mut dyn FnMut(&[u8])) -> Result<(usize, Option<Event>), Malformed> {
        let mut at = 0;
        loop {
            let begun = if self.frame.is_some() { self.frame } else { self.read_head(bytes, &mut at)? };
            let Some(frame) = begun else { return Ok((at, None)) };
            let piece = &bytes[at..];
            let piece = &piece[..piece.len().min(usize::try_from(frame.left).unwrap_or(usize::MAX))];
            at += piece.len();
            if frame.opcode >= CLOSE {
                self.control.extend_from_slice(piece);
            } else if !piece.is_empty() {
                body(piece);
            }
            let left = frame.left - piece.len() as u64;
            if left > 0 {
                self.frame = Some(Frame { left, ..frame });
                return Ok((at, None));
            }
            self.frame = None;
            if let Some(event) = self.whole(frame)? {
                return Ok((at, Some(event)));
            }
        }
    }

    /// A frame came whole.
    fn whole(&mut self, frame: Frame) -> Result<Option<Event>, Malformed> {
        if frame.opcode < CLOSE {
            self.in_message = !frame.is_last;
            return Ok(frame.is_last.then_some(Event::Message));
        }
        let payload = std::mem::take(&mut self.control);
        Ok(Some(match frame.opcode {
            PING => Event::Ping(payload),
            PONG => Event::Pong,
            _ => match payload.as_slice() {
                [] => Event::Close(None),
                [a, b, ..] => Event::Close(Some(u16::from_be_bytes([*a, *b]))),
                [_] => return Err(Malformed::WebSocketFrame),
            },
        }))
    }

    /// Completes the head of a frame, where it is all there.
    fn read_head(&mut self, bytes: &[u8], at: &mut usize) -> Result<Option<Frame>, Malformed> {
        while *at < bytes.len() {
            self.head.push(bytes[*at]);
            *at += 1;
            let [first, second, extended @ ..] = self.head.as_slice() else { continue };
            let (is_last, opcode) = (first & LAST != 0, first & 0x0f);
            let is_control = opcode >= CLOSE;
            let is_known = matches!(opcode, CONTINUATION..=BINARY | CLOSE..=PONG);
            let is_in_place = is_control || self.in_message == (opcode == CONTINUATION);
            let is_short = !is_control || (is_last && second & !MASKED < 126);
            let is_plain = first & 0x70 == 0 && second & MASKED == 0;
            if !(is_known && is_in_place && is_short && is_plain) {
                return Err(Malformed::WebSocketFrame);
            }
            let wanted = match second & !MASKED {
                126 => 2,
                127 => 8,
                _ => 0,
            };
            if extended.len() < wanted {
                continue;
            }
            let length = extended.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
            let left = if wanted == 0 { u64::from(*second) } else { length };
            if left >> 63 != 0 {
                return Err(Malformed::WebSocketFrame);
            }
            self.head.clear();
            self.frame = Some(Frame { is_last, opcode, left });
            return Ok(self.frame);
        }
        Ok(None)
    }
}

/// What is looked for in a message.
pub struct Wanted<'m, 'p> {
    /// The frame that is sent; None: none is.
    pub message: Option<&'m [u8]>,
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
            let why = format!("the server does not open a WebSocket here: it answered with status {}", reply.status);
            return Err((Failure::Protocol, why));
        }
        let accept = STANDARD.encode(Sha1::digest(format!("{key}{MAGIC}")));
        let fields = reply.kept.and_then(|kept| kept.head).map(|(_, fields)| fields).unwrap_or_default();
        let accepts =
            fields.iter().any(|(name, value)| name.eq_ignore_ascii_case("sec-websocket-accept") && *value == accept);
        if !accepts {
            return Err((Failure::Protocol, "the server's Sec-WebSocket-Accept does not fit the key".to_owned()));
        }
        Ok(Self { stream, incoming: Incoming::default(), rest: ahead.take_came(), is_used: false, open })
    }

    /// Sends a message, and waits for one.
    ///
    /// # Errors
    ///
    /// What failed, if none came.
    pub(crate) async fn exchange<T: Timer>(
        &mut self,
        shared: &Shared<T>,
        mut wanted: Wanted<'_, '_>,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let was_used = std::mem::replace(&mut self.is_used, true);
        if let Some(message) = wanted.message {
            let sent = match self.stream.send_at_once(message) {
                Ok(n) if n == message.len() => Ok(()),
                Ok(n) => Box::pin(self.stream.send(&message[n..])).await,
                Err(error) => Err(error),
            };
            sent.map_err(|error| lost(&error, was_used))?;
            stamps.bytes_sent = message.len() as u64;
        }
        stamps.sent = shared.time.now();
        let (mut body_bytes, mut turn) = (0, Turn::default());
        let mut keep = ReplyCollector::new(wanted.wants, wanted.pattern, None);
        if wanted.events.as_ref().is_some_and(|events| events.is_over()) {
            // Sent, and nothing is awaited. What came meanwhile must not fill the socket.
            let idle = std::future::poll_fn(|cx| Poll::Ready(self.poll_idle(cx))).await;
            if idle.is_ready() {
                return Err(Failure::ClosedEarly);
            }
            (stamps.first_byte, stamps.last_byte) = (stamps.sent, stamps.sent);
            return Ok(Reply { status: STATUS, keep_alive: true, ..Reply::default() });
        }
        loop {
            let mut body = |piece: &[u8]| {
                body_bytes += piece.len() as u64;
                if let Some(keep) = &mut keep {
                    keep.body(piece);
                }
            };
            let event = self.next(shared, &mut body, &mut turn, stamps, was_used).await?;
            match event {
                Event::Message => {
                    let head = Head {
                        status: STATUS,
                        version: HttpVersion::V1_1,
                        framing: Framing::None,
                        keep_alive: true,
                        length: 0,
                        encoded: false,
                    };
                    let kept = keep.take().map(|keep| Box::new((*keep).finish(head)));
                    let matches = kept.as_ref().is_some_and(|kept| kept.matches);
                    let is_awaited = match &mut wanted.events {
                        None => wanted.pattern.is_none() || matches,
                        Some(events) => {
                            events.message();
                            matches || events.is_over()
                        }
                    };
                    if is_awaited {
                        stamps.head_bytes = stamps.bytes_received - body_bytes;
                        let head_bytes = stamps.head_bytes;
                        let keep_alive = true;
                        return Ok(Reply {
                            status: STATUS,
                            keep_alive,
                            body_bytes,
                            head_bytes,
                            kept,
                            ..Reply::default()
                        });
                    }
                    // The server sent it of its own accord.
                    keep = ReplyCollector::new(wanted.wants, wanted.pattern, None);
                    if wanted.events.is_none() {
                        body_bytes = 0;
                        (stamps.first_byte, stamps.bytes_received) = (Tick::ZERO, 0);
                    }
                }
                Event::Ping(payload) => {
                    let pong = frame(PONG, &payload, stamps.bytes_received);
                    self.stream.send(&pong).await.map_err(|error| lost(&error, was_used))?;
                }
                Event::Pong => {}
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

    /// The next thing that comes whole.
    async fn next<T: Timer>(
        &mut self,
        shared: &Shared<T>,
        body: &mut dyn FnMut(&[u8]),
        turn: &mut Turn,
        stamps: &mut Stamps,
        was_used: bool,
    ) -> Result<Event, Failure> {
        std::future::poll_fn(|cx| {
            loop {
                if !self.rest.is_empty() {
                    let bytes = std::mem::take(&mut self.rest);
                    if let Some(event) = self.take(&bytes, body, (shared.time.now(), &mut *stamps))? {
                        return Poll::Ready(Ok(event));
                    }
                    continue;
                }
                ready!(turn.poll_continue(&shared.time, cx));
                let mut buffer = shared.buffer.borrow_mut();
                let n = match self.stream.poll_read(&mut buffer[..READ], cx) {
                    Poll::Pending => {
                        turn.wait();
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(0)) => {
                        let is_stale = was_used && stamps.first_byte == Tick::ZERO;
                        return Poll::Ready(Err(if is_stale { Failure::Stale } else { Failure::ClosedEarly }));
                    }
                    Poll::Ready(Ok(n)) => n,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error::of_stream(&error))),
                };
                let now = shared.time.now();
                let event = self.take(&buffer[..n], body, (now, &mut *stamps))?;
                turn.worked(&shared.time, now);
                if let Some(event) = event {
                    return Poll::Ready(Ok(event));
                }
            }
        })
        .await
    }

    /// Takes in bytes that came; those behind what is whole are kept.
    fn take(
        &mut self,
        bytes: &[u8],
        body: &mut dyn FnMut(&[u8]),
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
        stamps.bytes_received += used as u64;
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
            let n = match ready!(self.stream.poll_read(&mut buffer, cx)) {
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
            match self.incoming.take(bytes, &mut |_| ()) {
                Err(_) => return Some(Idle::Unsolicited),
                Ok((_, Some(Event::Close(_)))) => return Some(Idle::Closed),
                Ok((used, event)) => {
                    bytes = &bytes[used..];
                    if let Some(Event::Ping(payload)) = event
                        && self.stream.poll_send(&frame(PONG, &payload, used as u64), cx).is_ready()
                    {
                        let _ = self.stream.poll_flush(cx);
                    }
                }
            }
        }
        None
    }

    /// What the TLS handshake agreed on, where there was one.
    pub fn handshake(&self) -> Option<Handshake> {
        self.stream.handshake()
    }

    /// The address at the other end.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.stream.peer()
    }
}

/// What an error in sending is; on a connection that was used it may have been closed before.
fn lost(error: &std::io::Error, was_used: bool) -> Failure {
    match error::of_stream(error) {
        Failure::Reset | Failure::ClosedEarly if was_used => Failure::Stale,
        other => other,
    }
}

/// The request for a WebSocket (RFC 6455 section 4.1).
fn handshake(parts: &RequestParts, key: &str) -> Vec<u8> {
    let path = &parts.url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &parts.url[url::Position::BeforeHost..url::Position::AfterPort];
    let mut text = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
    );
    for (name, value) in parts.headers.iter().filter(|(name, _)| !OWN.contains(&name.to_ascii_lowercase().as_str())) {
        text.extend([name.as_str(), ": ", value, "\r\n"]);
    }
    (text + "\r\n").into_bytes()
}

/// Whether a URL is one of WebSocket.
pub fn is_websocket(url: &Url) -> bool {
    matches!(url.scheme(), "ws" | "wss")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unmasked(frame: &[u8]) -> Vec<u8> {
        let (head, payload) = match frame[1] & 0x7f {
            126 => (4, &frame[8..]),
            127 => (10, &frame[14..]),
            _ => (2, &frame[6..]),
        };
        let mask = &frame[head..head + 4];
        payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
    }

    #[test]
    fn messages_are_framed_and_masked() {
        assert_eq!(message(&Body::None, 1), None);
        for length in [0, 1, 125, 126, 65_535, 65_536] {
            let text = "x".repeat(length);
            let one = message(&Body::Text(text.clone()), 7).unwrap();
            assert_eq!((one[0], one[1] & MASKED, unmasked(&one)), (0x81, MASKED, text.into_bytes()));
        }
        assert_eq!(message(&Body::Bytes(vec![1, 2]), 0).unwrap()[0], 0x82);
        assert_ne!(frame(TEXT, b"abc", 1), frame(TEXT, b"abc", 2));
    }

    /// All that comes of these bytes: events, and the bodies of messages.
    fn events(bytes: &[u8], piece: usize) -> Result<(Vec<Event>, Vec<u8>), Malformed> {
        let (mut incoming, mut events, mut body) = (Incoming::default(), Vec::new(), Vec::new());
        for mut rest in bytes.chunks(piece) {
            while !rest.is_empty() {
                let (used, event) = incoming.take(rest, &mut |piece| body.extend_from_slice(piece))?;
                events.extend(event);
                rest = &rest[used..];
            }
        }
        Ok((events, body))
    }

    #[test]
    fn frames_are_read_in_any_pieces() {
        let long = "z".repeat(300);
        let bytes = [
            &b"\x01\x02He\x89\x02hi\x80\x03llo\x8a\x00\x82\x00"[..],
            b"\x81\x7e\x01\x2c",
            long.as_bytes(),
            b"\x88\x05\x03\xe8bye",
        ]
        .concat();
        let whole = [Event::Ping(b"hi".to_vec()), Event::Message, Event::Pong, Event::Message, Event::Message];
        let whole = [&whole[..], &[Event::Close(Some(1000))]].concat();
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(events(&bytes, piece), Ok((whole.clone(), format!("Hello{long}").into_bytes())));
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let cases: [&[u8]; 9] = [
            b"\x81\x81abcd",
            b"\xc1\x00",
            b"\x83\x00",
            b"\x8b\x00",
            b"\x80\x00",
            b"\x01\x00\x81\x00",
            b"\x09\x00",
            b"\x89\x7e\x00\x7e",
            b"\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00",
        ];
        for bytes in cases {
            assert_eq!(events(bytes, 100), Err(Malformed::WebSocketFrame), "{bytes:?}");
        }
        assert_eq!(events(b"\x88\x01a", 100), Err(Malformed::WebSocketFrame));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_the_same_in_any_pieces(bytes: Vec<u8>, piece in 1_usize..20) {
            prop_assert_eq!(events(&bytes, piece).is_ok(), events(&bytes, 10_000).is_ok());
        }
    }
}
