//! Whether the capacities that the simulated servers are said to have are theirs.

#[allow(dead_code)] // Whole searches are made elsewhere.
mod simulation;

use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
use simulation::KINDS;
use simulation::machine::Machine;
use simulation::servers::{Kind, SLOW, Server, Service, lab};

/// Erlang's C: the share of requests that wait, at an offered load of `a` for `c` workers.
fn waits(c: usize, a: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 0..c {
        sum += term;
        term *= a / (k + 1) as f64;
    }
    let last = term * c as f64 / (c as f64 - a);
    last / (sum + last)
}

/// The share of sojourn times beyond `t` in M/M/c (Kleinrock, "Queueing Systems" I, 1975, §3.5; the wait is exponential with
/// rate cμ − λ for those who wait).
fn slower(rate: f64, c: usize, mean: f64, t: f64) -> f64 {
    let mu = 1.0 / mean;
    let (spare, wait) = (c as f64 * mu - rate, waits(c, rate * mean));
    let queued = (mu * (-spare * t).exp() - spare * (-mu * t).exp()) / (mu - spare);
    (1.0 - wait) * (-mu * t).exp() + wait * queued
}

#[test]
fn those_of_formulas_are_right() {
    for kind in KINDS.iter().chain([&SLOW, &lab(Machine::Quiet)]) {
        if let Service::Exponential { workers, mean } = kind.service {
            let share = slower(kind.capacity, workers, mean, kind.bound);
            assert!((share - 0.01).abs() < 2e-5, "{}: {share}", kind.name);
        }
    }
}

#[test]
fn those_of_simulations_are_right() {
    let in_full = std::env::var("BRUNT_PROVE").is_ok_and(|v| v == "1");
    let (requests, within) = if in_full { (60e6, 0.12) } else { (2e6, 0.6) };
    for kind in KINDS.iter().chain([&SLOW]) {
        let share = simulated(kind, requests);
        // A tenth of a per cent of the load changes the share by 3 to 7 %.
        assert!((share / 0.01).ln().abs() < within, "{}: {share}", kind.name);
    }
}

fn simulated(kind: &Kind, requests: f64) -> f64 {
    let mut server = Server::new(*kind, Pcg64Mcg::seed_from_u64(7));
    server.load(kind.capacity, 20.0, |_| ());
    let (mut all, mut slow) = (0.0, 0.0);
    server.load(kind.capacity, 20.0 + requests / kind.capacity, |ended| {
        all += 1.0;
        slow += f64::from(u8::from(ended.response > kind.bound));
    });
    slow / all
}
