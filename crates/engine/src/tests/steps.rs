//! What virtual users do: several requests an iteration, redirects, labels, and users that break.

use super::*;
use brunt_model::reply_policy::StatusRange;
use brunt_model::scenario::ScenarioStep;

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

fn three_steps(turn: UserTurn<'_>) -> Next {
    match (turn.step, turn.last.map(|r| r.status)) {
        (0, None) => Next::Ask("http://fake/login"),
        (1, Some(200)) => Next::Ask("http://fake/buy"),
        (2, Some(200)) => Next::Ask("http://fake/bye"),
        _ => Next::Done,
    }
}

fn shop(service: Duration) -> Fake {
    let labels = named(&["http://fake/login", "http://fake/buy", "http://fake/bye"]);
    Fake { labels, ..Fake::delay(service).user(three_steps) }
}

#[test]
fn an_arrival_may_be_several_requests() {
    let seen = shop(ms(10)).run(&open(10.0, Arrivals::Even, secs(5)));
    let t = &seen.run.total;
    assert_eq!((t.planned, t.begun, t.completed), (150, 150, 150));
    assert_eq!(seen.run.labels.values().map(|t| t.planned).collect::<Vec<_>>(), [50, 50, 50]);
    assert_eq!(seen.run.label_names[&1], "http://fake/buy");
    // Each is due when the one before it was answered.
    for (n, s) in seen.samples.chunks(3).enumerate() {
        assert_eq!(s[0].planned, seen.begins() + ms(100 * n as u64));
        assert_eq!([s[1].planned, s[2].planned], [s[0].last_byte, s[1].last_byte]);
        assert!(s.iter().all(|s| s.response_nanos() == 10 * MS && s.lag_nanos() == 0));
    }
}

#[test]
fn an_iteration_of_a_closed_loop_may_be_several_requests() {
    let think = ThinkTime { least: ms(70), most: ms(70) };
    let seen = shop(ms(10)).run(&thinking(LoadShape::constant(2.0), think, secs(10)));
    assert_eq!(seen.run.total.completed, 600);
    let begins = seen.begins();
    let logins =
        seen.samples.iter().filter(|s| s.label == 0).map(|s| s.planned.nanos_since(begins));
    assert!(logins.enumerate().all(|(n, at)| at == 100 * MS * (n as u64 / 2)));
}

#[test]
fn the_user_learns_of_a_failed_step() {
    let mut world = shop(ms(10));
    world.server = Arc::new(|| {
        let mut n = 0;
        Box::new(move |now| {
            n += 1;
            if n % 2 == 0 {
                SimulatedReaction::Fails(Failure::Reset, now + ms(10))
            } else {
                SimulatedReaction::Reply(200, now + ms(10))
            }
        })
    });
    let seen = world.run(&open(1.0, Arrivals::Even, secs(10)));
    // Login is answered, buying fails, the iteration is over.
    assert_eq!(
        seen.run.labels.values().map(|t| (t.good, t.begun)).collect::<Vec<_>>(),
        [(10, 10), (0, 10)]
    );
}

#[test]
fn an_iteration_begins_no_request_after_the_duration() {
    let seen = shop(secs(2)).run(&open(1.0, Arrivals::Even, secs(10)));
    let ends = seen.begins() + secs(10);
    assert!(seen.samples.iter().all(|s| s.begun < ends));
    assert_eq!(seen.run.total.completed, seen.run.total.begun);
    let closed = shop(secs(3)).run(&closed(1.0, secs(10)));
    assert_eq!(closed.run.total.completed, 4);
    assert_eq!(closed.run.finish.as_ref().unwrap().at, Tick(12 * SECOND));
}

#[test]
fn iterations_that_are_cut_do_not_continue() {
    let mut plan = open(1.0, Arrivals::Even, secs(3));
    plan.main_mut().stop.grace = secs(1);
    let mut world = shop(secs(1)).user(|_| Next::Ask("http://fake/"));
    world.server = Arc::new(|| Box::new(|_| SimulatedReaction::Never));
    let seen = world.run(&plan);
    assert_eq!((seen.run.total.begun, seen.run.total.failed_by(Failure::Cut)), (3, 3));
    assert_eq!(seen.run.finish.as_ref().unwrap().at, seen.begins() + secs(4));
}

