//! What is tried in which order, on trials made by hand.

use brunt_model::answer::{LoadSide, SearchEnd};
use brunt_model::objective::{Metric, Relation};
use brunt_model::question::{ObjectiveSet, TrialGap, TrialPurpose, TrialTimes};
use brunt_model::{CapacitySearch, LoadUnit, Objective};
use brunt_search::{
    BoundCount, EvidenceFor, NextStep, Search, TrialBlock, TrialRequest, TrialSummary,
    objective_error,
};
use std::time::Duration;

fn below(bound: f64) -> ObjectiveSet {
    let objective =
        Objective { metric: Metric::Quantile(0.99), step: None, relation: Relation::Below, bound };
    ObjectiveSet { name: objective.to_string(), all: vec![objective] }
}

fn find(sets: &[f64]) -> CapacitySearch {
    let seconds = Duration::from_secs;
    CapacitySearch {
        objectives: sets.iter().map(|bound| below(*bound)).collect(),
        precision: 0.02,
        within: seconds(600),
        start: 10.0,
        most: None,
        trial: TrialTimes { warmup: seconds(1), measured: seconds(2) },
        between: TrialGap::Cool(seconds(1)),
        overload: Some(1.5),
        require: Vec::new(),
    }
}

/// A trial in which the share of slow requests jumps behind each set's capacity.
fn trial(ask: &TrialRequest, capacities: &[f64], spent: f64) -> TrialSummary {
    let load = ask.load;
    let block = |index: usize| {
        let part = |capacity: &f64| {
            let share = if load > *capacity { 0.3 } else { 0.0002 };
            // Slow ones come in every tenth block, so that figures vary.
            let over = if index.is_multiple_of(10) { share * load } else { 0.0 };
            vec![BoundCount { over, without_lag: over, total: load / 10.0 }]
        };
        let parts = capacities.iter().map(part).collect();
        TrialBlock {
            seconds: 0.1,
            completed: load / 10.0,
            response: load / 1000.0,
            parts,
            ..TrialBlock::default()
        }
    };
    let seconds = ask.times.measured.as_secs_f64();
    TrialSummary {
        load,
        purpose: None,
        began: 1000.0 + spent,
        offered: load,
        sent: load,
        achieved: load.min(1.2 * capacities.iter().copied().fold(0.0, f64::max)),
        seconds,
        mean: Some(0.01),
        p99: Some(if load > capacities[0] { 1.0 } else { 0.02 }),
        blocks: (0..(seconds * 10.0) as usize).map(block).collect(),
        limited: None,
        evidence: EvidenceFor::Both,
        final_lag: 0.0,
    }
}

fn carried_out(
    search: &Search,
    capacities: &[f64],
    spoil: impl Fn(&mut TrialSummary),
) -> (Vec<TrialSummary>, SearchEnd) {
    let (mut seen, mut spent) = (Vec::new(), 0.0);
    for _ in 0..100 {
        match search.next(&seen, Duration::from_secs_f64(spent)) {
            NextStep::Done(end) => return (seen, end),
            NextStep::Measure(ask) => {
                let mut one = trial(&ask, capacities, spent);
                spoil(&mut one);
                spent += one.seconds + 2.5;
                seen.push(one);
            }
        }
    }
    panic!("it does not end");
}

#[test]
fn loads_grow_until_the_objectives_are_missed_and_then_converge() {
    let search = Search::new(&find(&[0.05]), LoadUnit::PerSecond);
    let (seen, _) = carried_out(&search, &[700.0], |_| ());
    let loads: Vec<f64> = seen.iter().map(|trial| trial.load).collect();
    // The second takes half the time of a server that answers one after another as fast as it did the first time.
    assert_eq!(loads[..7], [10.0, 50.0, 100.0, 200.0, 400.0, 800.0, 565.7]);
    let answer = search.answer("a", &seen, SearchEnd::Precise);
    let at = answer.capacities[0].at;
    assert!(at.low.unwrap() <= 700.0 && at.high.unwrap() >= 700.0, "{}", answer.sentence);
    assert!((at.value.unwrap() / 700.0 - 1.0).abs() < 0.05, "{}", answer.sentence);
    assert_eq!(answer.trials.len(), seen.len());
    assert!(answer.trials.iter().any(|tried| tried.why == "overload trial"), "{:?}", answer.trials);
    assert!(
        answer.recovery.is_some() && answer.sentence.starts_with("capacity "),
        "{}",
        answer.sentence
    );
}

#[test]
fn one_slow_request_at_a_low_load_is_not_a_limit() {
    let search = Search::new(&find(&[0.05]), LoadUnit::PerSecond);
    let unlucky = |trial: &mut TrialSummary| {
        if trial.load == 10.0 {
            trial.blocks[3].parts[0][0].over += 1.0;
            trial.blocks[3].parts[0][0].without_lag += 1.0;
        }
    };
    let (seen, end) = carried_out(&search, &[700.0], unlucky);
    let at = search.answer("a", &seen, end).capacities[0].at;
    assert!((at.value.unwrap() / 700.0 - 1.0).abs() < 0.05, "{at:?}");
}

