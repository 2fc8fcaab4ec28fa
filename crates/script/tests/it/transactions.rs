//! Transactions of compiled scenarios, carried out by the engine on a fake clock.

use crate::world::{Fake, MS, PAUSE, after_100ms, closed, ms, open, plan};
use brunt_engine::{RunControl, run};
use brunt_model::reply_policy::{Assertion, AssertionTest};
use brunt_model::scenario::{Branch, EndScope, ListOrder, Pauses, Portion, ScenarioStep};
use brunt_model::{CheckFailure, Environment, Event, Failure, Plan, Run, Tick};
use brunt_script::{CompiledScript, Languages};
use brunt_wire::fake::SimulatedReaction;
use std::time::Duration;

fn carry_out(plan: &Plan, answer: fn(u64, Tick) -> SimulatedReaction) -> Run {
    let world =
        Fake { scripts: CompiledScript::all(plan, Languages::CORE).expect("a script"), answer };
    let mut seen = Run::default();
    run(plan, Environment::default(), &world, &RunControl::default(), &mut |event: &Event| {
        seen.fold(event);
    })
    .expect("a run");
    let broken: Vec<_> =
        brunt_judge::conservation::checks(&seen).into_iter().filter(|check| !check.holds).collect();
    assert_eq!(broken, []);
    seen
}

fn transaction(name: &str, pauses: Pauses, steps: Vec<ScenarioStep>) -> ScenarioStep {
    ScenarioStep::Transaction { name: name.into(), pauses, parent: false, steps }
}

/// Started, succeeded, failed, unfinished.
fn counts(run: &Run, name: &str) -> [u64; 4] {
    let t = &run.transactions[name];
    [t.started, t.succeeded, t.failed, t.unfinished]
}

#[test]
fn a_transaction_is_timed_from_its_first_request_to_the_end_of_its_last() {
    let steps = |pauses| {
        vec![
            PAUSE,
            transaction(
                "buy",
                pauses,
                vec![PAUSE, ScenarioStep::Request(0), PAUSE, ScenarioStep::Request(1), PAUSE],
            ),
        ]
    };
    for (pauses, expected) in [(Pauses::Excluded, 200 * MS), (Pauses::Included, 500 * MS)] {
        // Four pauses and two requests: 1.4 s an iteration.
        let seen = carry_out(&plan(closed(1.0), 14, steps(pauses)), after_100ms);
        assert_eq!(counts(&seen, "buy"), [10, 10, 0, 0], "{pauses:?}");
        let times = &seen.transactions["buy"].response;
        assert_eq!(
            (times.min(), times.max(), times.count()),
            (expected, expected, 10),
            "{pauses:?}"
        );
        assert_eq!(
            (seen.total.lag.max(), seen.total.response.max()),
            (0, 100 * MS),
            "a pause at the end is none of lag"
        );
        // It is no request: neither total nor label counts it.
        assert_eq!((seen.total.planned, seen.total.completed, seen.flow.completed), (20, 20, 20));
        assert_eq!(seen.labels.values().map(|tally| tally.completed).collect::<Vec<_>>(), [10, 10]);
    }
}

#[test]
fn transactions_can_be_nested_and_groups_are_not_timed() {
    let inner = transaction("inner", Pauses::Excluded, vec![ScenarioStep::Request(1)]);
    let group =
        ScenarioStep::Group { name: "group".into(), steps: vec![ScenarioStep::Request(0), inner] };
    let outer = transaction("outer", Pauses::Excluded, vec![group, ScenarioStep::Request(0)]);
    let seen = carry_out(&plan(open(1.0), 5, vec![outer]), after_100ms);
    assert_eq!(seen.transactions.keys().collect::<Vec<_>>(), ["inner", "outer"]);
    assert_eq!((counts(&seen, "inner"), counts(&seen, "outer")), ([5, 5, 0, 0], [5, 5, 0, 0]));
    assert_eq!(seen.transactions["inner"].response.max(), 100 * MS);
    assert_eq!(seen.transactions["outer"].response.max(), 300 * MS);
}

#[test]
fn a_transaction_fails_with_any_of_its_requests() {
    let steps = vec![transaction(
        "buy",
        Pauses::Excluded,
        vec![ScenarioStep::Request(0), ScenarioStep::Request(1)],
    )];
    let third_fails = |n: u64, now: Tick| match n % 4 {
        2 => SimulatedReaction::Fails(Failure::Reset, now + ms(50)),
        _ => SimulatedReaction::Reply(200, now + ms(100)),
    };
    let mut plan = plan(open(1.0), 6, steps);
    let seen = carry_out(&plan, third_fails);
    assert_eq!(counts(&seen, "buy"), [6, 3, 3, 0]);
    let times = &seen.transactions["buy"];
    assert_eq!(
        (times.response.count(), times.failed_response.count(), times.failed_response.max()),
        (6, 3, 150 * MS)
    );
    // Where the failure ends the iteration, the transaction ends there.
    plan.reply_policies[0].failure_ends = EndScope::Iteration;
    let seen = carry_out(&plan, |n, now| match n {
        0 => SimulatedReaction::Fails(Failure::Reset, now + ms(50)),
        _ => after_100ms(n, now),
    });
    assert_eq!(counts(&seen, "buy"), [6, 5, 1, 0]);
    assert_eq!(seen.transactions["buy"].failed_response.max(), 50 * MS);
}

