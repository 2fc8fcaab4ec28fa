//! One HTTP/2 connection over the crate `h2`: from bytes to requests, and from replies to bytes.
//!
//! `h2` checks the client against RFC 9113, compresses fields and controls the flow. This module keeps the table of streams, notes
//! when a reply has left, and writes the raw bytes of failures and hostile rows. No I/O and no clock.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::server::{Builder, Connection, Handshake, SendResponse};
use h2::{Reason, RecvStream};

use super::frame::{self, Code, LARGEST_FRAME, PREFACE, flag, kind};
use super::hostile::Stage;
use super::hpack::block;
use super::incoming::Incoming;
use super::options::Http2;
use super::request::{RequestHead, read};
use super::stream::Stream;
use super::transport::{MOST_UNSENT, Transport};
use crate::args::Options;
use crate::hostile::{Hostile, MOST_FLOOD, Row, Say, When};
use crate::outbox::Settled;
use crate::request::Request;

/// The longest list of header fields, in bytes.
const LONGEST_LIST: u32 = 64 * 1024;

/// The most bytes of a body that `--echo` keeps.
const MOST_KEPT: usize = 64 << 20;

/// The window of a connection before any other is known.
const USUAL_WINDOW: u32 = 65_535;

/// The HPACK table before any other size is known.
const USUAL_TABLE: usize = 4096;

/// More than any client reaches: a measured client must not run into a limit against attacks.
const NO_LIMIT: usize = 1 << 30;

/// What happened on HTTP/2 connections besides requests and replies.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Streams beyond `SETTINGS_MAX_CONCURRENT_STREAMS`.
    pub refused: u64,
    /// Streams that the client reset.
    pub cancelled: u64,
    /// Streams above the last one of a GOAWAY.
    pub after_goaway: u64,
    /// GOAWAY sent.
    pub goaways: u64,
    /// Requests and frames that break a rule.
    pub malformed: u64,
    /// What was wrong first.
    pub first_error: Option<String>,
    /// Streams that became `WebSocket`s.
    pub websockets: u64,
    /// What was wrong first on one of them.
    pub websocket_error: Option<String>,
}

/// The connection as the crate `h2` knows it.
#[derive(Debug)]
enum Engine {
    Handshake(Pin<Box<Handshake<Transport, Bytes>>>),
    Open(Box<Connection<Transport, Bytes>>),
    Closed,
}

/// See the module.
#[derive(Debug)]
pub struct Session {
    /// Requests that are complete and not yet taken.
    pub done: Vec<(u32, Request)>,
    /// What happened since it was last taken.
    pub counts: Counts,
    /// The greatest stream that is processed.
    pub last: u32,
    pub(super) echo: bool,
    pub(super) transport: Transport,
    engine: Engine,
    incoming: Incoming,
    pub(super) streams: VecDeque<Stream>,
    /// Streams with an unfinished request body.
    uploads: Vec<u32>,
    /// Bodies of streams that we ended before the client did.
    pub(super) draining: Vec<RecvStream>,
    /// Streams above the last one of a GOAWAY. `h2` resets a stream when its handles are dropped.
    excluded: Vec<Stream>,
    /// Streams that we reset.
    pub(super) resets: Vec<u32>,
    /// Streams that have ended, and on which DATA follows all the same.
    pub(super) extras: Vec<u32>,
    /// Stream that ends with an unfinished header block.
    pub(super) ending: Option<u32>,
    /// The request with which the connection began as HTTP/1.1.
    adopted: Option<Request>,
    /// Whether `h2` still has to acknowledge the settings of that request, which needs no acknowledgement.
    pub(super) hides_acknowledgement: bool,
    highest: u32,
    opened: u64,
    most_requests: u64,
    window_then: Option<u32>,
    hostile: Option<&'static Row>,
    /// How many times the hostile row was sent.
    rounds: u32,
    /// The stream on which a row without end goes on.
    flooded: Option<u32>,
}

impl Session {
    /// Returns a connection that waits for the preface.
    pub fn new(options: &Options) -> Self {
        let transport = Transport::default();
        let hostile = options.hostile.and_then(Hostile::row).filter(|row| matches!(row.say, Say::Http2(_)));
        let handshake = builder(&options.http2).handshake(transport.clone());
        let mut session = Self {
            done: Vec::new(),
            counts: Counts::default(),
            last: u32::MAX,
            echo: options.echo,
            transport,
            engine: Engine::Handshake(Box::pin(handshake)),
            incoming: Incoming::new(hostile.is_some()),
            streams: VecDeque::new(),
            uploads: Vec::new(),
            draining: Vec::new(),
            excluded: Vec::new(),
            resets: Vec::new(),
            extras: Vec::new(),
            ending: None,
            adopted: None,
            hides_acknowledgement: false,
            highest: 0,
            opened: 0,
            most_requests: options.keepalive_requests.unwrap_or(u64::MAX),
            window_then: options.http2.window_then,
            hostile,
            rounds: 0,
            flooded: None,
        };
        if session.greets_otherwise() {
            session.perform(0, None);
        }
        session
    }

