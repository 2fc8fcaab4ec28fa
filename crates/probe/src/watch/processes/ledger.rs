//! Sums counters over processes or threads that begin and end. The counts of ended ones are kept.

use super::table::Member;
use std::collections::BTreeMap;

/// A sum of counters, each of an owner that may end.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    ended: f64,
    last: BTreeMap<u32, f64>,
}

impl Ledger {
    /// Returns the sum over all owners that ever existed. `now` contains the
    /// counters of existing ones.
    pub fn sum(&mut self, now: BTreeMap<u32, f64>) -> f64 {
        let mut ended = 0.0;
        for (id, previous) in &self.last {
            // A counter that is missing belongs to an ended owner. One that fell belongs to a new
            // owner with the same id.
            let continues = now.get(id).is_some_and(|current| current >= previous);
            if !continues {
                ended += previous;
            }
        }
        self.ended += ended;
        self.last = now;
        self.ended + self.last.values().sum::<f64>()
    }
}

/// Sums the CPU time of processes. The kernel adds the time of an ended process to the parent
/// that waits for it. Processes that begin and end between two readings therefore count as well,
/// and none counts twice.
#[derive(Debug, Default)]
pub(super) struct CpuLedger {
    ended: [f64; 2],
    last: BTreeMap<u32, Member>,
}

impl CpuLedger {
    /// Returns the user and system seconds of all processes that ever existed.
    pub fn sum(&mut self, now: &BTreeMap<u32, Member>) -> (f64, f64) {
        for part in 0..2 {
            let mut ended = 0.0;
            // Time that was added to parents, and is therefore already counted there.
            let mut inherited = 0.0;
            for (pid, previous) in &self.last {
                match now.get(pid).filter(|current| current.start == previous.start) {
                    Some(current) => inherited += current.children[part] - previous.children[part],
                    None => ended += previous.own[part] + previous.children[part],
                }
            }
            self.ended[part] += f64::max(ended - inherited, 0.0);
        }
        self.last.clone_from(now);
        (self.total(now, 0), self.total(now, 1))
    }

    fn total(&self, now: &BTreeMap<u32, Member>, part: usize) -> f64 {
        self.ended[part] + now.values().map(|m| m.own[part] + m.children[part]).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn member(own: f64, children: f64) -> Member {
        Member {
            name: "x".into(),
            parent: 1,
            start: 0,
            own: [own, 0.0],
            children: [children, 0.0],
            threads: 1.0,
        }
    }

    #[test]
    fn the_cpu_time_of_an_ended_child_counts_once() {
        let mut ledger = CpuLedger::default();
        let mut sum = |members: &[(u32, Member)]| ledger.sum(&members.iter().cloned().collect()).0;
        assert_eq!(sum(&[(1, member(1.0, 0.0)), (2, member(3.0, 0.0))]), 4.0);
        // The parent waited for it, so 3.5 seconds belong to children.
        assert_eq!(sum(&[(1, member(1.0, 3.5))]), 4.5);
        // Another child began and ended between the readings.
        assert_eq!(sum(&[(1, member(1.0, 5.0))]), 6.0);
    }

    #[test]
    fn the_cpu_time_of_unreaped_children_is_retained() {
        let mut ledger = CpuLedger::default();
        let mut sum = |members: &[(u32, Member)]| ledger.sum(&members.iter().cloned().collect()).0;
        assert_eq!(sum(&[(1, member(1.0, 0.0)), (2, member(3.0, 0.0))]), 4.0);
        assert_eq!(sum(&[(1, member(2.0, 0.0))]), 5.0);
        assert_eq!(sum(&[(1, Member { start: 9, ..member(0.5, 0.0) })]), 5.5);
        assert_eq!(sum(&[]), 5.5);
    }

    proptest! {
        #[test]
        fn a_sum_never_decreases(rounds in prop::collection::vec(prop::collection::btree_map(0_u32..6, 0.0..100.0, 0..6), 1..20)) {
            let mut ledger = Ledger::default();
            let mut last = 0.0;
            for round in rounds {
                let sum = ledger.sum(round);
                prop_assert!(sum >= last - 1e-9);
                last = sum;
            }
        }
    }
}
