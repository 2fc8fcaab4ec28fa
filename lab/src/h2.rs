//! HTTP/2 (RFC 9113): its own framing, kept apart from the load generator's.
//!
//! A connection becomes HTTP/2 by its first bytes or by `Upgrade: h2c`; requests are decided upon by the same
//! [`crate::desk`] as those of HTTP/1, and replies leave when they are due, in any order between streams.
//!
//! | module | holds |
//! |---|---|
//! | [`options`], [`hostile`] | options; what is said against the rules on request |
//! | [`frame`], [`huffman`], [`hpack`] | bytes |
//! | [`fields`], [`reply`] | requests out of header lists, and replies to header blocks |
//! | [`session`], [`control`], [`stream`], [`sending`], [`out`] | one connection and its streams |
//! | [`upgrade`], [`deliver`], `serve` | how it begins; replies and failures; its place in the event loop |
//! | [`websocket`] | `WebSocket`s over its streams |

pub mod control;
pub mod deliver;
pub mod fields;
pub mod frame;
pub mod hostile;
pub mod hpack;
pub mod huffman;
pub mod options;
pub mod out;
pub mod reply;
pub mod sending;
mod serve;
pub mod session;
pub mod stream;
pub mod upgrade;
pub mod websocket;
