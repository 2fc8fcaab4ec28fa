//! Writes a run or a study, with one module for each format.
//!
//! Input is a [`Run`](brunt_model::Run), the fold of all events, with its
//! [`Judgement`](brunt_model::Judgement), or a [`Study`](brunt_model::Study) with its [`Analysis`](brunt_model::Analysis). Output is bytes to a writer.
//!
//! The crate measures nothing and decides nothing; `model` defines the figures. It does not print,
//! and does not know terminals or files.
//!
//! * `formats`: the table of all formats, [`REPORTS`], and of the published documents, [`SCHEMAS`].
//! * [`outline`]: the content of a report as blocks. Each section of a run is
//!   a function in `outline/run/`.
//! * [`text`], [`markdown`]: writers of these blocks. [`view`]: width and color of text.
//!   [`analysis`]: results of other tools.
//! * [`json`], [`result`], [`study`]: documents for programs. `result` and `study` have their types
//!   and units, and make them.
//! * [`csv`]: the time series of a run, or the trials of a study, for spreadsheets and plotting.
//!   [`tsv`]: the table of autobench.
//! * [`ci`]: objectives and verdicts as test cases, for continuous integration.
//! * [`html`]: one page with everything, for a browser, offline.
//! * [`panels`], [`figure`]: every chart, defined once, as data. [`readings`]: readings over
//!   time and as means.
//! * `intervals`: merges the intervals of a long run for charts over time.
//! * [`plot`], [`scene`]: a chart as shapes on paper. [`picture`], [`postscript`]:
//!   writers of these shapes.
//! * [`single`]: a run as a study of one trial. [`progress`]: one line of live state. `texts`: messages.
//! * [`stored`]: lists of stored runs. [`history`]: a figure of comparable runs over months.
//! * [`figures`], [`layout`], [`utc`]: formatting of numbers, tables and dates, also for other
//!   texts of the command.

// A report is written once: `write!` would save an allocation, but return a Result
// that must be discarded.
#![allow(clippy::format_push_string)]

pub mod agents;
pub mod analysis;
pub mod breakdown;
pub mod ci;
pub mod csv;
pub mod figure;
pub mod figures;
mod font;
mod formats;
pub mod history;
pub mod html;
mod intervals;
pub mod json;
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
pub mod selection;
mod sheet;
pub mod single;
pub mod stored;
pub mod study;
pub mod subset;
mod svg;
pub mod text;
mod texts;
mod ticks;
pub mod trace;
pub mod tsv;
pub mod utc;
pub mod view;
mod xml;

#[cfg(test)]
mod story;

pub use formats::{
    FormatContent, PublishedSchema, REPORTS, ReportFormat, ReportSubject, SCHEMAS, format,
};