/// Returns the iterations of the measured time: succeeded, failed and unfinished.
fn ended_iterations(seen: &Seen) -> [u64; 3] {
    let tally = &seen.run.total.iterations;
    [tally.succeeded, tally.failed, tally.unfinished]
}

/// Number of complete replies to the last request of the shop.
fn byes(seen: &Seen) -> u64 {
    seen.run.labels.get(&2).map_or(0, |tally| tally.completed)
}

#[test]
fn iterations_are_counted_until_the_last_reply() {
    // 50 arrivals; the last one ends in the grace period.
    let seen = shop(ms(40)).run(&open(10.0, Arrivals::Even, secs(5)));
    assert_eq!(seen.run.total.iterations.arrivals, 50);
    assert_eq!((ended_iterations(&seen), byes(&seen)), ([50, 0, 0], 50));
    // The second request of the 50th is answered after the end, and its third is never begun.
    let seen = shop(ms(80)).run(&open(10.0, Arrivals::Even, secs(5)));
    assert_eq!(seen.run.total.iterations.arrivals, 50);
    let [done, failed, unfinished] = ended_iterations(&seen);
    assert_eq!((done, failed, done + unfinished), (byes(&seen), 0, 50));
    assert!(unfinished > 0, "{seen:?}", seen = seen.run.total.iterations);
    // Three replies of a second each: the ninth arrives at the end, the tenth after it.
    let seen = shop(secs(1)).run(&closed(2.0, ms(8500)));
    assert_eq!((ended_iterations(&seen), byes(&seen)), ([6, 0, 0], 6));
    let seen = shop(secs(1)).run(&closed(2.0, ms(9500)));
    assert_eq!((ended_iterations(&seen), byes(&seen)), ([6, 0, 2], 6));
}

#[test]
fn a_failed_request_fails_its_iteration() {
    let mut world = shop(ms(10));
    world.server = Arc::new(|| {
        let mut n = 0;
        Box::new(move |now| {
            n += 1;
            let fails = n % 5 == 2;
            if fails {
                SimulatedReaction::Fails(Failure::Reset, now + ms(10))
            } else {
                SimulatedReaction::Reply(200, now + ms(10))
            }
        })
    });
    let seen = world.run(&open(1.0, Arrivals::Even, secs(10)));
    let [succeeded, failed, unfinished] = ended_iterations(&seen);
    assert_eq!((succeeded, unfinished), (byes(&seen), 0));
    assert_eq!((succeeded, failed), (5, 5));
}

#[test]
fn planned_iterations_follow_from_the_plan() {
    let mut plan = closed(3.0, secs(60));
    assert_eq!(shop(ms(10)).run(&plan).run.iterations(), None, "one request each");
    let requests = plan.main().scenario.requests.as_slice().to_vec();
    let steps = (0..3).map(|_| ScenarioStep::Request(0)).collect();
    plan.main_mut().scenario = Scenario::of(requests, steps);
    let planned = |plan: &Plan| shop(ms(100)).run(plan).run.iterations().unwrap();
    let found = planned(&plan);
    assert_eq!((found.planned, found.done, found.unfinished), (None, 600, 0));
    plan.main_mut().stop.iterations_per_user = Some(20);
    let found = planned(&plan);
    assert_eq!((found.planned, found.done), (Some(60), 60));
    // Those of the warm-up are no part of the measured time.
    plan.main_mut().stop.warmup = secs(3);
    let found = planned(&plan);
    assert_eq!((found.planned, found.done), (Some(30), 30));
    // The end of the run comes first.
    plan.main_mut().stop = Stop::after(secs(3), secs(1));
    plan.main_mut().stop.requests = Some(1000);
    let found = planned(&plan);
    assert_eq!((found.planned, found.done, found.unfinished), (Some(1000), 30, 0));
}

