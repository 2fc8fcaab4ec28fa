//! From what people write to a `Plan` or an `Experiment`: words, settings and plan files, with errors that name their place.
//!
//! ```text
//! options (cli) ──┐
//! plan file ──────┤ one table of settings ─▶ RunSettings, SearchSettings ─▶ to_plan, experiment ─▶ Plan, Experiment
//! a form, JSON ───┘
//! ```
//!
//! It measures nothing, prints nothing, and knows no command-line parser. The environment, standard input
//! and what the plan must know of the machine are handed in as [`System`].
//!
//! * [`words`]: single values, `1.5s` or `p99 < 50ms`. [`defaults`]: what is meant where nobody says anything.
//! * [`settings`]: what a run and a search are told, and the table that reads it. [`error`]: what is wrong, and where.
//! * [`plan`]: YAML → what a plan file says of each contender. [`plan_file`]: a plan file → an experiment.
//! * [`mod@to_plan`]: settings → a plan. [`experiment`]: contenders, searches and comparisons → an experiment.
//! * [`estimate`]: how long an experiment takes. [`grpc`]: descriptors of services, and messages out of JSON.

pub mod defaults;
pub mod error;
pub mod estimate;
pub mod experiment;
pub mod grpc;
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
