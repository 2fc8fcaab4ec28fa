//! What the engine and a wire agree on.
//!
//! The engine asks a [`Wire`] to open connections and to exchange requests for replies; the wire tells with [`Stamps`]
//! when each step was done, by the [`Timer`] that it was handed. What it is not: any protocol.

use crate::h1::parse::Head;
use crate::request::{BadRequest, Draft, Prepared};
use crate::stream::Idle;
use brunt_model::outcome::Malformed;
use brunt_model::sample::Opening;
use brunt_model::{Clock, Failure, Tick};
use std::rc::Rc;
use std::time::Duration;

/// Who tells the time and can wait for it.
pub trait Timer: Clock + Clone {
    /// Resolves at `due`, or a little later.
    fn sleep_until(&self, due: Tick) -> impl Future<Output = ()>;

    /// Wakes the tasks that wait for an instant not after `now`. Long work calls it with each time that it reads: the
    /// runtime looks at its timers only when it has nothing to run.
    fn fire_due(&self, now: Tick);

    /// Whether tasks that [`fire_due`](Self::fire_due) woke have not run yet. Long work lets them run first; where it
    /// `has_yielded` to some already, only if these have waited for long.
    fn must_yield(&self, has_yielded: bool) -> bool;

    /// Nanoseconds between an instant of the kernel's clock of the day, since 1970, and `until`; None where a clock has no
    /// day, or the instant is later.
    fn nanos_since_received(&self, received: Duration, until: Tick) -> Option<u64>;

    /// Lets time pass on a fake clock, which stands still while anything runs. A real clock ignores it.
    fn simulate_work(&self, time: Duration);
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
    /// How many of them were heads that came to their end.
    pub head_bytes: u64,
    /// Bytes behind the whole reply that belong to none. They are not among those received.
    pub extra_bytes: u64,
    /// Nanoseconds for which the last byte had been in the kernel before it was read; None where nobody looked.
    pub read_lag: Option<u64>,
    /// Why what came is no reply, where that is the failure.
    pub malformed: Option<Malformed>,
}

/// A whole reply.
#[derive(Debug, Default)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// The connection may be used again.
    pub keep_alive: bool,
    /// Bytes that nobody asked for came behind it.
    pub unsolicited: bool,
    /// Bytes of its body, without framing.
    pub body_bytes: u64,
    /// Bytes of its head, with those of interim heads before it.
    pub head_bytes: u64,
    /// Bytes of body that it announced in its Content-Length; None where it has a body of another framing, or none.
    pub announced_bytes: Option<u64>,
    /// What was kept of it, where the wire was told to keep something.
    pub kept: Option<Box<Kept>>,
}

/// What was kept of a reply because somebody looks at it.
#[derive(Debug, Default)]
pub struct Kept {
    /// The Location header.
    pub location: Option<String>,
    /// The body, decoded, up to a limit.
    pub body: Vec<u8>,
    /// The pattern that bodies are searched for is in it.
    pub matches: bool,
    /// The Server header.
    pub server: Option<String>,
    /// Of the last Set-Cookie header: name and value.
    pub cookie: Option<String>,
    /// The header fields that were wanted, in order, and how the body ends.
    pub head: Option<(Head, Vec<(String, String)>)>,
    /// Where the whole head was wanted: all bytes as they came, up to those that were read together with its end.
    pub first_bytes: Vec<u8>,
}

/// What a wire must keep of replies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a part of a reply
pub struct Wants {
    /// The body, decoded.
    pub body: bool,
    /// Whether the body matches the pattern of the checks.
    pub matches: bool,
    /// The body, decoded, where it is a page of HTML.
    pub page: bool,
    /// The Location header.
    pub location: bool,
    /// The Server header.
    pub server: bool,
    /// The whole head.
    pub head: bool,
    /// Of the head what the next request may depend on: where it leads, cookies, credentials that are asked for, what the
    /// body is and which version of it.
    pub follows: bool,
    /// The cookie that was set last.
    pub cookie: bool,
}

/// How requests travel. One for each worker thread; its connections never leave that thread.
pub trait Wire: 'static {
    /// A connection.
    type Conn: 'static;

    /// Puts a request into the bytes of this wire.
    fn prepare(&self, draft: &Draft<'_>) -> Result<Prepared, BadRequest>;

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

    /// Sends requests whose exchanges follow in this order, and waits for no reply: each exchange then only reads. What
    /// goes wrong shows in the exchanges.
    fn send_ahead(&self, conn: &mut Self::Conn, requests: &[Rc<Prepared>]) -> impl Future<Output = ()>;

    /// Resolves when an idle connection can no longer be used: the peer closed it, or sent what nobody asked for.
    fn closed(&self, conn: &mut Self::Conn) -> impl Future<Output = Idle>;

    /// Something that the reader should know, said since the last call: the text of an error behind a failure, …
    fn take_note(&self) -> Option<String>;

    /// What the server calls itself, and its addresses, once known; told once.
    fn take_target(&self) -> Option<(Vec<String>, Option<String>)>;
}
