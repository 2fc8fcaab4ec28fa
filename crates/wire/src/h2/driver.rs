//! Runs one task for each connection, which writes and reads for all of its streams.
//!
//! Requests that begin in the same turn of the thread leave in one write. Replies that arrived
//! together are read with one read.

use super::session::{Http2Session, Http2SessionEnd, PeerSettings};
use super::tunnel::{Answer, Tunnel};
use crate::collect::ReplyCollector;
use crate::link::Link;
use crate::multiplexing::stream::{self, Upload};
use crate::request::Prepared;
use crate::request::fields::{RequestFields, TimedPieces};
use crate::stream::{ByteStream, IdleEnd};
use crate::turn::Turn;
use crate::{Reply, SharedCounts, Stamps, Timer, error};
use brunt_model::outcome::MalformedReply;
use brunt_model::{Failure, Text, Tick};
use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// Bytes per read.
const READ: usize = 64 * 1024;

/// The read buffer that all connections of a thread share.
pub type ReadBuffer = Rc<RefCell<Vec<u8>>>;

/// Creates a read buffer.
pub fn read_buffer() -> ReadBuffer {
    Rc::new(RefCell::new(vec![0; READ]))
}

/// State shared by the driver and the streams of a connection.
pub(crate) struct Carrier {
    pub(super) session: RefCell<Http2Session>,
    /// True if no streams exist and none will begin.
    is_closing: Cell<bool>,
}

impl Carrier {
    pub(super) fn new(session: Http2Session) -> Self {
        Self { session: RefCell::new(session), is_closing: Cell::new(false) }
    }
}

/// An open connection. Dropping it closes the connection.
pub struct Http2Connection(Rc<Carrier>);

impl Drop for Http2Connection {
    fn drop(&mut self) {
        self.0.is_closing.set(true);
        let mut session = self.0.session.borrow_mut();
        // A client should announce the end of a connection (RFC 9113 section 6.8).
        session.send_goaway();
        session.wake_driver();
    }
}

impl Http2Connection {
    /// Starts HTTP/2 on `socket`, in a separate task. After an upgrade, `received` contains the
    /// HTTP/2 bytes that the server has already sent.
    pub fn begin<T, L>(
        socket: ByteStream<L>,
        time: T,
        buffer: ReadBuffer,
        counts: SharedCounts,
        received: Option<&[u8]>,
    ) -> Self
    where
        T: Timer + 'static,
        L: Link + 'static,
    {
        let mut session = Http2Session::new(counts);
        if let Some(received) = received {
            session.begin_upgraded();
            session.receive(received, time.now());
        }
        let carrier = Rc::new(Carrier::new(session));
        let mut driver = Driver {
            carrier: Rc::clone(&carrier),
            socket,
            time,
            buffer,
            turn: Turn::default(),
            written: 0,
        };
        // A separate task, because a connection must answer PING while no exchange is polled.
        tokio::task::spawn_local(std::future::poll_fn(move |cx| driver.poll(cx)));
        Self(carrier)
    }

