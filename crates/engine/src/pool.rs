//! The connections of an open loop, and the arrivals that wait for one.
//!
//! One queue for all worker threads: an arrival takes a free connection wherever it is, its own thread's first; where
//! none is free it waits its turn. The worker that deals out arrivals decides whether another connection is opened for
//! the one that has waited longest ([`Pool::grow`]), once it has looked for replies that came meanwhile. A *seat* is the
//! permission to have one connection. What it is not: the connections themselves, which never leave their thread.

use brunt_model::Tick;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

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
    /// It is the caller's to open this new seat, which has it.
    Seat(usize),
    /// There is no room for another seat: these are dropped.
    Dropped(Vec<Arrival>),
    /// None waits, or it goes on waiting for a seat.
    Nothing,
}

/// The seats of all workers.
pub struct Pool {
    inner: Mutex<Inner>,
}

struct Inner {
    cap: usize,
    overflow: Overflow,
    take: Take,
    seats: Vec<Seat>,
    /// By worker: free seats with a connection, oldest first.
    idle: Vec<VecDeque<usize>>,
    /// By worker: free seats without.
    bare: Vec<Vec<usize>>,
    /// By worker: seats that are not free.
    busy: Vec<usize>,
    waiting: VecDeque<Waiting>,
    paced: Paced,
    /// By worker: it may still bring arrivals.
    arriving: Vec<bool>,
    /// By worker: it opens no further connection, because more would not raise its throughput.
    growth_stopped: Vec<bool>,
    closed: bool,
}

/// An arrival that waits, and the time that workers had been kept from opening connections when it began to.
struct Waiting {
    arrival: Arrival,
    paced_before: u64,
}

/// The time in which some worker wanted to open a connection, and the rate of opening kept it from that.
#[derive(Default)]
struct Paced {
    nanos: u64,
    /// Since when, and for how many workers.
    now: Option<(Tick, usize)>,
}

impl Paced {
    fn until(&self, at: Tick) -> u64 {
        self.nanos + self.now.map_or(0, |(since, _)| at.nanos_since(since))
    }

    fn begin(&mut self, at: Tick) {
        let (since, workers) = self.now.unwrap_or((at, 0));
        self.now = Some((since, workers + 1));
    }

    fn end(&mut self, at: Tick) {
        if let Some((since, workers)) = self.now.take() {
            if workers > 1 {
                self.now = Some((since, workers - 1));
            } else {
                self.nanos += at.nanos_since(since);
            }
        }
    }
}

struct Seat {
    worker: usize,
    job: Option<Job>,
    waker: Option<Waker>,
    free_since: Tick,
    connected: bool,
}

