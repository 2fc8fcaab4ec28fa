//! An open connection: a socket, with TLS on it if the origin uses TLS.
//!
//! It carries bytes and knows nothing of HTTP. All reads go into the caller's buffer, of which a
//! thread has one. An idle connection owns no buffer.
//!
//! Readiness is edge-triggered. It is cleared only after a read that got nothing (`EAGAIN`), got
//! less than the buffer's size, or reported that nothing remains (`TCP_INQ`). After any other read
//! the socket may contain more bytes, and no further event would signal them.

use crate::link::{Link, SocketReadiness};
use crate::tls::{self, Handshake};
use rustls::{ClientConnection, HandshakeKind};
use socket2::Socket;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// Minimum rest of a body for a higher low-water mark, in bytes. For shorter rests, fewer wake-ups
/// do not outweigh two system calls.
const LONG_REST: u64 = 192 * 1024;
/// Low-water mark while a long body is received, in bytes.
const LOW_WATER_MARK: u64 = 512 * 1024;

/// Maximum number of consecutive reads with blank lines only. A server could send them without end.
pub const MAX_BLANK_READS: u32 = 64;

/// An open connection.
pub struct ByteStream<L = AsyncFd<Socket>> {
    io: L,
    tls: Option<Box<ClientConnection>>,
    /// The socket's current low-water mark (`SO_RCVLOWAT`).
    low_water_mark: u32,
    timestamp: KernelTimestamp,
    /// True if the kernel was asked to report the remaining bytes.
    reports_remaining: bool,
    /// True if the last read left nothing in the socket, as far as the kernel reported.
    is_drained: bool,
    /// True if the peer closed the connection without ending TLS (`close_notify`).
    is_truncated: bool,
}

/// State of the kernel's timestamps of received bytes (`SO_TIMESTAMPNS`).
#[derive(Debug, Clone, Copy, Default)]
struct KernelTimestamp {
    /// True if the kernel timestamps received bytes.
    is_enabled: bool,
    /// True if reads request the timestamp.
    is_requested: bool,
    /// When the last segment of the last read was received, since 1970.
    last: Option<Duration>,
}

/// Body bytes that may be dropped unseen.
#[derive(Debug, Clone, Copy)]
pub struct DiscardableBody {
    /// Maximum number of bytes.
    pub bytes: u64,
    /// True if all these bytes arrive unless the connection ends.
    pub certain: bool,
}

/// How an idle connection became unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleEnd {
    /// The peer closed it.
    Closed,
    /// The peer sent unsolicited bytes.
    Unsolicited,
}

impl ByteStream {
    /// Returns the address of the peer; None for a Unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.io.get_ref().peer_addr().ok()?.as_socket()
    }
}

impl<L: Link> ByteStream<L> {
    /// Wraps a connected, non-blocking socket.
    pub fn new(io: L) -> Self {
        Self {
            io,
            tls: None,
            low_water_mark: 1,
            timestamp: KernelTimestamp::default(),
            reports_remaining: false,
            is_drained: false,
            is_truncated: false,
        }
    }

    /// Returns the negotiated parameters, if TLS is used.
    pub fn handshake(&self) -> Option<Handshake> {
        self.tls.as_deref().map(tls::handshake)
    }

    /// Returns the kind of the TLS handshake, if TLS is used.
    pub fn handshake_kind(&self) -> Option<HandshakeKind> {
        self.tls.as_deref().and_then(|tls| tls.handshake_kind())
    }

