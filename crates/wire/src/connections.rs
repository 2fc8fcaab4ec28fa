//! Keeps the connections of one client: reuse, limits, what closes a connection, and exact counts of all of them.
//!
//! A *client* is what `-c` counts: a user of a closed loop, or one of the connections that an open loop may have. It has
//! one connection to each origin, or as many as the plan says. Where the transport multiplexes, the exchanges of a client share
//! them (`sharing`); otherwise a connection carries one exchange, and further ones are opened for exchanges at the same time.
//!
//! An exchange needs a [`Lease`]: a lane and the connection that it belongs to. Its holder uses it again without
//! a look at anything here.

mod sharing;

use crate::origin::OriginId;
use crate::{Idle, Prepared, Reply, Stamps, Transport};
use brunt_model::plan::ConnectionLifetime;
use brunt_model::{Failure, Flow};
pub use sharing::{OpeningPermit, QueueOrder, QueuePlace};
use sharing::{Queue, Sharing};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// How long connections are kept; the same for all clients of a worker.
#[derive(Debug)]
pub struct ConnectionRules {
    /// For whose requests a connection is.
    pub keep: ConnectionLifetime,
    /// Exchanges on one connection, at most.
    pub requests_per_connection: u64,
    /// Connections to other origins than that of the last request that a client keeps, at most.
    pub other_origins: u32,
    /// Connections of a client to an origin, at most, where its exchanges share them.
    pub connections_per_origin: usize,
    /// Counts of opened, open and lost connections.
    pub counts: RefCell<Flow>,
}

impl ConnectionRules {
    /// Counts since the last call, and the connections that are open now.
    pub fn take_counts(&self) -> Flow {
        let connections = self.counts.borrow().connections;
        self.counts.replace(Flow { connections, ..Flow::default() })
    }
}

/// An open connection, for as long as one of its lanes is held.
struct Connection {
    origin: OriginId,
    rules: Rc<ConnectionRules>,
    /// Exchanges that have ended on it, and, where it is shared, those under way.
    served: Cell<u64>,
    under_way: Cell<u32>,
    /// Where the client's exchanges share it.
    queue: Option<Rc<Queue>>,
}

/// A lane and its connection. The connection closes when its last lease is dropped.
pub struct Lease<T: Transport> {
    // Dropped before the connection is counted as closed.
    lane: T::Lane,
    connection: Rc<Connection>,
    origin: OriginId,
    /// It may be used for an exchange. On a connection that is shared it has to be claimed for each.
    is_claimed: bool,
    /// Replies to requests that were sent ahead.
    owed: usize,
    /// The last request said that no other follows.
    closes: bool,
}

/// The connections of one client that are in nobody's use.
pub struct Connections<T: Transport> {
    rules: Rc<ConnectionRules>,
    idle: RefCell<Vec<Lease<T>>>,
    most_idle: Cell<usize>,
    sharing: Option<Box<Sharing<T>>>,
}

fn add_one(count: &Cell<u64>) {
    count.set(count.get() + 1);
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.rules.counts.borrow_mut().connections -= 1;
        if let Some(queue) = &self.queue {
            queue.remove_origin(self.origin);
        }
    }
}

impl<T: Transport> Lease<T> {
    /// Whether it may be used for this request, now.
    #[inline]
    pub fn is_for(&self, request: &Prepared) -> bool {
        self.origin == request.origin && self.is_claimed
    }

    /// Whether its connection has carried an exchange before.
    pub fn is_reused(&self) -> bool {
        self.connection.served.get() > 0 || self.connection.under_way.get() > 1
    }

    /// Sends all of these requests before their exchanges, unless exchanges of requests sent before are still to come.
    pub async fn send_ahead(&mut self, transport: &T, requests: &[Rc<Prepared>]) {
        if self.owed == 0 {
            self.owed = requests.len();
            transport.send_ahead(&mut self.lane, requests).await;
        }
    }

    /// Sends the request, unless it was sent ahead, and reads the whole reply.
    pub fn exchange(
        &mut self,
        transport: &T,
        request: &Prepared,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        self.closes = request.closes;
        transport.exchange(&mut self.lane, request, stamps)
    }

    /// The exchange ended, or was given up; whether the lease is of further use. If not, the caller drops it.
    pub fn settle(&mut self, transport: &T, result: &Result<Reply, Failure>) -> bool {
        self.owed = self.owed.saturating_sub(1);
        add_one(&self.connection.served);
        let accepts = self.release(transport);
        match result {
            Ok(reply) => {
                transport.replied(reply);
                accepts && self.outlives(reply)
            }
            // A stream is lost alone; without streams, nobody knows where the next reply would begin.
            Err(_) => accepts && self.connection.queue.is_some(),
        }
    }

    /// Whether the connection is there for another exchange after this reply.
    fn outlives(&self, reply: &Reply) -> bool {
        let rules = &self.connection.rules;
        let leaves_open = reply.keep_alive && !self.closes || rules.keep == ConnectionLifetime::Iteration;
        let keeps = leaves_open && self.connection.served.get() < rules.requests_per_connection;
        if keeps && reply.unsolicited {
            rules.counts.borrow_mut().unsolicited += 1;
        }
        keeps && !reply.unsolicited
    }

    /// Resolves when the connection can no longer be used though no exchange is under way on this lane.
    pub async fn closed(&mut self, transport: &T) -> Idle {
        transport.closed(&mut self.lane).await
    }
}

