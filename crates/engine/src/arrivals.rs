//! Distributes the arrivals of an open loop to connections, and decides when
//! another connection is opened.
//!
//! Arrivals are begun in batches. Between two batches the worker polls the sockets, so that it
//! reads replies before it begins further requests. An arrival that finds no free connection waits
//! in the pool. The worker opens another connection for it only after a poll in which no exchange
//! and no connection opening ended. Then every connection waits for the server, or is in the middle
//! of a long reply. While complete replies are unread, the generator is late, and another
//! connection would not help. A busy worker opens connections only while they raise its throughput
//! ([`Headroom`]). After that, arrivals wait for one of the open connections, as with `-c`.
//!
//! Opening respects `connect_rate` ([`OpeningRate`]). Arrivals that wait for it are late, and their job
//! records how long. The work of one loop pass does not depend on how late the run is.
//! [`Schedule::skip`] counts the arrivals that were not begun when the run is cut off.

use crate::actor::Actor;
use crate::clock::Sleep;
use crate::pace::{Headroom, OpeningRate, Pacer, Schedule, WorkerCounters};
use crate::pool::{Arrival, Arrived, Pool, PoolGrowth, SeatId};
use crate::population::WorkerPopulation;
use crate::recorder::Cohort;
use crate::work::{self, run_actor};
use brunt_model::Tick;
use brunt_wire::Transport;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of arrivals that are given to free connections between two polls of the sockets.
const BATCH: usize = 64;
/// Maximum number of arrivals that are examined between two polls. One that must wait costs little,
/// and the queue must keep up with the schedule.
const MAX_EXAMINED: usize = 1024;
/// Minimum time before further arrivals are examined, while arrivals wait for a
/// connection to be opened.
const EXAMINE_INTERVAL: Duration = Duration::from_micros(50);
/// Retry interval when the pool is full, or the worker is too busy for further connections.
const ROOM_INTERVAL: Duration = Duration::from_millis(1);

struct Dealer<T: Transport> {
    population: Rc<WorkerPopulation<T>>,
    pool: Arc<Pool>,
    schedule: Schedule,
    /// The next arrival of the schedule.
    next: Option<Tick>,
    opening: OpeningRate,
    headroom: Headroom,
    timer: Sleep,
    /// True if an arrival found no free connection, and may still wait.
    has_waiting: bool,
    /// True if the pool had no room for another arrival.
    is_full: bool,
}

/// Starts the actors of further seats on the connection of the first.
pub fn spawn_seats<T: Transport>(
    population: &Rc<WorkerPopulation<T>>,
    pool: &Arc<Pool>,
    first: &Actor<T>,
    seat: SeatId,
) {
    for seat in pool.seats_of(seat).skip(1) {
        let actor = Actor::sharing(population, Rc::clone(&first.connections), seat.number as u64);
        population.tasks.spawn(run_actor(
            actor,
            work::OpenWork { pool: Arc::clone(pool), seat, has_job: false },
        ));
    }
}

/// Begins all arrivals of one worker, each at its due time or, if the worker is late,
/// as soon as possible.
pub async fn deal_out<T: Transport>(
    population: Rc<WorkerPopulation<T>>,
    pool: Arc<Pool>,
    mut schedule: Schedule,
) {
    // Each worker opens its share of the connections.
    let connect_rate = f64::from(population.shared.connection().connect_rate.max(1))
        / population.among_all().map_or(1.0, |(_, workers)| workers as f64);
    // `Headroom` needs the idle time.
    population.clock.time.count_idle();
    let mut dealer = Dealer {
        timer: population.clock.time.timer(),
        next: schedule.next(Tick::ZERO),
        opening: OpeningRate::new(connect_rate),
        headroom: Headroom::new(progress(&population, population.clock.now())),
        has_waiting: false,
        is_full: false,
        population,
        pool,
        schedule,
    };
    dealer.pass_earlier();
    dealer.deal_all().await;
    dealer.drop_rest();
    let Dealer { population, pool, .. } = dealer;
    population.tasks.end_arrivals();
    pool.arrivals_over(population.worker());
    population.tasks.bell.fire();
}

fn progress<T: Transport>(population: &WorkerPopulation<T>, instant: Tick) -> WorkerCounters {
    WorkerCounters {
        at: instant,
        idle: population.clock.time.idle(),
        steps: population.thread.steps_done(),
    }
}

/// Records arrivals as dropped: they were due, and there was no room or no time for them.
pub fn drop_arrivals<T: Transport>(population: &WorkerPopulation<T>, arrivals: &[Arrival]) {
    let now = population.clock.now();
    let mut recorder = population.requests.recorder();
    for arrival in arrivals {
        recorder.record_first_action(now);
        recorder.record_drop(population.clock.cohort(arrival.planned));
    }
}

impl<T: Transport> Dealer<T> {
    /// Passes the arrivals that belong to a lost process, if this process takes its place.
    fn pass_earlier(&mut self) {
        for (cohort, until) in self.cohorts(self.population.clock.from()) {
            let count = self.schedule.pass(&mut self.next, until, u64::MAX);
            self.population.shared.tickets.take_many(cohort, count);
        }
    }

