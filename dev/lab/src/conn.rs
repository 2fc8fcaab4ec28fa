//! Holds the state of one connection: its socket, its parser, its pending replies, and
//! the bytes to send.
//!
//! This module stores state and moves bytes. [`crate::planner`] decides what to reply and when,
//! and [`crate::deliver`] executes it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::event::epoll::EventFlags;
use rustls::ServerConnection;

use crate::h2::options::Versions;
use crate::h2::session::ServerSession;
use crate::outbox::{CompletedReply, Outbox};
use crate::planner::ReplyPlan;
use crate::request::RequestParser;
use crate::socket::Writer;
use crate::websocket::WebSocketConnection;

/// Maximum number of unsent HTTP/2 bytes; above it, no further frame is read.
const MAX_UNSENT: usize = 1 << 20;

/// Maximum number of pending or unsent replies; above it, no further request is read.
const MAX_PENDING: usize = 512;

/// A reply that is not sent yet. Replies leave in the order of the requests.
#[derive(Debug)]
pub struct PendingReply {
    /// True once the reply is due.
    pub ready: bool,
    /// The reply to send.
    pub plan: ReplyPlan,
}

/// A reply that is sent one byte at a time.
#[derive(Debug)]
pub struct DrippedReply {
    /// The complete reply, head and body.
    pub bytes: Rc<[u8]>,
    /// Number of bytes sent.
    pub sent: usize,
    /// Tick at which the next byte is due. It follows the schedule, so that
    /// lateness does not accumulate.
    pub due: u64,
    /// The reply to record with the last byte.
    pub completed: CompletedReply,
}

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// Requests are read and answered.
    Open,
    /// Nothing more is read; the connection closes once everything pending is sent.
    Ending,
    /// Our side is shut down; the connection closes when the client closes.
    Draining,
}

/// Whether a connection stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnAction {
    /// The connection stays open.
    Keep,
    /// It is closed now.
    Close,
}

/// Protocol of a connection.
#[derive(Debug)]
pub enum WireProtocol {
    /// Not known yet. The client has sent this number of bytes of HTTP/2's
    /// preface, and nothing else.
    Undecided(usize),
    /// HTTP/1.0 or HTTP/1.1.
    Http1,
    /// HTTP/2, with the state of its connection.
    Http2(Box<ServerSession>),
    /// WebSocket messages (RFC 6455); their replies are pending in the same way as those of HTTP/1.
    WebSocket(Box<WebSocketConnection>),
}

impl WireProtocol {
    /// Returns the state at the start of a connection.
    pub fn new(versions: Versions) -> Self {
        if versions.has_http2() { Self::Undecided(0) } else { Self::Http1 }
    }
}

/// A TCP connection with its protocol state and pending replies.
#[derive(Debug)]
pub struct Conn {
    /// Socket, in non-blocking mode.
    pub socket: OwnedFd,
    /// Index in the server's table.
    pub slot: u32,
    /// Distinguishes this connection from earlier ones with the same slot.
    pub generation: u32,
    /// Protocol of the connection.
    pub protocol: WireProtocol,
    /// Parser of HTTP/1 requests.
    pub parser: RequestParser,
    /// TLS session, if TLS is used.
    pub session: Option<Box<ServerConnection>>,
    /// Replies that are not in the outbox yet.
    pub pending: VecDeque<PendingReply>,
    /// Number of the first of them.
    pub first_pending: u32,
    /// Bytes that the socket has not accepted yet.
    pub outbox: Outbox,
    /// A reply that is sent byte by byte.
    pub drip: Option<DrippedReply>,
    /// State of the connection.
    pub phase: ConnectionState,
    /// True once the client sends nothing more.
    pub input_ended: bool,
    /// Number of HTTP/1 requests and messages that were read.
    pub requests: u64,
    /// Number of requests that were answered.
    pub served: u64,
    /// Tick of the last activity.
    pub last_active: u64,
    /// Events that the event loop watches.
    pub interest: EventFlags,
    /// Replies that TLS has accepted and the kernel has not.
    encrypted: Vec<CompletedReply>,
}

impl Conn {
    /// Creates an open connection; the server assigns its slot.
    pub fn new(
        socket: OwnedFd,
        protocol: WireProtocol,
        parser: RequestParser,
        session: Option<Box<ServerConnection>>,
    ) -> Self {
        Self {
            socket,
            slot: 0,
            generation: 0,
            protocol,
            parser,
            session,
            pending: VecDeque::new(),
            first_pending: 0,
            outbox: Outbox::default(),
            drip: None,
            phase: ConnectionState::Open,
            input_ended: false,
            requests: 0,
            served: 0,
            last_active: 0,
            interest: EventFlags::IN,
            encrypted: Vec::new(),
        }
    }

