//! Deals the arrivals of an open loop out to connections, and decides when another connection is opened.
//!
//! Arrivals are dealt out in batches, and between two batches the sockets are polled, so that replies are read before
//! further requests are begun. An arrival that finds no free connection waits in the pool. Another connection is opened
//! for it only after a poll in which no exchange and no opening of a connection ended: then every connection waits for the
//! server, or is in the middle of a long reply. While whole replies lie unread the lateness is ours, and another connection
//! would not help. A busy worker opens connections only while they raise its throughput ([`Headroom`]); then arrivals wait for
//! one of the open connections, as with `-c`.
//!
//! Opening keeps to `connect_rate` ([`Opening`]); arrivals that wait for that are late, and how long is in their job. How
//! much work a turn is does not depend on how far behind the run is: what could not be begun when the run is cut off is
//! counted by [`Schedule::skip`].

use crate::actor::Actor;
use crate::clock::Sleep;
use crate::pace::{Headroom, Opening, Pacer, Progress, Schedule};
use crate::pool::{Arrival, Arrived, Growth, Pool, SeatId};
use crate::population::WorkerPopulation;
use crate::recorder::Cohort;
use crate::work::{self, live};
use brunt_model::Tick;
use brunt_wire::Transport;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Arrivals that find a free connection, and are begun, between two polls of the sockets.
const BATCH: usize = 64;
/// Arrivals that are looked at between two polls: one that waits costs little, and must not be behind the schedule.
const MOST_LOOKED_AT: usize = 1024;
/// While arrivals wait for a connection to be opened, further ones are looked at no sooner than after this.
const LOOK_AGAIN: Duration = Duration::from_micros(50);
/// Interval at which a full pool, or a stopped growth, is looked at again.
const ROOM_AGAIN: Duration = Duration::from_millis(1);

struct Dealer<T: Transport> {
    population: Rc<WorkerPopulation<T>>,
    pool: Arc<Pool>,
    schedule: Schedule,
    /// The next arrival of the schedule.
    next: Option<Tick>,
    opening: Opening,
    headroom: Headroom,
    timer: Sleep,
    /// Some arrival found no free connection, and may still wait.
    waits: bool,
    /// The pool had no room for another arrival.
    full: bool,
    /// No further connection is opened, because more would not raise the throughput.
    growth_stopped: bool,
}

/// Starts the actors of further seats on the connection of the first.
pub fn spawn_seats<T: Transport>(
    population: &Rc<WorkerPopulation<T>>,
    pool: &Arc<Pool>,
    (first, seat): (&Actor<T>, SeatId),
) {
    for seat in pool.seats_of(seat).skip(1) {
        let actor = Actor::sharing(population, Rc::clone(&first.connections), seat.number as u64);
        population.tasks.spawn(live(actor, work::Arrivals { pool: Arc::clone(pool), seat, fresh: false }));
    }
}

/// All arrivals of one worker, each at its instant or, where we are late, as soon as we can.
pub async fn deal_out<T: Transport>(population: Rc<WorkerPopulation<T>>, pool: Arc<Pool>, mut schedule: Schedule) {
    let connect_rate = f64::from(population.shared.connection().connect_rate.max(1)) / population.among_all().1 as f64;
    population.clock.time.count_idle();
    let mut dealer = Dealer {
        timer: population.clock.time.timer(),
        next: schedule.next(Tick::ZERO),
        opening: Opening::new(connect_rate),
        headroom: Headroom::new(progress(&population, population.clock.now())),
        waits: false,
        full: false,
        growth_stopped: false,
        population,
        pool,
        schedule,
    };
    dealer.deal_all().await;
    dealer.drop_rest();
    let Dealer { population, pool, .. } = dealer;
    population.tasks.end_arrivals();
    pool.arrivals_over(population.worker());
    population.tasks.bell.fire();
}

fn progress<T: Transport>(population: &WorkerPopulation<T>, at: Tick) -> Progress {
    Progress { at, idle: population.clock.time.idle(), steps: population.thread.steps_done() }
}

/// Arrivals that were due, and for which there was no room, or no time.
pub fn drop_arrivals<T: Transport>(population: &WorkerPopulation<T>, arrivals: &[Arrival]) {
    let now = population.clock.now();
    let mut recorder = population.requests.recorder();
    for arrival in arrivals {
        recorder.acted(now);
        recorder.dropped(population.clock.cohort(arrival.planned));
    }
}

impl<T: Transport> Dealer<T> {
    async fn deal_all(&mut self) {
        let mut now = self.population.clock.now();
        while self.population.clock.cut().is_none() {
            self.deal_batch(now);
            if self.waits && !self.pool.wants_to_grow() {
                self.waits = false;
                self.resume_growth();
            }
            match self.due() {
                _ if self.waits => {
                    self.look().await;
                    now = self.catch_up();
                }
                None => return,
                Some(due) if due > now => {
                    self.population.clock.wait_until(&self.timer, due).await;
                    now = self.population.clock.time.fired();
                }
                Some(_) => {
                    self.make_room(now).await;
                    now = self.catch_up();
                }
            }
        }
    }