    /// True if the peer closed the connection without ending TLS (`close_notify`): the received
    /// bytes may be truncated.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Performs the TLS handshake; the stream then carries the decrypted bytes.
    ///
    /// # Errors
    ///
    /// If the connection ends, or if the handshake fails.
    pub async fn start_tls(&mut self, mut tls: Box<ClientConnection>) -> io::Result<()> {
        while tls.is_handshaking() || tls.wants_write() {
            if tls.wants_write() {
                std::future::poll_fn(|cx| poll_flush_tls(&self.io, &mut tls, cx)).await?;
            } else if std::future::poll_fn(|cx| read_tls(&self.io, &mut tls, cx)).await? == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the server closed during the TLS handshake",
                ));
            }
        }
        self.tls = Some(tls);
        Ok(())
    }

    /// Asks the kernel to timestamp received bytes, if it can.
    pub fn enable_timestamps(&mut self) {
        self.timestamp.is_enabled = self.io.enable_timestamps().is_ok();
    }

    /// True if reads can report the kernel's timestamp. With TLS they cannot, because
    /// it holds bytes back.
    pub fn has_timestamps(&self) -> bool {
        self.timestamp.is_enabled && self.tls.is_none()
    }

    /// Makes reads record when their last segment was received.
    pub fn request_timestamp(&mut self) {
        self.timestamp = KernelTimestamp { is_requested: true, last: None, ..self.timestamp };
    }

    /// Returns when the last segment of the last read was received, since 1970. None if it was not
    /// requested. Further reads do not record it.
    pub fn take_timestamp(&mut self) -> Option<Duration> {
        self.timestamp.is_requested = false;
        self.timestamp.last.take()
    }

    /// Writes the bytes that the socket accepts at once, and returns their number.
    /// Returns 0 with TLS.
    pub fn send_at_once(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.tls.is_some() {
            return Ok(0);
        }
        match self.io.send(bytes) {
            Err(e)
                if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
            {
                Ok(0)
            }
            other => other,
        }
    }

    /// Writes the bytes that the socket accepts, and returns their number, which is 0 only if
    /// `bytes` is empty. With TLS, accepted bytes may still have to be flushed: `poll_flush`.
    pub fn poll_send(&mut self, bytes: &[u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(tls) = &mut self.tls else { return poll_send_plain(&self.io, bytes, cx) };
        // TLS accepts bytes only while its buffer has room, so the buffered ones are sent first.
        ready!(poll_flush_tls(&self.io, tls, cx))?;
        Poll::Ready(tls.writer().write(bytes))
    }

    /// Resolves when no written bytes are held back by TLS.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.tls {
            Some(tls) => poll_flush_tls(&self.io, tls, cx),
            None => Poll::Ready(Ok(())),
        }
    }

    /// Writes all of `bytes`.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let n = std::future::poll_fn(|cx| self.poll_send(rest, cx)).await?;
            rest = &rest[n..];
        }
        std::future::poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Reads the available bytes into `buffer`; 0 is the end.
    pub fn poll_read(
        &mut self,
        buffer: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        // A mark left by a long body would hide a short head.
        self.set_low_water_mark(1);
        let is_truncated = &mut self.is_truncated;
        let (n, is_drained) = ready!(match &mut self.tls {
            None => poll_when_readable(&self.io, cx, |io| {
                let n = if self.timestamp.is_requested {
                    let received = io.recv_timestamped(buffer)?;
                    self.timestamp.last = received.timestamp;
                    received.bytes
                } else {
                    io.recv(&mut *buffer)?
                };
                Ok((n, n < buffer.len()))
            }),
            Some(tls) => poll_read_tls(&self.io, tls, buffer, is_truncated, cx),
        })?;
        self.is_drained = is_drained;
        Poll::Ready(Ok(n))
    }

    /// Drops available bytes of `rest`, inside the kernel if it can; 0 is the end.
    /// `spare` may be overwritten.
    pub fn poll_discard(
        &mut self,
        rest: DiscardableBody,
        spare: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let limit = rest.bytes.min(spare.len() as u64);
        if self.tls.is_some() {
            // With TLS the bytes must be decrypted, so the kernel cannot discard them.
            return self.poll_read(&mut spare[..limit as usize], cx);
        }
        // If fewer bytes than the mark followed, the reader would never wake.
        let is_long = rest.certain && rest.bytes >= LONG_REST;
        self.set_low_water_mark(if is_long { rest.bytes.min(LOW_WATER_MARK) as u32 } else { 1 });
        if !std::mem::replace(&mut self.reports_remaining, true) {
            self.io.report_remaining();
        }
        let (n, is_drained) = ready!(poll_when_readable(&self.io, cx, |io| {
            let received = io.discard(spare, limit)?;
            self.timestamp.last = received.timestamp.filter(|_| self.timestamp.is_requested);
            let is_drained = received
                .remaining
                .map_or((received.bytes as u64) < limit, |remaining| remaining == 0);
            Ok((received.bytes, is_drained))
        }))?;
        self.is_drained = is_drained;
        Poll::Ready(Ok(n))
    }

    /// Reads the bytes that the socket may still contain after the last read, without waiting.
    /// None if there are none. Makes no system call if the last read has drained the socket.
    pub fn read_remaining(
        &mut self,
        buffer: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Option<io::Result<usize>> {
        if self.is_drained && self.tls.is_none() {
            return None;
        }
        match self.poll_read(buffer, cx) {
            Poll::Ready(read) => Some(read),
            Poll::Pending => None,
        }
    }

    /// Sets the low-water mark, so that a long body causes fewer wake-ups.
    fn set_low_water_mark(&mut self, bytes: u32) {
        if bytes != self.low_water_mark {
            self.io.set_low_water_mark(bytes);
            self.low_water_mark = bytes;
        }
    }

    /// Resolves when the idle connection becomes unusable: closed, or with unsolicited bytes.
    /// Blank lines between replies are ignored (RFC 9112 section 2.2), as are TLS session
    /// tickets and similar messages.
    pub fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        let mut bytes = [0; 64];
        for _ in 0..MAX_BLANK_READS {
            match ready!(self.poll_read(&mut bytes, cx)) {
                Ok(0) | Err(_) => return Poll::Ready(IdleEnd::Closed),
                Ok(n) if is_blank(&bytes[..n]) => {}
                Ok(_) => return Poll::Ready(IdleEnd::Unsolicited),
            }
        }
        Poll::Ready(IdleEnd::Unsolicited)
    }
}

