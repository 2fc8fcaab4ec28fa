//! Tests of trials that are chosen from earlier results.

use super::servers::{STAYS, left_nothing, log, served, stage};
use super::story::{ExperimentStory, Silent, around, contender, experiment, plan};
use crate::{Chooser, ChosenTrial, ContenderTurn, ExperimentOutcome, RigFailure};
use brunt_model::TrialIndex;
use brunt_model::experiment::LoadStep;
use brunt_model::question::TrialGap;
use std::time::Duration;

/// Doubles the load for each of the first `each` trials of a contender.
struct Doubling {
    each: usize,
    before: TrialGap,
}

const NO_REST: TrialGap = TrialGap::Cool(Duration::ZERO);

impl Chooser<Silent> for Doubling {
    fn next(&mut self, host: &mut Silent, turn: ContenderTurn) -> Option<ChosenTrial> {
        let ContenderTurn { repetition, contender } = turn;
        let is_of =
            |place: &&TrialIndex| (place.repetition, place.contender) == (repetition, contender);
        let number = host.made.iter().filter(is_of).count() + 1;
        let load = 10.0 * f64::from(1 << (number - 1));
        let place = TrialIndex { repetition, contender, step: number };
        let step = LoadStep::new(load, plan(load));
        (number <= self.each).then_some(ChosenTrial { place, number, step, before: self.before })
    }
}

#[test]
fn each_trial_is_chosen_from_earlier_ones() {
    let mut story =
        ExperimentStory::of(experiment(vec![contender("a", &[1.0]), contender("b", &[1.0])]));
    story.experiment.cooldown = Duration::from_mins(1);
    let before = TrialGap::Cool(Duration::from_secs(2));
    assert_eq!(story.pursue(&mut Doubling { each: 3, before }).unwrap(), ExperimentOutcome::Whole);
    let expected =
        ["run a 0 10", "rest 2", "run a 0 20", "rest 2", "run a 0 40", "rest 2", "run b 0 10"];
    assert_eq!(story.host.news[..7], expected);
    assert_eq!(story.host.numbers, [1, 2, 3, 1, 2, 3]);
    assert_eq!(story.time.now_seconds(), 10.0);
    let seeds: std::collections::BTreeSet<u64> = story.host.seeds.iter().copied().collect();
    assert_eq!(
        seeds.len(),
        3,
        "trials differ in their arrivals, contenders do not: {:?}",
        story.host.seeds
    );
}

#[test]
fn without_a_next_trial_no_server_is_started() {
    let mut one = served(&[1.0], STAYS);
    one.hooks.contender = around("echo before >>log", "echo after >>log");
    let (mut story, dir) = stage(vec![one]);
    assert_eq!(
        story.pursue_really(&mut Doubling { each: 0, before: NO_REST }).unwrap(),
        ExperimentOutcome::Whole
    );
    assert_eq!((log(dir.path()).as_str(), story.host.news.len()), ("", 0));
    left_nothing(dir.path(), 0);
}

#[test]
fn a_server_is_started_once_or_for_each_trial() {
    for (before, starts) in [(NO_REST, 1), (TrialGap::Restart, 3)] {
        let (mut story, dir) = stage(vec![served(&[1.0], STAYS)]);
        assert_eq!(
            story.pursue_really(&mut Doubling { each: 3, before }).unwrap(),
            ExperimentOutcome::Whole
        );
        left_nothing(dir.path(), starts);
    }
}

#[test]
fn repetitions_alternate_until_the_result_is_decided() {
    let mut story =
        ExperimentStory::of(experiment(vec![contender("a", &[1.0]), contender("b", &[1.0])]));
    story.experiment.repetitions = 9;
    story.host.enough_after = Some(2);
    assert_eq!(
        story.pursue(&mut Doubling { each: 1, before: NO_REST }).unwrap(),
        ExperimentOutcome::Enough
    );
    assert_eq!(story.host.news, ["run a 0 10", "run b 0 10", "run b 1 10", "run a 1 10"]);
    assert_eq!(story.host.enough_calls, [0, 1]);
}

#[test]
fn a_server_started_for_a_repetition_serves_its_first_trial() {
    let (mut story, dir) = stage(vec![served(&[1.0], STAYS)]);
    story.experiment.repetitions = 2;
    assert_eq!(
        story.pursue_really(&mut Doubling { each: 2, before: TrialGap::Restart }).unwrap(),
        ExperimentOutcome::Whole
    );
    left_nothing(dir.path(), 4);
}

#[test]
fn hooks_get_the_chosen_load() {
    let mut one = served(&[1.0], STAYS);
    one.hooks.contender = around("echo +c >>log", "echo -c >>log");
    one.hooks.step = around("echo +$BRUNT_LOAD >>log", "echo -$BRUNT_LOAD >>log");
    let (mut story, dir) = stage(vec![one]);
    story.experiment.hooks = around("echo +e >>log", "echo -e >>log");
    assert_eq!(
        story.pursue_really(&mut Doubling { each: 2, before: NO_REST }).unwrap(),
        ExperimentOutcome::Whole
    );
    assert_eq!(log(dir.path()), "+e, +c, +10, -10, +20, -20, -c, -e");
    left_nothing(dir.path(), 1);
}

#[test]
fn a_server_that_died_is_restarted_for_the_next_trial() {
    let (mut story, dir) = stage(vec![served(&[1.0], "echo $$ >>pids; exec sleep 0.2")]);
    story.host.meanwhile = Some(|_| std::thread::sleep(Duration::from_millis(600)));
    assert_eq!(
        story.pursue_really(&mut Doubling { each: 2, before: NO_REST }).unwrap(),
        ExperimentOutcome::Whole
    );
    assert_eq!((story.host.made.len(), story.host.troubles.len()), (2, 2));
    left_nothing(dir.path(), 2);
}

#[test]
fn the_experiment_ends_if_the_server_dies_in_every_trial() {
    let (mut story, dir) = stage(vec![served(&[1.0], "echo $$ >>pids; exec sleep 0.2")]);
    story.host.meanwhile = Some(|_| std::thread::sleep(Duration::from_millis(600)));
    let failure = story.pursue_really(&mut Doubling { each: 9, before: NO_REST }).unwrap_err();
    assert!(matches!(failure, RigFailure::Server(_)), "{failure}");
    left_nothing(dir.path(), 3);
}

#[test]
fn a_stop_takes_effect_between_trials() {
    let (mut story, dir) = stage(vec![served(&[1.0], STAYS)]);
    story.host.stop_after = Some(2);
    assert_eq!(
        story.pursue_really(&mut Doubling { each: 9, before: NO_REST }).unwrap(),
        ExperimentOutcome::Stopped
    );
    assert_eq!(story.host.made.len(), 2);
    left_nothing(dir.path(), 1);
}
