//! One request and its reply on an open connection.
//!
//! Reads go into the worker's one buffer; a head that comes in pieces is kept with the connection until it is whole. A
//! body that nobody looks at is dropped in the kernel. Nothing is allocated for an ordinary reply.

use super::parse::{Malformed, NoReply, Parser};
use crate::collect::ReplyCollector;
use crate::contract::{Framing, Head, MAX_HEAD};
use crate::link::Link;
use crate::request::RequestKind;
use crate::stream::{DiscardableBody, MOST_BLANK_READS, Stream, is_blank};
use crate::turn::Turn;
use crate::worker_io::{BUFFER, WorkerIo};
use crate::{Reply, Stamps, Timer, Wants, error};
use brunt_model::{Failure, Tick};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Read at once while a head is awaited: enough for a head and a small page; the rest of a long body is not copied.
const HEAD_READ: usize = 8 * 1024;
/// Read at once where somebody looks at the body.
const BODY_READ: usize = 64 * 1024;

/// Written at once of a long request, before other tasks may run.
const SEND_PIECE: usize = 256 * 1024;

/// Of so many replies on a connection whose bytes are stamped, one tells how late it was read.
const LOOKED_AT: u32 = 8;

/// The state that the exchanges of one worker share.
pub(crate) struct H1Exchanges<T> {
    pub io: WorkerIo<T>,
    last_head: RefCell<LastHead>,
    receive_rate: Option<u64>,
    /// Replies whose read lag could have been measured.
    replies: Cell<u32>,
}

/// The last head that was read. Replies of one server mostly begin with the same bytes, but for the second of the day:
/// to compare is ten times cheaper than to parse.
#[derive(Default)]
struct LastHead {
    asked: RequestKind,
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl LastHead {
    /// Longer heads are not kept.
    const LONGEST: u64 = 2048;

    fn recall(&self, asked: RequestKind, bytes: &[u8]) -> Option<Head> {
        self.head.filter(|_| self.asked == asked && bytes.starts_with(&self.bytes))
    }

    /// Keeps the head that `bytes` begin with, where it is the very first thing in them.
    fn learn(&mut self, asked: RequestKind, bytes: &[u8], parser: &Parser) {
        let first = |head: &Head| head.length <= Self::LONGEST && parser.interim() == 0 && bytes.starts_with(b"HTTP");
        if let Some(head) = parser.head().filter(first) {
            self.asked = asked;
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..head.length as usize]);
            self.head = Some(head);
        }
    }
}

/// Where a reply stands.
struct Receiving {
    asked: RequestKind,
    parser: Parser,
    /// The beginning of a head that came in pieces.
    stash: Vec<u8>,
    keep: Option<Box<ReplyCollector>>,
    /// Further requests were sent: what comes behind a whole reply is the next one's.
    more_may_come: bool,
    /// What came behind the whole reply.
    behind: Vec<u8>,
    /// How many bytes came behind it that were not asked for, blank lines with them.
    extra: u64,
    /// They were more than blank lines.
    unsolicited: bool,
    /// Why what came is no reply.
    malformed: Option<Malformed>,
    /// No more of it is awaited, though more may come.
    is_left: bool,
    turn: Turn,
}

/// On one connection: requests that were sent before their exchange, and bytes that came behind a whole reply.
#[derive(Default)]
pub(crate) struct PipelineState {
    /// When each was sent, the earliest first.
    sent: VecDeque<Tick>,
    came: Vec<u8>,
}

impl PipelineState {
    /// There are requests whose exchange is still to come.
    pub fn is_owed(&self) -> bool {
        !self.sent.is_empty()
    }
}

/// What a step of receiving found.
#[derive(Debug, Clone, Copy)]
enum Step {
    More,
    Whole,
}

/// What became of writing a request.
enum Written {
    /// All of it was written; where the reply stands that came meanwhile.
    Whole(Step),
    /// It could not be: a reply may yet be there.
    Failed(io::Error),
    /// The server refused it before it was written.
    Refused,
    /// What came meanwhile is no reply.
    NoReply(Failure),
}

/// What happened first while a request was written.
enum Event {
    Wrote(io::Result<usize>),
    Came(Result<Step, Failure>),
}

