//! Parallel steps: requests in flight, their samples, and the user's view of their replies.

use super::*;
use std::sync::Mutex;

/// What users knew: how many failed, and which requests had a whole reply.
type Known = Arc<Mutex<Vec<(u32, Vec<bool>)>>>;

/// Each iteration is one parallel step.
fn page(fake: Fake, count: usize, most: usize) -> (Fake, Known) {
    let known = Known::default();
    let told = Arc::clone(&known);
    let fake = fake.user(move |turn| {
        if turn.step == 0 {
            return Next::Parallel(count, most);
        }
        assert_eq!(turn.step as usize, count);
        assert_eq!(turn.last.is_some(), turn.replies.last().unwrap().is_some());
        let whole = turn.replies.iter().map(Option::is_some).collect();
        told.lock().unwrap().push((turn.failures, whole));
        Next::Done
    });
    (fake, known)
}

/// Nanoseconds since the first was due, of each sample: when it was free, and when it ended.
fn times(samples: &[Sample]) -> Vec<(u64, u64)> {
    let planned = samples[0].planned;
    let mut times: Vec<_> = samples
        .iter()
        .map(|s| (s.free.nanos_since(planned) / MS, s.last_byte.nanos_since(planned) / MS))
        .collect();
    times.sort_unstable();
    times
}

#[test]
fn the_permitted_number_of_requests_is_in_flight() {
    for (most, ends) in
        [(1, [10, 20, 30, 40, 50, 60]), (2, [10, 10, 20, 20, 30, 30]), (6, [10; 6]), (50, [10; 6])]
    {
        let (fake, known) = page(Fake::delay(ms(10)), 6, most);
        let seen = fake.run(&open(5.0, Arrivals::Even, secs(2)));
        assert_eq!((seen.run.total.planned, seen.run.total.good), (60, 60));
        for samples in seen.samples.chunks(6) {
            let expected: Vec<_> = ends.iter().map(|end| (end - 10, *end)).collect();
            assert_eq!(times(samples), expected, "at most {most}");
            assert!(samples.iter().all(|s| s.planned == samples[0].planned && s.iteration == samples[0].iteration));
            assert!(samples.iter().all(|s| s.lag_nanos() == 0 && s.service_nanos() == 10 * MS));
        }
        assert_eq!(*known.lock().unwrap(), vec![(0, vec![true; 6]); 10]);
        // The connections are kept for the next step.
        assert_eq!(seen.run.flow_all.opened, most.min(6) as u64);
        assert_eq!(seen.run.peak.connections, most.min(6) as u64);
    }
}

#[test]
fn a_closed_loop_conserves_its_users_over_parallel_steps() {
    for users in [1.0, 7.0] {
        let (fake, _) = page(Fake::delay(ms(10)), 6, 2);
        let seen = fake.run(&thinking(
            LoadShape::constant(users),
            ThinkTime { least: ms(20), most: ms(20) },
            secs(3),
        ));
        assert_eq!(seen.run.total.good, users as u64 * 6 * 60);
        assert_eq!(
            (seen.run.flow_all.opened, seen.run.peak.connections),
            (users as u64 * 2, users as u64 * 2)
        );
    }
}

#[test]
fn each_request_fails_separately() {
    let server = || {
        let mut result = 0;
        move |now: Tick| {
            result += 1;
            if result == 3 {
                SimulatedReaction::Fails(Failure::Reset, now + ms(5))
            } else {
                SimulatedReaction::Reply(200, now + ms(10))
            }
        }
    };
    let (fake, known) = page(Fake::new(server), 6, 2);
    let mut plan = closed(1.0, secs(1));
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(1));
    let seen = fake.run(&plan);
    assert_eq!((seen.run.total.good, seen.run.total.failed_by(Failure::Reset)), (5, 1));
    let expected = vec![true, true, false, true, true, true];
    assert_eq!(*known.lock().unwrap(), [(1, expected)]);
    // The lane that lost its connection replaces it: two connections before the load, and a new
    // one.
    assert_eq!((seen.run.flow_all.opened, seen.run.flow_all.reused), (3, 3));
    // 10 ms; the failure takes 5 ms on one lane, which continues with the next request at 15 ms.
    assert_eq!(times(&seen.samples), [(0, 10), (0, 10), (10, 15), (10, 20), (15, 25), (20, 30)]);
}

#[test]
fn each_request_has_its_deadline() {
    let server = || {
        let mut result = 0;
        move |now: Tick| {
            result += 1;
            if result % 3 == 0 {
                SimulatedReaction::Never
            } else {
                SimulatedReaction::Reply(200, now + ms(10))
            }
        }
    };
    let (fake, known) = page(Fake::new(server), 6, 6);
    let mut plan = open(1.0, Arrivals::Even, secs(3));
    plan.connection.timeout = ms(100);
    let seen = fake.run(&plan);
    assert_eq!((seen.run.total.good, seen.run.total.failed_by(Failure::Timeout)), (12, 6));
    assert!(known.lock().unwrap().iter().all(|(failures, _)| *failures == 2));
    for s in seen.samples.iter().filter(|s| s.outcome.failure == Some(Failure::Timeout)) {
        assert_eq!(s.last_byte, s.begun + ms(100));
    }
}

#[test]
fn cutting_a_parallel_step_aborts_its_requests_and_drops_the_rest() {
    for load in [closed(1.0, secs(1)), capped(1.0, Arrivals::Even, 1, secs(1))] {
        let (fake, _) = page(Fake::delay(ms(400)), 10, 2);
        let mut plan = load;
        plan.main_mut().stop.grace = ms(100);
        let seen = fake.run(&plan);
        let t = &seen.run.total;
        assert_eq!((t.planned, t.begun, t.completed), (10, 6, 4));
        assert_eq!((t.failed_by(Failure::Cut), t.failed_by(Failure::Dropped)), (2, 4));
    }
}

#[test]
fn a_step_with_several_kinds_of_requests_reuses_its_connection() {
    let user = |turn: UserTurn<'_>| match turn.step {
        0 | 5 => Next::Ask("http://fake/"),
        1 => Next::Parallel(4, 2),
        _ => Next::Done,
    };
    let seen = Fake::delay(ms(10)).user(user).run(&closed(1.0, secs(1)));
    // 10 + 20 + 10 ms each.
    assert_eq!((seen.run.total.good, seen.run.flow_all.opened), (25 * 6, 2));
}

#[test]
fn a_step_without_requests_is_broken() {
    let seen = Fake::delay(ms(10)).user(|_| Next::Parallel(0, 2)).run(&open(
        10.0,
        Arrivals::Even,
        secs(1),
    ));
    assert_eq!(seen.run.total.failed_by(Failure::System), 10);
}

#[test]
fn connections_that_cannot_be_opened_are_failures_of_their_requests() {
    let door = || {
        |now: Tick| {
            if now.0 < SECOND {
                SimulatedReaction::Reply(0, now)
            } else {
                SimulatedReaction::Fails(Failure::Refused, now)
            }
        }
    };
    let (fake, known) = page(Fake::delay(ms(10)).door(door), 4, 4);
    let mut plan = open(1.0, Arrivals::Even, secs(3));
    plan.connection.requests_per_connection = Some(1);
    let seen = fake.run(&plan);
    assert_eq!((seen.run.total.good, seen.run.total.failed_by(Failure::Refused)), (4, 8));
    assert_eq!(known.lock().unwrap().iter().map(|k| k.0).collect::<Vec<_>>(), [0, 4, 4]);
}
