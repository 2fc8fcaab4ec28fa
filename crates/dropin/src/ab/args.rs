//! ab's command line: which letters there are, and what each means by itself; the rules between them, in ab's order.
//!
//! Options are read one after the other, and some mean something only by where they stand: `-t` sets the number of requests
//! anew, so that only an `-n` behind it counts; `-p`, `-u` and `-i` want no method before them.

mod options;

use super::super::getopt::{Next, Short, atoi};
use super::super::side::Side;
use super::target::Target;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::system_error::without_number;
use options::{OPTIONS, OptionEffect};
use std::fs;
use std::path::PathBuf;

/// The most connections that may be asked for.
const MOST_CONNECTIONS: i64 = 200_000;
/// Requests where there is a limit in time, and none of them is said behind it.
const REQUESTS_IN_TIME: i64 = 50_000;
/// The longest credentials, in base64.
const LONGEST_CREDENTIALS: usize = 1024;

/// The settings of ab's command line.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of ab's
pub struct Args {
    /// The name under which it was called.
    pub called: String,
    /// What is asked.
    pub target: Target,
    /// What ab says of an option that it does not know, before it goes on.
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
    /// The word of the request line.
    pub method: Option<String>,
    /// `-p` or `-u`: what is sent behind the head.
    pub body: Option<Vec<u8>>,
    /// `-T`.
    pub content_type: String,
    /// `-v`.
    pub verbosity: i64,
    /// `-w`, `-x`, `-y`, `-z`.
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
    /// `-d`: no table of percentiles.
    pub no_percentiles: bool,
    /// `-S`: no standard deviation, median and warnings.
    pub no_confidence: bool,
    /// `-q`: no progress.
    pub quiet: bool,
    /// `-l`: bodies may differ in length.
    pub any_length: bool,
    /// `-g`.
    pub gnuplot: Option<PathBuf>,
    /// `-e`.
    pub csv: Option<PathBuf>,
    /// `-r`: an error of a socket does not end all.
    pub survive: bool,
    /// `-I`.
    pub no_sni: bool,
    /// `-Z`.
    pub ciphers: Option<String>,
    /// `-f`.
    pub protocol: Option<String>,
    /// `-E`.
    pub certificate: Option<PathBuf>,
    /// The options that are ours.
    pub side: Side,
}

/// How the tables of `-w` are written: what stands in their tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Html {
    /// In `<table>`.
    pub table: String,
    /// In `<tr>`.
    pub row: String,
    /// In `<td>` and `<th>`.
    pub cell: String,
}

impl Default for Html {
    fn default() -> Self {
        Self { table: String::new(), row: String::new(), cell: "bgcolor=white".into() }
    }
}

/// Why nothing is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The usage is shown, with what was wrong before it.
    Usage(String),
    /// This is said on stderr.
    Said(String),
    /// The version was asked for.
    Version,
}

/// Reads the words behind the name under which ab was called.
pub fn parse(called: &str, words: &[String]) -> Result<Args, Refusal> {
    let mut args = Args::unsaid(called);
    let mut short = Short::new(words, |letter| OPTIONS.iter().find(|row| row.0 == letter).map(|row| row.1));
    while let Some(next) = short.next() {
        match next {
            Next::Option(letter, value) => args.take(letter, value)?,
            Next::Ours(word) => {
                let taken = args.side.take(word, || short.take_word());
                taken.map_err(|why| Refusal::Said(format!("{called}: {why}\n")))?;
            }
            // ab then reads on as if all options had been read.
            Next::Unknown(letter) => {
                args.complaint = format!("{called}: illegal option -- {letter}\n");
                break;
            }
            Next::Bare(letter) => {
                args.complaint = format!("{called}: option requires an argument -- {letter}\n");
                break;
            }
        }
    }
    let [url] = short.rest() else { return Err(args.usage("wrong number of arguments")) };
    args.target = Target::parse(url).ok_or_else(|| args.usage("invalid URL"))?;
    args.check()?;
    Ok(args)
}

impl Args {
    fn take(&mut self, letter: char, value: &str) -> Result<(), Refusal> {
        match OPTIONS.iter().find(|row| row.0 == letter).map(|row| row.2) {
            Some(OptionEffect::Set(set)) => set(self, value),
            Some(OptionEffect::Try(set)) => set(self, value)?,
            None => {}
        }
        Ok(())
    }

    /// What holds where nothing is said.
    fn unsaid(called: &str) -> Self {
        Self {
            called: called.to_owned(),
            target: Target::default(),
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
            side: Side::default(),
        }
    }

    /// The rules that hold between options, in ab's order.
    fn check(&mut self) -> Result<(), Refusal> {
        if !(0..=MOST_CONNECTIONS).contains(&self.connections) {
            return Err(self.usage(&format!("Invalid Concurrency [Range 0..{MOST_CONNECTIONS}]")));
        }
        if self.connections > self.requests {
            return Err(self.usage("Cannot use concurrency level greater than total number of requests"));
        }
        // ab would fail at its first wait; its successor makes it one a worker.
        self.connections = self.connections.max(1);
        Ok(())
    }

    fn usage(&self, why: &str) -> Refusal {
        Refusal::Usage(format!("{}{}: {why}\n", self.complaint, self.called))
    }

    /// How many completed requests are between two lines of progress; None: there are none.
    pub fn progress(&self) -> Option<u64> {
        (!self.quiet && self.requests > 150).then(|| (self.requests as u64 / 10).max(100))
    }

    fn this_many(&mut self, value: &str) -> Result<(), Refusal> {
        self.requests = atoi(value);
        if self.requests <= 0 { Err(Refusal::Said("Invalid number of requests\n\n".into())) } else { Ok(()) }
    }

    fn until(&mut self, value: &str) {
        self.requests = REQUESTS_IN_TIME;
        self.time_limit = Some(atoi(value));
    }

    fn send(&mut self, method: &str, path: &str) -> Result<(), Refusal> {
        self.first_method(method)?;
        let read = fs::read(path);
        // Whatever the method, ab calls it POST.
        let read = read.map_err(|e| {
            format!("{}: Could not open POST data file ({path}): {}\n", self.called, without_number(&e.to_string()))
        });
        self.body = Some(read.map_err(Refusal::Said)?);
        Ok(())
    }

    fn first_method(&mut self, method: &str) -> Result<(), Refusal> {
        if self.method.is_some() {
            return Err(Refusal::Said(format!("Cannot mix {method} with other methods\n\n")));
        }
        self.method = Some(method.to_owned());
        Ok(())
    }

    fn credential(&mut self, header: &str, what: &str, value: &str) -> Result<(), Refusal> {
        let encoded = STANDARD.encode(value.trim_start());
        if encoded.len() > LONGEST_CREDENTIALS {
            return Err(Refusal::Said(format!("{what} credentials too long\n\n")));
        }
        self.credentials.push(format!("{header}: Basic {encoded}"));
        Ok(())
    }

    fn through(&mut self, value: &str) {
        let (host, port) = value.split_once(':').unwrap_or((value, ""));
        self.proxy = Some((host.to_owned(), atoi(port).clamp(0, 65535) as u16));
    }
}

#[cfg(test)]
mod tests;