    /// Waits until the peer has sent its settings, which show that it supports HTTP/2.
    ///
    /// # Errors
    ///
    /// If the peer does not support HTTP/2, or if the connection was lost before.
    pub async fn ready(&self) -> Result<(), (Failure, Text)> {
        std::future::poll_fn(|cx| {
            let mut session = self.0.session.borrow_mut();
            match session.end {
                Some(Http2SessionEnd::Broken(cause)) => {
                    Poll::Ready(Err((cause.failure(), cause.text())))
                }
                Some(Http2SessionEnd::Lost(failure)) => Poll::Ready(Err((
                    failure,
                    "the server closed before its HTTP/2 settings came".into(),
                ))),
                None if session.peer.is_received => Poll::Ready(Ok(())),
                None => {
                    session.idle.add(cx.waker());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Returns the limits that the peer has set.
    pub fn peer(&self) -> PeerSettings {
        self.0.session.borrow().peer
    }

    /// Maximum number of requests in flight.
    pub fn most_streams(&self) -> u32 {
        self.0.session.borrow().peer.streams
    }

    /// True if it accepts another request.
    pub fn accepts(&self) -> bool {
        self.0.session.borrow().accepts()
    }

    /// Resolves when it accepts no more requests.
    pub fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        let mut session = self.0.session.borrow_mut();
        if !session.accepts() {
            let is_broken = matches!(session.end, Some(Http2SessionEnd::Broken(_)));
            return Poll::Ready(if is_broken { IdleEnd::Unsolicited } else { IdleEnd::Closed });
        }
        session.idle.add(cx.waker());
        Poll::Pending
    }

    /// Opens a stream that carries bytes in both directions, after the
    /// peer's settings were received.
    ///
    /// # Errors
    ///
    /// If the stream does not open, with the reason in words.
    pub(crate) async fn tunnel(
        &self,
        fields: &RequestFields,
    ) -> Result<(Tunnel, Answer), (Failure, Text)> {
        self.ready().await?;
        if !self.peer().connect_protocol {
            let why = "the server does not offer WebSocket over HTTP/2 (SETTINGS_ENABLE_CONNECT_PROTOCOL); write --http 1.1";
            return Err((Failure::Protocol, why.into()));
        }
        Tunnel::open(&self.0, fields).await
    }

    /// Starts an exchange, which sends a request and waits for the whole reply.
    pub(crate) fn exchange<'c, 'r, 's>(
        &'c self,
        request: &'r Prepared,
        collector: Option<Box<ReplyCollector>>,
        stamps: &'s mut Stamps,
    ) -> Http2Exchange<'c, 'r, 's> {
        Http2Exchange { carrier: &self.0, stamps, state: State::Waiting(request, collector) }
    }
}

/// One request and its reply. Dropping it before its end resets the stream.
pub struct Http2Exchange<'c, 'r, 's> {
    carrier: &'c Carrier,
    stamps: &'s mut Stamps,
    state: State<'r>,
}

enum State<'r> {
    Waiting(&'r Prepared, Option<Box<ReplyCollector>>),
    InFlight(u32),
    Done,
}

impl Http2Exchange<'_, '_, '_> {
    fn begin(
        session: &mut Http2Session,
        request: &Prepared,
        collector: Option<Box<ReplyCollector>>,
    ) -> Result<u32, Failure> {
        let (Some(fields), Some(parts)) = (&request.h2, &request.parts) else {
            return Err(Failure::System);
        };
        let fields: &RequestFields = fields;
        let mut stream = stream::MultiplexedRequest::new(request.kind, collector, 0);
        stream.is_grpc = fields.is_grpc;
        if fields.has_body {
            let upload = Upload::new(parts, fields.messages);
            if upload.is_paced_by_reply() {
                // Each message of the reply releases the next piece.
                stream.collector = Some(ReplyCollector::counting_messages(stream.collector.take()));
            }
            stream.upload = Some(upload);
        }
        session.begin(fields, stream)
    }

    /// Allows the next piece of the request's body to be sent.
    fn release_piece(&self) {
        if let State::InFlight(id) = self.state {
            let session = &mut *self.carrier.session.borrow_mut();
            session.release_piece(id);
            session.wake_driver();
        }
    }
}

impl Http2Exchange<'_, '_, '_> {
    /// Ends the request's side of its stream, or the stream. Returns false if it has not begun.
    fn close(&self, now: Tick) -> bool {
        let State::InFlight(id) = self.state else { return false };
        let session = &mut *self.carrier.session.borrow_mut();
        session.close_stream(id, now);
        session.wake_driver();
        true
    }
}

/// Performs an exchange whose request body is sent in pieces by time, the first at once.
pub(crate) async fn send_pieces<T: Timer>(
    exchange: Http2Exchange<'_, '_, '_>,
    pieces: TimedPieces,
    time: T,
) -> Result<Reply, Failure> {
    let mut exchange = pin!(exchange);
    let started = time.now();
    let mut pieces = pieces;
    let mut number = 1;
    loop {
        let next = pieces.offset(number).map(|offset| started + offset);
        let end = pieces.duration.map(|duration| started + duration);
        let Some(due) = next.into_iter().chain(end).min() else { return exchange.await };
        let mut timer = pin!(time.sleep_until(due));
        let reply = std::future::poll_fn(|cx| match exchange.as_mut().poll(cx) {
            Poll::Ready(reply) => Poll::Ready(Some(reply)),
            Poll::Pending => timer.as_mut().poll(cx).map(|()| None),
        });
        if let Some(reply) = reply.await {
            return reply;
        }
        if end != Some(due) {
            exchange.release_piece();
            number += 1;
        } else if exchange.close(time.now()) {
            pieces = TimedPieces { interval: None, duration: None, ..pieces };
        } else {
            // The server allows no stream yet.
            pieces.duration = pieces.duration.map(|duration| duration * 2);
        }
    }
}

