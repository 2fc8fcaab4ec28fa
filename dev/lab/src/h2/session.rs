//! Runs one HTTP/2 connection with the crate `h2`: converts bytes to requests,
//! and replies to bytes.
//!
//! `h2` checks the client against RFC 9113, compresses fields and controls the flow. This module
//! keeps the table of streams, notes when a reply has left, and writes the raw bytes of failures
//! and hostile rows. No I/O and no clock.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::server::{Builder, Connection, Handshake, SendResponse};
use h2::{Reason, RecvStream};

use super::frame::{self, Http2ErrorCode, MAX_FRAME, PREFACE, flag, kind};
use super::hostile::Http2RowOutput;
use super::hpack::block;
use super::incoming::Incoming;
use super::options::Http2Options;
use super::request::{RequestHead, read};
use super::stream::Http2Stream;
use super::transport::{MAX_UNSENT, Transport};
use crate::args::LabOptions;
use crate::hostile::{Hostile, HostileReply, HostileRow, MAX_FLOOD, Trigger};
use crate::outbox::CompletedReply;
use crate::request::RequestedReply;

/// Maximum size of the header list, in bytes.
const MAX_HEADER_LIST: u32 = 64 * 1024;

/// Maximum number of body bytes that `--echo` stores.
const MAX_ECHO: usize = 64 << 20;

/// Default window of a connection, in bytes.
const DEFAULT_WINDOW: u32 = 65_535;

/// Default size of the HPACK table, in bytes.
const DEFAULT_TABLE: usize = 4096;

/// A limit that no client reaches: a measured client must not run into protections against attacks.
const NO_LIMIT: usize = 1 << 30;

/// Counts of an HTTP/2 connection besides requests and replies.
#[derive(Debug, Clone, Default)]
pub struct Http2Counts {
    /// Streams that exceeded `SETTINGS_MAX_CONCURRENT_STREAMS` and were refused.
    pub refused: u64,
    /// Streams that the client reset.
    pub cancelled: u64,
    /// Streams above the last one of a GOAWAY.
    pub after_goaway: u64,
    /// GOAWAY frames that were sent.
    pub goaways: u64,
    /// Requests and frames that break a rule.
    pub malformed: u64,
    /// Description of the first error.
    pub first_error: Option<String>,
    /// Streams that became `WebSocket`s.
    pub websockets: u64,
    /// Description of the first error on a WebSocket.
    pub websocket_error: Option<String>,
}

/// State of the connection in the crate `h2`.
#[derive(Debug)]
enum Engine {
    Handshake(Pin<Box<Handshake<Transport, Bytes>>>),
    Open(Box<Connection<Transport, Bytes>>),
    Closed,
}

/// One HTTP/2 connection: the state of the crate `h2`, and the streams with their replies.
#[derive(Debug)]
pub struct ServerSession {
    /// Complete requests that have not been taken.
    pub done: Vec<(u32, RequestedReply)>,
    /// Counts since they were last taken.
    pub counts: Http2Counts,
    /// Highest stream that is processed.
    pub last: u32,
    pub(super) echo: bool,
    pub(super) transport: Transport,
    engine: Engine,
    incoming: Incoming,
    pub(super) streams: VecDeque<Http2Stream>,
    /// Streams with an unfinished request body.
    uploads: Vec<u32>,
    /// Bodies of streams that we ended before the client did.
    pub(super) draining: Vec<RecvStream>,
    /// Streams above the last one of a GOAWAY. `h2` resets a stream when its handles are dropped.
    excluded: Vec<Http2Stream>,
    /// Streams that we reset.
    pub(super) resets: Vec<u32>,
    /// Ended streams on which surplus DATA follows.
    pub(super) extras: Vec<u32>,
    /// Stream that ends with an unfinished header block.
    pub(super) ending: Option<u32>,
    /// The request with which the connection began as HTTP/1.1.
    upgraded_request: Option<RequestedReply>,
    /// True if the acknowledgement of that request's settings by `h2` must be hidden:
    /// the request needs none.
    pub(super) hides_acknowledgement: bool,
    highest: u32,
    opened: u64,
    max_requests: u64,
    window_then: Option<u32>,
    hostile: Option<&'static HostileRow>,
    /// Number of times that the hostile row was sent.
    rounds: u32,
    /// Stream on which an endless row continues.
    flooded: Option<u32>,
}

