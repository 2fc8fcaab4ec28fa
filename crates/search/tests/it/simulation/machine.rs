//! The machine on which the generator runs: when it has no CPU, it sends and reads late.
//!
//! What was due in an outage is sent at its end, all at once; replies that came meanwhile are read then. The server is not
//! affected.

use rand::RngExt as _;
use rand_pcg::Pcg64Mcg;
use std::collections::VecDeque;

/// What keeps the generator from its CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Machine {
    Quiet,
    /// The hypervisor takes it at random: 7 % of the time, in bursts of 20 ms in the mean (exponential).
    Steal,
    /// Another process wants the same core all the time: the generator waits for the rest of a slice of 3 ms in a third of
    /// all cases, and now and then for several slices.
    Neighbor,
    /// Other processes want the server's cores: for 12 s in the mean, after 12 s in the mean without them, the server is
    /// 1.6 times slower.
    Contested,
}

/// When other processes use the server's cores.
pub struct Contention {
    random: Pcg64Mcg,
    /// From when to when, in order.
    known: Vec<(f64, f64)>,
    until: f64,
}

/// Mean length of a stretch with other processes, and of one without, in seconds.
const STRETCH: f64 = 12.0;
/// Factor of the service times meanwhile.
const SLOWER: f64 = 1.6;

impl Contention {
    pub fn new(random: Pcg64Mcg) -> Self {
        Self { random, known: Vec::new(), until: 0.0 }
    }

    /// Factor of a service time that begins now.
    pub fn factor(&mut self, at: f64) -> f64 {
        self.extend(at);
        if self.known.iter().any(|busy| (busy.0..busy.1).contains(&at)) { SLOWER } else { 1.0 }
    }

    /// Share of a time in which other processes used the cores.
    pub fn share(&mut self, from: f64, to: f64) -> f64 {
        self.extend(to);
        let common = self.known.iter().map(|busy| (busy.1.min(to) - busy.0.max(from)).max(0.0));
        common.sum::<f64>() / (to - from)
    }

    fn extend(&mut self, to: f64) {
        while self.until <= to {
            let from = self.until - STRETCH * (1.0 - self.random.random::<f64>()).ln();
            self.until = from - STRETCH * (1.0 - self.random.random::<f64>()).ln();
            self.known.push((from, self.until));
        }
    }
}

/// When the generator has no CPU.
pub struct Outages {
    machine: Machine,
    random: Pcg64Mcg,
    /// From when to when, in order; those long over are dropped.
    known: VecDeque<(f64, f64)>,
    until: f64,
}

/// Replies are read this much later than the last arrival at most; older outages are forgotten.
const KEPT_SECONDS: f64 = 60.0;

impl Outages {
    pub fn new(machine: Machine, random: Pcg64Mcg) -> Self {
        Self { machine, random, known: VecDeque::new(), until: 0.0 }
    }

    /// When what is due at `at` is done: at the end of the outage that it falls into.
    pub fn over(&mut self, at: f64) -> f64 {
        if matches!(self.machine, Machine::Quiet | Machine::Contested) {
            return at;
        }
        while self.until <= at {
            self.draw();
        }
        while self.known.front().is_some_and(|outage| outage.1 < at - KEPT_SECONDS) {
            self.known.pop_front();
        }
        let next = self.known.partition_point(|outage| outage.1 <= at);
        self.known.get(next).map_or(at, |outage| if outage.0 <= at { outage.1 } else { at })
    }

    fn draw(&mut self) {
        let (gap, length) = match self.machine {
            Machine::Steal => {
                let length = self.exponential(0.02);
                (self.exponential(0.02 * 0.93 / 0.07), length)
            }
            Machine::Neighbor | Machine::Quiet | Machine::Contested => {
                let slices = if self.random.random::<f64>() < 0.01 { 4.0 } else { 1.0 };
                (self.exponential(0.006), 0.003 * slices)
            }
        };
        let from = self.until + gap;
        self.known.push_back((from, from + length));
        self.until = from + length;
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.random::<f64>()).ln()
    }
}
