//! Settings of experiments, searches and comparisons as options. A command has all rows of a table,
//! or some of them.

use super::options;
use brunt_spec::settings::{
    CompareSettings, ExperimentSettings, SearchSettings, SettingRow, SettingTable, rows,
};
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The rows of a table that a command has as options.
pub trait OptionRows: Clone {
    /// Settings of the table.
    type Settings: SettingTable + Clone;

    /// True if the command has this option. By default it has all of them.
    fn has_option(_option: &str) -> bool {
        true
    }
}

/// Settings that a command has as options.
#[derive(Debug, Clone)]
pub struct SettingArgs<T: OptionRows>(pub T::Settings);

/// Search settings for one of several searches of a comparison.
#[derive(Debug, Clone)]
pub struct OneOfManySearches;

/// Comparison settings for stored runs.
#[derive(Debug, Clone)]
pub struct StoredComparison;

impl OptionRows for ExperimentSettings {
    type Settings = Self;
}

impl OptionRows for SearchSettings {
    type Settings = Self;
}

impl OptionRows for CompareSettings {
    type Settings = Self;
}

impl OptionRows for OneOfManySearches {
    type Settings = SearchSettings;

    fn has_option(option: &str) -> bool {
        rows::search::OF_TRIALS.contains(&option)
    }
}

impl OptionRows for StoredComparison {
    type Settings = CompareSettings;

    fn has_option(option: &str) -> bool {
        option != rows::compare::TIME_BUDGET
    }
}

impl<T: OptionRows> SettingArgs<T> {
    fn rows() -> impl Iterator<Item = &'static SettingRow<T::Settings>> {
        T::Settings::rows().filter(|row| T::has_option(row.option))
    }
}

impl<T: OptionRows> Args for SettingArgs<T> {
    fn augment_args(command: Command) -> Command {
        options::add(command, Self::rows())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: OptionRows> FromArgMatches for SettingArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = T::Settings::with_defaults();
        options::apply(matches, Self::rows(), &mut settings)?;
        Ok(Self(settings))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
