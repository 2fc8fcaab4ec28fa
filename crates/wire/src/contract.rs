//! The traits between the engine and a protocol.
//!
//! The engine asks a [`Transport`] to open connections and to exchange requests for replies; the transport tells with
//! [`Stamps`] when each step was done, by the [`Timer`] that it was handed. Out of scope: any protocol.

use crate::charset::TextType;
use crate::events::{EventOrigin, EventTimes};
use crate::request::{BadRequest, Draft, Prepared, RequestParts, Tags};
use crate::stream::Idle;
use brunt_model::outcome::Malformed;
use brunt_model::plan::HttpVersion;
use brunt_model::sample::Opening;
use brunt_model::{Clock, Failure, Flow, Tick};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The largest head that is read, in bytes; a caller's buffer must be able to hold it.
pub const MAX_HEAD: usize = 64 * 1024;

/// Interim heads (1xx other than 101) that are read before the final one; beyond, it is [`Malformed::TooManyInterim`].
pub const MAX_INTERIM: u32 = 100;

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

    /// An instant of the system's monotonic clock that stands for tick 0, always the same one, for libraries that want such
    /// instants; None where a clock has none.
    fn base(&self) -> Option<Instant> {
        None
    }

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
    /// How many of them were heads that came to their end; with HTTP/2, all that were not of the body.
    pub head_bytes: u64,
    /// Bytes behind the whole reply that belong to none. They are not among those received.
    pub extra_bytes: u64,
    /// Nanoseconds for which the last byte had been in the kernel before it was read; None where nobody looked.
    pub read_lag: Option<u64>,
    /// What events of the reply are timed from, where they are: set before the exchange.
    pub events: Option<EventOrigin>,
    /// Why what came is no reply, or the code with which the stream was reset, where that is the failure.
    pub malformed: Option<Malformed>,
    /// The server refused the request though it had no other one to do: it may refuse it for ever.
    pub is_refused: bool,
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
    /// Bytes of its head, with those of interim heads before it; with HTTP/2, of all of its frames without the body.
    pub head_bytes: u64,
    /// Bytes of body that it announced in its Content-Length; None where it has a body of another framing, or none.
    pub announced_bytes: Option<u64>,
    /// What was kept of it, where the transport was told to keep something.
    pub kept: Option<Box<Kept>>,
}

/// What was kept of a reply because somebody looks at it.
#[derive(Debug, Default)]
pub struct Kept {
    /// The Location header.
    pub location: Option<String>,
    /// The body, decoded, up to a limit.
    pub body: Vec<u8>,
    /// How its text is read.
    pub text: TextType,
    /// Why the body could not be unpacked by its Content-Encoding.
    pub undecoded: Option<String>,
    /// The pattern that bodies are searched for is in it.
    pub matches: bool,
    /// The Server header.
    pub server: Option<String>,
    /// Of the last Set-Cookie header: name and value.
    pub cookie: Option<String>,
    /// The header fields that were wanted, in order, and how the body ends.
    pub head: Option<(Head, Vec<(String, String)>)>,
    /// Where the whole head was wanted: all bytes as they came, up to those that were read together with its end. Where the
    /// status line was wanted: the first bytes, with that line.
    pub first_bytes: Vec<u8>,
}

/// How the reply's body ends (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is none, by the status or the request.
    None,
    /// After this number of bytes.
    Length(u64),
    /// With the last chunk and its trailers.
    Chunked,
    /// When the server closes the connection.
    UntilClose,
    /// With its stream (HTTP/2 and 3).
    Stream,
}

/// The content of the final head, as far as the rest of the program needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The status code, 100 to 999.
    pub status: u16,
    /// The version of HTTP that it states.
    pub version: HttpVersion,
    /// How the body ends.
    pub framing: Framing,
    /// Whether another request may follow on this connection once the reply is done. Not after 101 and a successful
    /// CONNECT, where the connection no longer speaks HTTP.
    pub keep_alive: bool,
    /// Bytes of this head with its blank line; interim heads and blank lines before it are not counted.
    pub length: u64,
    /// Whether the body has a Content-Encoding other than identity.
    pub encoded: bool,
}

/// Receives the head and the body; `()` looks at nothing and costs nothing.
pub trait ReplySink {
    /// A header field of the final head, in order; the value without blanks around it, a folded one with its line ends.
    fn header(&mut self, name: &str, value: &[u8]) {
        let _ = (name, value);
    }

    /// A piece of the body, never empty, without the framing of chunks.
    fn body(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
}

impl ReplySink for () {}

/// What a transport must keep of replies.
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
    /// The status line.
    pub status_line: bool,
    /// Fields of the head.
    pub fields: WantedFields,
    /// The cookie that was set last.
    pub cookie: bool,
}

impl Wants {
    /// These and those.
    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self {
            body: self.body || more.body,
            matches: self.matches || more.matches,
            page: self.page || more.page,
            location: self.location || more.location,
            server: self.server || more.server,
            head: self.head || more.head,
            status_line: self.status_line || more.status_line,
            fields: self.fields.max(more.fields),
            cookie: self.cookie || more.cookie,
        }
    }
}

