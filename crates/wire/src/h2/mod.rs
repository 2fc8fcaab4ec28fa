//! HTTP/2 (RFC 9113) with a framing of our own: many requests in one write, replies counted and not copied.
//!
//! A library that turns each reply into messages of its own costs more per request than the whole budget of the measuring
//! path (h2 under hyper: a third more CPU per request than nghttp2).
//!
//! * `frame`: frames and error codes. `hpack`: header compression, with `huffman`.
//! * [`fields`]: the header fields of a request as HTTP/2 needs them.
//! * `reply_fields`: what those of a reply say.
//! * `session`: the state machine of a connection; pure: bytes in, bytes out. `input`: what comes in. `streams`: what it holds of each request.
//! * `tunnel`: a stream that carries bytes both ways, for `WebSocket`s.
//! * `driver`: one task for each connection that writes and reads for all of its streams.

mod driver;
pub mod fields;
mod frame;
pub(crate) mod hpack;
pub(crate) mod huffman;
mod input;
pub(crate) mod reply_fields;
pub(crate) mod session;
#[cfg(test)]
mod session_tests;
mod static_table;
pub(crate) mod streams;
pub(crate) mod tunnel;
pub(crate) mod upgrade;

pub(crate) use driver::send_pieces;
pub use driver::{Connection, ReadBuffer, read_buffer};
pub use session::PeerSettings;
