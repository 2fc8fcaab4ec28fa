//! The table of settings: a row for each, which the command line, its help and plan files all read.

pub mod checks;
pub mod compare;
pub mod connection;
pub mod experiment;
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
    let of_run = run().map(|row| (row.option, row.keys));
    let of_search = search::ROWS.iter().map(|row| (row.option, row.keys));
    let of_comparison = compare::ROWS.iter().map(|row| (row.option, row.keys));
    let of_experiment = experiment::ROWS.iter().map(|row| (row.option, row.keys));
    let mut all = of_run.chain(of_search).chain(of_comparison).chain(of_experiment);
    all.find(|(named, _)| *named == option).and_then(|(_, keys)| keys.first())
}
