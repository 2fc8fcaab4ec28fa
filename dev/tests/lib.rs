//! Shared by tests of several crates. The integration tests are in `it/`.
//!
//! * [`inputs`]: arbitrary bytes, and randomly changed files of `dev/fuzz/corpus`; any parser must
//!   survive them.
//! * [`schema`]: JSON against its schema.

pub mod inputs;
pub mod schema;