/// Which header fields are kept of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WantedFields {
    /// None.
    #[default]
    None,
    /// What the next request of the user may depend on: where it leads, cookies, and credentials that are asked for.
    Following,
    /// These, what the body is, and which version of it.
    Page,
    /// All.
    All,
}

impl WantedFields {
    const FOLLOWING: [&str; 4] = ["location", "set-cookie", "www-authenticate", "proxy-authenticate"];
    const PAGE: [&str; 6] = ["content-type", "last-modified", "etag", "cache-control", "expires", "date"];

    /// Whether the field of this name is kept.
    pub fn have(self, name: &str) -> bool {
        let is_one_of = |names: &[&str]| names.iter().any(|field| name.eq_ignore_ascii_case(field));
        match self {
            Self::None => false,
            Self::Following => is_one_of(&Self::FOLLOWING),
            Self::Page => is_one_of(&Self::FOLLOWING) || is_one_of(&Self::PAGE),
            Self::All => true,
        }
    }
}

/// Counts of the connections of a worker, which they share.
pub type SharedCounts = Rc<RefCell<Flow>>;

/// Opens connections and carries exchanges out on them. One for each worker thread; its connections never leave that
/// thread. [`Connections`](crate::Connections) keeps what it opened.
///
/// A *lane* is the right to one exchange at a time on a connection. With HTTP/1 a lane is the connection. A protocol with
/// streams [multiplexes](Self::multiplexes): a connection has many lanes, and closes when the last of them is dropped.
///
/// To drop an exchange before its end resets its stream. With HTTP/1 the connection is of no more use after that.
pub trait Transport: 'static {
    /// The right to one exchange at a time on a connection.
    type Lane: 'static;

    /// Makes a request ready to be sent.
    ///
    /// # Errors
    ///
    /// It cannot be sent.
    fn prepare_parts(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, BadRequest>;

    /// Makes a copy of a draft ready to be sent.
    ///
    /// # Errors
    ///
    /// It cannot be sent.
    fn prepare(&self, draft: &Draft<'_>) -> Result<Prepared, BadRequest> {
        self.prepare_parts(Rc::new(RequestParts::of(draft)?), draft.tags())
    }

    /// Opens a connection that can carry `request`, and returns its first lane; `client` is the number of whose it is, and `steps` receives
    /// how long each step took.
    fn open(
        &self,
        request: &Prepared,
        client: u64,
        steps: &mut Opening,
    ) -> impl Future<Output = Result<Self::Lane, Failure>>;

    /// Whether its connections have several lanes.
    fn multiplexes(&self) -> bool {
        false
    }

    /// Another lane on the connection of `lane`; None where it can have only one.
    fn share(&self, lane: &Self::Lane) -> Option<Self::Lane> {
        let _ = lane;
        None
    }

    /// Exchanges that may be under way at once on the connection of `lane`: the peer's limit on streams.
    fn most_exchanges(&self, lane: &Self::Lane) -> u32 {
        let _ = lane;
        1
    }

    /// Whether the connection of `lane` takes another exchange. Not after a GOAWAY, though exchanges under way may still
    /// finish, and not when the connection is lost. Only asked of transports that multiplex.
    fn accepts(&self, lane: &Self::Lane) -> bool {
        let _ = lane;
        true
    }

    /// Sends the request and reads the whole reply. `stamps` is filled step by step, so that it tells how far the
    /// exchange came where it failed or was dropped.
    fn exchange(
        &self,
        lane: &mut Self::Lane,
        request: &Prepared,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>>;

    /// A whole reply came: what the transport notes of it.
    fn replied(&self, reply: &Reply) {
        let _ = reply;
    }

    /// Pipelining: sends requests whose exchanges follow in this order, and waits for no reply: each exchange then only
    /// reads. What goes wrong shows in the exchanges. A transport that multiplexes does nothing here.
    fn send_ahead(&self, lane: &mut Self::Lane, requests: &[Rc<Prepared>]) -> impl Future<Output = ()>;

    /// Resolves when the connection of an idle lane can no longer be used: the peer closed it, sent a GOAWAY, or sent
    /// what nobody asked for.
    fn closed(&self, lane: &mut Self::Lane) -> impl Future<Output = Idle>;

    /// Counts of connections since the last call; exchanges are counted by their caller.
    fn take_counts(&self) -> Flow {
        Flow::default()
    }

    /// The times of the events that came for a population since the last call, by label.
    fn take_events(&self, population: usize) -> Vec<(u32, EventTimes)> {
        let _ = population;
        Vec::new()
    }

    /// Something that the reader should know, said since the last call: the text of an error behind a failure, …
    fn take_note(&self) -> Option<String>;

    /// The addresses that connections for this request go to, as far as they are known.
    fn addresses(&self, request: &Prepared) -> Vec<String> {
        let _ = request;
        Vec::new()
    }

    /// What the server calls itself, and its addresses, once known; told once.
    fn take_target(&self) -> Option<(Vec<String>, Option<String>)>;
}
