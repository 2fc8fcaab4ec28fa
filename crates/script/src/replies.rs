//! Extracts variables from replies, checks replies, and records them as samples.
//!
//! * `reactions`: applies extractors, assertions and scripts of a policy in order. `extract`,
//!   `jmes`, `assertion`, `script_call`: one of these.
//! * `modifier`: changes requests by the last reply before they are sent. `awaited`: messages
//!   that a request awaits.
//! * `proposals`: extractors of a piece of a reply.
//! * `records`: samples of result files. `trace`: actions of a user around a sample, as text.

pub mod assertion;
pub mod awaited;
pub mod extract;
pub mod jmes;
pub mod modifier;
pub mod proposals;
pub mod reactions;
pub mod records;
pub mod script_call;
pub mod trace;
