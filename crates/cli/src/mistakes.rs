//! Explains an invalid command line and suggests a correct one.
//!
//! Out of scope: parsing values, which `spec` does with its own messages.

use crate::commands::Cli;
use crate::other_files;
use brunt_spec::error::nearest;
use brunt_spec::peer_words;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::path::Path;

/// Output of `brunt` without arguments.
pub const SHORT_HELP: &str = "\
brunt measures web servers: throughput, response times, capacity and bottlenecks.

Usage: brunt [OPTIONS] URL
       brunt COMMAND [OPTIONS] ...

  brunt http://127.0.0.1:8080/                10 users for 10 s, each waits for its reply (closed loop)
  brunt -r 500 -d 1m http://127.0.0.1:8080/   500 requests/s for 1 min, whatever the server does (open loop)
  brunt check http://127.0.0.1:8080/          one request: likely problems before a run
  brunt find http://127.0.0.1:8080/           the highest load with acceptable response times
  brunt compare A=http://a/ B=http://b/       which of two servers is better
  brunt run plan.yaml                         an experiment from a plan file (brunt plan new plan.yaml)
  brunt report last -o html=run.html          the last run as a page

All commands and options: brunt --help. Options of a command: brunt COMMAND --help.
";

/// Explains clap's error, if there is a better message than clap's.
pub fn explain(error: &clap::Error, words: &[String]) -> Option<String> {
    if let Some(message) = explain_single_dash(words).or_else(|| explain_jmeter(words)) {
        return Some(message);
    }
    match error.kind() {
        ErrorKind::UnknownArgument => {
            explain_unknown(&context(error, ContextKind::InvalidArg)?, words)
        }
        ErrorKind::ArgumentConflict => match context(error, ContextKind::InvalidSubcommand) {
            Some(second) => explain_second_word(&second, words),
            None => explain_conflict(error),
        },
        ErrorKind::ValueValidation => {
            let option = option(error)?;
            let value = context(error, ContextKind::InvalidValue)?;
            let wrong = range_message(&error.source()?.to_string());
            // The message may quote the value itself.
            let value = if wrong.contains('`') { String::new() } else { format!("`{value}`: ") };
            Some(format!("{option}: {value}{wrong}"))
        }
        ErrorKind::InvalidValue => {
            let option = option(error)?;
            let value = context(error, ContextKind::InvalidValue).unwrap_or_default();
            let allowed = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(allowed)) => allowed.join(", "),
                _ => String::new(),
            };
            // clap reports a missing value as an empty one.
            Some(match (value.is_empty(), allowed.is_empty()) {
                (true, true) => {
                    let argument = context(error, ContextKind::InvalidArg)?;
                    format!("{option}: the value is missing; write {argument}")
                }
                (true, false) => format!("{option}: the value is missing; write one of {allowed}"),
                (false, _) => format!("{option}: invalid value `{value}`; write one of {allowed}"),
            })
        }
        ErrorKind::InvalidSubcommand => {
            explain_subcommand(&context(error, ContextKind::InvalidSubcommand)?, words)
        }
        ErrorKind::MissingRequiredArgument => {
            let ContextValue::Strings(missing) = error.get(ContextKind::InvalidArg)? else {
                return None;
            };
            Some(format!("{} is missing; the arguments are in `--help`", missing.join(", ")))
        }
        _ => None,
    }
}

/// Joins words to a command line.
fn command_line(first: &[&str], rest: &[String]) -> String {
    let words: Vec<&str> = first.iter().copied().chain(rest.iter().map(String::as_str)).collect();
    words.join(" ")
}

