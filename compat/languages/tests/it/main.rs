//! Tests of scripts in scenarios, on a simulated network.

mod records;
// Tests of `brunt_script` use all of it.
#[allow(dead_code)]
#[path = "../../../../crates/script/tests/it/world/mod.rs"]
mod world;
