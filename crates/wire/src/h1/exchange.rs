//! Exchanges one request for its reply on an open connection.
//!
//! Reads go into the worker's read buffer. A head that arrives in pieces is kept with the
//! connection until it is complete. A body that is not needed is dropped in the kernel. An
//! ordinary reply allocates nothing.

use super::parse::{MalformedReply, NoReply, ReplyParser};
use crate::collect::ReplyCollector;
use crate::contract::{Framing, MAX_HEAD, ReplyHead};
use crate::link::Link;
use crate::request::{RequestBytes, RequestKind};
use crate::stream::{ByteStream, DiscardableBody, MAX_BLANK_READS, is_blank};
use crate::turn::Turn;
use crate::worker_io::{BUFFER, WorkerIo};
use crate::{Reply, Stamps, Timer, WantedDetails, error};
use brunt_model::{Failure, Tick};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Bytes per read while a head is awaited: enough for a head and a small page. The rest of a long
/// body is not copied.
const HEAD_READ: usize = 8 * 1024;
/// Bytes per read if the body is needed.
const BODY_READ: usize = 64 * 1024;

/// Bytes of a long request that are written at once, before other tasks may run.
const SEND_PIECE: usize = 256 * 1024;

/// On connections with kernel timestamps, the read lag of every 8th reply is measured.
const READ_LAG_SAMPLING: u32 = 8;

/// The state that the exchanges of one worker share.
pub(crate) struct H1Exchanges<T> {
    pub io: WorkerIo<T>,
    last_head: RefCell<LastHead>,
    receive_rate: Option<u64>,
    /// Replies whose read lag could have been measured.
    replies: Cell<u32>,
}

/// The last head that was parsed. Replies of one server mostly begin with the same bytes until the
/// second in the Date field changes. Comparing is ten times cheaper than parsing.
#[derive(Default)]
struct LastHead {
    kind: RequestKind,
    bytes: Vec<u8>,
    head: Option<ReplyHead>,
}

impl LastHead {
    /// Longer heads are not remembered.
    const MAX_LENGTH: u64 = 2048;

    /// Returns the parsed head if `bytes` begin with the remembered one.
    fn matching_head(&self, kind: RequestKind, bytes: &[u8]) -> Option<ReplyHead> {
        self.head.filter(|_| self.kind == kind && bytes.starts_with(&self.bytes))
    }

    /// Remembers the head at the start of `bytes`, unless interim heads or blank lines precede it.
    fn remember(&mut self, kind: RequestKind, bytes: &[u8], parser: &ReplyParser) {
        let Some(head) = parser.head() else { return };
        if head.length <= Self::MAX_LENGTH && parser.interim() == 0 && bytes.starts_with(b"HTTP") {
            self.kind = kind;
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..head.length as usize]);
            self.head = Some(head);
        }
    }
}

/// A request as the bytes of HTTP/1.
pub(crate) struct OutgoingRequest<'r> {
    pub bytes: RequestBytes<'r>,
    pub kind: RequestKind,
    /// True if the connection carried a request before. Its end before any reply then means that
    /// the server closed an idle connection.
    pub is_reused: bool,
}

/// Receives one reply.
struct ReplyReceiver {
    kind: RequestKind,
    parser: ReplyParser,
    /// The beginning of a head that arrives in pieces.
    partial_head: Vec<u8>,
    collector: Option<Box<ReplyCollector>>,
    /// True if further requests were sent. Bytes after a whole reply then belong to the next reply.
    expects_more: bool,
    /// Bytes after the whole reply that belong to the next one.
    next_reply: Vec<u8>,
    /// Number of bytes after the reply that belong to none, including blank lines.
    extra: u64,
    /// True if these bytes were more than blank lines.
    is_unsolicited: bool,
    /// Why the received bytes are not a valid reply.
    malformed: Option<MalformedReply>,
    /// True if the rest of the reply is not needed, though more may arrive.
    is_abandoned: bool,
    turn: Turn,
}

