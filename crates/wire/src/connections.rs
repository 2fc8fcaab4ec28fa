//! Keeps the connections of one client: reuse, limits, reasons for closing, and exact counts.
//!
//! A *client* is one of the `-c` connections: a user of a closed loop, or a connection of an open
//! loop. It has one connection to each origin, or the number that the plan sets. If the transport
//! multiplexes, the exchanges of a client share these connections (`sharing`). Otherwise a
//! connection carries one exchange at a time, and simultaneous exchanges open further connections.
//!
//! An exchange needs a [`Lease`]: a lane and its connection. The holder of a lease reuses it
//! without going through this module.

mod sharing;

use crate::origin::OriginId;
use crate::{IdleEnd, Prepared, Reply, Stamps, Transport};
use brunt_model::plan::ConnectionLifetime;
use brunt_model::{Failure, Flow};
pub use sharing::{OpeningPermit, QueueOrder, QueuePlace};
use sharing::{Queue, Sharing};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// When connections are kept and closed. All clients of a worker share it.
#[derive(Debug)]
pub struct ConnectionRules {
    /// How long a connection is kept: for one request, for an iteration, or longer.
    pub keep: ConnectionLifetime,
    /// Maximum number of exchanges on one connection.
    pub requests_per_connection: u64,
    /// Maximum number of idle connections per client to origins other than that
    /// of the last request.
    pub other_origins: u32,
    /// Maximum number of connections of a client to one origin, if its exchanges share them.
    pub connections_per_origin: usize,
    /// Counts of opened, open and lost connections.
    pub counts: RefCell<Flow>,
}

impl ConnectionRules {
    /// Returns the counts since the last call, and the number of connections that are open now.
    pub fn take_counts(&self) -> Flow {
        let connections = self.counts.borrow().connections;
        self.counts.replace(Flow { connections, ..Flow::default() })
    }
}

/// An open connection. It is counted as open until its last lease is dropped.
struct Connection {
    origin: OriginId,
    rules: Rc<ConnectionRules>,
    /// Completed exchanges, and on a shared connection the exchanges in flight.
    served: Cell<u64>,
    in_flight: Cell<u32>,
    /// Set if the client's exchanges share the connection.
    queue: Option<Rc<Queue>>,
}

/// A lane and its connection. The connection closes when its last lease is dropped.
pub struct Lease<T: Transport> {
    // Dropped before the connection is counted as closed.
    lane: T::Lane,
    connection: Rc<Connection>,
    origin: OriginId,
    /// True if an exchange may begin. A lane of a shared connection is claimed for each exchange.
    is_claimed: bool,
    /// Number of requests that were sent ahead and whose exchanges have not ended.
    pending_replies: usize,
    /// True if the last request asked the server to close the connection.
    closes: bool,
}

/// The idle and shared connections of one client.
pub struct ConnectionPool<T: Transport> {
    rules: Rc<ConnectionRules>,
    idle: RefCell<Vec<Lease<T>>>,
    max_idle: Cell<usize>,
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
    /// True if the lease can carry this request now.
    #[inline]
    pub fn is_for(&self, request: &Prepared) -> bool {
        self.origin == request.origin && self.is_claimed
    }

    /// True if its connection has carried an exchange before.
    pub fn is_reused(&self) -> bool {
        self.connection.served.get() > 0 || self.connection.in_flight.get() > 1
    }

