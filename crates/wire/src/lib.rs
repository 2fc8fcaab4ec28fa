//! Bytes to replies: HTTP/1.1, HTTP/2 and HTTP/3 over plain sockets, TLS, QUIC and proxies; resolving and dialling.
//!
//! The engine says *open a connection to this origin* and *send this request on it*; what comes back is a [`Reply`] or
//! the [`Failure`](brunt_model::Failure) that it was, with the instants of each step.
//!
//! It knows nothing of load, plans' schedules or reports. It reads no clock: it is handed a
//! [`Timer`]. It decides nothing about a reply but whether it is one.
//!
//! * `contract`: what the engine and a protocol agree on: [`Transport`], [`Timer`], [`Reply`], [`Head`], [`Stamps`].
//! * [`connections`]: those of one client: what is kept, shared and closed.
//! * [`http`]: the [`Transport`] over real sockets, and the register of protocols: nothing else imports one.
//! * `h1`, `h2`, `h3`, `websocket`: the protocols. `multiplexing`: what HTTP/2 and 3 share.
//! * `collect`: the parts to keep of a reply. [`events`]: replies that come in events, and the times of these.
//! * [`request`]: a request, and its header fields. [`redirect`]: the request that a redirect leads to. [`origin`]: scheme, host and port, and their addresses.
//! * [`dial`], [`tls`], [`stream`], [`link`]: connections. `sources`: the local addresses that they are made from.
//!   [`error`]: which failure an error of the system is.
//! * [`fake`]: a transport without sockets, for the engine's tests. [`http::replay`]: bytes of a server without sockets, for fuzz targets.
//! * `waiters`: tasks that wait for a connection. `turn`: how long one exchange may keep the thread. `worker_io`: its clock and buffer.
//! * `sys`: the seam to the operating system; the only unsafe code is in `sys/raw.rs`.

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
pub mod stream;
mod sys;
pub mod tls;
mod turn;
mod waiters;
mod websocket;
mod worker_io;

pub use connections::{ConnectionRules, Connections, Lease, OpeningPermit, QueueOrder, QueuePlace};
pub use contract::{
    Framing, Head, Kept, Reply, ReplySink, SharedCounts, Stamps, Timer, Transport, WantedFields, Wants,
};
pub use http::replay;
pub use request::Prepared;
pub use stream::Idle;
pub use sys::{Owner, watch};
