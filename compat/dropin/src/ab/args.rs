//! Parses ab's command line: the meaning of each option, then the rules
//! between options, in ab's order.
//!
//! Options are applied in order, and some depend on their position. `-t` resets the number of
//! requests, so only a later `-n` counts. `-p`, `-u` and `-i` must not follow another method.

mod options;

use super::super::brunt_options::BruntOptions;
use super::super::getopt::{ShortItem, ShortOptions, atoi};
use super::target::AbTarget;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::system_error::without_number;
use options::{AbOption, OPTIONS};
use std::fs;
use std::path::PathBuf;

/// Highest number of connections.
const MOST_CONNECTIONS: i64 = 200_000;
/// Number of requests with a time limit (`-t`) but no later `-n`.
const REQUESTS_IN_TIME: i64 = 50_000;
/// Longest credentials, encoded in base64.
const LONGEST_CREDENTIALS: usize = 1024;

/// The settings of ab's command line.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of ab's
pub struct AbArgs {
    pub program_name: String,
    pub target: AbTarget,
    /// ab's message for an invalid option. ab prints it and continues.
    pub complaint: String,
    /// `-n`.
    pub requests: i64,
    /// `-c`.
    pub connections: i64,
    /// `-t`, in seconds.
    pub time_limit: Option<i64>,
    /// `-s`, in seconds.
    pub timeout: i64,
    /// `-b`, in bytes.
    pub buffer: Option<u32>,
    /// `-B`.
    pub source: Option<String>,
    /// Method of the request line.
    pub method: Option<String>,
    /// `-p` or `-u`: the request body.
    pub body: Option<Vec<u8>>,
    /// `-T`.
    pub content_type: String,
    /// `-v`.
    pub verbosity: i64,
    /// `-w`, `-x`, `-y`, `-z`: the report as HTML.
    pub html: Option<Html>,
    /// `-C`, in order.
    pub cookies: Vec<String>,
    /// `-H`, in order.
    pub headers: Vec<String>,
    /// `-A` and `-P`: header lines, in order.
    pub credentials: Vec<String>,
    /// `-X`: host and port.
    pub proxy: Option<(String, u16)>,
    /// `-k`.
    pub keep_alive: bool,
    /// `-d`: print no table of percentiles.
    pub no_percentiles: bool,
    /// `-S`: print no standard deviation, median or warnings.
    pub no_confidence: bool,
    /// `-q`: print no progress.
    pub quiet: bool,
    /// `-l`: accept bodies of different lengths.
    pub any_length: bool,
    /// `-g`.
    pub gnuplot: Option<PathBuf>,
    /// `-e`.
    pub csv: Option<PathBuf>,
    /// `-r`: continue after socket errors.
    pub survive: bool,
    /// `-I`.
    pub no_sni: bool,
    /// `-Z`.
    pub ciphers: Option<String>,
    /// `-f`.
    pub protocol: Option<String>,
    /// `-E`.
    pub certificate: Option<PathBuf>,
    pub brunt_options: BruntOptions,
}

/// Attributes of the tags of the HTML report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Html {
    /// Attributes of `<table>`.
    pub table: String,
    /// Attributes of `<tr>`.
    pub row: String,
    /// Attributes of `<td>` and `<th>`.
    pub cell: String,
}

impl Default for Html {
    fn default() -> Self {
        Self { table: String::new(), row: String::new(), cell: "bgcolor=white".into() }
    }
}

/// Why ab exits without a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AbExit {
    /// Prints the usage after this message.
    Usage(String),
    /// Prints this message to stderr.
    Message(String),
    Version,
}

/// Parses the arguments that follow the program's name.
pub fn parse(program_name: &str, words: &[String]) -> Result<AbArgs, AbExit> {
    let mut args = AbArgs::with_defaults(program_name);
    let mut short = ShortOptions::new(words, |letter| {
        OPTIONS.iter().find(|row| row.0 == letter).map(|row| row.1)
    });
    while let Some(next) = short.next() {
        match next {
            ShortItem::Option(letter, value) => args.take(letter, value)?,
            ShortItem::BruntOption(word) => {
                let result = args.brunt_options.take(word, || short.take_word());
                result.map_err(|why| AbExit::Message(format!("{program_name}: {why}\n")))?;
            }
            // ab continues as if it had read all options.
            ShortItem::Unknown(letter) => {
                args.complaint = format!("{program_name}: illegal option -- {letter}\n");
                break;
            }
            ShortItem::MissingValue(letter) => {
                args.complaint =
                    format!("{program_name}: option requires an argument -- {letter}\n");
                break;
            }
        }
    }
    let [url] = short.rest() else { return Err(args.usage("wrong number of arguments")) };
    args.target = AbTarget::parse(url).ok_or_else(|| args.usage("invalid URL"))?;
    args.check()?;
    Ok(args)
}