impl ServerSession {
    /// Creates a connection that waits for the preface.
    pub fn new(options: &LabOptions) -> Self {
        let transport = Transport::default();
        let hostile = options
            .hostile
            .and_then(Hostile::row)
            .filter(|row| matches!(row.writer, HostileReply::Http2(_)));
        let handshake = builder(&options.http2).handshake(transport.clone());
        let mut session = Self {
            done: Vec::new(),
            counts: Http2Counts::default(),
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
            upgraded_request: None,
            hides_acknowledgement: false,
            highest: 0,
            opened: 0,
            max_requests: options.keepalive_requests.unwrap_or(u64::MAX),
            window_then: options.http2.window_then,
            hostile,
            rounds: 0,
            flooded: None,
        };
        if session.replaces_settings() {
            session.send_row(0, None);
        }
        session
    }

    /// Takes the request with which an HTTP/1.1 connection was upgraded: it becomes the
    /// request of stream 1.
    ///
    /// The crate `h2` does not know `Upgrade: h2c`. It therefore receives the bytes of a client
    /// with prior knowledge of HTTP/2, which sends the same request on stream 1.
    pub fn take_upgraded(&mut self, request: RequestedReply, settings: &[u8]) {
        let mut bytes = PREFACE.to_vec();
        frame::put_frame(&mut bytes, kind::SETTINGS, 0, 0, settings);
        let fields = block(&[(":method", "GET"), (":scheme", "http"), (":path", "/")]);
        frame::put_headers(&mut bytes, 1, flag::END_STREAM, &fields, MAX_FRAME);
        self.upgraded_request = Some(request);
        self.hides_acknowledgement = true;
        self.incoming.hide_preface();
        self.transport.received().extend_from_slice(&bytes);
        self.poll();
    }

    /// True if a hostile row replaces our SETTINGS.
    pub(super) fn replaces_settings(&self) -> bool {
        self.hostile.is_some_and(|row| row.trigger == Trigger::Greeting)
    }

    /// True if a hostile row replaces the replies.
    pub fn is_hostile(&self) -> bool {
        self.hostile.is_some_and(|row| row.trigger != Trigger::Greeting)
    }

    /// Sends the hostile row. Returns true if the connection closes after it.
    pub fn send_row(&mut self, id: u32, completed: Option<CompletedReply>) -> bool {
        let Some(row) = self.hostile else { return false };
        let HostileReply::Http2(write) = row.writer else { return false };
        let round = self.rounds;
        let mut is_reply = false;
        let mut closing = false;
        self.transport.put_raw(|out| {
            let mut output =
                Http2RowOutput { out, stream: id, round, is_reply: false, closing: false };
            write(&mut output);
            is_reply = output.is_reply;
            closing = output.closing;
        });
        self.rounds += 1;
        if row.trigger == Trigger::Endless {
            self.flooded = Some(id);
        }
        if is_reply {
            if let Some(completed) = completed {
                self.transport.out_mut().mark(completed);
            }
            self.forget_answered(id);
        }
        self.abandon(id);
        closing
    }

    /// Ends a stream for `h2`, which does not know that a hostile row has replied.
    fn forget_answered(&mut self, id: u32) {
        if let Some(mut stream) = self.remove(id) {
            // A stream that the client has reset accepts no reply.
            let _ = stream.respond.send_response(http::Response::new(()), true);
            self.draining.extend(stream.body);
        }
    }

    /// Receives bytes of the client.
    pub fn receive(&mut self, bytes: &[u8]) {
        let passed = self.incoming.pass(bytes, &mut self.transport.received());
        if !passed {
            return self.close_with(Http2ErrorCode::ProtocolError, "no connection preface");
        }
        self.poll();
        if self.read_bodies() {
            // The next poll announces the windows that were granted.
            self.poll();
        }
        // `h2` does not report the resets of a client.
        for id in std::mem::take(&mut self.incoming.resets) {
            if self.remove(id).is_some() {
                self.counts.cancelled += 1;
            }
        }
    }

