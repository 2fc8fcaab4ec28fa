//! Runs in several processes: their commands, and their messages.
//!
//! Every process has the whole plan and a [`ProcessPart`], which defines its share. Shards are assigned in
//! turn: shard n belongs to process n mod m, where m is the number of processes. This applies to
//! users, connections and arrivals. [`crate::agent`] has the messages that carry them.
//!
//! Quiet processes are an exception: of 100 arrivals they get one, and the others share the rest in turn.

mod shares;

use crate::{Event, Plan, Text, Tick, text};
use serde::{Deserialize, Serialize};
pub use shares::{ProcessShares, check_placement, unknown_group};

/// Position of a process among those of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPart {
    /// Number of the process, from 0.
    pub number: u32,
    /// Number of processes; at least 1.
    pub count: u32,
    /// Number of quiet processes, which are the last ones; less than `count`.
    #[serde(default)]
    pub quiet: u32,
}

/// Number of arrivals of which quiet processes get one.
const ARRIVALS_PER_QUIET: u64 = 100;

impl ProcessPart {
    /// The part of a run with one process.
    pub const WHOLE: Self = Self { number: 0, count: 1, quiet: 0 };

    /// Returns a part of a plan. `number` is less than the plan's number of processes.
    pub fn of(plan: &Plan, number: u32) -> Self {
        let count = plan.processes.max(1);
        let quiet = plan.fleet.as_ref().map_or(0, |fleet| fleet.quiet).min(count - 1);
        Self { number, count, quiet }
    }

    /// Returns the parts of a plan.
    pub fn all(plan: &Plan) -> impl Iterator<Item = Self> {
        (0..plan.processes.max(1)).map(|number| Self::of(plan, number))
    }

    /// True if it is a quiet process.
    pub fn is_quiet(self) -> bool {
        self.number >= self.count - self.quiet
    }

    /// Returns how many arrivals before arrival `k` belong to this process, if `k` does, too.
    pub fn turn(self, k: u64) -> Option<u64> {
        let (is_quiet, turn) = Self::deal(k, self.quiet);
        let (number, count) = self.among_its_kind();
        (is_quiet == self.is_quiet() && turn % count == number).then(|| turn / count)
    }

    /// Share of this process in the first `n` arrivals.
    pub fn share_of_arrivals(self, n: u64) -> u64 {
        let quiet = if self.quiet == 0 { 0 } else { n / ARRIVALS_PER_QUIET };
        let of_kind = if self.is_quiet() { quiet } else { n - quiet };
        let (number, count) = self.among_its_kind();
        // The remainder goes to the first processes, as shard n belongs to process n mod m.
        of_kind / count + u64::from(number < of_kind % count)
    }

    /// Mean distance between two arrivals of this process, in arrivals.
    pub fn stride(self) -> f64 {
        let (_, count) = self.among_its_kind();
        let per_quiet = ARRIVALS_PER_QUIET as f64;
        match (self.quiet, self.is_quiet()) {
            (0, _) => count as f64,
            (_, true) => count as f64 * per_quiet,
            (_, false) => count as f64 * per_quiet / (per_quiet - 1.0),
        }
    }

    /// True if arrival `k` belongs to a quiet process, and its number among those of the same kind.
    fn deal(k: u64, quiet: u32) -> (bool, u64) {
        if quiet == 0 {
            return (false, k);
        }
        let before = k / ARRIVALS_PER_QUIET;
        let is_quiet = k % ARRIVALS_PER_QUIET == ARRIVALS_PER_QUIET - 1;
        (is_quiet, if is_quiet { before } else { k - before })
    }

    /// Its number among the quiet processes or among the others, and their number.
    fn among_its_kind(self) -> (u64, u64) {
        let loaded = self.count - self.quiet;
        let (number, count) = if self.is_quiet() {
            (self.number - loaded, self.quiet)
        } else {
            (self.number, loaded)
        };
        (number.into(), count.into())
    }

    /// Share of this process in `n` users or connections of all processes. Quiet processes have as many as the
    /// others.
    pub fn share(self, n: u64) -> u64 {
        Self { quiet: 0, ..self }.share_of_arrivals(n)
    }

    /// Adds the number of the process to a message, if there are several processes.
    pub fn named(self, message: Text) -> Text {
        // A single process needs no name.
        if self.count == 1 {
            message
        } else {
            text!("of-run", run = self.name(), sentence = message)
        }
    }

    /// Returns its name, such as `process 2 of 3`.
    pub fn name(self) -> Text {
        // Users count processes from 1.
        let number = (self.number + 1).to_string();
        text!("warning-part.process", number, count = self.count.to_string())
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
    /// The process takes the place of one that was lost: it carries out its share from this time on.
    Resume {
        /// Begin of the load.
        begins: Tick,
        /// Begin of this process's load.
        from: Tick,
    },
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
                let shares: Vec<u64> = (0..of)
                    .map(|number| ProcessPart { number, count: of, quiet: 0 }.share(n))
                    .collect();
                assert_eq!(shares.iter().sum::<u64>(), n);
                assert!(
                    shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1,
                    "{n} by {of}: {shares:?}"
                );
            }
        }
    }

    #[test]
    fn each_arrival_belongs_to_one_process_and_quiet_ones_get_one_in_a_hundred() {
        for (count, quiet) in [(1, 0), (3, 0), (2, 1), (5, 2), (7, 3)] {
            let parts = || (0..count).map(|number| ProcessPart { number, count, quiet });
            let mut turns = vec![0; count as usize];
            for k in 0..2_000 {
                let owners: Vec<(u32, u64)> =
                    parts().filter_map(|part| Some((part.number, part.turn(k)?))).collect();
                let [(number, turn)] = owners[..] else { panic!("{k}: {owners:?}") };
                assert_eq!(turn, turns[number as usize], "{k}");
                turns[number as usize] += 1;
                for part in parts() {
                    let share = part.share_of_arrivals(k + 1);
                    assert_eq!(share, turns[part.number as usize], "{k} {part:?}");
                }
            }
            for part in parts() {
                let expected = 2_000.0 / part.stride();
                let share = part.share_of_arrivals(2_000) as f64;
                assert!((share - expected).abs() <= 1.0, "{part:?}: {share}, {expected}");
            }
        }
    }

    #[test]
    fn worker_numbers_are_distinct() {
        let mut numbers: Vec<usize> = (0..3)
            .flat_map(|number| {
                (0..4).map(move |own| ProcessPart { number, count: 3, quiet: 0 }.worker(own))
            })
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    }
}
