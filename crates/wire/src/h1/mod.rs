//! HTTP/1.1 (and 1.0) over real sockets.
//!
//! * [`parse`], [`chunked`]: bytes to a reply's head and end; pure.
//! * [`kept_body`]: what is kept of a body, and the search for a pattern in it.
//! * [`exchange`]: one request and its reply on an open connection.

pub mod chunked;
pub mod exchange;
pub mod kept_body;
pub mod parse;
pub(crate) mod proxy;
#[cfg(test)]
mod segments_tests;
