//! The help of `-h`: one page with the most common options. `--help` lists all.

use crate::commands::Cli;
use crate::terminal;
use brunt_report::layout;
use clap::CommandFactory;
use std::io;

/// Lines of a page. Shorter help is shown completely.
const PAGE_LINES: usize = 55;
/// Width of the column with options and their values.
const OPTION_COLUMNS: usize = 44;
/// Width of the column with names of commands.
const COMMAND_COLUMNS: usize = 18;

/// Options that `-h` shows if the complete help of the command exceeds a page.
const COMMON: [&str; 26] = [
    "connections",
    "rate",
    "duration",
    "requests",
    "method",
    "header",
    "data",
    "json",
    "timeout",
    "http",
    "insecure",
    "objective",
    "probe",
    "output",
    "quiet",
    "set",
    "repeat",
    "time-budget",
    "metric",
    "fail-if",
    "listen",
    "service",
    "workers",
    "verbose",
    "tool",
    "case",
];

/// The help for `-h`; None without `-h` or with `--help`.
pub fn page(words: &[String]) -> Option<String> {
    let is_short =
        words.iter().any(|word| word == "-h") && !words.iter().any(|word| word == "--help");
    is_short.then(|| {
        let mut command = find_command(words);
        let full_help = command.render_help().to_string();
        if full_help.lines().count() <= PAGE_LINES {
            return full_help;
        }
        let name = command.get_bin_name().unwrap_or("brunt").to_owned();
        shortened(command)
            .after_help(format!("All options: {name} --help\n"))
            .render_help()
            .to_string()
    })
}

/// Shortens a command's help to the common options, one line each.
fn shortened(command: clap::Command) -> clap::Command {
    // The full help is at most 110 columns wide, too.
    let columns = terminal::columns(io::stdout()).clamp(60, 110);
    let short = command.mut_args(|argument| {
        let is_common = argument.get_long().is_some_and(|name| COMMON.contains(&name));
        let help = argument
            .get_help()
            .map(|help| layout::clause(&help.to_string(), columns - OPTION_COLUMNS));
        let is_shown = is_common || argument.is_positional();
        argument
            .hide(!is_shown)
            .help_heading(None)
            .hide_default_value(true)
            .help(help.unwrap_or_default())
    });
    short.mut_subcommands(|subcommand| {
        let about = subcommand
            .get_about()
            .map(|about| layout::clause(&about.to_string(), columns - COMMAND_COLUMNS));
        // The page has a limit, and `-h` does the same as `help`.
        let is_hidden = subcommand.is_hide_set() || subcommand.get_name() == "help";
        subcommand.about(about.unwrap_or_default()).hide(is_hidden)
    })
}

/// The command of the command line, with its full name.
fn find_command(words: &[String]) -> clap::Command {
    let mut command = Cli::command();
    // `build` gives subcommands their full names, and propagates global options.
    command.build();
    for word in words[1..].iter().filter(|word| !word.starts_with('-')) {
        match command.find_subcommand(word) {
            Some(subcommand) => command = subcommand.clone(),
            None => break,
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        page(&words).unwrap_or_else(|| panic!("{line}: no help"))
    }

    #[test]
    fn short_help_fits_a_page_and_names_the_full_help() {
        for line in [
            "brunt -h",
            "brunt run -h",
            "brunt sweep -h",
            "brunt find -h",
            "brunt compare -h",
            "brunt lab -h",
        ] {
            let page = page_of(line);
            let lines = page.lines().count();
            assert!(lines <= PAGE_LINES, "{line}: {lines} lines\n{page}");
            let command = line.trim_end_matches(" -h");
            assert!(page.contains(&format!("All options: {command} --help")), "{page}");
        }
        assert!(page_of("brunt runs list -h").contains("Usage: brunt runs list"));
    }

    #[test]
    fn every_common_option_exists() {
        let whole = Cli::command();
        let commands: Vec<&clap::Command> =
            std::iter::once(&whole).chain(whole.get_subcommands()).collect();
        for name in COMMON {
            let has = |command: &&clap::Command| {
                command.get_arguments().any(|argument| argument.get_long() == Some(name))
            };
            assert!(commands.iter().any(has), "{name}");
        }
    }

    #[test]
    fn help_is_printed_only_on_request() {
        for line in ["brunt --help", "brunt http://h/", "brunt -h --help"] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(page(&words), None, "{line}");
        }
    }
}
