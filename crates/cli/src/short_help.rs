//! The help of `-h`: one page with the most common options. `--help` lists all.

use crate::commands::Cli;
use clap::CommandFactory;

/// Lines of a page. Shorter help is shown completely.
const PAGE_LINES: usize = 55;

/// Width of a help text beside an option, on 80 columns.
const LINE_COLUMNS: usize = 44;

/// Options that `-h` shows if the complete help of the command exceeds a page, with a text for one line of
/// 80 columns.
const COMMON: [(&str, &str); 26] = [
    ("connections", "Users, one connection each"),
    ("rate", "Open loop: requests per second"),
    ("duration", "Measured time, such as 30s or 5m"),
    ("requests", "Stop after this number of requests"),
    ("method", "Method, such as POST"),
    ("header", "A header, or those of FILE"),
    ("data", "Body: TEXT, or the content of FILE"),
    ("json", "JSON: TEXT, or the content of FILE"),
    ("timeout", "Timeout of a request"),
    ("http", "HTTP version: 1.0, 1.1, 2, 3 or auto"),
    ("insecure", "Trust any certificate of the server"),
    ("objective", "Bounds, such as 'p99 < 50ms'"),
    ("probe", "Read this source of the server"),
    ("output", "Report: html, json, csv and others"),
    ("quiet", "No progress, and no text report"),
    ("set", "Override a variable or a key"),
    ("repeat", "Repetitions of each load"),
    ("time-budget", "Time budget, such as 3m"),
    ("metric", "Metrics to compare, such as p99"),
    ("fail-if", "Exit code 9 beyond this difference"),
    ("listen", "Loopback address and port"),
    ("service", "Service time, such as exp:10ms"),
    ("workers", "Number of workers"),
    ("verbose", "Full text report"),
    ("tool", "Tools to score"),
    ("case", "Cases to run"),
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
    let short = command.mut_args(|argument| {
        let long = argument.get_long();
        let text = match argument.get_id().as_str() {
            "url" => Some("URL to request, with placeholders such as {n}"),
            _ => COMMON.iter().find(|common| Some(common.0) == long).map(|common| common.1),
        };
        let is_shown = text.is_some() || argument.is_positional();
        let argument = argument.hide(!is_shown).help_heading(None).hide_default_value(true);
        // An option of the same name may mean something else in another command: its own line is right.
        let fits = argument.get_help().is_some_and(|help| help.to_string().len() <= LINE_COLUMNS);
        match text {
            Some(text) if !fits => argument.help(text),
            _ => argument,
        }
    });
    // The page has a limit, and `-h` does the same as `help`.
    short.mut_subcommands(|subcommand| {
        let is_hidden = subcommand.is_hide_set() || subcommand.get_name() == "help";
        subcommand.hide(is_hidden)
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
        let cut: Vec<&str> = ["brunt -h", "brunt sweep -h", "brunt find -h", "brunt lab -h"]
            .into_iter()
            .filter(|line| page_of(line).lines().any(|line| line.ends_with('…')))
            .collect();
        assert!(cut.is_empty(), "{cut:?}");
    }

    #[test]
    fn every_common_option_exists() {
        let whole = Cli::command();
        let commands: Vec<&clap::Command> =
            std::iter::once(&whole).chain(whole.get_subcommands()).collect();
        for (name, _) in COMMON {
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