#[test]
fn a_generator_at_its_limit_never_counts_against_the_server() {
    let search = Search::new(&find(&[0.05]), LoadUnit::PerSecond);
    let tired = |trial: &mut TrialSummary| {
        if trial.load > 500.0 {
            trial.limited = Some("local ports".into());
            trial.evidence = EvidenceFor::None;
        }
    };
    let (seen, end) = carried_out(&search, &[550.0], tired);
    assert_eq!(end, SearchEnd::Generator);
    let answer = search.answer("a", &seen, end);
    assert_eq!(answer.capacities[0].at.high, None);
    let sentence = &answer.capacities[0].sentence;
    assert!(sentence.starts_with("at least ") && sentence.contains("local ports"), "{sentence}");
    let limited = answer.trials.iter().filter(|tried| tried.limited.is_some());
    assert!(limited.flat_map(|tried| &tried.sides).all(|side| *side != LoadSide::Above));
}

#[test]
fn failures_that_the_generator_cannot_have_caused_count() {
    let search = Search::new(&find(&[0.05]), LoadUnit::PerSecond);
    let disturbed = |trial: &mut TrialSummary| {
        trial.limited = Some("CPU time taken by the hypervisor".into());
        // A third of what was slow may be the generator's doing.
        for block in &mut trial.blocks {
            block.parts[0][0].without_lag *= 0.67;
        }
        trial.final_lag = 0.01;
    };
    let (seen, end) = carried_out(&search, &[550.0], disturbed);
    let answer = search.answer("a", &seen, end);
    let at = answer.capacities[0].at;
    assert!(
        at.low.unwrap() <= 550.0 && (at.high.unwrap() / 550.0 - 1.0).abs() < 0.02,
        "{}",
        answer.sentence
    );
    assert!(seen.iter().all(|trial| !search.is_contested(trial, &seen)));
    // A queue without end is seen all the same, and nothing higher is asked of a server that has it.
    assert!(
        seen.iter()
            .all(|trial| trial.load <= 1600.0
                && trial.is_overloaded() == (trial.load > 660.0 * 1.05))
    );
}

#[test]
fn the_search_ends_at_the_highest_load_allowed() {
    let find = CapacitySearch { most: Some(100.0), ..find(&[0.05]) };
    let (seen, end) = carried_out(&Search::new(&find, LoadUnit::PerSecond), &[700.0], |_| ());
    assert_eq!((end, seen.last().map(|trial| trial.load)), (SearchEnd::Most, Some(100.0)));
}

#[test]
fn each_set_of_objectives_has_its_capacity() {
    let search = Search::new(&find(&[1.0, 3.0]), LoadUnit::PerSecond);
    let capacities = [300.0, 900.0];
    let (seen, end) = carried_out(&search, &capacities, |_| ());
    let answer = search.answer("a", &seen, end);
    for (capacity, truth) in answer.capacities.iter().zip(capacities) {
        let (low, high) = (capacity.at.low.unwrap(), capacity.at.high.unwrap());
        assert!((low..=high).contains(&truth), "{}: {truth}", capacity.sentence);
    }
}

#[test]
fn a_looser_set_has_no_lower_end_below_a_stricter_one() {
    let search = Search::new(&find(&[1.0, 3.0]), LoadUnit::PerSecond);
    let (seen, end) = carried_out(&search, &[900.0, 900.0], |_| ());
    let answer = search.answer("a", &seen, end);
    let [strict, loose] = &answer.capacities[..] else { panic!("two sets") };
    assert!(strict.at.low.unwrap() <= loose.at.low.unwrap(), "{}", answer.sentence);
}

#[test]
fn a_search_without_time_for_confirmations_knows_nothing_and_names_the_budget() {
    let find = CapacitySearch { within: Duration::from_mins(1), most: Some(20.0), ..find(&[0.05]) };
    let search = Search::new(&find, LoadUnit::PerSecond);
    let (seen, end) = carried_out(&search, &[700.0], |_| ());
    let answer = search.answer("a", &seen, end);
    assert_eq!(answer.capacities[0].at.low, None, "{}", answer.sentence);
    let needed = answer.needed_budget.expect("a budget");
    let find = CapacitySearch { within: needed, ..find };
    let search = Search::new(&find, LoadUnit::PerSecond);
    let (seen, end) = carried_out(&search, &[700.0], |_| ());
    assert_eq!(search.answer("a", &seen, end).capacities[0].at.low, Some(20.0), "{needed:?}");
}

#[test]
fn numbers_of_users_are_integers() {
    let search = Search::new(&find(&[0.05]), LoadUnit::Users { think: None });
    let (seen, _) = carried_out(&search, &[37.0], |_| ());
    assert!(seen.iter().all(|trial| trial.load.fract() == 0.0));
}

#[test]
fn a_stopped_search_continues() {
    let search = Search::new(&find(&[0.05]), LoadUnit::PerSecond);
    let (seen, _) = carried_out(&search, &[700.0], |_| ());
    let at = seen.len() / 2;
    let spent = Duration::from_secs_f64(seen[at].began - seen[0].began);
    let NextStep::Measure(ask) = search.next(&seen[..at], spent) else { panic!("it was not over") };
    assert!(
        (ask.load - seen[at].load).abs() < 1e-6 && ask.purpose == TrialPurpose::Search,
        "{ask:?}"
    );
}

#[test]
fn objectives_that_more_load_meets_are_refused() {
    let objective = |metric, relation| Objective { metric, step: None, relation, bound: 1.0 };
    assert_eq!(objective_error(&objective(Metric::Mean, Relation::Below)), None);
    assert_eq!(objective_error(&objective(Metric::Throughput, Relation::Above)), None);
    let said = objective_error(&objective(Metric::Quantile(0.99), Relation::Above)).unwrap();
    assert!(said.contains("write `p99 < …`"), "{said}");
}
