//! The connections of an open loop, and the arrivals that wait for one.
//!
//! One queue for all worker threads: an arrival takes a free connection wherever it is, its own thread's first; where
//! none is free and no more are allowed it waits its turn, or is dropped. A *seat* is the permission to have one
//! connection. What it is not: the connections themselves, which never leave their thread.

use brunt_model::Tick;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

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
    /// It is the caller's to open this new seat, which has it.
    Grown(usize),
    /// It waits.
    Waits,
    /// There was no room.
    Dropped,
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
    waiting: VecDeque<Arrival>,
    /// By worker: it may still bring arrivals.
    arriving: Vec<bool>,
    closed: bool,
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
            arriving: vec![true; workers],
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

    /// An arrival at `worker`.
    pub fn arrive(&self, arrival: Arrival, worker: usize) -> Arrived {
        let mut inner = self.inner();
        if inner.closed {
            return Arrived::Dropped;
        }
        if let Some(seat) = inner.free_seat(worker) {
            let waker = inner.hand(seat, arrival);
            drop(inner);
            if let Some(waker) = waker {
                waker.wake();
            }
            return Arrived::Taken;
        }
        if inner.seats.len() < inner.cap {
            let job = Job { arrival, free: arrival.planned };
            return Arrived::Grown(inner.grow(worker, Some(job)));
        }
        match inner.overflow {
            Overflow::Drop => Arrived::Dropped,
            Overflow::Wait => {
                inner.waiting.push_back(arrival);
                Arrived::Waits
            }
        }
    }

    /// A seat became free at `at`: it gets the arrival that has waited longest, or is put by.
    pub fn free(&self, seat: usize, at: Tick, connected: bool) -> Option<Job> {
        let mut inner = self.inner();
        if let Some(job) = inner.seats[seat].job.take() {
            return Some(job);
        }
        if let Some(arrival) = inner.waiting.pop_front() {
            return Some(Job { arrival, free: at.max(arrival.planned) });
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

    /// Arrivals that wait.
    pub fn waiting(&self) -> usize {
        self.inner().waiting.len()
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
        let left = inner.waiting.drain(..).collect();
        let wakers: Vec<_> = inner.seats.iter_mut().filter_map(|s| s.waker.take()).collect();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        left
    }
}

impl Inner {
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
        let seat = &mut self.seats[seat];
        self.busy[seat.worker] += 1;
        // Where nothing waits, another connection was permitted at any time: only we can be late.
        let free = match self.overflow {
            Overflow::Wait => arrival.planned.max(seat.free_since),
            Overflow::Drop => arrival.planned,
        };
        seat.job = Some(Job { arrival, free });
        seat.waker.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(number: u64) -> Arrival {
        Arrival { planned: Tick(number * 10), number }
    }

    #[test]
    fn it_grows_to_its_cap_and_then_queues_in_order() {
        let pool = Pool::new(2, 2, Overflow::Wait, Take::Oldest);
        assert_eq!(pool.arrive(arrival(0), 0), Arrived::Grown(0));
        assert_eq!(pool.arrive(arrival(1), 1), Arrived::Grown(1));
        assert_eq!(pool.arrive(arrival(2), 0), Arrived::Waits);
        assert_eq!(pool.arrive(arrival(3), 1), Arrived::Waits);
        // Whichever worker's seat is free first gets the one that waited longest.
        pool.inner().seats.iter_mut().for_each(|s| s.job = None);
        assert_eq!(pool.free(1, Tick(100), true), Some(Job { arrival: arrival(2), free: Tick(100) }));
        assert_eq!(pool.free(0, Tick(101), true), Some(Job { arrival: arrival(3), free: Tick(101) }));
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
        assert_eq!(pool.arrive(arrival(1), 1), Arrived::Taken);
        assert_eq!(pool.inner().seats[seat].job, Some(Job { arrival: arrival(1), free: Tick(10) }));
    }

    #[test]
    fn beyond_the_cap_is_dropped_where_nothing_waits() {
        let pool = Pool::new(1, 1, Overflow::Drop, Take::Newest);
        assert_eq!(pool.arrive(arrival(0), 0), Arrived::Grown(0));
        assert_eq!(pool.arrive(arrival(1), 0), Arrived::Dropped);
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
                pool.arrive(arrival(9), 0);
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
        pool.arrive(arrival(4), 0);
        assert_eq!(pool.close(), [arrival(4)]);
    }
}
