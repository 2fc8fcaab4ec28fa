//! An open connection: a socket, and TLS on it where the origin wants it.
//!
//! It knows bytes, not HTTP. All reads go into buffers of the caller, one for a whole thread: an idle connection owns
//! none.

use crate::sys;
use crate::tls::{self, Handshake};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::ClientConnection;
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

/// An open connection.
pub struct Stream {
    io: AsyncFd<Socket>,
    tls: Option<Box<ClientConnection>>,
    /// What `SO_RCVLOWAT` stands at.
    wake_at: u32,
    receipt: Receipt,
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
pub struct Rest {
    /// How many, at most.
    pub bytes: u64,
    /// Nothing comes behind them.
    pub last: bool,
}

impl Stream {
    /// Wraps a connected, non-blocking socket.
    pub fn new(io: AsyncFd<Socket>) -> Self {
        Self { io, tls: None, wake_at: 1, receipt: Receipt::default() }
    }

    /// Whether TLS is spoken on it.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// What was agreed on, where TLS is spoken.
    pub fn handshake(&self) -> Option<Handshake> {
        self.tls.as_deref().map(tls::handshake)
    }

    /// The address at the other end; None for a Unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.io.get_ref().peer_addr().ok()?.as_socket()
    }

    /// Agrees on TLS; the stream then carries what is inside.
    pub async fn start_tls(&mut self, mut tls: Box<ClientConnection>) -> io::Result<()> {
        while tls.is_handshaking() || tls.wants_write() {
            if tls.wants_write() {
                flush_tls(&self.io, &mut tls).await?;
            } else if std::future::poll_fn(|cx| read_tls(&self.io, &mut tls, cx)).await? == 0 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the server closed during the TLS handshake"));
            }
        }
        self.tls = Some(tls);
        Ok(())
    }

    /// Has the kernel stamp what comes, where it can.
    pub fn stamp_receipt(&mut self) {
        self.receipt.is_on = sys::stamp_receipt(self.io.get_ref()).is_ok();
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
    pub fn send_at_once(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.tls.is_some() {
            return Ok(0);
        }
        match rustix::net::send(self.io.get_ref(), bytes, SendFlags::NOSIGNAL) {
            Ok(n) => Ok(n),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(e) => Err(e.into()),
        }
    }

    /// Writes all of `bytes`.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return send_plain(&self.io, bytes).await };
        let mut rest = bytes;
        loop {
            let n = tls.writer().write(rest)?;
            rest = &rest[n..];
            flush_tls(&self.io, tls).await?;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Reads into `buffer` what is there; 0 is the end.
    pub fn poll_read(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match &mut self.tls {
            None => when_readable(&self.io, cx, |socket| {
                let n = if self.receipt.is_wanted {
                    let (n, at) = sys::read_stamped(socket, buffer)?;
                    self.receipt.last = at;
                    n
                } else {
                    rustix::net::recv(socket, &mut *buffer, RecvFlags::empty())?.0
                };
                Ok((n, n < buffer.len()))
            }),
            Some(tls) => poll_read_tls(&self.io, tls, buffer, cx),
        }
    }

    /// Drops bytes of `rest` that are there, in the kernel where it can; 0 is the end. `spare` may be written to.
    pub fn poll_discard(&mut self, rest: Rest, spare: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.tls.is_some() {
            let most = usize::try_from(rest.bytes).unwrap_or(usize::MAX).min(spare.len());
            return self.poll_read(&mut spare[..most], cx);
        }
        self.set_wake_at(rest);
        let asked = rest.bytes.min(spare.len() as u64);
        let drained = rest.last && asked == rest.bytes;
        when_readable(&self.io, cx, |socket| {
            let n = if self.receipt.is_wanted {
                let (n, at) = sys::discard_stamped(socket, spare, asked)?;
                self.receipt.last = at;
                n
            } else {
                sys::discard(socket, spare, asked)?
            };
            Ok((n, (n as u64) < asked || drained))
        })
    }

    /// Wakes us seldom while much of a long body is still to come. Errors do not matter: we are woken more often.
    fn set_wake_at(&mut self, rest: Rest) {
        let wanted = if rest.last && rest.bytes >= LONG_REST { rest.bytes.min(WAKE_AT) as u32 } else { 1 };
        if wanted != self.wake_at {
            let _ = sys::wake_at(self.io.get_ref(), wanted);
            self.wake_at = wanted;
        }
    }

    /// Back to being woken for the first byte, before the next head is awaited.
    pub fn rest_is_over(&mut self) {
        self.set_wake_at(Rest { bytes: 0, last: true });
    }

    /// Resolves when the idle connection is of no more use: closed, or with bytes that nobody asked for.
    /// TLS session tickets and the like are taken in.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut byte = [0];
        match self.poll_read(&mut byte, cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(_) => Poll::Ready(()),
        }
    }
}

