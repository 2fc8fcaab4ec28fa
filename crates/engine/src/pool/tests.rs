//! The pool by itself, on one thread and on several.

use super::*;
use std::task::Waker;

const NOW: Tick = Tick(50);

fn arrival(number: u64) -> Arrival {
    Arrival { planned: Tick(number * 10), number }
}

fn job(number: u64, free: u64) -> AssignedArrival {
    AssignedArrival { arrival: arrival(number), free: Tick(free), paced: 0 }
}

/// Jobs that a seat has received.
fn handed(pool: &Pool, seat: SeatId) -> Option<AssignedArrival> {
    match pool.poll_job(seat, &mut Context::from_waker(Waker::noop())) {
        Poll::Ready(job) => job,
        Poll::Pending => None,
    }
}

/// Adds a seat, and returns its job.
fn grown(pool: &Pool, worker: usize) -> (SeatId, AssignedArrival) {
    let PoolGrowth::Seat(seat) = pool.grow(worker, NOW) else { panic!("no new seat") };
    (seat, handed(pool, seat).unwrap())
}

#[test]
fn it_grows_to_its_cap_and_then_queues_in_order() {
    let pool = Pool::new(2, 2, Overflow::Wait, ConnectionChoice::Oldest);
    let seats = [0, 1].map(|worker| {
        assert_eq!(pool.arrive(arrival(worker as u64), worker, NOW), Arrived::Waits);
        let (seat, made_for) = grown(&pool, worker);
        assert_eq!((seat.number, made_for.arrival), (worker, arrival(worker as u64)));
        seat
    });
    assert_eq!(pool.arrive(arrival(2), 0, NOW), Arrived::Waits);
    assert_eq!(pool.grow(0, NOW), PoolGrowth::Nothing);
    assert_eq!(pool.arrive(arrival(3), 1, NOW), Arrived::Waits);
    assert!(!pool.wants_to_grow());
    // The seat that is free first, of any worker, gets the arrival that waited longest.
    assert_eq!(pool.free(seats[1], Tick(100), true), Some(job(2, 100)));
    assert_eq!(pool.free(seats[0], Tick(101), true), Some(job(3, 101)));
    assert_eq!(pool.free(seats[0], Tick(102), true), None);
    pool.arrivals_over(0);
    assert!(!pool.is_quiet(0));
    pool.arrivals_over(1);
    assert!(pool.is_quiet(0) && !pool.is_quiet(1));
}

#[test]
fn a_free_connection_of_another_worker_is_used() {
    let pool = Pool::new(1, 2, Overflow::Wait, ConnectionChoice::Newest);
    let seat = pool.reserve(0);
    assert_eq!(pool.free(seat, Tick(5), true), None);
    assert_eq!(pool.arrive(arrival(1), 1, NOW), Arrived::Taken);
    assert_eq!(handed(&pool, seat), Some(job(1, 10)));
}

#[test]
fn without_a_queue_arrivals_beyond_the_cap_are_dropped() {
    let pool = Pool::new(1, 1, Overflow::Drop, ConnectionChoice::Newest);
    assert_eq!(pool.arrive(arrival(0), 0, NOW), Arrived::Waits);
    assert_eq!(grown(&pool, 0).1.arrival, arrival(0));
    assert_eq!(pool.arrive(arrival(1), 0, NOW), Arrived::Waits);
    assert_eq!(pool.grow(0, NOW), PoolGrowth::Dropped(vec![arrival(1)]));
    assert_eq!(pool.grow(0, NOW), PoolGrowth::Nothing);
    assert_eq!(pool.waiting(), 0);
}

#[test]
fn waiting_below_the_cap_counts_as_generator_delay() {
    let pool = Pool::new(2, 1, Overflow::Drop, ConnectionChoice::Newest);
    let seat = pool.reserve(0);
    pool.arrive(arrival(1), 0, Tick(10));
    assert!(pool.wants_to_grow());
    assert_eq!(pool.waiting(), 0);
    pool.pacing_begins(Tick(20));
    pool.arrive(arrival(2), 0, Tick(30));
    pool.pacing_ends(Tick(50));
    pool.pacing_begins(Tick(70));
    let expected = |number, paced| Some(AssignedArrival { paced, ..job(number, number * 10) });
    assert_eq!(pool.free(seat, Tick(80), true), expected(1, 40));
    pool.pacing_ends(Tick(90));
    assert_eq!(pool.free(seat, Tick(100), true), expected(2, 40));
}

#[test]
fn connections_are_taken_newest_or_oldest_first_and_dead_ones_last() {
    for (take, first) in [(ConnectionChoice::Newest, 2), (ConnectionChoice::Oldest, 0)] {
        let pool = Pool::new(3, 1, Overflow::Wait, take);
        let seats = [0, 1, 2].map(|i| {
            let seat = pool.reserve(0);
            pool.free(seat, Tick(i), true);
            seat
        });
        pool.lost_connection(seats[1]);
        let taken = || {
            pool.arrive(arrival(9), 0, NOW);
            seats.iter().position(|seat| handed(&pool, *seat).is_some()).unwrap()
        };
        assert_eq!([taken(), taken(), taken()], [first, 2 - first, 1]);
    }
}

