//! Distributes the arrivals of an open loop to free connections, and queues those
//! that wait for one.
//!
//! Each worker thread has a *shard* of the pool: its connections, and the waiting arrivals that it
//! began. Most requests need only the worker's own shard, and its lock is then uncontended. Other
//! shards are searched only if that one has no free connection or no waiting arrival. An arrival
//! takes a free connection of any worker, its own worker's first. If none is free, the arrival
//! waits; the connection that becomes free first takes the arrival that was due first. The worker
//! that begins arrivals decides whether another connection is opened ([`Pool::grow`]), after it has
//! checked for replies. A *seat* is a lane: the right to one exchange at a time on a connection.
//! The cap limits connections, and each has as many seats as streams (one with HTTP/1). Out of
//! scope: the connections themselves, which never leave their thread.
//!
//! No arrival waits while a seat is free. A thread that queues an arrival looks for a free seat
//! afterwards, and a thread that frees a seat looks for a waiting arrival afterwards. Each change
//! is published before the search, so at least one of the two threads sees the other's change. A
//! seat is reserved before an arrival is taken from a queue. So an arrival between queue and seat
//! counts as in flight at any time.
//!
//! * `shard`: one worker's part. `pacing`: the time for which the connect rate kept
//!   workers from opening connections.

mod pacing;
mod shard;
#[cfg(test)]
mod tests;

use brunt_model::Tick;
use pacing::Pacing;
use shard::{Shard, Waiting};
// All orderings are `SeqCst`: "published before the search" needs one order for all threads.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};

/// Maximum number of waiting arrivals: memory stays bounded, however late a run is.
pub const MAX_WAITING: usize = 1 << 17;

/// An arrival of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Due time by the schedule.
    pub planned: Tick,
    /// Number among all arrivals of the run.
    pub number: u64,
}

/// An arrival, and the instant at which a connection was available for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssignedArrival {
    /// The arrival that the seat serves.
    pub arrival: Arrival,
    /// When a permitted connection was available.
    pub free: Tick,
    /// Nanoseconds for which it waited because connections are opened at a bounded rate.
    pub paced: u64,
}

/// Identifies a seat for the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeatId {
    /// Number among the seats of all workers, in order of creation.
    pub number: usize,
    worker: usize,
    /// Index among the seats of its worker.
    index: usize,
}

/// Policy for an arrival when every seat is busy and no more are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// It waits in a queue for the next free connection.
    Wait,
    /// It is dropped, and counts as an error.
    Drop,
}

/// Choice among several free connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionChoice {
    /// The connection used last: as few as possible are kept alive.
    Newest,
    /// The connection that has been idle longest: all are used in turn.
    Oldest,
}

/// Result of [`Pool::arrive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// A free seat has the arrival.
    Taken,
    /// The arrival waits in the queue.
    Waits,
    /// The pool is closed.
    Dropped,
}

/// Result of [`Pool::grow`], for the arrival that has waited longest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolGrowth {
    /// The caller must open a new connection. This is the first of its [seats](Pool::seats_of),
    /// and has the arrival.
    Seat(SeatId),
    /// There is no room for another connection: these arrivals are dropped.
    Dropped(Vec<Arrival>),
    /// No arrival waits, or it continues to wait for a seat.
    Nothing,
}

/// Seats and waiting arrivals of all workers.
pub struct Pool {
    cap: usize,
    /// Number of seats on each connection.
    streams: usize,
    overflow: Overflow,
    shards: Box<[Shard]>,
    /// Number of connections of all workers.
    connections: AtomicUsize,
    pacing: Pacing,
    closed: AtomicBool,
}

