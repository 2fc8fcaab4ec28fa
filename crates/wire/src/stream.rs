//! An open connection: a socket, and TLS on it where the origin wants it.
//!
//! It knows bytes, not HTTP. All reads go into buffers of the caller, one for a whole thread: an idle connection owns
//! none.
//!
//! Readiness is edge-triggered: it is cleared only after the kernel had nothing (`EAGAIN`), gave less than there was
//! room for, or said that nothing is left (`TCP_INQ`). After any other read there may be more bytes in the socket, of
//! which no further event tells.

use crate::link::{Link, Ready};
use crate::tls::{self, Handshake};
use rustls::{ClientConnection, HandshakeKind};
use socket2::Socket;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// Shorter rests of a body are not worth two system calls to be woken less often for.
const LONG_REST: u64 = 192 * 1024;
/// Woken when so much of a long body is there.
const WAKE_AT: u64 = 512 * 1024;

/// So many reads of nothing but blank lines are passed over at a time: a server may send them without end.
pub const MOST_BLANK_READS: u32 = 64;

/// An open connection.
pub struct Stream<L = AsyncFd<Socket>> {
    io: L,
    tls: Option<Box<ClientConnection>>,
    /// What `SO_RCVLOWAT` stands at.
    wake_at: u32,
    receipt: Receipt,
    /// The kernel was asked to tell what is left.
    tells_left: bool,
    /// The last read left nothing behind, as far as the kernel told.
    drained: bool,
    /// The peer closed the connection without ending TLS (`close_notify`).
    is_truncated: bool,
}

/// Whether the kernel tells when bytes came (`SO_TIMESTAMPNS`).
#[derive(Debug, Clone, Copy, Default)]
struct Receipt {
    /// It keeps the time with what comes.
    is_on: bool,
    /// Reads ask for it.
    is_wanted: bool,
    /// When the last segment of the last read came, since 1970.
    last: Option<Duration>,
}

/// Body bytes that may be dropped unseen.
#[derive(Debug, Clone, Copy)]
pub struct DiscardableBody {
    /// How many, at most.
    pub bytes: u64,
    /// So many come for certain, unless the connection ends.
    pub certain: bool,
}

/// What an idle connection turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// The peer closed it.
    Closed,
    /// Bytes came that nobody asked for.
    Unsolicited,
}

impl Stream {
    /// The address at the other end; None for a Unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.io.get_ref().peer_addr().ok()?.as_socket()
    }
}

impl<L: Link> Stream<L> {
    /// Wraps a connected, non-blocking socket.
    pub fn new(io: L) -> Self {
        Self {
            io,
            tls: None,
            wake_at: 1,
            receipt: Receipt::default(),
            tells_left: false,
            drained: false,
            is_truncated: false,
        }
    }

    /// What was agreed on, where TLS is spoken.
    pub fn handshake(&self) -> Option<Handshake> {
        self.tls.as_deref().map(tls::handshake)
    }

    /// Which kind of TLS handshake was performed, where TLS is spoken.
    pub fn handshake_kind(&self) -> Option<HandshakeKind> {
        self.tls.as_deref().and_then(|tls| tls.handshake_kind())
    }

