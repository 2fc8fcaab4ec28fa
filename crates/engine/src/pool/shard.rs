//! Stores one worker's part of the pool.
//!
//! Values that other workers need at each request are published in atomics: the numbers of free
//! seats and waiting arrivals, and the due time of the first. They are written under the lock,
//! and read without it.

use super::{Arrival, AssignedArrival, ConnectionChoice, SeatId};
use brunt_model::Tick;
use brunt_model::sync::IgnorePoison;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// Prevents false sharing: puts a value in its own cache line (128 bytes, because processors
/// prefetch pairs of lines).
#[repr(align(128))]
#[derive(Default)]
struct CachePadded<T>(T);

/// A waiting arrival, and the pacing time of the workers when its wait began.
pub(super) struct Waiting {
    pub arrival: Arrival,
    pub paced_before: u64,
}

pub(super) struct Shard {
    inner: CachePadded<Mutex<Inner>>,
    /// Number of free seats with a connection.
    connected: CachePadded<AtomicUsize>,
    /// Number of free seats without a connection.
    bare: CachePadded<AtomicUsize>,
    queue: CachePadded<Published>,
    /// True while its worker may add arrivals.
    pub arriving: AtomicBool,
}

/// The part of the queue that other workers see. Due time and number of its first arrival are read
/// separately. They may belong to two arrivals, if the first has just been taken. Then an arrival
/// that was due later may be served first.
#[derive(Default)]
struct Published {
    len: AtomicUsize,
    planned: AtomicU64,
    number: AtomicU64,
}

pub(super) struct Inner {
    take: ConnectionChoice,
    seats: Vec<Seat>,
    /// Free seats with a connection, oldest first. Some may have lost it meanwhile.
    idle: VecDeque<SeatId>,
    /// Free seats without a connection.
    bare: Vec<SeatId>,
    waiting: VecDeque<Waiting>,
}

struct Seat {
    job: Option<AssignedArrival>,
    waker: Option<Waker>,
    free_since: Tick,
    connected: bool,
    /// True while a job for it is being taken from a queue.
    reserved: bool,
}

impl Seat {
    fn busy(job: Option<AssignedArrival>) -> Self {
        Self { job, waker: None, free_since: Tick::ZERO, connected: false, reserved: false }
    }
}

