//! Tests on sweeps of a simulated queue: several servers, one queue, random arrivals.
//! Its capacity is known.

use super::*;
use brunt_model::analysis::{ObservedQuantile, SecondOfTrial};
use brunt_model::finding::State;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Parameters of a queue and its load.
#[derive(Clone, Copy)]
pub struct Queue {
    pub servers: usize,
    /// Mean service time in seconds.
    pub service: f64,
    /// True if each service takes the mean time; otherwise times are exponential.
    pub constant: bool,
    /// Seconds of each load, from an empty queue.
    pub seconds: f64,
    /// Variation between repetitions: the service time differs by up to this share in each.
    pub drift: f64,
}

/// php-fpm with 20 children and a page that sleeps for 50 ms: 400/s.
pub const PHP: Queue =
    Queue { servers: 20, service: 0.05, constant: true, seconds: 4.0, drift: 0.0 };

impl Queue {
    /// Capacity per second.
    pub fn capacity(&self) -> f64 {
        self.servers as f64 / self.service
    }

    /// Returns a sweep.
    pub fn sweep(&self, loads: &[f64], repetitions: u32, seed: u64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut observations = Vec::new();
        for repetition in 0..repetitions {
            let longer = 1.0 + self.drift * (2.0 * random.random::<f64>() - 1.0);
            for load in loads {
                let trial =
                    Self { service: self.service * longer, ..*self }.trial(*load, &mut random);
                observations.push(Observation { repetition, ..trial });
            }
        }
        open(&["php"], observations)
    }

    fn trial(&self, load: f64, random: &mut Pcg64Mcg) -> Observation {
        let exponential = |random: &mut Pcg64Mcg| -(1.0 - random.random::<f64>()).ln();
        let mut free: BinaryHeap<Reverse<u64>> = (0..self.servers).map(|_| Reverse(0)).collect();
        let (mut now, mut replies, mut blocks) =
            (0.0, Vec::new(), vec![Vec::new(); self.seconds.ceil() as usize]);
        let mut planned = vec![0; blocks.len()];
        loop {
            now += exponential(random) / load;
            if now >= self.seconds {
                break;
            }
            let service =
                if self.constant { self.service } else { self.service * exponential(random) };
            // The heap contains instants in whole nanoseconds.
            let begins = free.pop().unwrap().0.max((now * 1e9) as u64);
            let ends = begins + (service * 1e9) as u64;
            free.push(Reverse(ends));
            let (ends, response) = (ends as f64 / 1e9, ends as f64 / 1e9 - now);
            planned[now as usize] += 1;
            replies.push(response);
            if ends < self.seconds {
                blocks[ends as usize].push(response);
            }
        }
        let blocks = blocks
            .iter_mut()
            .zip(planned)
            .map(|(replies, planned)| block(replies, planned))
            .collect();
        self.observed(load, &mut replies, blocks)
    }

    fn observed(&self, load: f64, replies: &mut [f64], blocks: Vec<SecondOfTrial>) -> Observation {
        let quantiles = [0.5, 0.95, 0.99].map(|quantile| ObservedQuantile {
            quantile,
            seconds: nth(replies, quantile),
            at_least: false,
        });
        Observation {
            load,
            offered: Some(replies.len() as f64 / self.seconds),
            achieved: blocks.iter().map(|block| block.completed).sum::<u64>() as f64 / self.seconds,
            mean: Some(replies.iter().sum::<f64>() / replies.len() as f64),
            quantiles: quantiles.to_vec(),
            blocks,
            ..Observation::default()
        }
    }
}

fn block(replies: &mut [f64], planned: u64) -> SecondOfTrial {
    let known = !replies.is_empty();
    SecondOfTrial {
        seconds: 1.0,
        planned,
        completed: replies.len() as u64,
        mean: known.then(|| replies.iter().sum::<f64>() / replies.len() as f64),
        p99: known.then(|| nth(replies, 0.99)),
    }
}

fn nth(replies: &mut [f64], quantile: f64) -> f64 {
    replies.sort_by(f64::total_cmp);
    replies[((quantile * replies.len() as f64).ceil() as usize).clamp(1, replies.len()) - 1]
}

