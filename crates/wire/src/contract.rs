//! The traits between the engine and a protocol.
//!
//! The engine asks a [`Transport`] to open connections and to exchange requests for replies. The
//! transport records in [`Stamps`] when each step completed, by the [`Timer`] that the engine
//! passed. This module contains no protocol.

use crate::charset::TextType;
use crate::events::{EventOrigin, EventTimes};
use crate::request::{BadRequest, Prepared, RequestDraft, RequestParts, Tags};
use crate::stream::IdleEnd;
use brunt_model::outcome::{CallErrorFields, MalformedReply};
use brunt_model::plan::HttpVersion;
use brunt_model::sample::ConnectTimes;
use brunt_model::{Clock, Failure, Flow, Text, Tick};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Maximum length of a head, in bytes. A caller's buffer must be able to hold it.
pub const MAX_HEAD: usize = 64 * 1024;

/// Maximum number of interim heads (1xx other than 101) before the final one. More are
/// [`MalformedReply::TooManyInterim`].
pub const MAX_INTERIM: u32 = 100;

/// Reads the clock and waits for instants.
pub trait Timer: Clock + Clone {
    /// Resolves at `due` or slightly later.
    fn sleep_until(&self, due: Tick) -> impl Future<Output = ()>;

    /// Wakes the tasks that wait for an instant not after `now`. Long work calls it with each time
    /// that it reads, because the runtime checks its timers only when it has nothing to run.
    fn fire_due(&self, now: Tick);

    /// True if tasks that [`fire_due`](Self::fire_due) woke have not run yet. Long work lets
    /// them run first. If it `has_yielded` to some already, it yields again only when the others
    /// have waited for long.
    fn must_yield(&self, has_yielded: bool) -> bool;

    /// Nanoseconds from `received` to `until`. `received` is an instant of the kernel's
    /// wall clock, since 1970. Returns None if the clock has no wall time, or if `received`
    /// is later than `until`.
    fn nanos_since_received(&self, received: Duration, until: Tick) -> Option<u64>;

    /// Instant of the system's monotonic clock that corresponds to tick 0. It never changes.
    /// Libraries need it; None if the clock has none.
    fn base(&self) -> Option<Instant> {
        None
    }

    /// Advances a fake clock, which does not advance while code runs. A real clock ignores it.
    fn simulate_work(&self, time: Duration);
}

/// Instants of the steps of an exchange, and byte counts. Zero if a step was not reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamps {
    /// When the request was written.
    pub sent: Tick,
    /// When the first byte of the reply was received.
    pub first_byte: Tick,
    /// When the last byte was received.
    pub last_byte: Tick,
    /// Bytes written, before TLS.
    pub bytes_sent: u64,
    /// Bytes read, before TLS.
    pub bytes_received: u64,
    /// Bytes received as complete heads. With HTTP/2, all bytes that were not part of the body.
    pub head_bytes: u64,
    /// Bytes received after the whole reply that belong to no
    /// reply. `bytes_received` excludes them.
    pub extra_bytes: u64,
    /// Nanoseconds that the last byte spent in the kernel before it was read. None if not sampled.
    pub read_lag: Option<u64>,
    /// Origin of the event times, if the reply is timed by events. Set before the exchange.
    pub events: Option<EventOrigin>,
    /// Why the received bytes are not a valid reply, or the code of the stream's reset, if
    /// that is the failure.
    pub malformed: Option<MalformedReply>,
    /// True if the server refused the request though no other was in flight: it
    /// may refuse every retry.
    pub is_refused: bool,
}

/// First byte of an alert of TLS (RFC 8446 section 5.1). No reply of HTTP begins like this.
pub(crate) const TLS_ALERT: u8 = 0x15;

/// A whole reply.
#[derive(Debug, Default)]
pub struct Reply {
    /// HTTP status code.
    pub status: u16,
    /// True if the connection can be reused.
    pub keep_alive: bool,
    /// True if unsolicited bytes followed it.
    pub unsolicited: bool,
    /// True if it refuses the handshake of a WebSocket. Then it is no good reply, unless the plan
    /// expects its status.
    pub is_refusal: bool,
    /// Bytes of the body, without framing.
    pub body_bytes: u64,
    /// Bytes of the head and of interim heads before it. With HTTP/2, of all
    /// frames except the body.
    pub head_bytes: u64,
    /// Value of Content-Length. None if the body has another framing, or if there is no body.
    pub announced_bytes: Option<u64>,
    /// The parts that the caller wanted, if any.
    pub details: Option<Box<ReplyDetails>>,
    /// Message and details of the status of gRPC. None: there are none, or the trailers are the same
    /// as those of an earlier reply on the connection.
    pub call_error: Option<Box<CallErrorFields>>,
}

