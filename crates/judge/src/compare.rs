//! Whether one contender is better than another: runs that were made side by side, or were kept, into a [`Comparison`].
//!
//! The figures of each run, paired by block, go to the mathematics of `stats` and are put into words. One
//! repetition is one block, and counts as one: requests within a run are not independent of each other. Out of scope:
//! the mathematics, and the choice of what is measured. docs/method.md has the formulas and what they do not say.
//!
//! * `sample`: which runs stand beside which; what is left out. `figures`: one figure of a run.
//! * `decide`: all figures of all pairs tested together. `quantiles`: how the quantiles of a pair differ.
//! * `conclusion`: the sentence that says which contender is better. `told`: other sentences. `foresee`: what so few blocks cannot decide. [`differences()`]: what else differs.

mod conclusion;
mod decide;
pub mod differences;
mod figures;
mod foresee;
mod quantiles;
mod sample;
#[cfg(test)]
mod tests;
mod told;

pub use conclusion::sentences;
pub use differences::{Side, differences};
pub(crate) use figures::written;
pub use foresee::{foreseen, foreseen_stored};
pub use told::findings;

use brunt_model::comparison::{Better, ComparisonEnd, FoundCapacity, Pair, QuantileShift};
use brunt_model::objective::Metric;
use brunt_model::question::{Compare, Measure};
use brunt_model::{Comparison, Run, Study};
use decide::Decided;
use sample::{PairFigures, Paired, Sample};

/// All that can be decided about a study whose repetitions are blocks. Trials that are invalid or were cut short are left
/// out, and the blocks they belong to with them; that is said. `searched` are the capacities that were found, where they are
/// compared.
pub fn compare(study: &Study, spec: &Compare, searched: &[FoundCapacity], ended: ComparisonEnd) -> Comparison {
    Comparison { ended, ..so_far(study, spec, searched).0 }
}

/// The same, and whether no more need be measured, as [`enough`] says it: all of it is tested once.
pub fn so_far(study: &Study, spec: &Compare, searched: &[FoundCapacity]) -> (Comparison, Option<ComparisonEnd>) {
    let sample = Sample::of_study(study, spec, searched);
    let (decided, more) = decided(&sample.pairs, spec);
    let end = end_of(study, &sample, &decided, spec);
    let ended = end.unwrap_or(ComparisonEnd::Stopped);
    let comparison = of_decided(&sample, decided, more, spec);
    let searched = searched.to_vec();
    (Comparison { most: study.experiment.repetitions, ended, searched, ..comparison }, end)
}

/// Compares the contenders of a sweep by their median response time, at each load that two of them have.
pub fn by_load(study: &Study) -> Vec<Pair> {
    let median = Measure::Run(Metric::Quantile(0.5));
    let spec = Compare {
        metrics: vec![median],
        smallest: 0.02,
        alpha: 0.05,
        fail_if: Vec::new(),
        within: None,
        at_capacity: None,
    };
    let sample = Sample::of_study(study, &spec, &[]);
    let (decided, _) = decided(&sample.pairs, &spec);
    let pairs = sample.pairs.iter().zip(decided).filter(|(paired, _)| paired.load.is_some());
    pairs.map(|(paired, decided)| pair(paired, decided, Vec::new())).collect()
}

/// The same of runs that were kept, by contender: they were not made in blocks, so their ranks are tested as two groups.
pub fn compare_stored(runs: &[(String, Vec<&Run>)], spec: &Compare) -> Comparison {
    of_sample(&Sample::of_groups(runs, crate::judge), spec)
}

/// Whether no more need be measured: asked after each whole block. What decides is decided of each pair, and so is each
/// difference that was to fail; or all blocks were made.
pub fn enough(study: &Study, spec: &Compare, searched: &[FoundCapacity]) -> Option<ComparisonEnd> {
    let sample = Sample::of_study(study, spec, searched);
    let (decided, _) = decided(&sample.pairs, spec);
    end_of(study, &sample, &decided, spec)
}

fn end_of(study: &Study, sample: &Sample, decided: &[Decided], spec: &Compare) -> Option<ComparisonEnd> {
    if is_settled(decided, spec) {
        return Some(ComparisonEnd::Decided);
    }
    (sample.blocks >= study.experiment.repetitions).then_some(ComparisonEnd::Budget)
}

/// Whether what decides is decided of each pair, and each difference that was to fail.
fn is_settled(decided: &[Decided], spec: &Compare) -> bool {
    let first = measures(spec).first().copied();
    let settled = |pair: &Decided| {
        let mut deciding = pair.compared.iter().filter(|one| Some(one.measure) == first);
        deciding.all(|first| first.verdict != Better::Undecided)
            && spec.fail_if.iter().all(|regression| told::is_settled(pair, regression))
    };
    !decided.is_empty() && decided.iter().all(settled)
}

/// What is compared: what was asked, and what was to fail; each once.
fn measures(spec: &Compare) -> Vec<Measure> {
    let mut all: Vec<Measure> = Vec::new();
    for measure in spec.metrics.iter().copied().chain(spec.fail_if.iter().map(|regression| regression.measure)) {
        if !all.contains(&measure) {
            all.push(measure);
        }
    }
    all
}

fn decided(pairs: &[Paired], spec: &Compare) -> (Vec<Decided>, Option<u32>) {
    let measures = measures(spec);
    let figures: Vec<PairFigures> = pairs.iter().map(|pair| pair.all(&measures)).collect();
    decide::decide(&figures, &measures, spec)
}

fn of_sample(sample: &Sample, spec: &Compare) -> Comparison {
    let (decided, more) = decided(&sample.pairs, spec);
    of_decided(sample, decided, more, spec)
}

fn of_decided(sample: &Sample, decided: Vec<Decided>, more: Option<u32>, spec: &Compare) -> Comparison {
    let sides: Vec<Side> = sample.first_runs.iter().map(|(name, run)| Side::of_run(name, run)).collect();
    let mut differs = differences::all(&sides);
    differs.extend(sample.notes.iter().cloned());
    differs.extend(told::not_known(&decided, &sample.pairs, &measures(spec)));
    let failed = told::failed(&decided, &sample.pairs, spec);
    let with_quantiles = |(paired, decided)| pair(paired, decided, quantiles::shift(paired, spec.alpha));
    Comparison {
        pairs: sample.pairs.iter().zip(decided).map(with_quantiles).collect(),
        differences: differs,
        blocks: sample.blocks,
        most: 0,
        more,
        ended: ComparisonEnd::Stored,
        failed,
        searched: Vec::new(),
    }
}

fn pair(paired: &Paired, decided: Decided, shift: Vec<QuantileShift>) -> Pair {
    Pair {
        ours: paired.ours.clone(),
        theirs: paired.theirs.clone(),
        load: paired.load.map(|(_, load)| load),
        measures: decided.compared,
        shift,
    }
}
