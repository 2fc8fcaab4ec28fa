//! HTTP/1.1 (and 1.0) over real sockets.
//!
//! * `request`: encodes requests. [`parse`], `chunked`: parse a reply's head and find
//!   its end, without I/O.
//! * `exchange`: exchanges one request for its reply on an open connection. `proxy`: opens a
//!   tunnel through a proxy.

mod chunked;
mod exchange;
pub mod parse;
mod proxy;
mod request;
#[cfg(test)]
mod segments_tests;

pub(crate) use exchange::{H1Exchanges, OutgoingRequest, PipelineState};
pub(crate) use proxy::tunnel;
pub(crate) use request::{Style, prepare};