/// Loads of a range, by steps.
pub fn loads(from: u32, to: u32, step: usize) -> Vec<f64> {
    (from..=to).step_by(step).map(f64::from).collect()
}

/// Knees (0 if there is none) and saturation points of sweeps with these seeds.
fn found(
    queue: &Queue,
    loads: &[f64],
    repetitions: u32,
    seeds: std::ops::Range<u64>,
) -> Vec<(f64, f64)> {
    let of = |seed| {
        let analysis = analyse(&queue.sweep(loads, repetitions, seed));
        let value = |kind| limit(&analysis.contenders[0], kind).at.map_or(0.0, |at| at.value);
        (value(LimitKind::Knee), value(LimitKind::Saturation))
    };
    seeds.map(of).collect()
}

#[test]
fn the_limit_of_twenty_children_that_sleep_50_ms_is_found() {
    // The short form of E1: from 100 to 500 or 540 by 40, 4 s each, without a warm-up.
    for (to, repetitions) in [(500, 1), (540, 1), (500, 2)] {
        for (knee, saturation) in found(&PHP, &loads(100, to, 40), repetitions, 0..20) {
            assert!((280.0..=400.0).contains(&knee), "{knee}");
            assert!((saturation / PHP.capacity() - 1.0).abs() < 0.05, "{saturation}");
        }
    }
}

#[test]
fn the_limit_of_a_queue_with_exponential_times_is_found() {
    // M/M/4: the response time rises from 0.7 of the capacity on; at 0.95, the
    // mean is five service times.
    let queue = Queue { servers: 4, service: 0.01, constant: false, seconds: 20.0, drift: 0.0 };
    for (knee, saturation) in found(&queue, &loads(40, 600, 40), 1, 0..10) {
        assert!((280.0..=400.0).contains(&knee), "{knee}");
        assert!((saturation / queue.capacity() - 1.0).abs() < 0.03, "{saturation}");
    }
}

#[test]
fn a_sweep_below_the_limit_advises_higher_loads() {
    for seed in 0..10 {
        let analysis = analyse(&PHP.sweep(&loads(20, 260, 40), 1, seed));
        let php = &analysis.contenders[0];
        for kind in [LimitKind::Knee, LimitKind::Saturation, LimitKind::Kept] {
            let limit = limit(php, kind);
            assert!(limit.at.is_none() && limit.how.contains("sweep further"), "{limit:?}");
        }
        assert_eq!(php.outliers, []);
        assert_eq!(said(&analysis, "no_limit"), ["php: no limit up to 260/s."]);
    }
}

#[test]
fn a_sweep_beyond_the_limit_finds_only_the_throughput() {
    for seed in 0..10 {
        let analysis = analyse(&PHP.sweep(&loads(600, 1200, 100), 1, seed));
        let php = &analysis.contenders[0];
        assert!((at(php, LimitKind::Saturation).value / 400.0 - 1.0).abs() < 0.05);
        for kind in [LimitKind::Knee, LimitKind::Saturation, LimitKind::Kept] {
            assert!(limit(php, kind).how.contains("sweep lower"), "{:?}", php.limits);
        }
        assert!(limit(php, LimitKind::Knee).at.is_none());
    }
}

#[test]
fn excluded_highest_loads_are_to_be_measured_again() {
    let mut seen = PHP.sweep(&loads(20, 540, 40), 1, 1);
    seen.observations
        .iter_mut()
        .filter(|o| o.load > 260.0)
        .for_each(|o| o.verdict = Some(State::Invalid));
    let analysis = analyse(&seen);
    for kind in [LimitKind::Knee, LimitKind::Saturation, LimitKind::Kept] {
        let how = &limit(&analysis.contenders[0], kind).how;
        assert!(
            how.contains("above it, 7 trials were left out: measure these loads again"),
            "{how}"
        );
    }
    let capacity = analysis.conclusions.iter().find(|finding| finding.rule == "no_limit").unwrap();
    let remedy = capacity.remedy.as_deref().unwrap();
    assert!(
        remedy.starts_with("above it, 7 trials were left out") && !remedy.contains("sweep further"),
        "{remedy}"
    );
}