impl Pool {
    /// Room for `cap` seats over so many workers.
    pub fn new(cap: usize, workers: usize, overflow: Overflow, take: Take) -> Self {
        let inner = Inner {
            cap,
            overflow,
            take,
            seats: Vec::new(),
            idle: (0..workers).map(|_| VecDeque::new()).collect(),
            bare: vec![Vec::new(); workers],
            busy: vec![0; workers],
            waiting: VecDeque::new(),
            paced: Paced::default(),
            arriving: vec![true; workers],
            growth_stopped: vec![false; workers],
            closed: false,
        };
        Self { inner: Mutex::new(inner) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A busy seat without a job, for a connection that is opened before the load begins.
    pub fn reserve(&self, worker: usize) -> usize {
        self.inner().grow(worker, None)
    }

    /// An arrival at `worker`, `now`.
    pub fn arrive(&self, arrival: Arrival, worker: usize, now: Tick) -> Arrived {
        let mut inner = self.inner();
        if inner.closed {
            return Arrived::Dropped;
        }
        let Some(seat) = inner.free_seat(worker) else {
            let paced_before = inner.paced.until(now);
            inner.waiting.push_back(Waiting { arrival, paced_before });
            return Arrived::Waits;
        };
        let waker = inner.hand(seat, arrival);
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
        Arrived::Taken
    }

    /// Makes a seat of `worker` for the arrival that has waited longest. To be called when every connection of `worker`
    /// waits for the server: an arrival that waits because replies have not been read yet needs no other connection.
    pub fn grow(&self, worker: usize, now: Tick) -> Growth {
        let mut inner = self.inner();
        if inner.seats.len() >= inner.cap {
            return match inner.overflow {
                Overflow::Wait => Growth::Nothing,
                Overflow::Drop if inner.waiting.is_empty() => Growth::Nothing,
                Overflow::Drop => Growth::Dropped(inner.waiting.drain(..).map(|waiting| waiting.arrival).collect()),
            };
        }
        match inner.next_job(Tick::ZERO, now) {
            Some(job) => Growth::Seat(inner.grow(worker, Some(job))),
            None => Growth::Nothing,
        }
    }

    /// Whether an arrival waits for which a seat may be made, or which may have to be dropped.
    pub fn wants_to_grow(&self) -> bool {
        let inner = self.inner();
        !inner.waiting.is_empty() && (inner.overflow == Overflow::Drop || inner.seats.len() < inner.cap)
    }

    /// Whether no other arrival may wait.
    pub fn is_full(&self) -> bool {
        self.inner().waiting.len() >= MOST_WAITING
    }

    /// Whether another seat may be made.
    pub fn may_grow(&self) -> bool {
        let inner = self.inner();
        inner.seats.len() < inner.cap
    }

    /// How many seats are `worker`'s.
    pub fn seats(&self, worker: usize) -> usize {
        let inner = self.inner();
        inner.busy[worker] + inner.idle[worker].len() + inner.bare[worker].len()
    }

    /// `worker` opens no further connection: an arrival waits for one of the open connections, as with a cap.
    pub fn stop_growth(&self, worker: usize) {
        self.inner().growth_stopped[worker] = true;
    }

    /// `worker` may open further connections.
    pub fn resume_growth(&self, worker: usize) {
        self.inner().growth_stopped[worker] = false;
    }

    /// A worker is kept from opening a connection by the rate of opening, from now on.
    pub fn pacing_begins(&self, now: Tick) {
        self.inner().paced.begin(now);
    }

    /// It is not any more.
    pub fn pacing_ends(&self, now: Tick) {
        self.inner().paced.end(now);
    }

    /// A seat became free at `at`: it gets the arrival that has waited longest, or is put by.
    pub fn free(&self, seat: usize, at: Tick, connected: bool) -> Option<Job> {
        let mut inner = self.inner();
        if let Some(job) = inner.seats[seat].job.take() {
            return Some(job);
        }
        if let Some(job) = inner.next_job(at, at) {
            return Some(job);
        }
        inner.put_by(seat, at, connected);
        None
    }

    /// The job that was handed to a free seat; None inside when the pool is closed.
    pub fn poll_job(&self, seat: usize, cx: &mut Context<'_>) -> Poll<Option<Job>> {
        let mut inner = self.inner();
        let closed = inner.closed;
        let seat = &mut inner.seats[seat];
        if let Some(job) = seat.job.take() {
            return Poll::Ready(Some(job));
        }
        if closed {
            return Poll::Ready(None);
        }
        if !seat.waker.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
            seat.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// A free seat lost its connection.
    pub fn lost_connection(&self, seat: usize) {
        self.inner().seats[seat].connected = false;
    }

    /// Arrivals that wait because no more connections are permitted. Where more are, arrivals wait for ourselves alone.
    pub fn waiting(&self) -> usize {
        let inner = self.inner();
        if inner.overflow == Overflow::Wait { inner.waiting.len() } else { 0 }
    }

    /// `worker` brings no more arrivals.
    pub fn arrivals_over(&self, worker: usize) {
        self.inner().arriving[worker] = false;
    }

    /// Nothing is under way at `worker`, and nobody has or will have anything for it.
    pub fn is_quiet(&self, worker: usize) -> bool {
        let inner = self.inner();
        let more = inner.arriving.contains(&true) || !inner.waiting.is_empty();
        !more && inner.busy[worker] == 0
    }

    /// Sends all free seats home, now and later; arrivals that still wait are given back.
    pub fn close(&self) -> Vec<Arrival> {
        let mut inner = self.inner();
        inner.closed = true;
        let left = inner.waiting.drain(..).map(|waiting| waiting.arrival).collect();
        let wakers: Vec<_> = inner.seats.iter_mut().filter_map(|s| s.waker.take()).collect();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        left
    }
}

impl Inner {
    /// The job, `now`, of the arrival that has waited longest, for a seat that is there since `at`.
    fn next_job(&mut self, at: Tick, now: Tick) -> Option<Job> {
        let Waiting { arrival, paced_before } = self.waiting.pop_front()?;
        let free = self.free(arrival, at);
        Some(Job { arrival, free, paced: self.paced.until(now).saturating_sub(paced_before) })
    }

    /// When a permitted connection was there for an arrival that has one since `at`. Where arrivals beyond the cap are
    /// dropped and connections may still be opened, one was permitted at any time: only we can be late.
    fn free(&self, arrival: Arrival, at: Tick) -> Tick {
        match self.overflow {
            Overflow::Drop if !self.growth_stopped.contains(&true) => arrival.planned,
            _ => arrival.planned.max(at),
        }
    }

    fn grow(&mut self, worker: usize, job: Option<Job>) -> usize {
        self.seats.push(Seat { worker, job, waker: None, free_since: Tick::ZERO, connected: false });
        self.busy[worker] += 1;
        self.seats.len() - 1
    }

    fn put_by(&mut self, seat: usize, at: Tick, connected: bool) {
        let worker = self.seats[seat].worker;
        self.seats[seat].free_since = at;
        self.seats[seat].connected = connected;
        self.busy[worker] -= 1;
        if connected {
            self.idle[worker].push_back(seat);
        } else {
            self.bare[worker].push(seat);
        }
    }

    /// A free seat: a connection of `worker`, else of another; else a seat of `worker` without one. Another worker's
    /// bare seat is taken only where `worker` may open no more.
    fn free_seat(&mut self, worker: usize) -> Option<usize> {
        let workers = self.idle.len();
        let own_first = |i: usize| (worker + i) % workers;
        for w in (0..workers).map(own_first) {
            if let Some(seat) = self.connected_seat(w) {
                return Some(seat);
            }
        }
        if let Some(seat) = self.bare[worker].pop() {
            return Some(seat);
        }
        if self.seats.len() < self.cap {
            return None;
        }
        (0..workers).map(own_first).find_map(|w| self.bare[w].pop())
    }

    fn connected_seat(&mut self, worker: usize) -> Option<usize> {
        loop {
            let seat = match self.take {
                Take::Newest => self.idle[worker].pop_back(),
                Take::Oldest => self.idle[worker].pop_front(),
            }?;
            if self.seats[seat].connected {
                return Some(seat);
            }
            self.bare[worker].push(seat);
        }
    }

    fn hand(&mut self, seat: usize, arrival: Arrival) -> Option<Waker> {
        let free = self.free(arrival, self.seats[seat].free_since);
        let seat = &mut self.seats[seat];
        self.busy[seat.worker] += 1;
        seat.job = Some(Job { arrival, free, paced: 0 });
        seat.waker.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Tick = Tick(50);

    fn arrival(number: u64) -> Arrival {
        Arrival { planned: Tick(number * 10), number }
    }

    fn job(number: u64, free: u64) -> Job {
        Job { arrival: arrival(number), free: Tick(free), paced: 0 }
    }

    #[test]
    fn it_grows_to_its_cap_and_then_queues_in_order() {
        let pool = Pool::new(2, 2, Overflow::Wait, Take::Oldest);
        for (number, worker, growth) in [(0, 0, Growth::Seat(0)), (1, 1, Growth::Seat(1)), (2, 0, Growth::Nothing)] {
            assert_eq!(pool.arrive(arrival(number), worker, NOW), Arrived::Waits);
            assert_eq!(pool.grow(worker, NOW), growth);
        }
        assert_eq!(pool.arrive(arrival(3), 1, NOW), Arrived::Waits);
        assert!(!pool.wants_to_grow());
        // Whichever worker's seat is free first gets the one that waited longest.
        pool.inner().seats.iter_mut().for_each(|s| s.job = None);
        assert_eq!(pool.free(1, Tick(100), true), Some(job(2, 100)));
        assert_eq!(pool.free(0, Tick(101), true), Some(job(3, 101)));
        assert_eq!(pool.free(0, Tick(102), true), None);
        pool.arrivals_over(0);
        assert!(!pool.is_quiet(0));
        pool.arrivals_over(1);
        assert!(pool.is_quiet(0) && !pool.is_quiet(1));
    }

    #[test]
    fn a_free_connection_of_another_worker_is_better_than_waiting() {
        let pool = Pool::new(1, 2, Overflow::Wait, Take::Newest);
        let seat = pool.reserve(0);
        assert_eq!(pool.free(seat, Tick(5), true), None);
        assert_eq!(pool.arrive(arrival(1), 1, NOW), Arrived::Taken);
        assert_eq!(pool.inner().seats[seat].job, Some(job(1, 10)));
    }

    #[test]
    fn beyond_the_cap_is_dropped_where_nothing_waits() {
        let pool = Pool::new(1, 1, Overflow::Drop, Take::Newest);
        for (number, growth) in [(0, Growth::Seat(0)), (1, Growth::Dropped(vec![arrival(1)])), (2, Growth::Nothing)] {
            if number < 2 {
                assert_eq!(pool.arrive(arrival(number), 0, NOW), Arrived::Waits);
            }
            assert_eq!(pool.grow(0, NOW), growth);
        }
        assert_eq!(pool.waiting(), 0);
    }

    #[test]
    fn what_waits_though_more_connections_are_permitted_waits_for_ourselves() {
        let pool = Pool::new(2, 1, Overflow::Drop, Take::Newest);
        let seat = pool.reserve(0);
        pool.arrive(arrival(1), 0, Tick(10));
        assert!(pool.wants_to_grow());
        assert_eq!(pool.waiting(), 0);
        pool.pacing_begins(Tick(20));
        pool.arrive(arrival(2), 0, Tick(30));
        pool.pacing_ends(Tick(50));
        pool.pacing_begins(Tick(70));
        let expected = |number, paced| Some(Job { paced, ..job(number, number * 10) });
        assert_eq!(pool.free(seat, Tick(80), true), expected(1, 40));
        pool.pacing_ends(Tick(90));
        assert_eq!(pool.free(seat, Tick(100), true), expected(2, 40));
    }

    #[test]
    fn connections_are_taken_newest_or_oldest_first_and_dead_ones_last() {
        for (take, first) in [(Take::Newest, 2), (Take::Oldest, 0)] {
            let pool = Pool::new(3, 1, Overflow::Wait, take);
            for i in 0..3 {
                let seat = pool.reserve(0);
                pool.free(seat, Tick(i), true);
            }
            pool.lost_connection(1);
            let taken = |pool: &Pool| {
                pool.arrive(arrival(9), 0, NOW);
                let mut inner = pool.inner();
                let seat = inner.seats.iter().position(|s| s.job.is_some()).unwrap();
                inner.seats[seat].job = None;
                seat
            };
            assert_eq!([taken(&pool), taken(&pool), taken(&pool)], [first, 2 - first, 1]);
        }
    }

    #[test]
    fn closing_gives_back_what_waits() {
        let pool = Pool::new(0, 1, Overflow::Wait, Take::Newest);
        pool.arrive(arrival(4), 0, NOW);
        assert_eq!(pool.close(), [arrival(4)]);
    }
}
