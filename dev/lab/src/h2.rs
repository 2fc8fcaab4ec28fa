//! Serves HTTP/2 (RFC 9113) by the crate `h2`, which shares no code with the load generator.
//!
//! A connection becomes HTTP/2 by its first bytes or by `Upgrade: h2c`. [`crate::planner`]
//! plans the replies to its requests, as for HTTP/1. Replies leave when they are due, in
//! any order between streams.
//!
//! | module | contents |
//! |---|---|
//! | [`options`], [`hostile`] | options; frames that break rules on request |
//! | [`frame`], [`hpack`] | bytes of hostile rows and failures |
//! | [`request`], [`reply`] | requests from heads, and heads of replies |
//! | [`session`], [`stream`], `sending`, `follow` | one connection and its streams |
//! | `incoming`, `transport`, [`out`] | bytes between the socket and `h2` |
//! | [`upgrade`], [`deliver`], `serve` | the upgrade; replies and failures; its part of the event loop |
//! | [`websocket`] | `WebSocket`s on its streams |

pub mod deliver;
mod follow;
pub mod frame;
pub mod hostile;
pub mod hpack;
mod incoming;
pub mod options;
pub mod out;
pub mod reply;
pub mod request;
mod sending;
mod serve;
pub mod session;
pub mod stream;
mod transport;
pub mod upgrade;
pub mod websocket;