    /// Sends all these requests before their exchanges. Does nothing while exchanges of requests
    /// that were sent earlier are pending.
    pub async fn send_ahead(&mut self, transport: &T, requests: &[Rc<Prepared>]) {
        if self.pending_replies == 0 {
            self.pending_replies = requests.len();
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

    /// Records the end of an exchange, and returns true if the lease can be reused. If not,
    /// the caller drops it.
    pub fn settle(&mut self, transport: &T, result: &Result<Reply, Failure>) -> bool {
        self.pending_replies = self.pending_replies.saturating_sub(1);
        add_one(&self.connection.served);
        let accepts = self.release(transport);
        match result {
            Ok(reply) => {
                transport.note_reply(reply);
                accepts && self.can_continue_after(reply)
            }
            // A failure ends only its stream. Without streams the start of the
            // next reply is unknown.
            Err(_) => accepts && self.connection.queue.is_some(),
        }
    }

    /// True if the connection can carry another exchange after this reply.
    fn can_continue_after(&self, reply: &Reply) -> bool {
        let rules = &self.connection.rules;
        let leaves_open =
            reply.keep_alive && !self.closes || rules.keep == ConnectionLifetime::Iteration;
        let keeps = leaves_open && self.connection.served.get() < rules.requests_per_connection;
        if keeps && reply.unsolicited {
            rules.counts.borrow_mut().unsolicited += 1;
        }
        keeps && !reply.unsolicited
    }

    /// Returns the messages that the last exchange skipped, if they were wanted.
    pub fn take_skipped(&mut self, transport: &T) -> Vec<Vec<u8>> {
        transport.take_skipped(&mut self.lane)
    }

    /// Resolves when the connection can no longer be used though this lane has
    /// no exchange in flight.
    pub async fn closed(&mut self, transport: &T) -> IdleEnd {
        transport.closed(&mut self.lane).await
    }
}

impl<T: Transport> ConnectionPool<T> {
    /// Creates an empty set of connections.
    pub fn new(rules: &Rc<ConnectionRules>, transport: &T) -> Self {
        let sharing =
            transport.multiplexes().then(|| Box::new(Sharing::new(rules.connections_per_origin)));
        Self {
            rules: Rc::clone(rules),
            idle: RefCell::default(),
            max_idle: Cell::new(rules.other_origins as usize),
            sharing,
        }
    }

    /// True if exchanges share connections. Each exchange then waits
    /// for a [free lane](Self::poll_claim).
    #[inline]
    pub fn are_shared(&self) -> bool {
        self.sharing.is_some()
    }

    /// Raises the limit of idle connections to `extra`, for simultaneous exchanges.
    pub fn keep_for(&self, extra: usize) {
        self.max_idle.set(self.max_idle.get().max(extra));
    }

    /// Returns the first lease of a connection that was just opened.
    pub fn add_opened(&self, transport: &T, lane: T::Lane, origin: OriginId) -> Lease<T> {
        {
            let mut counts = self.rules.counts.borrow_mut();
            counts.opened += 1;
            counts.connections += 1;
        }
        let queue = self.sharing.as_ref().map(|sharing| sharing.connection_opened(origin));
        let connection = Rc::new(Connection {
            origin,
            rules: Rc::clone(&self.rules),
            served: Cell::new(0),
            in_flight: Cell::new(0),
            queue,
        });
        let is_claimed = self.sharing.is_none();
        let lease =
            Lease { lane, connection, origin, is_claimed, pending_replies: 0, closes: false };
        if let Some(sharing) = &self.sharing {
            sharing.keep_trunk(transport, &lease);
        }
        lease
    }

    /// Keeps a connection for later requests to its origin, if the rules allow it.
    pub fn give_back(&self, lease: Lease<T>) {
        if self.rules.other_origins > 0 {
            self.keep(lease);
        }
    }

    /// Keeps a connection for a later simultaneous exchange of the client.
    pub fn keep(&self, lease: Lease<T>) {
        // Shared connections are kept by `sharing`.
        if lease.pending_replies > 0 || self.sharing.is_some() {
            return;
        }
        let mut idle = self.idle.borrow_mut();
        idle.push(lease);
        if idle.len() > self.max_idle.get() {
            let oldest = idle.remove(0);
            // The borrow ends first, because dropping a lease may close its connection, which runs other code.
            drop(idle);
            drop(oldest);
        }
    }

    /// True if an idle connection leads to the origin of `request`.
    pub fn has_idle(&self, request: &Prepared) -> bool {
        self.idle_for(request).is_some()
    }

    fn idle_for(&self, request: &Prepared) -> Option<usize> {
        self.idle.borrow().iter().position(|lease| lease.origin == request.origin)
    }

    /// Returns an idle connection to the origin of `request`, if one is still open.
    pub async fn resume(&self, transport: &T, request: &Prepared) -> Option<Lease<T>> {
        loop {
            let index = self.idle_for(request)?;
            let mut lease = self.idle.borrow_mut().swap_remove(index);
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
                Some(idle) => self.count_lost_idle(&lease, idle),
            }
        }
    }

    /// Prevents further exchanges on the connection of this lease. It closes with its last lease.
    pub fn retire(&self, lease: &Lease<T>) {
        if let Some(sharing) = &self.sharing {
            sharing.drop_trunk(lease);
        }
    }

    /// Records that the connection of this lease became unusable while it was idle.
    pub fn count_lost_idle(&self, lease: &Lease<T>, idle: IdleEnd) {
        if let Some(sharing) = &self.sharing
            && (!sharing.drop_trunk(lease) || lease.connection.in_flight.get() > 0)
        {
            // Another lane has reported it, or the connection is in use.
            return;
        }
        let mut counts = self.rules.counts.borrow_mut();
        match idle {
            IdleEnd::Closed => counts.closed_idle += 1,
            IdleEnd::Unsolicited => counts.unsolicited += 1,
        }
    }

    /// Closes all idle and shared connections. Leased connections close when
    /// their leases are dropped.
    pub fn close_all(&self) {
        let idle = std::mem::take(&mut *self.idle.borrow_mut());
        drop(idle);
        if let Some(sharing) = &self.sharing {
            sharing.drop_trunks();
        }
    }

    /// True if an open connection is idle or shared.
    pub fn has_any(&self) -> bool {
        !self.idle.borrow().is_empty()
            || self.sharing.as_ref().is_some_and(|sharing| sharing.has_any())
    }

    /// Waits for a lane to the origin of `request`, if connections are shared. `slot` holds the
    /// caller's lease and its place in the queue. Ready(None): the lease is set, and claimed for an
    /// exchange. Ready(Some): the holder of the permit may open a connection.
    pub fn poll_claim(
        &self,
        transport: &T,
        request: &Prepared,
        slot: (&mut Option<Lease<T>>, &mut Option<QueuePlace>),
        order: QueueOrder,
        cx: &mut Context<'_>,
    ) -> Poll<Option<OpeningPermit>> {
        let Some(sharing) = &self.sharing else { return Poll::Ready(None) };
        let (lease, place) = slot;
        sharing.poll_claim(transport, request, lease, place, order, cx)
    }
}
