//! Finds out, before a comparison, what a number of blocks cannot decide with any outcome.
//!
//! Out of scope: a guess of how much contenders differ.

use super::decide::AlphaShares;
use super::measures;
use brunt_model::question::{ComparisonSettings, Measure};
use brunt_model::text::Value;
use brunt_model::{Text, text};
use brunt_stats::{permutation, rank, spending};

/// Maximum number of runs per side that a message proposes.
const MOST_RUNS: usize = 64;

/// Returns sentences on the figures that cannot become significant with this number of blocks
/// and figures. Empty if all figures can. `steps` is the number of loads before the comparison.
pub fn undecidable_figures(
    contenders: usize,
    steps: usize,
    blocks: u32,
    spec: &ComparisonSettings,
) -> Vec<Text> {
    let measures = measures(spec);
    let pairs = contenders.saturating_sub(1);
    let Some((first, others)) =
        measures.split_first().filter(|(first, _)| number_of_tests(**first, pairs, steps) > 0)
    else {
        return Vec::new();
    };
    let tests_of_others: usize =
        others.iter().map(|measure| number_of_tests(*measure, pairs, steps)).sum();
    let shares = AlphaShares::new(number_of_tests(*first, pairs, steps), tests_of_others);
    let mut sentences = Vec::new();
    let first_level = spec.alpha * shares.first;
    if spending::first_look(first_level, blocks).is_none() {
        sentences.push(cannot_decide(first.words(), first_level, blocks));
    }
    if tests_of_others == 0 {
        return sentences;
    }
    let names = names_of(others);
    let level_alone = spec.alpha * shares.other;
    // Once all first figures are decided, the others share all of α.
    let level_after_first = spec.alpha / tests_of_others as f64;
    if spending::first_look(level_alone, blocks).is_some() {
        return sentences;
    }
    if spending::first_look(level_after_first, blocks).is_some() {
        sentences.push(text!(
            "cannot-decide.alone",
            figures = names,
            blocks = text!("blocks", count = u64::from(blocks)),
            first = first.words(),
            needed = spending::fewest(level_alone).to_string(),
            level = level(level_alone)
        ));
    } else {
        sentences.push(cannot_decide(names, level_after_first, blocks));
    }
    sentences
}

/// Capacities are compared once for each pair, other measures at each step.
fn number_of_tests(measure: Measure, pairs: usize, steps: usize) -> usize {
    if measure == Measure::Capacity { pairs } else { pairs * steps }
}

/// Returns the same for stored runs, from the numbers of runs of the first contender
/// and of each other.
pub fn undecidable_stored_figures(
    ours: usize,
    others: &[usize],
    spec: &ComparisonSettings,
) -> Vec<Text> {
    let measures = measures(spec);
    let Some((first, rest)) = measures.split_first().filter(|_| !others.is_empty()) else {
        return Vec::new();
    };
    let required = spec.alpha * AlphaShares::new(others.len(), others.len() * rest.len()).first;
    let least =
        others.iter().map(|theirs| rank::least_p(ours, *theirs)).fold(f64::INFINITY, f64::min);
    // At least one comparison can become significant.
    if least <= required {
        return Vec::new();
    }
    let needed =
        (1..MOST_RUNS).find(|runs| rank::least_p(*runs, *runs) <= required).unwrap_or(MOST_RUNS);
    vec![text!(
        "cannot-decide.runs",
        figure = first.words(),
        least = level(least.min(1.0)),
        required = level(required),
        needed
    )]
}

fn cannot_decide(figures: Text, required: f64, blocks: u32) -> Text {
    let least = permutation::least_p(blocks).min(1.0);
    let needed = spending::fewest(required);
    text!(
        "cannot-decide",
        figures,
        blocks = text!("blocks", count = u64::from(blocks)),
        least = level(least),
        required = level(required),
        needed = text!("blocks", count = u64::from(needed))
    )
}

/// A small probability as text: `0.0125`.
fn level(p: f64) -> String {
    format!("{}", (p * 1e4).round() / 1e4)
}

fn names_of(measures: &[Measure]) -> Text {
    let names = measures.iter().map(|measure| measure.words());
    text!("words", words = Value::Words(names.collect()))
}
