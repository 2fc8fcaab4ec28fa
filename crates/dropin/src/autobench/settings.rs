//! What a sweep is told: the defaults, then the configuration file, then the command line, each over the one before.

mod line;

use super::End;
use super::conf;
use super::keys::{KEYS, KeyScope};
use super::number::perl;
use crate::caller::Caller;
use line::{BruntOption, Line, Values};
use std::path::PathBuf;

/// The version whose ways these are.
const VERSION: &str = "2.1.2";
/// The shortest test whose length may be said: httperf takes a sample of the reply rate each five seconds.
const SHORTEST_TEST: f64 = 10.0;
/// From an order to its test, in seconds, as of old.
const LEAD: f64 = 5.0;
/// More steps than this are a slip of the pen.
const MOST_STEPS: f64 = 100_000.0;

/// What autobench or `autobench_admin` was told.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The servers, one or two, in order.
    pub hosts: Vec<Host>,
    /// Connections per second, a test for each.
    pub rates: Vec<f64>,
    /// How many connections a test opens.
    pub connections: Connections,
    /// Requests of a connection.
    pub calls: f64,
    /// `--timeout`, in seconds, as it was typed.
    pub timeout: String,
    /// What stands between columns.
    pub divider: &'static str,
    /// Where the table goes; None: stdout.
    pub file: Option<PathBuf>,
    /// Reports of httperf's are not shown.
    pub quiet: bool,
    /// What is told to httperf is shown.
    pub debug: bool,
    /// Another httperf in place of our own.
    pub httperf: Option<PathBuf>,
    /// Words for httperf, of the file.
    pub passed_on: Vec<String>,
    /// Machines with `autobenchd`: name and port.
    pub clients: Vec<(String, u16)>,
    /// What proves to `autobenchd` who we are.
    pub secret: Option<PathBuf>,
    /// From an order to the beginning of its test, in seconds: all machines must have heard it by then.
    pub lead: f64,
    /// The options that are ours, for the httperf that is ours.
    pub side: Vec<BruntOption>,
}

impl Settings {
    /// Whether this option of ours was said.
    pub fn is_aside(&self, name: &str) -> bool {
        self.side.iter().any(|aside| aside.is(name))
    }
}

/// A server under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name, which is also that of its columns.
    pub name: String,
    /// Its port.
    pub port: u16,
    /// What is asked of it.
    pub uri: String,
}

/// How many connections a test opens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Connections {
    /// So many at each rate.
    Each(u64),
    /// As many as the rate opens in so many seconds.
    For(f64),
}

impl Connections {
    /// At a rate, per second; httperf takes whole numbers only, and at least 1.
    pub fn at(self, rate: f64) -> u64 {
        match self {
            Self::Each(number) => number,
            Self::For(seconds) => ((rate * seconds).round() as u64).max(1),
        }
    }
}

/// Reads the command line, and the file of whoever calls. What makes no sense in the file is told on stderr.
pub fn read(called: &str, words: &[String], whose: KeyScope, caller: &Caller) -> Result<Settings, End> {
    let conf = conf::load(caller.variable("HOME").map(PathBuf::from))?;
    for complaint in &conf.complaints {
        caller.err_line(&format!("{called}: {complaint}"));
    }
    let line = Line::read(called, words, whose)?;
    if line.is("version") {
        return Err(End::Said(format!("autobench {VERSION}\n")));
    }
    let mut values: Values = KEYS.iter().filter_map(|key| Some((key.name, key.default?.into()))).collect();
    values.extend(conf.values);
    values.extend(line.values);
    let mut settings = understood(&GivenValues { values, whose })?;
    settings.passed_on = conf.passed_on;
    settings.side = line.side;
    Ok(settings)
}

/// All that was said, and by whom.
struct GivenValues {
    values: Values,
    whose: KeyScope,
}

