//! The pool by simulation: whatever threads there are, nothing is lost, and who came first is served first.

use super::recursion;
use crate::pool::{
    Arrival, Arrived, AssignedArrival, ConnectionChoice, Overflow, Pool, PoolGrowth, SeatId,
};
use brunt_model::Tick;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::task::{Context, Poll, Waker};

const SEATS: usize = 4;

/// Seats that serve the pool's jobs, each for `service`.
struct Simulation {
    pool: Pool,
    service: u64,
    seats: Vec<SeatId>,
    /// When each busy seat will be free.
    busy: BTreeSet<(Tick, SeatId)>,
    /// When each arrival was served.
    served: BTreeMap<u64, Tick>,
}

impl Simulation {
    fn new(workers: usize, take: ConnectionChoice, service: u64) -> Self {
        let pool = Pool::new(SEATS, workers, Overflow::Wait, take);
        Self { pool, service, seats: Vec::new(), busy: BTreeSet::new(), served: BTreeMap::new() }
    }

    fn arrive(&mut self, planned: Tick, worker: usize) {
        self.free_until(planned);
        let number = self.served.len() as u64 + self.pool.waiting() as u64;
        let arrived = self.pool.arrive(Arrival { planned, number }, worker, planned);
        assert_ne!(arrived, Arrived::Dropped, "arrivals wait here");
        if let PoolGrowth::Seat(seat) = self.pool.grow(worker, planned) {
            self.seats.push(seat);
        }
        for seat in self.seats.clone() {
            let job = self.pool.poll_job(seat, &mut Context::from_waker(Waker::noop()));
            if let Poll::Ready(Some(job)) = job {
                self.serve(seat, job);
            }
        }
    }

    fn serve(&mut self, seat: SeatId, job: AssignedArrival) {
        assert!(job.free >= job.arrival.planned);
        assert!(self.busy.iter().all(|b| b.1 != seat), "a busy seat was given a job");
        assert_eq!(self.served.insert(job.arrival.number, job.free), None, "served twice");
        self.busy.insert((Tick(job.free.0 + self.service), seat));
        assert!(self.busy.len() <= SEATS);
    }

    /// Frees all seats with a job that ended by `now`.
    fn free_until(&mut self, now: Tick) {
        while let Some((at, seat)) = self.busy.first().copied().filter(|b| b.0 <= now) {
            self.busy.remove(&(at, seat));
            if let Some(job) = self.pool.free(seat, at, true) {
                assert_eq!(job.free, at);
                self.serve(seat, job);
            }
        }
    }
}

proptest! {
    #[test]
    fn waits_are_the_same_with_one_worker_and_with_three(
        arrivals in prop::collection::vec((0u64..30, 0usize..3), 1..300),
        service in 1u64..200,
    ) {
        let planned: Vec<_> = arrivals.iter().scan(0, |now, a| { *now += a.0; Some(*now) }).collect();
        let expected: Vec<_> = recursion(&planned, SEATS, || service).into_iter().map(|r| Tick(r.0)).collect();
        for (workers, take) in [(1, ConnectionChoice::Oldest), (3, ConnectionChoice::Oldest), (3, ConnectionChoice::Newest)] {
            let mut all = Simulation::new(workers, take, service);
            for (at, (_, worker)) in planned.iter().zip(&arrivals) {
                all.arrive(Tick(*at), worker % workers);
            }
            all.free_until(Tick::NEVER);
            prop_assert_eq!(all.served.into_values().collect::<Vec<_>>(), expected.clone());
            prop_assert!((0..workers).all(|w| !all.pool.is_quiet(w)), "arrivals may still come");
            (0..workers).for_each(|w| all.pool.arrivals_over(w));
            prop_assert!((0..workers).all(|w| all.pool.is_quiet(w)));
        }
    }
}

#[test]
fn a_closed_pool_accepts_no_arrivals() {
    let pool = Pool::new(2, 2, Overflow::Wait, ConnectionChoice::Oldest);
    let seat = pool.reserve(0);
    assert_eq!(pool.free(seat, Tick::ZERO, true), None);
    assert_eq!(pool.close(), []);
    // A worker that is a little late must not hand it to a seat that has gone home.
    assert_eq!(pool.arrive(Arrival { planned: Tick(5), number: 0 }, 1, Tick(5)), Arrived::Dropped);
}

#[test]
fn a_worker_is_not_quiet_while_others_may_pass_it_arrivals() {
    let pool = Pool::new(1, 2, Overflow::Wait, ConnectionChoice::Oldest);
    let seat = pool.reserve(0);
    pool.free(seat, Tick::ZERO, true);
    pool.arrivals_over(0);
    assert!(!pool.is_quiet(0));
    assert_eq!(pool.arrive(Arrival { planned: Tick(5), number: 0 }, 1, Tick(5)), Arrived::Taken);
    pool.arrivals_over(1);
    assert!(!pool.is_quiet(0) && pool.is_quiet(1));
}
