//! What carries the frames of a WebSocket: a connection of its own, or a stream of HTTP/2.

use crate::error;
use crate::h2::tunnel::Tunnel;
use crate::stream::Stream;
use crate::tls::Handshake;
use brunt_model::outcome::Malformed;
use brunt_model::plan::HttpVersion;
use brunt_model::{Failure, Tick};
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

/// Bytes both ways.
pub(super) enum Carrier {
    /// A connection that began as HTTP/1.1, and the end of a frame of which it took only the beginning.
    Connection(Stream, Vec<u8>),
    /// A stream of HTTP/2 (RFC 8441).
    Http2(Tunnel),
}

impl Carrier {
    /// Begins a message: counts the bytes that are sent from now on.
    pub fn begin_message(&self) {
        if let Self::Http2(tunnel) = self {
            tunnel.begin_message();
        }
    }

    /// Writes what is taken at once; how much that was.
    pub fn send_at_once(&self, bytes: &[u8]) -> Result<usize, Failure> {
        match self {
            Self::Connection(_, unsent) if !unsent.is_empty() => Ok(0),
            Self::Connection(stream, _) => stream.send_at_once(bytes).map_err(|error| error::of_stream(&error)),
            Self::Http2(tunnel) => tunnel.send_at_once(bytes),
        }
    }

    /// Writes all of `bytes`.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Connection(stream, unsent) => {
                stream.send(unsent).await.map_err(|error| error::of_stream(&error))?;
                unsent.clear();
                stream.send(bytes).await.map_err(|error| error::of_stream(&error))
            }
            Self::Http2(tunnel) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let n = std::future::poll_fn(|cx| tunnel.poll_send(rest, cx)).await?;
                    rest = &rest[n..];
                }
                Ok(())
            }
        }
    }

    /// Waits until all of a message was written, where that is done by another task.
    pub async fn flush(&mut self) -> Result<(), Failure> {
        match self {
            Self::Connection(..) => Ok(()),
            Self::Http2(tunnel) => std::future::poll_fn(|cx| tunnel.poll_flush(cx)).await,
        }
    }

    /// Writes a short frame, where it is taken at once.
    pub fn send_if_room(&mut self, frame: &[u8], cx: &mut Context<'_>) {
        match self {
            Self::Connection(_, unsent) if !unsent.is_empty() => {}
            Self::Connection(stream, unsent) => {
                if let Poll::Ready(Ok(n)) = stream.poll_send(frame, cx) {
                    unsent.extend_from_slice(&frame[n..]);
                    let _ = stream.poll_flush(cx);
                }
            }
            Self::Http2(tunnel) if tunnel.has_room(frame.len()) => drop(tunnel.send_at_once(frame)),
            Self::Http2(_) => {}
        }
    }

    /// Reads into `buffer` what is there; 0 is the end.
    pub fn poll_read(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<Result<usize, Failure>> {
        match self {
            Self::Connection(stream, _) => {
                Poll::Ready(ready!(stream.poll_read(buffer, cx)).map_err(|error| error::of_stream(&error)))
            }
            Self::Http2(tunnel) => tunnel.poll_read(buffer, cx),
        }
    }

    /// When what was read last came, where that was at another instant than `now`.
    pub fn came(&self, now: Tick) -> Tick {
        match self {
            Self::Connection(..) => now,
            Self::Http2(tunnel) => tunnel.came().min(now),
        }
    }

    /// Bytes that came around those that are read, since the last call.
    pub fn take_overhead(&self) -> u64 {
        match self {
            Self::Connection(..) => 0,
            Self::Http2(tunnel) => tunnel.take_overhead(),
        }
    }

    /// When the message was written, and its bytes with all around them, where another task writes.
    pub fn sent(&self) -> Option<(Tick, u64)> {
        match self {
            Self::Connection(..) => None,
            Self::Http2(tunnel) => tunnel.sent(),
        }
    }

    /// Why it is over, where the peer told.
    pub fn cause(&self) -> Option<Malformed> {
        match self {
            Self::Connection(..) => None,
            Self::Http2(tunnel) => tunnel.cause(),
        }
    }

    /// Both sides have said that they close.
    pub fn end(&self) {
        if let Self::Http2(tunnel) = self {
            tunnel.end();
        }
    }

    /// The version of HTTP that it began with.
    pub fn version(&self) -> HttpVersion {
        match self {
            Self::Connection(..) => HttpVersion::V1_1,
            Self::Http2(_) => HttpVersion::V2,
        }
    }

    /// What the TLS handshake of its own connection agreed on, where there was one.
    pub fn handshake(&self) -> Option<Handshake> {
        match self {
            Self::Connection(stream, _) => stream.handshake(),
            Self::Http2(_) => None,
        }
    }

    /// The address at the other end of its own connection.
    pub fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Connection(stream, _) => stream.peer(),
            Self::Http2(_) => None,
        }
    }
}
