//! A run or a study, shown: one file per format.
//!
//! Data comes in as a [`Run`](brunt_model::Run), the fold of all events, and a [`Judgement`](brunt_model::Judgement) of
//! it, or as a [`Study`](brunt_model::Study) and its [`Analysis`](brunt_model::Analysis), and goes out as bytes to a
//! writer.
//!
//! It measures nothing and decides nothing; what a figure means is said in `model`. It prints
//! nothing itself, and knows neither terminal nor files.
//!
//! * `formats`: the table of all formats, [`REPORTS`], and of the published documents, [`SCHEMAS`].
//! * [`outline`]: what is said of a run or a study, as blocks; of a run, a table of sections, each a function in `outline/run/`.
//! * [`text`], [`markdown`]: these blocks, set. [`view`]: the width and color of text. [`analysis`]: the same of results of others.
//! * [`json`], [`result`], [`study`]: for programs. `result` and `study` have the types of the documents, their units,
//!   and their making.
//! * [`csv`]: the time series, for spreadsheets and plotting; of a study, its trials. [`tsv`]: as autobench writes.
//! * [`junit`]: objectives and verdicts as test cases.
//! * [`html`]: one page with everything, for a browser, offline.
//! * [`panels`], [`figure`]: every chart, defined once, as data. [`readings`]: what was read, over time and as means.
//! * `intervals`: merges the intervals of a long run for charts over time.
//! * [`plot`], [`scene`]: a chart as shapes on paper. [`picture`], [`postscript`]: these shapes written.
//! * [`single`]: a run as a study of one trial.
//! * [`progress`]: one line of live state while the run goes on.
//! * [`figures`], [`layout`], [`utc`]: how numbers, tables and dates are written, for all of them, and for other
//!   texts of the command.

// A report is written once: `write!` would save an allocation and bring a Result to throw away.
#![allow(clippy::format_push_string)]

pub mod analysis;
pub mod breakdown;
pub mod csv;
pub mod figure;
pub mod figures;
mod font;
mod formats;
pub mod html;
mod intervals;
pub mod json;
pub mod junit;
pub mod layout;
pub mod markdown;
pub mod outline;
pub mod panels;
pub mod picture;
pub mod plot;
mod png;
pub mod postscript;
pub mod progress;
pub mod readings;
pub mod result;
pub mod scene;
mod sheet;
pub mod single;
pub mod study;
mod svg;
pub mod text;
mod ticks;
pub mod trace;
pub mod tsv;
pub mod utc;
pub mod view;
mod xml;

#[cfg(test)]
mod story;

pub use formats::{Content, Format, Published, REPORTS, SCHEMAS, Subject, format};
