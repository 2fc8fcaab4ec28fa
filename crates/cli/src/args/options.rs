//! Adds options from the tables of settings. `spec` describes the options, and clap parses them.

use crate::suggestions::of_suggestions;
use brunt_spec::settings::{
    ArgumentContent, Change, Occurrence, SettingRow, SettingTable, Visibility,
};
use clap::builder::{
    NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser, ValueParser,
};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};

/// Reads an environment variable; None if it is unset or not UTF-8.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Adds an option for each row of a table.
pub fn add<S: SettingTable>(
    command: Command,
    rows: impl Iterator<Item = &'static SettingRow<S>>,
) -> Command {
    rows.fold(command, |command, row| command.arg(option(row)))
}

/// Applies the options of a command line to the settings.
pub fn apply<S: SettingTable>(
    matches: &ArgMatches,
    rows: impl Iterator<Item = &'static SettingRow<S>>,
    settings: &mut S,
) -> Result<(), clap::Error> {
    for row in rows {
        // clap knows defaults for the help only. The settings have theirs already.
        if matches.value_source(row.option) != Some(ValueSource::CommandLine) {
            continue;
        }
        if row.kind == Occurrence::Switch {
            let change = (row.read)("", environment)
                .map_err(|wrong| clap::Error::raw(clap::error::ErrorKind::Io, wrong))?;
            change.put_into(settings);
        } else {
            let changes = matches.get_many::<Change<S>>(row.option).into_iter().flatten();
            changes.for_each(|change| change.put_into(settings));
        }
        settings.sources_mut().option(row.option, name_on_command_line(row.option, row.aliases));
    }
    Ok(())
}

/// The name under which the user wrote an option. clap reports an alias as the option itself.
fn name_on_command_line<'n>(option: &'n str, aliases: &[&'n str]) -> &'n str {
    // Aliases of one letter have one dash, and messages name the long form for them.
    aliases
        .iter()
        .copied()
        .find(|alias| alias.len() > 1 && is_on_command_line(alias))
        .unwrap_or(option)
}

fn is_on_command_line(name: &str) -> bool {
    std::env::args_os().any(|word| {
        let word = word.to_string_lossy();
        let rest = word.strip_prefix("--").and_then(|word| word.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

fn option<S: SettingTable>(row: &'static SettingRow<S>) -> Arg {
    let mut arg =
        Arg::new(row.option).long(row.option).help(row.option_help()).help_heading(row.heading);
    if let Some(letter) = row.short {
        arg = arg.short(letter);
    }
    for alias in row.aliases {
        let mut letters = alias.chars();
        arg = match (letters.next(), letters.next()) {
            (Some(letter), None) => arg.short_alias(letter),
            _ => arg.alias(*alias),
        };
    }
    arg = arg.hide(row.visibility == Visibility::No).conflicts_with_all(row.excludes);
    if row.kind == Occurrence::Switch {
        return arg.action(ArgAction::SetTrue);
    }
    arg = arg.value_name(row.value_name).value_parser(parser(row));
    arg = match row.kind {
        Occurrence::Repeated => arg.action(ArgAction::Append),
        Occurrence::List => arg.action(ArgAction::Append).value_delimiter(','),
        Occurrence::Value | Occurrence::Switch => arg.action(ArgAction::Set),
    };
    arg = match row.content {
        ArgumentContent::Path => arg.value_hint(ValueHint::AnyPath),
        // A negative number is refused with a message about the number, not about an option.
        ArgumentContent::Number => arg.allow_hyphen_values(true),
        ArgumentContent::Word | ArgumentContent::Choice(_) => arg,
    };
    if let Some(suggestions) = row.suggestions {
        arg = arg.add(of_suggestions(suggestions));
    }
    arg =
        arg.requires_ifs(row.needs.map(|needed| (clap::builder::ArgPredicate::IsPresent, needed)));
    match row.default {
        Some(word) => arg.default_value(word),
        None => arg,
    }
}

fn parser<S: SettingTable>(row: &'static SettingRow<S>) -> ValueParser {
    let read = move |word: String| (row.read)(&word, environment);
    match row.content {
        ArgumentContent::Choice(choices) => PossibleValuesParser::new(choices).try_map(read).into(),
        // An empty path, as of an unset shell variable, would name the current directory.
        ArgumentContent::Path => NonEmptyStringValueParser::new().try_map(read).into(),
        ArgumentContent::Word | ArgumentContent::Number => {
            ValueParser::from(move |word: &str| (row.read)(word, environment))
        }
    }
}
