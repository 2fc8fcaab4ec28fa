//! Shares the connections of one client among its exchanges, where a connection has several lanes.
//!
//! Those that wait for a lane get one in the order in which they came. A connection that takes no more exchanges (GOAWAY)
//! counts until those under way have ended: another one is opened only then, so that a client never has more to one
//! origin than the plan says. Where it may have several, each exchange takes the one with the fewest under way.

use super::{Connection, Lease, add_one};
use crate::origin::OriginId;
use crate::{Prepared, Transport};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The shared connections of one client, and who waits for a lane.
pub(super) struct Sharing<T: Transport> {
    /// A lane of each connection that takes exchanges; further lanes are made of it.
    trunks: RefCell<Vec<Lease<T>>>,
    queue: Rc<Queue>,
    /// Connections to an origin, at most.
    per_origin: usize,
}

/// Who waits for a lane, and which connections there are.
#[derive(Default)]
pub(super) struct Queue {
    /// The origins of connections that are open, and of those that are being opened.
    origins: RefCell<Vec<OriginId>>,
    waiting: RefCell<VecDeque<Waiting>>,
    next: Cell<u64>,
}

struct Waiting {
    number: u64,
    origin: OriginId,
    waker: Waker,
    order: QueueOrder,
}

/// Where a request waits for a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueOrder {
    /// Before all requests that were never sent: the server did not process this one.
    First,
    /// After all others.
    Last,
}

/// A place in the queue for a lane; dropped when it is no longer waited for.
pub struct QueuePlace {
    queue: Rc<Queue>,
    number: u64,
    origin: OriginId,
}

/// The right to open a connection. Until it is dropped, it counts as one of those that the client has to this origin.
pub struct OpeningPermit {
    queue: Rc<Queue>,
    origin: OriginId,
}

impl Queue {
    fn add_origin(&self, origin: OriginId) {
        self.origins.borrow_mut().push(origin);
    }

    /// A connection was closed, or is no longer being opened.
    pub fn remove_origin(&self, origin: OriginId) {
        let mut origins = self.origins.borrow_mut();
        if let Some(at) = origins.iter().position(|other| *other == origin) {
            origins.swap_remove(at);
        }
        drop(origins);
        self.wake_first(origin);
    }

    fn wake_first(&self, origin: OriginId) {
        if let Some(first) = self.waiting.borrow().iter().find(|waiting| waiting.origin == origin) {
            first.waker.wake_by_ref();
        }
    }

    /// Connections to an origin that are open, or are being opened.
    fn connections_to(&self, origin: OriginId) -> usize {
        self.origins.borrow().iter().filter(|other| **other == origin).count()
    }

    /// Whether nobody with an earlier place waits for the same origin.
    fn is_first(&self, place: Option<&QueuePlace>, origin: OriginId) -> bool {
        let waiting = self.waiting.borrow();
        let first = waiting.iter().find(|waiting| waiting.origin == origin);
        first.is_none_or(|first| place.is_some_and(|place| place.number == first.number))
    }

    /// Takes a place in the queue, or keeps the place that one has.
    fn wait(self: &Rc<Self>, place: &mut Option<QueuePlace>, origin: OriginId, order: QueueOrder, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        let number = place.as_ref().filter(|place| place.origin == origin).map(|place| place.number);
        if let Some(found) = waiting.iter_mut().find(|waiting| Some(waiting.number) == number) {
            found.waker.clone_from(waker);
            return;
        }
        let number = self.next.get();
        add_one(&self.next);
        let at = match order {
            QueueOrder::First => waiting.iter().take_while(|other| other.order == QueueOrder::First).count(),
            QueueOrder::Last => waiting.len(),
        };
        waiting.insert(at, Waiting { number, origin, waker: waker.clone(), order });
        drop(waiting);
        *place = Some(QueuePlace { queue: Rc::clone(self), number, origin });
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        self.queue.waiting.borrow_mut().retain(|waiting| waiting.number != self.number);
        self.queue.wake_first(self.origin);
    }
}

impl Drop for OpeningPermit {
    fn drop(&mut self) {
        self.queue.remove_origin(self.origin);
    }
}

impl<T: Transport> Lease<T> {
    /// Whether its connection takes another exchange, now or when one that is under way has ended.
    fn accepts(&self, transport: &T) -> bool {
        let Connection { served, under_way, rules, .. } = &*self.connection;
        let has_requests_left = served.get() + u64::from(under_way.get()) < rules.requests_per_connection;
        has_requests_left && transport.accepts(&self.lane)
    }

    /// Takes one of the exchanges that may be under way at once on its connection; whether there was one.
    fn claim(&mut self, transport: &T) -> bool {
        let under_way = self.connection.under_way.get();
        // Where the server allows none at present, one waits for it within its timeout, not all of them without end.
        self.is_claimed = under_way < transport.most_exchanges(&self.lane).max(1);
        if self.is_claimed {
            self.connection.under_way.set(under_way + 1);
        }
        self.is_claimed
    }

