//! Extracts variables from replies, checks them, and lists them as samples.
//!
//! * `reactions`: extractors, assertions and scripts of a policy in order. `extract`, `jmes`, `assertion`, `script_call`: one of these.
//! * `modifier`: requests that the last reply changes before they are sent. `awaited`: messages that a request waits for.
//! * `records`: samples of result files. `trace`: actions of a user around a sample, in words.

pub mod assertion;
pub mod awaited;
pub mod extract;
pub mod jmes;
pub mod modifier;
pub mod reactions;
pub mod records;
pub mod script_call;
pub mod trace;
