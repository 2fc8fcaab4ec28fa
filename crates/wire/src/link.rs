//! The socket below a [`Stream`](crate::stream::Stream): what it needs of one, and the one that the kernel has.
//!
//! It is a trait so that a test can stand in for the kernel and cut what comes into every possible piece.

pub use crate::sys::Received;

use crate::sys;
use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;
use std::io;
use std::task::{Context, Poll, ready};
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

/// A connected, non-blocking socket with edge-triggered readiness.
pub trait Link {
    /// Readiness that was there, and can be cleared.
    type Ready<'a>: Ready
    where
        Self: 'a;

    /// Resolves while it may have something to read.
    fn poll_read_ready<'a>(&'a self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Ready<'a>>>;

    /// Resolves while it may have room for what is written.
    fn poll_write_ready<'a>(&'a self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Ready<'a>>>;

    /// Reads what is there; 0 is the end.
    ///
    /// # Errors
    ///
    /// If the connection is broken, or nothing can be done at once.
    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Drops up to `most` bytes that are there, and no more than `spare` is long.
    ///
    /// # Errors
    ///
    /// If the connection is broken, or nothing can be done at once.
    fn discard(&self, spare: &mut [u8], most: u64) -> io::Result<Received>;

    /// Asks the kernel to report with each discard how many bytes remain in the socket, where it can.
    fn tell_left(&self) {}

    /// Has the kernel stamp what comes, where it can.
    ///
    /// # Errors
    ///
    /// If the kernel cannot.
    fn stamp_receipt(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The same as `recv`, and what the kernel tells beside.
    ///
    /// # Errors
    ///
    /// If the connection is broken, or nothing can be done at once.
    fn recv_stamped(&self, buffer: &mut [u8]) -> io::Result<Received> {
        self.recv(buffer).map(Received::from)
    }

    /// Writes what there is room for.
    ///
    /// # Errors
    ///
    /// If the connection is broken, or nothing can be done at once.
    fn send(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Asks not to be told before `bytes` are there, or the end.
    fn wake_at(&self, bytes: u32);
}

/// Readiness as it was when it was asked for.
pub trait Ready {
    /// Forgets it: the next event makes it anew.
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

    fn tell_left(&self) {
        // Where it cannot be had, a read looks what is left.
        let _ = sys::tell_left(self.get_ref());
    }

    fn stamp_receipt(&self) -> io::Result<()> {
        sys::stamp_receipt(self.get_ref())
    }

    fn recv_stamped(&self, buffer: &mut [u8]) -> io::Result<Received> {
        sys::read_stamped(self.get_ref(), buffer)
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.get_ref(), bytes, SendFlags::NOSIGNAL)?)
    }

    fn wake_at(&self, bytes: u32) {
        // Errors do not matter: we are woken more often.
        let _ = sys::wake_at(self.get_ref(), bytes);
    }
}

impl Ready for AsyncFdReadyGuard<'_, Socket> {
    fn clear(&mut self) {
        self.clear_ready();
    }
}