impl Future for Http2Exchange<'_, '_, '_> {
    type Output = Result<Reply, Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let session = &mut *this.carrier.session.borrow_mut();
        let id = match std::mem::replace(&mut this.state, State::Done) {
            // The peer may allow none for a while (RFC 9113 section 5.1.2).
            State::Waiting(request, collector) if session.allows_no_streams() => {
                this.state = State::Waiting(request, collector);
                session.idle.add(cx.waker());
                return Poll::Pending;
            }
            State::Waiting(request, _)
                if request
                    .h2
                    .as_ref()
                    .is_some_and(|fields| session.exceeds_header_limit(fields)) =>
            {
                this.stamps.malformed = Some(MalformedReply::HeaderListTooLarge);
                return Poll::Ready(Err(Failure::Protocol));
            }
            State::Waiting(request, collector) => Self::begin(session, request, collector)?,
            State::InFlight(id) => id,
            State::Done => return Poll::Pending,
        };
        let Some(stream) = session.streams.get_mut(&id) else {
            return Poll::Ready(Err(Failure::System));
        };
        if stream.end.is_none() {
            this.state = State::InFlight(id);
            if !stream.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                stream.waker = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        let Some(stream) = session.take_stream(id) else {
            return Poll::Ready(Err(Failure::System));
        };
        *this.stamps = stream.stamps;
        Poll::Ready(stream.into_reply())
    }
}

impl Drop for Http2Exchange<'_, '_, '_> {
    fn drop(&mut self) {
        if let State::InFlight(id) = self.state
            && let Some(stream) = self.carrier.session.borrow_mut().take_stream(id)
        {
            *self.stamps = stream.stamps;
        }
    }
}

/// Writes and reads for a connection until it is lost or dropped.
struct Driver<T, L> {
    carrier: Rc<Carrier>,
    socket: ByteStream<L>,
    time: T,
    buffer: ReadBuffer,
    turn: Turn,
    /// Number of bytes of the session's output that were written.
    written: usize,
}

impl<T: Timer, L: Link> Driver<T, L> {
    /// Writes and flushes all of the session's output.
    fn poll_write(
        &mut self,
        session: &mut Http2Session,
        cx: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        while !session.out.is_empty() {
            while self.written < session.out.len() {
                self.written += ready!(self.socket.poll_send(&session.out[self.written..], cx))?;
            }
            ready!(self.socket.poll_flush(cx))?;
            self.written = 0;
            session.record_written(self.time.now());
        }
        Poll::Ready(Ok(()))
    }

    /// Writes, then reads once. Ready(true): the connection is over.
    fn poll_once(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let carrier = Rc::clone(&self.carrier);
        let session = &mut *carrier.session.borrow_mut();
        session.set_driver(cx.waker());
        let written = self.poll_write(session, cx);
        if self.carrier.is_closing.get() || session.end.is_some() {
            return Poll::Ready(true);
        }
        // If writing fails, a reply may still be readable, and reading shows
        // how the connection ended.
        let write_error = match written {
            Poll::Ready(Err(error)) => Some(error),
            _ => None,
        };
        ready!(self.turn.poll_continue(&self.time, cx));
        let mut buffer = self.buffer.borrow_mut();
        let end = match (self.socket.poll_read(&mut buffer, cx), write_error) {
            (Poll::Ready(Ok(n @ 1..)), _) => {
                let now = self.time.now();
                session.receive(&buffer[..n], now);
                self.turn.worked(&self.time, now);
                return Poll::Ready(false);
            }
            (Poll::Pending, None) => {
                self.turn.wait();
                return Poll::Pending;
            }
            (Poll::Ready(Err(error)), _) | (_, Some(error)) => error::tls_cause(&error).map_or(
                Http2SessionEnd::Lost(error::stream_failure(&error)),
                Http2SessionEnd::Broken,
            ),
            (Poll::Ready(Ok(0)), None) => Http2SessionEnd::Lost(Failure::ClosedEarly),
        };
        session.finish(end);
        Poll::Ready(true)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !ready!(self.poll_once(cx)) {}
        Poll::Ready(())
    }
}
