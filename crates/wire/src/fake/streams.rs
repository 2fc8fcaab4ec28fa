//! A transport without sockets whose connections carry many exchanges at once,
//! like those of HTTP/2.
//!
//! It checks its callers: an exchange beyond the limit on streams, or on a connection
//! that accepts none, panics.

use super::{HEAD_BYTES, REPLY_BYTES, REQUEST_BYTES, ServerModel, SimulatedReaction, prepared};
use crate::request::{BadRequest, Prepared, RequestParts, Tags};
use crate::stream::IdleEnd;
use crate::{Reply, Stamps, Timer, Transport};
use brunt_model::sample::ConnectTimes;
use brunt_model::{Failure, Text, Tick};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The instants at which a connection is lost or stops accepting exchanges.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionFate {
    /// When the connection is lost, and all exchanges on it fail.
    pub lost_at: Tick,
    /// When the server sends a GOAWAY: no more exchanges are accepted, those in flight may finish.
    pub goes_away_at: Tick,
}

impl ConnectionFate {
    /// The connection never ends.
    pub const STAYS: Self = Self { lost_at: Tick::NEVER, goes_away_at: Tick::NEVER };
}

/// Counts of connections and streams over all workers.
#[derive(Debug, Default)]
pub struct StreamCounts {
    /// Connections that are open.
    pub open: AtomicU64,
    /// Maximum number of connections open at once.
    pub most_open: AtomicU64,
    /// Connections opened so far.
    pub opened: AtomicU64,
    /// Maximum number of exchanges in flight at once on one connection.
    pub most_streams: AtomicU64,
    /// Streams that were reset because their exchange was dropped.
    pub resets: AtomicU64,
}

/// A transport whose connections have several streams.
pub struct FakeStreams<T> {
    time: T,
    server: ServerModel,
    counts: Arc<StreamCounts>,
    /// Duration of opening a connection.
    opens_for: Duration,
    /// The server's limit on streams per connection.
    limit: u32,
    fate: Box<dyn Fn(Tick) -> ConnectionFate>,
}

/// A connection. It is open as long as one of its lanes exists.
struct Carrier {
    fate: ConnectionFate,
    in_flight: Cell<u32>,
    counts: Arc<StreamCounts>,
}

/// A lane of a simulated connection.
pub struct StreamLane(Rc<Carrier>);

/// An exchange in flight. Dropping it before its end resets its stream.
struct Stream<'a> {
    carrier: &'a Carrier,
    has_ended: bool,
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Relaxed);
    }
}

impl<'a> Stream<'a> {
    fn begin(carrier: &'a Carrier, limit: u32) -> Self {
        let in_flight = carrier.in_flight.get() + 1;
        assert!(in_flight <= limit, "more exchanges than the connection has streams");
        carrier.in_flight.set(in_flight);
        carrier.counts.most_streams.fetch_max(in_flight.into(), Relaxed);
        Self { carrier, has_ended: false }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        self.carrier.in_flight.set(self.carrier.in_flight.get() - 1);
        self.carrier.counts.resets.fetch_add(u64::from(!self.has_ended), Relaxed);
    }
}

impl<T: Timer> FakeStreams<T> {
    /// Creates a transport to `server` with `limit` streams on each connection.
    pub fn new(time: T, server: ServerModel, counts: Arc<StreamCounts>, limit: u32) -> Self {
        Self {
            time,
            server,
            counts,
            opens_for: Duration::ZERO,
            limit,
            fate: Box::new(|_| ConnectionFate::STAYS),
        }
    }

    /// Sets the duration of opening a connection.
    #[must_use]
    pub fn with_open_time(mut self, time: Duration) -> Self {
        self.opens_for = time;
        self
    }

    /// Sets the function that computes the fate of a connection from the instant at
    /// which it was opened.
    #[must_use]
    pub fn with_fate(mut self, fate: impl Fn(Tick) -> ConnectionFate + 'static) -> Self {
        self.fate = Box::new(fate);
        self
    }