    /// Whether the peer closed the connection without ending TLS (`close_notify`): what came may have been cut.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Agrees on TLS; the stream then carries what is inside.
    ///
    /// # Errors
    ///
    /// If the connection ends, or both sides do not agree.
    pub async fn start_tls(&mut self, mut tls: Box<ClientConnection>) -> io::Result<()> {
        while tls.is_handshaking() || tls.wants_write() {
            if tls.wants_write() {
                std::future::poll_fn(|cx| poll_flush_tls(&self.io, &mut tls, cx)).await?;
            } else if std::future::poll_fn(|cx| read_tls(&self.io, &mut tls, cx)).await? == 0 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the server closed during the TLS handshake"));
            }
        }
        self.tls = Some(tls);
        Ok(())
    }

    /// Has the kernel stamp what comes, where it can.
    pub fn stamp_receipt(&mut self) {
        self.receipt.is_on = self.io.stamp_receipt().is_ok();
    }

    /// Whether the kernel stamps what comes, and reads can tell. TLS holds bytes back.
    pub fn stamps_receipt(&self) -> bool {
        self.receipt.is_on && self.tls.is_none()
    }

    /// From now on reads tell when their last segment came.
    pub fn want_receipt(&mut self) {
        self.receipt = Receipt { is_wanted: true, last: None, ..self.receipt };
    }

    /// When the last segment of the last read came, since 1970; None where nobody wanted to know. Reads do not tell any
    /// more.
    pub fn take_receipt(&mut self) -> Option<Duration> {
        self.receipt.is_wanted = false;
        self.receipt.last.take()
    }

    /// Writes what the socket takes at once, where no TLS stands between; how much that was.
    ///
    /// # Errors
    ///
    /// If the connection is broken.
    pub fn send_at_once(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.tls.is_some() {
            return Ok(0);
        }
        match self.io.send(bytes) {
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
            other => other,
        }
    }

    /// Writes as much of `bytes` as the socket takes; how much that was, never 0 but for no bytes. With TLS, bytes that
    /// were taken may still have to be flushed: `poll_flush`.
    pub fn poll_send(&mut self, bytes: &[u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(tls) = &mut self.tls else { return poll_send_plain(&self.io, bytes, cx) };
        ready!(poll_flush_tls(&self.io, tls, cx))?;
        Poll::Ready(tls.writer().write(bytes))
    }

    /// Resolves when nothing that was written is held back here.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.tls {
            Some(tls) => poll_flush_tls(&self.io, tls, cx),
            None => Poll::Ready(Ok(())),
        }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    ///
    /// If the connection is broken.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let n = std::future::poll_fn(|cx| self.poll_send(rest, cx)).await?;
            rest = &rest[n..];
        }
        std::future::poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Reads into `buffer` what is there; 0 is the end.
    pub fn poll_read(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.set_wake_at(1);
        let is_truncated = &mut self.is_truncated;
        let (n, drained) = ready!(match &mut self.tls {
            None => when_readable(&self.io, cx, |io| {
                let n = if self.receipt.is_wanted {
                    let received = io.recv_stamped(buffer)?;
                    self.receipt.last = received.at;
                    received.bytes
                } else {
                    io.recv(&mut *buffer)?
                };
                Ok((n, n < buffer.len()))
            }),
            Some(tls) => poll_read_tls(&self.io, tls, buffer, is_truncated, cx),
        })?;
        self.drained = drained;
        Poll::Ready(Ok(n))
    }

    /// Drops bytes of `rest` that are there, in the kernel where it can; 0 is the end. `spare` may be written to.
    pub fn poll_discard(
        &mut self,
        rest: DiscardableBody,
        spare: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let asked = rest.bytes.min(spare.len() as u64);
        if self.tls.is_some() {
            return self.poll_read(&mut spare[..asked as usize], cx);
        }
        let long = rest.certain && rest.bytes >= LONG_REST;
        self.set_wake_at(if long { rest.bytes.min(WAKE_AT) as u32 } else { 1 });
        if !std::mem::replace(&mut self.tells_left, true) {
            self.io.tell_left();
        }
        let (n, drained) = ready!(when_readable(&self.io, cx, |io| {
            let received = io.discard(spare, asked)?;
            self.receipt.last = received.at.filter(|_| self.receipt.is_wanted);
            Ok((received.bytes, received.left.map_or((received.bytes as u64) < asked, |left| left == 0)))
        }))?;
        self.drained = drained;
        Poll::Ready(Ok(n))
    }

    /// Reads what the socket may still hold behind what was read last, without waiting; None: nothing. It costs a system
    /// call only where the last read could not tell.
    pub fn read_behind(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Option<io::Result<usize>> {
        if self.drained && self.tls.is_none() {
            return None;
        }
        match self.poll_read(buffer, cx) {
            Poll::Ready(read) => Some(read),
            Poll::Pending => None,
        }
    }

    /// Wakes us seldom while much of a long body is still to come. Errors do not matter: we are woken more often.
    fn set_wake_at(&mut self, wanted: u32) {
        if wanted != self.wake_at {
            self.io.wake_at(wanted);
            self.wake_at = wanted;
        }
    }

    /// Resolves when the idle connection is of no more use: closed, or with bytes that nobody asked for. Blank lines
    /// between replies are passed over (RFC 9112 section 2.2), as are TLS session tickets and the like.
    pub fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Idle> {
        let mut bytes = [0; 64];
        for _ in 0..MOST_BLANK_READS {
            match ready!(self.poll_read(&mut bytes, cx)) {
                Ok(0) | Err(_) => return Poll::Ready(Idle::Closed),
                Ok(n) if is_blank(&bytes[..n]) => {}
                Ok(_) => return Poll::Ready(Idle::Unsolicited),
            }
        }
        Poll::Ready(Idle::Unsolicited)
    }
}

