//! Finds out, before a comparison, what a number of blocks cannot decide with any outcome.
//!
//! Out of scope: a guess of how much contenders differ.

use super::decide::AlphaShares;
use super::measures;
use crate::levels::{Factors, pairings};
use crate::texts::message;
use brunt_model::question::{ComparisonSettings, Measure};
use brunt_model::text::Value;
use brunt_model::{Contender, Experiment, Question, Text, text};
use brunt_stats::{permutation, rank, spending};

/// Maximum number of runs per side that a message proposes.
const MOST_RUNS: usize = 64;

/// Significance level of the comparisons of a sweep.
pub(super) const SWEEP_ALPHA: f64 = 0.05;

/// Returns sentences on what an experiment cannot decide with its number of repetitions, whatever
/// it measures. Empty if it can decide everything.
pub fn undecidable(experiment: &Experiment) -> Vec<Text> {
    let contenders = &experiment.contenders;
    let repetitions = experiment.repetitions;
    match &experiment.question {
        Question::Find(_) => Vec::new(),
        Question::Compare(settings) => {
            let steps = given_steps(contenders, settings);
            let pairs = pairs_of(contenders, settings.factor.as_deref());
            undecidable_figures(pairs, steps, repetitions, settings)
        }
        Question::Sweep => {
            let needed = fewest_of_sweep(contenders).filter(|needed| repetitions < *needed);
            let sentence = needed.map(|needed| {
                let count = u64::from(repetitions);
                message!("cannot-decide.sweep", count, needed = needed.to_string())
            });
            sentence.into_iter().collect()
        }
    }
}

/// Returns the minimum number of repetitions that can decide which contender of a sweep is better.
/// None if no contender is compared with another one.
pub fn fewest_of_sweep(contenders: &[Contender]) -> Option<u32> {
    let pairs = pairs_of(contenders, None);
    (pairs > 0).then(|| fewest_repetitions(pairs, SWEEP_ALPHA))
}

/// Returns the minimum number of blocks that can decide the first figure of each pair at each load.
pub fn fewest_blocks(contenders: &[Contender], spec: &ComparisonSettings) -> u32 {
    let pairs = pairs_of(contenders, spec.factor.as_deref());
    let steps = given_steps(contenders, spec);
    let measures = measures(spec);
    let tests: Vec<usize> =
        measures.iter().map(|measure| number_of_tests(*measure, pairs, steps)).collect();
    let firsts = tests.first().copied().unwrap_or(0).max(1);
    let others = tests.iter().skip(1).sum();
    spending::fewest(spec.alpha * AlphaShares::new(firsts, others).first)
}

/// Number of pairs of contenders that are compared: those that differ in one factor.
fn pairs_of(contenders: &[Contender], factor: Option<&str>) -> usize {
    let factors: Vec<&Factors> =
        contenders.iter().map(|contender| contender.factors.as_slice()).collect();
    pairings(&factors, factor).len()
}

/// Number of loads that are known before the comparison.
fn given_steps(contenders: &[Contender], spec: &ComparisonSettings) -> usize {
    let steps = contenders.first().map_or(0, |contender| contender.steps.len());
    spec.at_capacity.as_ref().map_or(steps, |at| at.given)
}

/// Returns sentences on the figures that cannot become significant with this number of pairs,
/// loads and blocks. Empty if all figures can.
pub(crate) fn undecidable_figures(
    pairs: usize,
    steps: usize,
    blocks: u32,
    spec: &ComparisonSettings,
) -> Vec<Text> {
    let measures = measures(spec);
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
        sentences.push(message!(
            "cannot-decide.alone",
            figures = names,
            blocks = message!("blocks", count = u64::from(blocks)),
            first = first.words(),
            needed = spending::fewest(level_alone).to_string(),
            level = level(level_alone)
        ));
    } else {
        sentences.push(cannot_decide(names, level_after_first, blocks));
    }
    sentences
}

/// Returns the minimum number of repetitions that can decide which of two contenders of a sweep is
/// better. `pairs` is the number of contenders that are compared with another one.
pub fn fewest_repetitions(pairs: usize, alpha: f64) -> u32 {
    spending::fewest(alpha / pairs.max(1) as f64)
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
    vec![message!(
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
    message!(
        "cannot-decide",
        figures,
        blocks = message!("blocks", count = u64::from(blocks)),
        least = level(least),
        required = level(required),
        needed = message!("blocks", count = u64::from(needed))
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
