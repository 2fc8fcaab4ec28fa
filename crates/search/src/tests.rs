//! Simulated servers.
