//! Response times are those of queueing theory.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The chance to wait in an M/M/c queue with a load of `a` servers (Erlang, "Solution of some problems in the theory
/// of probabilities", 1917).
fn erlang_c(servers: u32, a: f64) -> f64 {
    // Erlang B by its recursion, then C from B.
    let b = (1..=servers).fold(1.0, |b, k| a * b / (f64::from(k) + a * b));
    let rho = a / f64::from(servers);
    b / (1.0 - rho + rho * b)
}

/// The response times that a queue of 4 servers of 10 ms gives these arrivals.
fn theirs(planned: &[u64]) -> Vec<u64> {
    recursion(planned, 4, || 10 * MS).iter().zip(planned).map(|(r, p)| r.1 - p).collect()
}

/// Plan of Poisson arrivals for 4 servers with 10 ms each: a capacity of 400/s.
fn against_four(rate: f64, duration: Duration) -> Plan {
    let mut plan = open(rate, Arrivals::Poisson, duration);
    plan.record.interval = secs(10);
    (plan.connection.timeout, plan.main_mut().stop.grace) = (secs(3600), secs(3600));
    plan
}

#[test]
fn below_capacity_waits_are_those_of_m_d_4() {
    let seen = Fake::queue(4, ms(10)).run(&against_four(390.0, secs(1200)));
    assert_eq!(seen.responses(), theirs(&seen.planned()));
    let wait = seen.run.total.response.mean() / 1e9 - 0.010;
    // Half of the wait of M/M/4, corrected as in Cosmetatos, "Approximate explicit formulae for the average queueing
    // time in the processes M/D/r and D/M/r", INFOR 13 (1975).
    let (c, rho) = (4.0, 390.0 / 400.0);
    let exponential = erlang_c(4, 3.9) / (400.0 - 390.0);
    let theory = exponential / 2.0
        * (1.0 + (1.0 - rho) * (c - 1.0) * ((4.0f64 + 5.0 * c).sqrt() - 2.0) / (16.0 * rho * c));
    assert!(near(wait, theory, 0.2), "{wait} {theory}");
}

#[test]
fn above_capacity_response_times_grow_with_time() {
    let seen = Fake::queue(4, ms(10)).run(&against_four(410.0, secs(1000)));
    assert_eq!(seen.responses(), theirs(&seen.planned()));
    let late = |from: u64| {
        let these = seen
            .samples
            .iter()
            .filter(|s| (from..from + SECOND).contains(&s.planned.nanos_since(seen.begins())));
        let responses: Vec<_> = these.map(|s| s.response_nanos() as f64 / 1e9).collect();
        responses.iter().sum::<f64>() / responses.len() as f64
    };
    // (410 − 400)/400 of a second more with each second; 640 arrivals more or less are one standard deviation.
    assert!(near(late(999 * SECOND), 25.0, 0.2), "{}", late(999 * SECOND));
    assert!(near(late(499 * SECOND), 12.5, 0.3), "{}", late(499 * SECOND));
    assert_eq!(seen.run.total.completed, seen.run.total.planned);
}

#[test]
fn even_arrivals_above_capacity_grow_exactly() {
    let mut plan = against_four(410.0, secs(100));
    let Load::Open { arrivals, .. } = &mut plan.main_mut().load else { unreachable!() };
    *arrivals = Arrivals::Even;
    let seen = Fake::queue(4, ms(10)).run(&plan);
    assert_eq!(seen.responses(), theirs(&seen.planned()));
    assert!(near(*seen.responses().last().unwrap() as f64 / 1e9, 2.5 + 0.010, 0.01));
}

#[test]
fn exponential_service_gives_the_quantiles_of_m_m_8() {
    let exponential = || {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        queue(8, move || (-(1.0 - random.random::<f64>()).ln() * 10e6) as u64)
    };
    let mut plan = open(400.0, Arrivals::Poisson, secs(1000));
    (plan.record.samples, plan.record.interval) = (false, secs(10));
    let seen = Fake::new(exponential).run(&plan);
    // The response time of M/M/c: an exponential service, and with chance C an exponential wait before it.
    let (mu, spare, c) = (100.0, 800.0 - 400.0, erlang_c(8, 4.0));
    let beyond = |t: f64| {
        let waited = mu / (spare - mu) * (1.0 - (-(spare - mu) * t).exp());
        (-mu * t).exp() * (1.0 + c * waited)
    };
    let response = &seen.run.total.response;
    for q in [0.5, 0.9, 0.99] {
        let t = response.quantile(q) as f64 / 1e9;
        // 400,000 samples, each one a little like those before it: four standard errors, doubled.
        let error = 8.0 * (q * (1.0 - q) / response.count() as f64).sqrt();
        assert!((beyond(t) - (1.0 - q)).abs() < error, "{q}: {t} {}", beyond(t));
    }
    assert!(near(response.mean() / 1e9, 1.0 / mu + c / spare, 0.01));
}

#[test]
fn closed_loop_throughput_is_limited_by_users_and_servers() {
    for (users, rate, response) in
        [(1.0, 100.0, 10.0), (4.0, 400.0, 10.0), (10.0, 400.0, 25.0), (40.0, 400.0, 100.0)]
    {
        let seen = Fake::queue(4, ms(10)).run(&closed(users, secs(20)));
        let t = &seen.run.total;
        assert!(
            (t.completed as f64 - rate * 20.0).abs() <= users,
            "{users} users: {}",
            t.completed
        );
        assert!(
            near(seen.run.throughput(), rate, 0.002),
            "{users} users: {}",
            seen.run.throughput()
        );
        let mean = t.response.mean() / 1e6;
        assert!(near(mean, response, 0.01), "{users} users: {mean}");
        // Little, "A proof for the queuing formula L = λW", 1961: users = throughput × response time.
        assert!(near(seen.run.throughput() * mean / 1e3, users, 0.01));
        assert_eq!((t.lag.max(), t.queue_wait.max()), (0, 0));
        let standing =
            seen.snapshots().filter(|s| s.phase == Phase::Measure && s.to < Tick(19 * SECOND));
        assert!(
            standing
                .skip(1)
                .all(|s| s.flow.in_flight as f64 == users && s.flow.users as f64 == users)
        );
    }
}
