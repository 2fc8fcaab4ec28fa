//! In-memory transport between the event loop and the crate `h2`.
//!
//! `h2` expects streams of tokio, but needs no runtime. The event loop writes the received bytes to
//! it, polls it, and sends the frames that it made. `h2` does not report when a reply has left; the
//! frame heads in the output show it.

use std::cell::{Ref, RefCell, RefMut};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frame::{FrameHead, HEAD, word};
use super::out::Out;

/// Maximum number of unsent bytes; above it, `h2` waits before it makes further frames.
pub(super) const MAX_UNSENT: usize = 256 * 1024;

/// Both directions of a connection.
#[derive(Debug, Default)]
struct Buffers {
    received: Vec<u8>,
    /// Bytes of `received` that `h2` has read.
    read: usize,
    out: Out,
    /// Position in the output, from the start of the connection, up to which frame heads were read.
    tracked: u64,
}

/// A handle to the buffers. `h2` has one, and the session another.
#[derive(Debug, Clone, Default)]
pub(super) struct Transport(Rc<RefCell<Buffers>>);

/// Summary of a complete frame of `h2`, without its payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutgoingFrame {
    pub(super) head: FrameHead,
    /// First four bytes of the payload as a number. For `RST_STREAM`, it is the error code.
    pub(super) first_word: u32,
    /// Position of its end in the output.
    pub(super) end: u64,
}

impl Transport {
    /// Returns the output, for reading.
    pub(super) fn out(&self) -> Ref<'_, Out> {
        Ref::map(self.0.borrow(), |buffers| &buffers.out)
    }

    /// Returns the output, to send it to the socket or to mark the ends of replies.
    pub(super) fn out_mut(&self) -> RefMut<'_, Out> {
        RefMut::map(self.0.borrow_mut(), |buffers| &mut buffers.out)
    }

    /// Returns the buffer of client bytes. The event loop appends to it, and `h2` reads it.
    pub(super) fn received(&self) -> RefMut<'_, Vec<u8>> {
        RefMut::map(self.0.borrow_mut(), |buffers| &mut buffers.received)
    }

    /// Appends bytes after the frames of `h2`, which does not know of them. All complete frames
    /// must have been tracked, because tracking continues after these bytes.
    pub(super) fn put_raw(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let buffers = &mut *self.0.borrow_mut();
        write(&mut buffers.out.bytes);
        buffers.tracked = buffers.out.total();
    }

    /// Returns the next complete frame that was not tracked yet; None if there is none. Frames for
    /// which `drops_frame` returns true are removed from the output.
    pub(super) fn track(
        &self,
        mut drops_frame: impl FnMut(FrameHead, u32) -> bool,
    ) -> Option<OutgoingFrame> {
        let buffers = &mut *self.0.borrow_mut();
        loop {
            let rest = buffers.out.since(buffers.tracked);
            let head = FrameHead::parse(rest)?;
            let length = HEAD + head.length;
            let first_word = word(rest.get(HEAD..length)?);
            if drops_frame(head, first_word) {
                buffers.out.remove(buffers.tracked, length);
                continue;
            }
            buffers.tracked += length as u64;
            return Some(OutgoingFrame { head, first_word, end: buffers.tracked });
        }
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let buffers = &mut *self.0.borrow_mut();
        let waiting = &buffers.received[buffers.read..];
        if waiting.is_empty() {
            // No waker is needed, since the event loop polls `h2` after it appended bytes.
            return Poll::Pending;
        }
        let count = waiting.len().min(buffer.remaining());
        buffer.put_slice(&waiting[..count]);
        buffers.read += count;
        if buffers.read == buffers.received.len() {
            buffers.received.clear();
            buffers.read = 0;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    /// Takes all slices or none. `h2` passes whole frames, so the output always ends with a whole
    /// frame.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let out = &mut self.0.borrow_mut().out;
        if out.len() >= MAX_UNSENT {
            return Poll::Pending;
        }
        let before = out.bytes.len();
        for slice in slices {
            out.bytes.extend_from_slice(slice);
        }
        Poll::Ready(Ok(out.bytes.len() - before))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
