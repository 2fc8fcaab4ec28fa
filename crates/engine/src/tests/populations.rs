//! Several populations at the same time: each by itself, and all of them together.

use super::*;

/// Creates a population of a load with this duration.
pub(super) fn population(name: &str, load: Load, duration: Duration) -> Population {
    let stop = Stop::after(duration, secs(5));
    Population {
        name: name.into(),
        load,
        scenario: Scenario::list(Vec::new(), ListOrder::Sequence),
        stop,
        connection: None,
        group: None,
    }
}

fn arrivals(rate: f64) -> Load {
    let rate = LoadShape::constant(rate);
    Load::Open { rate, arrivals: Arrivals::Even, connections: None, max_in_flight: 1000 }
}

fn users(count: f64) -> Load {
    Load::Closed {
        users: LoadShape::constant(count),
        think: ThinkTime { least: ms(90), most: ms(90) },
    }
}

fn both(checkout: Duration, browsing: Duration) -> Plan {
    let mut plan = open(1.0, Arrivals::Even, secs(1));
    plan.populations = vec![
        population("checkout", arrivals(20.0), checkout),
        population("browsing", users(50.0), browsing),
    ];
    plan
}

/// Checks the invariants of each population; [`Seen::check`] checks all of them together.
fn run(fake: &Fake, plan: &Plan) -> Seen {
    let seen = fake.run(plan);
    assert_eq!(seen.run.populations.len(), plan.populations.len());
    for population in &seen.run.populations {
        assert_eq!(broken(population), []);
        assert_eq!(displaced(population), []);
    }
    let sum = |f: fn(&Run) -> u64| seen.run.populations.iter().map(f).sum::<u64>();
    assert_eq!(sum(|run| run.total.planned), seen.run.total.planned);
    assert_eq!(sum(|run| run.total.completed), seen.run.total.completed);
    assert_eq!(sum(|run| run.flow.completed), seen.run.flow.completed);
    assert_eq!(sum(|run| run.flow_all.bytes_received), seen.run.flow_all.bytes_received);
    assert_eq!(sum(|run| run.total.response.count()), seen.run.total.response.count());
    seen
}

#[test]
fn a_population_with_a_rate_runs_with_one_of_users() {
    let seen = run(&Fake::delay(ms(10)), &both(secs(10), secs(10)));
    let [checkout, browsing] = &seen.run.populations[..] else { panic!("two populations") };
    // 20 a second; 50 users, each of whom asks ten times a second.
    assert_eq!((checkout.total.planned, checkout.total.completed), (200, 200));
    assert_eq!((browsing.total.planned, browsing.total.completed), (5000, 5000));
    assert_eq!((checkout.throughput(), browsing.throughput()), (20.0, 500.0));
    assert_eq!((seen.run.total.completed, seen.run.throughput()), (5200, 520.0));
    for of in [checkout, browsing, &seen.run] {
        assert_eq!((of.total.response.min(), of.total.response.max()), (10 * MS, 10 * MS));
    }
}

#[test]
fn two_threads_run_both_populations() {
    let plan = Plan { threads: 2, ..both(ms(500), ms(500)) };
    let seen = (Fake { epoch: RunEpoch::now(), ..Fake::delay(ms(2)) }).run(&plan);
    let [checkout, browsing] = &seen.run.populations[..] else { panic!("two populations") };
    assert_eq!(checkout.total.planned, 10);
    assert!((50..=300).contains(&browsing.total.completed), "{}", browsing.total.completed);
    assert_eq!(checkout.total.completed + browsing.total.completed, seen.run.total.completed);
    assert!([checkout, browsing].iter().all(|run| broken(run).is_empty()));
}

/// Checkouts take 10 ms, and browsing 30: the percentiles of both are those of the mixture.
#[test]
fn percentiles_are_computed_per_population_and_for_both() {
    let fake = Fake::new(|| {
        let mut n = 0_u64;
        move |now: Tick| {
            n += 1;
            SimulatedReaction::Reply(200, now + if n.is_multiple_of(4) { ms(30) } else { ms(10) })
        }
    });
    let seen = run(&fake, &both(secs(10), secs(10)));
    let mut all = seen.run.populations[0].total.clone();
    all.merge(&seen.run.populations[1].total);
    assert_eq!(all, seen.run.total);
    let quantile = |run: &Run, q: f64| run.total.response.quantile(q);
    assert!(quantile(&seen.run, 0.5) < 11 * MS && quantile(&seen.run, 0.99) > 29 * MS);
}

#[test]
fn a_population_may_end_before_another() {
    let seen = run(&Fake::delay(ms(10)), &both(secs(3), secs(10)));
    let [checkout, browsing] = &seen.run.populations[..] else { panic!("two populations") };
    assert_eq!((checkout.total.completed, browsing.total.completed), (60, 5000));
    assert_eq!((checkout.measured_seconds(), browsing.measured_seconds()), (3.0, 10.0));
    assert_eq!((seen.run.measured_seconds(), seen.run.throughput()), (10.0, 506.0));
    // All is on one time axis, without a gap and without an overlap.
    let points = seen.run.series.points();
    assert!(points.zip(seen.run.series.points().skip(1)).all(|(a, b)| a.to == b.from));
}

#[test]
fn each_population_has_its_own_limits() {
    let mut plan = both(secs(10), secs(10));
    plan.populations[0].stop.requests = Some(7);
    plan.populations[1].stop.iterations_per_user = Some(3);
    let seen = run(&Fake::delay(ms(10)), &plan);
    let completed: Vec<u64> = seen.run.populations.iter().map(|run| run.total.completed).collect();
    assert_eq!(completed, [7, 150]);
}

#[test]
fn several_processes_run_several_populations() {
    let plan = Plan { processes: 2, ..both(secs(5), secs(5)) };
    let seen = Fake::delay(ms(10)).run_parts(&plan);
    let completed: Vec<u64> = seen.run.populations.iter().map(|run| run.total.completed).collect();
    assert_eq!(completed, [100, 2500]);
    assert_eq!(seen.run.total.completed, 2600);
}

#[test]
fn a_slow_server_affects_both_populations() {
    // Four at once, 20 ms each: 200 a second for 500 that are asked.
    let seen = run(&Fake::queue(4, ms(20)), &both(secs(5), secs(5)));
    assert!((seen.run.throughput() - 200.0).abs() < 5.0, "{}", seen.run.throughput());
    assert!(seen.run.populations.iter().all(|run| run.total.response.max() > 100 * MS));
}
