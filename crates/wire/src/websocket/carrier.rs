//! The carrier of a WebSocket's frames: a separate connection, or a stream of another connection.

use crate::error;
use crate::sources::OpenConnection;
use crate::stream::ByteStream;
use brunt_model::outcome::MalformedReply;
use brunt_model::plan::HttpVersion;
use brunt_model::{Failure, Tick};
use std::task::{Context, Poll, ready};

/// Carries bytes in both directions. The default methods fit a carrier that writes bytes
/// when they are sent.
pub(crate) trait Carrier {
    /// HTTP version of the handshake.
    const VERSION: HttpVersion;

    /// Writes the bytes that are accepted at once, and returns their number.
    fn send_at_once(&self, bytes: &[u8]) -> Result<usize, Failure>;

    /// Writes all of `bytes`.
    async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure>;

    /// Writes a short frame, if it is accepted at once.
    fn send_if_room(&mut self, frame: &[u8], cx: &mut Context<'_>);

    /// Reads the available bytes into `buffer`; 0 is the end.
    fn poll_read(
        &mut self,
        buffer: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<Result<usize, Failure>>;

    /// Begins a message: counts the bytes that are sent from now on.
    fn begin_message(&self) {}

    /// Waits until all of a message was written, if another task writes it.
    async fn flush(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns when the bytes of the last read were received, if that was not at `now`.
    fn received_at(&self, now: Tick) -> Tick {
        now
    }

    /// Returns the bytes of received framing since the last call.
    fn take_overhead(&self) -> u64 {
        0
    }

    /// Returns when the message was written, and its bytes including framing, if
    /// another task writes it.
    fn sent_stamp(&self) -> Option<(Tick, u64)> {
        None
    }

    /// Returns why the carrier is over, if the peer gave a cause.
    fn cause(&self) -> Option<MalformedReply> {
        None
    }

    /// Ends the carrier after both sides have sent a close frame.
    fn end(&self) {}
}

/// A connection that began as HTTP/1.1.
pub(crate) struct SocketCarrier {
    pub stream: ByteStream,
    /// The rest of a frame that the connection accepted only in part.
    unsent: Vec<u8>,
    #[allow(dead_code)] // counts the connection as open until it is dropped
    open: OpenConnection,
}

impl SocketCarrier {
    /// Wraps a connection after its switch of protocols.
    pub fn new(stream: ByteStream, open: OpenConnection) -> Self {
        Self { stream, unsent: Vec::new(), open }
    }
}

impl Carrier for SocketCarrier {
    const VERSION: HttpVersion = HttpVersion::V1_1;

    fn send_at_once(&self, bytes: &[u8]) -> Result<usize, Failure> {
        if !self.unsent.is_empty() {
            return Ok(0);
        }
        self.stream.send_at_once(bytes).map_err(|error| error::stream_failure(&error))
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.stream.send(&self.unsent).await.map_err(|error| error::stream_failure(&error))?;
        self.unsent.clear();
        self.stream.send(bytes).await.map_err(|error| error::stream_failure(&error))
    }

    fn send_if_room(&mut self, frame: &[u8], cx: &mut Context<'_>) {
        if self.unsent.is_empty()
            && let Poll::Ready(Ok(n)) = self.stream.poll_send(frame, cx)
        {
            self.unsent.extend_from_slice(&frame[n..]);
            let _ = self.stream.poll_flush(cx);
        }
    }

    fn poll_read(
        &mut self,
        buffer: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<Result<usize, Failure>> {
        Poll::Ready(
            ready!(self.stream.poll_read(buffer, cx))
                .map_err(|error| error::stream_failure(&error)),
        )
    }
}
