//! Tests of the virtual user of a scenario, on a simulated network.

mod random_scenarios;
mod transactions;
mod world;
