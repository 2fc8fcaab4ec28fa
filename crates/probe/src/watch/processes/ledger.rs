//! Sums of counters over processes or threads that come and go: what ended ones had is kept.

use super::table::Member;
use std::collections::BTreeMap;

/// A sum of counters, each with an owner that may end.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    ended: f64,
    last: BTreeMap<u32, f64>,
}

impl Ledger {
    /// The sum of all that ever were. `now`: the counters of those that are there.
    pub fn sum(&mut self, now: BTreeMap<u32, f64>) -> f64 {
        // A counter that fell is another's, with the number of one that ended.
        let gone = |(id, had): (&u32, &f64)| if now.get(id).is_some_and(|n| n >= had) { 0.0 } else { *had };
        self.ended += self.last.iter().map(gone).sum::<f64>();
        self.last = now;
        self.ended + self.last.values().sum::<f64>()
    }
}

/// CPU time of processes. The system itself hands what an ended process had to the parent that waits for it; so
/// processes that come and go between two readings count as well, and nothing counts twice.
#[derive(Debug, Default)]
pub(super) struct CpuLedger {
    ended: [f64; 2],
    last: BTreeMap<u32, Member>,
}

impl CpuLedger {
    /// User and system seconds of all that ever were.
    pub fn sum(&mut self, now: &BTreeMap<u32, Member>) -> (f64, f64) {
        let same = |pid: &u32, was: &Member| now.get(pid).filter(|is| is.began == was.began);
        for part in 0..2 {
            let (mut gone, mut handed_over) = (0.0, 0.0);
            for (pid, was) in &self.last {
                match same(pid, was) {
                    Some(is) => handed_over += is.children[part] - was.children[part],
                    None => gone += was.own[part] + was.children[part],
                }
            }
            self.ended[part] += f64::max(gone - handed_over, 0.0);
        }
        self.last.clone_from(now);
        let all = |part: usize| self.ended[part] + now.values().map(|m| m.own[part] + m.children[part]).sum::<f64>();
        (all(0), all(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn member(own: f64, children: f64) -> Member {
        Member { name: "x".into(), parent: 1, began: 0, own: [own, 0.0], children: [children, 0.0], threads: 1.0 }
    }

    #[test]
    fn what_an_ended_child_had_counts_once() {
        let mut ledger = CpuLedger::default();
        let mut sum = |members: &[(u32, Member)]| ledger.sum(&members.iter().cloned().collect()).0;
        assert_eq!(sum(&[(1, member(1.0, 0.0)), (2, member(3.0, 0.0))]), 4.0);
        // Its parent waited for it: 3.5 in all.
        assert_eq!(sum(&[(1, member(1.0, 3.5))]), 4.5);
        // One that came and went between.
        assert_eq!(sum(&[(1, member(1.0, 5.0))]), 6.0);
    }

    #[test]
    fn what_nobody_waited_for_is_kept() {
        let mut ledger = CpuLedger::default();
        let mut sum = |members: &[(u32, Member)]| ledger.sum(&members.iter().cloned().collect()).0;
        assert_eq!(sum(&[(1, member(1.0, 0.0)), (2, member(3.0, 0.0))]), 4.0);
        assert_eq!(sum(&[(1, member(2.0, 0.0))]), 5.0);
        assert_eq!(sum(&[(1, Member { began: 9, ..member(0.5, 0.0) })]), 5.5);
        assert_eq!(sum(&[]), 5.5);
    }

    proptest! {
        #[test]
        fn a_sum_never_falls(rounds in prop::collection::vec(prop::collection::btree_map(0_u32..6, 0.0..100.0, 0..6), 1..20)) {
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
