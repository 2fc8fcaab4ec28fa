//! Connections: opened, stale, closed and failed ones.

use super::*;

fn requests(users: f64, n: u64) -> Plan {
    let mut plan = closed(users, secs(1));
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(n));
    plan
}

#[test]
fn connections_are_closed_after_the_maximum_number_of_requests() {
    for (each, opened) in [(None, 1), (Some(1), 10), (Some(3), 4), (Some(10), 1)] {
        let mut plan = requests(1.0, 10);
        plan.connection.requests_per_connection = each;
        let seen = Fake::delay(ms(5)).run(&plan);
        assert_eq!(
            (seen.run.flow_all.opened, seen.run.flow_all.reused),
            (opened, 10 - opened),
            "{each:?}"
        );
        assert_eq!(seen.run.peak.connections, 1);
    }
}

/// Each iteration asks two origins in turn.
fn two_origins() -> Fake {
    let labels = vec!["http://here/".to_owned(), "http://there/".to_owned()];
    let user = |turn: UserTurn<'_>| {
        [Next::Ask("http://here/"), Next::Ask("http://there/")].into_iter().nth(turn.step as usize)
    };
    let fake = Fake::delay(ms(5)).user(move |turn| user(turn).unwrap_or(Next::Done));
    Fake { labels, ..fake }
}

#[test]
fn a_user_keeps_a_connection_to_each_origin() {
    let seen = two_origins().run(&requests(3.0, 300));
    assert_eq!((seen.run.flow_all.opened, seen.run.peak.connections), (6, 6));
    assert_eq!(seen.run.flow_all.reused, 600 - 6);
    let seen = two_origins().run(&open(100.0, Arrivals::Burst(10), secs(3)));
    assert_eq!(seen.run.flow_all.opened, 20);
}

#[test]
fn a_connection_opened_before_the_load_is_not_reused_by_its_first_request() {
    let fake = two_origins();
    let user = |turn: UserTurn<'_>| {
        [Next::Ask("http://there/"), Next::Ask("http://here/")].into_iter().nth(turn.step as usize)
    };
    let seen = fake.user(move |turn| user(turn).unwrap_or(Next::Done)).run(&requests(3.0, 300));
    assert_eq!((seen.run.flow_all.opened, seen.run.flow_all.reused), (6, 600 - 6));
}

#[test]
fn each_connection_is_used_for_the_maximum_number_of_requests() {
    let mut plan = requests(1.0, 30);
    plan.connection.requests_per_connection = Some(3);
    let seen = two_origins().run(&plan);
    assert_eq!((seen.run.flow_all.opened, seen.run.peak.connections), (20, 2));
}

#[test]
fn connections_are_closed_after_iterations_if_enabled() {
    let mut plan = requests(1.0, 10);
    plan.connection.keep = ConnectionLifetime::Iteration;
    let seen = two_origins().run(&plan);
    assert_eq!((seen.run.flow_all.opened, seen.run.peak.connections), (20, 2));
}

/// Every fifth request finds its connection closed.
fn stale() -> Fake {
    Fake::new(|| {
        let mut n = 0;
        move |now: Tick| {
            n += 1;
            if n % 5 == 0 {
                SimulatedReaction::Fails(Failure::Stale, now + ms(1))
            } else {
                SimulatedReaction::Reply(200, now + ms(10))
            }
        }
    })
}

#[test]
fn a_stale_connection_is_a_failure() {
    let seen = stale().run(&requests(1.0, 100));
    let t = &seen.run.total;
    assert_eq!((t.completed, t.failed_by(Failure::Stale), t.retries), (80, 20, 0));
    assert_eq!(seen.run.flow_all.opened, 20);
}

#[test]
fn a_stale_connection_is_retried_if_enabled() {
    let mut plan = requests(1.0, 100);
    plan.connection.retry_stale = true;
    let seen = stale().run(&plan);
    let t = &seen.run.total;
    // 100 good ones, with a stale one after each four.
    assert_eq!((t.completed, t.good, t.failed(), t.retries), (100, 100, 0, 24));
    assert_eq!(seen.run.flow_all.opened, 25);
    let retried: Vec<_> = seen.samples.iter().filter(|s| s.opened).collect();
    assert_eq!(retried.len(), 24);
    for s in retried {
        // The response time covers both; the service time is the second's.
        assert_eq!((s.response_nanos(), s.service_nanos(), s.reused), (11 * MS, 10 * MS, false));
    }
}

#[test]
fn connections_are_opened_ahead_at_their_rate() {
    let mut plan = closed(11.0, secs(1));
    plan.connection.connect_rate = 100;
    let seen = Fake::delay(ms(10)).run(&plan);
    assert_eq!(seen.begins(), Tick(100 * MS));
    assert_eq!(seen.run.flow_all.opened, 11);
    assert!(seen.samples.iter().all(|s| !s.opened));
    assert_eq!(seen.samples[0].planned, seen.begins());
    assert_eq!(seen.run.phases[..2], [(Phase::Setup, Tick::ZERO), (Phase::Measure, seen.begins())]);
}

#[test]
fn response_times_include_opening() {
    let mut plan = open(10.0, Arrivals::Even, secs(1));
    plan.connection.requests_per_connection = Some(1);
    let seen = Fake::delay(ms(10))
        .door(|| |now: Tick| SimulatedReaction::Reply(0, now + ms(4)))
        .run(&plan);
    assert_eq!(seen.begins(), Tick(4 * MS));
    for (n, s) in seen.samples.iter().enumerate() {
        assert_eq!(s.opened, n > 0);
        assert_eq!(s.response_nanos(), if n > 0 { 14 * MS } else { 10 * MS });
        assert_eq!((s.lag_nanos(), s.queue_wait_nanos(), s.service_nanos()), (0, 0, 10 * MS));
    }
    assert_eq!(seen.run.total.phases.connect.count(), 10);
    assert_eq!(seen.run.total.phases.connection.count(), 9);
}

