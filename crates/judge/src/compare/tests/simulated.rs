//! Simulated comparisons: measures how often equal contenders are found to differ, and how often
//! a difference is found.
//!
//! Each run of a contender deviates by a lognormal factor, because each start of a server settles
//! at another level. Each block deviates by a factor that all its runs share. The figures of one
//! run are correlated. There is a look after each block until the comparison is decided.
//! In full, with the table of docs/method.md:
//! `BRUNT_PROVE=1 cargo test -p brunt-judge --lib _in_full -- --nocapture`.

use super::*;
use brunt_model::comparison::Better;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Variation between blocks.
const BLOCKS: f64 = 0.05;
/// Requests of a run, among which errors are counted.
const REQUESTS: f64 = 10_000.0;

/// A case of the simulation.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    contenders: usize,
    /// Maximum number of blocks.
    most: u32,
    /// Variation between runs of the same contender.
    spread: f64,
    /// Share by which the response times of all contenders but the first are longer.
    shift: f64,
    smallest: f64,
}

const ALIKE: [Case; 5] = [
    Case {
        name: "2 contenders",
        contenders: 2,
        most: 10,
        spread: 0.02,
        shift: 0.0,
        smallest: 0.02,
    },
    Case {
        name: "2 contenders, never equal",
        contenders: 2,
        most: 10,
        spread: 0.02,
        shift: 0.0,
        smallest: 1e-6,
    },
    Case {
        name: "3 contenders",
        contenders: 3,
        most: 12,
        spread: 0.02,
        shift: 0.0,
        smallest: 0.02,
    },
    Case {
        name: "2 contenders, 1 % spread",
        contenders: 2,
        most: 10,
        spread: 0.01,
        shift: 0.0,
        smallest: 0.02,
    },
    Case {
        name: "2 contenders, drawn ways",
        contenders: 2,
        most: 20,
        spread: 0.02,
        shift: 0.0,
        smallest: 0.01,
    },
];

const APART: [Case; 4] = [
    Case { name: "5 %", contenders: 2, most: 10, spread: 0.02, shift: 0.05, smallest: 0.02 },
    Case { name: "3 %", contenders: 2, most: 10, spread: 0.02, shift: 0.03, smallest: 0.02 },
    Case {
        name: "5 %, 3 contenders",
        contenders: 3,
        most: 10,
        spread: 0.02,
        shift: 0.05,
        smallest: 0.02,
    },
    Case {
        name: "2 %, 20 blocks",
        contenders: 2,
        most: 20,
        spread: 0.02,
        shift: 0.02,
        smallest: 0.01,
    },
];

/// Result of a comparison.
struct Ended {
    decided: Vec<PairDecision>,
    blocks: u32,
}

