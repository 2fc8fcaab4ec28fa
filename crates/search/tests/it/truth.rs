//! Whether the capacities that the simulated servers are said to have are theirs.

use crate::simulation::KINDS;
use crate::simulation::machine::Machine;
use crate::simulation::servers::{Kind, SLOW, Server, Service, erlang_slower, lab};
use crate::simulation::shapes::{SHAPES, Truth};
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;

#[test]
fn capacities_match_formulas() {
    for kind in KINDS.iter().chain([&SLOW, &lab(Machine::Quiet)]) {
        if let Service::Exponential { workers, mean } = kind.service {
            let share = erlang_slower(kind.capacity, workers, mean, kind.bound);
            assert!((share - 0.01).abs() < 2e-5, "{}: {share}", kind.name);
        }
    }
}

#[test]
fn capacities_match_simulations() {
    let in_full = std::env::var("BRUNT_PROVE").is_ok_and(|v| v == "1");
    let (requests, within) = if in_full { (60e6, 0.12) } else { (2e6, 0.6) };
    for kind in KINDS.iter().chain([&SLOW]) {
        let share = simulated(kind, requests);
        // A tenth of a per cent of the load changes the share by 3 to 7 %.
        assert!((share / 0.01).ln().abs() < within, "{}: {share}", kind.name);
    }
}

#[test]
fn capacities_of_shapes_match_simulations() {
    for shape in SHAPES.iter().filter(|shape| shape.truth != Truth::Changing) {
        let kind = shape.kind;
        match shape.truth {
            // The share of slow requests is flat where stalls cause most of them.
            Truth::Fixed => {
                let share = simulated(&kind, 1e6);
                assert!((share / 0.01).ln().abs() < 0.6, "{}: {share}", kind.name);
            }
            _ => assert!(simulated(&Kind { capacity: 25.0, ..kind }, 2e5) > 0.012, "{}", kind.name),
        }
    }
}

fn simulated(kind: &Kind, requests: f64) -> f64 {
    let mut server = Server::new(*kind, Pcg64Mcg::seed_from_u64(7));
    // The longest time for which a server is cold. A low load leaves no backlog.
    server.load(kind.capacity.min(20.0), 70.0, |_| ());
    let (mut all, mut slow) = (0.0, 0.0);
    server.load(kind.capacity, 70.0 + requests / kind.capacity, |ended| {
        all += 1.0;
        slow += f64::from(u8::from(ended.is_error || ended.response > kind.bound));
    });
    slow / all
}