    /// Waits for the server's answer or the end of the connection.
    async fn answer(&self, lost_at: Tick, stamps: &mut Stamps) -> Result<Reply, Failure> {
        let answer = (self.server.borrow_mut())(self.time.now());
        let (outcome, at) = match answer {
            SimulatedReaction::Reply(status, at) => (Ok(status), at),
            SimulatedReaction::Fails(failure, at) => (Err(failure), at),
            SimulatedReaction::Redirect(..)
            | SimulatedReaction::Never
            | SimulatedReaction::Endless => (Err(Failure::Reset), Tick::NEVER),
        };
        if lost_at.min(at) == Tick::NEVER {
            return std::future::pending().await;
        }
        self.time.sleep_until(at.min(lost_at)).await;
        if lost_at < at {
            return Err(Failure::Reset);
        }
        let status = outcome?;
        stamps.first_byte = self.time.now();
        stamps.last_byte = stamps.first_byte;
        stamps.bytes_received = REPLY_BYTES;
        stamps.head_bytes = HEAD_BYTES;
        let announced_bytes = Some(REPLY_BYTES - HEAD_BYTES);
        Ok(Reply {
            status,
            keep_alive: true,
            head_bytes: HEAD_BYTES,
            announced_bytes,
            ..Reply::default()
        })
    }
}

impl<T: Timer + 'static> Transport for FakeStreams<T> {
    type Lane = StreamLane;

    fn prepare_parts(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, BadRequest> {
        Ok(prepared(parts, tags))
    }

    fn multiplexes(&self) -> bool {
        true
    }

    async fn open(
        &self,
        _: &Prepared,
        _: u64,
        steps: &mut ConnectTimes,
    ) -> Result<StreamLane, Failure> {
        if !self.opens_for.is_zero() {
            self.time.sleep_until(self.time.now() + self.opens_for).await;
        }
        steps.connect = Some(self.opens_for.as_nanos() as u64);
        let counts = Arc::clone(&self.counts);
        counts.opened.fetch_add(1, Relaxed);
        counts.most_open.fetch_max(counts.open.fetch_add(1, Relaxed) + 1, Relaxed);
        let fate = (self.fate)(self.time.now());
        Ok(StreamLane(Rc::new(Carrier { fate, in_flight: Cell::new(0), counts })))
    }

    fn share(&self, lane: &StreamLane) -> Option<StreamLane> {
        Some(StreamLane(Rc::clone(&lane.0)))
    }

    fn most_exchanges(&self, _: &StreamLane) -> u32 {
        self.limit
    }

    fn accepts(&self, lane: &StreamLane) -> bool {
        let ConnectionFate { lost_at, goes_away_at } = lane.0.fate;
        self.time.now() < lost_at.min(goes_away_at)
    }

    async fn exchange(
        &self,
        lane: &mut StreamLane,
        _: &Prepared,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        assert!(self.accepts(lane), "an exchange on a connection that takes none");
        let mut stream = Stream::begin(&lane.0, self.limit);
        stamps.sent = self.time.now();
        stamps.bytes_sent = REQUEST_BYTES;
        let result = self.answer(lane.0.fate.lost_at, stamps).await;
        stream.has_ended = true;
        result
    }

    async fn send_ahead(&self, _: &mut StreamLane, _: &[Rc<Prepared>]) {}

    async fn closed(&self, lane: &mut StreamLane) -> IdleEnd {
        let ConnectionFate { lost_at, goes_away_at } = lane.0.fate;
        let at = lost_at.min(goes_away_at);
        if at == Tick::NEVER {
            return std::future::pending().await;
        }
        self.time.sleep_until(at).await;
        IdleEnd::Closed
    }

    fn take_note(&self) -> Option<Text> {
        None
    }

    fn take_target(&self) -> Option<(Vec<String>, Option<String>)> {
        None
    }
}
