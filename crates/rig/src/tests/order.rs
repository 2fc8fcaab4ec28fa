//! Tests of the order of trials, without hooks and servers.

use super::story::{ExperimentStory, contender, experiment};
use crate::ExperimentOutcome;
use brunt_model::experiment::TrialOrder;
use brunt_model::{Experiment, TrialIndex};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// Creates an experiment with this number of steps for each contender.
fn of(steps: &[usize], repetitions: u32, order: TrialOrder) -> Experiment {
    let contenders = steps.iter().enumerate().map(|(i, n)| {
        let loads: Vec<f64> = (1..=*n).map(|step| step as f64 * 10.0).collect();
        contender(&format!("c{i}"), &loads)
    });
    Experiment { repetitions, order, ..experiment(contenders.collect()) }
}

fn order(experiment: &Experiment) -> Vec<TrialIndex> {
    crate::order(experiment).collect()
}

fn written(places: &[TrialIndex]) -> String {
    let one = |place: &TrialIndex| {
        format!("{}{}{}", ["A", "B", "C"][place.contender], place.repetition, place.step)
    };
    places.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn interleaved_order_alternates_its_direction() {
    let order = order(&of(&[2, 2], 3, TrialOrder::Interleaved));
    assert_eq!(written(&order), "A00 A01 B00 B01 B10 B11 A10 A11 A20 A21 B20 B21");
}

#[test]
fn blocks_finish_a_contender_before_the_next() {
    assert_eq!(written(&order(&of(&[2, 1], 2, TrialOrder::Blocks))), "A00 A01 A10 A11 B00 B10");
}

#[test]
fn trial_indices_are_generated_on_demand() {
    for how in [TrialOrder::Interleaved, TrialOrder::Blocks, TrialOrder::Random] {
        let experiment = of(&[1], 4_000_000_000, how);
        let first: Vec<TrialIndex> = crate::order(&experiment).take(3).collect();
        assert_eq!(written(&first), "A00 A10 A20");
        let mut story = ExperimentStory::of(experiment);
        story.host.stop_after = Some(2);
        assert_eq!(story.conduct().unwrap(), ExperimentOutcome::Stopped);
    }
}

#[test]
fn steps_are_in_ascending_order() {
    let experiment =
        Experiment { repetitions: 1, ..experiment(vec![contender("c", &[20.0, 5.0, 10.0])]) };
    assert_eq!(written(&order(&experiment)), "A01 A02 A00");
}

#[test]
fn each_repetition_has_a_new_random_order() {
    let experiment = of(&[8, 8], 2, TrialOrder::Random);
    let all = order(&experiment);
    let steps = |places: &[TrialIndex]| {
        places.iter().map(|place| (place.contender, place.step)).collect::<Vec<_>>()
    };
    assert_ne!(steps(&all[..16]), steps(&all[16..]));
    assert_ne!(all, order(&Experiment { seed: experiment.seed + 1, ..experiment }));
}

proptest! {
    #[test]
    fn every_trial_occurs_once_and_contenders_are_contiguous(
        steps in prop::collection::vec(1_usize..5, 1..5),
        repetitions in 1_u32..6,
        seed: u64,
        how in prop::sample::select(vec![TrialOrder::Interleaved, TrialOrder::Blocks, TrialOrder::Random]),
    ) {
        let experiment = Experiment { seed, ..of(&steps, repetitions, how) };
        let places = order(&experiment);
        let different: BTreeSet<_> = places.iter().collect();
        prop_assert_eq!((places.len(), different.len()), (experiment.trials(), experiment.trials()));
        let parts = places.chunk_by(|a, b| (a.contender, a.repetition) == (b.contender, b.repetition)).count();
        prop_assert_eq!(parts, steps.len() * repetitions as usize);
        prop_assert!(places.iter().all(|place| experiment.step(*place).is_some()));
    }

    #[test]
    fn completed_trials_are_skipped_and_the_order_is_unchanged(
        done in prop::collection::btree_set(0_usize..12, 0..12),
        how in prop::sample::select(vec![TrialOrder::Interleaved, TrialOrder::Blocks, TrialOrder::Random]),
    ) {
        let experiment = of(&[2, 2], 3, how);
        let all = order(&experiment);
        let places = done.iter().map(|i| all[*i]).collect();
        let mut story = ExperimentStory::of(experiment);
        prop_assert_eq!(story.conduct_without(&places).unwrap(), ExperimentOutcome::Whole);
        let left: Vec<TrialIndex> = all.into_iter().filter(|place| !places.contains(place)).collect();
        prop_assert_eq!(&story.host.made, &left);
        let numbers: Vec<usize> = (places.len() + 1..=12).collect();
        prop_assert_eq!(&story.host.numbers, &numbers);
    }
}

#[test]
fn trials_are_separated_by_the_cooldown() {
    let mut story = ExperimentStory::of(of(&[3], 1, TrialOrder::Interleaved));
    story.experiment.cooldown = Duration::from_secs(5);
    story.conduct().unwrap();
    assert_eq!(story.host.news, ["run c0 0 10", "rest 5", "run c0 0 20", "rest 5", "run c0 0 30"]);
    assert_eq!(story.time.now_seconds(), 10.0);
}

#[test]
fn seeds_differ_by_repetition_and_step_but_not_by_contender() {
    let mut story = ExperimentStory::of(of(&[2, 2], 2, TrialOrder::Interleaved));
    story.conduct().unwrap();
    let seed = |contender, repetition, step| {
        let place = TrialIndex { repetition, contender, step };
        story.host.seeds[story.host.made.iter().position(|made| *made == place).unwrap()]
    };
    let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let seeds: BTreeSet<u64> = places.iter().map(|(r, s)| seed(0, *r, *s)).collect();
    assert_eq!(seeds.len(), 4);
    assert!(places.iter().all(|(r, s)| seed(0, *r, *s) == seed(1, *r, *s)));
    assert_eq!(seed(0, 0, 0), story.experiment.contenders[0].steps[0].plan.seed);
}

#[test]
fn a_stop_takes_effect_after_the_trial() {
    let mut story = ExperimentStory::of(of(&[3], 1, TrialOrder::Interleaved));
    story.host.stop_after = Some(2);
    assert_eq!(story.conduct().unwrap(), ExperimentOutcome::Stopped);
    assert_eq!(story.host.made.len(), 2);
}

#[test]
fn the_end_condition_is_checked_after_each_complete_repetition() {
    for order in [TrialOrder::Interleaved, TrialOrder::Random, TrialOrder::Blocks] {
        let mut story = ExperimentStory::of(of(&[2, 2], 3, order));
        assert_eq!(story.conduct().unwrap(), ExperimentOutcome::Whole);
        assert_eq!(story.host.enough_calls, [0, 1, 2], "{order:?}");
    }
    let mut story = ExperimentStory::of(of(&[2, 2], 9, TrialOrder::Interleaved));
    story.host.enough_after = Some(2);
    assert_eq!(story.conduct().unwrap(), ExperimentOutcome::Enough);
    assert_eq!(written(&story.host.made), "A00 A01 B00 B01 B10 B11 A10 A11");
}

#[test]
fn a_continued_experiment_completes_the_interrupted_repetition() {
    let experiment = of(&[1, 1], 2, TrialOrder::Interleaved);
    let done = order(&experiment)[..1].iter().copied().collect();
    let mut story = ExperimentStory::of(experiment);
    story.host.enough_after = Some(1);
    assert_eq!(story.conduct_without(&done).unwrap(), ExperimentOutcome::Enough);
    assert_eq!(written(&story.host.made), "B00");
}
