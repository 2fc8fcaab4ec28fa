//! Tests of experiments with a host that makes no runs. Hooks and servers are real; tests with
//! processes use the real clock.

mod order;
mod pursue;
mod servers;
mod story;
