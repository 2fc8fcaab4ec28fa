//! The closed loop: users that ask, wait for the reply, and think.

use super::*;
use std::collections::HashSet;
use std::sync::Mutex;

#[test]
fn a_user_sends_a_request_after_its_think_time() {
    let think = ThinkTime { least: ms(90), most: ms(90) };
    let seen = Fake::delay(ms(10)).run(&thinking(LoadShape::constant(3.0), think, secs(10)));
    assert_eq!(seen.samples.len(), 300);
    for (round, samples) in seen.samples.chunks(3).enumerate() {
        assert!(
            samples.iter().all(
                |s| s.begun == s.planned && s.planned == seen.begins() + ms(100 * round as u64)
            )
        );
    }
    assert_eq!((seen.run.measured_seconds(), seen.run.throughput()), (10.0, 30.0));
}

#[test]
fn random_think_times_are_within_their_range() {
    let think = ThinkTime { least: ms(50), most: ms(150) };
    let seen = Fake::delay(ms(10)).run(&thinking(LoadShape::constant(1.0), think, secs(1000)));
    let pauses: Vec<_> =
        seen.samples.windows(2).map(|w| w[1].planned.nanos_since(w[0].last_byte)).collect();
    assert!(pauses.iter().all(|p| (50 * MS..=150 * MS).contains(p)));
    assert!(pauses.iter().any(|p| *p < 51 * MS) && pauses.iter().any(|p| *p > 149 * MS));
    let mean = pauses.iter().sum::<u64>() as f64 / pauses.len() as f64;
    // 9000 draws with a standard deviation of 29 ms.
    assert!(near(mean, 100e6, 0.013), "{mean}");
    assert!(seen.samples.iter().all(|s| s.lag_nanos() == 0));
}

#[test]
fn a_user_sends_no_request_after_the_end() {
    let think = ThinkTime { least: secs(7), most: secs(7) };
    let seen = Fake::delay(ms(10)).run(&thinking(LoadShape::constant(2.0), think, secs(10)));
    assert_eq!(seen.samples.len(), 4);
    // The measured time lasts as long as was asked, and users that think are there.
    assert_eq!(seen.run.measured_seconds(), 10.0);
    let standing: Vec<_> =
        seen.snapshots().filter(|s| s.to < Tick(10 * SECOND)).map(|s| s.flow.users).collect();
    assert!(standing[1..].iter().all(|u| *u == 2), "{standing:?}");
}

#[test]
fn each_user_executes_the_requested_iterations() {
    let think = ThinkTime { least: ms(10), most: ms(90) };
    let mut plan = thinking(LoadShape::constant(3.0), think, secs(10));
    plan.main_mut().stop =
        Stop { duration: None, iterations_per_user: Some(4), ..plan.main().stop };
    let seen = Fake::delay(ms(10)).run(&plan);
    let of = |user: u32| seen.samples.iter().filter(|s| s.user == user).count();
    assert_eq!([of(0), of(1), of(2), of(3)], [4, 4, 4, 0]);
    // The last reply ends the run: no user thinks after it.
    assert_eq!(
        seen.samples.iter().map(|s| s.last_byte).max(),
        Some(seen.begins() + Duration::from_secs_f64(seen.run.measured_seconds()))
    );
}

#[test]
fn users_follow_their_shape() {
    let users = shape(&[(0.0, 10.0, 10), (10.0, 10.0, 5), (10.0, 0.0, 10), (0.0, 0.0, 5)]);
    let seen = Fake::delay(ms(10)).run(&thinking(users.clone(), ThinkTime::NONE, secs(30)));
    assert_eq!(seen.run.measured_seconds(), 30.0);
    for s in seen.snapshots().filter(|s| s.phase == Phase::Measure) {
        // One may join, or end its last request, at the very border.
        let wanted = users.at(s.to - seen.begins()).floor();
        assert!(
            (s.flow.in_flight as f64 - wanted).abs() <= 1.0,
            "{:?}: {} {wanted}",
            s.to,
            s.flow.in_flight
        );
        assert!(
            (s.flow.users as f64 - wanted).abs() <= 1.0,
            "{:?}: {} {wanted}",
            s.to,
            s.flow.users
        );
    }
    // User k is active from second k to second 25 − k, and sends a request each 10 ms.
    assert!(
        near(seen.run.total.completed as f64, 100.0 * 140.0, 0.002),
        "{}",
        seen.run.total.completed
    );
    assert_eq!(seen.run.total.lag.max(), 0);
}

#[test]
fn users_that_left_return() {
    let users = shape(&[(1.0, 1.0, 1), (3.0, 3.0, 1), (1.0, 1.0, 1), (2.0, 2.0, 1)]);
    let seen = Fake::delay(ms(10)).run(&thinking(users, ThinkTime::NONE, secs(4)));
    let begins = seen.begins();
    let in_second = |n: u64| {
        seen.samples.iter().filter(|s| s.planned.nanos_since(begins) / SECOND == n).count()
    };
    assert_eq!([0, 1, 2, 3].map(in_second), [100, 300, 100, 200]);
}

#[test]
fn the_number_of_requests_is_exact() {
    for users in [1.0, 7.0, 40.0] {
        let mut plan = closed(users, secs(1));
        (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(1000));
        let seen = Fake::queue(4, ms(10)).run(&plan);
        assert_eq!((seen.run.total.planned, seen.run.total.completed), (1000, 1000));
    }
}

#[test]
fn the_number_of_requests_excludes_the_warm_up() {
    let numbers = Arc::new(Mutex::new(Vec::new()));
    let mut plan = closed(3.0, secs(1));
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests, plan.main_mut().stop.warmup) =
        (None, Some(500), secs(1));
    let told = Arc::clone(&numbers);
    let world = Fake::delay(ms(10)).user(move |turn| {
        if turn.step > 0 {
            return Next::Done;
        }
        told.lock().unwrap().push(turn.number);
        Next::Ask("http://fake/")
    });
    let seen = world.run(&plan);
    assert_eq!((seen.run.warmup.planned, seen.run.total.planned), (300, 500));
    assert_eq!(seen.run.phase_start(Phase::Measure), Some(seen.begins() + secs(1)));
    // No two iterations of a run have the same number.
    let numbers = numbers.lock().unwrap();
    assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), numbers.len());
}