#[test]
fn cut_iterations_are_unfinished() {
    let mut plan = open(1.0, Arrivals::Even, secs(3));
    plan.main_mut().stop.grace = secs(1);
    let mut world = shop(secs(1));
    world.server = Arc::new(|| Box::new(|_| SimulatedReaction::Never));
    let seen = world.run(&plan);
    assert_eq!(ended_iterations(&seen), [0, 0, 3]);
}

/// Redirects from one to the next, 10 ms each, and then a reply.
fn redirecting(to: &'static [&'static str]) -> Fake {
    Fake::new(move || {
        let mut n = 0;
        move |now: Tick| {
            n += 1;
            match to.get((n - 1) % (to.len() + 1)) {
                Some(to) => SimulatedReaction::Redirect(to, now + ms(10)),
                None => SimulatedReaction::Reply(200, now + ms(10)),
            }
        }
    })
}

#[test]
fn redirects_are_followed_and_belong_to_their_arrival() {
    let mut world = redirecting(&["/a/b", "http://other/c/d", "e"]);
    world.redirects = 5;
    let mut plan = open(10.0, Arrivals::Even, secs(2));
    plan.reply_policies[0].redirects.most = 5;
    let seen = world.run(&plan);
    let t = &seen.run.total;
    assert_eq!((t.planned, t.begun, t.completed, t.good, t.redirects), (20, 20, 20, 20, 60));
    assert!(
        seen.samples.iter().all(|s| s.response_nanos() == 40 * MS && s.service_nanos() == 40 * MS)
    );
    // The label of the step has the chain; a relative location is relative to the hop before it.
    let steps: Vec<_> = seen.run.steps().collect();
    let [(step, chain)] = steps[..] else { panic!("{steps:?}") };
    assert_eq!((chain.good, chain.response.min(), chain.response.max()), (20, 40 * MS, 40 * MS));
    let counts =
        |tally: &Tally| (tally.begun, tally.completed, tally.bytes_sent, tally.bytes_received);
    assert_eq!(counts(chain), counts(t));
    let names: Vec<_> =
        seen.run.hops_of(step).map(|(hop, _)| seen.run.label_names[&hop].as_str()).collect();
    assert_eq!(names, ["http://fake/", "http://fake/a/b", "http://other/c/d", "http://other/c/e"]);
    for (hop, tally) in seen.run.hops_of(step) {
        assert_eq!(
            (tally.begun, tally.response.min(), tally.response.max()),
            (20, 10 * MS, 10 * MS)
        );
        let status = if seen.run.label_names[&hop].ends_with("/e") { 200 } else { 302 };
        assert_eq!((tally.good, tally.statuses.sorted()), (20, vec![(status, 20)]));
    }
    // The bytes of all hops were moved.
    assert_eq!((t.bytes_sent, t.bytes_received), (20 * 4 * 100, 20 * 4 * 1000));
    assert_eq!(t.statuses.sorted(), [(200, 20)]);
}

#[test]
fn checks_apply_to_the_last_reply_of_a_redirect_chain() {
    let mut plan = open(10.0, Arrivals::Even, secs(2));
    plan.reply_policies[0].redirects.most = 5;
    for (status, errors) in [(200, 0), (302, 20)] {
        plan.reply_policies[0].checks.status = vec![StatusRange { least: status, most: status }];
        let seen = Fake { redirects: 5, ..redirecting(&["/a", "/b"]) }.run(&plan);
        let step = seen.run.steps().next().expect("a step").0;
        assert_eq!((seen.run.total.errors(), seen.run.labels[&step].errors()), (errors, errors));
        // Redirects that were followed are no errors; the last hop has the outcome of the chain.
        let of_hops: Vec<_> = seen.run.hops_of(step).map(|(_, tally)| tally.errors()).collect();
        assert_eq!(of_hops, [0, 0, errors]);
        let failures: Vec<_> =
            seen.run.check_failures.iter().map(|f| (f.label, f.found.as_str(), f.count)).collect();
        assert_eq!(failures, if errors == 0 { Vec::new() } else { vec![(step, "200", errors)] });
    }
}

