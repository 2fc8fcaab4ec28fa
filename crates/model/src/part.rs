//! Runs in several processes: their commands, and their messages.
//!
//! Every process has the whole plan and a [`ProcessPart`], which defines its share. Shards are assigned in
//! turn: shard n belongs to process n mod m, where m is the number of processes. This applies to
//! users, connections and arrivals. [`crate::agent`] has the messages that carry them.

use crate::{Event, Plan, Tick};
use serde::{Deserialize, Serialize};

/// Position of a process among those of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPart {
    /// Number of the process, from 0.
    pub number: u32,
    /// Number of processes; at least 1.
    pub count: u32,
}

impl ProcessPart {
    /// The part of a run with one process.
    pub const WHOLE: Self = Self { number: 0, count: 1 };

    /// Returns the parts of a plan.
    pub fn all(plan: &Plan) -> impl Iterator<Item = Self> + use<> {
        let of = plan.processes.max(1);
        (0..of).map(move |number| Self { number, count: of })
    }

    /// Share of this process in `n` units that belong to all processes.
    pub fn share(self, n: u64) -> u64 {
        let number = u64::from(self.number);
        let of = u64::from(self.count);
        // The remainder goes to the first processes, as shard n belongs to process n mod m.
        n / of + u64::from(number < n % of)
    }

    /// Adds the number of the process to a message, if there are several processes.
    pub fn named(self, message: String) -> String {
        let Self { number, count: of } = self;
        // Users count processes from 1, and a single process needs no name.
        if of == 1 { message } else { format!("process {} of {of}: {message}", number + 1) }
    }

    /// Number of a worker among all workers of the run; `own` is its number in this process.
    pub fn worker(self, own: usize) -> usize {
        // Shards are assigned in turn, so worker numbers are interleaved, too.
        own * self.count as usize + self.number as usize
    }
}

/// Command to a running process. Instants are the same for all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartCommand {
    /// All processes are ready: the load begins at this time.
    Go(Tick),
    /// The server is steady: the measured time begins at this time.
    Steady(Tick),
    /// The target precision is reached: no new requests from this time on.
    Enough(Tick),
    /// The user stops the run: no new requests from this time on, and a short grace period. Before
    /// the load, the run does not begin.
    Stop(Tick),
}

/// Message from a process.
#[derive(Debug, Clone, PartialEq)]
pub enum ProcessMessage {
    /// Its connections are open since this time.
    Ready(Tick),
    /// The merged result of its workers.
    Event(Event),
    /// A scenario ends the run: all processes must stop.
    EndRun,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole_and_differ_by_at_most_one() {
        for of in 1..9 {
            for n in 0..40 {
                let shares: Vec<u64> =
                    (0..of).map(|number| ProcessPart { number, count: of }.share(n)).collect();
                assert_eq!(shares.iter().sum::<u64>(), n);
                assert!(
                    shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1,
                    "{n} by {of}: {shares:?}"
                );
            }
        }
    }

    #[test]
    fn worker_numbers_are_distinct() {
        let mut numbers: Vec<usize> = (0..3)
            .flat_map(|number| (0..4).map(move |own| ProcessPart { number, count: 3 }.worker(own)))
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    }
}
