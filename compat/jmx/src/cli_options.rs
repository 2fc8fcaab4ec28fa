//! Parser of JMeter's command line.
//!
//! Options have a short and a long name. A value follows in the same argument or in the next one:
//! `-t plan.jmx`, `-tplan.jmx`, `--testfile=plan.jmx`, `--testfile plan.jmx`. Short options
//! without values combine: `-nef`. [`CliOptions::brunt`] collects options that begin with
//! `--brunt-`: `--brunt-require=VALUE`, `--brunt-require VALUE`.

mod table;

use crate::error::JmxError;
use std::iter::Peekable;
use table::{Meaning, OPTIONS, OptionRow, Value};

/// Action of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JmeterMode {
    /// Opens the user interface.
    #[default]
    Gui,
    /// Runs a plan: `-n`.
    NonGui,
    /// Waits for plans as a remote server: `-s`.
    Server,
    /// Makes a report from a result file: `-g`.
    Report,
    /// Shows the help text: `-h`.
    Help,
    /// Lists the options: `-?`.
    Options,
    /// Shows the version: `-v`.
    Version,
}

/// The servers that run the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RemoteServers {
    /// The test runs on this machine.
    #[default]
    None,
    /// Those of the property `remote_hosts`: `-r`.
    Configured,
    /// The servers of the option `-R`.
    Hosts(Vec<String>),
}

/// A source of properties, as written on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyArgument {
    /// A file with JMeter's properties: `-q`.
    File(String),
    /// A file with system properties: `-S`.
    SystemFile(String),
    /// A file with properties for remote servers: `-G` without a value.
    GlobalFile(String),
    /// One of JMeter's properties: `-J`. An empty value removes it.
    Jmeter(String, String),
    /// A system property: `-D`. An empty value removes it.
    System(String, String),
    /// A property for remote servers: `-G`.
    Global(String, String),
}

/// The proxy for HTTP requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProxyOptions {
    /// `-E`.
    pub scheme: Option<String>,
    /// `-H`.
    pub host: Option<String>,
    /// `-P`.
    pub port: Option<u16>,
    /// `-N`: hosts to connect to directly, such as `*.example.com|localhost`.
    pub except: Option<String>,
    /// `-u`.
    pub user: Option<String>,
    /// `-a`.
    pub password: Option<String>,
}

/// A parsed command line. File names are unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CliOptions {
    /// Action of the command.
    pub mode: JmeterMode,
    /// The plan: `-t`. `LAST` means the plan that was opened last.
    pub plan: Option<String>,
    /// Result file. `-l` names the file to write; in [`JmeterMode::Report`], `-g` names the file to read.
    pub result_file: Option<String>,
    /// Delete the result file and the report first: `-f`.
    pub force_delete: bool,
    /// Make a report after the run: `-e`.
    pub report_at_end: bool,
    /// Folder of the report: `-o`. It must be empty or new.
    pub report_folder: Option<String>,
    /// JMeter's own log: `-j`.
    pub log_file: Option<String>,
    /// Configuration of that log: `-i`.
    pub log_config: Option<String>,
    /// `-L`: category (None: all) and level.
    pub log_levels: Vec<(Option<String>, String)>,
    /// The file that replaces `jmeter.properties`: `-p`.
    pub property_file: Option<String>,
    /// Other sources of properties, in order: `-q -S -J -G -D`.
    pub properties: Vec<PropertyArgument>,
    /// The servers that run the plan.
    pub remote: RemoteServers,
    /// Stop the servers after the run: `-X`.
    pub exit_remote: bool,
    /// Installation folder of JMeter: `-d`.
    pub home: Option<String>,
    /// The proxy for the test's HTTP requests.
    pub proxy: ProxyOptions,
    /// Options that begin with `--brunt-`: the name without the dashes, and the value.
    /// Empty without a value.
    pub brunt: Vec<(String, String)>,
}

impl CliOptions {
    /// Parses the arguments that follow the program name, and checks the rules between options.
    ///
    /// # Errors
    ///
    /// Fails on an unknown option, a missing or wrong value, a repeated option, and options that
    /// exclude or need each other.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, JmxError> {
        let mut parser = ArgumentParser {
            options: Self::default(),
            seen: Vec::new(),
            rest: arguments.into_iter().peekable(),
        };
        while let Some(argument) = parser.rest.next() {
            parser.parse_argument(&argument)?;
        }
        let ArgumentParser { mut options, seen, .. } = parser;
        // JMeter shows help, options or version whatever else is on the command line.
        let modes =
            [('h', JmeterMode::Help), ('?', JmeterMode::Options), ('v', JmeterMode::Version)];
        if let Some(&(_, mode)) = modes.iter().find(|(short, _)| seen.contains(short)) {
            options.mode = mode;
            return Ok(options);
        }
        check(&seen)?;
        let modes =
            [('g', JmeterMode::Report), ('s', JmeterMode::Server), ('n', JmeterMode::NonGui)];
        options.mode = modes
            .iter()
            .find(|(short, _)| seen.contains(short))
            .map_or(JmeterMode::Gui, |(_, mode)| *mode);
        Ok(options)
    }
}

