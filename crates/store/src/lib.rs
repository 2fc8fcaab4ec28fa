//! Event logs on disk, and the index of runs and experiments.
//!
//! What it is **not**: it decides nothing, and prints nothing.
