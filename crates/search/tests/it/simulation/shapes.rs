//! Thirty shapes of servers, each with the capacity that `truth.rs` computes.

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
    /// The capacity changes with time.
    Changing,
    /// No load meets the objectives.
    None,
}

const fn shape(name: &'static str, service: Service, bound: f64, capacity: f64) -> Shape {
    let kind = Kind { name, service, bound, capacity, drift: 0.0, machine: Machine::Quiet };
    let truth = if capacity > 0.0 { Truth::Fixed } else { Truth::None };
    Shape { kind, truth }
}

/// A server that needs `1 + drift` of its first service times after 180 seconds.
const fn drifting(name: &'static str, drift: f64) -> Shape {
    let service = Service::Exponential { workers: 8, mean: 0.005 };
    let shape = shape(name, service, 0.1, 1554.4);
    Shape { kind: Kind { drift, ..shape.kind }, truth: Truth::Changing }
}

/// All workers stand still.
const fn stalling(name: &'static str, period: f64, stall: f64, capacity: f64) -> Shape {
    shape(name, Service::PeriodicStall { workers: 8, mean: 0.005, stall, period }, 0.05, capacity)
}

const fn partial(name: &'static str, period: f64, stall: f64, share: f64, capacity: f64) -> Shape {
    let service = Service::PartialStall { workers: 8, mean: 0.005, stall, period, share };
    shape(name, service, 0.05, capacity)
}

const fn bursts(name: &'static str, period: f64, burst: f64, capacity: f64) -> Shape {
    let service = Service::ErrorBursts { workers: 8, mean: 0.005, burst, period, share: 0.5 };
    shape(name, service, 0.1, capacity)
}

const fn cold(name: &'static str, seconds: f64, times: f64) -> Shape {
    shape(name, Service::Cold { workers: 8, mean: 0.01, seconds, times }, 0.1, 749.036)
}

/// The capacities of the exponential servers are by formula, the others by simulation.
pub const SHAPES: [Shape; 30] = [
    shape("exponential", Service::Exponential { workers: 8, mean: 0.01 }, 0.1, 749.036),
    shape("deterministic", Service::Fixed { workers: 4, mean: 0.002 }, 0.01, 1741.5),
    shape("heavy tail", Service::HeavyTail { workers: 8, mean: 0.005, sigma: 1.5 }, 0.1, 1366.0),
    shape("rate limit", Service::RateLimit { rate: 500.0, burst: 10.0 }, 0.1, 431.8),
    shape(
        "rate limit with a large burst",
        Service::RateLimit { rate: 500.0, burst: 50.0 },
        0.1,
        500.7,
    ),
    shape(
        "40 connections at most",
        Service::ConnectionLimit { workers: 8, mean: 0.01, most: 40 },
        0.5,
        759.4,
    ),
    stalling("stall of 2 ms every 1 s", 1.0, 0.002, 1503.4),
    stalling("stall of 8 ms every 1 s", 1.0, 0.008, 1492.8),
    stalling("stall of 50 ms every 1 s", 1.0, 0.05, 870.8),
    stalling("stall of 10 ms every 5 s", 5.0, 0.01, 1499.9),
    stalling("stall of 40 ms every 5 s", 5.0, 0.04, 1418.4),
    stalling("stall of 250 ms every 5 s", 5.0, 0.25, 0.0),
    stalling("stall of 40 ms every 20 s", 20.0, 0.04, 1482.0),
    stalling("stall of 160 ms every 20 s", 20.0, 0.16, 683.5),
    stalling("stall of 1 s every 20 s", 20.0, 1.0, 0.0),
    stalling("stall of 120 ms every 60 s", 60.0, 0.12, 1390.8),
    stalling("stall of 480 ms every 60 s", 60.0, 0.48, 442.7),
    stalling("stall of 3 s every 60 s", 60.0, 3.0, 0.0),
    stalling("stall of 240 ms every 120 s", 120.0, 0.24, 1315.6),
    stalling("stall of 1 s every 120 s", 120.0, 0.96, 362.1),
    stalling("stall of 6 s every 120 s", 120.0, 6.0, 0.0),
    partial("half of the replies stalled 1 s every 20 s", 20.0, 1.0, 0.5, 0.0),
    bursts("half of the requests failed for 0.1 s every 10 s", 10.0, 0.1, 1553.8),
    bursts("half of the requests failed for 1 s every 20 s", 20.0, 1.0, 0.0),
    cold("10 times as slow for 20 s", 20.0, 10.0),
    cold("twice as slow for 60 s", 60.0, 2.0),
    drifting("falling, half in the end", 1.0),
    drifting("falling, 20 % less in the end", 0.25),
    shape(
        "retrograde",
        Service::Coherent { workers: 100, mean: 0.006, sigma: 0.02, kappa: 0.0005 },
        0.045,
        1998.0,
    ),
    shape("never recovering", Service::Fragile { workers: 8, mean: 0.01 }, 0.1, 749.036),
];