impl<T: Timer> H1Exchanges<T> {
    /// Exchanges that read with `io`; a slow reader takes `receive_rate` bytes per second.
    pub fn new(io: WorkerIo<T>, receive_rate: Option<u64>) -> Self {
        Self { io, last_head: RefCell::default(), receive_rate, replies: Cell::new(0) }
    }

    /// Sends `request` and reads the whole reply. `used`: the connection carried a request before, so that its end
    /// before any reply is the server's closing of an idle connection.
    ///
    /// # Errors
    ///
    /// What failed, if there is no whole reply.
    pub async fn exchange<L: Link>(
        &self,
        (stream, ahead): (&mut Stream<L>, &mut PipelineState),
        (request, asked): (&[u8], RequestKind),
        (used, keep): (bool, Option<Box<ReplyCollector>>),
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let mut at = Receiving::new(asked, keep);
        let sent_ahead = ahead.sent.pop_front();
        if stream.stamps_receipt() {
            self.sample_receipt(stream);
        }
        at.more_may_come = !ahead.sent.is_empty();
        let written = match sent_ahead {
            Some(sent) => {
                (stamps.sent, stamps.bytes_sent) = (sent, request.len() as u64);
                Written::Whole(Step::More)
            }
            None => self.send(stream, request, &mut at, stamps).await,
        };
        // A server that refuses a body closes before it has read it: its reply may be there all the same.
        let (mut step, unsent, refused) = match written {
            Written::Whole(Step::More) => (self.take_what_came(&mut at, ahead, stamps), None, false),
            Written::Whole(Step::Whole) => (Ok(Step::Whole), None, false),
            Written::Failed(error) => (Ok(Step::More), Some(error), true),
            Written::Refused => (Ok(Step::Whole), None, true),
            Written::NoReply(failure) => (Err(failure), None, true),
        };
        loop {
            match step {
                Ok(Step::Whole) => break,
                Ok(Step::More) => self.throttle(stamps).await,
                Err(failure) => {
                    stamps.malformed = at.malformed;
                    return Err(why(failure, unsent.as_ref(), used && stamps.bytes_received == 0));
                }
            }
            step = std::future::poll_fn(|cx| self.poll_step(stream, &mut at, stamps, cx)).await;
        }
        if let Some(received) = stream.take_receipt() {
            let lag = self.io.time.nanos_since_received(received, stamps.last_byte);
            // Clocks are set now and then.
            stamps.read_lag = lag.filter(|lag| *lag <= stamps.last_byte.nanos_since(stamps.sent));
        }
        self.look_behind(stream, &mut at).await;
        stamps.bytes_received -= at.behind.len() as u64 + at.extra;
        stamps.extra_bytes = at.extra;
        ahead.came = std::mem::take(&mut at.behind);
        let reply = at.into_reply()?;
        Ok(Reply { keep_alive: reply.keep_alive && !refused, ..reply })
    }

    /// Has a share of the replies tell when they came.
    fn sample_receipt<L: Link>(&self, stream: &mut Stream<L>) {
        let n = self.replies.get();
        self.replies.set(n.wrapping_add(1));
        if n.is_multiple_of(LOOKED_AT) {
            stream.want_receipt();
        }
    }

    /// Sends a request before its exchange. What goes wrong shows in the exchange: it sends what this did not.
    pub async fn send_ahead<L: Link>(&self, (stream, ahead): (&mut Stream<L>, &mut PipelineState), request: &[u8]) {
        let sent = match stream.send_at_once(request) {
            Ok(n) if n == request.len() => true,
            Ok(n) => Box::pin(stream.send(&request[n..])).await.is_ok(),
            Err(_) => false,
        };
        if sent {
            ahead.sent.push_back(self.io.time.now());
        }
    }

    /// Asks the server to switch to another protocol. Returns its reply and the bytes after it, which are of that protocol.
    ///
    /// # Errors
    ///
    /// What failed, if there is no whole reply.
    pub async fn switch(&self, stream: &mut Stream, request: &[u8], wants: Wants) -> Result<(Reply, Vec<u8>), Failure> {
        let mut ahead = PipelineState::default();
        self.send_ahead((stream, &mut ahead), request).await;
        // The bytes after the reply are kept like those of a further reply.
        ahead.sent.push_back(self.io.time.now());
        let keep = ReplyCollector::new(wants, None, None);
        let request = (request, RequestKind::Ordinary);
        let reply = self.exchange((stream, &mut ahead), request, (false, keep), &mut Stamps::default()).await?;
        Ok((reply, ahead.came))
    }

