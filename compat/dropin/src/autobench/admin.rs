//! Implements `autobench_admin`: a sweep with tests on other machines, all at once, by `autobenchd`,
//! or by brunt's agents (`--brunt-on`).
//!
//! Figures of several daemons are merged by autobench's rules ([`order::merge`]): a mean of deviations
//! is not a deviation, and the clocks must agree. Agents have neither fault: their samples are merged.

use super::keys::KeyScope;
use super::number::perl;
use super::order::{self, TestOrder};
use super::secret::Secret;
use super::settings::{self, AutobenchSettings, ConnectionLimit, TestedHost};
use super::table::{COLUMNS, STATUS_COLUMNS};
use super::{StopReason, Tests, sweep, tester};
use crate::caller::Caller;
use rustix::net::sockopt;
use std::io::{BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// Timeout for connecting to a daemon, and for its replies that need no test.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of TCP keep-alive probes, which detect a machine that is down.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Runs a command line of `autobench_admin` and returns the exit code.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    measure(program_name, words, caller).map_or_else(|end| end.report(program_name, caller), |()| 0)
}

fn measure(program_name: &str, words: &[String], caller: &Arc<Caller>) -> Result<(), StopReason> {
    let settings = settings::read(program_name, words, KeyScope::Admin, caller)?;
    sweep::resolve(&settings)?;
    let columns = [&COLUMNS[..], &STATUS_COLUMNS].concat();
    if settings.has_brunt_option("on") {
        return sweep_with_agents(&settings, &columns, caller);
    }
    if let Some(option) = settings.brunt_options.first() {
        return Err(StopReason::Error(format!(
            "--brunt-{}: daemons make no reports of brunt; write --brunt-on PLACES for agents, or leave it out",
            option.name()
        )));
    }
    let secret = settings.secret.as_deref().map(Secret::load).transpose()?;
    if let ConnectionLimit::Fixed(number) = settings.connections
        && number < settings.clients.len() as u64
    {
        return Err(StopReason::Error(format!(
            "num_conn {number}: write {} or more, one for each client",
            settings.clients.len()
        )));
    }
    sweep::sweep(&settings, &columns, caller, &mut |host, rate| {
        test(&settings, secret.as_ref(), host, rate, caller)
    })
}

/// Runs each test of the sweep as one httperf whose load brunt's agents share.
fn sweep_with_agents(
    settings: &AutobenchSettings,
    columns: &[&str],
    caller: &Arc<Caller>,
) -> Result<(), StopReason> {
    let tester = tester::tester(settings, caller)?;
    let mut tests = Tests { settings, tester, caller, unsampled: 0 };
    sweep::sweep(settings, columns, caller, &mut |host, rate| {
        caller.err_line(&format!("Testing server {} at rate: {}", host.name, perl(rate)));
        let figures = tests.figures(host, rate)?;
        let statuses = figures.statuses.map(|count| count.to_string());
        Ok(figures.cells().into_iter().chain(statuses).collect())
    })
}

/// Runs one test on all machines together and returns the cells of its host.
fn test(
    settings: &AutobenchSettings,
    secret: Option<&Secret>,
    host: &TestedHost,
    rate: f64,
    caller: &Arc<Caller>,
) -> Result<Vec<String>, StopReason> {
    caller.err_line(&jiff::Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string());
    caller.err_line(&format!("Testing server {} at rate: {}", host.name, perl(rate)));
    // The protocol has whole seconds.
    let start = (brunt_engine::clock::unix_seconds() + settings.lead).ceil() as u64;
    let machines = settings.clients.len() as u64;
    // Each machine has at least one connection.
    let total = settings.connections.count_at(rate).max(machines);
    let mut clients = Vec::new();
    for (index, (name, port)) in (0..machines).zip(&settings.clients) {
        // httperf accepts whole connections only. The sum over all
        // machines is the requested number.
        let connections = total / machines + u64::from(index < total % machines);
        let words = sweep::words(settings, host, rate / machines as f64, connections);
        let arguments =
            shlex::try_join(words.iter().map(String::as_str)).map_err(|error| error.to_string())?;
        let mut client = Client::connect(name, *port, settings.debug.then(|| Arc::clone(caller)))?;
        client.send_order(&TestOrder { arguments, start }, secret)?;
        clients.push(client);
    }
    // All daemons get their orders before the first reply is awaited, so that all start in time.
    clients.iter_mut().try_for_each(Client::await_acceptance)?;
    let results = clients.iter_mut().map(Client::read_results).collect::<Result<Vec<_>, _>>()?;
    caller.err_line("Benchmark complete");
    Ok(order::merge(&results).map(perl).to_vec())
}

