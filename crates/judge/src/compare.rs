//! Decides whether one contender is better than another, and returns a [`Comparison`]. Its input
//! are alternating runs, or stored ones.
//!
//! The figures of each run, paired by block, are tested with the methods of `stats`, and the
//! results are put into words. One repetition is one block and counts as one, because the requests
//! within a run are not independent of each other. Out of scope: the mathematics, and the choice of
//! the measurements. docs/method.md has the formulas and their limits.
//!
//! * `sample`: pairs runs, and excludes unusable ones. `figures`: one figure of a run.
//! * `decide`: tests all figures of all pairs together. `quantiles`: differences between the
//!   quantiles of a pair.
//! * `conclusion`: the sentence that names the better contender. `wording`: other sentences.
//! * `foresee`: what a number of blocks cannot decide. [`differences()`]: other
//!   differences of the contenders.

mod conclusion;
mod decide;
pub mod differences;
mod figures;
mod foresee;
mod quantiles;
mod sample;
#[cfg(test)]
mod tests;
mod wording;

pub use conclusion::{sentences, undecided_clauses};
pub use differences::{ContenderFacts, DifferentFact, Subject, differences, different_facts};
pub(crate) use figures::written;
pub use foresee::{
    fewest_blocks, fewest_of_sweep, fewest_repetitions, undecidable, undecidable_stored_figures,
};
pub use wording::{findings, undecided_finding};

use brunt_model::comparison::{Better, ComparisonEnd, FoundCapacity, Pair, QuantileShift};
use brunt_model::objective::Metric;
use brunt_model::question::{ComparisonSettings, Measure};
use brunt_model::{Comparison, LoadUnit, Run, Study};
use decide::PairDecision;
use sample::{ContenderPair, ContenderPairs, PairFigures};

/// Decides everything that can be decided about a study, with its repetitions as blocks. Invalid
/// and incomplete trials are excluded with their blocks, which is noted. `searched` are the found
/// capacities, if these are compared.
pub fn compare(
    study: &Study,
    spec: &ComparisonSettings,
    searched: &[FoundCapacity],
    ended: ComparisonEnd,
) -> Comparison {
    Comparison { ended, ..interim_comparison(study, spec, searched).0 }
}

/// Returns the comparison so far, and the reason why no more need be measured (see [`end_reason`]). All
/// of it is tested once.
pub fn interim_comparison(
    study: &Study,
    spec: &ComparisonSettings,
    searched: &[FoundCapacity],
) -> (Comparison, Option<ComparisonEnd>) {
    let sample = ContenderPairs::of_study(study, spec, searched);
    let (decisions, more) = decide_pairs(&sample.pairs, spec);
    let end = end(study, &sample, &decisions, spec);
    let ended = end.unwrap_or(ComparisonEnd::Stopped);
    let comparison = comparison(&sample, decisions, more, spec);
    let capacities = searched.to_vec();
    (
        Comparison {
            most: study.experiment.repetitions,
            ended,
            searched: capacities,
            ..comparison
        },
        end,
    )
}