/// Worker 0 has the only permitted connection. It also serves the arrivals of worker 1, at once if
/// it is free.
#[test]
fn one_permitted_connection_serves_two_workers() {
    for overflow in [Overflow::Wait, Overflow::Drop] {
        let pool = Pool::new(1, 2, overflow, ConnectionChoice::Newest);
        let seat = pool.reserve(0);
        assert_eq!(pool.free(seat, Tick(5), true), None);
        for number in 1..1000 {
            assert_eq!(pool.arrive(arrival(number), (number % 2) as usize, NOW), Arrived::Taken);
            assert_eq!(handed(&pool, seat), Some(job(number, number * 10)));
            assert_eq!(pool.free(seat, Tick(number * 10 + 5), true), None);
        }
        (0..2).for_each(|worker| pool.arrivals_over(worker));
        assert!(pool.is_quiet(0) && pool.is_quiet(1));
    }
}

/// One worker of a race: begins arrivals, adds permitted seats, and serves their jobs.
struct Racer<'a> {
    pool: &'a Pool,
    worker: usize,
    seats: Vec<(SeatId, Option<AssignedArrival>)>,
    served: Vec<u64>,
    dropped: Vec<u64>,
    /// It closes the pool at this one of its arrivals.
    closes_at: Option<u64>,
}

impl Racer<'_> {
    fn run(mut self, arrivals: u64, workers: u64) -> (Vec<u64>, Vec<u64>) {
        for i in 0..arrivals {
            let number = i * workers + self.worker as u64;
            if self.closes_at == Some(i) {
                self.dropped.extend(self.pool.close().iter().map(|a| a.number));
            }
            if self.pool.arrive(arrival(number), self.worker, NOW) == Arrived::Dropped {
                self.dropped.push(number);
            }
            self.turn(i);
        }
        self.pool.arrivals_over(self.worker);
        // An arrival that waits while a seat is free would never be served.
        for i in 0.. {
            if self.pool.is_quiet(self.worker) {
                break;
            }
            self.turn(i);
            assert!(i < 50_000_000, "an arrival was forgotten: {} wait", self.pool.waiting());
        }
        (self.served, self.dropped)
    }

    fn turn(&mut self, i: u64) {
        match self.pool.grow(self.worker, NOW) {
            PoolGrowth::Seat(seat) => self.seats.push((seat, None)),
            PoolGrowth::Dropped(arrivals) => self.dropped.extend(arrivals.iter().map(|a| a.number)),
            PoolGrowth::Nothing => {}
        }
        for (seat, job) in &mut self.seats {
            *job = match job.take() {
                Some(done) => {
                    self.served.push(done.arrival.number);
                    // Some connections are lost.
                    self.pool.free(*seat, NOW, !(done.arrival.number + i).is_multiple_of(5))
                }
                None => handed(self.pool, *seat),
            };
        }
    }
}

/// Arrivals that were served and dropped by all workers of a race.
fn race(pool: &Pool, workers: usize, arrivals: u64, closes_at: Option<u64>) -> [Vec<u64>; 2] {
    std::thread::scope(|scope| {
        let begin = |worker| {
            let closes_at = closes_at.filter(|_| worker == 0);
            let racer =
                Racer { pool, worker, seats: vec![], served: vec![], dropped: vec![], closes_at };
            scope.spawn(move || racer.run(arrivals, workers as u64))
        };
        let racers: Vec<_> = (0..workers).map(begin).collect();
        let results: Vec<_> = racers.into_iter().map(|racer| racer.join().unwrap()).collect();
        [
            results.iter().flat_map(|r| r.0.clone()).collect(),
            results.iter().flat_map(|r| r.1.clone()).collect(),
        ]
    })
}

#[test]
fn on_several_threads_no_arrival_is_lost_served_twice_or_left_waiting() {
    const ARRIVALS: u64 = 10_000;
    for (workers, cap) in [(2, 1), (2, 3), (4, 2), (4, 9)] {
        for overflow in [Overflow::Wait, Overflow::Drop] {
            for closes_at in [None, Some(ARRIVALS / 2)] {
                let pool = Pool::new(cap, workers, overflow, ConnectionChoice::Newest);
                let [served, dropped] = race(&pool, workers, ARRIVALS, closes_at);
                let mut all = [served, dropped.clone()].concat();
                all.sort_unstable();
                let case = format!(
                    "{workers} workers, {cap} seats, {overflow:?}, closed at {closes_at:?}"
                );
                assert_eq!(all, (0..ARRIVALS * workers as u64).collect::<Vec<_>>(), "{case}");
                assert!(
                    overflow == Overflow::Drop || closes_at.is_some() || dropped.is_empty(),
                    "{case}"
                );
                assert!(
                    (0..workers).map(|worker| pool.connections(worker)).sum::<usize>() <= cap,
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn closing_returns_the_waiting_arrivals() {
    let pool = Pool::new(0, 1, Overflow::Wait, ConnectionChoice::Newest);
    pool.arrive(arrival(4), 0, NOW);
    assert_eq!(pool.close(), [arrival(4)]);
}
