//! Shares the connections of one client among its exchanges, where a connection has several lanes.
//!
//! Waiting exchanges get lanes in order of arrival. A connection that accepts no more exchanges
//! (GOAWAY) still counts until its exchanges in flight have ended. Another one is opened only then,
//! so a client never exceeds the plan's number of connections to an origin. If it has several, each
//! exchange takes the one with the fewest exchanges in flight.

use super::{Connection, Lease, add_one};
use crate::origin::OriginId;
use crate::{Prepared, Transport};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The shared connections of one client, and the queue of exchanges that wait for a lane.
pub(super) struct Sharing<T: Transport> {
    /// One lane of each connection that accepts exchanges; `share` makes further lanes from it.
    trunks: RefCell<Vec<Lease<T>>>,
    queue: Rc<Queue>,
    /// Maximum number of connections to an origin.
    per_origin: usize,
}

/// The exchanges that wait for a lane, and the origins of existing connections.
#[derive(Default)]
pub(super) struct Queue {
    /// Origins of connections that are open or being opened, one entry per connection.
    origins: RefCell<Vec<OriginId>>,
    waiting: RefCell<VecDeque<Waiting>>,
    next_number: Cell<u64>,
}

struct Waiting {
    number: u64,
    origin: OriginId,
    waker: Waker,
    order: QueueOrder,
}

/// Position of a request in the queue for a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueOrder {
    /// Before all requests that were never sent, because the server did not process this one.
    First,
    /// After all others.
    Last,
}

/// A place in the queue for a lane. Dropping it leaves the queue.
pub struct QueuePlace {
    queue: Rc<Queue>,
    number: u64,
    origin: OriginId,
}

/// The right to open a connection. Until it is dropped, it counts as a connection of the
/// client to this origin.
pub struct OpeningPermit {
    queue: Rc<Queue>,
    origin: OriginId,
}

impl Queue {
    fn add_origin(&self, origin: OriginId) {
        self.origins.borrow_mut().push(origin);
    }

    /// Removes a connection that was closed, or that is no longer being opened.
    pub fn remove_origin(&self, origin: OriginId) {
        let mut origins = self.origins.borrow_mut();
        if let Some(index) = origins.iter().position(|other| *other == origin) {
            origins.swap_remove(index);
        }
        drop(origins);
        self.wake_first(origin);
    }

    fn wake_first(&self, origin: OriginId) {
        if let Some(first) = self.waiting.borrow().iter().find(|waiting| waiting.origin == origin) {
            first.waker.wake_by_ref();
        }
    }

    /// Number of connections to an origin that are open or being opened.
    fn connections_to(&self, origin: OriginId) -> usize {
        self.origins.borrow().iter().filter(|other| **other == origin).count()
    }

    /// True if no exchange with an earlier place waits for the same origin.
    fn is_first(&self, place: Option<&QueuePlace>, origin: OriginId) -> bool {
        let waiting = self.waiting.borrow();
        let first = waiting.iter().find(|waiting| waiting.origin == origin);
        first.is_none_or(|first| place.is_some_and(|place| place.number == first.number))
    }

    /// Takes a place in the queue, or keeps the caller's existing place.
    fn wait(
        self: &Rc<Self>,
        place: &mut Option<QueuePlace>,
        origin: OriginId,
        order: QueueOrder,
        waker: &Waker,
    ) {
        let mut waiting = self.waiting.borrow_mut();
        let number =
            place.as_ref().filter(|place| place.origin == origin).map(|place| place.number);
        if let Some(entry) = waiting.iter_mut().find(|waiting| Some(waiting.number) == number) {
            entry.waker.clone_from(waker);
            return;
        }
        let number = self.next_number.get();
        add_one(&self.next_number);
        let index = match order {
            QueueOrder::First => {
                waiting.iter().take_while(|other| other.order == QueueOrder::First).count()
            }
            QueueOrder::Last => waiting.len(),
        };
        waiting.insert(index, Waiting { number, origin, waker: waker.clone(), order });
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
    /// True if its connection accepts another exchange, now or after one in flight has ended.
    fn accepts(&self, transport: &T) -> bool {
        let Connection { served, in_flight, rules, .. } = &*self.connection;
        let has_requests_left =
            served.get() + u64::from(in_flight.get()) < rules.requests_per_connection;
        has_requests_left && transport.accepts(&self.lane)
    }

    /// Claims an exchange on its connection, and returns true if the limit on exchanges
    /// in flight allowed it.
    fn claim(&mut self, transport: &T) -> bool {
        let in_flight = self.connection.in_flight.get();
        // If the server allows no streams at present, a single exchange waits for one within its
        // timeout. Otherwise all exchanges would wait without a limit.
        self.is_claimed = in_flight < transport.most_exchanges(&self.lane).max(1);
        if self.is_claimed {
            self.connection.in_flight.set(in_flight + 1);
        }
        self.is_claimed
    }

    /// Claims the first exchange of a connection that was just opened.
    pub fn claim_first(&mut self) {
        if !self.is_claimed {
            self.is_claimed = true;
            self.connection.in_flight.set(self.connection.in_flight.get() + 1);
        }
    }

    /// Releases the claim after an exchange, and returns true if the
    /// connection accepts another one.
    pub(super) fn release(&mut self, transport: &T) -> bool {
        let Some(queue) = &self.connection.queue else { return true };
        self.is_claimed = false;
        self.connection.in_flight.set(self.connection.in_flight.get() - 1);
        queue.wake_first(self.origin);
        self.accepts(transport)
    }

    fn branch(&self, transport: &T) -> Option<Self> {
        let lane = transport.share(&self.lane)?;
        Some(Self {
            lane,
            connection: Rc::clone(&self.connection),
            origin: self.origin,
            is_claimed: false,
            pending_replies: 0,
            closes: false,
        })
    }
}

impl<T: Transport> Sharing<T> {
    pub fn new(per_origin: usize) -> Self {
        Self { trunks: RefCell::default(), queue: Rc::default(), per_origin }
    }

