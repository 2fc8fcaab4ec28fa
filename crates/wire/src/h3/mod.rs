//! HTTP/3 (RFC 9114) over the QUIC of `quinn-proto`, with a framing and a driver of our own.
//!
//! * `frame`: numbers, frames and error codes. `qpack`: header compression.
//! * `request`: a request and the frames of its reply. `control`: the streams of one direction. Both are pure.
//! * `session`: one connection: what QUIC says of its streams becomes replies.
//! * `watch`: what cryptography tells of a connection: packets that came, a Retry. `packet_numbers` counts them.
//! * `parameters`: the server's transport parameters. `versions`: the versions of QUIC that it offers.
//! * `migration`: a connection goes on from another local port.
//! * `port`: a UDP socket. `driver`: one task for each UDP socket that reads and writes for all connections on it.
//! * `prepare`: requests in frames. `connection`: what [`http`](crate::http) sees of all this.

mod connection;
pub(crate) mod control;
mod driver;
mod frame;
mod migration;
mod packet_numbers;
mod parameters;
mod port;
mod prepare;
mod qpack;
pub(crate) mod request;
mod session;
mod versions;
mod watch;

pub use connection::{Connection, Endpoints, IS_BUILT, NotOpened};
pub use prepare::prepare;
pub use versions::ask as offered_versions;