/// Requests of one connection that were sent before their exchange, and bytes that were read ahead.
#[derive(Default)]
pub(crate) struct PipelineState {
    /// When each request was sent, the earliest first.
    sent: VecDeque<Tick>,
    /// Bytes after the last whole reply, which begin the next one.
    unread: Vec<u8>,
}

impl PipelineState {
    /// True if requests were sent whose replies were not read yet.
    pub fn is_owed(&self) -> bool {
        !self.sent.is_empty()
    }
}

/// Progress of a reply after a read.
#[derive(Debug, Clone, Copy)]
enum Progress {
    More,
    Whole,
}

/// Result of writing a request.
enum WriteResult {
    /// All of it was written. Contains the progress of the reply that arrived meanwhile.
    Whole(Progress),
    /// Writing failed; a reply may still be readable.
    Failed(io::Error),
    /// The server refused the request before it was fully written.
    Refused,
    /// The bytes received meanwhile are not a valid reply.
    NoReply(Failure),
}

/// The first event while a request is written.
enum SendEvent {
    Wrote(io::Result<usize>),
    Received(Result<Progress, Failure>),
}

impl<T: Timer> H1Exchanges<T> {
    /// Creates the exchanges of a worker. With `receive_rate`, they read at most that number
    /// of bytes per second.
    pub fn new(io: WorkerIo<T>, receive_rate: Option<u64>) -> Self {
        Self { io, last_head: RefCell::default(), receive_rate, replies: Cell::new(0) }
    }

    /// Sends `request` and reads the whole reply.
    pub async fn exchange<L: Link>(
        &self,
        stream: &mut ByteStream<L>,
        pipeline: &mut PipelineState,
        request: OutgoingRequest<'_>,
        collector: Option<Box<ReplyCollector>>,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let mut receiver = ReplyReceiver::new(request.kind, collector);
        // With pipelining, the request may have been sent together with an earlier one.
        let sent_ahead = pipeline.sent.pop_front();
        if stream.has_timestamps() {
            self.sample_read_lag(stream);
        }
        receiver.expects_more = !pipeline.sent.is_empty();
        let written = match sent_ahead {
            Some(sent) => {
                stamps.sent = sent;
                stamps.bytes_sent = request.bytes.len() as u64;
                WriteResult::Whole(Progress::More)
            }
            None => self.send(stream, request.bytes, &mut receiver, stamps).await,
        };
        // A server that refuses a body closes before it has read it. Its reply
        // may still be readable.
        let (mut progress, write_error, refused) = match written {
            WriteResult::Whole(Progress::More) => {
                (self.feed_read_ahead(&mut receiver, pipeline, stamps), None, false)
            }
            WriteResult::Whole(Progress::Whole) => (Ok(Progress::Whole), None, false),
            WriteResult::Failed(error) => (Ok(Progress::More), Some(error), true),
            // The rest of the request was not sent: the connection cannot be used again.
            WriteResult::Refused => (Ok(Progress::Whole), None, true),
            WriteResult::NoReply(failure) => (Err(failure), None, true),
        };
        loop {
            match progress {
                Ok(Progress::Whole) => break,
                Ok(Progress::More) => self.throttle(stamps).await,
                Err(failure) => {
                    stamps.malformed = receiver.malformed;
                    let is_stale = request.is_reused && stamps.bytes_received == 0;
                    return Err(exchange_failure(failure, write_error.as_ref(), is_stale));
                }
            }
            progress =
                std::future::poll_fn(|cx| self.poll_step(stream, &mut receiver, stamps, cx)).await;
        }
        if let Some(received) = stream.take_timestamp() {
            let lag = self.io.time.nanos_since_received(received, stamps.last_byte);
            // The kernel's wall clock may be adjusted meanwhile, which makes the lag too long.
            stamps.read_lag = lag.filter(|lag| *lag <= stamps.last_byte.nanos_since(stamps.sent));
        }
        self.detect_unsolicited_bytes(stream, &mut receiver).await;
        // Bytes of the next reply are counted when that reply is read.
        stamps.bytes_received -= receiver.next_reply.len() as u64 + receiver.extra;
        stamps.extra_bytes = receiver.extra;
        pipeline.unread = std::mem::take(&mut receiver.next_reply);
        let reply = receiver.into_reply()?;
        Ok(Reply { keep_alive: reply.keep_alive && !refused, ..reply })
    }