impl Shard {
    pub fn new(take: ConnectionChoice) -> Self {
        let inner = Inner {
            take,
            seats: Vec::new(),
            idle: VecDeque::new(),
            bare: Vec::new(),
            waiting: VecDeque::new(),
        };
        Self {
            inner: CachePadded(Mutex::new(inner)),
            connected: CachePadded::default(),
            bare: CachePadded::default(),
            queue: CachePadded::default(),
            arriving: AtomicBool::new(true),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.0.lock().ignore_poison()
    }

    /// Number of waiting arrivals.
    pub fn waiting(&self) -> usize {
        self.queue.0.len.load(SeqCst)
    }

    /// Due time and number of the first waiting arrival.
    pub fn first_due(&self) -> (u64, u64) {
        (self.queue.0.planned.load(SeqCst), self.queue.0.number.load(SeqCst))
    }

    fn publish_seats(&self, inner: &Inner) {
        self.connected.0.store(inner.idle.len(), SeqCst);
        self.bare.0.store(inner.bare.len(), SeqCst);
    }

    fn publish_queue(&self, inner: &Inner) {
        if let Some(Waiting { arrival, .. }) = inner.waiting.front() {
            self.queue.0.planned.store(arrival.planned.0, SeqCst);
            self.queue.0.number.store(arrival.number, SeqCst);
        }
        // Last, so that a reader of the length finds the due time of the first arrival.
        self.queue.0.len.store(inner.waiting.len(), SeqCst);
    }

    /// Reserves a free seat that has a connection. Returns since when it is free.
    pub fn take_connected(&self, inner: &mut Inner) -> Option<(SeatId, Tick)> {
        let before = inner.idle.len();
        let seat = inner.connected_seat();
        if inner.idle.len() != before {
            self.publish_seats(inner);
        }
        seat.map(|seat| inner.reserve(seat))
    }

    /// Reserves a free seat that has a connection, for another worker.
    pub fn try_connected(&self) -> Option<(SeatId, Tick)> {
        // Most searches end here, without the lock.
        if self.connected.0.load(SeqCst) == 0 {
            return None;
        }
        self.take_connected(&mut self.lock())
    }

    /// Reserves a free seat without a connection. Returns since when it is free.
    pub fn try_bare(&self) -> Option<(SeatId, Tick)> {
        if self.bare.0.load(SeqCst) == 0 {
            return None;
        }
        let mut inner = self.lock();
        let seat = inner.bare.pop()?;
        self.publish_seats(&inner);
        Some(inner.reserve(seat))
    }

    /// Stores a seat as free.
    pub fn release(&self, inner: &mut Inner, seat: SeatId, instant: Tick, connected: bool) {
        let state = &mut inner.seats[seat.index];
        state.free_since = instant;
        state.connected = connected;
        state.reserved = false;
        if connected {
            inner.idle.push_back(seat);
        } else {
            inner.bare.push(seat);
        }
        self.publish_seats(inner);
    }

    /// Frees a reserved seat again, because no job was left for it.
    pub fn cancel_reservation(&self, seat: SeatId) {
        let mut inner = self.lock();
        let Seat { free_since, connected, .. } = inner.seats[seat.index];
        self.release(&mut inner, seat, free_since, connected);
        // The pool may have been closed meanwhile.
        let waker = inner.seats[seat.index].waker.take();
        drop(inner);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Gives a reserved seat its job, and wakes its actor.
    pub fn give_job(&self, seat: SeatId, job: AssignedArrival) {
        let waker = self.lock().give(seat, job);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Queues an arrival after the others. False if the pool is closed.
    pub fn wait(&self, waiting: Waiting, closed: &AtomicBool) -> bool {
        self.enqueue(closed, |queue| queue.push_back(waiting))
    }

    /// Queues an arrival that waited before, ahead of the others. False if the pool is closed.
    pub fn wait_first(&self, waiting: Waiting, closed: &AtomicBool) -> bool {
        self.enqueue(closed, |queue| queue.push_front(waiting))
    }

    fn enqueue(&self, closed: &AtomicBool, push: impl FnOnce(&mut VecDeque<Waiting>)) -> bool {
        let mut inner = self.lock();
        // [`super::Pool::close`] sets the flag, and empties the queue afterwards.
        let is_open = !closed.load(SeqCst);
        if is_open {
            push(&mut inner.waiting);
            self.publish_queue(&inner);
        }
        is_open
    }

    pub fn pop_waiting(&self) -> Option<Waiting> {
        let mut inner = self.lock();
        let waiting = inner.waiting.pop_front();
        self.publish_queue(&inner);
        waiting
    }

    pub fn drain(&self) -> Vec<Arrival> {
        let mut inner = self.lock();
        let remaining = inner.waiting.drain(..).map(|waiting| waiting.arrival).collect();
        self.publish_queue(&inner);
        remaining
    }

    pub fn wake_all(&self) {
        let wakers: Vec<_> =
            self.lock().seats.iter_mut().filter_map(|seat| seat.waker.take()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Inner {
    /// Adds the busy seats of one connection. The first of them gets the job, and is returned.
    pub fn add_seats(
        &mut self,
        number: usize,
        worker: usize,
        job: Option<AssignedArrival>,
        streams: usize,
    ) -> SeatId {
        let index = self.seats.len();
        self.seats.push(Seat::busy(job));
        self.seats.extend((1..streams).map(|_| Seat::busy(None)));
        SeatId { number: number * streams, worker, index }
    }

    pub fn seats(&self) -> usize {
        self.seats.len()
    }

    /// True if all seats are free.
    pub fn is_idle(&self) -> bool {
        self.idle.len() + self.bare.len() == self.seats.len()
    }

    pub fn take_job(&mut self, seat: SeatId) -> Option<AssignedArrival> {
        self.seats[seat.index].job.take()
    }

    pub fn give(&mut self, seat: SeatId, job: AssignedArrival) -> Option<Waker> {
        let seat = &mut self.seats[seat.index];
        seat.job = Some(job);
        seat.reserved = false;
        seat.waker.take()
    }

    pub fn lost_connection(&mut self, seat: SeatId) {
        self.seats[seat.index].connected = false;
    }

    pub fn poll_job(
        &mut self,
        seat: SeatId,
        is_closed: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Option<AssignedArrival>> {
        let seat = &mut self.seats[seat.index];
        if let Some(job) = seat.job.take() {
            return Poll::Ready(Some(job));
        }
        if is_closed && !seat.reserved {
            return Poll::Ready(None);
        }
        if !seat.waker.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
            seat.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn reserve(&mut self, seat: SeatId) -> (SeatId, Tick) {
        let state = &mut self.seats[seat.index];
        state.reserved = true;
        (seat, state.free_since)
    }

    fn connected_seat(&mut self) -> Option<SeatId> {
        loop {
            let seat = match self.take {
                ConnectionChoice::Newest => self.idle.pop_back(),
                ConnectionChoice::Oldest => self.idle.pop_front(),
            }?;
            if self.seats[seat.index].connected {
                return Some(seat);
            }
            // The seat lost its connection; it is still free.
            self.bare.push(seat);
        }
    }
}
