//! Source of an actor's requests: its own virtual user, or the arrivals of an open loop.

use crate::actor::Actor;
use crate::iteration::RequestTiming;
use crate::pace::{Pacer, Thinking};
use crate::pool::{Arrival, AssignedArrival, Pool, SeatId};
use crate::population::WorkerPopulation;
use crate::race::{First, race};
use brunt_model::plan::ConnectionLifetime;
use brunt_model::{LoadShape, Tick};
use brunt_wire::Transport;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Source of an actor's requests.
pub trait Work<T: Transport> {
    /// Waits for the next job. None: there are no further jobs.
    async fn next(&mut self, actor: &mut Actor<T>) -> Option<AssignedArrival>;
}

/// Runs all jobs of `work`, then ends the actor.
pub async fn run_actor<T: Transport>(mut actor: Actor<T>, mut work: impl Work<T>) {
    while let Some(job) = work.next(&mut actor).await {
        actor.carry_out(RequestTiming::first(job)).await;
        if actor.population.requests.lifetime() != ConnectionLifetime::Run {
            actor.drop_connections();
        }
    }
    actor.leave_transactions();
    let population = Rc::clone(&actor.population);
    if population.shared.pool.is_none() {
        let overtime = actor.ended_at.nanos_since(population.clock.ends());
        population.requests.recorder().record_overtime(overtime);
        if actor.has_left {
            population.tasks.depart(actor.ended_at.max(population.clock.from()));
        }
    }
    // Closes the actor's connections, unless other actors use them.
    drop(actor);
    population.tasks.end_task();
}

/// The closed loop: the user's next request is due when it is free and its think time is over.
pub struct ClosedLoop {
    pub pacer: Thinking,
    /// Number of users over time, and the position of this user. None: the number is constant, and
    /// the user is always active.
    pub ramp_position: Option<RampPosition>,
    /// Number of iterations left to the user, over all its streams.
    pub iterations_left: Rc<Cell<u64>>,
    /// Index of the user's stream. The first one counts as the user.
    pub stream: u32,
    /// True while the user counts as active.
    pub is_active: bool,
}

/// Position of a user in a number of users that changes over time.
pub struct RampPosition {
    pub users: LoadShape,
    pub number: u64,
}

impl<T: Transport> Work<T> for ClosedLoop {
    async fn next(&mut self, actor: &mut Actor<T>) -> Option<AssignedArrival> {
        let job = self.job(actor).await;
        self.set_active(&actor.population, job.is_some());
        job
    }
}

impl ClosedLoop {
    async fn job<T: Transport>(&mut self, actor: &mut Actor<T>) -> Option<AssignedArrival> {
        if actor.has_left {
            return None;
        }
        // The streams of a user share its iterations.
        self.iterations_left.set(self.iterations_left.get().checked_sub(1)?);
        let free = actor.ended_at.max(actor.population.clock.from()) + actor.pause;
        let ready = self.pacer.next(free)?;
        let due = match &self.ramp_position {
            Some(ramp_position) => {
                ramp_position.active_from(ready, actor.population.clock.begins())?
            }
            None => ready,
        };
        self.set_active(&actor.population, due == ready);
        let until = due.min(actor.population.clock.ends());
        if until > actor.ended_at && until > actor.population.clock.now() {
            actor.wait_idle(until).await;
        }
        let from = actor.ended_at.max(actor.population.clock.from());
        actor
            .population
            .requests
            .recorder()
            .record_idle(from, due.min(actor.population.clock.ends()));
        if due >= actor.population.clock.ends() {
            return None;
        }
        let cohort = actor.population.clock.cohort(due);
        let number = actor.population.shared.tickets.take(cohort)?;
        Some(AssignedArrival { arrival: Arrival { planned: due, number }, free: due, paced: 0 })
    }

    /// Counts the user as active, or as no longer active.
    fn set_active<T: Transport>(&mut self, population: &WorkerPopulation<T>, is_active: bool) {
        if self.stream == 0 && std::mem::replace(&mut self.is_active, is_active) != is_active {
            population.tasks.change_users(is_active);
            population.shared.active_users.change(population.shared.number, is_active);
        }
    }
}

impl RampPosition {
    /// Returns the first time from `instant` on at which this user is active. None: never again.
    fn active_from(&self, instant: Tick, begins: Tick) -> Option<Tick> {
        let position = (self.number + 1) as f64;
        let mut stage_begins = begins;
        for stage in &self.users.stages {
            let stage_ends = stage.duration.map_or(Tick::NEVER, |d| stage_begins + d);
            if instant < stage_ends {
                let from = instant.max(stage_begins);
                let now = self.users.at(from - begins);
                if now >= position {
                    return Some(from);
                }
                if stage.to >= position && stage.to > stage.from {
                    let length = stage.duration.unwrap_or_default().as_secs_f64();
                    let share = (position - stage.from) / (stage.to - stage.from);
                    return Some(
                        (stage_begins + Duration::from_secs_f64(length * share)).max(from),
                    );
                }
            }
            stage_begins = stage_ends;
        }
        None
    }
}

/// The open loop: arrivals that the pool gives to this seat.
pub struct OpenWork {
    pub pool: Arc<Pool>,
    pub seat: SeatId,
    /// True if the seat was added for an arrival that it already has.
    pub has_job: bool,
}

impl<T: Transport> Work<T> for OpenWork {
    async fn next(&mut self, actor: &mut Actor<T>) -> Option<AssignedArrival> {
        // A new seat already has its job.
        if !std::mem::take(&mut self.has_job) {
            let job = self.pool.free(self.seat, actor.ended_at, actor.is_connected());
            actor.population.tasks.end_request();
            if job.is_some() {
                return job;
            }
        }
        loop {
            let job = std::future::poll_fn(|cx| self.pool.poll_job(self.seat, cx));
            let Some(lane) = &mut actor.lane else { return job.await };
            match race(job, lane.closed(actor.population.requests.transport())).await {
                First::A(job) => return job,
                First::B(idle) => {
                    actor.drop_idle(idle);
                    self.pool.lost_connection(self.seat);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::LoadStage;

    #[test]
    fn users_are_active_as_the_load_shape_requires() {
        let stage = |from, to, s| LoadStage { from, to, duration: Some(Duration::from_secs(s)) };
        // 0 to 10 in 10 s, 10 for 5 s, back to 0 in 10 s.
        let users = LoadShape {
            stages: vec![stage(0.0, 10.0, 10), stage(10.0, 10.0, 5), stage(10.0, 0.0, 10)],
        };
        let third = RampPosition { users, number: 2 };
        let begins = Tick(1_000_000_000);
        let at = |s: f64| begins + Duration::from_secs_f64(s);
        assert_eq!(third.active_from(at(0.0), begins), Some(at(3.0)));
        assert_eq!(third.active_from(at(4.5), begins), Some(at(4.5)));
        assert_eq!(third.active_from(at(21.9), begins), Some(at(21.9)));
        assert_eq!(third.active_from(at(22.1), begins), None);
        assert_eq!(third.active_from(at(99.0), begins), None);
    }
}
