//! JMeter's file formats, console lines and command line: plans in, results out.
//!
//! ```text
//! .jmx ─▶ document (lossless tree) ─▶ element (typed view) ─▶ support (kinds, what is not supported)
//! ```
//!
//! Everything is a pure function of bytes, records and the time that the caller hands in.
//!
//! * [`document`]: a .jmx file as a tree that is written back byte for byte. [`edit`]: changes that touch nothing else.
//! * [`element`], [`property`]: test elements with names, children and typed properties. [`support`]: the table of kinds.
//!
//! Out of scope: running a plan, and opening files.

pub mod document;
pub mod edit;
pub mod element;
pub mod error;
pub mod property;
pub mod support;

#[cfg(test)]
mod test_plans;

pub use document::{Document, NodeId};
pub use element::TestElement;
pub use error::{JmxError, Position};
pub use property::{Properties, Property};
pub use support::{ElementKind, Tier};
