//! Settings of a sweep: the defaults, overridden by the configuration file,
//! then by the command line.

mod line;

use super::StopReason;
use super::conf;
use super::keys::{KEYS, KeyScope};
use super::number::perl;
use crate::caller::Caller;
use line::{BruntOption, CommandLine, OptionValues};
use std::path::PathBuf;

/// The autobench version that this module reproduces.
const VERSION: &str = "2.1.2";
/// Shortest `const_test_time`, in seconds. httperf samples the reply rate every five seconds.
const SHORTEST_TEST: f64 = 10.0;
/// Time from an order to the start of its test, in seconds, as in autobench.
const LEAD: f64 = 5.0;
/// Limit on the number of steps, to catch typing errors.
const MAX_STEPS: f64 = 100_000.0;

/// Settings of `autobench` or `autobench_admin`.
#[derive(Debug, Clone)]
pub struct AutobenchSettings {
    /// One or two servers, in order.
    pub hosts: Vec<TestedHost>,
    /// Rates of the tests, in connections per second.
    pub rates: Vec<f64>,
    pub connections: ConnectionLimit,
    pub calls: f64,
    /// `--timeout` in seconds, as typed.
    pub timeout: String,
    pub separator: &'static str,
    /// File for the table; None means stdout.
    pub file: Option<PathBuf>,
    pub quiet: bool,
    /// Prints httperf's command lines.
    pub debug: bool,
    /// Path of httperf; None means brunt's own.
    pub httperf: Option<PathBuf>,
    /// Options of httperf from the configuration file.
    pub httperf_options: Vec<String>,
    /// Machines with `autobenchd`: host and port.
    pub clients: Vec<(String, u16)>,
    /// File with the secret shared with `autobenchd`.
    pub secret: Option<PathBuf>,
    /// Time from an order to the start of its test, in seconds. All machines must receive
    /// the order in this time.
    pub lead: f64,
    /// brunt's options, for its own httperf.
    pub brunt_options: Vec<BruntOption>,
}

impl AutobenchSettings {
    /// True if this brunt option is given.
    pub fn has_brunt_option(&self, name: &str) -> bool {
        self.brunt_options.iter().any(|option| option.is(name))
    }
}

/// A server under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestedHost {
    /// Host name, also the suffix of its columns.
    pub name: String,
    pub port: u16,
    /// Path and query of the requests.
    pub uri: String,
}

/// Number of connections of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ConnectionLimit {
    Fixed(u64),
    /// The number that the rate opens in this many seconds.
    Seconds(f64),
}

impl ConnectionLimit {
    /// The number at a rate per second. httperf takes whole numbers of at least 1 only.
    pub fn count_at(self, rate: f64) -> u64 {
        match self {
            Self::Fixed(number) => number,
            Self::Seconds(seconds) => ((rate * seconds).round() as u64).max(1),
        }
    }
}

/// Reads the command line and the user's configuration file. Warnings about the file go to stderr.
pub fn read(
    program_name: &str,
    words: &[String],
    scope: KeyScope,
    caller: &Caller,
) -> Result<AutobenchSettings, StopReason> {
    let conf = conf::load(caller.variable("HOME").map(PathBuf::from))?;
    for complaint in &conf.complaints {
        caller.err_line(&format!("{program_name}: {complaint}"));
    }
    let line = CommandLine::read(program_name, words, scope)?;
    if line.is("version") {
        return Err(StopReason::Output(format!("autobench {VERSION}\n")));
    }
    let mut values: OptionValues =
        KEYS.iter().filter_map(|key| Some((key.name, key.default?.into()))).collect();
    values.extend(conf.values);
    values.extend(line.values);
    let mut settings = parse(&MergedValues { values, scope })?;
    settings.httperf_options = conf.httperf_options;
    settings.brunt_options = line.brunt_options;
    Ok(settings)
}

/// All values, and the program that uses them.
struct MergedValues {
    values: OptionValues,
    scope: KeyScope,
}

