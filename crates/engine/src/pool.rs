//! The connections of an open loop, and the arrivals that wait for one.
//!
//! Each worker thread has a *shard* of the pool: its connections, and the arrivals that it dealt out and that wait. What
//! most requests need is in the own shard, whose lock nobody else wants. The others' shards are looked at where the own one
//! has not what is needed: an arrival takes a free connection wherever it is, its own worker's first; where none is free
//! it waits its turn, and the connection that comes free first, at whatever worker, takes the arrival that was due first.
//! The worker that deals out arrivals decides whether another connection is opened ([`Pool::grow`]), once it has looked
//! for replies that came meanwhile. A *seat* is a lane: the right to one exchange at a time on a connection. The cap is on
//! connections, and each has as many seats as it has streams (one with HTTP/1). Out of scope: the connections themselves,
//! which never leave their thread.
//!
//! No arrival waits while a seat is free: whoever lets an arrival wait looks for a free seat afterwards, and whoever frees
//! a seat looks for an arrival that waits afterwards; each is published before the other is looked for, so at least one of
//! the two sees the other. A seat is reserved before an arrival is taken from a queue, so that an arrival on its way is
//! under way somewhere at any time.
//!
//! * `shard`: one worker's part. `pacing`: the time in which the rate of opening connections kept workers waiting.

mod pacing;
mod shard;
#[cfg(test)]
mod tests;

use brunt_model::Tick;
use pacing::Pacing;
use shard::{Shard, Waiting};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};

/// Arrivals that wait at most; more are not taken in, so that memory stays bounded however far behind a run is.
pub const MOST_WAITING: usize = 1 << 17;

/// One arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When it is due.
    pub planned: Tick,
    /// Its number among all arrivals of the run.
    pub number: u64,
}

/// An arrival and the instant at which a connection was there for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The arrival.
    pub arrival: Arrival,
    /// A permitted connection was there.
    pub free: Tick,
    /// Nanoseconds for which it waited because connections are opened at a bounded rate.
    pub paced: u64,
}

/// A seat, for as long as the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeatId {
    /// Among the seats of all workers, in the order in which they were made.
    pub number: usize,
    worker: usize,
    /// Among its worker's.
    index: usize,
}

/// What happens to an arrival when every seat is busy and no more are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// It waits for the next free connection.
    Wait,
    /// It is dropped.
    Drop,
}

/// Which of several free connections is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// The one used last: as few as possible are kept alive.
    Newest,
    /// The one that has been idle longest: all are used in turn.
    Oldest,
}

/// What became of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// A free seat has it.
    Taken,
    /// It waits.
    Waits,
    /// The pool is closed.
    Dropped,
}

/// What became of the arrival that has waited longest, when no connection came free for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Growth {
    /// It is the caller's to open a new connection. This is the first of its [seats](Pool::seats_of), and has the arrival.
    Seat(SeatId),
    /// There is no room for another connection: these are dropped.
    Dropped(Vec<Arrival>),
    /// None waits, or it goes on waiting for a seat.
    Nothing,
}

/// The seats of all workers.
pub struct Pool {
    cap: usize,
    /// Seats on each connection.
    streams: usize,
    overflow: Overflow,
    shards: Box<[Shard]>,
    /// Connections of all workers.
    connections: AtomicUsize,
    pacing: Pacing,
    closed: AtomicBool,
}

