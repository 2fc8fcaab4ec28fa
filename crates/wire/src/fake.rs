//! A wire without sockets, for the engine's tests: a formula takes the place of the server.

use crate::request::{BadRequest, Draft, Prepared};
use crate::{Reply, Stamps, Timer, Wire};
use brunt_model::sample::Opening;
use brunt_model::{Failure, Tick};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What the imagined server does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A reply with this status is complete at this instant.
    Reply(u16, Tick),
    /// It fails so, at this instant.
    Fails(Failure, Tick),
    /// Nothing ever comes.
    Never,
}

/// The imagined server: told when a request was sent, it says what becomes of it.
pub type Server = Rc<RefCell<dyn FnMut(Tick) -> Answer>>;

/// A wire whose connections open at once and whose requests take no time to send.
pub struct FakeWire<T> {
    time: T,
    server: Server,
    opened: Rc<Cell<u64>>,
}

impl<T: Timer> FakeWire<T> {
    /// A wire to `server`; `opened` counts its connections.
    pub fn new(time: T, server: Server, opened: Rc<Cell<u64>>) -> Self {
        Self { time, server, opened }
    }
}

/// K servers with a first-come-first-served queue before them; each request takes `service` nanoseconds of one.
pub fn queue(servers: usize, mut service: impl FnMut() -> u64) -> impl FnMut(Tick) -> Answer {
    let mut free = vec![Tick::ZERO; servers];
    move |now| {
        let earliest = free.iter_mut().min().map(|at| {
            *at = Tick(now.max(*at).0 + service());
            *at
        });
        Answer::Reply(200, earliest.unwrap_or(now))
    }
}

impl<T: Timer + 'static> Wire for FakeWire<T> {
    type Conn = u64;

    fn prepare(&self, draft: &Draft<'_>) -> Result<Prepared, BadRequest> {
        Ok(Prepared { label: draft.label, url: draft.url.to_owned(), ..Prepared::default() })
    }

    async fn open(&self, _: &Prepared, steps: &mut Opening) -> Result<u64, Failure> {
        self.opened.set(self.opened.get() + 1);
        steps.connect = Some(0);
        Ok(self.opened.get())
    }

    fn leads_to(&self, _: &u64, _: &Prepared) -> bool {
        true
    }

    async fn exchange(&self, _: &mut u64, _: &Prepared, stamps: &mut Stamps) -> Result<Reply, Failure> {
        stamps.sent = self.time.now();
        let answer = (self.server.borrow_mut())(stamps.sent);
        let (Answer::Reply(_, at) | Answer::Fails(_, at)) = answer else { return std::future::pending().await };
        self.time.sleep_until(at).await;
        stamps.last_byte = self.time.now();
        stamps.first_byte = stamps.last_byte;
        match answer {
            Answer::Reply(status, _) => Ok(Reply { status, keep_alive: true, ..Reply::default() }),
            Answer::Fails(failure, _) => Err(failure),
            Answer::Never => std::future::pending().await,
        }
    }

    async fn closed(&self, _: &mut u64) {
        std::future::pending().await
    }

    fn take_note(&self) -> Option<String> {
        None
    }

    fn take_target(&self) -> Option<(Vec<String>, Option<String>)> {
        None
    }
}
