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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ArgumentContent;
    use crate::words::named::Suggestion;

    /// Parses a value of an option, and returns the error.
    type ParseValue = dyn Fn(&str) -> Result<(), String>;

    /// An option with the values that shells propose, whatever its settings are.
    struct OptionValues {
        option: &'static str,
        suggestions: Vec<Suggestion>,
        has_choices: bool,
        parse: Box<ParseValue>,
    }

    fn values<S>(rows: &'static [SettingRow<S>]) -> impl Iterator<Item = OptionValues> {
        rows.iter().map(|row| OptionValues {
            option: row.option,
            suggestions: row.suggestions.map(|list| list()).unwrap_or_default(),
            has_choices: matches!(row.content, ArgumentContent::Choice(_)),
            parse: Box::new(|word| (row.read)(word, |_| None).map(|_| ())),
        })
    }

    fn all() -> Vec<OptionValues> {
        let run = RUN.into_iter().flat_map(values);
        let others = values(&search::ROWS).chain(values(&compare::ROWS));
        run.chain(others).chain(values(&experiment::ROWS)).collect()
    }

    #[test]
    fn every_suggestion_is_a_valid_value() {
        for row in all() {
            for suggestion in row.suggestions.iter().filter(|one| !one.is_prefix()) {
                assert_eq!((row.parse)(&suggestion.text), Ok(()), "--{}", row.option);
            }
        }
    }

    /// The message on an invalid value lists the valid ones.
    #[test]
    fn every_option_with_a_set_of_words_has_suggestions() {
        // Their words are examples of percentiles, versions and codes without end.
        const EXAMPLES: [&str; 1] = ["until"];
        for row in all() {
            let Err(message) = (row.parse)("no-such-word") else { continue };
            let listed = message.rsplit("write ").next().unwrap_or_default();
            let words = listed.replace(" or ", ",").replace("one of ", "");
            let is_word = |word: &&str| {
                let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
                word.starts_with(char::is_alphabetic)
                    && word.chars().all(is_name)
                    && (row.parse)(word).is_ok()
            };
            let valid = words.split([',', ':']).map(str::trim).filter(is_word).count();
            assert!(
                valid < 2
                    || row.has_choices
                    || !row.suggestions.is_empty()
                    || EXAMPLES.contains(&row.option),
                "--{} has no suggestions: {message}",
                row.option
            );
        }
    }
}