/// Whether there is nothing but the ends of lines.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// Calls `read` whenever the socket may have something; it says how much it got, and whether that was less than there
/// was room for.
fn when_readable<L: Link>(
    io: &L,
    cx: &mut Context<'_>,
    mut read: impl FnMut(&L) -> io::Result<(usize, bool)>,
) -> Poll<io::Result<(usize, bool)>> {
    loop {
        let mut ready = ready!(io.poll_read_ready(cx))?;
        match read(io) {
            Ok((n, drained)) => {
                // The next bytes make an event of their own: it saves the read that would find nothing. Where the read
                // filled its room there may be more, and no event would tell of it.
                if drained {
                    ready.clear();
                }
                return Poll::Ready(Ok((n, drained)));
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => ready.clear(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Poll::Ready(Err(e)),
        }
    }
}

fn poll_send_plain<L: Link>(io: &L, bytes: &[u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
    loop {
        match io.send(bytes) {
            // Readiness is cleared before the socket is tried again, so that no event is lost in between.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => ready!(io.poll_write_ready(cx))?.clear(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return Poll::Ready(other),
        }
    }
}

fn poll_flush_tls<L: Link>(io: &L, tls: &mut ClientConnection, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    while tls.wants_write() {
        match tls.write_tls(&mut PlainSocket(io)) {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => ready!(io.poll_write_ready(cx))?.clear(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Poll::Ready(Err(e)),
        }
    }
    Poll::Ready(Ok(()))
}

fn poll_read_tls<L: Link>(
    io: &L,
    tls: &mut ClientConnection,
    buffer: &mut [u8],
    is_truncated: &mut bool,
    cx: &mut Context<'_>,
) -> Poll<io::Result<(usize, bool)>> {
    loop {
        match tls.reader().read(buffer) {
            Ok(n) => return Poll::Ready(Ok((n, false))),
            // The peer closed without close_notify: many servers do. The reply's framing tells whether it was whole.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                *is_truncated = true;
                return Poll::Ready(Ok((0, false)));
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(e) => return Poll::Ready(Err(e)),
        }
        ready!(read_tls(io, tls, cx))?;
    }
}

/// Takes in what is there for TLS; 0 is the end.
fn read_tls<L: Link>(io: &L, tls: &mut ClientConnection, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
    let (n, _) = ready!(when_readable(io, cx, |io| {
        let mut counted = Counted { io, drained: false };
        let n = tls.read_tls(&mut counted)?;
        Ok((n, counted.drained))
    }))?;
    let state = tls.process_new_packets().map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
    if state.tls_bytes_to_write() > 0 && !tls.is_handshaking() {
        // An answer to a key update: a failure shows at the next write.
        let _ = tls.write_tls(&mut PlainSocket(io));
    }
    Poll::Ready(Ok(n))
}

/// Reads, and remembers whether the socket gave less than was asked for.
struct Counted<'a, L> {
    io: &'a L,
    drained: bool,
}

impl<L: Link> Read for Counted<'_, L> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.io.recv(&mut *buffer)?;
        self.drained = n < buffer.len();
        Ok(n)
    }
}

struct PlainSocket<'a, L>(&'a L);

impl<L: Link> Write for PlainSocket<'_, L> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
