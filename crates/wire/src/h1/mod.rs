//! HTTP/1.1 (and 1.0) over real sockets.
//!
//! * `request`: a request in bytes. [`parse`], `chunked`: bytes to a reply's head and end; pure.
//! * `exchange`: one request and its reply on an open connection. `proxy`: the way through a proxy.

mod chunked;
mod exchange;
pub mod parse;
mod proxy;
mod request;
#[cfg(test)]
mod segments_tests;

pub(crate) use exchange::{H1Exchanges, PipelineState};
pub(crate) use proxy::tunnel;
pub(crate) use request::{Style, prepare};
