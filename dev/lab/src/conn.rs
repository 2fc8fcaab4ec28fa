//! One connection: its socket, its parser, the replies that it is owed, and the bytes that are still to send.
//!
//! Holds state and moves bytes; what to reply and when is decided by [`crate::desk`], and carried out by
//! [`crate::deliver`].

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::event::epoll::EventFlags;
use rustls::ServerConnection;

use crate::desk::Plan;
use crate::h2::options::Versions;
use crate::h2::session::Session;
use crate::outbox::{Outbox, Settled};
use crate::request::Parser;
use crate::socket::Writer;
use crate::websocket::WebSocket;

/// With this many bytes of HTTP/2 unsent, no further frame is read.
const MOST_UNSENT: usize = 1 << 20;

/// With this many replies owed or unsent, no further request is read.
const MOST_OWED: usize = 512;

/// A reply that the connection is owed; replies leave in the order of the requests.
#[derive(Debug)]
pub struct Owed {
    /// Whether its instant has come.
    pub ready: bool,
    /// What to send.
    pub plan: Plan,
}

/// A reply that leaves one byte at a time.
#[derive(Debug)]
pub struct Drip {
    /// The whole reply.
    pub bytes: Rc<[u8]>,
    /// How much of it has left.
    pub sent: usize,
    /// The tick at which the next byte is due: by the schedule, so that lateness does not add up.
    pub due: u64,
    /// What is settled with the last byte.
    pub settled: Settled,
}

/// How far a connection is from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Requests are read.
    Open,
    /// Nothing more is read; closed once everything owed is sent.
    Ending,
    /// Our side is shut; closed when the client closes.
    Draining,
}

/// What is to become of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It stays.
    Keep,
    /// It is closed now.
    Drop,
}

/// What a connection speaks.
#[derive(Debug)]
pub enum Speaks {
    /// It has sent so many bytes of HTTP/2's preface, and nothing else.
    Undecided(usize),
    /// HTTP/1.x.
    One,
    /// HTTP/2.
    Two(Box<Session>),
    /// Messages (RFC 6455); their replies are owed as those of HTTP/1.
    WebSocket(Box<WebSocket>),
}