impl AbArgs {
    fn take(&mut self, letter: char, value: &str) -> Result<(), AbExit> {
        match OPTIONS.iter().find(|row| row.0 == letter).map(|row| row.2) {
            Some(AbOption::Set(set)) => set(self, value),
            Some(AbOption::Try(set)) => set(self, value)?,
            None => {}
        }
        Ok(())
    }

    /// The values of options that are not given.
    fn with_defaults(program_name: &str) -> Self {
        Self {
            program_name: program_name.to_owned(),
            target: AbTarget::default(),
            complaint: String::new(),
            requests: 1,
            connections: 1,
            time_limit: None,
            timeout: 30,
            buffer: None,
            source: None,
            method: None,
            body: None,
            content_type: "text/plain".into(),
            verbosity: 0,
            html: None,
            cookies: Vec::new(),
            headers: Vec::new(),
            credentials: Vec::new(),
            proxy: None,
            keep_alive: false,
            no_percentiles: false,
            no_confidence: false,
            quiet: false,
            any_length: false,
            gnuplot: None,
            csv: None,
            survive: false,
            no_sni: false,
            ciphers: None,
            protocol: None,
            certificate: None,
            brunt_options: BruntOptions::default(),
        }
    }

    /// Checks the rules between options, in ab's order.
    fn check(&mut self) -> Result<(), AbExit> {
        if !(0..=MOST_CONNECTIONS).contains(&self.connections) {
            return Err(self.usage(&format!("Invalid Concurrency [Range 0..{MOST_CONNECTIONS}]")));
        }
        if self.connections > self.requests {
            return Err(
                self.usage("Cannot use concurrency level greater than total number of requests")
            );
        }
        // ab would fail at its first wait. Its successor uses one connection per worker.
        self.connections = self.connections.max(1);
        Ok(())
    }

    fn usage(&self, why: &str) -> AbExit {
        AbExit::Usage(format!("{}{}: {why}\n", self.complaint, self.program_name))
    }

    /// Number of completed requests between two progress lines; None without progress.
    pub fn progress(&self) -> Option<u64> {
        (!self.quiet && self.requests > 150).then(|| (self.requests as u64 / 10).max(100))
    }

    fn set_requests(&mut self, value: &str) -> Result<(), AbExit> {
        self.requests = atoi(value);
        if self.requests <= 0 {
            Err(AbExit::Message("Invalid number of requests\n\n".into()))
        } else {
            Ok(())
        }
    }

    fn set_time_limit(&mut self, value: &str) {
        self.requests = REQUESTS_IN_TIME;
        self.time_limit = Some(atoi(value));
    }

    fn set_body(&mut self, method: &str, path: &str) -> Result<(), AbExit> {
        self.set_method(method)?;
        let read = fs::read(path);
        // ab writes POST for every method.
        let read = read.map_err(|e| {
            format!(
                "{}: Could not open POST data file ({path}): {}\n",
                self.program_name,
                without_number(&e.to_string())
            )
        });
        self.body = Some(read.map_err(AbExit::Message)?);
        Ok(())
    }

    fn set_method(&mut self, method: &str) -> Result<(), AbExit> {
        if self.method.is_some() {
            return Err(AbExit::Message(format!("Cannot mix {method} with other methods\n\n")));
        }
        self.method = Some(method.to_owned());
        Ok(())
    }

    fn add_credentials(&mut self, header: &str, kind: &str, value: &str) -> Result<(), AbExit> {
        let encoded = STANDARD.encode(value.trim_start());
        if encoded.len() > LONGEST_CREDENTIALS {
            return Err(AbExit::Message(format!("{kind} credentials too long\n\n")));
        }
        self.credentials.push(format!("{header}: Basic {encoded}"));
        Ok(())
    }

    fn set_proxy(&mut self, value: &str) {
        let (host, port) = value.split_once(':').unwrap_or((value, ""));
        self.proxy = Some((host.to_owned(), atoi(port).clamp(0, 65535) as u16));
    }
}

#[cfg(test)]
mod tests;