#[test]
fn a_transaction_rests_between_its_turns() {
    let ask = |request| vec![ScenarioStep::Request(request), ScenarioStep::Stop(EndScope::Turn)];
    for (pauses, expected) in [(Pauses::Excluded, 200 * MS), (Pauses::Included, 300 * MS)] {
        let both = transaction("both", pauses, [ask(0), ask(1)].concat());
        let branches = [vec![ScenarioStep::Resumable(vec![both])], ask(0)];
        let branches = branches.map(|steps| Branch { weight: 1, steps }).into();
        let (order, portion) = (ListOrder::WalkTogether, Portion::Turn);
        let fails = |n: u64, now: Tick| match n {
            1 => SimulatedReaction::Fails(Failure::Reset, now + ms(100)),
            _ => after_100ms(n, now),
        };
        // Ten requests: 0, 2, 4, 6 and 8 are its own, and the third of them begins the second transaction.
        let steps = vec![ScenarioStep::Choose { order, portion, branches }];
        let seen = carry_out(&plan(closed(1.0), 1, steps), fails);
        assert_eq!(counts(&seen, "both"), [3, 2, 0, 1], "{pauses:?}");
        let times = &seen.transactions["both"].response;
        assert_eq!((times.min(), times.max()), (expected, expected), "{pauses:?}");
        assert_eq!((seen.total.completed, seen.total.failed()), (9, 1));
    }
}

#[test]
fn a_stop_within_a_transaction_ends_it() {
    let steps = vec![
        ScenarioStep::Request(0),
        ScenarioStep::Stop(EndScope::Iteration),
        ScenarioStep::Request(1),
    ];
    let seen = carry_out(
        &plan(open(1.0), 5, vec![transaction("part", Pauses::Excluded, steps)]),
        after_100ms,
    );
    assert_eq!((counts(&seen, "part"), seen.total.completed), ([5, 5, 0, 0], 5));
    // Without a request there is nothing to time.
    let empty = transaction("empty", Pauses::Excluded, vec![PAUSE]);
    let seen = carry_out(&plan(open(1.0), 5, vec![ScenarioStep::Request(0), empty]), after_100ms);
    assert!(seen.transactions.is_empty());
}

#[test]
fn the_end_of_the_run_leaves_transactions_unfinished() {
    let buy = |steps| vec![transaction("buy", Pauses::Excluded, steps)];
    // One second each, and the load ends after 2.5 s: within the second request of the second iteration.
    let second = |_: u64, now: Tick| SimulatedReaction::Reply(200, now + ms(1000));
    let three = vec![
        ScenarioStep::Request(0),
        ScenarioStep::Request(1),
        ScenarioStep::Next(ListOrder::Sequence),
    ];
    let seen = carry_out(&plan(closed(1.0), 4, buy(three)), second);
    assert_eq!((counts(&seen, "buy"), seen.total.completed), ([2, 1, 0, 1], 4));
    // The last request was begun in time: its transaction ends in the grace.
    let two = vec![ScenarioStep::Request(0), ScenarioStep::Request(1)];
    let seen = carry_out(&plan(closed(1.0), 3, buy(two.clone())), |_, now| {
        SimulatedReaction::Reply(200, now + ms(800))
    });
    assert_eq!((counts(&seen, "buy"), seen.total.completed), ([2, 2, 0, 0], 4));
    // Its last request was cut off.
    let seen = carry_out(&plan(closed(1.0), 3, buy(two.clone())), |n, now| match n {
        3 => SimulatedReaction::Never,
        _ => SimulatedReaction::Reply(200, now + ms(800)),
    });
    assert_eq!((counts(&seen, "buy"), seen.total.failed_by(Failure::Cut)), ([2, 1, 0, 1], 1));
    // It ends while the user thinks.
    let thinks = vec![ScenarioStep::Request(0), PAUSE, ScenarioStep::Request(1)];
    let seen = carry_out(&plan(closed(1.0), 1, buy(thinks)), |_, now| {
        SimulatedReaction::Reply(200, now + ms(900))
    });
    assert_eq!(counts(&seen, "buy"), [1, 0, 0, 1]);
}

#[test]
fn parallel_requests_and_the_warm_up() {
    let manner = brunt_model::scenario::ConcurrencyMode::Parallel(2);
    let together = ScenarioStep::Together {
        manner,
        steps: vec![ScenarioStep::Request(0), ScenarioStep::Request(1)],
    };
    let steps = vec![transaction("page", Pauses::Excluded, vec![together])];
    let mut plan = plan(open(1.0), 5, steps);
    plan.main_mut().stop.warmup = Duration::from_secs(3);
    let seen =
        carry_out(&plan, |n, now| SimulatedReaction::Reply(200, now + ms(100 * (n % 2 + 1))));
    assert_eq!(
        (counts(&seen, "page"), seen.total.completed, seen.warmup.completed),
        ([5, 5, 0, 0], 10, 6)
    );
    assert_eq!(seen.transactions["page"].response.max(), 200 * MS);
}

#[test]
fn failed_assertions_are_counted_with_the_values_found() {
    let mut plan = plan(open(10.0), 2, vec![ScenarioStep::Request(0), ScenarioStep::Request(1)]);
    for (name, millis) in [("quick", "50"), ("slow", "500")] {
        let test = AssertionTest::Duration(millis.into());
        plan.reply_policies[0].assertions.push(Assertion { name: name.into(), test });
    }
    plan.main_mut().stop.warmup = Duration::from_secs(1);
    let seen = carry_out(&plan, after_100ms);
    let expected = |label| CheckFailure {
        label,
        count: 20,
        ..CheckFailure::new("quick", "time at most 50 ms", "100 ms")
    };
    // Those of the warm-up do not count.
    assert_eq!(seen.check_failures, [expected(0), expected(1)]);
    assert_eq!(seen.total.failed_by(Failure::Check), 40);
}