fn normal(random: &mut Pcg64Mcg) -> f64 {
    // Box & Muller.
    let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn poisson(mean: f64, random: &mut Pcg64Mcg) -> f64 {
    let (mut left, mut count) = (random.random::<f64>(), 0.0);
    while left > (-mean).exp() {
        left *= random.random::<f64>();
        count += 1.0;
    }
    count
}

/// One run: p99, median, throughput, errors, the server's CPU. They share half of the variance.
fn run(block: f64, shift: f64, spread: f64, random: &mut Pcg64Mcg) -> [f64; 5] {
    let shared = normal(random);
    let mut off = |shift: f64| {
        let own = normal(random);
        (block + shift + spread * (shared + own) / 2.0_f64.sqrt()).exp()
    };
    let slower = shift.ln_1p();
    let [p99, p50, throughput, cpu] = [off(slower), off(slower), off(-slower), off(slower)];
    [0.05 * p99, 0.01 * p50, 2000.0 * throughput, poisson(0.5, random) / REQUESTS, 1e-4 * cpu]
}

/// Adds blocks until the comparison is decided, or all are made.
fn comparison(case: Case, random: &mut Pcg64Mcg) -> Ended {
    let measures = [P99, P50, THROUGHPUT, ERRORS, Measure::ServerCpu];
    let (spec, mut runs) = (
        ComparisonSettings { smallest: case.smallest, ..spec(&measures) },
        vec![Vec::new(); case.contenders],
    );
    for blocks in 1.. {
        let block = BLOCKS * normal(random);
        for (contender, runs) in runs.iter_mut().enumerate() {
            let shift = if contender == 0 { 0.0 } else { case.shift };
            runs.push(run(block, shift, case.spread, random));
        }
        let of = |theirs: &Vec<[f64; 5]>| {
            let figures = |at: usize| {
                let known =
                    |runs: &[[f64; 5]]| runs.iter().map(|run| ValueRange::exact(run[at])).collect();
                FigurePair {
                    ours: known(&runs[0]),
                    theirs: known(theirs),
                    design: SampleDesign::Blocks { most: case.most },
                }
            };
            pair(measures.iter().enumerate().map(|(at, measure)| (*measure, figures(at))).collect())
        };
        let decided = decided(&runs[1..].iter().map(of).collect::<Vec<_>>(), &spec);
        if crate::compare::are_settled(&decided, &spec) || blocks == case.most {
            return Ended { decided, blocks };
        }
    }
    unreachable!("blocks end")
}

/// Results of many comparisons.
#[derive(Debug, Default)]
struct Scores {
    /// A figure of a pair was found better or worse.
    any: u32,
    /// The first figure of each pair was found worse.
    worse: u32,
    /// The first figure of some pair was found better.
    better: u32,
    /// The first figure of all pairs was found equal.
    equal: u32,
    /// The interval of the first figure of the first pair contains the truth.
    held: u32,
    blocks: u32,
}

fn scores(case: Case, comparisons: u32) -> Scores {
    let mut random = Pcg64Mcg::seed_from_u64(2026);
    let mut scores = Scores::default();
    for _ in 0..comparisons {
        let ended = comparison(case, &mut random);
        let firsts = || ended.decided.iter().map(|pair| pair.compared[0].verdict);
        let differs = |verdict: Better| matches!(verdict, Better::Better | Better::Worse);
        let interval = ended.decided[0].figures[0].shift.interval;
        let held = (interval.low..=interval.high).contains(&case.shift.ln_1p());
        scores.any += u32::from(
            ended.decided.iter().flat_map(|pair| &pair.compared).any(|one| differs(one.verdict)),
        );
        scores.worse += u32::from(firsts().all(|verdict| verdict == Better::Worse));
        scores.better += u32::from(firsts().any(|verdict| verdict == Better::Better));
        scores.equal += u32::from(firsts().all(|verdict| verdict == Better::Equal));
        scores.held += u32::from(held);
        scores.blocks += ended.blocks;
    }
    scores
}

#[test]
fn equal_contenders_rarely_differ() {
    let scores = scores(ALIKE[0], 250);
    assert!(f64::from(scores.any) <= 0.064 * 250.0, "{scores:?}");
}

#[test]
fn a_difference_of_five_percent_is_found_with_a_variation_of_two() {
    let scores = scores(APART[0], 100);
    assert!(scores.worse >= 90 && scores.better == 0, "{scores:?}");
}

/// Number of comparisons of each case in the full proof; None if it was not requested.
fn full() -> Option<u32> {
    let asked = std::env::var("BRUNT_PROVE").ok()?;
    Some(asked.parse().ok().filter(|n| *n > 1).unwrap_or(1000))
}

/// A row of the table, with its scores in percent: any figure found to differ,
/// the first found worse.
#[allow(clippy::print_stdout)] // the evidence
fn row(case: Case, comparisons: u32) -> [f64; 2] {
    // A comparison with random permutations takes a second.
    let comparisons = if case.most > 16 { comparisons.div_ceil(10) } else { comparisons };
    let share = |n: u32| 100.0 * f64::from(n) / f64::from(comparisons);
    let scores = scores(case, comparisons);
    println!(
        "| {} | {comparisons} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} of {} |",
        case.name,
        share(scores.any),
        share(scores.worse),
        share(scores.better),
        share(scores.equal),
        share(scores.held),
        f64::from(scores.blocks) / f64::from(comparisons),
        case.most,
    );
    [share(scores.any), share(scores.worse)]
}

#[test]
fn equal_contenders_in_full() {
    let Some(comparisons) = full() else { return };
    for case in ALIKE {
        let [any, _] = row(case, comparisons);
        assert!(any <= 6.4 || case.most > 16, "{}: found to differ in {any} %", case.name);
    }
}

#[test]
fn different_contenders_in_full() {
    let Some(comparisons) = full() else { return };
    let worse = APART.map(|case| row(case, comparisons)[1]);
    assert!(worse[0] >= 90.0, "5 % found in {worse:?} %");
}