impl Speaks {
    /// At the start of a connection.
    pub fn new(versions: Versions) -> Self {
        if versions.has_two() { Self::Undecided(0) } else { Self::One }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Conn {
    /// The socket.
    pub socket: OwnedFd,
    /// The place in the server's table.
    pub slot: u32,
    /// Tells this connection from others that had the same place.
    pub generation: u32,
    /// What is spoken.
    pub speaks: Speaks,
    /// Requests out of bytes.
    pub parser: Parser,
    /// TLS, if it is spoken.
    pub session: Option<Box<ServerConnection>>,
    /// Replies that are not on their way yet.
    pub owed: VecDeque<Owed>,
    /// Number of the first of them.
    pub first_owed: u32,
    /// Bytes on their way.
    pub outbox: Outbox,
    /// A reply that is dripping.
    pub drip: Option<Drip>,
    /// See [`Phase`].
    pub phase: Phase,
    /// The client will send nothing more.
    pub ended: bool,
    /// HTTP/1 requests and messages that were read.
    pub requests: u64,
    /// Requests that were answered.
    pub served: u64,
    /// When something last happened.
    pub last_active: u64,
    /// What the event loop watches.
    pub interest: EventFlags,
    /// Replies that TLS has taken and the kernel has not.
    encrypted: Vec<Settled>,
}

impl Conn {
    /// A new connection.
    pub fn new(socket: OwnedFd, speaks: Speaks, parser: Parser, session: Option<Box<ServerConnection>>) -> Self {
        Self {
            socket,
            slot: 0,
            generation: 0,
            speaks,
            parser,
            session,
            owed: VecDeque::new(),
            first_owed: 0,
            outbox: Outbox::default(),
            drip: None,
            phase: Phase::Open,
            ended: false,
            requests: 0,
            served: 0,
            last_active: 0,
            interest: EventFlags::IN,
            encrypted: Vec::new(),
        }
    }

    /// Sends what can be sent; what is settled thereby goes to `settled`. Returns the bytes that the kernel took.
    ///
    /// # Errors
    ///
    /// If the connection is broken.
    pub fn flush(&mut self, settled: &mut Vec<Settled>) -> io::Result<usize> {
        let Some(session) = &mut self.session else {
            let mut writer = Writer(&self.socket);
            return match &mut self.speaks {
                Speaks::Two(http2) => http2.write_to(&mut writer, settled),
                _ => self.outbox.write_to(&mut writer, settled),
            };
        };
        match &mut self.speaks {
            Speaks::Two(http2) => http2.write_to(&mut session.writer(), &mut self.encrypted)?,
            _ => self.outbox.write_to(&mut session.writer(), &mut self.encrypted)?,
        };
        let mut total = 0;
        while session.wants_write() {
            match session.write_tls(&mut Writer(&self.socket)) {
                Ok(count) => total += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(total),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        settled.append(&mut self.encrypted);
        Ok(total)
    }

    /// Whether bytes wait for the kernel to take them.
    pub fn has_unsent(&self) -> bool {
        let held = match &self.speaks {
            Speaks::Two(http2) => http2.unsent() > 0,
            _ => !self.outbox.is_empty(),
        };
        held || self.session.as_ref().is_some_and(|session| session.wants_write())
    }

    /// Whether nothing is owed, dripping or unsent.
    pub fn is_settled(&self) -> bool {
        let idle = match &self.speaks {
            Speaks::Two(http2) => http2.is_idle(),
            _ => self.owed.is_empty() && self.drip.is_none(),
        };
        idle && !self.has_unsent()
    }

    /// Makes more frames of HTTP/2 bodies, or lets a control frame of a WebSocket go; true if there are any.
    pub fn pump(&mut self) -> bool {
        match &mut self.speaks {
            Speaks::Two(http2) => {
                http2.pump();
                http2.unsent() > 0
            }
            // Within a frame that drips there is no place for another.
            Speaks::WebSocket(websocket) if self.drip.is_none() => {
                let control = websocket.control.take();
                control.map(|frame| self.outbox.push(frame.into(), None)).is_some()
            }
            _ => false,
        }
    }

    /// Nothing more is read; the connection ends once everything is sent, a WebSocket with this code.
    pub fn finish(&mut self, code: u16) {
        if let Speaks::WebSocket(websocket) = &mut self.speaks {
            websocket.close(code);
        }
        self.phase = Phase::Ending;
    }

    /// Whether a request on this stream is not processed, because of a GOAWAY.
    pub fn excludes(&self, stream: u32) -> bool {
        matches!(&self.speaks, Speaks::Two(http2) if stream > http2.last)
    }

    /// Whether HTTP/2 ends here, after a GOAWAY.
    pub fn is_over(&self) -> bool {
        matches!(&self.speaks, Speaks::Two(http2) if http2.is_over())
    }

    /// What the event loop should watch.
    pub fn wanted(&self) -> EventFlags {
        let mut wanted = EventFlags::empty();
        let room = match &self.speaks {
            Speaks::Two(http2) => http2.unsent() < MOST_UNSENT,
            _ => self.owed.len() + self.outbox.len() < MOST_OWED,
        };
        if !self.ended && self.phase != Phase::Ending && room {
            wanted |= EventFlags::IN;
        }
        if self.has_unsent() {
            wanted |= EventFlags::OUT;
        }
        wanted
    }

    /// Marks the owed reply with this number as ready to leave.
    pub fn mark_ready(&mut self, number: u32) {
        if let Some(owed) = self.owed.get_mut(number.wrapping_sub(self.first_owed) as usize) {
            owed.ready = true;
        }
    }

    /// Takes the next owed reply if it is ready and no other is dripping.
    pub fn take_ready(&mut self) -> Option<Plan> {
        self.owed.front().filter(|owed| owed.ready && self.drip.is_none())?;
        self.first_owed = self.first_owed.wrapping_add(1);
        self.owed.pop_front().map(|owed| owed.plan)
    }
}