/// A connection to a daemon. The daemon ends its test when the connection closes.
struct Client {
    name: String,
    stream: BufReader<TcpStream>,
    /// Prints the dialog to this caller's stderr (`--debug`).
    debug_output: Option<Arc<Caller>>,
}

impl Client {
    fn connect(name: &str, port: u16, debug_output: Option<Arc<Caller>>) -> Result<Self, String> {
        let name_and_port = format!("{name}:{port}");
        let mut addresses =
            (name, port).to_socket_addrs().map_err(|error| format!("{name_and_port}: {error}"))?;
        let stream = addresses
            // A name may have addresses on which the daemon does not listen.
            .find_map(|address| TcpStream::connect_timeout(&address, REPLY_TIMEOUT).ok())
            .ok_or_else(|| {
                format!("{name_and_port}: no reply from autobenchd; start it, or correct --clients")
            })?;
        let options = stream
            .set_read_timeout(Some(REPLY_TIMEOUT))
            .and_then(|()| sockopt::set_socket_keepalive(&stream, true).map_err(Into::into))
            .and_then(|()| {
                sockopt::set_tcp_keepidle(&stream, KEEPALIVE_INTERVAL).map_err(Into::into)
            })
            .and_then(|()| {
                sockopt::set_tcp_keepintvl(&stream, KEEPALIVE_INTERVAL).map_err(Into::into)
            });
        options.map_err(|error| format!("{name_and_port}: {error}"))?;
        Ok(Self { name: name_and_port, stream: BufReader::new(stream), debug_output })
    }

    fn send(&mut self, text: &str) -> Result<(), String> {
        if let Some(caller) = &self.debug_output {
            caller.err(&format!("{} < {text}", self.name));
        }
        self.stream
            .get_mut()
            .write_all(text.as_bytes())
            .map_err(|error| self.error(&error.to_string()))
    }

    fn read_line(&mut self) -> Result<String, String> {
        let read = order::line(&mut self.stream).map_err(|error| self.error(&error.to_string()))?;
        let line = read.ok_or_else(|| self.error("it closed the connection"))?;
        if let Some(caller) = &self.debug_output {
            caller.err_line(&format!("{} > {line}", self.name));
        }
        match line.strip_prefix(order::REFUSED) {
            Some(why) => Err(self.error(why.trim())),
            None => Ok(line),
        }
    }

    fn error(&self, why: &str) -> String {
        format!("{}: {why}", self.name)
    }

    fn send_order(&mut self, order: &TestOrder, secret: Option<&Secret>) -> Result<(), String> {
        let text = order.text();
        let mut proof = String::new();
        if let Some(secret) = secret {
            self.send(&format!("{}\n", order::AUTH))?;
            let nonce = self
                .read_line()
                .map_err(|why| format!("{why} (it was asked whether it has a secret, as we do)"))?;
            let nonce = nonce
                .strip_prefix(order::NONCE)
                .ok_or_else(|| self.error("it does not support secrets"))?;
            proof = format!("{} {}\n", order::PROOF, secret.proof(nonce.trim(), &text));
        }
        self.send(&format!("{proof}{text}\n{}\n", order::END))
    }

    fn await_acceptance(&mut self) -> Result<(), String> {
        match self.read_line()? {
            line if line == order::ACCEPTED => Ok(()),
            line => Err(self.error(&format!("`{line}` in place of {}", order::ACCEPTED))),
        }
    }

    /// No timeout: a test takes as long as it takes, and TCP keep-alive detects
    /// a machine that is down.
    fn read_results(&mut self) -> Result<[f64; 14], String> {
        self.stream
            .get_ref()
            .set_read_timeout(None)
            .map_err(|error| self.error(&error.to_string()))?;
        match self.read_line()? {
            line if line == order::COMPLETE => {}
            line if line == order::FAILED => {
                return Err(self.error("no reply came, so there are no results"));
            }
            line => return Err(self.error(&format!("`{line}` in place of {}", order::COMPLETE))),
        }
        let mut lines = Vec::new();
        loop {
            let line = self.read_line()?;
            if line == order::END_DATA {
                return order::parse_results(&lines).map_err(|why| self.error(&why));
            }
            lines.push(line);
        }
    }
}