    /// Requests a kernel timestamp for a share of the replies.
    fn sample_read_lag<L: Link>(&self, stream: &mut ByteStream<L>) {
        let n = self.replies.get();
        self.replies.set(n.wrapping_add(1));
        if n.is_multiple_of(READ_LAG_SAMPLING) {
            stream.request_timestamp();
        }
    }

    /// Sends a request before its exchange. If this fails, the exchange sends it
    /// again and reports errors.
    pub async fn send_ahead<L: Link>(
        &self,
        stream: &mut ByteStream<L>,
        pipeline: &mut PipelineState,
        request: RequestBytes<'_>,
    ) {
        let Ok(mut sent) = stream.send_at_once(request.rest(0)) else { return };
        // A part of a request must be completed, or the server would wait for its rest.
        while sent < request.len() {
            let rest = request.rest(sent);
            if Box::pin(stream.send(rest)).await.is_err() {
                return;
            }
            sent += rest.len();
        }
        pipeline.sent.push_back(self.io.time.now());
    }

    /// Asks the server to switch to another protocol. Returns its reply and the bytes after it,
    /// which belong to that protocol.
    pub async fn switch(
        &self,
        stream: &mut ByteStream,
        request: &[u8],
        wants: WantedDetails,
    ) -> Result<(Reply, Vec<u8>), Failure> {
        let mut pipeline = PipelineState::default();
        let request = RequestBytes::from(request);
        self.send_ahead(stream, &mut pipeline, request).await;
        // A second entry makes the exchange keep the bytes after the reply, like those
        // of a further reply.
        pipeline.sent.push_back(self.io.time.now());
        let collector = ReplyCollector::new(wants, None, None);
        let request =
            OutgoingRequest { bytes: request, kind: RequestKind::Ordinary, is_reused: false };
        let reply = self
            .exchange(stream, &mut pipeline, request, collector, &mut Stamps::default())
            .await?;
        Ok((reply, pipeline.unread))
    }

    /// Passes the bytes that were read with the previous reply to the receiver.
    fn feed_read_ahead(
        &self,
        receiver: &mut ReplyReceiver,
        pipeline: &mut PipelineState,
        stamps: &mut Stamps,
    ) -> Result<Progress, Failure> {
        if pipeline.unread.is_empty() {
            return Ok(Progress::More);
        }
        let bytes = std::mem::take(&mut pipeline.unread);
        self.stamp(bytes.len(), stamps);
        let progress = receiver.push(&bytes, &mut self.last_head.borrow_mut());
        stamps.head_bytes = receiver.parser.head_bytes();
        progress
    }

    /// Writes the request. Bytes that arrive meanwhile are read: a server that refuses a long body
    /// may answer first, and one that answers while it reads may wait until its answer is read.
    async fn send<L: Link>(
        &self,
        stream: &mut ByteStream<L>,
        request: RequestBytes<'_>,
        receiver: &mut ReplyReceiver,
        stamps: &mut Stamps,
    ) -> WriteResult {
        let written = match stream.send_at_once(request.rest(0)) {
            Ok(n) => {
                stamps.bytes_sent = n as u64;
                if n == request.len() {
                    WriteResult::Whole(Progress::More)
                } else {
                    // Boxed because it is rarely needed; inline it would
                    // enlarge every idle connection.
                    Box::pin(self.send_rest(stream, request, receiver, stamps)).await
                }
            }
            Err(error) => WriteResult::Failed(error),
        };
        stamps.sent = self.io.time.now();
        if stamps.first_byte != Tick::ZERO {
            // A server may answer before it has read the whole request. No reply
            // starts before its request.
            stamps.sent = stamps.sent.min(stamps.first_byte);
        }
        written
    }