/// The parts of a reply that were kept because a check or an extractor needs them.
#[derive(Debug, Default)]
pub struct ReplyDetails {
    /// The Location header.
    pub location: Option<String>,
    /// The body, decoded, up to a limit.
    pub body: Vec<u8>,
    /// Charset and kind of the body's text.
    pub text: TextType,
    /// Why the body could not be decoded by its Content-Encoding.
    pub undecoded: Option<String>,
    /// True if the body matches the pattern of the checks.
    pub matches: bool,
    /// The Server header.
    pub server: Option<String>,
    /// Name and value of the last Set-Cookie header.
    pub cookie: Option<String>,
    /// The head, and the requested header fields in order.
    pub head: Option<(ReplyHead, Vec<(String, String)>)>,
    /// If the whole head was requested: all bytes as received, up to the read that completed it. If
    /// the status line was requested: the first bytes, which include that line.
    pub first_bytes: Vec<u8>,
}

/// How the end of a reply's body is found (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body, because of the status or the request.
    None,
    /// The body ends after this number of bytes.
    Length(u64),
    /// The body ends with the last chunk and its trailers.
    Chunked,
    /// The body ends when the server closes the connection.
    UntilClose,
    /// At the end of its stream (HTTP/2 and 3).
    Stream,
}

/// The parsed final head of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHead {
    /// Status code, 100 to 999.
    pub status: u16,
    /// HTTP version in the status line.
    pub version: HttpVersion,
    /// How the end of the body is found.
    pub framing: Framing,
    /// True if another request may follow on this connection after the reply. False after 101 and
    /// after a successful CONNECT, where the connection no longer carries HTTP.
    pub keep_alive: bool,
    /// Bytes of this head including its blank line, without interim heads and
    /// blank lines before it.
    pub length: u64,
    /// True if the body has a Content-Encoding other than identity.
    pub encoded: bool,
}

/// Receives the head and the body of a reply. `()` ignores both at no cost.
pub trait ReplySink {
    /// Receives a header field of the final head, in order. The value has no blanks around it; a
    /// folded value contains its line ends.
    fn header(&mut self, name: &str, value: &[u8]) {
        let _ = (name, value);
    }

    /// Receives a piece of the body, never empty, without the framing of chunks.
    fn body(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// Receives the next byte of the trailers of a chunked body, line ends included.
    fn trailer_byte(&mut self, byte: u8) {
        let _ = byte;
    }
}

impl ReplySink for () {}

/// The parts of replies that a transport must keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a part of a reply
pub struct WantedDetails {
    /// The body, decoded.
    pub body: bool,
    /// The result of searching the body for the pattern of the checks.
    pub matches: bool,
    /// The body, decoded, if it is an HTML page.
    pub page: bool,
    /// The Location header.
    pub location: bool,
    /// The Server header.
    pub server: bool,
    /// The whole head.
    pub head: bool,
    /// The status line.
    pub status_line: bool,
    /// Header fields.
    pub fields: WantedFields,
    /// The cookie that was set last.
    pub cookie: bool,
    /// The messages that a WebSocket skips before the awaited one.
    pub skipped: bool,
}

impl WantedDetails {
    /// Returns the union of both sets.
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
            skipped: self.skipped || more.skipped,
        }
    }
}

/// The header fields of a reply that are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WantedFields {
    /// No fields.
    #[default]
    None,
    /// Fields that the user's next request may depend on: Location, cookies,
    /// and requests for credentials.
    Following,
    /// The fields of `Following`, and those that give the type and version of the body.
    Page,
    /// All fields.
    All,
}

impl WantedFields {
    const FOLLOWING: [&str; 4] =
        ["location", "set-cookie", "www-authenticate", "proxy-authenticate"];
    const PAGE: [&str; 6] =
        ["content-type", "last-modified", "etag", "cache-control", "expires", "date"];

    /// True if the field of this name is kept.
    pub fn contains(self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::Following => contains_name(&Self::FOLLOWING, name),
            Self::Page => contains_name(&Self::FOLLOWING, name) || contains_name(&Self::PAGE, name),
            Self::All => true,
        }
    }
}

