//! Measures how often the interval of the saturation point contains the truth, and the location of
//! the knee, in simulated sweeps.
//!
//! The short form runs with every test. The full one, as a Markdown table:
//! `BRUNT_PROVE=200 cargo test -p brunt-judge --lib sweep::tests::coverage -- --nocapture`.

use super::queue::{PHP, Queue, loads};
use super::*;
use brunt_model::analysis::Band;
use std::collections::BTreeMap;

/// A queue, its number of repetitions, and its name.
type Case = (&'static str, Queue, u32);

/// Twenty servers of 50 ms: 400/s in the median of their repetitions.
const CASES: [Case; 6] = [
    ("M/D/20, 4 s", PHP, 1),
    ("M/D/20 ±5 %, 20 s", Queue { drift: 0.05, seconds: 20.0, ..PHP }, 3),
    ("M/D/20 ±5 %, 20 s", Queue { drift: 0.05, seconds: 20.0, ..PHP }, 6),
    ("M/D/20 ±5 %, 20 s", Queue { drift: 0.05, seconds: 20.0, ..PHP }, 12),
    ("M/M/20, 60 s", Queue { constant: false, seconds: 60.0, ..PHP }, 1),
    ("M/M/20 ±5 %, 20 s", Queue { drift: 0.05, constant: false, seconds: 20.0, ..PHP }, 6),
];

#[derive(Default)]
struct Scores {
    knees: BTreeMap<u64, u32>,
    worst: f64,
    held: u32,
    width: f64,
    robust: u32,
    band: Band,
}

fn scores((_, queue, repetitions): &Case, runs: u64) -> Scores {
    let mut scores = Scores::default();
    for seed in 0..runs {
        let analysis = analyse(&queue.sweep(&loads(100, 540, 40), *repetitions, 1000 + seed));
        let php = &analysis.contenders[0];
        let (saturation, knee) = (at(php, LimitKind::Saturation), limit(php, LimitKind::Knee));
        *scores.knees.entry(knee.at.map_or(0, |at| at.value as u64)).or_default() += 1;
        scores.worst = scores.worst.max((saturation.value / queue.capacity() - 1.0).abs());
        scores.held += u32::from((saturation.low..=saturation.high).contains(&queue.capacity()));
        scores.width += (saturation.high - saturation.low) / runs as f64;
        scores.robust += u32::from(knee.robust == Some(true));
        scores.band = saturation.band;
    }
    scores
}

#[test]
fn the_coverage_of_intervals_is_plausible() {
    let scores = scores(&CASES[2], 20);
    assert!(scores.held >= 16 && scores.band == Band::Repetitions, "{} of 20", scores.held);
    assert!(scores.knees.keys().all(|knee| (280..=400).contains(knee)), "{:?}", scores.knees);
}

#[test]
#[allow(clippy::print_stdout)] // the evidence
fn the_coverage_of_intervals_is_proven() {
    let Some(runs) = std::env::var("BRUNT_PROVE").ok().and_then(|runs| runs.parse().ok()) else {
        return;
    };
    println!(
        "| queue | repetitions | band | saturation: held in % | mean width /s | worst error % | knees found at (times) | robust % |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for case in &CASES {
        let scores = scores(case, runs);
        let share = |n: u32| 100.0 * f64::from(n) / runs as f64;
        let knees: Vec<String> =
            scores.knees.iter().map(|(at, times)| format!("{at} ({times})")).collect();
        println!(
            "| {} | {} | {:?} | {:.1} | {:.1} | {:.1} | {} | {:.0} |",
            case.0,
            case.2,
            scores.band,
            share(scores.held),
            scores.width,
            100.0 * scores.worst,
            knees.join(", "),
            share(scores.robust)
        );
    }
}
