//! A run, shown: one file per format.
//!
//! Data comes in as a [`Run`], the fold of all events, and a [`Judgement`] of it, and goes out as bytes to a writer.
//!
//! What it is **not**: it measures nothing and decides nothing; what a figure means is said in `model`. It prints
//! nothing itself, and knows neither terminal nor files.
//!
//! * [`text`]: for people. A table of sections, each a function from run to text, in `text/`.
//! * [`json`], [`result`]: for programs. `result` has the types of the document, their units, and their making.
//! * [`csv`]: the time series, for spreadsheets and plotting.
//! * [`progress`]: one line of live state while the run goes on.
//! * [`figures`], [`layout`], [`utc`]: how numbers, tables and dates are written, for all of them, and for other
//!   texts of the command.

// A report is written once: `write!` would save an allocation and bring a Result to throw away.
#![allow(clippy::format_push_string)]

pub mod csv;
pub mod figure;
pub mod figures;
pub mod json;
pub mod layout;
pub mod progress;
pub mod result;
pub mod study;
pub mod text;
pub mod utc;

#[cfg(test)]
mod story;

use brunt_model::{Analysis, Judgement, Run, Study};
use std::io;

/// One way to write a run.
pub struct Format {
    /// What the user calls it.
    pub name: &'static str,
    /// What it is good for, in one line.
    pub about: &'static str,
    /// Writes a run.
    pub write: fn(&Run, &Judgement, &mut dyn io::Write) -> io::Result<()>,
    /// Writes a study.
    pub write_study: fn(&Study, &Analysis, &mut dyn io::Write) -> io::Result<()>,
}

/// Every format; help, docs and completions come from here.
pub const REPORTS: &[Format] = &[
    Format {
        name: "text",
        about: "for people: figures, tables and a histogram, up to 96 columns",
        write: text::write,
        write_study: study::write_text,
    },
    Format {
        name: "json",
        about: "for programs: everything, with units in the keys; see `schema`",
        write: json::write,
        write_study: study::write_text,
    },
    Format {
        name: "csv",
        about: "the time series, one row an interval, for spreadsheets",
        write: csv::write,
        write_study: study::write_text,
    },
];

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    REPORTS.iter().find(|f| f.name == name)
}

/// The JSON Schema of what [`json::write`] writes.
pub fn schema() -> serde_json::Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<result::Document>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for f in REPORTS {
            assert_eq!(format(f.name).map(|f| f.about), Some(f.about));
        }
        assert!(format("xml").is_none());
    }
}