    /// Sends as much as possible. Completely sent replies are appended to `completed`. Returns the
    /// number of bytes that the kernel accepted.
    pub fn flush(&mut self, completed: &mut Vec<CompletedReply>) -> io::Result<usize> {
        let Some(session) = &mut self.session else {
            let mut writer = Writer(&self.socket);
            return match &mut self.protocol {
                WireProtocol::Http2(http2) => http2.write_to(&mut writer, completed),
                _ => self.outbox.write_to(&mut writer, completed),
            };
        };
        match &mut self.protocol {
            WireProtocol::Http2(http2) => {
                http2.write_to(&mut session.writer(), &mut self.encrypted)?
            }
            _ => self.outbox.write_to(&mut session.writer(), &mut self.encrypted)?,
        };
        // `encrypted` holds the replies until all of their bytes have left.
        let mut total = 0;
        while session.wants_write() {
            match session.write_tls(&mut Writer(&self.socket)) {
                Ok(count) => total += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(total),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        completed.append(&mut self.encrypted);
        Ok(total)
    }

    /// True if bytes wait for the kernel.
    pub fn has_unsent(&self) -> bool {
        let is_unsent = match &self.protocol {
            WireProtocol::Http2(http2) => http2.unsent() > 0,
            _ => !self.outbox.is_empty(),
        };
        is_unsent || self.session.as_ref().is_some_and(|session| session.wants_write())
    }

    /// True if no reply is pending, dripping or unsent.
    pub fn has_nothing_pending(&self) -> bool {
        let idle = match &self.protocol {
            WireProtocol::Http2(http2) => http2.is_idle(),
            _ => self.pending.is_empty() && self.drip.is_none(),
        };
        idle && !self.has_unsent()
    }

    /// Makes more frames of HTTP/2 bodies, or releases a control frame of a WebSocket. Returns true
    /// if there are any.
    pub fn pump(&mut self) -> bool {
        match &mut self.protocol {
            WireProtocol::Http2(http2) => {
                http2.pump();
                http2.unsent() > 0
            }
            // No other frame may be sent within a dripping frame.
            WireProtocol::WebSocket(websocket) if self.drip.is_none() => {
                let control = websocket.control.take();
                control.map(|frame| self.outbox.push(frame.into(), None)).is_some()
            }
            _ => false,
        }
    }

    /// Stops reading. The connection ends once everything is sent; a WebSocket is
    /// closed with this code.
    pub fn finish(&mut self, code: u16) {
        if let WireProtocol::WebSocket(websocket) = &mut self.protocol {
            websocket.close(code);
        }
        self.phase = ConnectionState::Ending;
    }

    /// True if a request on this stream is not processed because of a GOAWAY.
    pub fn excludes(&self, stream: u32) -> bool {
        matches!(&self.protocol, WireProtocol::Http2(http2) if stream > http2.last)
    }

    /// True if the HTTP/2 session has ended after a GOAWAY.
    pub fn is_over(&self) -> bool {
        matches!(&self.protocol, WireProtocol::Http2(http2) if http2.is_over())
    }

    /// Returns the events that the event loop should watch.
    pub fn interest_flags(&self) -> EventFlags {
        let mut flags = EventFlags::empty();
        // A client that sends without reading must not fill the memory.
        let has_room = match &self.protocol {
            WireProtocol::Http2(http2) => http2.unsent() < MAX_UNSENT,
            _ => self.pending.len() + self.outbox.len() < MAX_PENDING,
        };
        if !self.input_ended && self.phase != ConnectionState::Ending && has_room {
            flags |= EventFlags::IN;
        }
        if self.has_unsent() {
            flags |= EventFlags::OUT;
        }
        flags
    }

    /// Marks the pending reply with this number as ready.
    pub fn mark_ready(&mut self, number: u32) {
        // Numbers wrap at 2^32. An earlier number gives an index far beyond the pending replies.
        if let Some(pending) =
            self.pending.get_mut(number.wrapping_sub(self.first_pending) as usize)
        {
            pending.ready = true;
        }
    }

    /// Removes and returns the next pending reply if it is ready and no other is dripping.
    pub fn take_ready(&mut self) -> Option<ReplyPlan> {
        self.pending.front().filter(|pending| pending.ready && self.drip.is_none())?;
        self.first_pending = self.first_pending.wrapping_add(1);
        self.pending.pop_front().map(|pending| pending.plan)
    }
}