    /// The next arrival, where it is due before the end of the load.
    fn due(&self) -> Option<Tick> {
        self.next.filter(|due| *due < self.population.clock.ends())
    }

    /// The time; a runtime that does not park fires no timers.
    fn catch_up(&self) -> Tick {
        let now = self.population.clock.now();
        self.population.clock.time.catch_up(now);
        now
    }

    /// Deals out what is due at `now`, or as many as go at once.
    fn deal_batch(&mut self, now: Tick) {
        self.full = self.full && self.pool.is_full();
        let mut taken = 0;
        for _ in 0..MOST_LOOKED_AT {
            let Some(due) = self.due().filter(|due| *due <= now && !self.full) else { return };
            let cohort = self.population.clock.cohort(due);
            if self.population.shared.tickets.take(cohort).is_none() {
                self.next = None;
                return;
            }
            self.population.requests.recorder().arrived(cohort, due);
            let arrival = Arrival { planned: due, number: self.schedule.number() };
            match self.pool.arrive(arrival, self.population.worker(), now) {
                Arrived::Taken => taken += 1,
                Arrived::Waits => (self.waits, self.full) = (true, self.pool.is_full()),
                Arrived::Dropped => drop_arrivals(&self.population, &[arrival]),
            }
            self.next = self.schedule.next(Tick::ZERO);
            if taken == BATCH {
                return;
            }
        }
    }

    /// Polls the sockets, and waits a little where the pool has no room for what is due.
    async fn make_room(&self, now: Tick) {
        if self.full {
            self.population.clock.wait_until(&self.timer, now + ROOM_AGAIN).await;
        } else {
            tokio::task::yield_now().await;
        }
    }

    /// Polls the sockets. Where no exchange ends by that, a connection is opened for the arrival that
    /// has waited longest, or there is no room for it.
    async fn look(&mut self) {
        let (before, began) = (self.population.thread.steps_done(), self.population.clock.now());
        // Comes back when the sockets were polled, and what that woke has run.
        tokio::task::yield_now().await;
        if self.population.clock.is_cut() {
            return;
        }
        let now = self.population.clock.now();
        if self.population.thread.steps_done() != before {
            if self.growth_stopped && self.headroom.is_exhausted(progress(&self.population, now)) {
                self.resume_growth();
            }
            return;
        }
        self.population.clock.time.was_idle(began, now);
        if self.pool.may_grow() {
            if !self.decide_growth(now) {
                return self.wait_for(now, now + ROOM_AGAIN).await;
            }
            if let Err(at) = self.opening.take(now) {
                return self.wait_for_opening(now, at).await;
            }
        }
        match self.pool.grow(self.population.worker(), now) {
            Growth::Seat(seat) => {
                let first = Actor::new(&self.population, seat.number as u64);
                spawn_seats(&self.population, &self.pool, (&first, seat));
                let work = work::Arrivals { pool: Arc::clone(&self.pool), seat, fresh: true };
                self.population.tasks.spawn(live(first, work));
            }
            Growth::Dropped(arrivals) => drop_arrivals(&self.population, &arrivals),
            Growth::Nothing => {}
        }
    }

    /// Whether a further connection is worth opening; if not, arrivals wait for one of the open connections.
    fn decide_growth(&mut self, now: Tick) -> bool {
        let (pool, worker) = (&self.pool, self.population.worker());
        let grows = self.headroom.permits_another(pool.connections(worker), progress(&self.population, now));
        if grows {
            self.resume_growth();
        } else if !self.growth_stopped {
            self.growth_stopped = true;
            pool.stop_growth(worker);
        }
        grows
    }

    fn resume_growth(&mut self) {
        if std::mem::take(&mut self.growth_stopped) {
            self.pool.resume_growth(self.population.worker());
        }
    }

    /// Waits until `at`, or until an arrival is due: it may find a connection that came free.
    async fn wait_for(&self, now: Tick, at: Tick) {
        let due = self.due().unwrap_or(Tick::NEVER).max(now + LOOK_AGAIN);
        self.population.clock.wait_until(&self.timer, at.min(due)).await;
    }

    /// No connection may be opened before `at`.
    async fn wait_for_opening(&self, now: Tick, at: Tick) {
        self.pool.pacing_begins(now);
        self.wait_for(now, at).await;
        self.pool.pacing_ends(self.population.clock.now());
    }

    /// Counts what was due and could not even be looked at: dropped.
    fn drop_rest(&mut self) {
        let ends = self.population.clock.ends();
        for (cohort, until) in
            [(Cohort::Warmup, self.population.clock.measured_from().min(ends)), (Cohort::Measured, ends)]
        {
            let count = self.schedule.skip(&mut self.next, until);
            let count = self.population.shared.tickets.take_many(cohort, count);
            self.population.requests.recorder().passed_over(cohort, count);
        }
    }
}