/// Explains an unknown command of a command, such as `chek` of `brunt plan`.
fn explain_subcommand(word: &str, words: &[String]) -> Option<String> {
    let position = words.iter().position(|other| other == word)?;
    let is_help = words.get(1).is_some_and(|first| first == "help");
    let (command, name) = if is_help {
        (Cli::command(), "brunt help".to_owned())
    } else {
        command_of(&words[..position])
    };
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
    let rest = &words[position + 1..];
    // The file of which the command reads this kind.
    let kind = Path::new(word).extension().and_then(|ending| ending.to_str());
    if let Some(kind) = kind.filter(|kind| names.contains(kind)) {
        let instead = format!("{kind} {word}");
        return Some(format!(
            "`{word}` is not a command; write `{}`",
            command_line(&[&name, &instead], rest)
        ));
    }
    let instead = match nearest(word, names.iter().copied()) {
        Some(near) => format!("write `{}`", command_line(&[&name, near], rest)),
        None if is_help => "the commands are in `brunt --help`".to_owned(),
        None => format!("write one of {}", names.join(", ")),
    };
    Some(format!("`{word}` is not a command of `{name}`; {instead}"))
}

/// Rewrites clap's message for a number out of range, `0 is not in 1..=9`, in
/// the form of brunt's messages.
fn range_message(message: &str) -> String {
    let out = message
        .split_once(" is not in ")
        .and_then(|(value, range)| Some((value, range.split_once("..=")?)));
    out.map_or(message.into(), |(value, (least, most))| {
        format!("`{value}` is out of range; write {least} to {most}")
    })
}

/// Explains a long option with one dash, such as `-rate=50` of vegeta or `-version`.
fn explain_single_dash(words: &[String]) -> Option<String> {
    let (command, _) = command_of(words);
    let mut options = long_options(&command);
    options.extend(["help".to_owned(), "version".to_owned()]);
    words.iter().skip(1).take_while(|word| *word != "--").find_map(|word| {
        let bare = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let name = bare.split('=').next()?;
        if name.len() <= 3 {
            return None;
        }
        if let Some(instead) = peer_words::option(&format!("-{name}")) {
            return Some(format!("`{word}`: unknown option; {instead}"));
        }
        let is_option = options.iter().any(|option| option == name);
        is_option.then(|| format!("`{word}`: a long option has two dashes; write -{word}"))
    })
}

/// Explains options of JMeter before its plan, as in `-n -t plan.jmx`.
fn explain_jmeter(words: &[String]) -> Option<String> {
    let mut endings = words.iter().map(|word| Path::new(word).extension());
    let position = endings
        .position(|ending| ending.is_some_and(|ending| ending.eq_ignore_ascii_case("jmx")))
        .filter(|position| *position > 1)?;
    (words[position - 1] == "-t" && words[1].starts_with('-')).then(|| {
        format!("{}: for JMeter's options write `brunt jmeter {}`", words[1], words[1..].join(" "))
    })
}

/// Explains two options that exclude each other, or an option that is given twice.
fn explain_conflict(error: &clap::Error) -> Option<String> {
    let option = option(error)?;
    let others = match error.get(ContextKind::PriorArg)? {
        ContextValue::String(other) => name(other).to_owned(),
        ContextValue::Strings(others) => {
            others.iter().map(|other| name(other)).collect::<Vec<_>>().join(", ")
        }
        _ => return None,
    };
    if option == others {
        return Some(format!("{option} is given twice; write it once"));
    }
    Some(format!("{option} cannot be used with {others}; leave out one of them"))
}

/// The option that an error refers to.
fn option(error: &clap::Error) -> Option<String> {
    context(error, ContextKind::InvalidArg).map(|argument| name(&argument).to_owned())
}

/// The name of an option, without the placeholder of its value.
fn name(argument: &str) -> &str {
    argument.split(" <").next().unwrap_or(argument)
}