/// Checks the rules between options; `seen` has the short names of the options on the command line.
fn check(seen: &[char]) -> Result<(), JmxError> {
    let excluded = [('g', "nrRl"), ('s', "nrRg"), ('r', "R")];
    for (one, others) in excluded.into_iter().filter(|(one, _)| seen.contains(one)) {
        if let Some(other) = others.chars().find(|other| seen.contains(other)) {
            return Err(JmxError::new(format!(
                "{} excludes {}; remove one of them",
                option_names(one),
                option_names(other)
            )));
        }
    }
    let needs = [
        ('e', "l", "write `-l results.jtl`"),
        ('e', "n", "write `-n`"),
        ('n', "t", "write `-t plan.jmx`"),
        ('r', "n", "write `-n`"),
        ('R', "n", "write `-n`"),
        ('X', "n", "write `-n`"),
        ('o', "eg", "write `-e` or `-g results.jtl`"),
        ('P', "H", "write `-H proxy.example.com`"),
    ];
    for (one, others, advice) in needs {
        if seen.contains(&one) && !others.chars().any(|other| seen.contains(&other)) {
            let names: Vec<String> = others.chars().map(option_names).collect();
            return Err(JmxError::new(format!(
                "{} needs {}; {advice}",
                option_names(one),
                names.join(" or ")
            )));
        }
    }
    Ok(())
}

/// Both names of an option, for messages: `` `-t` (`--testfile`) ``.
fn option_names(short: char) -> String {
    let long = OPTIONS.iter().find(|row| row.short == short).map_or("", |row| row.long);
    format!("`-{short}` (`--{long}`)")
}

struct ArgumentParser<I: Iterator> {
    options: CliOptions,
    /// Short names of the options read so far.
    seen: Vec<char>,
    rest: Peekable<I>,
}

impl<I: Iterator<Item = String>> ArgumentParser<I> {
    fn parse_argument(&mut self, argument: &str) -> Result<(), JmxError> {
        if let Some(long) = argument.strip_prefix("--") {
            return self.parse_long(long);
        }
        match argument.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            Some(letters) => self.parse_short(letters),
            None => Err(JmxError::new(format!(
                "unexpected argument `{argument}`; a plan is named with `-t {argument}`"
            ))),
        }
    }

    fn parse_long(&mut self, text: &str) -> Result<(), JmxError> {
        let (name, value) = text
            .split_once('=')
            .map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
        if name.starts_with("brunt-") {
            // The value is optional, so the next argument may be another option.
            let value = value.or_else(|| self.rest.next_if(|next| !next.starts_with('-')));
            self.options.brunt.push((name.to_owned(), value.unwrap_or_default()));
            return Ok(());
        }
        let row = OPTIONS.iter().find(|row| row.long == name);
        let row = row.ok_or_else(|| {
            JmxError::new(format!("unknown option `--{name}`; {}", suggestion(name)))
        })?;
        match (row.value, value) {
            (Value::None, Some(value)) => {
                Err(JmxError::new(format!("`--{name}` takes no value; remove `={value}`")))
            }
            (Value::None, None) => self.apply(row, ""),
            (Value::Needed, Some(value)) => self.apply(row, &value),
            (Value::Needed, None) => {
                let value = self.next_value(row)?;
                self.apply(row, &value)
            }
        }
    }

    fn parse_short(&mut self, letters: &str) -> Result<(), JmxError> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let row = OPTIONS.iter().find(|row| row.short == letter);
            let row = row.ok_or_else(|| {
                JmxError::new(format!("unknown option `-{letter}` in `-{letters}`; `-?` lists all"))
            })?;
            match (row.value, rest) {
                (Value::None, _) => self.apply(row, "")?,
                (Value::Needed, "") => {
                    let value = self.next_value(row)?;
                    return self.apply(row, &value);
                }
                // JMeter accepts both `-jFILE` and `-j=FILE`.
                (Value::Needed, value) => {
                    return self.apply(row, value.strip_prefix('=').unwrap_or(value));
                }
            }
        }
        Ok(())
    }

    fn next_value(&mut self, row: &OptionRow) -> Result<String, JmxError> {
        self.rest.next().ok_or_else(|| {
            let names = option_names(row.short);
            JmxError::new(format!("{names} needs a value; write `-{} {}`", row.short, row.example))
        })
    }

    fn apply(&mut self, row: &OptionRow, value: &str) -> Result<(), JmxError> {
        // JMeter's parser refuses a repeated option as well.
        if self.seen.contains(&row.short) && !row.repeats {
            return Err(JmxError::new(format!(
                "{} is given twice; remove one",
                option_names(row.short)
            )));
        }
        self.seen.push(row.short);
        if row.value == Value::Needed && value.is_empty() {
            return Err(JmxError::new(format!(
                "{} has an empty value; write `-{} {}`",
                option_names(row.short),
                row.short,
                row.example
            )));
        }
        match row.meaning {
            Meaning::Mode => Ok(()),
            Meaning::Flag(field) => {
                *field(&mut self.options) = true;
                Ok(())
            }
            Meaning::Text(field) => {
                *field(&mut self.options) = Some(value.to_owned());
                Ok(())
            }
            Meaning::Other(set) => set(&mut self.options, value).map_err(|message| {
                JmxError::new(format!(
                    "{} is `{value}`; {message}, such as `-{} {}`",
                    option_names(row.short),
                    row.short,
                    row.example
                ))
            }),
        }
    }
}

/// Suggests the options whose first three letters match.
fn suggestion(name: &str) -> String {
    let start: String = name.chars().take(3).collect::<String>().to_lowercase();
    let alike: Vec<String> = (OPTIONS.iter())
        .filter(|row| !start.is_empty() && row.long.to_lowercase().starts_with(&start))
        .map(|row| format!("`--{}`", row.long))
        .collect();
    if alike.is_empty() {
        "`-?` lists all".to_owned()
    } else {
        format!("did you mean {}?", alike.join(" or "))
    }
}

#[cfg(test)]
mod tests;
