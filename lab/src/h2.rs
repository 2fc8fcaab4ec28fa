//! HTTP/2 (RFC 9113): its own framing, kept apart from the load generator's.
//!
//! | module | holds |
//! |---|---|
//! | [`frame`], [`huffman`], [`hpack`] | bytes |

pub mod frame;
pub mod hpack;
pub mod huffman;
