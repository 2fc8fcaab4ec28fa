//! HTTP/2 (RFC 9113) with its own framing: many requests leave in one write, and replies are
//! counted without being copied.
//!
//! A library that turns each reply into separate messages costs more per request than the whole
//! budget of the measuring path. h2 under hyper takes a third more CPU per request than nghttp2.
//!
//! * `frame`: frames and error codes. `hpack`: header compression.
//! * `session`: the state machine of a connection, without I/O: bytes in, bytes out.
//!   `input`: processes received bytes.
//! * `tunnel`: a stream that carries bytes in both directions, for `WebSocket`s. `upgrade`: a
//!   connection that begins as HTTP/1.1.
//! * `driver`: one task for each connection, which writes and reads for all of its streams.

mod driver;
mod frame;
mod hpack;
mod input;
mod session;
#[cfg(test)]
mod session_tests;
mod static_table;
mod tunnel;
mod upgrade;

pub(crate) use driver::{Http2Connection, ReadBuffer, read_buffer, send_pieces};
pub(crate) use session::Http2Session;
pub use session::PeerSettings;
pub(crate) use tunnel::Tunnel;
pub(crate) use upgrade::{upgrade_request, upgraded};
