//! What so few blocks cannot decide, whatever comes of them.
//!
//! Out of scope: a guess of how much contenders differ.

use super::decide::Shares;
use super::measures;
use brunt_model::numbers::plural;
use brunt_model::question::{Compare, Measure};
use brunt_stats::{permutation, rank, spending};

/// More runs a side are needed by nobody.
const MOST_RUNS: usize = 64;

/// Said before anything is measured, each a sentence: where so few blocks, among so many figures, can reach no significance.
/// Empty where all can. `steps` are the loads that are known before.
pub fn foreseen(contenders: usize, steps: usize, blocks: u32, spec: &Compare) -> Vec<String> {
    let (measures, pairs) = (measures(spec), contenders.saturating_sub(1));
    let tests = |measure: &Measure| pairs * if *measure == Measure::Capacity { 1 } else { steps };
    let Some((first, others)) = measures.split_first().filter(|(first, _)| tests(first) > 0) else {
        return Vec::new();
    };
    let of_others: usize = others.iter().map(tests).sum();
    let shares = Shares::of(tests(first), of_others);
    let mut said = Vec::new();
    let first_level = spec.alpha * shares.first;
    if spending::first_look(first_level, blocks).is_none() {
        said.push(cannot(&first.to_string(), first_level, blocks));
    }
    if of_others == 0 {
        return said;
    }
    let names = listed(others);
    // Where all that comes first is decided, they have the whole of α to share.
    let (alone, behind) = (spec.alpha * shares.other, spec.alpha / of_others as f64);
    let reaches = |level| spending::first_look(level, blocks).is_some();
    match (reaches(alone), reaches(behind)) {
        (true, _) => {}
        (false, true) => said.push(format!(
            "{names}: {} decide only where {first} was found to differ; by themselves they take {} (at {}).",
            plural(u64::from(blocks), "block"),
            spending::fewest(alone),
            level(alone),
        )),
        (false, false) => said.push(cannot(&names, behind, blocks)),
    }
    said
}

/// The same of runs that were kept, so many of the first contender and of each other.
pub fn foreseen_stored(ours: usize, others: &[usize], spec: &Compare) -> Vec<String> {
    let measures = measures(spec);
    let Some((first, rest)) = measures.split_first().filter(|_| !others.is_empty()) else { return Vec::new() };
    let asked = spec.alpha * Shares::of(others.len(), others.len() * rest.len()).first;
    let least = others.iter().map(|theirs| rank::least_p(ours, *theirs)).fold(f64::INFINITY, f64::min);
    if least <= asked {
        return Vec::new();
    }
    let needed = (1..MOST_RUNS).find(|runs| rank::least_p(*runs, *runs) <= asked).unwrap_or(MOST_RUNS);
    vec![format!(
        "{first}: too few runs to show any difference: their smallest possible p-value is {} (required: {}). At least {} per side are needed.",
        level(least.min(1.0)),
        level(asked),
        plural(needed as u64, "run"),
    )]
}

fn cannot(what: &str, asked: f64, blocks: u32) -> String {
    let (least, needed) = (permutation::least_p(blocks).min(1.0), spending::fewest(asked));
    format!(
        "{what}: {} cannot show any difference: their smallest possible p-value is {} (required: {}). At least {} are needed.",
        plural(u64::from(blocks), "block"),
        level(least),
        level(asked),
        plural(u64::from(needed), "block"),
    )
}

/// A small probability: `0.0125`.
fn level(p: f64) -> String {
    format!("{}", (p * 1e4).round() / 1e4)
}

fn listed(measures: &[Measure]) -> String {
    measures.iter().map(Measure::to_string).collect::<Vec<_>>().join(", ")
}
