//! Settings of experiments, searches and comparisons as options: a command takes all rows of a table, or some of them.

use super::options;
use brunt_spec::settings::{CompareSettings, ExperimentSettings, SearchSettings, SettingRow, Settings, rows};
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The rows of a table that a command takes as options.
pub trait TakenRows: Clone {
    /// The settings that the table is of.
    type Of: Settings + Clone;

    /// Whether the command takes this option. Default: it takes all.
    fn takes(_option: &str) -> bool {
        true
    }
}

/// Settings that a command takes as options.
#[derive(Debug, Clone)]
pub struct SettingArgs<T: TakenRows>(pub T::Of);

/// The settings of searches that apply to one of many searches, too.
#[derive(Debug, Clone)]
pub struct OneOfManySearches;

/// The settings of comparisons that apply to stored runs, too.
#[derive(Debug, Clone)]
pub struct StoredComparison;

impl TakenRows for ExperimentSettings {
    type Of = Self;
}

impl TakenRows for SearchSettings {
    type Of = Self;
}

impl TakenRows for CompareSettings {
    type Of = Self;
}

impl TakenRows for OneOfManySearches {
    type Of = SearchSettings;

    fn takes(option: &str) -> bool {
        rows::search::OF_TRIALS.contains(&option)
    }
}

impl TakenRows for StoredComparison {
    type Of = CompareSettings;

    fn takes(option: &str) -> bool {
        option != rows::compare::TIME_BUDGET
    }
}

impl<T: TakenRows> SettingArgs<T> {
    fn rows() -> impl Iterator<Item = &'static SettingRow<T::Of>> {
        T::Of::rows().filter(|row| T::takes(row.option))
    }
}

impl<T: TakenRows> Args for SettingArgs<T> {
    fn augment_args(command: Command) -> Command {
        options::add(command, Self::rows())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: TakenRows> FromArgMatches for SettingArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = T::Of::usual();
        options::put(matches, Self::rows(), &mut settings)?;
        Ok(Self(settings))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
