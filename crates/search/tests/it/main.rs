//! Tests of searches of simulated servers whose capacity is known.

mod busy;
mod capacity;
mod shapes;
mod simulation;
mod stages;
mod truth;