/// True if the bytes consist of line ends only.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// Calls `read` whenever the socket may be readable. `read` returns the number of bytes, and true
/// if the socket is drained.
fn poll_when_readable<L: Link>(
    io: &L,
    cx: &mut Context<'_>,
    mut read: impl FnMut(&L) -> io::Result<(usize, bool)>,
) -> Poll<io::Result<(usize, bool)>> {
    loop {
        let mut ready = ready!(io.poll_read_ready(cx))?;
        match read(io) {
            Ok((n, is_drained)) => {
                // Clearing readiness saves a read that would find nothing: further bytes
                // cause a new event. If the read filled its buffer, more bytes may be
                // available without an event.
                if is_drained {
                    ready.clear();
                }
                return Poll::Ready(Ok((n, is_drained)));
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
            // Readiness is cleared before the next attempt, so that no event is lost in between.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                ready!(io.poll_write_ready(cx))?.clear();
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return Poll::Ready(other),
        }
    }
}

fn poll_flush_tls<L: Link>(
    io: &L,
    tls: &mut ClientConnection,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    while tls.wants_write() {
        match tls.write_tls(&mut PlainSocket(io)) {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                ready!(io.poll_write_ready(cx))?.clear();
            }
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
            // The peer closed without close_notify, as many servers do. The reply's framing shows
            // whether it was complete.
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

/// Reads the available bytes of TLS records; 0 is the end.
fn read_tls<L: Link>(
    io: &L,
    tls: &mut ClientConnection,
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    let (n, _) = ready!(poll_when_readable(io, cx, |io| {
        let mut reader = DrainedReader { io, is_drained: false };
        let n = tls.read_tls(&mut reader)?;
        Ok((n, reader.is_drained))
    }))?;
    let state =
        tls.process_new_packets().map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
    if state.tls_bytes_to_write() > 0 && !tls.is_handshaking() {
        // Sends the answer to a key update. A failure shows at the next write.
        let _ = tls.write_tls(&mut PlainSocket(io));
    }
    Poll::Ready(Ok(n))
}

/// Reads from a socket, and records whether it got less than it asked for.
struct DrainedReader<'a, L> {
    io: &'a L,
    is_drained: bool,
}

impl<L: Link> Read for DrainedReader<'_, L> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.io.recv(&mut *buffer)?;
        self.is_drained = n < buffer.len();
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
