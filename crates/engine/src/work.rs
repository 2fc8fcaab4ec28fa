//! Where a slot's requests come from: its own virtual user, or the arrivals of an open loop.

use crate::clock::Sleep;
use crate::pace::{Pacer, Thinking};
use crate::pool::{Arrival, Job, Pool, SeatId};
use crate::race::{First, race};
use crate::slot::Slot;
use crate::worker::Shared;
use brunt_model::{Clock, Shape, Tick};
use brunt_wire::Wire;
use std::sync::Arc;
use std::time::Duration;

/// Where a slot's requests come from.
pub trait Work<W: Wire> {
    /// Waits for the next; None: there will be no more.
    async fn next(&mut self, slot: &mut Slot<W>) -> Option<Job>;
}

/// Carries out all that `work` has.
pub async fn live<W: Wire>(mut slot: Slot<W>, mut work: impl Work<W>) {
    while let Some(job) = work.next(&mut slot).await {
        slot.carry_out(job).await;
    }
    slot.drop_connections();
    slot.shared.left();
}

/// The closed loop: the user asks again when it is free and has thought.
pub struct Own {
    pub pacer: Thinking,
    /// How many users there are over time, from when, and which of them this is; None: it is always there.
    pub presence: Option<Presence>,
    /// How often it may still ask.
    pub iterations_left: u64,
    /// It is counted among the users that are there.
    pub is_there: bool,
}

/// When a user is there, where their number changes over time.
pub struct Presence {
    pub users: Shape,
    pub number: u64,
}

impl<W: Wire> Work<W> for Own {
    async fn next(&mut self, slot: &mut Slot<W>) -> Option<Job> {
        let job = self.job(slot).await;
        self.stand(&slot.shared, job.is_some());
        job
    }
}

impl Own {
    async fn job<W: Wire>(&mut self, slot: &mut Slot<W>) -> Option<Job> {
        if slot.leaves {
            return None;
        }
        self.iterations_left = self.iterations_left.checked_sub(1)?;
        let free = slot.ended.max(slot.shared.begins.get()) + slot.pause;
        let thought = self.pacer.next(free)?;
        let due = match &self.presence {
            Some(presence) => presence.from(thought, slot.shared.begins.get())?,
            None => thought,
        };
        self.stand(&slot.shared, due == thought);
        let until = due.min(slot.shared.ends.get());
        if until > slot.ended && until > slot.shared.time.now() {
            wait_idle(slot, until).await;
        }
        let from = slot.ended.max(slot.shared.begins.get());
        slot.shared.recorder.borrow_mut().thought(from, due.min(slot.shared.ends.get()));
        if due >= slot.shared.ends.get() {
            return None;
        }
        let cohort = slot.shared.cohort(due);
        let number = slot.shared.tickets.take(cohort)?;
        slot.shared.recorder.borrow_mut().due(cohort);
        Some(Job { arrival: Arrival { planned: due, number }, free: due, paced: 0 })
    }

    /// Counts the user among those that are there, or not any more.
    fn stand<W: Wire>(&mut self, shared: &Shared<W>, is_there: bool) {
        if std::mem::replace(&mut self.is_there, is_there) != is_there {
            let there = shared.users_there.get();
            shared.users_there.set(if is_there { there + 1 } else { there - 1 });
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

/// Waits until `due`; a connection that the server closes meanwhile is given up.
pub async fn wait_idle<W: Wire>(slot: &mut Slot<W>, due: Tick) {
    slot.timer.set(due);
    while let Some(conn) = &mut slot.conn {
        match race(&slot.timer, slot.shared.wire.closed(conn)).await {
            First::A(()) => return,
            First::B(idle) => slot.lost_idle(idle),
        }
    }
    (&slot.timer).await;
}

/// The open loop: arrivals that the pool hands to this seat.
pub struct Arrivals {
    pub pool: Arc<Pool>,
    pub seat: SeatId,
    /// The seat was made for an arrival that it already has.
    pub fresh: bool,
}

impl<W: Wire> Work<W> for Arrivals {
    async fn next(&mut self, slot: &mut Slot<W>) -> Option<Job> {
        if !std::mem::take(&mut self.fresh) {
            let handed = self.pool.free(self.seat, slot.ended, slot.is_connected());
            slot.shared.ended_one();
            if handed.is_some() {
                return handed;
            }
        }
        loop {
            let job = std::future::poll_fn(|cx| self.pool.poll_job(self.seat, cx));
            let Some(conn) = &mut slot.conn else { return job.await };
            match race(job, slot.shared.wire.closed(conn)).await {
                First::A(job) => return job,
                First::B(idle) => {
                    slot.lost_idle(idle);
                    self.pool.lost_connection(self.seat);
                }
            }
        }
    }
}

/// Waits until `due`, or until everybody is woken. Who was just woken and is late already does not wait.
pub async fn wait_until<W: Wire>(shared: &Shared<W>, timer: &Sleep, due: Tick) {
    if due > shared.time.fired() {
        timer.set(due);
        timer.await;
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
