//! Tests of capacities that searches found, compared by block.

use super::studies::study;
use super::{P99, spec};
use crate::compare::foresee::undecidable_figures;
use crate::compare::{Measure, compare, end_reason};
use brunt_model::answer::{Estimate, SearchEnd};
use brunt_model::comparison::{Better, ComparisonEnd, FoundCapacity};
use brunt_model::experiment::LoadStep;
use brunt_model::question::{AtCapacity, CapacitySearch, ComparisonSettings, TrialGap, TrialTimes};
use brunt_model::{Comparison, Question, Study};
use std::time::Duration;

const CAPACITY: Measure = Measure::Capacity;

fn asked(metrics: &[Measure], given: usize) -> ComparisonSettings {
    let second = Duration::from_secs(1);
    let find = CapacitySearch {
        objectives: Vec::new(),
        precision: 0.02,
        within: second,
        start: 50.0,
        most: None,
        trial: TrialTimes { warmup: second, measured: second },
        between: TrialGap::Cool(second),
        overload: None,
        require: Vec::new(),
    };
    ComparisonSettings { at_capacity: Some(AtCapacity { find, given }), ..spec(metrics) }
}

/// A study of A and B, with a pattern before the given load.
fn growing(spec: &ComparisonSettings, slower: &[f64]) -> Study {
    let mut study = study(slower);
    study.experiment.question = Question::Compare(spec.clone());
    for contender in &mut study.experiment.contenders {
        let pattern = contender.steps[0].clone();
        contender.steps.insert(0, LoadStep { load: 1.0, ..pattern });
    }
    study.trials.iter_mut().for_each(|trial| trial.place.step = 1);
    study
}

fn found(at: impl Fn(u32) -> (f64, Estimate), blocks: u32) -> Vec<FoundCapacity> {
    let one = |contender: &str, repetition, at| FoundCapacity {
        contender: contender.into(),
        repetition: repetition + 1,
        at,
        trials: 8,
        ended: SearchEnd::Budget,
    };
    let block = |repetition| {
        let (ours, theirs) = at(repetition);
        [one("A", repetition, known(ours)), one("B", repetition, theirs)]
    };
    (0..blocks).flat_map(block).collect()
}

fn known(value: f64) -> Estimate {
    Estimate { value: Some(value), low: Some(value * 0.9), high: None }
}

/// Capacities of B that are a fifth higher, with variation.
fn a_fifth_more(repetition: u32) -> (f64, Estimate) {
    let ours = 300.0 + 7.0 * f64::from(repetition % 3);
    (ours, known(ours * (1.2 + 0.004 * f64::from(repetition % 4))))
}

fn sentence(comparison: &Comparison) -> &str {
    &comparison.pairs[0].measures[0].sentence
}

#[test]
fn a_search_is_one_observation() {
    let spec = asked(&[CAPACITY], 0);
    let mut study = growing(&spec, &[]);
    assert_eq!(
        (1..11).find(|n| end_reason(&study, &spec, &found(a_fifth_more, *n)).is_some()),
        Some(7)
    );
    let comparison = compare(&study, &spec, &found(a_fifth_more, 7), ComparisonEnd::Decided);
    assert_eq!((comparison.blocks, comparison.pairs.len(), comparison.searched.len()), (7, 1, 14));
    assert_eq!((comparison.pairs[0].load, comparison.pairs[0].measures.len()), (None, 1));
    assert_eq!(comparison.pairs[0].measures[0].verdict, Better::Better);
    assert!(
        sentence(&comparison).starts_with("capacity: B is better by 20."),
        "{}",
        sentence(&comparison)
    );
    assert!(
        comparison.pairs[0].shift.is_empty() && comparison.differences.is_empty(),
        "{:?}",
        comparison.differences
    );
    study.experiment.contenders[1].name = "b".into();
    assert_eq!(compare(&study, &spec, &found(a_fifth_more, 7), ComparisonEnd::Decided).blocks, 0);
}

#[test]
fn lower_bounds_of_capacities_give_lower_bounds_of_differences() {
    let spec = asked(&[CAPACITY], 0);
    let study = growing(&spec, &[]);
    let at_least =
        |ours: f64, low: f64| (ours, Estimate { value: None, low: Some(low), high: None });
    let comparison =
        compare(&study, &spec, &found(|_| at_least(300.0, 600.0), 8), ComparisonEnd::Budget);
    assert_eq!(sentence(&comparison), "capacity: B is better by at least 100 %");
    let told = "The capacity of B is not known in 8 of 8 searches: the time budget was used up; raise it (--time-budget, in a plan find.time_budget).";
    assert_eq!(comparison.differences, [told]);
    let comparison =
        compare(&study, &spec, &found(|_| at_least(300.0, 200.0), 8), ComparisonEnd::Budget);
    assert_eq!(
        comparison.pairs[0].measures[0].verdict,
        Better::Undecided,
        "{}",
        sentence(&comparison)
    );
    let nothing = found(|_| (300.0, Estimate::default()), 8);
    assert_eq!(compare(&study, &spec, &nothing, ComparisonEnd::Budget).blocks, 0);
}

#[test]
fn with_both_given_loads_are_compared_and_the_first_figure_decides() {
    let blocks = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01];
    for (metrics, load) in [([CAPACITY, P99], None), ([P99, CAPACITY], Some(100.0))] {
        let spec = asked(&metrics, 1);
        let study = growing(&spec, &blocks);
        let comparison = compare(&study, &spec, &found(a_fifth_more, 7), ComparisonEnd::Stopped);
        let measures: Vec<Measure> =
            comparison.pairs.iter().map(|pair| pair.measures[0].measure).collect();
        assert_eq!((measures, comparison.pairs[0].load), (metrics.to_vec(), load));
        assert!(comparison.pairs.iter().all(|pair| pair.measures.len() == 1));
        let decided = metrics[0] == CAPACITY;
        assert_eq!(end_reason(&study, &spec, &found(a_fifth_more, 7)).is_some(), decided);
        assert_eq!(comparison.deciding().all(|one| one.verdict != Better::Undecided), decided);
    }
}

#[test]
fn an_unfinished_search_excludes_its_block() {
    let spec = asked(&[CAPACITY], 0);
    let mut study = growing(&spec, &[1.0, 1.0]);
    let all = found(a_fifth_more, 2);
    let comparison = compare(&study, &spec, &all[..3], ComparisonEnd::Stopped);
    let told = "The capacity of B in repetition 2 is unknown: its block is excluded.";
    assert!(
        comparison.blocks == 1 && comparison.differences.contains(&told.into()),
        "{comparison:?}"
    );
    study.trials.clear();
    assert_eq!(
        compare(&study, &spec, &all, ComparisonEnd::Stopped).differences,
        Vec::<String>::new()
    );
}

#[test]
fn figures_that_few_searches_cannot_decide_are_reported_in_advance() {
    assert_eq!(undecidable_figures(1, 0, 6, &asked(&[CAPACITY], 0)), Vec::<String>::new());
    let told = undecidable_figures(1, 0, 5, &asked(&[CAPACITY], 0));
    assert!(
        told.len() == 1 && told[0].starts_with("capacity: 5 blocks cannot show any difference"),
        "{told:?}"
    );
    assert_eq!(undecidable_figures(1, 1, 7, &asked(&[CAPACITY, P99], 1)), Vec::<String>::new());
}
