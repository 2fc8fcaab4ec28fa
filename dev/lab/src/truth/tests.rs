use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::service::exponential;
use crate::units::{MILLISECOND, SECOND};

const MS: u64 = MILLISECOND;

fn model(workers: usize, stall: Option<Stall>) -> Model {
    Model { workers, stall, origin: 0, freezes: Vec::new(), tails: BTreeMap::new() }
}

#[test]
fn one_server_with_even_arrivals_and_service() {
    let arrivals: Vec<u64> = (0..5).map(|n| n * 10 * MS).collect();
    assert_eq!(sojourns(&model(1, None), &arrivals, &[8 * MS; 5]), vec![8 * MS; 5]);
    let overloaded = sojourns(&model(1, None), &arrivals, &[12 * MS; 5]);
    assert_eq!(overloaded, [12, 14, 16, 18, 20].map(|ms| ms * MS));
}

#[test]
fn two_servers_by_hand() {
    // Servers A and B. 0: A 0-10. 1: B 1-4. 2: waits for B, 4-9. 3: waits for B, 9-11. 20: A at once.
    let sojourn = sojourns(&model(2, None), &[0, 1, 2, 3, 20], &[10, 3, 5, 2, 7]);
    assert_eq!(sojourn, [10, 3, 7, 8, 7]);
}

#[test]
fn three_servers_by_hand() {
    // All three servers are busy until 6, 4 and 9; the fourth request waits until 4, the fifth
    // until 6.
    let sojourn = sojourns(&model(3, None), &[0, 0, 0, 1, 1], &[6, 4, 9, 1, 1]);
    assert_eq!(sojourn, [6, 4, 9, 4, 5]);
}

#[test]
fn without_a_queue_no_request_waits() {
    assert_eq!(sojourns(&model(0, None), &[5, 5, 5], &[1, 2, 3]), [1, 2, 3]);
}

#[test]
fn the_order_of_the_arrays_does_not_matter() {
    let sojourn = sojourns(&model(1, None), &[20, 0, 5], &[3, 10, 10]);
    assert_eq!(sojourn, [3, 10, 15]);
}

/// Mean wait before service in a simulated M/M/c of `share` load, in mean service times.
fn mean_wait(servers: usize, share: f64) -> f64 {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let mut instant = 0.0;
    let mean = 1e6;
    let (mut arrivals, mut services) = (Vec::new(), Vec::new());
    for _ in 0..1_000_000 {
        instant += exponential(&mut random, mean / share / servers as f64);
        arrivals.push(instant as u64);
        services.push(exponential(&mut random, mean) as u64);
    }
    let sojourn: u64 = sojourns(&model(servers, None), &arrivals, &services).iter().sum();
    (sojourn - services.iter().sum::<u64>()) as f64 / 1e6 / mean
}

/// Erlang's C formula (1917): the probability of waiting, divided by c (1 - share) for the mean wait.
fn erlang_wait(servers: usize, share: f64) -> f64 {
    let load = share * servers as f64;
    let mut blocked = 1.0;
    for n in 1..=servers {
        blocked = load * blocked / (n as f64 + load * blocked);
    }
    let waiting = blocked / (1.0 - share * (1.0 - blocked));
    waiting / (servers as f64 * (1.0 - share))
}

#[test]
fn mean_waits_agree_with_theory() {
    assert!((erlang_wait(1, 0.8) - 4.0).abs() < 1e-9);
    for (servers, share) in [(1, 0.5), (1, 0.8), (2, 0.7), (4, 0.8), (16, 0.9)] {
        let (simulated, theory) = (mean_wait(servers, share), erlang_wait(servers, share));
        assert!(
            (simulated / theory - 1.0).abs() < 0.05,
            "M/M/{servers} at {share}: {simulated} for {theory}"
        );
    }
}

#[test]
fn a_stall_delays_replies_due_in_it() {
    let stall = Stall::parse("1s/5s").unwrap();
    assert_eq!(stall.release(0, 3_999 * MS), 3_999 * MS);
    assert_eq!(stall.release(0, 4_000 * MS), 5 * SECOND);
    assert_eq!(stall.release(0, 4_999 * MS), 5 * SECOND);
    assert_eq!(stall.release(0, 5_000 * MS), 5 * SECOND);
    assert_eq!(stall.release(700 * MS, 4_200 * MS), 4_200 * MS);
    assert_eq!(stall.release(700 * MS, 9_900 * MS), 10_700 * MS);
}

#[test]
fn a_stall_of_a_second_in_five_has_the_known_tail() {
    let stall = Some(Stall::parse("1s/5s").unwrap());
    let arrivals: Vec<u64> = (0..20_000).map(|n| n * 5 * MS).collect();
    let times = sojourns(&model(0, stall), &arrivals, &vec![MS; arrivals.len()]);
    let summary = Summary::of(times).unwrap();
    assert_eq!(summary.p50, 0.001);
    assert!((summary.p90 - 0.501).abs() < 0.006, "{summary:?}");
    assert!((summary.p99 - 0.951).abs() < 0.006, "{summary:?}");
    // A fifth of the requests wait half a second on average.
    assert!((summary.mean - 0.101).abs() < 0.002, "{summary:?}");
}

#[test]
fn a_freeze_delays_replies_due_in_it() {
    let frozen = Model { freezes: vec![Freeze { from: 100, to: 200 }], ..model(0, None) };
    assert_eq!(sojourns(&frozen, &[80, 95, 150, 195, 210], &[10; 5]), [10, 105, 50, 10, 10]);
    assert!(frozen.method().contains("stopped"));
}

#[test]
fn a_slow_reply_ends_with_its_last_byte() {
    let dripping = Model { tails: BTreeMap::from([(1, 70)]), ..model(1, None) };
    // The server is free again when the first byte leaves.
    assert_eq!(sojourns(&dripping, &[0, 5, 10], &[10; 3]), [10, 85, 20]);
}

#[test]
fn invalid_stalls_are_refused() {
    assert!(Stall::parse("1s").unwrap_err().contains("`1s/5s`"));
    assert!(Stall::parse("5s/5s").unwrap_err().contains("shorter than its period"));
    assert!(Stall::parse("0s/5s").unwrap_err().contains("more than zero"));
}

#[test]
fn quantiles_are_by_nearest_rank() {
    let summary = Summary::of((1..=1000).map(|n| n * MS).collect()).unwrap();
    assert_eq!((summary.p50, summary.p99, summary.p99_9, summary.max), (0.5, 0.99, 0.999, 1.0));
    let single = Summary::of(vec![MS]).unwrap();
    assert_eq!((single.p50, single.max, single.count), (0.001, 0.001, 1));
    assert_eq!(Summary::of(Vec::new()), None);
}

#[test]
fn dispersion_distinguishes_even_from_poisson_arrivals() {
    let even: Vec<u64> = (0..10_000).map(|n| n * MS / 4).collect();
    assert!(dispersion(&even, MS).unwrap() < 1e-9);
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let mut instant = 0.0;
    let poisson: Vec<u64> = (0..200_000)
        .map(|_| {
            instant += exponential(&mut random, 250_000.0);
            instant as u64
        })
        .collect();
    let index = dispersion(&poisson, MS).unwrap();
    assert!((index - 1.0).abs() < 0.05, "{index}");
    let pairs: Vec<u64> = (0..10_000).flat_map(|n| [n * MS / 2, n * MS / 2]).collect();
    assert!(dispersion(&pairs, MS).unwrap() < 1e-9);
    assert_eq!(dispersion(&[1, 2, 3], MS), None);
}