impl<T: Transport> Connections<T> {
    /// No connections yet.
    pub fn new(rules: &Rc<ConnectionRules>, transport: &T) -> Self {
        let sharing = transport.multiplexes().then(|| Box::new(Sharing::new(rules.connections_per_origin)));
        Self {
            rules: Rc::clone(rules),
            idle: RefCell::default(),
            most_idle: Cell::new(rules.other_origins as usize),
            sharing,
        }
    }

    /// Whether exchanges share connections: then each waits for a [free lane](Self::poll_claim).
    #[inline]
    pub fn are_shared(&self) -> bool {
        self.sharing.is_some()
    }

    /// Keeps `extra` idle connections for exchanges at the same time.
    pub fn keep_for(&self, extra: usize) {
        self.most_idle.set(self.most_idle.get().max(extra));
    }

    /// The first lane of a connection that was just opened.
    pub fn opened(&self, transport: &T, lane: T::Lane, origin: OriginId) -> Lease<T> {
        {
            let mut counts = self.rules.counts.borrow_mut();
            counts.opened += 1;
            counts.connections += 1;
        }
        let queue = self.sharing.as_ref().map(|sharing| sharing.connection_opened(origin));
        let (rules, served, under_way) = (Rc::clone(&self.rules), Cell::new(0), Cell::new(0));
        let connection = Rc::new(Connection { origin, rules, served, under_way, queue });
        let is_claimed = self.sharing.is_none();
        let lease = Lease { lane, connection, origin, is_claimed, owed: 0, closes: false };
        if let Some(sharing) = &self.sharing {
            sharing.keep_trunk(transport, &lease);
        }
        lease
    }

    /// Keeps a connection for later requests to its origin, where the rules permit that.
    pub fn give_back(&self, lease: Lease<T>) {
        if self.rules.other_origins > 0 {
            self.keep(lease);
        }
    }

    /// Keeps a connection for the client's next exchange at the same time.
    pub fn keep(&self, lease: Lease<T>) {
        // Shared connections are all kept already.
        if lease.owed > 0 || self.sharing.is_some() {
            return;
        }
        let mut idle = self.idle.borrow_mut();
        idle.push(lease);
        if idle.len() > self.most_idle.get() {
            let oldest = idle.remove(0);
            drop(idle);
            drop(oldest);
        }
    }

    /// Whether there is an idle connection to where `request` goes.
    pub fn has_idle(&self, request: &Prepared) -> bool {
        self.idle_for(request).is_some()
    }

    fn idle_for(&self, request: &Prepared) -> Option<usize> {
        self.idle.borrow().iter().position(|lease| lease.origin == request.origin)
    }

    /// An idle connection to where `request` goes, if one is still open.
    pub async fn resume(&self, transport: &T, request: &Prepared) -> Option<Lease<T>> {
        loop {
            let at = self.idle_for(request)?;
            let mut lease = self.idle.borrow_mut().swap_remove(at);
            let closed = {
                let mut closed = pin!(transport.closed(&mut lease.lane));
                std::future::poll_fn(|cx| match closed.as_mut().poll(cx) {
                    Poll::Ready(idle) => Poll::Ready(Some(idle)),
                    Poll::Pending => Poll::Ready(None),
                })
                .await
            };
            match closed {
                None => return Some(lease),
                Some(idle) => self.lost_idle(&lease, idle),
            }
        }
    }

    /// The connection of this lease takes no more exchanges: it closes with its last lease.
    pub fn retire(&self, lease: &Lease<T>) {
        if let Some(sharing) = &self.sharing {
            sharing.drop_trunk(lease);
        }
    }

    /// The connection of this lease was found of no more use while it was idle.
    pub fn lost_idle(&self, lease: &Lease<T>, idle: Idle) {
        if let Some(sharing) = &self.sharing
            && (!sharing.drop_trunk(lease) || lease.connection.under_way.get() > 0)
        {
            // Another lane has told of it, or the connection is in use.
            return;
        }
        let mut counts = self.rules.counts.borrow_mut();
        match idle {
            Idle::Closed => counts.closed_idle += 1,
            Idle::Unsolicited => counts.unsolicited += 1,
        }
    }

    /// Closes all of them; those whose leases are held close with these.
    pub fn close_all(&self) {
        let idle = std::mem::take(&mut *self.idle.borrow_mut());
        drop(idle);
        if let Some(sharing) = &self.sharing {
            sharing.drop_trunks();
        }
    }

    /// Whether an open connection is idle here, or shared.
    pub fn has_any(&self) -> bool {
        !self.idle.borrow().is_empty() || self.sharing.as_ref().is_some_and(|sharing| sharing.has_any())
    }

    /// Waits for a lane to where `request` goes, where connections are shared. Ready(None): `held` is one, and claimed
    /// for an exchange. Ready(Some): a connection may be opened, by the holder of the permit alone.
    pub fn poll_claim(
        &self,
        transport: &T,
        request: &Prepared,
        (held, place): (&mut Option<Lease<T>>, &mut Option<QueuePlace>),
        order: QueueOrder,
        cx: &mut Context<'_>,
    ) -> Poll<Option<OpeningPermit>> {
        let Some(sharing) = &self.sharing else { return Poll::Ready(None) };
        sharing.poll_claim(transport, request, (held, place), order, cx)
    }
}
