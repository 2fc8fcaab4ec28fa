//! Deadlines while sockets never run dry: each read costs time on the fake clock, and the runtime never parks.

use super::*;

/// Tolerance of a deadline in nanoseconds: one more read of 1 ms on each of the 8 connections, and as much again.
const LATE: u64 = 20 * MS;

/// Endless replies; each read takes 1 ms.
fn endless() -> Fake {
    Fake::new(|| |_| SimulatedReaction::Endless).wire(|wire| wire.with_read_time(ms(1)))
}

fn failures(seen: &Seen, failure: Failure) -> usize {
    seen.samples.iter().filter(|s| s.outcome.failure == Some(failure)).count()
}

#[test]
fn a_timeout_ends_an_endless_reply() {
    let mut plan = closed(8.0, secs(5));
    (plan.connection.timeout, plan.main_mut().stop.grace) = (ms(1700), secs(1));
    let seen = endless().run(&plan);
    // Begun at 0, 1.7 and 3.4 s.
    assert_eq!((seen.samples.len(), failures(&seen, Failure::Timeout)), (24, 24));
    for sample in &seen.samples {
        let taken = sample.last_byte.nanos_since(sample.begun);
        assert!((1700 * MS..1700 * MS + LATE).contains(&taken), "{taken}");
        // The request begins again after the others that timed out meanwhile, and after a read of 1
        // ms on each connection.
        assert!(sample.lag_nanos() < 2 * LATE, "{}", sample.lag_nanos());
    }
}

#[test]
fn duration_and_grace_are_exact_during_endless_replies() {
    let mut plan = closed(8.0, secs(2));
    (plan.connection.timeout, plan.main_mut().stop.grace) = (secs(60), secs(1));
    let seen = endless().run(&plan);
    assert_eq!((seen.samples.len(), failures(&seen, Failure::Cut)), (8, 8));
    let ends = seen.begins() + secs(3);
    assert!(
        seen.samples.iter().all(|s| s.last_byte >= ends && s.last_byte.nanos_since(ends) < LATE)
    );
    assert!(seen.run.finish.as_ref().unwrap().at.nanos_since(ends) < LATE);
}

/// After the cut, another read takes longer than an interval.
#[test]
fn requests_cut_over_several_intervals_are_counted_to_their_end() {
    let mut plan = closed(3.0, secs(1));
    (plan.connection.timeout, plan.main_mut().stop.grace) = (secs(60), ms(100));
    let seen = Fake::new(|| |_| SimulatedReaction::Endless)
        .wire(|wire| wire.with_read_time(ms(250)))
        .run(&plan);
    assert_eq!(failures(&seen, Failure::Cut), 3);
    let last = seen.samples.iter().map(|s| s.last_byte).max().unwrap();
    assert!(last.nanos_since(seen.begins()) > 1300 * MS, "{last:?}");
    assert_eq!(seen.snapshots().last().unwrap().to, last);
}

/// 256 connections that opened 50 µs apart, and take 130 µs each to close.
#[test]
fn timeouts_are_on_time_while_other_connections_close_slowly() {
    let mut plan = closed(256.0, secs(3));
    (plan.connection.timeout, plan.main_mut().stop.grace) = (secs(1), ms(500));
    let opens = || |now: Tick| SimulatedReaction::Reply(200, now);
    let world = Fake::new(|| |_| SimulatedReaction::Never).wire(move |wire| {
        let door = std::rc::Rc::new(std::cell::RefCell::new(opens()));
        wire.with_connect_model(door)
            .with_read_time(Duration::from_micros(50))
            .with_close_time(Duration::from_micros(130))
    });
    let seen = world.run(&plan);
    assert!(failures(&seen, Failure::Timeout) >= 512, "{}", seen.samples.len());
    for sample in seen.samples.iter().filter(|s| s.outcome.failure == Some(Failure::Timeout)) {
        let late = sample.last_byte.nanos_since(sample.begun) - SECOND;
        assert!(late < 2 * MS, "{late} ns late");
    }
}

#[test]
fn a_timeout_before_the_cut_is_a_timeout() {
    let mut plan = closed(3.0, secs(2));
    // The requests, begun 2 ms apart, time out within a read of the cut.
    (plan.connection.timeout, plan.main_mut().stop.grace) =
        (Duration::from_micros(2_995_900), secs(1));
    let seen = endless().run(&plan);
    assert_eq!((seen.samples.len(), failures(&seen, Failure::Timeout)), (3, 3));
}

#[test]
fn a_stop_takes_effect_during_endless_replies() {
    let control = RunControl::default();
    let mut plan = closed(8.0, secs(3600));
    plan.connection.timeout = secs(3600);
    let world = Fake { stop: control.clone(), ..endless() };
    let mut stopped_at = None;
    let seen = world.run_listening(&plan, |event| {
        if let Event::Snapshot(snapshot) = event
            && snapshot.to >= Tick(SECOND)
        {
            control.stop();
            stopped_at.get_or_insert(snapshot.to);
        }
    });
    assert!(stopped_at.is_some() && seen.run.is_interrupted());
    // The fake clock does not wait for the thread that listens; grace after a stop is 1 s.
    let ends = seen.run.phase_start(Phase::Grace).unwrap();
    assert_eq!(failures(&seen, Failure::Cut), 8);
    assert!(seen.samples.iter().all(|s| s.last_byte.nanos_since(ends) < SECOND + LATE));
}

#[test]
fn arrivals_and_snapshots_are_on_time_during_an_endless_reply() {
    let mut plan = open(100.0, Arrivals::Even, secs(5));
    (plan.connection.timeout, plan.main_mut().stop.grace) = (secs(60), secs(1));
    let server = || {
        let mut asked = 0;
        move |now: Tick| {
            asked += 1;
            if asked == 1 {
                SimulatedReaction::Endless
            } else {
                SimulatedReaction::Reply(200, now + ms(2))
            }
        }
    };
    let seen = Fake::new(server).wire(|wire| wire.with_read_time(ms(1))).run(&plan);
    assert_eq!((seen.run.total.planned, failures(&seen, Failure::Cut)), (500, 1));
    let late: Vec<_> = seen.samples.iter().filter(|s| s.lag_nanos() >= LATE).collect();
    assert!(late.is_empty(), "arrivals were late: {late:?}");
    for snapshot in seen.snapshots().filter(|s| s.phase == Phase::Measure) {
        let planned = snapshot.to.nanos_since(snapshot.from) / (10 * MS);
        assert!(planned.abs_diff(snapshot.flow.planned) <= 2, "{:?}", snapshot.flow);
    }
}

#[test]
fn immediate_replies_do_not_delay_other_connections() {
    for users in [1.0, 3.0] {
        let world = Fake::new(|| |now| SimulatedReaction::Reply(200, now))
            .wire(|wire| wire.with_read_time(Duration::from_micros(50)));
        let seen = world.run(&closed(users, secs(1)));
        assert_eq!(seen.run.total.completed, 20_000 + u64::from(users > 1.0) * 2);
        for snapshot in seen.snapshots().filter(|s| s.phase == Phase::Measure) {
            // 128 requests in one poll, of each user.
            assert!(snapshot.flow.completed.abs_diff(2000) <= 400, "{:?}", snapshot.flow);
        }
    }
}