    /// Takes the request with which an HTTP/1.1 connection became this one: it is that of stream 1.
    ///
    /// The crate `h2` does not know `Upgrade: h2c`. It is given the bytes of a client that knows HTTP/2 beforehand, and sends the
    /// same request on stream 1.
    pub fn adopt(&mut self, request: Request, settings: &[u8]) {
        let mut bytes = PREFACE.to_vec();
        frame::put(&mut bytes, kind::SETTINGS, 0, 0, settings);
        let fields = block(&[(":method", "GET"), (":scheme", "http"), (":path", "/")]);
        frame::put_headers(&mut bytes, 1, flag::END_STREAM, &fields, LARGEST_FRAME);
        self.adopted = Some(request);
        self.hides_acknowledgement = true;
        self.incoming.hide_preface();
        self.transport.received().extend_from_slice(&bytes);
        self.poll();
    }

    /// Whether a hostile row stands in place of our SETTINGS.
    pub(super) fn greets_otherwise(&self) -> bool {
        self.hostile.is_some_and(|row| row.when == When::Greeting)
    }

    /// Whether a hostile row stands in place of replies.
    pub fn is_hostile(&self) -> bool {
        self.hostile.is_some_and(|row| row.when != When::Greeting)
    }

    /// Sends the hostile row; true if the connection is closed after it.
    pub fn perform(&mut self, id: u32, settled: Option<Settled>) -> bool {
        let Some(row) = self.hostile else { return false };
        let Say::Http2(say) = row.say else { return false };
        let round = self.rounds;
        let mut replied = false;
        let mut closing = false;
        self.transport.put_raw(|out| {
            let mut stage = Stage { out, stream: id, round, replied: false, closing: false };
            say(&mut stage);
            replied = stage.replied;
            closing = stage.closing;
        });
        self.rounds += 1;
        if row.when == When::Endless {
            self.flooded = Some(id);
        }
        if replied {
            if let Some(settled) = settled {
                self.transport.out_mut().mark(settled);
            }
            self.forget_answered(id);
        }
        self.leave(id);
        closing
    }

    /// Ends a stream for `h2`, which does not know that it has its reply.
    fn forget_answered(&mut self, id: u32) {
        if let Some(mut stream) = self.remove(id) {
            // A stream that the client has reset takes no reply.
            let _ = stream.respond.send_response(http::Response::new(()), true);
            self.draining.extend(stream.body);
        }
    }

    /// Takes bytes of the client.
    pub fn receive(&mut self, bytes: &[u8]) {
        let passed = self.incoming.pass(bytes, &mut self.transport.received());
        if !passed {
            return self.close_with(Code::ProtocolError, "no connection preface");
        }
        self.poll();
        if self.read_bodies() {
            // Windows that were granted are announced with the next poll.
            self.poll();
        }
        for id in std::mem::take(&mut self.incoming.resets) {
            if self.remove(id).is_some() {
                self.counts.cancelled += 1;
            }
        }
    }