    /// Claims the first exchange of a connection that was just opened.
    pub fn claim_first(&mut self) {
        if !self.is_claimed {
            self.is_claimed = true;
            self.connection.under_way.set(self.connection.under_way.get() + 1);
        }
    }

    /// Gives up the claim after an exchange; whether the connection takes another one.
    pub(super) fn release(&mut self, transport: &T) -> bool {
        let Some(queue) = &self.connection.queue else { return true };
        self.is_claimed = false;
        self.connection.under_way.set(self.connection.under_way.get() - 1);
        queue.wake_first(self.origin);
        self.accepts(transport)
    }

    fn branch(&self, transport: &T) -> Option<Self> {
        let lane = transport.share(&self.lane)?;
        let (connection, origin) = (Rc::clone(&self.connection), self.origin);
        Some(Self { lane, connection, origin, is_claimed: false, owed: 0, closes: false })
    }
}

impl<T: Transport> Sharing<T> {
    pub fn new(per_origin: usize) -> Self {
        Self { trunks: RefCell::default(), queue: Rc::default(), per_origin }
    }

    /// Counts a connection that was just opened, until it tells the queue that it is closed.
    pub fn connection_opened(&self, origin: OriginId) -> Rc<Queue> {
        self.queue.add_origin(origin);
        Rc::clone(&self.queue)
    }

    /// Makes further lanes on the connection of `lease`.
    pub fn keep_trunk(&self, transport: &T, lease: &Lease<T>) {
        self.trunks.borrow_mut().extend(lease.branch(transport));
    }

    /// Makes no more lanes on the connection of `lease`; whether some were made until now.
    pub fn drop_trunk(&self, lease: &Lease<T>) -> bool {
        let mut trunks = self.trunks.borrow_mut();
        let at = trunks.iter().position(|trunk| Rc::ptr_eq(&trunk.connection, &lease.connection));
        let trunk = at.map(|at| trunks.swap_remove(at));
        // A closed connection wakes those that wait.
        drop(trunks);
        trunk.is_some()
    }

    pub fn drop_trunks(&self) {
        let trunks = std::mem::take(&mut *self.trunks.borrow_mut());
        drop(trunks);
    }

    pub fn has_any(&self) -> bool {
        !self.trunks.borrow().is_empty()
    }

    /// Whether another connection to the same origin has fewer exchanges under way than that of `lease`, or may be opened.
    fn has_freer(&self, lease: &Lease<T>) -> bool {
        let under_way = lease.connection.under_way.get();
        if self.per_origin == 1 || under_way == 0 {
            return false;
        }
        let is_freer = |trunk: &Lease<T>| trunk.origin == lease.origin && trunk.connection.under_way.get() < under_way;
        self.queue.connections_to(lease.origin) < self.per_origin || self.trunks.borrow().iter().any(is_freer)
    }

    /// A further lane on the connection to `origin` that has the fewest exchanges under way, of those that take some.
    fn branch(&self, transport: &T, origin: OriginId) -> Option<Lease<T>> {
        loop {
            let mut trunks = self.trunks.borrow_mut();
            let to_origin = trunks.iter().enumerate().filter(|(_, trunk)| trunk.origin == origin);
            let (at, trunk) = to_origin.min_by_key(|(_, trunk)| trunk.connection.under_way.get())?;
            if trunk.accepts(transport) {
                return trunk.branch(transport);
            }
            let trunk = trunks.swap_remove(at);
            drop(trunks);
            drop(trunk);
        }
    }

    pub fn poll_claim(
        &self,
        transport: &T,
        request: &Prepared,
        (held, place): (&mut Option<Lease<T>>, &mut Option<QueuePlace>),
        order: QueueOrder,
        cx: &mut Context<'_>,
    ) -> Poll<Option<OpeningPermit>> {
        let origin = request.origin;
        if held.as_ref().is_some_and(|lease| lease.origin != origin || !lease.accepts(transport)) {
            *held = None;
        }
        if self.queue.is_first(place.as_ref(), origin) {
            let keeps = held.as_ref().is_some_and(|lease| !self.has_freer(lease));
            let mut has_lane = keeps && held.as_mut().is_some_and(|lease| lease.claim(transport));
            if !has_lane {
                *held = self.branch(transport, origin);
                let is_idle = held.as_ref().is_some_and(|lease| lease.connection.under_way.get() == 0);
                if !is_idle && self.queue.connections_to(origin) < self.per_origin {
                    self.queue.add_origin(origin);
                    (*held, *place) = (None, None);
                    return Poll::Ready(Some(OpeningPermit { queue: Rc::clone(&self.queue), origin }));
                }
                has_lane = held.as_mut().is_some_and(|lease| lease.claim(transport));
            }
            if has_lane {
                // The next one in the queue looks for a lane, too.
                *place = None;
                return Poll::Ready(None);
            }
        }
        // Nobody who waits keeps a connection open that takes no more exchanges.
        *held = None;
        self.queue.wait(place, origin, order, cx.waker());
        Poll::Pending
    }
}
