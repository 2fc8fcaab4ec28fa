//! Turns user input into a `Plan` or an `Experiment`: words, settings and plan files.
//! Errors name their place.
//!
//! ```text
//! options (cli) ──┐
//! plan file ──────┤ one table of settings ─▶ RunSettings, SearchSettings ─▶ to_plan, experiment ─▶ Plan, Experiment
//! a form, JSON ───┘
//! ```
//!
//! The crate measures nothing, prints nothing, and knows no command-line parser. Callers pass the
//! environment, standard input and facts about the machine as [`System`].
//!
//! * [`words`]: single values, such as `1.5s` or `p99 < 50ms`.
//! * [`defaults`]: default values.
//! * [`settings`]: settings of runs and searches, and the table that reads them.
//! * [`error`]: errors with their place.
//! * [`plan`]: YAML → the content of a plan file for each contender.
//! * [`plan_file`]: a plan file → an experiment.
//! * [`mod@to_plan`]: settings → a plan.
//! * [`experiment`]: contenders, searches and comparisons → an experiment.
//! * [`estimate`]: duration of an experiment.
//! * [`grpc`]: descriptors of services, and messages from JSON.

pub mod defaults;
pub mod error;
pub mod estimate;
pub mod experiment;
pub mod grpc;
pub mod peer_words;
pub mod plan;
pub mod plan_file;
pub mod settings;
pub mod system;
pub mod to_plan;
pub mod words;

pub use error::SpecError;
pub use settings::{RunSettings, SearchSettings};
pub use system::System;
pub use to_plan::{check_objectives, to_plan};