impl Pool {
    /// Room for `cap` connections over so many workers, of one seat each.
    pub fn new(cap: usize, workers: usize, overflow: Overflow, take: Take) -> Self {
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

    /// Has so many seats on each connection.
    #[must_use]
    pub fn with_streams(mut self, streams: u32) -> Self {
        self.streams = streams.max(1) as usize;
        self
    }

    /// The seats on the connection whose first seat this is.
    pub fn seats_of(&self, first: SeatId) -> impl Iterator<Item = SeatId> + use<> {
        (0..self.streams).map(move |n| SeatId { number: first.number + n, index: first.index + n, ..first })
    }

    /// Busy seats without a job, for a connection that is opened before the load begins; the first of them.
    pub fn reserve(&self, worker: usize) -> SeatId {
        let number = self.connections.fetch_add(1, SeqCst);
        self.shards[worker].lock().add_seats(number, worker, None, self.streams)
    }

    /// An arrival at `worker`, `now`.
    pub fn arrive(&self, arrival: Arrival, worker: usize, now: Tick) -> Arrived {
        let own = &self.shards[worker];
        {
            let mut inner = own.lock();
            if self.is_closed() {
                return Arrived::Dropped;
            }
            if let Some((seat, free_since)) = own.take_connected(&mut inner) {
                let waker = inner.give(seat, self.job(arrival, free_since, 0));
                drop(inner);
                waker.into_iter().for_each(std::task::Waker::wake);
                return Arrived::Taken;
            }
        }
        if let Some((seat, free_since)) = self.take_seat(worker) {
            self.shards[seat.worker].hand(seat, self.job(arrival, free_since, 0));
            return Arrived::Taken;
        }
        if !own.wait(Waiting { arrival, paced_before: self.pacing.until(now) }, &self.closed) {
            return Arrived::Dropped;
        }
        self.match_up(worker, now);
        Arrived::Waits
    }

    /// Makes the seats of a further connection of `worker` for the arrival that has waited longest. To be called when every connection of `worker`
    /// waits for the server: an arrival that waits because replies have not been read yet needs no other connection.
    pub fn grow(&self, worker: usize, now: Tick) -> Growth {
        if self.may_grow() {
            let Some((from, waiting)) = self.pop_oldest() else { return Growth::Nothing };
            let next = |connections| (connections < self.cap).then_some(connections + 1);
            if let Ok(number) = self.connections.fetch_update(SeqCst, SeqCst, next) {
                let job = self.job_of(waiting, Tick::ZERO, now);
                return Growth::Seat(self.shards[worker].lock().add_seats(number, worker, Some(job), self.streams));
            }
            // Another worker made the last connection meanwhile.
            let arrival = waiting.arrival;
            if !self.shards[from].wait_first(waiting, &self.closed) {
                return Growth::Dropped(vec![arrival]);
            }
        }
        self.match_up(worker, now);
        if self.overflow == Overflow::Wait {
            return Growth::Nothing;
        }
        let left = self.drain();
        if left.is_empty() { Growth::Nothing } else { Growth::Dropped(left) }
    }

    /// Whether an arrival waits for which a seat may be made, or which may have to be dropped.
    pub fn wants_to_grow(&self) -> bool {
        self.any_waits() && (self.overflow == Overflow::Drop || self.may_grow())
    }

    /// Whether no other arrival may wait.
    pub fn is_full(&self) -> bool {
        self.all_waiting() >= MOST_WAITING
    }

    /// Whether another connection may be made.
    pub fn may_grow(&self) -> bool {
        self.connections.load(SeqCst) < self.cap
    }

    /// How many connections are `worker`'s.
    pub fn connections(&self, worker: usize) -> usize {
        self.shards[worker].lock().seats() / self.streams
    }

    /// `worker` opens no further connection: an arrival waits for one of the open connections, as with a cap.
    pub fn stop_growth(&self, worker: usize) {
        self.shards[worker].growth_stopped.store(true, SeqCst);
    }

    /// `worker` may open further connections.
    pub fn resume_growth(&self, worker: usize) {
        self.shards[worker].growth_stopped.store(false, SeqCst);
    }

    /// A worker is kept from opening a connection by the rate of opening, from now on.
    pub fn pacing_begins(&self, now: Tick) {
        self.pacing.begin(now);
    }

    /// It is not any more.
    pub fn pacing_ends(&self, now: Tick) {
        self.pacing.end(now);
    }

    /// A seat became free at `at`: it gets the arrival that has waited longest, or is put by.
    pub fn free(&self, seat: SeatId, at: Tick, connected: bool) -> Option<Job> {
        let own = &self.shards[seat.worker];
        let waits = self.any_waits();
        {
            let mut inner = own.lock();
            if let Some(job) = inner.take_job(seat) {
                return Some(job);
            }
            if !waits {
                own.put_by(&mut inner, seat, at, connected);
            }
        }
        if waits {
            if let Some((_, waiting)) = self.pop_oldest() {
                return Some(self.job_of(waiting, at, at));
            }
            own.put_by(&mut own.lock(), seat, at, connected);
        }
        self.match_up(seat.worker, at);
        None
    }

    /// The job that was handed to a free seat; None inside when the pool is closed.
    pub fn poll_job(&self, seat: SeatId, cx: &mut Context<'_>) -> Poll<Option<Job>> {
        self.shards[seat.worker].lock().poll_job(seat, self.is_closed(), cx)
    }

    /// A free seat lost its connection.
    pub fn lost_connection(&self, seat: SeatId) {
        self.shards[seat.worker].lock().lost_connection(seat);
    }

    /// Arrivals that wait because no more connections are permitted. Where more are, arrivals wait for ourselves alone.
    pub fn waiting(&self) -> usize {
        if self.overflow == Overflow::Wait { self.all_waiting() } else { 0 }
    }

    /// `worker` brings no more arrivals.
    pub fn arrivals_over(&self, worker: usize) {
        self.shards[worker].arriving.store(false, SeqCst);
    }

    /// Nothing is under way at `worker`, and nobody has or will have anything for it.
    pub fn is_quiet(&self, worker: usize) -> bool {
        let may_arrive = self.shards.iter().any(|shard| shard.arriving.load(SeqCst));
        !may_arrive && !self.any_waits() && self.shards[worker].lock().is_idle()
    }

    /// Sends all free seats home, now and later; arrivals that still wait are given back.
    pub fn close(&self) -> Vec<Arrival> {
        self.closed.store(true, SeqCst);
        let left = self.drain();
        self.shards.iter().for_each(Shard::wake_all);
        left
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

    /// The job of an arrival for which a seat was there since `at`. Where arrivals beyond the cap are dropped and
    /// connections may still be opened, one was permitted at any time: only we can be late.
    fn job(&self, arrival: Arrival, at: Tick, paced: u64) -> Job {
        let any_stopped = || self.shards.iter().any(|shard| shard.growth_stopped.load(SeqCst));
        let free = match self.overflow {
            Overflow::Drop if !any_stopped() => arrival.planned,
            _ => arrival.planned.max(at),
        };
        Job { arrival, free, paced }
    }

    /// The job, `now`, of an arrival that waited.
    fn job_of(&self, Waiting { arrival, paced_before }: Waiting, at: Tick, now: Tick) -> Job {
        self.job(arrival, at, self.pacing.until(now).saturating_sub(paced_before))
    }

    /// The workers, `worker` first.
    fn own_first(&self, worker: usize) -> impl Iterator<Item = usize> {
        let workers = self.shards.len();
        (0..workers).map(move |i| (worker + i) % workers)
    }

    /// Reserves a free seat, and tells since when it is free: a connection of `worker`, else of another; else a seat of
    /// `worker` without one. Another worker's seat without a connection is taken only where `worker` may open no more.
    fn take_seat(&self, worker: usize) -> Option<(SeatId, Tick)> {
        let of = |worker: usize| &self.shards[worker];
        let found = self.own_first(worker).find_map(|w| of(w).try_connected()).or_else(|| of(worker).try_bare());
        if found.is_some() || self.may_grow() {
            return found;
        }
        self.own_first(worker).find_map(|w| of(w).try_bare())
    }

    /// Hands arrivals that wait to free seats, while there are both.
    fn match_up(&self, worker: usize, now: Tick) {
        while self.any_waits() {
            let Some((seat, free_since)) = self.take_seat(worker) else { return };
            let shard = &self.shards[seat.worker];
            match self.pop_oldest() {
                Some((_, waiting)) => shard.hand(seat, self.job_of(waiting, free_since, now)),
                None => shard.put_back(seat),
            }
        }
    }

    /// The arrival that was due first among those that wait, and its worker.
    fn pop_oldest(&self) -> Option<(usize, Waiting)> {
        loop {
            let waits = |(_, shard): &(usize, &Shard)| shard.waiting() > 0;
            let (worker, shard) =
                self.shards.iter().enumerate().filter(waits).min_by_key(|(_, shard)| shard.first_due())?;
            if let Some(waiting) = shard.pop_waiting() {
                return Some((worker, waiting));
            }
        }
    }

    /// Takes all that wait.
    fn drain(&self) -> Vec<Arrival> {
        let mut left: Vec<Arrival> = self.shards.iter().flat_map(Shard::drain).collect();
        left.sort_by_key(|arrival| (arrival.planned, arrival.number));
        left
    }
}