impl GivenValues {
    fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// What Perl takes for true.
    fn is(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| !value.is_empty() && value != "0")
    }

    /// A number above 0.
    fn number(&self, name: &str) -> Result<f64, String> {
        let text = self.text(name).unwrap_or_default();
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
        number.ok_or_else(|| format!("{name} {text}: write a number above 0"))
    }

    /// A whole number above 0.
    fn count(&self, name: &str) -> Result<u64, String> {
        let number = self.number(name)?;
        if number.fract() != 0.0 || number > 1e12 {
            return Err(format!("{name} {}: write a whole number", perl(number)));
        }
        Ok(number as u64)
    }

    fn host(&self, [host, port, uri]: [&'static str; 3]) -> Result<Host, String> {
        let [name, typed, uri] = [host, port, uri].map(|name| self.text(name).unwrap_or_default().to_owned());
        let number = typed.parse().ok().filter(|port: &u16| *port > 0);
        let number = number.ok_or_else(|| format!("{port} {typed}: write a port from 1 to 65535"))?;
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("{host} `{name}`: write the name of a server, or its address"));
        }
        Ok(Host { name, port: number, uri })
    }

    fn hosts(&self) -> Result<Vec<Host>, String> {
        let first = self.host(["host1", "port1", "uri1"])?;
        if self.is("single_host") {
            return Ok(vec![first]);
        }
        Ok(vec![first, self.host(["host2", "port2", "uri2"])?])
    }

    /// From the low rate to the high one, which is tested too where a step falls on it.
    fn rates(&self) -> Result<Vec<f64>, String> {
        let [low, high, step] = [self.number("low_rate")?, self.number("high_rate")?, self.number("rate_step")?];
        if high < low {
            return Err(format!("high_rate {} is below low_rate {}; exchange them", perl(high), perl(low)));
        }
        let steps = ((high - low) / step + 1e-9).floor();
        if steps >= MOST_STEPS {
            return Err(format!(
                "rate_step {}: these are more than {MOST_STEPS} tests; write a larger one",
                perl(step)
            ));
        }
        Ok((0..=steps as u64).map(|n| low + n as f64 * step).collect())
    }

    fn connections(&self) -> Result<Connections, String> {
        if self.text("const_test_time").is_none() {
            return Ok(Connections::Each(self.count("num_conn")?));
        }
        let seconds = self.number("const_test_time")?;
        if seconds < SHORTEST_TEST {
            return Err(format!("const_test_time {}: write {SHORTEST_TEST} seconds or more", perl(seconds)));
        }
        Ok(Connections::For(seconds))
    }

    fn divider(&self) -> Result<&'static str, String> {
        match self.text("output_fmt") {
            Some("tsv") => Ok("\t"),
            Some("csv") => Ok(","),
            other => Err(format!("output_fmt {}: write tsv or csv", other.unwrap_or_default())),
        }
    }

    fn clients(&self) -> Result<Vec<(String, u16)>, String> {
        if self.whose == KeyScope::Autobench {
            return Ok(Vec::new());
        }
        let one = |client: &str| {
            let (host, port) = client.rsplit_once(':')?;
            let port = port.parse().ok().filter(|port: &u16| *port > 0)?;
            (!host.is_empty() && !host.contains(char::is_whitespace)).then(|| (host.to_owned(), port))
        };
        let listed = self.text("clients").unwrap_or_default().split(',');
        listed
            .map(|client| {
                one(client).ok_or_else(|| format!("clients `{client}`: write host:port,host:port, no blanks"))
            })
            .collect()
    }
}

fn understood(given: &GivenValues) -> Result<Settings, End> {
    let path = |name: &str| given.text(name).map(PathBuf::from);
    Ok(Settings {
        hosts: given.hosts()?,
        rates: given.rates()?,
        connections: given.connections()?,
        calls: given.count("num_call")? as f64,
        timeout: perl(given.number("timeout")?),
        divider: given.divider()?,
        file: path("file"),
        quiet: given.is("quiet"),
        debug: given.is("debug") || given.is("verbose"),
        httperf: path("httperf"),
        passed_on: Vec::new(),
        clients: given.clients()?,
        secret: path("secret"),
        lead: given.text("start-in").map_or(Ok(LEAD), |_| given.number("start-in"))?,
        side: Vec::new(),
    })
}