    /// Takes in what came behind the reply before.
    fn take_what_came(
        &self,
        at: &mut Receiving,
        ahead: &mut PipelineState,
        stamps: &mut Stamps,
    ) -> Result<Step, Failure> {
        if ahead.came.is_empty() {
            return Ok(Step::More);
        }
        let bytes = std::mem::take(&mut ahead.came);
        self.stamp(bytes.len(), stamps);
        let step = at.take(&bytes, &mut self.last_head.borrow_mut());
        stamps.head_bytes = at.parser.head_bytes();
        step
    }

    /// Writes the request. What comes before it is written is read: a server that refuses a long body may answer first,
    /// and one that answers while it reads may wait for us.
    async fn send<L: Link>(
        &self,
        stream: &mut Stream<L>,
        request: &[u8],
        at: &mut Receiving,
        stamps: &mut Stamps,
    ) -> Written {
        let written = match stream.send_at_once(request) {
            Ok(n) => {
                stamps.bytes_sent = n as u64;
                if n == request.len() {
                    Written::Whole(Step::More)
                } else {
                    // Boxed: seldom needed, and every idle connection would hold the room for it.
                    Box::pin(self.send_rest(stream, request, at, stamps)).await
                }
            }
            Err(error) => Written::Failed(error),
        };
        stamps.sent = self.io.time.now();
        if stamps.first_byte != Tick::ZERO {
            stamps.sent = stamps.sent.min(stamps.first_byte);
        }
        written
    }

    /// Writes what is left of the request.
    async fn send_rest<L: Link>(
        &self,
        stream: &mut Stream<L>,
        request: &[u8],
        at: &mut Receiving,
        stamps: &mut Stamps,
    ) -> Written {
        let (mut step, mut turn) = (Step::More, Turn::default());
        loop {
            std::future::poll_fn(|cx| turn.poll_continue(&self.io.time, cx)).await;
            match std::future::poll_fn(|cx| self.poll_event(stream, request, (at, step), stamps, cx)).await {
                Event::Wrote(Ok(0)) => return Written::Whole(step),
                Event::Wrote(Ok(n)) => {
                    stamps.bytes_sent += n as u64;
                    turn.worked(&self.io.time, self.io.time.now());
                }
                Event::Wrote(Err(error)) => return Written::Failed(error),
                Event::Came(Ok(Step::Whole)) if at.refuses() => return Written::Refused,
                Event::Came(Ok(next)) => step = next,
                Event::Came(Err(failure)) => return Written::NoReply(failure),
            }
        }
    }

    /// Writes, or reads where nothing can be written. Writing tells 0 when nothing is left to be written or flushed.
    fn poll_event<L: Link>(
        &self,
        stream: &mut Stream<L>,
        request: &[u8],
        (at, step): (&mut Receiving, Step),
        stamps: &mut Stamps,
        cx: &mut Context<'_>,
    ) -> Poll<Event> {
        let rest = &request[stamps.bytes_sent as usize..];
        let rest = &rest[..rest.len().min(SEND_PIECE)];
        let wrote = if rest.is_empty() { stream.poll_flush(cx).map_ok(|()| 0) } else { stream.poll_send(rest, cx) };
        match (wrote, step) {
            (Poll::Ready(wrote), _) => Poll::Ready(Event::Wrote(wrote)),
            (Poll::Pending, Step::More) => self.poll_step(stream, at, stamps, cx).map(Event::Came),
            (Poll::Pending, Step::Whole) => Poll::Pending,
        }
    }

