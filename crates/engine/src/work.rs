//! Where an actor's requests come from: its own virtual user, or the arrivals of an open loop.

use crate::actor::Actor;
use crate::iteration::RequestTiming;
use crate::pace::{Pacer, Thinking};
use crate::pool::{Arrival, Job, Pool, SeatId};
use crate::population::WorkerPopulation;
use crate::race::{First, race};
use brunt_model::plan::ConnectionLifetime;
use brunt_model::{Shape, Tick};
use brunt_wire::Transport;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Where an actor's requests come from.
pub trait Work<T: Transport> {
    /// Waits for the next; None: there will be no more.
    async fn next(&mut self, actor: &mut Actor<T>) -> Option<Job>;
}

/// Carries out all that `work` has.
pub async fn live<T: Transport>(mut actor: Actor<T>, mut work: impl Work<T>) {
    while let Some(job) = work.next(&mut actor).await {
        actor.carry_out(RequestTiming::of(job)).await;
        if actor.population.requests.lifetime() != ConnectionLifetime::Run {
            actor.drop_connections();
        }
    }
    actor.leave_transactions();
    let population = Rc::clone(&actor.population);
    if actor.leaves && population.shared.pool.is_none() {
        population.tasks.depart(actor.ended.max(population.clock.begins()));
    }
    // Its connections close, unless others use them.
    drop(actor);
    population.tasks.end_task();
}

/// The closed loop: the user asks again when it is free and has thought.
pub struct Own {
    pub pacer: Thinking,
    /// How many users there are over time, from when, and which of them this is; None: it is always there.
    pub presence: Option<Presence>,
    /// How often the user may still ask, over all its streams.
    pub iterations_left: Rc<Cell<u64>>,
    /// Which of the user's streams it is; the first stands for the user.
    pub stream: u32,
    /// It is counted among the users that are there.
    pub is_there: bool,
}

/// When a user is there, where their number changes over time.
pub struct Presence {
    pub users: Shape,
    pub number: u64,
}

impl<T: Transport> Work<T> for Own {
    async fn next(&mut self, actor: &mut Actor<T>) -> Option<Job> {
        let job = self.job(actor).await;
        self.stand(&actor.population, job.is_some());
        job
    }
}

impl Own {
    async fn job<T: Transport>(&mut self, actor: &mut Actor<T>) -> Option<Job> {
        if actor.leaves {
            return None;
        }
        self.iterations_left.set(self.iterations_left.get().checked_sub(1)?);
        let free = actor.ended.max(actor.population.clock.begins()) + actor.pause;
        let thought = self.pacer.next(free)?;
        let due = match &self.presence {
            Some(presence) => presence.from(thought, actor.population.clock.begins())?,
            None => thought,
        };
        self.stand(&actor.population, due == thought);
        let until = due.min(actor.population.clock.ends());
        if until > actor.ended && until > actor.population.clock.now() {
            actor.wait_idle(until).await;
        }
        let from = actor.ended.max(actor.population.clock.begins());
        actor.population.requests.recorder().thought(from, due.min(actor.population.clock.ends()));
        if due >= actor.population.clock.ends() {
            return None;
        }
        let cohort = actor.population.clock.cohort(due);
        let number = actor.population.shared.tickets.take(cohort)?;
        Some(Job { arrival: Arrival { planned: due, number }, free: due, paced: 0 })
    }

    /// Counts the user among those that are there, or not any more.
    fn stand<T: Transport>(&mut self, population: &WorkerPopulation<T>, is_there: bool) {
        if self.stream == 0 && std::mem::replace(&mut self.is_there, is_there) != is_there {
            population.tasks.change_users(is_there);
            population.shared.active_users.change(population.shared.number, is_there);
        }
    }
}

impl Presence {
    /// The first instant from `at` on at which this user is there; None: never again.
    fn from(&self, at: Tick, begins: Tick) -> Option<Tick> {
        let wanted = (self.number + 1) as f64;
        let mut stage_begins = begins;
        for stage in &self.users.stages {
            let stage_ends = stage.duration.map_or(Tick::NEVER, |d| stage_begins + d);
            if at < stage_ends {
                let from = at.max(stage_begins);
                let now = self.users.at(from - begins);
                if now >= wanted {
                    return Some(from);
                }
                if stage.to >= wanted && stage.to > stage.from {
                    let length = stage.duration.unwrap_or_default().as_secs_f64();
                    let share = (wanted - stage.from) / (stage.to - stage.from);
                    return Some((stage_begins + Duration::from_secs_f64(length * share)).max(from));
                }
            }
            stage_begins = stage_ends;
        }
        None
    }
}

/// The open loop: arrivals that the pool hands to this seat.
pub struct Arrivals {
    pub pool: Arc<Pool>,
    pub seat: SeatId,
    /// The seat was made for an arrival that it already has.
    pub fresh: bool,
}

impl<T: Transport> Work<T> for Arrivals {
    async fn next(&mut self, actor: &mut Actor<T>) -> Option<Job> {
        if !std::mem::take(&mut self.fresh) {
            let handed = self.pool.free(self.seat, actor.ended, actor.is_connected());
            actor.population.tasks.end_request();
            if handed.is_some() {
                return handed;
            }
        }
        loop {
            let job = std::future::poll_fn(|cx| self.pool.poll_job(self.seat, cx));
            let Some(lane) = &mut actor.lane else { return job.await };
            match race(job, lane.closed(actor.population.requests.transport())).await {
                First::A(job) => return job,
                First::B(idle) => {
                    actor.lost_idle(idle);
                    self.pool.lost_connection(self.seat);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Stage;

    #[test]
    fn users_are_there_when_the_shape_says_so() {
        let stage = |from, to, s| Stage { from, to, duration: Some(Duration::from_secs(s)) };
        // 0 to 10 in 10 s, 10 for 5 s, back to 0 in 10 s.
        let users = Shape { stages: vec![stage(0.0, 10.0, 10), stage(10.0, 10.0, 5), stage(10.0, 0.0, 10)] };
        let third = Presence { users, number: 2 };
        let begins = Tick(1_000_000_000);
        let at = |s: f64| begins + Duration::from_secs_f64(s);
        assert_eq!(third.from(at(0.0), begins), Some(at(3.0)));
        assert_eq!(third.from(at(4.5), begins), Some(at(4.5)));
        assert_eq!(third.from(at(21.9), begins), Some(at(21.9)));
        assert_eq!(third.from(at(22.1), begins), None);
        assert_eq!(third.from(at(99.0), begins), None);
    }
}