impl MergedValues {
    fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// True by Perl's rules: neither empty nor `0`.
    fn is(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| !value.is_empty() && value != "0")
    }

    fn number(&self, name: &str) -> Result<f64, String> {
        let text = self.text(name).unwrap_or_default();
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
        number.ok_or_else(|| format!("{name} {text}: write a number above 0"))
    }

    /// A positive whole number.
    fn count(&self, name: &str) -> Result<u64, String> {
        let number = self.number(name)?;
        if number.fract() != 0.0 || number > 1e12 {
            return Err(format!("{name} {}: write a whole number", perl(number)));
        }
        Ok(number as u64)
    }

    fn host(&self, [host, port, uri]: [&'static str; 3]) -> Result<TestedHost, String> {
        let [name, port_text, uri] =
            [host, port, uri].map(|name| self.text(name).unwrap_or_default().to_owned());
        let number = port_text.parse().ok().filter(|port: &u16| *port > 0);
        let number =
            number.ok_or_else(|| format!("{port} {port_text}: write a port from 1 to 65535"))?;
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("{host} `{name}`: write the name of a server, or its address"));
        }
        Ok(TestedHost { name, port: number, uri })
    }

    fn hosts(&self) -> Result<Vec<TestedHost>, String> {
        let first = self.host(["host1", "port1", "uri1"])?;
        if self.is("single_host") {
            return Ok(vec![first]);
        }
        Ok(vec![first, self.host(["host2", "port2", "uri2"])?])
    }

    /// Rates from the lowest up to the highest, which is included if a step falls on it.
    fn rates(&self) -> Result<Vec<f64>, String> {
        let [low, high, step] =
            [self.number("low_rate")?, self.number("high_rate")?, self.number("rate_step")?];
        if high < low {
            return Err(format!(
                "high_rate {} is below low_rate {}; exchange them",
                perl(high),
                perl(low)
            ));
        }
        // Binary fractions could miss the highest rate by a little.
        let steps = ((high - low) / step + 1e-9).floor();
        if steps >= MAX_STEPS {
            return Err(format!(
                "rate_step {}: these are more than {MAX_STEPS} tests; write a larger one",
                perl(step)
            ));
        }
        Ok((0..=steps as u64).map(|n| low + n as f64 * step).collect())
    }

    fn connections(&self) -> Result<ConnectionLimit, String> {
        if self.text("const_test_time").is_none() {
            return Ok(ConnectionLimit::Fixed(self.count("num_conn")?));
        }
        let seconds = self.number("const_test_time")?;
        if seconds < SHORTEST_TEST {
            return Err(format!(
                "const_test_time {}: write {SHORTEST_TEST} seconds or more",
                perl(seconds)
            ));
        }
        Ok(ConnectionLimit::Seconds(seconds))
    }

    fn separator(&self) -> Result<&'static str, String> {
        match self.text("output_fmt") {
            Some("tsv") => Ok("\t"),
            Some("csv") => Ok(","),
            other => Err(format!("output_fmt {}: write tsv or csv", other.unwrap_or_default())),
        }
    }

    fn clients(&self) -> Result<Vec<(String, u16)>, String> {
        if self.scope == KeyScope::Autobench {
            return Ok(Vec::new());
        }
        let clients = self.text("clients").unwrap_or_default().split(',');
        clients
            .map(|client| {
                client_address(client).ok_or_else(|| {
                    format!("clients `{client}`: write host:port,host:port, no blanks")
                })
            })
            .collect()
    }
}

fn client_address(client: &str) -> Option<(String, u16)> {
    let (host, port) = client.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port: &u16| *port > 0)?;
    (!host.is_empty() && !host.contains(char::is_whitespace)).then(|| (host.to_owned(), port))
}

fn parse(values: &MergedValues) -> Result<AutobenchSettings, StopReason> {
    Ok(AutobenchSettings {
        hosts: values.hosts()?,
        rates: values.rates()?,
        connections: values.connections()?,
        calls: values.count("num_call")? as f64,
        timeout: perl(values.number("timeout")?),
        separator: values.separator()?,
        file: values.text("file").map(PathBuf::from),
        quiet: values.is("quiet"),
        debug: values.is("debug") || values.is("verbose"),
        httperf: values.text("httperf").map(PathBuf::from),
        httperf_options: Vec::new(),
        clients: values.clients()?,
        secret: values.text("secret").map(PathBuf::from),
        lead: values.text("start-in").map_or(Ok(LEAD), |_| values.number("start-in"))?,
        brunt_options: Vec::new(),
    })
}