    /// The cohorts of arrivals that are due before `until`, each with its end.
    fn cohorts(&self, until: Tick) -> [(Cohort, Tick); 2] {
        let measured_from = self.population.clock.measured_from();
        [(Cohort::Warmup, measured_from.min(until)), (Cohort::Measured, until)]
    }

    async fn deal_all(&mut self) {
        let mut now = self.population.clock.now();
        while self.population.clock.cut().is_none() {
            self.deal_batch(now);
            if self.has_waiting && !self.pool.wants_to_grow() {
                self.has_waiting = false;
            }
            // Waiting arrivals come first: the poll may free a connection for them.
            match self.due() {
                _ if self.has_waiting => {
                    self.poll_and_grow().await;
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

    /// Returns the next arrival if it is due before the end of the load.
    fn due(&self) -> Option<Tick> {
        self.next.filter(|due| *due < self.population.clock.ends())
    }

    /// Returns the time, and fires due timers: a runtime that does not park fires none.
    fn catch_up(&self) -> Tick {
        let now = self.population.clock.now();
        self.population.clock.time.catch_up(now);
        now
    }

    /// Begins the arrivals that are due at `now`, up to one batch.
    fn deal_batch(&mut self, now: Tick) {
        self.is_full = self.is_full && self.pool.is_full();
        let mut begun_count = 0;
        for _ in 0..MAX_EXAMINED {
            let Some(due) = self.due().filter(|due| *due <= now && !self.is_full) else { return };
            let cohort = self.population.clock.cohort(due);
            if self.population.shared.tickets.take(cohort).is_none() {
                // The request limit is reached: no arrival of the schedule may begin.
                self.next = None;
                return;
            }
            self.population.requests.recorder().record_arrival(cohort, due);
            let arrival = Arrival { planned: due, number: self.schedule.number() };
            match self.pool.arrive(arrival, self.population.worker(), now) {
                Arrived::Taken => begun_count += 1,
                Arrived::Waits => {
                    self.has_waiting = true;
                    self.is_full = self.pool.is_full();
                }
                Arrived::Dropped => drop_arrivals(&self.population, &[arrival]),
            }
            // A schedule ignores the instant.
            self.next = self.schedule.next(Tick::ZERO);
            if begun_count == BATCH {
                return;
            }
        }
    }

    /// Polls the sockets; waits a little if the pool has no room for due arrivals.
    async fn make_room(&self, now: Tick) {
        if self.is_full {
            self.population.clock.wait_until(&self.timer, now + ROOM_INTERVAL).await;
        } else {
            // The runtime polls the sockets while this task yields.
            tokio::task::yield_now().await;
        }
    }

    /// Polls the sockets. If no exchange ends in that poll, opens a connection for the arrival that
    /// has waited longest, or drops arrivals without room.
    async fn poll_and_grow(&mut self) {
        let steps_before = self.population.thread.steps_done();
        let poll_began = self.population.clock.now();
        // Returns when the sockets were polled, and the tasks that this woke have run.
        tokio::task::yield_now().await;
        if self.population.clock.is_cut() {
            return;
        }
        let now = self.population.clock.now();
        // Something ended, so further replies may be unread: no connection is opened now.
        if self.population.thread.steps_done() != steps_before {
            return;
        }
        // The poll found nothing, so its time was idle.
        self.population.clock.time.was_idle(poll_began, now);
        if self.pool.may_grow() {
            let open = self.pool.connections(self.population.worker());
            if !self.headroom.permits_another(open, progress(&self.population, now)) {
                return self.wait_for(now, now + ROOM_INTERVAL).await;
            }
            if let Err(permitted_at) = self.opening.take(now) {
                return self.wait_for_opening(now, permitted_at).await;
            }
        }
        match self.pool.grow(self.population.worker(), now) {
            PoolGrowth::Seat(seat) => {
                let first = Actor::new(&self.population, seat.number as u64);
                spawn_seats(&self.population, &self.pool, &first, seat);
                let work = work::OpenWork { pool: Arc::clone(&self.pool), seat, has_job: true };
                self.population.tasks.spawn(run_actor(first, work));
            }
            PoolGrowth::Dropped(arrivals) => drop_arrivals(&self.population, &arrivals),
            PoolGrowth::Nothing => {}
        }
    }

    /// Waits until `limit`, or until an arrival is due: it may find a free connection.
    async fn wait_for(&self, now: Tick, limit: Tick) {
        // Not sooner, so that a late schedule does not examine arrivals in a busy loop.
        let due = self.due().unwrap_or(Tick::NEVER).max(now + EXAMINE_INTERVAL);
        self.population.clock.wait_until(&self.timer, limit.min(due)).await;
    }

    /// Waits because no connection may be opened before `permitted_at`, and counts
    /// the wait as pacing.
    async fn wait_for_opening(&self, now: Tick, permitted_at: Tick) {
        self.pool.pacing_begins(now);
        self.wait_for(now, permitted_at).await;
        self.pool.pacing_ends(self.population.clock.now());
    }

    /// Counts the due arrivals that were never examined as dropped.
    fn drop_rest(&mut self) {
        for (cohort, until) in self.cohorts(self.population.clock.ends()) {
            let count = self.schedule.skip(&mut self.next, until);
            let count = self.population.shared.tickets.take_many(cohort, count);
            self.population.requests.recorder().record_unexamined(cohort, count);
        }
    }
}