/// Explains a URL that is a mistyped command or the name of a file.
pub fn not_a_url(word: &str) -> Option<String> {
    for scheme in ["http", "https", "ws", "wss"] {
        let rest = word.strip_prefix(scheme).and_then(|rest| rest.strip_prefix(":/"));
        if let Some(rest) = rest.filter(|rest| !rest.starts_with('/')) {
            return Some(format!(
                "`{word}`: two slashes follow the scheme; write {scheme}://{rest}"
            ));
        }
    }
    // Only URLs contain these.
    if word.contains("://") || word.contains(['{', '?']) {
        return None;
    }
    if Path::new(word).is_dir() && (word.starts_with('.') || word.contains('/')) {
        return Some(format!(
            "`{word}` is a directory; write a plan file in it, such as `brunt run plan.yaml`, or a URL"
        ));
    }
    if Path::new(word).is_file() {
        let instead = other_files::command_for_file(word).unwrap_or_else(|| {
            match Path::new(word).extension().and_then(|ending| ending.to_str()) {
                Some("yaml" | "yml") => format!("to run it write `brunt run {word}`"),
                _ => format!(
                    "write --urls {word} for a list of URLs, or http://{word}/ for a host of this name"
                ),
            }
        });
        return Some(format!("`{word}` is a file, not a URL; {instead}"));
    }
    // A word with a point, colon or slash is a host or a path.
    let command = command_like(word).filter(|_| !word.contains(['.', ':', '/']))?;
    Some(format!(
        "`{word}` is not a command; write `brunt {command}`, or http://{word}/ for a host of this name"
    ))
}

/// Explains an unknown option, or a value that begins with a minus.
fn explain_unknown(argument: &str, words: &[String]) -> Option<String> {
    if let Some(instead) = peer_words::option(argument) {
        return Some(format!("`{argument}`: unknown option; {instead}"));
    }
    // clap reports an option without its value, as in `--laten=5`.
    let position = words.iter().position(|word| word.starts_with(argument))?;
    let word = &words[position];
    if word.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit()) {
        let before =
            words.get(position.checked_sub(1)?).filter(|before| before.starts_with('-'))?;
        let positive = word.trim_start_matches('-');
        return Some(format!(
            "`{word}`: {before} takes no negative value; write {before} {positive}"
        ));
    }
    let (command, name) = command_of(words);
    let options = long_options(&command);
    let help = format!("the options are in `{name} --help`");
    if options.is_empty() || !word.starts_with("--") {
        return word.starts_with('-').then(|| format!("`{argument}`: unknown option; {help}"));
    }
    let bare = argument.trim_start_matches('-');
    let near = nearest(bare, options.iter().map(String::as_str).chain(["version", "help"]));
    let instead = near.map_or(help, |near| format!("write --{near}"));
    Some(format!("`{argument}`: unknown option; {instead}"))
}

/// The command of a command line, with its name, such as `brunt baseline check`.
fn command_of(words: &[String]) -> (clap::Command, String) {
    let mut command = Cli::command();
    let mut name = "brunt".to_owned();
    for word in words.iter().skip(1) {
        let Some(subcommand) = command.find_subcommand(word).cloned() else { break };
        command = subcommand;
        name.extend([" ", word]);
    }
    (command, name)
}

/// The long options of a command, without dashes.
fn long_options(command: &clap::Command) -> Vec<String> {
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    shown.filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
}

/// Explains a second positional argument: after a mistyped command, or a second URL.
fn explain_second_word(second: &str, words: &[String]) -> Option<String> {
    let position = words.iter().rposition(|word| word == second)?;
    let (command, _) = command_of(words);
    // A format before the input of `brunt import`.
    if words.len() > 3 && command.get_name() == "import" {
        return explain_subcommand(&words[2], words);
    }
    // A bare `--studio` opens a page, so the address of a team's studio needs the equals sign.
    let mut before = words.get(..position)?.iter().rev().take(2);
    if let Some(distance) = before.position(|word| word == "--studio") {
        let address = &words[position - distance];
        return Some(format!(
            "--studio {address}: a value needs an equals sign; write --studio={address}"
        ));
    }
    let first = positionals(&words[..position]).into_iter().next()?;
    if let Some(command) = command_like(first).filter(|_| !is_like_a_url(first)) {
        let others: Vec<String> =
            words[1..].iter().filter(|word| *word != first).cloned().collect();
        let line = command_line(&["brunt", &command], &others);
        return Some(format!("`{first}` is not a command; write `{line}`"));
    }
    if Cli::command().find_subcommand(second).is_some() && is_like_a_url(first) {
        return Some(format!(
            "`{second}`: the command comes first; write `brunt {second} {first}`"
        ));
    }
    if !is_like_a_url(first) || !is_like_a_url(second) {
        let stray = if is_like_a_url(first) { second } else { first };
        return Some(explain_stray(stray, words));
    }
    Some(format!(
        "`{second}` is a second URL; write `brunt compare {first} {second}` to compare two servers, or --urls FILE for a \
         list of URLs"
    ))
}

