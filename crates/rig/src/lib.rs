//! An experiment, carried out: order of trials, hooks, managed servers.
//!
//! What it is **not**: it measures nothing itself; it is handed what makes a run of a plan. It knows no statistics.