#[test]
fn connections_may_be_opened_for_their_first_request() {
    for each in [None, Some(1)] {
        let mut plan = requests(2.0, 6);
        plan.connection.requests_per_connection = each;
        plan.connection.dialling = Dialling::Eager;
        let seen = Fake::delay(ms(10))
            .door(|| |now: Tick| SimulatedReaction::Reply(0, now + ms(4)))
            .run(&plan);
        assert_eq!(seen.begins(), Tick::ZERO);
        let opened =
            seen.samples.iter().filter(|s| s.opened && s.opening.connect == Some(4 * MS)).count();
        assert_eq!(opened, if each.is_none() { 2 } else { 6 });
        assert!(
            seen.samples
                .iter()
                .all(|s| s.kept_alive && s.head_bytes > 0 && s.head_bytes < s.bytes_received)
        );
    }
}

#[test]
fn an_unreachable_server_may_be_retried_immediately() {
    let mut plan = requests(3.0, 1000);
    plan.connection.dialling = Dialling::Eager;
    let seen = Fake::delay(ms(10))
        .door(|| |now: Tick| SimulatedReaction::Fails(Failure::Refused, now))
        .run(&plan);
    assert_eq!(seen.run.total.failed_by(Failure::Refused), 1000);
    assert!(seen.samples.iter().all(|s| s.last_byte == seen.begins() && !s.kept_alive));
}

/// Refuses connections from the first to the seventh second.
fn shut_for_a_while() -> impl FnMut(Tick) -> SimulatedReaction {
    move |now| {
        let shut = (SECOND..7 * SECOND).contains(&now.0);
        if shut {
            SimulatedReaction::Fails(Failure::Refused, now)
        } else {
            SimulatedReaction::Reply(0, now)
        }
    }
}

#[test]
fn users_pause_if_the_server_is_unreachable() {
    let mut plan = closed(1.0, secs(10));
    plan.connection.requests_per_connection = Some(1);
    let seen = Fake::delay(ms(10)).door(shut_for_a_while).run(&plan);
    let refused: Vec<_> =
        seen.samples.iter().filter(|s| s.outcome.failure == Some(Failure::Refused)).collect();
    let pauses: Vec<_> =
        refused.windows(2).map(|w| w[1].planned.nanos_since(w[0].last_byte) / MS).collect();
    assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000, 1000]);
    assert!(seen.samples.iter().all(|s| s.lag_nanos() == 0 && s.queue_wait_nanos() == 0));
    assert_eq!(seen.run.total.failed_by(Failure::Refused), 12);
    // The users are back as soon as the server is.
    let after = seen.samples.iter().filter(|s| s.planned > refused[11].planned);
    assert!(after.skip(1).all(|s| s.outcome.is_good() && s.response_nanos() == 10 * MS));
}

#[test]
fn an_open_loop_keeps_its_schedule_if_the_server_is_unreachable() {
    let mut plan = open(10.0, Arrivals::Even, secs(10));
    plan.connection.requests_per_connection = Some(1);
    let seen = Fake::delay(ms(10)).door(shut_for_a_while).run(&plan);
    assert_eq!((seen.run.total.planned, seen.run.total.failed_by(Failure::Refused)), (100, 60));
    assert!(seen.samples.iter().all(|s| s.begun == s.planned));
}

#[test]
fn opening_has_a_separate_timeout() {
    let mut plan = open(10.0, Arrivals::Even, secs(3));
    (plan.connection.requests_per_connection, plan.connection.connect_timeout) = (Some(1), ms(700));
    let door = || {
        |now: Tick| {
            if now.0 < SECOND { SimulatedReaction::Reply(0, now) } else { SimulatedReaction::Never }
        }
    };
    let seen = Fake::delay(ms(10)).door(door).run(&plan);
    assert_eq!(
        (seen.run.total.completed, seen.run.total.failed_by(Failure::ConnectTimeout)),
        (10, 20)
    );
    assert!(seen.samples.iter().all(|s| s.outcome.is_good() || s.last_byte == s.begun + ms(700)));
}

#[test]
fn without_a_connection_no_load_begins() {
    let seen = Fake::delay(ms(10))
        .door(|| |now| SimulatedReaction::Fails(Failure::Refused, now))
        .run(&closed(5.0, secs(10)));
    assert_eq!(seen.run.total.planned, 0);
    assert_eq!(seen.run.finish.unwrap().error.as_deref(), Some(&*Failure::Refused.row().meaning));
}

#[test]
fn idle_connections_closed_by_the_server_are_reopened() {
    let think = ThinkTime { least: ms(100), most: ms(100) };
    for (idle, opened) in [(50, 11), (150, 1)] {
        let mut plan = thinking(LoadShape::constant(1.0), think, secs(1));
        (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(10));
        let seen = Fake::delay(ms(10)).wire(move |wire| wire.with_idle_limit(ms(idle))).run(&plan);
        assert_eq!(seen.run.total.good, 10);
        // After the last reply, the user thinks again.
        assert!(
            (opened - 1..=opened).contains(&seen.run.flow_all.opened),
            "{}",
            seen.run.flow_all.opened
        );
        assert_eq!(seen.run.flow_all.closed_idle > 0, opened > 1);
        let seen = Fake::delay(ms(10))
            .wire(move |wire| wire.with_idle_limit(ms(idle)))
            .run(&capped(5.0, Arrivals::Even, 2, secs(2)));
        assert_eq!(seen.run.total.good, 10);
        assert!(seen.samples.iter().all(|s| s.lag_nanos() == 0 && s.queue_wait_nanos() == 0));
    }
}
