//! JMeter's file formats, console lines and command line: plans in, results out.
//!
//! ```text
//! .jmx ─▶ document (lossless tree) ─▶ element (typed view) ─▶ support (kinds, what is not supported)
//!          document ─▶ plan (what brunt runs)
//! SampleRecord ─▶ jtl (CSV, XML), summariser (console), statistics (dashboard, statistics.json)
//! arguments, .properties ─▶ cli_options, properties
//! ```
//!
//! All functions are pure functions of bytes, records and a given time, except [`plan`], which
//! reads the files of a plan.
//!
//! * [`document`]: a .jmx file as a tree that can be written back byte for byte.
//! * [`element`], [`property`]: test elements with names, children and typed properties.
//!   [`support`]: the table of kinds.
//! * [`forms`]: the properties of elements in a form. [`edit`]: changes of the text. [`editor`]:
//!   both as a format of the editor of plans.
//! * [`jtl`]: result files, written and read.
//! * [`summariser`]: the lines `summary +` and `summary =`. [`statistics`]: `statistics.json` and
//!   the tables of the dashboard.
//! * [`dashboard`]: these tables as text and as a page.
//! * [`cli_options`]: JMeter's arguments. [`properties`]: `java.util.Properties` files and the
//!   order of their sources.
//!
//! * [`plan`]: a .jmx plan as runs of brunt. [`export`]: a plan of brunt as a .jmx plan.
//!
//! Out of scope: running a plan, and writing files.

pub mod cli_options;
pub mod dashboard;
pub mod document;
pub mod edit;
pub mod editor;
pub mod element;
pub mod error;
pub mod export;
mod fields;
pub mod forms;
pub mod jtl;
mod markup;
pub mod plan;
pub mod properties;
pub mod property;
pub mod statistics;
pub mod summariser;
pub mod support;

#[cfg(test)]
mod tests;

pub use cli_options::CliOptions;
pub use document::{JmxDocument, NodeId};
pub use editor::is_jmx;
pub use element::TestElement;
pub use error::{FilePosition, JmxError};
pub use jtl::{JtlFormat, JtlSettings};
pub use property::{Properties, Property};
pub use support::{ElementKind, Role, Tier};