#[test]
fn a_redirect_too_many_is_a_reply() {
    let mut plan = open(10.0, Arrivals::Even, secs(2));
    plan.reply_policies[0].redirects.most = 2;
    let seen = Fake { redirects: 2, ..redirecting(&["/a", "/b", "/c"]) }.run(&plan);
    // Of four answers in a row, an arrival takes three and the next one the last.
    assert_eq!((seen.run.total.completed, seen.run.total.good), (20, 20));
    assert!(seen.run.total.statuses.sorted().contains(&(302, 10)), "{:?}", seen.run.total.statuses);
    plan.reply_policies[0].redirects.most = 0;
    let seen = redirecting(&["/a"]).run(&plan);
    assert_eq!(
        (seen.run.total.redirects, seen.run.total.statuses.sorted()),
        (0, vec![(200, 10), (302, 10)])
    );
}

#[test]
fn a_broken_user_is_a_failed_request_and_does_not_spin() {
    let broken = |turn: UserTurn<'_>| {
        if turn.number.is_multiple_of(2) { Next::Ask("http://fake/") } else { Next::Broken }
    };
    let once = move |turn: UserTurn<'_>| if turn.step > 0 { Next::Done } else { broken(turn) };
    let seen = Fake::delay(ms(10)).user(once).run(&open(10.0, Arrivals::Even, secs(5)));
    assert_eq!((seen.run.total.completed, seen.run.total.failed_by(Failure::System)), (25, 25));
    assert!(seen.run.warnings.contains(&"this user is broken".into()));
    // A closed loop has no schedule that would slow it down: it pauses, as before a server that cannot be reached.
    let seen = Fake::delay(ms(10)).user(|_| Next::Broken).run(&closed(1.0, secs(5)));
    let t = &seen.run.total;
    assert_eq!((t.begun, t.failed_by(Failure::System)), (11, 11));
    assert_eq!((t.lag.max(), t.queue_wait.max()), (0, 0));
    let seen = Fake::delay(ms(10)).user(once).run(&closed(1.0, secs(5)));
    assert!(seen.run.total.completed > 200);
}

#[test]
fn a_user_without_requests_is_a_failure() {
    let seen = Fake::delay(ms(10)).user(|_| Next::Done).run(&closed(1.0, secs(5)));
    assert_eq!(seen.run.total.begun, seen.run.total.failed_by(Failure::System));
    let seen = Fake::delay(ms(10)).user(|_| Next::Done).run(&open(10.0, Arrivals::Even, secs(5)));
    assert_eq!(seen.run.total.failed_by(Failure::System), 50);
}

#[test]
fn labels_beyond_the_limit_share_one_label() {
    let names: [&'static str; 5] =
        ["http://fake/0", "http://fake/1", "http://fake/2", "http://fake/3", "http://fake/4"];
    let user = move |turn: UserTurn<'_>| {
        if turn.step == 0 { Next::Ask(names[turn.number as usize % 5]) } else { Next::Done }
    };
    let mut plan = open(10.0, Arrivals::Even, secs(10));
    plan.record.labels = 3;
    let seen = Fake { labels: named(&names), ..Fake::delay(ms(10)).user(user) }.run(&plan);
    let by_name: Vec<_> = seen
        .run
        .labels
        .iter()
        .map(|(n, t)| (seen.run.label_names[n].as_str(), t.completed))
        .collect();
    assert_eq!(
        by_name,
        [("http://fake/0", 20), ("http://fake/1", 20), ("http://fake/2", 20), ("(other)", 40)]
    );
    assert_eq!(
        seen.run.warnings,
        ["more than 3 labels: the rest are summed under (other); see --labels"]
    );
    plan.record.labels = 6;
    let seen = Fake { labels: named(&names), ..Fake::delay(ms(10)).user(user) }.run(&plan);
    assert_eq!(seen.run.labels.len(), 5);
    assert!(seen.run.warnings.is_empty());
}