impl Pool {
    /// Creates a pool for at most `cap` connections over all workers, with one seat each.
    pub fn new(cap: usize, workers: usize, overflow: Overflow, take: ConnectionChoice) -> Self {
        Self {
            cap,
            streams: 1,
            overflow,
            shards: (0..workers).map(|_| Shard::new(take)).collect(),
            connections: AtomicUsize::new(0),
            pacing: Pacing::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// Sets the number of seats on each connection.
    #[must_use]
    pub fn with_streams(mut self, streams: u32) -> Self {
        self.streams = streams.max(1) as usize;
        self
    }

    /// Returns the seats on the connection that has `first` as its first seat.
    pub fn seats_of(&self, first: SeatId) -> impl Iterator<Item = SeatId> + use<> {
        (0..self.streams).map(move |n| SeatId {
            number: first.number + n,
            index: first.index + n,
            ..first
        })
    }

    /// Adds busy seats without a job, for a connection that is opened before the load begins.
    /// Returns the first of them.
    pub fn reserve(&self, worker: usize) -> SeatId {
        let number = self.connections.fetch_add(1, SeqCst);
        self.shards[worker].lock().add_seats(number, worker, None, self.streams)
    }

    /// Gives an arrival at `worker` to a free seat, or queues it.
    pub fn arrive(&self, arrival: Arrival, worker: usize, now: Tick) -> Arrived {
        let shard = &self.shards[worker];
        // The guard is dropped before other shards are searched.
        {
            let mut inner = shard.lock();
            if self.is_closed() {
                return Arrived::Dropped;
            }
            if let Some((seat, free_since)) = shard.take_connected(&mut inner) {
                let waker = inner.give(seat, self.job(arrival, free_since, 0));
                // Wakes without the lock, so that the woken thread does not wait for it.
                drop(inner);
                waker.into_iter().for_each(std::task::Waker::wake);
                return Arrived::Taken;
            }
        }
        if let Some((seat, free_since)) = self.take_seat(worker) {
            self.shards[seat.worker].give_job(seat, self.job(arrival, free_since, 0));
            return Arrived::Taken;
        }
        if !shard.wait(Waiting { arrival, paced_before: self.pacing.until(now) }, &self.closed) {
            return Arrived::Dropped;
        }
        // A seat may have become free between the search and the queueing.
        self.match_up(worker, now);
        Arrived::Waits
    }

    /// Adds the seats of a further connection of `worker` for the arrival that has waited longest.
    /// Call it only when every connection of `worker` waits for the server: an arrival that waits
    /// for unread replies needs no other connection.
    pub fn grow(&self, worker: usize, now: Tick) -> PoolGrowth {
        if self.may_grow() {
            let Some((from, waiting)) = self.pop_oldest() else { return PoolGrowth::Nothing };
            if let Some(number) = self.add_connection() {
                let job = self.job_of(waiting, Tick::ZERO, now);
                return PoolGrowth::Seat(self.shards[worker].lock().add_seats(
                    number,
                    worker,
                    Some(job),
                    self.streams,
                ));
            }
            // Another worker added the last connection meanwhile.
            let arrival = waiting.arrival;
            if !self.shards[from].wait_first(waiting, &self.closed) {
                return PoolGrowth::Dropped(vec![arrival]);
            }
        }
        self.match_up(worker, now);
        if self.overflow == Overflow::Wait {
            return PoolGrowth::Nothing;
        }
        let remaining = self.drain();
        if remaining.is_empty() { PoolGrowth::Nothing } else { PoolGrowth::Dropped(remaining) }
    }

    /// True if an arrival waits for which a seat may be added, or which may have to be dropped.
    pub fn wants_to_grow(&self) -> bool {
        self.any_waits() && (self.overflow == Overflow::Drop || self.may_grow())
    }

    /// True if no further arrival may wait.
    pub fn is_full(&self) -> bool {
        self.all_waiting() >= MAX_WAITING
    }

    /// True if another connection may be opened.
    pub fn may_grow(&self) -> bool {
        self.connections.load(SeqCst) < self.cap
    }

    /// Number of connections of `worker`.
    pub fn connections(&self, worker: usize) -> usize {
        self.shards[worker].lock().seats() / self.streams
    }

    /// Notes that the connect rate keeps a worker from opening a connection, from now on.
    pub fn pacing_begins(&self, now: Tick) {
        self.pacing.begin(now);
    }

    /// Ends the note of [`Self::pacing_begins`].
    pub fn pacing_ends(&self, now: Tick) {
        self.pacing.end(now);
    }

    /// Frees a seat at `instant`: returns the arrival that has waited longest as its job, or stores
    /// the seat as free.
    pub fn free(&self, seat: SeatId, instant: Tick, connected: bool) -> Option<AssignedArrival> {
        let shard = &self.shards[seat.worker];
        let waits = self.any_waits();
        {
            let mut inner = shard.lock();
            if let Some(job) = inner.take_job(seat) {
                return Some(job);
            }
            if !waits {
                shard.release(&mut inner, seat, instant, connected);
            }
        }
        if waits {
            if let Some((_, waiting)) = self.pop_oldest() {
                return Some(self.job_of(waiting, instant, instant));
            }
            shard.release(&mut shard.lock(), seat, instant, connected);
        }
        // An arrival may have been queued before the seat was published.
        self.match_up(seat.worker, instant);
        None
    }

    /// Polls for the job of a free seat. None inside when the pool is closed.
    pub fn poll_job(&self, seat: SeatId, cx: &mut Context<'_>) -> Poll<Option<AssignedArrival>> {
        self.shards[seat.worker].lock().poll_job(seat, self.is_closed(), cx)
    }

    /// Notes that a free seat lost its connection.
    pub fn lost_connection(&self, seat: SeatId) {
        self.shards[seat.worker].lock().lost_connection(seat);
    }

    /// Number of arrivals that wait because no more connections are permitted. If more are
    /// permitted, arrivals wait only for the generator, and do not count.
    pub fn waiting(&self) -> usize {
        if self.overflow == Overflow::Wait { self.all_waiting() } else { 0 }
    }

    /// Notes that `worker` adds no more arrivals.
    pub fn arrivals_over(&self, worker: usize) {
        self.shards[worker].arriving.store(false, SeqCst);
    }

    /// True if nothing is in flight at `worker`, and no arrival waits or may still come.
    pub fn is_quiet(&self, worker: usize) -> bool {
        let may_arrive = self.shards.iter().any(|shard| shard.arriving.load(SeqCst));
        !may_arrive && !self.any_waits() && self.shards[worker].lock().is_idle()
    }

    /// Closes the pool: all free seats end, now and later. Returns the arrivals that still wait.
    pub fn close(&self) -> Vec<Arrival> {
        self.closed.store(true, SeqCst);
        let remaining = self.drain();
        self.shards.iter().for_each(Shard::wake_all);
        remaining
    }

    fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    fn any_waits(&self) -> bool {
        self.shards.iter().any(|shard| shard.waiting() > 0)
    }

    fn all_waiting(&self) -> usize {
        self.shards.iter().map(Shard::waiting).sum()
    }

    /// Creates the job of an arrival for which a seat was available since `instant`. If arrivals
    /// beyond the cap are dropped and connections may still be opened, a connection was permitted
    /// at any time. Then only the generator can be late.
    fn job(&self, arrival: Arrival, instant: Tick, paced: u64) -> AssignedArrival {
        let free = match self.overflow {
            Overflow::Drop => arrival.planned,
            Overflow::Wait => arrival.planned.max(instant),
        };
        AssignedArrival { arrival, free, paced }
    }

    /// Creates the job, at `now`, of an arrival that waited.
    fn job_of(
        &self,
        Waiting { arrival, paced_before }: Waiting,
        at: Tick,
        now: Tick,
    ) -> AssignedArrival {
        self.job(arrival, at, self.pacing.until(now).saturating_sub(paced_before))
    }

    /// Counts another connection, if the cap permits it. Returns the number of connections before.
    fn add_connection(&self) -> Option<usize> {
        let next =
            self.connections.fetch_update(SeqCst, SeqCst, |n| (n < self.cap).then_some(n + 1));
        next.ok()
    }

    /// Iterates over the workers, from `worker` on.
    fn workers_from(&self, worker: usize) -> impl Iterator<Item = usize> {
        let workers = self.shards.len();
        (0..workers).map(move |i| (worker + i) % workers)
    }

    /// Reserves a free seat, and returns since when it is free. Order: a connection of `worker`, a
    /// connection of another worker, a seat of `worker` without a connection. Another worker's seat
    /// without a connection is taken only if `worker` may open no more.
    fn take_seat(&self, worker: usize) -> Option<(SeatId, Tick)> {
        let seat = self
            .workers_from(worker)
            .find_map(|w| self.shards[w].try_connected())
            .or_else(|| self.shards[worker].try_bare());
        if seat.is_some() || self.may_grow() {
            return seat;
        }
        self.workers_from(worker).find_map(|w| self.shards[w].try_bare())
    }

    /// Gives waiting arrivals to free seats, while there are both.
    fn match_up(&self, worker: usize, now: Tick) {
        while self.any_waits() {
            let Some((seat, free_since)) = self.take_seat(worker) else { return };
            let shard = &self.shards[seat.worker];
            match self.pop_oldest() {
                Some((_, waiting)) => shard.give_job(seat, self.job_of(waiting, free_since, now)),
                None => shard.cancel_reservation(seat),
            }
        }
    }

    /// Removes the arrival that was due first among those that wait. Returns its worker, too.
    fn pop_oldest(&self) -> Option<(usize, Waiting)> {
        loop {
            let waiting = self.shards.iter().enumerate().filter(|(_, shard)| shard.waiting() > 0);
            let (worker, shard) = waiting.min_by_key(|(_, shard)| shard.first_due())?;
            // None: another worker took the arrival meanwhile.
            if let Some(waiting) = shard.pop_waiting() {
                return Some((worker, waiting));
            }
        }
    }

    /// Removes all waiting arrivals.
    fn drain(&self) -> Vec<Arrival> {
        let mut remaining: Vec<Arrival> = self.shards.iter().flat_map(Shard::drain).collect();
        remaining.sort_by_key(|arrival| (arrival.planned, arrival.number));
        remaining
    }
}
