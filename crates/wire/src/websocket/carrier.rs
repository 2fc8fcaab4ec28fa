//! The carrier of the frames of a WebSocket: a separate connection, or a stream of another one.

use crate::error;
use crate::sources::Open;
use crate::stream::Stream;
use brunt_model::outcome::Malformed;
use brunt_model::plan::HttpVersion;
use brunt_model::{Failure, Tick};
use std::task::{Context, Poll, ready};

/// Carries bytes both ways. The defaults are for a carrier that writes bytes when they are sent.
pub(crate) trait Carrier {
    /// The version of HTTP that it began with.
    const VERSION: HttpVersion;

    /// Writes what is taken at once; how much that was.
    fn send_at_once(&self, bytes: &[u8]) -> Result<usize, Failure>;

    /// Writes all of `bytes`.
    async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure>;

    /// Writes a short frame, where it is taken at once.
    fn send_if_room(&mut self, frame: &[u8], cx: &mut Context<'_>);

    /// Reads into `buffer` what is there; 0 is the end.
    fn poll_read(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<Result<usize, Failure>>;

    /// Begins a message: counts the bytes that are sent from now on.
    fn begin_message(&self) {}

    /// Waits until all of a message was written, where that is done by another task.
    async fn flush(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// When what was read last came, where that was at another instant than `now`.
    fn received_at(&self, now: Tick) -> Tick {
        now
    }

    /// Bytes that came around those that are read, since the last call.
    fn take_overhead(&self) -> u64 {
        0
    }

    /// When the message was written, and its bytes with all around them, where another task writes.
    fn sent(&self) -> Option<(Tick, u64)> {
        None
    }

    /// Why it is over, where the peer told.
    fn cause(&self) -> Option<Malformed> {
        None
    }

    /// Both sides have said that they close.
    fn end(&self) {}
}

/// A connection that began as HTTP/1.1.
pub(crate) struct SocketCarrier {
    /// The connection.
    pub stream: Stream,
    /// The end of a frame of which the connection took only the beginning.
    unsent: Vec<u8>,
    /// Counts it among the connections that are open.
    #[allow(dead_code)] // for its drop
    open: Open,
}

impl SocketCarrier {
    /// One over a connection after its switch of protocols.
    pub fn new(stream: Stream, open: Open) -> Self {
        Self { stream, unsent: Vec::new(), open }
    }
}

impl Carrier for SocketCarrier {
    const VERSION: HttpVersion = HttpVersion::V1_1;

    fn send_at_once(&self, bytes: &[u8]) -> Result<usize, Failure> {
        if !self.unsent.is_empty() {
            return Ok(0);
        }
        self.stream.send_at_once(bytes).map_err(|error| error::of_stream(&error))
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.stream.send(&self.unsent).await.map_err(|error| error::of_stream(&error))?;
        self.unsent.clear();
        self.stream.send(bytes).await.map_err(|error| error::of_stream(&error))
    }

    fn send_if_room(&mut self, frame: &[u8], cx: &mut Context<'_>) {
        if self.unsent.is_empty()
            && let Poll::Ready(Ok(n)) = self.stream.poll_send(frame, cx)
        {
            self.unsent.extend_from_slice(&frame[n..]);
            let _ = self.stream.poll_flush(cx);
        }
    }

    fn poll_read(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<Result<usize, Failure>> {
        Poll::Ready(ready!(self.stream.poll_read(buffer, cx)).map_err(|error| error::of_stream(&error)))
    }
}