    /// Whether bytes that nobody asked for came along with the reply: how reads were cut must not decide it.
    async fn look_behind<L: Link>(&self, stream: &mut Stream<L>, at: &mut Receiving) {
        if at.more_may_come || at.unsolicited || at.is_left || !at.parser.head().is_some_and(|head| head.keep_alive) {
            return;
        }
        std::future::poll_fn(|cx| {
            let mut buffer = self.io.buffer.borrow_mut();
            for reads in 0.. {
                let Some(Ok(n @ 1..)) = stream.read_behind(&mut buffer[..HEAD_READ], cx) else { break };
                if !is_blank(&buffer[..n]) || reads == MOST_BLANK_READS {
                    at.unsolicited = true;
                    break;
                }
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Reads once and takes in what came.
    fn poll_step<L: Link>(
        &self,
        stream: &mut Stream<L>,
        at: &mut Receiving,
        stamps: &mut Stamps,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Step, Failure>> {
        // The first read of a reply is short, and for most replies the only one.
        if stamps.first_byte != Tick::ZERO {
            ready!(at.turn.poll_continue(&self.io.time, cx));
        }
        let mut buffer = self.io.buffer.borrow_mut();
        // A short rest is read with room for what may come behind it: that it was drained then shows at once.
        let discardable = if at.keep.is_none() { at.parser.discardable() } else { 0 };
        let rest = if discardable >= self.most_at_once(HEAD_READ) as u64 { discardable } else { 0 };
        let read = if rest > 0 {
            let certain = at.parser.head().is_some_and(|h| matches!(h.framing, Framing::Length(_)));
            let most = self.most_at_once(BUFFER);
            stream.poll_discard(DiscardableBody { bytes: rest, certain }, &mut buffer[..most], cx)
        } else {
            let most = if at.keep.is_some() { BODY_READ } else { HEAD_READ };
            let most = self.most_at_once(most);
            stream.poll_read(&mut buffer[..most], cx)
        };
        let n = match read {
            Poll::Pending => {
                at.turn.wait();
                return Poll::Pending;
            }
            Poll::Ready(Ok(n)) => n,
            Poll::Ready(Err(error)) => {
                at.malformed = error::tls_cause(&error);
                return Poll::Ready(Err(error::of_stream(&error)));
            }
        };
        self.stamp(n, stamps);
        let step = if rest > 0 && n > 0 {
            at.parser.skip(n as u64);
            Ok(if at.parser.done() { Step::Whole } else { Step::More })
        } else {
            let step = at.take(&buffer[..n], &mut self.last_head.borrow_mut());
            stamps.head_bytes = at.parser.head_bytes();
            // A body that ends with the connection is complete only after a close_notify of TLS (RFC 9112 section 9.8).
            step.and_then(|step| if n == 0 && stream.is_truncated() { Err(Failure::ClosedEarly) } else { Ok(step) })
        };
        if matches!(step, Ok(Step::More)) {
            at.turn.worked(&self.io.time, stamps.last_byte);
        }
        Poll::Ready(step)
    }

    fn stamp(&self, n: usize, stamps: &mut Stamps) {
        let now = self.io.time.now();
        if n > 0 && stamps.first_byte == Tick::ZERO {
            stamps.first_byte = now;
        }
        stamps.last_byte = now;
        stamps.bytes_received += n as u64;
    }

    /// A slow reader takes no more at once than a twentieth of a second's worth.
    fn most_at_once(&self, most: usize) -> usize {
        self.receive_rate.map_or(most, |rate| most.min((rate / 20).max(1) as usize))
    }

    /// A slow reader waits until the bytes it has are due.
    async fn throttle(&self, stamps: &Stamps) {
        if let Some(rate) = self.receive_rate {
            let due = Duration::from_secs_f64(stamps.bytes_received as f64 / rate as f64);
            self.io.time.sleep_until(stamps.first_byte + due).await;
        }
    }
}

/// What an exchange failed of: an error in sending tells more than what came of reading after it. The end of a used
/// connection before any byte of a reply (`stale`) is a kind of its own.
fn why(failure: Failure, unsent: Option<&io::Error>, stale: bool) -> Failure {
    if failure == Failure::Tls {
        return failure;
    }
    match unsent.map_or(failure, error::of_stream) {
        Failure::Reset | Failure::ClosedEarly if stale => Failure::Stale,
        other => other,
    }
}

impl Receiving {
    fn new(asked: RequestKind, keep: Option<Box<ReplyCollector>>) -> Self {
        let (stash, behind) = (Vec::new(), Vec::new());
        let parser = Parser::new(asked);
        Self {
            asked,
            parser,
            stash,
            keep,
            more_may_come: false,
            behind,
            extra: 0,
            unsolicited: false,
            malformed: None,
            is_left: false,
            turn: Turn::default(),
        }
    }

    /// The reply says that the request need not be sent to its end.
    fn refuses(&self) -> bool {
        self.parser.head().is_some_and(|head| head.status >= 400 || !head.keep_alive)
    }

    fn into_reply(self) -> Result<Reply, Failure> {
        let Some(head) = self.parser.head() else { return Err(Failure::Protocol) };
        let (body_bytes, head_bytes) = (self.parser.body_bytes(), self.parser.head_bytes());
        let announced_bytes = match head.framing {
            Framing::Length(bytes) if !self.is_left => Some(bytes),
            _ => None,
        };
        let kept = self.keep.map(|keep| Box::new((*keep).finish(head)));
        let (status, unsolicited) = (head.status, self.unsolicited);
        let keep_alive = head.keep_alive && !self.is_left;
        Ok(Reply { status, keep_alive, unsolicited, body_bytes, head_bytes, announced_bytes, kept })
    }

    /// Takes in bytes that were read; none is the end.
    fn take(&mut self, bytes: &[u8], last: &mut LastHead) -> Result<Step, Failure> {
        if let Some(keep) = self.keep.as_mut().filter(|_| self.parser.head().is_none()) {
            keep.first(bytes);
        }
        if bytes.is_empty() {
            return match self.parser.close() {
                Ok(()) => Ok(Step::Whole),
                Err(NoReply::ClosedInBody | NoReply::ClosedInHead) => Err(Failure::ClosedEarly),
                Err(NoReply::Malformed(cause)) => Err(self.no_reply(cause)),
            };
        }
        if self.stash.is_empty() {
            let used = if self.parser.head().is_none() { self.feed_first(bytes, last)? } else { self.feed(bytes)? };
            return self.keep_rest(&bytes[used..]);
        }
        let mut whole = std::mem::take(&mut self.stash);
        whole.extend_from_slice(bytes);
        let used = self.feed(&whole)?;
        self.keep_rest(&whole[used..])
    }

    /// The first bytes of a reply.
    fn feed_first(&mut self, bytes: &[u8], last: &mut LastHead) -> Result<usize, Failure> {
        // Whoever looks at header fields must see them.
        if self.keep.is_some() {
            return self.feed(bytes);
        }
        if let Some(head) = last.recall(self.asked, bytes) {
            let used = self.parser.recall(head);
            return Ok(used + self.feed(&bytes[used..])?);
        }
        let used = self.feed(bytes)?;
        last.learn(self.asked, bytes, &self.parser);
        Ok(used)
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        let fed = match &mut self.keep {
            Some(keep) => self.parser.feed(bytes, &mut **keep),
            None => self.parser.feed(bytes, &mut ()),
        };
        fed.map_err(|error| match error {
            NoReply::Malformed(cause) => self.no_reply(cause),
            NoReply::ClosedInBody | NoReply::ClosedInHead => Failure::ClosedEarly,
        })
    }

    /// The cause of a protocol error.
    fn no_reply(&mut self, cause: Malformed) -> Failure {
        self.malformed = Some(cause);
        Failure::Protocol
    }

    fn keep_rest(&mut self, rest: &[u8]) -> Result<Step, Failure> {
        match (self.parser.done(), rest.is_empty()) {
            (true, true) => Ok(Step::Whole),
            (true, false) if self.more_may_come => {
                self.behind.extend_from_slice(rest);
                Ok(Step::Whole)
            }
            // Nobody asked for them; blank lines are passed over (RFC 9112 section 2.2).
            (true, false) => {
                self.extra = rest.len() as u64;
                self.unsolicited = !is_blank(rest);
                Ok(Step::Whole)
            }
            (false, _) if self.keep.as_ref().is_some_and(|keep| keep.is_over()) => {
                self.is_left = true;
                Ok(Step::Whole)
            }
            (false, _) if rest.len() > MAX_HEAD => Err(self.no_reply(Malformed::HeadTooLarge)),
            (false, _) => {
                self.stash.extend_from_slice(rest);
                Ok(Step::More)
            }
        }
    }
}
