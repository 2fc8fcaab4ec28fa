//! Explains an invalid command line and suggests a correct one.
//!
//! Out of scope: parsing values, which `spec` does with its own messages.

use crate::commands::Cli;
use brunt_spec::error::nearest;
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

/// Options of other tools that have a different meaning here, or none.
const FOREIGN: [(&[&str], &str); 11] = [
    (
        &["-s", "--script"],
        "brunt runs no Lua scripts; describe requests in a plan file (`brunt plan new plan.yaml`). For no output write -q",
    ),
    (&["--http2", "--http2-prior-knowledge", "-2"], "write --http 2"),
    (&["--http3"], "write --http 3"),
    (&["--http1.1"], "HTTP/1.1 is the default; leave it out"),
    (&["--concurrency", "--clients"], "write -c N (--connections)"),
    (
        &["-O", "--remote-name"],
        "replies are not stored; leave it out, or write -o FORMAT=FILE for a report",
    ),
    (&["-i", "--include"], "write `brunt check URL`, which shows the reply's status and headers"),
    (
        &["-F"],
        "write --form NAME=VALUE; a multipart form is `multipart` of a step in a plan file (docs/scenarios.md)",
    ),
    (
        &["--data-raw", "--data-urlencode"],
        "write --data TEXT, or --form NAME=VALUE, which is encoded",
    ),
    (&["-U", "--proxy-user"], "put name and password into the URL of --proxy"),
    (&["-w", "--workers"], "write --threads N"),
];

/// Explains clap's error, if there is a better message than clap's.
pub fn explain(error: &clap::Error, words: &[String]) -> Option<String> {
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
            let word = context(error, ContextKind::InvalidSubcommand)?;
            let near = error.get(ContextKind::SuggestedSubcommand)?;
            let ContextValue::Strings(near) = near else { return None };
            let [command, rest @ ..] = words.get(1..)? else { return None };
            let near = near.last()?;
            let rest = [&[String::new()], rest.get(1..)?].concat().join(" ");
            Some(format!("`{word}` is not a command; write `brunt {command} {near}{rest}`"))
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
    // Only URLs contain these.
    if word.contains("://") || word.contains(['{', '?']) {
        return None;
    }
    if Path::new(word).is_file() {
        let instead = match Path::new(word).extension().and_then(|ending| ending.to_str()) {
            Some("events") => format!("for its report write `brunt report {word}`"),
            Some("brunt") => format!("to import it write `brunt runs import {word}`"),
            _ => format!(
                "write --urls {word} for a list of URLs, or http://{word}/ for a host of this name"
            ),
        };
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
    if let Some((_, instead)) = FOREIGN.iter().find(|(spellings, _)| spellings.contains(&argument))
    {
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
    let near = nearest(bare, options.iter().map(String::as_str))
        .filter(|near| near.len().abs_diff(bare.len()) <= 3);
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
    let position = words.iter().position(|word| word == second)?;
    let first = words.get(position.checked_sub(1)?).filter(|_| position > 1)?;
    // A bare `--studio` opens a page, so the address of a team's studio needs the equals sign.
    let mut before = words.get(..position)?.iter().rev().take(2);
    if let Some(distance) = before.position(|word| word == "--studio") {
        let address = &words[position - distance];
        return Some(format!(
            "--studio {address}: a value needs an equals sign; write --studio={address}"
        ));
    }
    if let Some(command) = command_like(first).filter(|_| !first.contains("://")) {
        return Some(format!("`{first}` is not a command; write `brunt {command} {second}`"));
    }
    if Cli::command().find_subcommand(second).is_some() {
        return Some(format!(
            "`{second}`: the command comes first; write `brunt {second} {first}`"
        ));
    }
    Some(format!(
        "`{second}` is a second URL; write `brunt compare {first} {second}` to compare two servers, or --urls FILE for a \
         list of URLs"
    ))
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
            (
                "sweep -r 5..9+1 http://a/ --repeat 0",
                "--repeat: `0` is out of range; write 1 to 100000",
            ),
        ] {
            assert!(told(line).contains(words), "{line}: {}", told(line));
        }
    }

    #[test]
    fn hosts_are_not_taken_for_commands() {
        assert!(not_a_url("rum").is_some_and(|told| told.contains("`brunt run`")));
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