    /// Runs `h2` until it waits for input or for space in the output.
    fn poll(&mut self) {
        // No waker is needed: the event loop polls after every event.
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match &mut self.engine {
                Engine::Handshake(handshake) => match handshake.as_mut().poll(&mut context) {
                    Poll::Pending => break,
                    Poll::Ready(Ok(connection)) => self.engine = Engine::Open(Box::new(connection)),
                    Poll::Ready(Err(_)) => {
                        self.track();
                        return self
                            .close_with(Http2ErrorCode::ProtocolError, "no connection preface");
                    }
                },
                Engine::Open(connection) => match connection.poll_accept(&mut context) {
                    Poll::Pending => break,
                    Poll::Ready(Some(Ok((request, respond)))) => self.open(request, respond),
                    Poll::Ready(end) => {
                        if let Some(Err(error)) = end
                            && error.is_library()
                        {
                            self.record_error(error.to_string());
                        }
                        self.close();
                    }
                },
                Engine::Closed => break,
            }
        }
        self.track();
    }

    fn close(&mut self) {
        self.engine = Engine::Closed;
        self.streams.clear();
        self.flooded = None;
    }

    fn close_with(&mut self, code: Http2ErrorCode, reason: &str) {
        self.record_error(reason.to_owned());
        self.goaway(self.highest.min(self.last), code, reason);
        self.close();
    }

    /// True if the connection has ended for `h2`: the client closed it, or broke a rule.
    pub fn is_closed(&self) -> bool {
        matches!(self.engine, Engine::Closed)
    }

    fn open(&mut self, request: http::Request<RecvStream>, respond: SendResponse<Bytes>) {
        let (head, body) = request.into_parts();
        let body = Some(body).filter(|body| !body.is_end_stream());
        let stream = Http2Stream::new(respond, body);
        let id = stream.id;
        self.highest = self.highest.max(id);
        if id > self.last {
            self.counts.after_goaway += 1;
            return self.excluded.push(stream);
        }
        let is_complete = stream.body.is_none();
        self.streams.push_back(stream);
        self.count_opened(id);
        let head = match self.upgraded_request.take() {
            Some(request) => {
                RequestHead { request, expects_continue: false, opens_websocket: false }
            }
            None => match read(&head, self.echo) {
                Ok(head) => head,
                Err(reason) => {
                    self.record_error(reason.to_owned());
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
            // A stream that the client has reset accepts no interim response.
            let _ = stream.respond.send_informational(interim);
        }
        // A client that opens a WebSocket sends nothing before it receives the reply.
        let is_early =
            head.opens_websocket || self.hostile.is_some_and(|row| row.trigger == Trigger::Head);
        if is_complete || is_early {
            self.finish_request(id);
        }
    }

    /// Counts a stream. After the maximum number of requests, no others are processed.
    fn count_opened(&mut self, id: u32) {
        self.opened += 1;
        if self.opened >= self.max_requests {
            self.goaway(id, Http2ErrorCode::NoError, "");
        }
    }

    fn finish_request(&mut self, id: u32) {
        if let Some(request) = self.stream(id).and_then(|stream| stream.request.take()) {
            self.done.push((id, request));
        }
    }

    /// Reads the bodies that have arrived. Returns true if there were any to read.
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

    /// Reads a body. Returns true if more of it follows.
    fn read_body(&mut self, id: u32) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let Some(stream) = self.stream(id) else { return false };
            let Some(body) = &mut stream.body else { return false };
            match body.poll_data(&mut context) {
                Poll::Pending => return true,
                Poll::Ready(Some(Ok(data))) => {
                    // It fails if the stream has ended, which needs no window.
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
            echo.extend_from_slice(&data[..data.len().min(MAX_ECHO.saturating_sub(echo.len()))]);
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
        // `h2` sends no further SETTINGS until the first are acknowledged.
        if let Engine::Open(connection) = &mut self.engine
            && connection.set_initial_window_size(window).is_ok()
        {
            self.window_then = None;
        }
    }

    /// Handles the end of the client's side.
    fn complete(&mut self, id: u32) {
        let Some(stream) = self.stream(id) else { return };
        stream.body = None;
        self.on_end_of_messages(id);
        self.finish_request(id);
    }

    /// Announces that streams above `last` are not processed.
    pub fn goaway(&mut self, last: u32, code: Http2ErrorCode, text: &str) {
        // `put_raw` skips frames that are not tracked yet.
        self.track();
        // The last stream of a GOAWAY never increases (RFC 9113, section 6.8).
        self.last = self.last.min(last);
        self.counts.goaways += 1;
        let last = self.last;
        self.transport.put_raw(|out| frame::put_goaway(out, last, code, text));
    }

    /// Announces that no stream above the latest is processed, unless a GOAWAY was already sent.
    pub fn wind_down(&mut self) {
        if self.last == u32::MAX {
            self.goaway(self.highest, Http2ErrorCode::NoError, "");
        }
    }

    /// True if nothing more will happen.
    pub fn is_over(&self) -> bool {
        self.is_closed() || self.last != u32::MAX && self.streams.is_empty()
    }

    /// True if no stream is open.
    pub fn is_idle(&self) -> bool {
        self.streams.is_empty()
    }

    /// Handles the end of the client's input: incomplete requests stay incomplete, and abandoned
    /// streams get no reply.
    pub fn on_end_of_input(&mut self) {
        self.streams.retain(|stream| stream.body.is_none() && !stream.is_abandoned);
    }

    /// Marks an open stream as abandoned: nothing more is sent on it.
    pub fn abandon(&mut self, id: u32) {
        if let Some(stream) = self.stream(id) {
            stream.is_abandoned = true;
        }
    }

    /// Returns the open stream with this number.
    pub fn stream(&mut self, id: u32) -> Option<&mut Http2Stream> {
        let place = self.place(id)?;
        Some(&mut self.streams[place])
    }

    pub(super) fn place(&self, id: u32) -> Option<usize> {
        // Clients open streams in ascending order (RFC 9113, section 5.1.1).
        self.streams.binary_search_by_key(&id, |stream| stream.id).ok()
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Http2Stream> {
        self.place(id).and_then(|place| self.streams.remove(place))
    }

    /// Announces that this stream and higher ones are not processed, and removes them.
    pub fn cut(&mut self, id: u32) {
        let first = self.streams.partition_point(|stream| stream.id < id);
        let excluded = self.streams.split_off(first);
        // The first one is not counted: its request fails on purpose.
        self.counts.after_goaway += excluded.len().saturating_sub(1) as u64;
        self.excluded.extend(excluded);
        self.goaway(id.saturating_sub(2), Http2ErrorCode::NoError, "");
    }

    /// Resets a stream with this reason, if it is still open.
    pub fn reset(&mut self, id: u32, reason: Reason) {
        if let Some(mut stream) = self.remove(id) {
            self.resets.push(id);
            stream.respond.send_reset(reason);
        }
    }

    pub(super) fn record_error(&mut self, reason: String) {
        self.counts.malformed += 1;
        self.counts.first_error.get_or_insert(reason);
    }

    /// Writes frames until the writer would block, and appends finished replies to `completed`.
    /// Returns the bytes written.
    pub fn write_to(
        &mut self,
        writer: &mut impl io::Write,
        completed: &mut Vec<CompletedReply>,
    ) -> io::Result<usize> {
        self.transport.out_mut().write_to(writer, completed)
    }

    /// Number of bytes that the socket has not accepted.
    pub fn unsent(&self) -> usize {
        self.transport.out().len()
    }

    /// Runs `h2`, and continues an endless row.
    pub fn pump(&mut self) {
        self.poll();
        while let Some(id) = self.flooded
            && self.transport.out().len() < MAX_UNSENT
            && self.transport.out().total() < MAX_FLOOD
        {
            self.send_row(id, None);
            if self.place(id).is_none() {
                self.flooded = None;
            }
        }
    }
}

/// Returns the settings of `h2` for these options.
fn builder(options: &Http2Options) -> Builder {
    let mut builder = Builder::new();
    // The window of a connection cannot be below its default (RFC 9113, section 6.9.2).
    builder
        .max_concurrent_streams(options.streams)
        .initial_window_size(options.window)
        .initial_connection_window_size(options.window.max(DEFAULT_WINDOW))
        .max_header_list_size(MAX_HEADER_LIST)
        .max_concurrent_reset_streams(1024)
        .max_local_error_reset_streams(None)
        .max_pending_accept_reset_streams(NO_LIMIT)
        .data_frame_budget(NO_LIMIT)
        .enable_connect_protocol();
    if options.table != DEFAULT_TABLE {
        builder.header_table_size(options.table as u32);
    }
    builder
}

/// Reads and discards a body. Returns true if more of it follows.
fn drain(body: &mut RecvStream) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match body.poll_data(&mut context) {
            Poll::Pending => return true,
            Poll::Ready(Some(Ok(data))) => {
                // It fails if the stream has ended, which needs no window.
                let _ = body.flow_control().release_capacity(data.len());
            }
            Poll::Ready(None | Some(Err(_))) => return false,
        }
    }
}