/// The words of a command line without a command that are neither options nor their values.
fn positionals(words: &[String]) -> Vec<&str> {
    let command = Cli::command();
    let mut positionals = Vec::new();
    let mut is_value = false;
    for word in words.iter().skip(1) {
        if is_value {
            is_value = false;
        } else if word.starts_with('-') {
            is_value = !word.contains('=') && takes_value(&command, word);
        } else {
            positionals.push(word.as_str());
        }
    }
    positionals
}

/// True if the next word is the value of this option.
fn takes_value(command: &clap::Command, option: &str) -> bool {
    let mut options = command.get_arguments();
    let argument = match option.strip_prefix("--") {
        Some(long) => options.find(|argument| argument.get_long() == Some(long)),
        // Short options may stand together; the last one may have a value.
        None => options.find(|argument| argument.get_short() == option.chars().last()),
    };
    argument.is_some_and(|argument| argument.get_action().takes_values())
}

/// Explains a word that is neither an option, nor a value, nor a URL.
fn explain_stray(stray: &str, words: &[String]) -> String {
    const PEERS: [&str; 9] =
        ["wrk", "wrk2", "hey", "oha", "vegeta", "locust", "artillery", "bombardier", "h2load"];
    if PEERS.contains(&stray) {
        return format!(
            "`{stray}` is another tool, and brunt has no command of this name; write `brunt URL` with options of `brunt --help`"
        );
    }
    let position = words.iter().rposition(|word| word == stray).unwrap_or_default();
    let before: Vec<&str> = words[..position].iter().rev().take(2).map(String::as_str).collect();
    match before[..] {
        // The unit of a number, after a space.
        [number, option] if option.starts_with('-') && is_number(number) && is_unit(stray) => {
            format!(
                "`{stray}`: the unit follows its number without a space; write {option} {number}{stray}"
            )
        }
        ["-q", ..] if is_number(stray) => {
            format!(
                "`{stray}`: -q prints nothing and has no value; for {stray} requests/s write -r {stray}"
            )
        }
        [option, ..] if option.starts_with('-') => format!(
            "`{stray}`: {option} has no value, or has it already; leave `{stray}` out, or write the option to which it belongs"
        ),
        _ => format!(
            "`{stray}` is neither a command nor a URL; leave it out, or write the option to which it belongs"
        ),
    }
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

fn is_unit(word: &str) -> bool {
    matches!(word, "ms" | "s" | "sec" | "seconds" | "m" | "min" | "minutes" | "h")
}

/// True for an address: a scheme, a host with a point or a port, `localhost`, or a path.
fn is_like_a_url(word: &str) -> bool {
    !word.starts_with('-')
        && !is_number(word)
        && (word.contains(['.', ':', '/', '[']) || word == "localhost")
}

fn command_like(word: &str) -> Option<String> {
    let whole = Cli::command();
    let names: Vec<&str> =
        whole.get_subcommands().filter(|c| !c.is_hide_set()).map(clap::Command::get_name).collect();
    let near = nearest(word, names.iter().copied()).filter(|near| *near != word)?;
    // A word that is less similar is probably the name of a host.
    let is_near =
        near.len().abs_diff(word.len()) <= 2 && near.chars().next() == word.chars().next();
    is_near.then(|| near.to_owned())
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn told(line: &str) -> String {
        let words: Vec<String> =
            format!("brunt {line}").split_whitespace().map(str::to_owned).collect();
        let error = Cli::try_parse_from(&words).unwrap_err();
        explain(&error, &words).unwrap_or_else(|| panic!("{line}: {error}"))
    }

    #[test]
    fn likely_corrections_are_suggested() {
        for (line, words) in [
            ("rum plan.yaml", "write `brunt run plan.yaml`"),
            ("swep -r 100..200+100 http://a/", "write `brunt sweep -r 100..200+100 http://a/`"),
            ("-q 50 http://a/", "write -r 50"),
            ("-d 1 s http://a/", "write -d 1s"),
            ("-c 4 20 http://a/", "`20` is neither a command nor a URL"),
            ("locust x.py", "`locust` is another tool"),
            ("http://a/ http://a/", "write `brunt compare http://a/ http://a/`"),
            ("-rate=50 http://a/", "write --rate=50"),
            ("-version", "write --version"),
            ("--verson", "write --version"),
            ("--threshold 5 http://a/", "write --objective"),
            ("--ramp 10s http://a/", "write -c 0..N/TIME"),
            ("--server http://a/", "the URL is an argument"),
            ("-cpus 5 http://a/", "write --threads N"),
            ("--concurrency 5 http://a/", "write -c N"),
            ("-n -t plan.jmx", "write `brunt jmeter -n -t plan.jmx`"),
            ("http://a/ http://b/", "write `brunt compare http://a/ http://b/`"),
            ("http://a/ check", "write `brunt check http://a/`"),
            ("http://a/ --studio https://t:1", "write --studio=https://t:1"),
            ("--studio https://t:1 http://a/", "write --studio=https://t:1"),
            ("-n -5 http://a/", "write -n 5"),
            ("-s x.lua http://a/", "plan file"),
            ("--conections 5 http://a/", "write --connections"),
            ("find --max-lod 5 http://a/", "write --max-load"),
            (
                "baseline check x --time-budget 4s",
                "the options are in `brunt baseline check --help`",
            ),
            ("baseline check x --min-diference 4%", "write --min-difference"),
            ("plan chek plan.yaml", "write `brunt plan check plan.yaml`"),
            ("help swep", "write `brunt help sweep`"),
            ("import haar x.har", "write `brunt import har x.har`"),
            ("plan foo", "write one of check"),
            (
                "sweep -r 5..9+1 http://a/ --repeat 0",
                "--repeat: `0` is out of range; write 1 to 100000",
            ),
        ] {
            assert!(told(line).contains(words), "{line}: {}", told(line));
        }
    }

    #[test]
    fn options_of_other_tools_are_none_of_this_and_name_existing_ones() {
        let whole = Cli::command();
        let run = whole.find_subcommand("run").expect("a command");
        let arguments = run.get_arguments().chain(whole.get_arguments());
        let options: Vec<&str> = arguments.filter_map(clap::Arg::get_long).collect();
        for (spellings, instead) in peer_words::options() {
            for spelling in spellings {
                let long = spelling.strip_prefix("--");
                assert!(
                    !long.is_some_and(|long| options.contains(&long)),
                    "{spelling} is an option of brunt"
                );
            }
            let named = instead
                .split([' ', '(', ')', ',', ';', '\''])
                .filter_map(|word| word.strip_prefix("--"));
            for long in named {
                assert!(options.contains(&long), "--{long} is no option: {instead}");
            }
        }
    }

    #[test]
    fn hosts_are_not_taken_for_commands() {
        assert!(not_a_url("rum").is_some_and(|told| told.contains("`brunt run`")));
        assert!(
            not_a_url("http:/h:80").is_some_and(|message| message.ends_with("write http://h:80"))
        );
        assert!(not_a_url("..").is_some_and(|message| message.contains("is a directory")));
        for host in ["localhost", "web", "find.example.org", "http://rum", "api"] {
            assert_eq!(not_a_url(host), None, "{host}");
        }
    }

    #[test]
    fn brunt_without_arguments_prints_at_most_twenty_lines() {
        assert!(
            SHORT_HELP.lines().count() <= 20
                && SHORT_HELP.lines().all(|line| line.chars().count() <= 110)
        );
    }
}