    /// Writes the rest of the request.
    async fn send_rest<L: Link>(
        &self,
        stream: &mut ByteStream<L>,
        request: RequestBytes<'_>,
        receiver: &mut ReplyReceiver,
        stamps: &mut Stamps,
    ) -> WriteResult {
        let mut progress = Progress::More;
        let mut turn = Turn::default();
        loop {
            std::future::poll_fn(|cx| turn.poll_continue(&self.io.time, cx)).await;
            let event = std::future::poll_fn(|cx| {
                self.poll_event(stream, request, receiver, progress, stamps, cx)
            })
            .await;
            match event {
                SendEvent::Wrote(Ok(0)) => return WriteResult::Whole(progress),
                SendEvent::Wrote(Ok(n)) => {
                    stamps.bytes_sent += n as u64;
                    turn.worked(&self.io.time, self.io.time.now());
                }
                SendEvent::Wrote(Err(error)) => return WriteResult::Failed(error),
                SendEvent::Received(Ok(Progress::Whole)) if receiver.refuses_request() => {
                    return WriteResult::Refused;
                }
                SendEvent::Received(Ok(next)) => progress = next,
                SendEvent::Received(Err(failure)) => return WriteResult::NoReply(failure),
            }
        }
    }

    /// Writes, or reads if nothing can be written. `Wrote(0)` means that nothing remains to
    /// be written or flushed.
    fn poll_event<L: Link>(
        &self,
        stream: &mut ByteStream<L>,
        request: RequestBytes<'_>,
        receiver: &mut ReplyReceiver,
        progress: Progress,
        stamps: &mut Stamps,
        cx: &mut Context<'_>,
    ) -> Poll<SendEvent> {
        let rest = request.rest(stamps.bytes_sent as usize);
        let rest = &rest[..rest.len().min(SEND_PIECE)];
        let wrote = if rest.is_empty() {
            stream.poll_flush(cx).map_ok(|()| 0)
        } else {
            stream.poll_send(rest, cx)
        };
        match (wrote, progress) {
            (Poll::Ready(wrote), _) => Poll::Ready(SendEvent::Wrote(wrote)),
            (Poll::Pending, Progress::More) => {
                self.poll_step(stream, receiver, stamps, cx).map(SendEvent::Received)
            }
            // The reply is complete, but the rest of the request must still leave.
            (Poll::Pending, Progress::Whole) => Poll::Pending,
        }
    }