    /// Counts a connection that was just opened. The connection reports its end
    /// to the returned queue.
    pub fn connection_opened(&self, origin: OriginId) -> Rc<Queue> {
        self.queue.add_origin(origin);
        Rc::clone(&self.queue)
    }

    /// Allows further lanes on the connection of `lease`.
    pub fn keep_trunk(&self, transport: &T, lease: &Lease<T>) {
        self.trunks.borrow_mut().extend(lease.branch(transport));
    }

    /// Prevents further lanes on the connection of `lease`. Returns true if
    /// they were allowed before.
    pub fn drop_trunk(&self, lease: &Lease<T>) -> bool {
        let mut trunks = self.trunks.borrow_mut();
        let index =
            trunks.iter().position(|trunk| Rc::ptr_eq(&trunk.connection, &lease.connection));
        let trunk = index.map(|index| trunks.swap_remove(index));
        // Dropping the trunk may close the connection, which wakes waiting exchanges:
        // release the borrow first.
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

    /// True if another connection to the same origin has fewer exchanges in flight than that of
    /// `lease`, or may be opened.
    fn has_freer(&self, lease: &Lease<T>) -> bool {
        let in_flight = lease.connection.in_flight.get();
        if self.per_origin == 1 || in_flight == 0 {
            return false;
        }
        self.queue.connections_to(lease.origin) < self.per_origin
            || self.trunks.borrow().iter().any(|trunk| {
                trunk.origin == lease.origin && trunk.connection.in_flight.get() < in_flight
            })
    }

    /// Returns a further lane on the connection to `origin` with the fewest exchanges in flight, of
    /// those that accept exchanges.
    fn branch(&self, transport: &T, origin: OriginId) -> Option<Lease<T>> {
        loop {
            let mut trunks = self.trunks.borrow_mut();
            let to_origin = trunks.iter().enumerate().filter(|(_, trunk)| trunk.origin == origin);
            let (index, trunk) =
                to_origin.min_by_key(|(_, trunk)| trunk.connection.in_flight.get())?;
            if trunk.accepts(transport) {
                return trunk.branch(transport);
            }
            let trunk = trunks.swap_remove(index);
            drop(trunks);
            drop(trunk);
        }
    }

    pub fn poll_claim(
        &self,
        transport: &T,
        request: &Prepared,
        lease: &mut Option<Lease<T>>,
        place: &mut Option<QueuePlace>,
        order: QueueOrder,
        cx: &mut Context<'_>,
    ) -> Poll<Option<OpeningPermit>> {
        let origin = request.origin;
        if lease.as_ref().is_some_and(|lease| lease.origin != origin || !lease.accepts(transport)) {
            *lease = None;
        }
        if self.queue.is_first(place.as_ref(), origin) {
            let keeps = lease.as_ref().is_some_and(|lease| !self.has_freer(lease));
            let mut has_lane = keeps && lease.as_mut().is_some_and(|lease| lease.claim(transport));
            if !has_lane {
                *lease = self.branch(transport, origin);
                let is_idle =
                    lease.as_ref().is_some_and(|lease| lease.connection.in_flight.get() == 0);
                if !is_idle && self.queue.connections_to(origin) < self.per_origin {
                    self.queue.add_origin(origin);
                    *lease = None;
                    *place = None;
                    return Poll::Ready(Some(OpeningPermit {
                        queue: Rc::clone(&self.queue),
                        origin,
                    }));
                }
                has_lane = lease.as_mut().is_some_and(|lease| lease.claim(transport));
            }
            if has_lane {
                // Leaving the queue wakes the next exchange, which then looks for a lane.
                *place = None;
                return Poll::Ready(None);
            }
        }
        // A waiting exchange must not keep a connection open that accepts no more exchanges.
        *lease = None;
        self.queue.wait(place, origin, order, cx.waker());
        Poll::Pending
    }
}
