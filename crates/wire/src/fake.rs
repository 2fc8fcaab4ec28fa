//! A transport without sockets, for the engine's tests. A function computes the
//! replies of the server.

mod streams;

use crate::origin::OriginId;
use crate::request::{BadRequest, Prepared, RequestParts, Tags, closes};
use crate::stream::IdleEnd;
use crate::turn::Turn;
use crate::{Reply, ReplyDetails, Stamps, Timer, Transport};
use brunt_model::sample::ConnectTimes;
use brunt_model::{Failure, Text, Tick};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
pub use streams::{ConnectionFate, FakeStreams, StreamCounts, StreamLane};

/// Bytes of each request.
pub const REQUEST_BYTES: u64 = 100;
/// Bytes of each whole reply.
pub const REPLY_BYTES: u64 = 1000;
/// Bytes of the head of each reply.
pub const HEAD_BYTES: u64 = 120;

/// Reaction of the simulated server to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedReaction {
    /// A reply with this status is complete at this instant.
    Reply(u16, Tick),
    /// A reply that redirects to this location is complete at this instant.
    Redirect(&'static str, Tick),
    /// The request fails with this cause at this instant.
    Fails(Failure, Tick),
    /// No reply ever arrives.
    Never,
    /// A reply without end, which always has more bytes to read.
    Endless,
}

/// The simulated server: computes the answer from the instant at which a request was sent.
pub type ServerModel = Rc<RefCell<dyn FnMut(Tick) -> SimulatedReaction>>;

/// A transport whose connections open at once unless a connect model is set. Sending a
/// request takes no time.
pub struct FakeTransport<T> {
    time: T,
    server: ServerModel,
    connect_model: Option<ServerModel>,
    idle: Option<Duration>,
    opened: Rc<Cell<u64>>,
    read_time: Duration,
    close_time: Duration,
}

/// A simulated connection. Closing it may take time.
pub struct FakeConnection<T: Timer> {
    time: T,
    close_time: Duration,
}

impl<T: Timer> Drop for FakeConnection<T> {
    fn drop(&mut self) {
        self.time.simulate_work(self.close_time);
    }
}

impl<T: Timer> FakeTransport<T> {
    /// Creates a transport to `server`. `opened` counts its connections.
    pub fn new(time: T, server: ServerModel, opened: Rc<Cell<u64>>) -> Self {
        Self {
            time,
            server,
            connect_model: None,
            idle: None,
            opened,
            read_time: Duration::ZERO,
            close_time: Duration::ZERO,
        }
    }

    /// Sets the function that decides how an attempt to connect ends. A reply
    /// lets the connection open.
    #[must_use]
    pub fn with_connect_model(mut self, connect_model: ServerModel) -> Self {
        self.connect_model = Some(connect_model);
        self
    }

