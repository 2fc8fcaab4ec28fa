//! HTTP/3 (RFC 9114) over the QUIC of `quinn-proto`, with its own framing and driver.
//!
//! * `frame`: numbers, frames and error codes. `qpack`: header compression.
//! * `request`: a request and the frames of its reply. `control`: unidirectional streams.
//!   Both have no I/O.
//! * `session`: one connection: maps the streams of QUIC to requests and replies.
//! * `watch`: observes a connection: received packets, acknowledgments, a Retry.
//!   `packet_numbers` counts the packets. `key_phase`: no key update before the cipher's limit.
//! * `parameters`: the server's transport parameters. `versions`: the QUIC versions that it offers.
//! * `migration`: moves a connection to another local port.
//! * `port`: a UDP socket. `driver`: one task for each UDP socket, which reads and writes for
//!   all connections on it.
//! * `prepare`: encodes requests in frames. `connection`: the interface for [`http`](crate::http).

mod connection;
pub(crate) mod control;
mod driver;
mod frame;
mod key_phase;
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

pub use connection::{Http3Connection, Http3Destination, Http3Endpoints, Http3NotOpened, IS_BUILT};
pub use prepare::prepare;
pub use versions::offered_versions;
