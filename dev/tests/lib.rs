//! Generates inputs for tests of parsers. The integration tests are in `it/`.
//!
//! * [`inputs`]: arbitrary bytes, and randomly changed files of `dev/fuzz/corpus`; any parser must
//!   survive them.

pub mod inputs;