/// Calls `read` whenever the socket may have something; it says how much it got, and whether that was all there was.
fn when_readable(
    io: &AsyncFd<Socket>,
    cx: &mut Context<'_>,
    mut read: impl FnMut(&Socket) -> io::Result<(usize, bool)>,
) -> Poll<io::Result<usize>> {
    loop {
        let mut guard = ready!(io.poll_read_ready(cx))?;
        match read(io.get_ref()) {
            Ok((n, drained)) => {
                // The registration is edge-triggered: to read less than asked for, or all that can come, is to know
                // that the next bytes will make an event of their own. It saves the read that would find nothing.
                if drained {
                    guard.clear_ready();
                }
                return Poll::Ready(Ok(n));
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Poll::Ready(Err(e)),
        }
    }
}

async fn send_plain(io: &AsyncFd<Socket>, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    loop {
        match rustix::net::send(io.get_ref(), rest, SendFlags::NOSIGNAL) {
            Ok(n) if n == rest.len() => return Ok(()),
            Ok(n) => rest = &rest[n..],
            Err(Errno::AGAIN) => io.writable().await?.clear_ready(),
            Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

async fn flush_tls(io: &AsyncFd<Socket>, tls: &mut ClientConnection) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(&mut PlainSocket(io.get_ref())) {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => io.writable().await?.clear_ready(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn poll_read_tls(
    io: &AsyncFd<Socket>,
    tls: &mut ClientConnection,
    buffer: &mut [u8],
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    loop {
        match tls.reader().read(buffer) {
            Ok(n) => return Poll::Ready(Ok(n)),
            // The peer closed without close_notify: many servers do. The reply's framing tells whether it was whole.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Poll::Ready(Ok(0)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(e) => return Poll::Ready(Err(e)),
        }
        ready!(read_tls(io, tls, cx))?;
    }
}

/// Takes in what is there for TLS; 0 is the end.
fn read_tls(io: &AsyncFd<Socket>, tls: &mut ClientConnection, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
    let n = ready!(when_readable(io, cx, |socket| {
        let mut counted = Counted { socket, drained: false };
        let n = tls.read_tls(&mut counted)?;
        Ok((n, counted.drained))
    }))?;
    let state = tls.process_new_packets().map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
    if state.tls_bytes_to_write() > 0 && !tls.is_handshaking() {
        // An answer to a key update: a failure shows at the next write.
        let _ = tls.write_tls(&mut PlainSocket(io.get_ref()));
    }
    Poll::Ready(Ok(n))
}

/// Reads, and remembers whether the socket gave less than was asked for.
struct Counted<'a> {
    socket: &'a Socket,
    drained: bool,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (n, _) = rustix::net::recv(self.socket, &mut *buffer, RecvFlags::empty())?;
        self.drained = n < buffer.len();
        Ok(n)
    }
}

struct PlainSocket<'a>(&'a Socket);

impl Write for PlainSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
