//! Sends requests and reads replies: HTTP/1.0, HTTP/1.1, HTTP/2, HTTP/3 and WebSocket.
//!
//! It resolves names and opens connections over plain sockets, TLS, QUIC and proxies. The engine
//! asks it to open a connection to an origin and to send a request on it. The result is a [`Reply`]
//! or a [`Failure`](brunt_model::Failure), with the instant of each step.
//!
//! It knows neither load, nor schedules, nor reports. It reads no clock: the caller passes a
//! [`Timer`]. It checks only whether the received bytes are a valid reply, not whether the reply is
//! good.
//!
//! * `contract`: the interface between the engine and a protocol: [`Transport`],
//!   [`Timer`], [`Reply`], [`ReplyHead`], [`Stamps`].
//! * [`connections`]: keeps, shares and closes the connections of one client.
//! * [`http`]: the [`Transport`] over real sockets, and the register of protocols. No other
//!   module imports a protocol.
//! * `h1`, `h2`, `h3`, `websocket`: the protocols. `multiplexing`: code that
//!   HTTP/2 and HTTP/3 share.
//! * `collect`: collects the requested parts of a reply. [`events`]: times the events of a reply.
//! * [`request`]: a request and its header fields. [`redirect`]: the request that follows a
//!   redirect. [`origin`]: scheme, host, port and addresses.
//!   [`targets`]: the hosts to which brunt may connect.
//! * [`dial`], [`tls`], [`stream`], [`link`]: connections. `sources`: their local addresses.
//!   [`error`]: maps errors of the system to failures.
//! * [`fake`]: a transport without sockets, for the engine's tests. [`http::replay`]: replays a
//!   server's bytes without sockets, for fuzz targets.
//! * `waiters`: tasks that wait for a connection. `turn`: limits how long an exchange may keep the
//!   thread. `worker_io`: a worker's clock and buffer.
//! * `sys`: the interface to the operating system. All unsafe code is in `sys/raw.rs`.

pub mod charset;
mod collect;
pub mod connections;
mod contract;
pub mod dial;
pub mod error;
pub mod events;
pub mod fake;
mod h1;
mod h2;
#[cfg(feature = "http3")]
mod h3;
#[cfg(not(feature = "http3"))]
#[path = "h3/absent.rs"]
mod h3;
pub mod http;
pub mod link;
mod multiplexing;
pub mod origin;
pub mod quic;
pub mod redirect;
pub mod request;
mod sources;
#[cfg(test)]
mod still_timer;
pub mod stream;
mod sys;
pub mod targets;
pub mod tls;
mod turn;
mod waiters;
mod websocket;
mod worker_io;

pub use connections::{
    ConnectionPool, ConnectionRules, Lease, OpeningPermit, QueueOrder, QueuePlace,
};
pub use contract::{
    Framing, Reply, ReplyDetails, ReplyHead, ReplySink, SharedCounts, Stamps, Timer, Transport,
    WantedDetails, WantedFields,
};
pub use http::replay;
pub use request::Prepared;
pub use stream::IdleEnd;
pub use sys::{SocketOwner, watch};