/// Compares the contenders of a sweep at each load that both have.
pub fn by_load(study: &Study) -> Vec<Pair> {
    let spec = ComparisonSettings {
        metrics: sweep_measures(study),
        factor: None,
        smallest: 0.02,
        alpha: foresee::SWEEP_ALPHA,
        fail_if: Vec::new(),
        within: None,
        at_capacity: None,
    };
    let sample = ContenderPairs::of_study(study, &spec, &[]);
    let at_loads: Vec<ContenderPair> =
        sample.pairs.into_iter().filter(|pair| pair.load.is_some()).collect();
    let figures: Vec<PairFigures> = at_loads.iter().map(|pair| pair.all(&spec.metrics)).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, pair) in at_loads.iter().enumerate() {
        match groups.iter_mut().find(|group| at_loads[group[0]].has_contenders_of(pair)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let decisions = decide::decide_by_load(&figures, &groups, &spec);
    let pairs = at_loads.iter().zip(decisions);
    pairs.map(|(contenders, decision)| pair(contenders, decision, Vec::new())).collect()
}

/// Measures by which the contenders of a sweep are compared, the deciding one first. A closed loop
/// hides the wait for a slow server, and its throughput does not. In an open loop, the load
/// determines the throughput, and users wait longer.
fn sweep_measures(study: &Study) -> Vec<Measure> {
    let first = study.experiment.contenders.first();
    let errors = Measure::Run(Metric::Errors);
    if first.is_some_and(|contender| matches!(contender.unit(), LoadUnit::Users { .. })) {
        return vec![Measure::Run(Metric::Throughput), errors];
    }
    let plan = first.and_then(|contender| contender.steps.first()).map(|step| &step.plan);
    let mut objectives = plan.iter().flat_map(|plan| &plan.objectives);
    let bounded = objectives.find(|objective| {
        let is_time = matches!(objective.metric, Metric::Quantile(_) | Metric::Mean | Metric::Max);
        is_time && objective.step.is_none()
    });
    if let Some(objective) = bounded {
        vec![Measure::Run(objective.metric), errors]
    } else {
        let [p50, p99] = [0.5, 0.99].map(|q| Measure::Run(Metric::Quantile(q)));
        vec![p50, p99, errors]
    }
}

/// Compares stored runs, by contender. They were not made in blocks, so their ranks are
/// tested as two groups.
pub fn compare_stored(runs: &[(String, Vec<&Run>)], spec: &ComparisonSettings) -> Comparison {
    compare_sample(&ContenderPairs::of_groups(runs, crate::judge), spec)
}

/// Returns the reason why no more need be measured; called after each whole block. Either the
/// deciding figure and each difference that makes brunt fail are decided for each pair, or
/// all blocks were made.
pub fn end_reason(
    study: &Study,
    spec: &ComparisonSettings,
    searched: &[FoundCapacity],
) -> Option<ComparisonEnd> {
    let sample = ContenderPairs::of_study(study, spec, searched);
    let (decisions, _) = decide_pairs(&sample.pairs, spec);
    end(study, &sample, &decisions, spec)
}

fn end(
    study: &Study,
    sample: &ContenderPairs,
    decisions: &[PairDecision],
    spec: &ComparisonSettings,
) -> Option<ComparisonEnd> {
    if are_settled(decisions, spec) {
        return Some(ComparisonEnd::Decided);
    }
    (sample.blocks >= study.experiment.repetitions).then_some(ComparisonEnd::Budget)
}

/// True if there are pairs, and all of them are settled.
fn are_settled(decisions: &[PairDecision], spec: &ComparisonSettings) -> bool {
    !decisions.is_empty() && decisions.iter().all(|decision| is_settled(decision, spec))
}

/// True if the deciding figure of a pair and each difference that makes brunt fail are decided.
fn is_settled(decision: &PairDecision, spec: &ComparisonSettings) -> bool {
    let first = measures(spec).first().copied();
    let errors = Measure::Run(Metric::Errors);
    // Another first figure decides nothing.
    let is_open = decision.compared.first().is_some_and(|compared| {
        compared.verdict == Better::Undecided
            && (Some(compared.measure) == first || compared.measure == errors)
    });
    !is_open && spec.fail_if.iter().all(|regression| wording::is_settled(decision, regression))
}

/// Compared measures: the requested ones, and those of differences that make brunt fail; each once.
fn measures(spec: &ComparisonSettings) -> Vec<Measure> {
    let mut all: Vec<Measure> = Vec::new();
    for measure in
        spec.metrics.iter().copied().chain(spec.fail_if.iter().map(|regression| regression.measure))
    {
        if !all.contains(&measure) {
            all.push(measure);
        }
    }
    all
}

fn decide_pairs(
    pairs: &[ContenderPair],
    spec: &ComparisonSettings,
) -> (Vec<PairDecision>, Option<u32>) {
    let measures = measures(spec);
    let figures: Vec<PairFigures> = pairs.iter().map(|pair| pair.all(&measures)).collect();
    decide::decide(&figures, &measures, spec)
}

fn compare_sample(sample: &ContenderPairs, spec: &ComparisonSettings) -> Comparison {
    let (decisions, more) = decide_pairs(&sample.pairs, spec);
    comparison(sample, decisions, more, spec)
}

fn comparison(
    sample: &ContenderPairs,
    decisions: Vec<PairDecision>,
    more: Option<u32>,
    spec: &ComparisonSettings,
) -> Comparison {
    let sides: Vec<ContenderFacts> =
        sample.first_runs.iter().map(|(name, run)| ContenderFacts::of_run(name, run)).collect();
    let mut differences = differences::all(&sides);
    differences.extend(sample.notes.iter().cloned());
    differences.extend(wording::unknown_measures(&decisions, &sample.pairs, &measures(spec)));
    let failed = wording::failed(&decisions, &sample.pairs, spec);
    let mut pairs = Vec::new();
    for (contenders, decision) in sample.pairs.iter().zip(decisions) {
        pairs.push(pair(contenders, decision, quantiles::shift(contenders, spec.alpha)));
    }
    Comparison {
        pairs,
        differences,
        blocks: sample.blocks,
        most: 0,
        more,
        ended: ComparisonEnd::Stored,
        failed,
        searched: Vec::new(),
    }
}

fn pair(contenders: &ContenderPair, decision: PairDecision, shift: Vec<QuantileShift>) -> Pair {
    Pair {
        ours: contenders.ours.clone(),
        theirs: contenders.theirs.clone(),
        load: contenders.load.map(|(_, load)| load),
        measures: decision.compared,
        shift,
    }
}
