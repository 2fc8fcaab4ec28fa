//! The table of settings: a row for each, which the command line, its help and plan files all read.

pub mod checks;
pub mod compare;
pub mod connection;
pub mod experiment;
pub mod fleet;
pub mod load;
pub mod output;
pub mod request;
pub mod search;

use super::{RunSettings, SettingKey, SettingRow};

/// Settings of `brunt run`, by the headings of its help.
pub const RUN: [&[SettingRow<RunSettings>]; 7] = [
    &load::ROWS,
    &request::ROWS,
    &connection::ROWS,
    &checks::ROWS,
    &fleet::ROWS,
    &output::ROWS,
    &output::SERVER,
];

/// The settings of a run.
pub fn run() -> impl Iterator<Item = &'static SettingRow<RunSettings>> {
    RUN.into_iter().flatten()
}

/// First key of a plan file that corresponds to an option.
pub(crate) fn key_of(option: &str) -> Option<&'static SettingKey> {
    let run_keys = run().map(|row| (row.option, row.keys));
    let search_keys = search::ROWS.iter().map(|row| (row.option, row.keys));
    let comparison_keys = compare::ROWS.iter().map(|row| (row.option, row.keys));
    let experiment_keys = experiment::ROWS.iter().map(|row| (row.option, row.keys));
    let mut all = run_keys.chain(search_keys).chain(comparison_keys).chain(experiment_keys);
    all.find(|(name, _)| *name == option).and_then(|(_, keys)| keys.first())
}
