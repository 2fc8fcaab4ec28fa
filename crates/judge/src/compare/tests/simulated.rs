//! Simulated comparisons.