    /// Makes the server close connections after this idle time.
    #[must_use]
    pub fn with_idle_limit(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Makes each read block the thread for this time, by which a fake clock advances.
    #[must_use]
    pub fn with_read_time(mut self, time: Duration) -> Self {
        self.read_time = time;
        self
    }

    /// Makes closing a connection block the thread for this time, by which a fake clock advances.
    #[must_use]
    pub fn with_close_time(mut self, time: Duration) -> Self {
        self.close_time = time;
        self
    }

    /// Reads once, and repeats until the bytes that arrive before `until` are read.
    async fn read(&self, until: Tick, stamps: &mut Stamps) {
        let mut turn = Turn::default();
        loop {
            self.time.simulate_work(self.read_time);
            stamps.last_byte = self.time.now();
            if stamps.first_byte == Tick::ZERO {
                stamps.first_byte = stamps.last_byte;
            }
            stamps.bytes_received += REPLY_BYTES;
            if stamps.last_byte >= until || self.read_time.is_zero() {
                return;
            }
            turn.worked(&self.time, stamps.last_byte);
            std::future::poll_fn(|cx| turn.poll_continue(&self.time, cx)).await;
        }
    }

    /// Asks `server` for its answer and waits until it is complete.
    async fn answer(&self, server: &ServerModel, stamps: &mut Stamps) -> Result<Reply, Failure> {
        let answer = (server.borrow_mut())(self.time.now());
        if answer == SimulatedReaction::Endless {
            self.read(Tick::NEVER, stamps).await;
        }
        let (SimulatedReaction::Reply(_, at)
        | SimulatedReaction::Redirect(_, at)
        | SimulatedReaction::Fails(_, at)) = answer
        else {
            return std::future::pending().await;
        };
        if self.read_time.is_zero() || at > self.time.now() {
            self.time.sleep_until(at).await;
        }
        self.read(at, stamps).await;
        let announced_bytes = Some(REPLY_BYTES - HEAD_BYTES);
        let whole =
            Reply { keep_alive: true, head_bytes: HEAD_BYTES, announced_bytes, ..Reply::default() };
        let reply = |status| Reply { status, ..whole };
        match answer {
            SimulatedReaction::Reply(status, _) => Ok(reply(status)),
            SimulatedReaction::Redirect(to, _) => {
                let details =
                    ReplyDetails { location: Some(to.to_owned()), ..ReplyDetails::default() };
                Ok(Reply { details: Some(Box::new(details)), ..reply(302) })
            }
            SimulatedReaction::Fails(failure, _) => Err(failure),
            SimulatedReaction::Never | SimulatedReaction::Endless => std::future::pending().await,
        }
    }
}

/// Returns a model of `servers` servers with one first-come-first-served queue. Each request
/// occupies one of them for `service` nanoseconds.
pub fn queue(
    servers: usize,
    mut service: impl FnMut() -> u64,
) -> impl FnMut(Tick) -> SimulatedReaction {
    let mut free_times = vec![Tick::ZERO; servers];
    move |now| {
        let earliest = free_times.iter_mut().min().map(|free_at| {
            *free_at = Tick(now.max(*free_at).0 + service());
            *free_at
        });
        SimulatedReaction::Reply(200, earliest.unwrap_or(now))
    }
}

/// Returns a request without bytes. Hosts of different lengths are different origins.
fn prepared(parts: Rc<RequestParts>, tags: Tags) -> Prepared {
    let origin = OriginId(parts.url.host_str().unwrap_or_default().len() as u32);
    let closes = closes(&parts.headers);
    Prepared { origin, tags, closes, parts: Some(parts), ..Prepared::default() }
}

impl<T: Timer + 'static> Transport for FakeTransport<T> {
    type Lane = FakeConnection<T>;

    fn prepare_parts(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, BadRequest> {
        Ok(prepared(parts, tags))
    }

    async fn open(
        &self,
        _: &Prepared,
        _: u64,
        steps: &mut ConnectTimes,
    ) -> Result<FakeConnection<T>, Failure> {
        let began = self.time.now();
        if let Some(connect_model) = &self.connect_model {
            self.answer(connect_model, &mut Stamps::default()).await?;
        }
        self.opened.set(self.opened.get() + 1);
        steps.connect = Some(self.time.now().nanos_since(began));
        Ok(FakeConnection { time: self.time.clone(), close_time: self.close_time })
    }

    async fn exchange(
        &self,
        _: &mut FakeConnection<T>,
        _: &Prepared,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        stamps.sent = self.time.now();
        stamps.bytes_sent = REQUEST_BYTES;
        let reply = self.answer(&self.server, stamps).await?;
        stamps.bytes_received = REPLY_BYTES;
        stamps.head_bytes = HEAD_BYTES;
        Ok(reply)
    }

    async fn send_ahead(&self, _: &mut FakeConnection<T>, _: &[Rc<Prepared>]) {}

    async fn closed(&self, _: &mut FakeConnection<T>) -> IdleEnd {
        let Some(idle) = self.idle else { return std::future::pending().await };
        self.time.sleep_until(self.time.now() + idle).await;
        IdleEnd::Closed
    }

    fn take_note(&self) -> Option<Text> {
        None
    }

    fn take_target(&self) -> Option<(Vec<String>, Option<String>)> {
        None
    }
}
