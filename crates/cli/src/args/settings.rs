//! Settings of experiments, searches and comparisons as options: a command takes all rows of a table, or some of them.

use super::options;
use brunt_spec::settings::{CompareSettings, ExperimentSettings, SearchSettings, SettingRow, Settings, rows};
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// Which rows of a table a command takes as options.
pub trait TakenRows: Clone {
    /// The settings that the table is of.
    type Of: Settings + Clone;

    /// Whether the command takes this option.
    fn takes(option: &str) -> bool;
}

/// Settings that a command takes as options.
#[derive(Debug, Clone)]
pub struct SettingArgs<T: TakenRows>(pub T::Of);

/// How trials are arranged.
pub type ExperimentArgs = SettingArgs<Arrangement>;
/// How the capacity is looked for.
pub type SearchArgs = SettingArgs<Search>;
/// Which trials a search makes, where it is one of many.
pub type TrialArgs = SettingArgs<Trials>;
/// What a comparison is to decide.
pub type CompareArgs = SettingArgs<Comparison>;
/// What a comparison of stored runs is to decide.
pub type StoredCompareArgs = SettingArgs<StoredComparison>;

#[derive(Debug, Clone)]
pub struct Arrangement;

#[derive(Debug, Clone)]
pub struct Search;

#[derive(Debug, Clone)]
pub struct Trials;

#[derive(Debug, Clone)]
pub struct Comparison;

#[derive(Debug, Clone)]
pub struct StoredComparison;

impl TakenRows for Arrangement {
    type Of = ExperimentSettings;

    fn takes(_: &str) -> bool {
        true
    }
}

impl TakenRows for Search {
    type Of = SearchSettings;

    fn takes(_: &str) -> bool {
        true
    }
}

impl TakenRows for Trials {
    type Of = SearchSettings;

    fn takes(option: &str) -> bool {
        rows::search::OF_TRIALS.contains(&option)
    }
}

impl TakenRows for Comparison {
    type Of = CompareSettings;

    fn takes(_: &str) -> bool {
        true
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
