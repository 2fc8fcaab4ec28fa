//! Bytes to replies: HTTP/1.1 over plain sockets, TLS and proxies; resolving and dialling.
//!
//! The engine says *open a connection to this origin* and *send this request on it*; what comes back is a [`Reply`] or
//! the [`Failure`] that it was, with the instants of each step.
//!
//! What it is **not**: it knows nothing of load, plans' schedules or reports. It reads no clock: it is handed a
//! [`Timer`]. It decides nothing about a reply but whether it is one.
//!
//! * [`h1`]: the codec ([`h1::parse`] is pure) and [`h1::H1`], the [`Wire`] over real sockets.
//! * [`request`]: a request in the bytes of the wire. [`origin`]: scheme, host and port, and their addresses.
//! * [`dial`], [`tls`], [`stream`]: connections. [`error`]: which failure an error of the system is.
//! * [`fake`]: a wire without sockets, for the engine's tests.
//! * `sys`: the seam to the operating system; the only unsafe code is in `sys/raw.rs`.

pub mod dial;
pub mod error;
pub mod fake;
pub mod h1;
pub mod origin;
pub mod request;
pub mod stream;
mod sys;
pub mod tls;

use brunt_model::sample::Opening;
use brunt_model::{Clock, Failure, Tick};
pub use request::Prepared;
pub use sys::{Owner, watch};

/// Who tells the time and can wait for it.
pub trait Timer: Clock + Clone {
    /// Resolves at `due`, or a little later.
    fn sleep_until(&self, due: Tick) -> impl Future<Output = ()>;
}

/// When the steps of an exchange were done, and how much was moved. Zero where a step was not reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamps {
    /// The request was written.
    pub sent: Tick,
    /// The first byte of the reply came.
    pub first_byte: Tick,
    /// The last byte came.
    pub last_byte: Tick,
    /// Bytes written, before TLS.
    pub bytes_sent: u64,
    /// Bytes read, before TLS.
    pub bytes_received: u64,
}

/// A whole reply.
#[derive(Debug, Default)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// The connection may be used again.
    pub keep_alive: bool,
    /// Bytes of its body, without framing.
    pub body_bytes: u64,
    /// What was kept of it, where the wire was told to keep something.
    pub kept: Option<Box<Kept>>,
}

/// What was kept of a reply because somebody looks at it.
#[derive(Debug, Default)]
pub struct Kept {
    /// The Location header.
    pub location: Option<String>,
    /// The body, decoded.
    pub body: Vec<u8>,
}

/// What a wire must keep of replies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wants {
    /// The body, decoded.
    pub body: bool,
    /// The Location header.
    pub location: bool,
}

/// How requests travel. One for each worker thread; its connections never leave that thread.
pub trait Wire: 'static {
    /// A connection.
    type Conn: 'static;

    /// Puts a request into the bytes of this wire.
    fn prepare(&self, draft: &request::Draft<'_>) -> Result<Prepared, request::BadRequest>;

    /// Opens a connection that can carry `request`; `steps` receives how long each step took.
    fn open(&self, request: &Prepared, steps: &mut Opening) -> impl Future<Output = Result<Self::Conn, Failure>>;

    /// Whether `conn` leads where `request` goes.
    fn leads_to(&self, conn: &Self::Conn, request: &Prepared) -> bool;

    /// Sends the request and reads the whole reply. `stamps` is filled step by step, so that it tells how far the
    /// exchange came where it failed or was dropped.
    fn exchange(
        &self,
        conn: &mut Self::Conn,
        request: &Prepared,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>>;

    /// Resolves when an idle connection can no longer be used: the peer closed it, or sent what nobody asked for.
    fn closed(&self, conn: &mut Self::Conn) -> impl Future<Output = ()>;

    /// Something that the reader should know, said since the last call: the text of an error behind a failure, …
    fn take_note(&self) -> Option<String>;

    /// What the server calls itself, and its addresses, once known; told once.
    fn take_target(&self) -> Option<(Vec<String>, Option<String>)>;
}
