//! The table of settings: a row for each, which the command line, its help and plan files all read.

pub mod checks;
pub mod connection;
pub mod load;
pub mod output;
pub mod request;
pub mod search;

use super::{Key, RunSettings, SettingRow};

/// What `brunt run` takes, under the headings of its help; the last is beside the options of plan files.
pub const RUN: [&[SettingRow<RunSettings>]; 6] =
    [&load::ROWS, &request::ROWS, &connection::ROWS, &checks::ROWS, &output::ROWS, &output::SERVER];

/// The settings of a run.
pub fn run() -> impl Iterator<Item = &'static SettingRow<RunSettings>> {
    RUN.into_iter().flatten()
}

/// The first key of a plan file that says what an option says.
pub(crate) fn key_of(option: &str) -> Option<&'static Key> {
    let of_run = run().find(|row| row.option == option).and_then(|row| row.keys.first());
    of_run.or_else(|| search::ROWS.iter().find(|row| row.option == option).and_then(|row| row.keys.first()))
}
