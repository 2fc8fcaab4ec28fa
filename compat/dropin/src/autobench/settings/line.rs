//! Parses the command line of autobench and `autobench_admin` like Perl's `Getopt::Long`.

use super::super::super::brunt_options::BruntOptions;
use super::super::super::getopt::long::{LongItem, LongOptions};
use super::super::StopReason;
use super::super::keys::{KeyScope, help, rows};
use super::super::number::perl;
use super::TestedHost;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Values of options by name.
pub type OptionValues = BTreeMap<&'static str, String>;

/// A parsed command line.
pub struct CommandLine {
    pub values: OptionValues,
    pub brunt_options: Vec<BruntOption>,
}

impl CommandLine {
    /// Parses the arguments that follow the program's name.
    pub fn read(program_name: &str, words: &[String], scope: KeyScope) -> Result<Self, StopReason> {
        let rows = rows(scope);
        let words = to_gnu_style(words);
        let mut long = LongOptions::new(&words, &rows);
        let mut line = Self { values: OptionValues::new(), brunt_options: Vec::new() };
        while let Some(read) = long.next() {
            match read {
                LongItem::Option(row, value) => {
                    // A switch has the value 1, as in Perl.
                    line.values.insert(row.effect.name, value.unwrap_or("1").to_owned());
                }
                LongItem::BruntOption(word)
                    if scope == KeyScope::Admin && is_admin_option(word) =>
                {
                    let (name, value) = admin_option(word, || long.take_word())?;
                    line.values.insert(name, value);
                }
                LongItem::BruntOption(word) => {
                    line.brunt_options.push(brunt_option(word, || long.take_word())?);
                }
                LongItem::OptionError(wrong) => {
                    return Err(StopReason::Error(format!(
                        "{wrong}\n{}",
                        help(program_name, scope)
                    )));
                }
            }
        }
        if let Some(other) = long.others().first() {
            return Err(StopReason::Error(format!(
                "{other}: write options only\n{}",
                help(program_name, scope)
            )));
        }
        if line.is("help") {
            return Err(StopReason::Output(help(program_name, scope)));
        }
        Ok(line)
    }

    /// True if the option is given.
    pub fn is(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
}

/// The brunt options of `autobench_admin` for its daemons.
const ADMIN_OPTIONS: [&str; 2] = ["secret", "start-in"];

fn is_admin_option(word: &str) -> bool {
    ADMIN_OPTIONS.contains(&word.split_once('=').map_or(word, |(name, _)| name))
}

/// Parses one of these options and its value.
fn admin_option<'a>(
    word: &'a str,
    next: impl FnOnce() -> Option<&'a str>,
) -> Result<(&'static str, String), String> {
    let (name, joined) =
        word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let name = ADMIN_OPTIONS.into_iter().find(|known| *known == name).ok_or_else(|| {
        format!("unknown option --brunt-{name}; write one of --brunt-secret FILE, --brunt-start-in SECONDS")
    })?;
    let value = joined.map_or_else(next, Some);
    Ok((
        name,
        value
            .ok_or_else(|| format!("--brunt-{name} needs a value; write it after the option"))?
            .to_owned(),
    ))
}

/// Parses an option of every drop-in, so that errors show before the first test.
fn brunt_option<'a>(
    word: &'a str,
    next: impl FnOnce() -> Option<&'a str>,
) -> Result<BruntOption, String> {
    let (name, joined) =
        word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let mut value = joined;
    BruntOptions::default().take(word, || {
        value = next();
        value
    })?;
    Ok(BruntOption { name: name.to_owned(), value: value.map(str::to_owned) })
}

/// Converts to GNU style. Perl's parser accepts a single dash for two, and ignores case.
fn to_gnu_style(words: &[String]) -> Vec<String> {
    words.iter().map(|word| gnu_option(word).unwrap_or_else(|| word.clone())).collect()
}

/// The option in GNU style; None for other words and for brunt's options.
fn gnu_option(word: &str) -> Option<String> {
    let bare = word.strip_prefix("--").or(word.strip_prefix('-'))?;
    let (name, value) = bare.split_at(bare.find('=').unwrap_or(bare.len()));
    let is_unchanged =
        name.starts_with("brunt-") || !name.starts_with(|c: char| c.is_ascii_alphabetic());
    (!is_unchanged).then(|| format!("--{}{value}", name.to_ascii_lowercase()))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BruntOption {
    /// Name without the prefix `--brunt-`.
    name: String,
    /// Value, if it has one.
    value: Option<String>,
}

/// Options with a file as value. Each test needs its own file.
const FILES: [&str; 2] = ["json", "report"];

impl BruntOption {
    /// Name without the prefix `--brunt-`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if the option has this name.
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// The option as an argument of a test. The test's host and rate become part of file names.
    pub fn word(&self, host: &TestedHost, rate: f64) -> String {
        let Self { name, value } = self;

        match value {
            Some(value) if FILES.contains(&name.as_str()) => {
                format!("--brunt-{name}={}", file_of_test(value, host, rate))
            }
            Some(value) => format!("--brunt-{name}={value}"),
            None => format!("--brunt-{name}"),
        }
    }
}

fn file_of_test(value: &str, host: &TestedHost, rate: f64) -> String {
    let path = PathBuf::from(value);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path
        .extension()
        .map(|extension| format!(".{}", extension.to_string_lossy()))
        .unwrap_or_default();
    // A slash would name a folder.
    let host = host.name.replace('/', "_");
    path.with_file_name(format!("{stem}-{host}-{}{extension}", perl(rate))).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_separate_files() {
        let host = TestedHost { name: "a.example".into(), port: 80, uri: "/".into() };
        let word = |word: &str, value: Option<&'static str>| {
            brunt_option(word, || value).unwrap().word(&host, 2.5)
        };
        assert_eq!(word("json", Some("out/run.json")), "--brunt-json=out/run-a.example-2.5.json");
        assert_eq!(word("report=run", None), "--brunt-report=run-a.example-2.5");
        assert_eq!(
            (word("threads=2", None), word("no-notes", None)),
            ("--brunt-threads=2".into(), "--brunt-no-notes".into())
        );
        assert!(brunt_option("nope", || None).is_err());
    }

    #[test]
    fn perl_option_styles_are_converted() {
        let words =
            ["-host1", "--HOST2=B", "--brunt-json", "-9", "-", "--", "x"].map(str::to_owned);
        assert_eq!(
            to_gnu_style(&words),
            ["--host1", "--host2=B", "--brunt-json", "-9", "-", "--", "x"]
        );
    }
}
