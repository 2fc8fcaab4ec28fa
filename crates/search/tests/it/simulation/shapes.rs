//! Eight shapes of servers, each with the capacity that `truth.rs` computes.

use super::machine::Machine;
use super::servers::{Kind, Service};

/// A shape of server, and what a search of it can find.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub kind: Kind,
    pub truth: Truth,
}

/// The true capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truth {
    /// `Kind::capacity`, at all times.
    Fixed,
    /// The capacity falls with time.
    Falling,
    /// No load meets the objectives.
    None,
}

const fn shape(name: &'static str, service: Service, bound: f64, capacity: f64) -> Shape {
    let kind = Kind { name, service, bound, capacity, drift: 0.0, machine: Machine::Quiet };
    let truth = if capacity > 0.0 { Truth::Fixed } else { Truth::None };
    Shape { kind, truth }
}

const fn falling() -> Shape {
    let service = Service::Exponential { workers: 8, mean: 0.005 };
    let shape = shape("falling, half in the end", service, 0.1, 1554.4);
    Shape { kind: Kind { drift: 1.0, ..shape.kind }, truth: Truth::Falling }
}

const fn stalling(name: &'static str, period: f64, stall: f64, capacity: f64) -> Shape {
    shape(name, Service::PeriodicStall { workers: 8, mean: 0.005, stall, period }, 0.05, capacity)
}

/// The first two capacities are by formula, the others by simulation.
pub const SHAPES: [Shape; 11] = [
    shape("exponential", Service::Exponential { workers: 8, mean: 0.01 }, 0.1, 749.036),
    shape("deterministic", Service::Fixed { workers: 4, mean: 0.002 }, 0.01, 1741.5),
    shape("heavy tail", Service::HeavyTail { workers: 8, mean: 0.005, sigma: 1.5 }, 0.1, 1366.0),
    shape("rate limit", Service::RateLimit { rate: 500.0, burst: 10.0 }, 0.1, 431.8),
    stalling("stall of 20 ms every 1 s", 1.0, 0.02, 1453.0),
    stalling("stall of 80 ms every 5 s", 5.0, 0.08, 556.0),
    stalling("stall of 1 s every 20 s", 20.0, 1.0, 0.0),
    stalling("stall of 1 s every 60 s", 60.0, 1.0, 0.0),
    falling(),
    shape(
        "retrograde",
        Service::Coherent { workers: 100, mean: 0.006, sigma: 0.02, kappa: 0.0005 },
        0.045,
        1998.0,
    ),
    shape("never recovering", Service::Fragile { workers: 8, mean: 0.01 }, 0.1, 749.036),
];