/// Two bursts of two, with a pause between them.
fn two_bursts(turn: UserTurn<'_>) -> Next {
    match (turn.step, turn.failed) {
        (_, true) => Next::Done,
        (0, _) => Next::Together(2),
        (2, _) if THOUGHT.with(|thought| thought.replace(!thought.get())) => Next::Together(2),
        (2, _) => Next::Think(ms(30)),
        _ => Next::Done,
    }
}

thread_local! {
    /// True if the user that continues has thought. The fake clock has one user at a time here.
    static THOUGHT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[test]
fn requests_go_together_and_users_think_between_them() {
    let world = Fake::delay(ms(10)).user(two_bursts);
    let mut plan = open(5.0, Arrivals::Even, secs(2));
    plan.connection.keep = ConnectionLifetime::Iteration;
    let seen = world.run(&plan);
    let t = &seen.run.total;
    assert_eq!((t.planned, t.begun, t.completed), (40, 40, 40));
    for (n, s) in seen.samples.chunks(4).enumerate() {
        let due: Vec<u64> =
            s.iter().map(|s| s.planned.nanos_since(seen.begins()) / MS - 200 * n as u64).collect();
        // The second burst is due when the replies of the first, 10 ms each, were there and 30 ms had passed.
        assert_eq!(due, [0, 0, 50, 50]);
        assert!(s.iter().all(|s| s.iteration == n as u64));
        // The connection of the first was opened before the load began.
        assert_eq!(s.iter().filter(|s| s.opened).count(), usize::from(n > 0));
    }
}

#[test]
fn pipelined_requests_fail_together() {
    let mut world = Fake::delay(ms(10)).user(two_bursts);
    world.server =
        Arc::new(|| Box::new(|now| SimulatedReaction::Fails(Failure::Reset, now + ms(10))));
    let seen = world.run(&open(5.0, Arrivals::Even, secs(1)));
    let t = &seen.run.total;
    assert_eq!((t.planned, t.begun, t.failed_by(Failure::Reset)), (10, 10, 10));
}

#[test]
fn a_user_that_leaves_sends_no_more_requests() {
    let leaves = |turn: UserTurn<'_>| match (turn.step, turn.number) {
        (0, _) => Next::Ask("http://fake/"),
        (_, 4) => Next::Leave,
        _ => Next::Done,
    };
    let seen = Fake::delay(ms(10)).user(leaves).run(&closed(1.0, secs(5)));
    assert_eq!((seen.run.total.planned, seen.run.total.completed), (5, 5));
    // One of two users continues. In an open loop, each arrival is a user.
    let seen = Fake::delay(ms(10)).user(leaves).run(&closed(2.0, secs(1)));
    assert_eq!(seen.run.total.completed, 5 + 98);
    let seen = Fake::delay(ms(10)).user(leaves).run(&open(10.0, Arrivals::Even, secs(5)));
    assert_eq!(seen.run.total.completed, 50);
    // One that leaves before it asked anything has dropped its arrival.
    let seen = Fake::delay(ms(10)).user(|_| Next::Leave).run(&open(10.0, Arrivals::Even, secs(5)));
    assert_eq!((seen.run.total.planned, seen.run.total.failed_by(Failure::Dropped)), (50, 50));
}

#[test]
fn a_user_may_end_the_run() {
    let ends = |turn: UserTurn<'_>| match (turn.step, turn.number) {
        (0, _) => Next::Ask("http://fake/"),
        (_, 9) => Next::EndRun,
        _ => Next::Done,
    };
    let seen = Fake::delay(ms(10)).user(ends).run(&open(20.0, Arrivals::Even, secs(60)));
    // The command is applied at the end of an interval.
    assert!((10..=13).contains(&seen.run.total.completed), "{}", seen.run.total.completed);
    assert!(seen.run.finish.as_ref().unwrap().at < seen.begins() + secs(1));
}
