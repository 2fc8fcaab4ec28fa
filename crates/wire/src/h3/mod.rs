//! HTTP/3 (RFC 9114) over the QUIC of `quinn-proto`, with a framing and a driver of our own.
//!
//! * `frame`: numbers, frames and error codes. `qpack`: header compression.
//! * `request`: a request and the frames of its reply. `control`: the streams of one direction. Both are pure.
//! * `session`: one connection: what QUIC says of its streams becomes replies.
//! * `driver`: one task for each UDP socket that reads and writes for all connections on it.
//! * `connection`: what [`http`](crate::http) sees of all this.

mod connection;
pub(crate) mod control;
mod driver;
mod frame;
mod qpack;
pub(crate) mod request;
mod session;

pub(crate) use connection::head_frames;
pub use connection::{Connection, Endpoints, IS_BUILT, NotOpened};
