//! A run that several processes carry out together: what each of them is told, and what it says.
//!
//! Every process holds the whole plan, and its [`Part`] says what of it is its own. Shards are dealt out like cards, one to
//! each process in turn, so that whatever falls to shard n of all falls to process n mod m: users, connections, arrivals.
//! Transport is elsewhere: accounts are sent as frames of [`codec`](crate::codec), words as lines of JSON.

use crate::{Event, Plan, Tick};
use serde::{Deserialize, Serialize};

/// Which process of a run this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its number, from 0.
    pub number: u32,
    /// How many there are; at least 1.
    pub of: u32,
}

impl Part {
    /// A run in one process.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// All parts of a plan.
    pub fn all(plan: &Plan) -> impl Iterator<Item = Self> + use<> {
        let of = plan.processes.max(1);
        (0..of).map(move |number| Self { number, of })
    }

    /// Of `n` things that all processes have together, how many are this one's.
    pub fn share(self, n: u64) -> u64 {
        let (number, of) = (u64::from(self.number), u64::from(self.of));
        n / of + u64::from(number < n % of)
    }

    /// A remark of this process: with its number, where there are several.
    pub fn named(self, remark: String) -> String {
        let Self { number, of } = self;
        if of == 1 { remark } else { format!("process {} of {of}: {remark}", number + 1) }
    }

    /// The number that a worker of this process has among those of all.
    pub fn worker(self, own: usize) -> usize {
        own * self.of as usize + self.number as usize
    }
}

/// What a process is told first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The whole run.
    pub plan: Plan,
    /// What of it is this process's.
    pub part: Part,
    /// When the run began: nanoseconds of the system's monotonic clock, which all processes of a machine share.
    pub epoch_nanos: u64,
}

/// What a process is told while it is at work. Instants are the same for all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartCommand {
    /// All are ready: the load begins then.
    Go(Tick),
    /// The server is warm: the measured time begins then.
    Steady(Tick),
    /// Enough is known: no new requests from then on.
    Enough(Tick),
    /// Somebody wants it to end: no new requests from then on, and a short grace. Before the load: it never begins.
    Stop(Tick),
}

/// What a process says.
#[derive(Debug, Clone, PartialEq)]
pub enum Account {
    /// Its connections are open, since this instant.
    Ready(Tick),
    /// What its workers saw, joined.
    Event(Event),
    /// A scenario ends the run: all processes are to be told.
    EndRun,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_make_up_the_whole_and_are_as_even_as_can_be() {
        for of in 1..9 {
            for n in 0..40 {
                let shares: Vec<u64> = (0..of).map(|number| Part { number, of }.share(n)).collect();
                assert_eq!(shares.iter().sum::<u64>(), n);
                assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1, "{n} by {of}: {shares:?}");
            }
        }
    }

    #[test]
    fn every_worker_has_a_number_of_its_own() {
        let mut numbers: Vec<usize> =
            (0..3).flat_map(|number| (0..4).map(move |own| Part { number, of: 3 }.worker(own))).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    }
}
