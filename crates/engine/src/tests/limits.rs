//! Open loops with limits: of connections, requests in flight, and time.

use super::*;

#[test]
fn arrivals_wait_for_connections_in_order() {
    for (cap, rate) in [(1, 90.0), (3, 280.0), (8, 400.0)] {
        let seen = Fake::delay(ms(10)).run(&capped(rate, Arrivals::Poisson, cap, secs(60)));
        let planned = seen.planned();
        let expected = recursion(&planned, cap as usize, || 10 * MS);
        for (s, (begun, done)) in seen.samples.iter().zip(expected) {
            let begins = seen.begins();
            assert_eq!(
                (s.free.nanos_since(begins), s.begun.nanos_since(begins)),
                (begun, begun),
                "queue wait, no lag"
            );
            assert_eq!(s.last_byte.nanos_since(begins), done);
            assert_eq!(s.service_nanos(), 10 * MS);
        }
        assert!(seen.run.total.queue_wait.max() > 0);
        assert_eq!(seen.run.total.lag.max(), 0);
        assert_eq!(seen.run.flow_all.opened, u64::from(cap));
    }
}

#[test]
fn arrivals_that_wait_at_the_end_of_the_grace_time_are_dropped() {
    let mut plan = capped(200.0, Arrivals::Even, 1, secs(10));
    plan.main_mut().stop.grace = secs(1);
    let seen = Fake::delay(ms(10)).run(&plan);
    let t = &seen.run.total;
    assert_eq!(t.planned, 2000);
    // One each 10 ms for 11 s; the last request in flight is cut or completed.
    assert_eq!(t.completed + t.failed_by(Failure::Cut), t.begun);
    assert!((1100..=1101).contains(&t.begun), "{}", t.begun);
    assert_eq!(t.failed_by(Failure::Dropped), 2000 - t.begun);
    assert!(seen.samples.windows(2).all(|w| w[0].begun < w[1].begun), "in order");
    let last = seen.snapshots().filter(|s| s.phase == Phase::Measure).last().unwrap();
    assert!((999..=1001).contains(&last.flow.waiting), "{}", last.flow.waiting);
}

#[test]
fn arrivals_beyond_the_maximum_in_flight_are_dropped() {
    let mut plan = open(10.0, Arrivals::Even, secs(10));
    let Load::Open { max_in_flight, .. } = &mut plan.main_mut().load else { unreachable!() };
    *max_in_flight = 5;
    (plan.connection.timeout, plan.main_mut().stop.grace) = (ms(2950), secs(1));
    let seen = Fake::new(|| |_| SimulatedReaction::Never).run(&plan);
    let mut under_way: Vec<u64> = Vec::new();
    for at in (0..100).map(|n| n * 100 * MS) {
        let busy = under_way.iter().filter(|begun| **begun + 2950 * MS > at).count();
        if busy < 5 {
            under_way.push(at);
        }
    }
    assert_eq!(seen.planned(), under_way);
    let t = &seen.run.total;
    assert_eq!((t.planned, t.begun), (100, under_way.len() as u64));
    for s in &seen.samples {
        let ends = s.begun + ms(2950);
        let cut_off = seen.begins() + secs(11);
        let expected =
            if ends <= cut_off { (ends, Failure::Timeout) } else { (cut_off, Failure::Cut) };
        assert_eq!((s.last_byte, s.outcome.failure), (expected.0, Some(expected.1)));
    }
    assert!(t.failed_by(Failure::Cut) > 0);
    assert_eq!((t.response.min(), t.response.count()), (2950 * MS, t.failed_by(Failure::Timeout)));
    assert_eq!(seen.run.finish.as_ref().unwrap().at, seen.begins() + secs(11));
}

#[test]
fn a_timeout_counts_from_begun_and_not_from_planned() {
    let mut plan = capped(10.0, Arrivals::Even, 1, secs(2));
    (plan.connection.timeout, plan.main_mut().stop.grace) = (ms(250), secs(10));
    let seen = Fake::new(|| |_| SimulatedReaction::Never).run(&plan);
    for (n, s) in seen.samples.iter().enumerate() {
        assert_eq!(s.begun, seen.begins() + ms(250 * n as u64));
        assert_eq!(s.last_byte, s.begun + ms(250));
        assert_eq!(s.outcome.failure, Some(Failure::Timeout));
    }
    assert_eq!(seen.run.total.timed_out.count(), 20);
}

#[test]
fn failures_have_separate_times() {
    let server = || {
        let mut n = 0;
        move |now: Tick| {
            n += 1;
            match n % 4 {
                0 => SimulatedReaction::Fails(Failure::Reset, now + ms(7)),
                1 => SimulatedReaction::Reply(503, now + ms(5)),
                _ => SimulatedReaction::Reply(200, now + ms(3)),
            }
        }
    };
    let seen = Fake::new(server).run(&open(100.0, Arrivals::Even, secs(4)));
    let t = &seen.run.total;
    assert_eq!(
        (t.completed, t.good, t.errors(), t.failed_by(Failure::Reset)),
        (300, 200, 200, 100)
    );
    assert_eq!((t.not_good.count(), t.not_good.min()), (100, 5 * MS));
    assert_eq!(t.failure_times[0].0, Failure::Reset);
    assert_eq!((t.failure_times[0].1.count(), t.failure_times[0].1.max()), (100, 7 * MS));
    // The last request of all is a reset: no connection follows it.
    assert_eq!(seen.run.flow_all.opened, 100);
}
