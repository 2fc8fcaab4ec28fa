//! The open loop keeps its schedule.

use super::*;

#[test]
fn an_hour_of_even_arrivals_is_the_schedule_to_the_nanosecond() {
    let mut plan = open(10.0, Arrivals::Even, secs(3600));
    plan.record.interval = secs(1);
    let seen = Fake::delay(ms(20)).run(&plan);
    let t = &seen.run.total;
    assert_eq!((t.planned, t.begun, t.completed, t.good), (36_000, 36_000, 36_000, 36_000));
    for (n, s) in seen.samples.iter().enumerate() {
        assert_eq!(s.planned, seen.begins() + ms(100 * n as u64));
        assert_eq!((s.free, s.begun, s.sent), (s.planned, s.planned, s.planned));
        assert_eq!(s.response_nanos(), 20 * MS);
    }
    assert_eq!((t.lag.max(), t.queue_wait.max()), (0, 0));
    assert_eq!(seen.run.measured_seconds(), 3600.0);
    assert_eq!(seen.run.throughput(), 10.0);
}

#[test]
fn less_than_one_arrival_a_second() {
    let seen = Fake::delay(ms(10)).run(&open(0.1, Arrivals::Even, secs(59)));
    assert_eq!(seen.planned(), [0, 10, 20, 30, 40, 50].map(|s| s * SECOND));
    // The measured time lasts as long as was asked, though the last reply came long before.
    assert_eq!(seen.run.measured_seconds(), 59.0);
}

#[test]
fn a_ramp_has_as_many_arrivals_as_its_area() {
    let rate = shape(&[(0.0, 500.0, 30), (500.0, 500.0, 10), (500.0, 0.0, 10)]);
    let seen = Fake::delay(ms(1)).run(&shaped(rate, Arrivals::Even, secs(50)));
    let planned = seen.planned();
    let before = |s: u64| planned.iter().filter(|p| **p < s * SECOND).count();
    // Λ(15 s) = ½·15·250; then 7500 in the first 30 s, 5000 in the next 10 and 2500 in the last.
    assert_eq!([before(15), before(30), before(40), before(50)], [1875, 7500, 12_500, 15_000]);
    assert_eq!(seen.run.measured_seconds(), 50.0);
}

#[test]
fn a_stage_without_arrivals_is_part_of_the_measured_time() {
    let rate = shape(&[(10.0, 10.0, 2), (0.0, 0.0, 3), (10.0, 10.0, 1), (0.0, 0.0, 4)]);
    let seen = Fake::delay(ms(1)).run(&shaped(rate, Arrivals::Even, secs(10)));
    assert_eq!(seen.run.total.completed, 30);
    assert_eq!(seen.planned()[20], 5 * SECOND);
    assert_eq!(seen.run.measured_seconds(), 10.0);
}

#[test]
fn requests_of_a_burst_begin_at_the_same_time() {
    let seen = Fake::queue(1, ms(10)).run(&open(10.0, Arrivals::Burst(5), secs(10)));
    assert_eq!(seen.samples.len(), 100);
    for (burst, samples) in seen.samples.chunks(5).enumerate() {
        assert!(samples.iter().all(|s| s.begun == seen.begins() + ms(500 * burst as u64)));
        assert_eq!(
            samples.iter().map(Sample::response_nanos).collect::<Vec<_>>(),
            [10, 20, 30, 40, 50].map(|n| n * MS)
        );
    }
}

#[test]
fn poisson_arrivals_are_begun_when_they_are_due() {
    let seen = Fake::delay(ms(3)).run(&open(500.0, Arrivals::Poisson, secs(60)));
    let n = seen.samples.len() as f64;
    assert!((n - 30_000.0).abs() < 4.0 * 30_000f64.sqrt(), "{n}");
    assert!(seen.samples.iter().all(|s| s.begun == s.planned && s.response_nanos() == 3 * MS));
    // The same seed draws the same instants, another one others.
    let again = Fake::delay(ms(9)).run(&open(500.0, Arrivals::Poisson, secs(60)));
    assert_eq!(seen.planned(), again.planned());
    let other =
        Fake::delay(ms(3)).run(&Plan { seed: 8, ..open(500.0, Arrivals::Poisson, secs(60)) });
    assert_ne!(seen.planned(), other.planned());
}

#[test]
fn the_number_of_requests_is_exact() {
    let mut plan = open(50.0, Arrivals::Poisson, secs(1));
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests, plan.main_mut().stop.warmup) =
        (None, Some(1234), secs(3));
    let seen = Fake::delay(ms(30)).run(&plan);
    assert_eq!((seen.run.total.planned, seen.run.total.completed), (1234, 1234));
    assert!(seen.run.warmup.planned > 100);
}

#[test]
fn the_run_ends_at_its_number_of_requests_or_its_duration() {
    let mut plan = open(10.0, Arrivals::Even, secs(5));
    plan.main_mut().stop.requests = Some(20);
    let seen = Fake::delay(ms(30)).run(&plan);
    assert_eq!(seen.run.total.completed, 20);
    assert!(seen.run.measured_seconds() < 2.2);
    plan.main_mut().stop.requests = Some(80);
    let seen = Fake::delay(ms(30)).run(&plan);
    assert_eq!((seen.run.total.completed, seen.run.measured_seconds()), (50, 5.0));
}