    /// Runs `h2` until it waits for input or for room in the output.
    fn poll(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match &mut self.engine {
                Engine::Handshake(handshake) => match handshake.as_mut().poll(&mut context) {
                    Poll::Pending => break,
                    Poll::Ready(Ok(connection)) => self.engine = Engine::Open(Box::new(connection)),
                    Poll::Ready(Err(_)) => {
                        self.follow();
                        return self.close_with(Code::ProtocolError, "no connection preface");
                    }
                },
                Engine::Open(connection) => match connection.poll_accept(&mut context) {
                    Poll::Pending => break,
                    Poll::Ready(Some(Ok((request, respond)))) => self.open(request, respond),
                    Poll::Ready(end) => {
                        if let Some(Err(error)) = end
                            && error.is_library()
                        {
                            self.blame(error.to_string());
                        }
                        self.close();
                    }
                },
                Engine::Closed => break,
            }
        }
        self.follow();
    }

    fn close(&mut self) {
        self.engine = Engine::Closed;
        self.streams.clear();
        self.flooded = None;
    }

    fn close_with(&mut self, code: Code, reason: &str) {
        self.blame(reason.to_owned());
        self.goaway(self.highest.min(self.last), code, reason);
        self.close();
    }

    /// Whether the connection has ended for `h2`: the client closed it, or broke a rule.
    pub fn is_closed(&self) -> bool {
        matches!(self.engine, Engine::Closed)
    }

    fn open(&mut self, request: http::Request<RecvStream>, respond: SendResponse<Bytes>) {
        let (head, body) = request.into_parts();
        let body = Some(body).filter(|body| !body.is_end_stream());
        let stream = Stream::new(respond, body);
        let id = stream.id;
        self.highest = self.highest.max(id);
        if id > self.last {
            self.counts.after_goaway += 1;
            return self.excluded.push(stream);
        }
        let is_complete = stream.body.is_none();
        self.streams.push_back(stream);
        self.count_opened(id);
        let head = match self.adopted.take() {
            Some(request) => RequestHead { request, expects_continue: false, opens_websocket: false },
            None => match read(&head, self.echo) {
                Ok(head) => head,
                Err(reason) => {
                    self.blame(reason.to_owned());
                    return self.reset(id, Reason::PROTOCOL_ERROR);
                }
            },
        };
        if !is_complete {
            self.uploads.push(id);
            if head.opens_websocket && self.open_websocket(id, head.request.route) {
                return;
            }
        }
        let Some(stream) = self.stream(id) else { return };
        stream.request = Some(head.request);
        if head.expects_continue && !is_complete {
            let mut interim = http::Response::new(());
            *interim.status_mut() = http::StatusCode::CONTINUE;
            // A stream that the client has reset takes none.
            let _ = stream.respond.send_informational(interim);
        }
        // A client that opens a WebSocket sends nothing before it has the answer.
        let is_early = head.opens_websocket || self.hostile.is_some_and(|row| row.when == When::Head);
        if is_complete || is_early {
            self.hand_on(id);
        }
    }

    /// After the most requests of a connection, no others are processed.
    fn count_opened(&mut self, id: u32) {
        self.opened += 1;
        if self.opened >= self.most_requests {
            self.goaway(id, Code::NoError, "");
        }
    }

    fn hand_on(&mut self, id: u32) {
        if let Some(request) = self.stream(id).and_then(|stream| stream.request.take()) {
            self.done.push((id, request));
        }
    }

    /// Reads the bodies that have come; true if there was any to read.
    fn read_bodies(&mut self) -> bool {
        let uploads = std::mem::take(&mut self.uploads);
        let mut has_read = !uploads.is_empty();
        for id in uploads {
            if self.read_body(id) {
                self.uploads.push(id);
            }
        }
        let excluded = self.excluded.iter_mut().filter_map(|stream| stream.body.as_mut());
        excluded.for_each(|body| has_read |= drain(body));
        self.draining.retain_mut(|body| {
            has_read = true;
            drain(body)
        });
        has_read
    }

    /// Reads a body; true if more of it is to come.
    fn read_body(&mut self, id: u32) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let Some(stream) = self.stream(id) else { return false };
            let Some(body) = &mut stream.body else { return false };
            match body.poll_data(&mut context) {
                Poll::Pending => return true,
                Poll::Ready(Some(Ok(data))) => {
                    // It fails if the stream has ended, and needs no window.
                    let _ = body.flow_control().release_capacity(data.len());
                    self.take_data(id, &data);
                }
                Poll::Ready(Some(Err(_))) => {
                    // The client reset the stream, or `h2` did.
                    return false;
                }
                Poll::Ready(None) => match body.poll_trailers(&mut context) {
                    Poll::Pending => return true,
                    Poll::Ready(Ok(_)) => {
                        self.complete(id);
                        return false;
                    }
                    Poll::Ready(Err(_)) => return false,
                },
            }
        }
    }

    fn take_data(&mut self, id: u32, data: &[u8]) {
        let Some(stream) = self.stream(id) else { return };
        if let Some(echo) = stream.request.as_mut().and_then(|request| request.echo.as_mut()) {
            echo.extend_from_slice(&data[..data.len().min(MOST_KEPT.saturating_sub(echo.len()))]);
        }
        let carries_messages = stream.messages.is_some();
        self.change_window();
        if carries_messages {
            self.on_messages(id, data);
        }
    }

    /// Announces the second window size, if there is one.
    fn change_window(&mut self) {
        let Some(window) = self.window_then else { return };
        // While the first SETTINGS are not acknowledged, `h2` sends no others.
        if let Engine::Open(connection) = &mut self.engine
            && connection.set_initial_window_size(window).is_ok()
        {
            self.window_then = None;
        }
    }

    /// The client has ended its side.
    fn complete(&mut self, id: u32) {
        let Some(stream) = self.stream(id) else { return };
        stream.body = None;
        self.on_end_of_messages(id);
        self.hand_on(id);
    }

    /// Announces that streams above `last` are not processed.
    pub fn goaway(&mut self, last: u32, code: Code, text: &str) {
        self.follow();
        self.last = self.last.min(last);
        self.counts.goaways += 1;
        let last = self.last;
        self.transport.put_raw(|out| frame::put_goaway(out, last, code, text));
    }

    /// Announces that no stream above the latest is processed, unless something like that was announced before.
    pub fn wind_down(&mut self) {
        if self.last == u32::MAX {
            self.goaway(self.highest, Code::NoError, "");
        }
    }

    /// Whether nothing more will happen.
    pub fn is_over(&self) -> bool {
        self.is_closed() || self.last != u32::MAX && self.streams.is_empty()
    }

    /// Whether no stream is open.
    pub fn is_idle(&self) -> bool {
        self.streams.is_empty()
    }

    /// The client will send no more: requests that are not complete never will be, and nothing else comes on streams
    /// that were left.
    pub fn on_end_of_input(&mut self) {
        self.streams.retain(|stream| stream.body.is_none() && !stream.left);
    }

    /// Marks a stream on which nothing is to come any more although it is open.
    pub fn leave(&mut self, id: u32) {
        if let Some(stream) = self.stream(id) {
            stream.left = true;
        }
    }

    /// The open stream of this number.
    pub fn stream(&mut self, id: u32) -> Option<&mut Stream> {
        let place = self.place(id)?;
        Some(&mut self.streams[place])
    }

    pub(super) fn place(&self, id: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&id, |stream| stream.id).ok()
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Stream> {
        self.place(id).and_then(|place| self.streams.remove(place))
    }

    /// Announces that this stream and those above it are not processed, and forgets them.
    pub fn cut(&mut self, id: u32) {
        let first = self.streams.partition_point(|stream| stream.id < id);
        let excluded = self.streams.split_off(first);
        self.counts.after_goaway += excluded.len().saturating_sub(1) as u64;
        self.excluded.extend(excluded);
        self.goaway(id.saturating_sub(2), Code::NoError, "");
    }

    /// Resets a stream.
    pub fn reset(&mut self, id: u32, reason: Reason) {
        if let Some(mut stream) = self.remove(id) {
            self.resets.push(id);
            stream.respond.send_reset(reason);
        }
    }

    pub(super) fn blame(&mut self, reason: String) {
        self.counts.malformed += 1;
        self.counts.first_error.get_or_insert(reason);
    }

    /// Writes frames until the writer would block, and appends finished replies to `settled`. Returns the bytes written.
    ///
    /// # Errors
    ///
    /// If the writer fails.
    pub fn write_to(&mut self, writer: &mut impl io::Write, settled: &mut Vec<Settled>) -> io::Result<usize> {
        self.transport.out_mut().write_to(writer, settled)
    }

    /// Bytes that the socket has not taken.
    pub fn unsent(&self) -> usize {
        self.transport.out().len()
    }

    /// Runs `h2`, and continues an endless row.
    pub fn pump(&mut self) {
        self.poll();
        while let Some(id) = self.flooded
            && self.transport.out().len() < MOST_UNSENT
            && self.transport.out().total() < MOST_FLOOD
        {
            self.perform(id, None);
            if self.place(id).is_none() {
                self.flooded = None;
            }
        }
    }
}

/// What `h2` does by these options.
fn builder(options: &Http2) -> Builder {
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(options.streams)
        .initial_window_size(options.window)
        .initial_connection_window_size(options.window.max(USUAL_WINDOW))
        .max_header_list_size(LONGEST_LIST)
        .max_concurrent_reset_streams(1024)
        .max_local_error_reset_streams(None)
        .max_pending_accept_reset_streams(NO_LIMIT)
        .data_frame_budget(NO_LIMIT)
        .enable_connect_protocol();
    if options.table != USUAL_TABLE {
        builder.header_table_size(options.table as u32);
    }
    builder
}

/// Reads and forgets a body; true if more of it is to come.
fn drain(body: &mut RecvStream) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match body.poll_data(&mut context) {
            Poll::Pending => return true,
            Poll::Ready(Some(Ok(data))) => {
                // It fails if the stream has ended, and needs no window.
                let _ = body.flow_control().release_capacity(data.len());
            }
            Poll::Ready(None | Some(Err(_))) => return false,
        }
    }
}
