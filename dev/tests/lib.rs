//! Inputs for tests of parsers. The integration tests live in `it/`.
//!
//! * [`inputs`]: arbitrary bytes, and the files in `dev/fuzz/corpus` with random changes; any parser must survive them.

pub mod inputs;
