//! Consistency checks hold in every run, whatever its plan and its server: 1000 sound runs, and runs with one sum broken.

use super::*;
use brunt_judge::conservation::checks;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The names of the consistency checks that fail.
fn names(run: &Run) -> Vec<String> {
    broken(run).into_iter().map(|check| check.name.to_string()).collect()
}

/// The rules that arrivals of this run break.
fn not_as_planned(run: &Run) -> Vec<String> {
    displaced(run).into_iter().map(|check| check.name.to_string()).collect()
}

fn even() -> Run {
    Fake::delay(ms(5)).run(&open(200.0, Arrivals::Even, secs(5))).run
}

fn users(think: ThinkTime) -> Run {
    Fake::delay(ms(20)).run(&thinking(LoadShape::constant(3.0), think, secs(5))).run
}

/// A server that answers after an exponential time and fails now and then.
pub(super) fn moody(random: &mut Pcg64Mcg) -> impl FnMut(Tick) -> SimulatedReaction + use<> {
    let mut random = Pcg64Mcg::seed_from_u64(random.random());
    let mean: f64 = random.random_range(1e5..2e8);
    let troubles: f64 = random.random_range(-0.1..0.2);
    move |now: Tick| {
        let done = now + Duration::from_nanos((-mean * (1.0 - random.random::<f64>()).ln()) as u64);
        match random.random::<f64>() {
            x if x >= troubles => SimulatedReaction::Reply(200, done),
            x if x < troubles / 4.0 => SimulatedReaction::Never,
            x if x < troubles / 2.0 => SimulatedReaction::Reply(503, done),
            _ => SimulatedReaction::Fails(Failure::Reset, done),
        }
    }
}

/// Any plan at all.
pub(super) fn any_plan(random: &mut Pcg64Mcg) -> Plan {
    let arrivals =
        [Arrivals::Poisson, Arrivals::Even, Arrivals::Burst(7)][random.random_range(0..3)];
    let think =
        ThinkTime { least: Duration::ZERO, most: ms([0, 0, 40, 900][random.random_range(0..4)]) };
    let time = ms(random.random_range(300..20_000));
    let mut plan = match random.random_range(0..5) {
        0 => thinking(LoadShape::constant(f64::from(random.random_range(1..40_u32))), think, time),
        1 => thinking(shape(&[(1.0, 20.0, 3), (20.0, 2.0, 4)]), think, time),
        2 => shaped(shape(&[(0.0, 300.0, 2), (100.0, 100.0, 2)]), arrivals, time),
        3 => capped(random.random_range(1.0..300.0), arrivals, random.random_range(1..30), time),
        _ => open(random.random_range(0.5..2000.0), arrivals, time),
    };
    plan.main_mut().stop.warmup = ms([0, 0, 1000][random.random_range(0..3)]);
    plan.main_mut().stop.grace = ms([0, 100, 5000][random.random_range(0..3)]);
    plan.main_mut().stop.requests =
        [None, None, Some(random.random_range(1..3000))][random.random_range(0..3)];
    plan.connection.timeout = ms([300, 5000][random.random_range(0..2)]);
    plan.connection.requests_per_connection =
        [None, None, Some(1), Some(3)][random.random_range(0..4)];
    plan.record.samples = false;
    plan.seed = random.random();
    plan
}

#[test]
fn a_thousand_runs_pass_all_checks() {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    for number in 0..1000 {
        let plan = any_plan(&mut random);
        let seeds = std::sync::Mutex::new(random.clone());
        random.random::<u64>();
        let fake = Fake::new(move || moody(&mut seeds.lock().unwrap()));
        let seen = fake.try_run(&plan, |_| ()).unwrap();
        assert_eq!(broken(&seen.run), [], "run {number}: {plan:#?}");
        assert_eq!(displaced(&seen.run), [], "run {number}: {plan:#?}");
    }
}

/// Each reply takes time of the worker, so that it is late at borders of intervals and at the end of the load.
#[test]
fn the_time_of_users_is_complete_if_their_worker_is_late() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    for number in 0..30 {
        let users = random.random_range(50..3000_u32);
        let read_time = Duration::from_micros(random.random_range(10..400));
        let think = ThinkTime { least: Duration::ZERO, most: ms([0, 100][number % 2]) };
        let time = ms(random.random_range(500..3000));
        let mut plan = thinking(LoadShape::constant(f64::from(users)), think, time);
        plan.main_mut().stop.grace = ms([100, 5000][random.random_range(0..2)]);
        plan.record.samples = false;
        let seeds = std::sync::Mutex::new(random.clone());
        random.random::<u64>();
        let fake = Fake::new(move || moody(&mut seeds.lock().unwrap()))
            .wire(move |wire| wire.with_read_time(read_time));
        let seen = fake.try_run(&plan, |_| ()).unwrap();
        assert_eq!(broken(&seen.run), [], "run {number}: {users} users, {read_time:?}: {plan:#?}");
        for snapshot in seen.snapshots() {
            let in_flight = snapshot.flow.in_flight_nanos
                / (snapshot.to - snapshot.from).as_nanos().max(1) as u64;
            assert!(in_flight <= u64::from(users), "run {number}: {in_flight} of {users} users");
        }
    }
}

#[test]
fn a_run_of_a_million_requests_passes_all_checks() {
    let mut plan = open(20_000.0, Arrivals::Poisson, secs(55));
    plan.record.samples = false;
    let seen = Fake::delay(ms(2)).run(&plan);
    assert!(seen.run.total.completed > 1_000_000);
    assert!(checks(&seen.run).len() >= 7, "{:#?}", checks(&seen.run));
}

#[test]
fn a_lost_request_is_detected() {
    let mut run = even();
    run.total.begun += 1;
    assert_eq!(
        names(&run),
        ["planned requests", "begun requests", "counts over time", "histograms"]
    );
}

#[test]
fn a_surplus_status_or_byte_is_detected() {
    let mut run = even();
    run.total.statuses.add(200, 1);
    run.flow_all.announced_came_bytes += 1;
    assert_eq!(names(&run), ["statuses", "bytes of bodies"]);
}

#[test]
fn unaccounted_users_are_detected() {
    let mut run = users(ThinkTime::NONE);
    run.flow_all.in_flight_nanos /= 2;
    assert_eq!(names(&run), ["requests in flight", "Little's law"]);
    let mut run = users(ThinkTime { least: ms(130), most: ms(130) });
    run.flow_all.thought_nanos /= 4;
    assert_eq!(names(&run), ["Little's law"]);
}

#[test]
fn clustered_arrivals_are_detected() {
    let mut run = even();
    run.spread.levels[1].acted.squares += run.spread.levels[1].acted.sum;
    assert_eq!(not_as_planned(&run), ["spacing of arrivals"]);
    let mut run = even();
    run.spread.levels[1].displaced = run.spread.levels[1].spans / 2;
    assert_eq!(not_as_planned(&run), ["spacing of arrivals"]);
    assert_eq!(names(&run), Vec::<String>::new(), "all consistency checks hold");
}

#[test]
fn a_missed_schedule_is_detected() {
    let mut run = even();
    let plan = run.plan.as_mut().unwrap();
    plan.main_mut().load = open(210.0, Arrivals::Even, secs(5)).main().load.clone();
    assert_eq!(not_as_planned(&run), ["arrivals against the schedule"]);
}

#[test]
fn a_torn_record_is_not_checked() {
    let run = Run { finish: None, ..even() };
    assert_eq!(checks(&run), []);
}