    /// Checks whether unsolicited bytes arrived with the reply. It reads on because the sizes of
    /// earlier reads must not decide this.
    async fn detect_unsolicited_bytes<L: Link>(
        &self,
        stream: &mut ByteStream<L>,
        receiver: &mut ReplyReceiver,
    ) {
        let is_decided = receiver.expects_more || receiver.is_unsolicited || receiver.is_abandoned;
        if is_decided || !receiver.parser.head().is_some_and(|head| head.keep_alive) {
            return;
        }
        std::future::poll_fn(|cx| {
            let mut buffer = self.io.buffer.borrow_mut();
            for reads in 0.. {
                let Some(Ok(n @ 1..)) = stream.read_remaining(&mut buffer[..HEAD_READ], cx) else {
                    break;
                };
                if !is_blank(&buffer[..n]) || reads == MAX_BLANK_READS {
                    receiver.is_unsolicited = true;
                    break;
                }
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Reads once and parses the bytes.
    fn poll_step<L: Link>(
        &self,
        stream: &mut ByteStream<L>,
        receiver: &mut ReplyReceiver,
        stamps: &mut Stamps,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Progress, Failure>> {
        // The first read of a reply is short, and the only one for most replies: it needs no
        // check of the turn.
        if stamps.first_byte != Tick::ZERO {
            ready!(receiver.turn.poll_continue(&self.io.time, cx));
        }
        let mut buffer = self.io.buffer.borrow_mut();
        // A short rest is read into a larger buffer, so that the read also shows
        // whether bytes follow it.
        let discardable =
            if receiver.collector.is_none() { receiver.parser.discardable() } else { 0 };
        let rest = if discardable >= self.read_limit(HEAD_READ) as u64 { discardable } else { 0 };
        let read = if rest > 0 {
            let certain =
                receiver.parser.head().is_some_and(|h| matches!(h.framing, Framing::Length(_)));
            let limit = self.read_limit(BUFFER);
            stream.poll_discard(DiscardableBody { bytes: rest, certain }, &mut buffer[..limit], cx)
        } else {
            let size = if receiver.collector.is_some() { BODY_READ } else { HEAD_READ };
            let limit = self.read_limit(size);
            stream.poll_read(&mut buffer[..limit], cx)
        };
        let n = match read {
            Poll::Pending => {
                receiver.turn.wait();
                return Poll::Pending;
            }
            Poll::Ready(Ok(n)) => n,
            Poll::Ready(Err(error)) => {
                receiver.malformed = error::tls_cause(&error);
                return Poll::Ready(Err(error::stream_failure(&error)));
            }
        };
        self.stamp(n, stamps);
        let progress = if rest > 0 && n > 0 {
            receiver.parser.skip(n as u64);
            Ok(if receiver.parser.done() { Progress::Whole } else { Progress::More })
        } else {
            let progress = receiver.push(&buffer[..n], &mut self.last_head.borrow_mut());
            stamps.head_bytes = receiver.parser.head_bytes();
            // A body that ends with the connection is complete only after a close_notify of TLS
            // (RFC 9112 section 9.8).
            progress.and_then(|progress| {
                if n == 0 && stream.is_truncated() {
                    Err(Failure::ClosedEarly)
                } else {
                    Ok(progress)
                }
            })
        };
        if matches!(progress, Ok(Progress::More)) {
            receiver.turn.worked(&self.io.time, stamps.last_byte);
        }
        Poll::Ready(progress)
    }

    fn stamp(&self, n: usize, stamps: &mut Stamps) {
        let now = self.io.time.now();
        if n > 0 && stamps.first_byte == Tick::ZERO {
            stamps.first_byte = now;
        }
        stamps.last_byte = now;
        stamps.bytes_received += n as u64;
    }

    /// Limits a read of a slow reader to the bytes of 50 ms.
    fn read_limit(&self, size: usize) -> usize {
        self.receive_rate.map_or(size, |rate| size.min((rate / 20).max(1) as usize))
    }

    /// Delays a slow reader until the bytes that it has read are due.
    async fn throttle(&self, stamps: &Stamps) {
        if let Some(rate) = self.receive_rate {
            let due = Duration::from_secs_f64(stamps.bytes_received as f64 / rate as f64);
            self.io.time.sleep_until(stamps.first_byte + due).await;
        }
    }
}

/// Returns the failure of an exchange. An error while sending is more specific than one while
/// reading after it. The end of a reused connection before any byte of a reply (`is_stale`)
/// is a separate failure.
fn exchange_failure(failure: Failure, write_error: Option<&io::Error>, is_stale: bool) -> Failure {
    // A TLS alert that was received explains a failed write, and not the other way round.
    if failure == Failure::Tls {
        return failure;
    }
    match write_error.map_or(failure, error::stream_failure) {
        Failure::Reset | Failure::ClosedEarly if is_stale => Failure::Stale,
        other => other,
    }
}

impl ReplyReceiver {
    fn new(kind: RequestKind, collector: Option<Box<ReplyCollector>>) -> Self {
        Self {
            kind,
            parser: ReplyParser::new(kind),
            partial_head: Vec::new(),
            collector,
            expects_more: false,
            next_reply: Vec::new(),
            extra: 0,
            is_unsolicited: false,
            malformed: None,
            is_abandoned: false,
            turn: Turn::default(),
        }
    }

    /// True if the reply shows that the server does not need the rest of the request.
    fn refuses_request(&self) -> bool {
        self.parser.head().is_some_and(|head| head.status >= 400 || !head.keep_alive)
    }

    fn into_reply(self) -> Result<Reply, Failure> {
        let Some(head) = self.parser.head() else { return Err(Failure::Protocol) };
        let announced_bytes = match head.framing {
            Framing::Length(bytes) if !self.is_abandoned => Some(bytes),
            _ => None,
        };
        Ok(Reply {
            status: head.status,
            keep_alive: head.keep_alive && !self.is_abandoned,
            unsolicited: self.is_unsolicited,
            is_refusal: false,
            body_bytes: self.parser.body_bytes(),
            head_bytes: self.parser.head_bytes(),
            announced_bytes,
            details: self.collector.map(|collector| Box::new((*collector).finish(head))),
            call_error: None,
        })
    }

    /// Parses bytes that were read. An empty slice is the end of the connection.
    fn push(&mut self, bytes: &[u8], last: &mut LastHead) -> Result<Progress, Failure> {
        if let Some(collector) = self.collector.as_mut().filter(|_| self.parser.head().is_none()) {
            collector.push_head_bytes(bytes);
        }
        if bytes.is_empty() {
            return match self.parser.close() {
                Ok(()) => Ok(Progress::Whole),
                Err(NoReply::ClosedInBody | NoReply::ClosedInHead) => Err(Failure::ClosedEarly),
                Err(NoReply::Malformed(cause)) => Err(self.set_malformed(cause)),
            };
        }
        if self.partial_head.is_empty() {
            let used = if self.parser.head().is_none() {
                self.feed_first(bytes, last)?
            } else {
                self.feed(bytes)?
            };
            return self.keep_rest(&bytes[used..]);
        }
        let mut whole = std::mem::take(&mut self.partial_head);
        whole.extend_from_slice(bytes);
        let used = self.feed(&whole)?;
        self.keep_rest(&whole[used..])
    }

    /// Parses the first bytes of a reply. A head that equals the last one is not parsed again.
    fn feed_first(&mut self, bytes: &[u8], last: &mut LastHead) -> Result<usize, Failure> {
        // A collector must see the header fields.
        if self.collector.is_some() {
            return self.feed(bytes);
        }
        if let Some(head) = last.matching_head(self.kind, bytes) {
            let used = self.parser.accept_known_head(head);
            return Ok(used + self.feed(&bytes[used..])?);
        }
        let used = self.feed(bytes)?;
        last.remember(self.kind, bytes, &self.parser);
        Ok(used)
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        let result = match &mut self.collector {
            Some(collector) => self.parser.feed(bytes, &mut **collector),
            None => self.parser.feed(bytes, &mut ()),
        };
        result.map_err(|error| match error {
            NoReply::Malformed(cause) => self.set_malformed(cause),
            NoReply::ClosedInBody | NoReply::ClosedInHead => Failure::ClosedEarly,
        })
    }

    /// Stores the cause of a protocol error, and returns its failure.
    fn set_malformed(&mut self, cause: MalformedReply) -> Failure {
        self.malformed = Some(cause);
        Failure::Protocol
    }

    /// Keeps the bytes that the parser did not consume, and returns the progress of the reply.
    fn keep_rest(&mut self, rest: &[u8]) -> Result<Progress, Failure> {
        match (self.parser.done(), rest.is_empty()) {
            (true, true) => Ok(Progress::Whole),
            (true, false) if self.expects_more => {
                self.next_reply.extend_from_slice(rest);
                Ok(Progress::Whole)
            }
            // Unsolicited bytes; blank lines are ignored (RFC 9112 section 2.2).
            (true, false) => {
                self.extra = rest.len() as u64;
                self.is_unsolicited = !is_blank(rest);
                Ok(Progress::Whole)
            }
            (false, _) if self.collector.as_ref().is_some_and(|collector| collector.is_over()) => {
                self.is_abandoned = true;
                Ok(Progress::Whole)
            }
            (false, _) if rest.len() > MAX_HEAD => {
                Err(self.set_malformed(MalformedReply::HeadTooLarge))
            }
            (false, _) => {
                self.partial_head.extend_from_slice(rest);
                Ok(Progress::More)
            }
        }
    }
}