fn contains_name(names: &[&str], name: &str) -> bool {
    names.iter().any(|field| name.eq_ignore_ascii_case(field))
}

/// Connection counts of a worker, shared by its connections.
pub type SharedCounts = Rc<RefCell<Flow>>;

/// Opens connections and carries out exchanges on them. Each worker thread has one; its
/// connections never leave that thread. [`ConnectionPool`](crate::ConnectionPool) keeps the
/// connections that it opened.
///
/// A *lane* is the right to one exchange at a time on a connection. With HTTP/1 a lane is the
/// connection. A protocol with streams [multiplexes](Self::multiplexes): a connection has many
/// lanes, and closes when the last of them is dropped.
///
/// Dropping an exchange before its end resets its stream. With HTTP/1 the
/// connection is unusable afterwards.
pub trait Transport: 'static {
    /// The right to one exchange at a time on a connection.
    type Lane: 'static;

    /// Encodes a request for sending.
    fn prepare_parts(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, BadRequest>;

    /// Encodes a copy of a draft for sending.
    fn prepare(&self, draft: &RequestDraft<'_>) -> Result<Prepared, BadRequest> {
        self.prepare_parts(Rc::new(RequestParts::from_draft(draft)?), draft.tags())
    }

    /// Opens a connection that can carry `request`, and returns its first lane. `client` is the
    /// number of the client that owns it. `steps` receives the duration of each step.
    fn open(
        &self,
        request: &Prepared,
        client: u64,
        steps: &mut ConnectTimes,
    ) -> impl Future<Output = Result<Self::Lane, Failure>>;

    /// True if its connections have several lanes.
    fn multiplexes(&self) -> bool {
        false
    }

    /// Returns another lane on the connection of `lane`. None if the connection can have only one.
    fn share(&self, lane: &Self::Lane) -> Option<Self::Lane> {
        let _ = lane;
        None
    }

    /// Maximum number of exchanges in flight on the connection of `lane`: the
    /// peer's limit on streams.
    fn most_exchanges(&self, lane: &Self::Lane) -> u32 {
        let _ = lane;
        1
    }

    /// True if the connection of `lane` accepts another exchange. False after a GOAWAY,
    /// though exchanges in flight may still finish, and after the connection is lost. Called
    /// only on transports that multiplex.
    fn accepts(&self, lane: &Self::Lane) -> bool {
        let _ = lane;
        true
    }

    /// Sends the request and reads the whole reply. `stamps` is filled step by step, so it shows
    /// how far the exchange got if it failed or was dropped.
    fn exchange(
        &self,
        lane: &mut Self::Lane,
        request: &Prepared,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>>;

    /// Returns the messages that the last exchange on a lane skipped, if they were wanted, whether or
    /// not the exchange has succeeded.
    fn take_skipped(&self, lane: &mut Self::Lane) -> Vec<Vec<u8>> {
        let _ = lane;
        Vec::new()
    }

    /// Records facts about a whole reply, for the transport's own use.
    fn note_reply(&self, reply: &Reply) {
        let _ = reply;
    }

    /// Pipelining: sends requests whose exchanges follow in this order, without waiting for
    /// replies. Each exchange then only reads. Errors show in the exchanges. A transport that
    /// multiplexes does nothing here.
    fn send_ahead(
        &self,
        lane: &mut Self::Lane,
        requests: &[Rc<Prepared>],
    ) -> impl Future<Output = ()>;

    /// Resolves when the connection of an idle lane can no longer be used: the peer closed it, sent
    /// a GOAWAY, or sent unsolicited bytes.
    fn closed(&self, lane: &mut Self::Lane) -> impl Future<Output = IdleEnd>;

    /// Returns the connection counts since the last call. The caller counts exchanges.
    fn take_counts(&self) -> Flow {
        Flow::default()
    }

    /// Returns the event times of a population since the last call, by label.
    fn take_events(&self, population: usize) -> Vec<(u32, EventTimes)> {
        let _ = population;
        Vec::new()
    }

    /// Returns a note for the user that is new since the last call, such as the text of the error
    /// that caused a failure.
    fn take_note(&self) -> Option<Text>;

    /// Returns the known addresses that connections for this request go to.
    fn addresses(&self, request: &Prepared) -> Vec<String> {
        let _ = request;
        Vec::new()
    }

    /// Returns the target's addresses and the value of its Server header, once known.
    /// Later calls return None.
    fn take_target(&self) -> Option<(Vec<String>, Option<String>)>;
}
