//! The socket below a [`ByteStream`](crate::stream::ByteStream): the trait that it needs, and its
//! implementation by the kernel.
//!
//! Tests implement the trait to cut received bytes into every possible sequence of pieces.

pub use crate::sys::Received;

use crate::sys;
use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;
use std::io;
use std::task::{Context, Poll, ready};
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

/// A connected, non-blocking socket with edge-triggered readiness.
pub trait Link {
    /// Readiness that was observed, and that can be cleared.
    type Ready<'a>: SocketReadiness
    where
        Self: 'a;

    /// Resolves when the socket may be readable.
    fn poll_read_ready<'a>(&'a self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Ready<'a>>>;

    /// Resolves when the socket may be writable.
    fn poll_write_ready<'a>(&'a self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Ready<'a>>>;

    /// Reads the available bytes; 0 is the end.
    ///
    /// # Errors
    ///
    /// If the connection is broken, or if nothing can be read at once.
    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Drops up to `most` available bytes, but no more than the length of `spare`.
    ///
    /// # Errors
    ///
    /// If the connection is broken, or if nothing can be read at once.
    fn discard(&self, spare: &mut [u8], most: u64) -> io::Result<Received>;

    /// Asks the kernel to report with each discard how many bytes remain in the socket, if it can.
    fn report_remaining(&self) {}

    /// Asks the kernel to timestamp received bytes, if it can.
    ///
    /// # Errors
    ///
    /// If the kernel does not support it.
    fn enable_timestamps(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Like `recv`, but returns the kernel's timestamp and the number of remaining bytes, too.
    ///
    /// # Errors
    ///
    /// If the connection is broken, or if nothing can be read at once.
    fn recv_timestamped(&self, buffer: &mut [u8]) -> io::Result<Received> {
        self.recv(buffer).map(Received::from)
    }

    /// Writes as many bytes as the socket accepts.
    ///
    /// # Errors
    ///
    /// If the connection is broken, or if nothing can be written at once.
    fn send(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Asks the kernel to signal readability only when `bytes` are available, or at the end.
    fn set_low_water_mark(&self, bytes: u32);
}

/// Readiness of a socket, as observed by a poll.
pub trait SocketReadiness {
    /// Clears it; the next event sets it again.
    fn clear(&mut self);
}

impl Link for AsyncFd<Socket> {
    type Ready<'a> = AsyncFdReadyGuard<'a, Socket>;

    fn poll_read_ready<'a>(&'a self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Ready<'a>>> {
        Poll::Ready(ready!(AsyncFd::poll_read_ready(self, cx)))
    }

    fn poll_write_ready<'a>(&'a self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Ready<'a>>> {
        Poll::Ready(ready!(AsyncFd::poll_write_ready(self, cx)))
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(self.get_ref(), buffer, RecvFlags::empty())?.0)
    }

    fn discard(&self, spare: &mut [u8], most: u64) -> io::Result<Received> {
        sys::discard(self.get_ref(), spare, most)
    }

    fn report_remaining(&self) {
        // If it is not supported, a further read shows whether bytes remain.
        let _ = sys::report_remaining(self.get_ref());
    }

    fn enable_timestamps(&self) -> io::Result<()> {
        sys::enable_timestamps(self.get_ref())
    }

    fn recv_timestamped(&self, buffer: &mut [u8]) -> io::Result<Received> {
        sys::recv_timestamped(self.get_ref(), buffer)
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.get_ref(), bytes, SendFlags::NOSIGNAL)?)
    }

    fn set_low_water_mark(&self, bytes: u32) {
        // An error only means that the task is woken more often.
        let _ = sys::set_low_water_mark(self.get_ref(), bytes);
    }
}

impl SocketReadiness for AsyncFdReadyGuard<'_, Socket> {
    fn clear(&mut self) {
        self.clear_ready();
    }
}
