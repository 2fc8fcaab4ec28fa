//! `autobench_admin`: a sweep whose tests are carried out by `autobenchd` on other machines, all at once.
//!
//! Out of scope: brunt's own way to measure from many machines. Figures of several machines are joined as they were
//! of old ([`order::merged`]); means of deviations are not deviations, and clocks must agree.

use super::keys::KeyScope;
use super::number::perl;
use super::order::{self, Order};
use super::secret::Secret;
use super::settings::{self, Connections, Host, Settings};
use super::table::{COLUMNS, STATUS_COLUMNS};
use super::{End, sweep};
use crate::caller::Caller;
use rustix::net::sockopt;
use std::io::{BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// Within this a daemon must answer a connection, and a line that needs no test.
const PATIENCE: Duration = Duration::from_secs(10);
/// A machine that is gone is noticed after some of these without an answer.
const ALIVE: Duration = Duration::from_secs(15);

/// Carries out a command line of `autobench_admin`'s; the exit code.
pub fn run(called: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    measure(called, words, caller).map_or_else(|end| end.tell(called, caller), |()| 0)
}

fn measure(called: &str, words: &[String], caller: &Arc<Caller>) -> Result<(), End> {
    let settings = settings::read(called, words, KeyScope::Admin, caller)?;
    sweep::resolve(&settings)?;
    let secret = settings.secret.as_deref().map(Secret::load).transpose()?;
    if let Connections::Each(number) = settings.connections
        && number < settings.clients.len() as u64
    {
        return Err(End::Died(format!(
            "num_conn {number}: write {} or more, one for each client",
            settings.clients.len()
        )));
    }
    let columns = [&COLUMNS[..], &STATUS_COLUMNS].concat();
    let mut test = |host: &Host, rate| test(&settings, secret.as_ref(), (host, rate), caller);
    sweep::sweep(&settings, &columns, caller, &mut test)
}

/// One test by all machines together, as the cells of its host.
fn test(
    settings: &Settings,
    secret: Option<&Secret>,
    (host, rate): (&Host, f64),
    caller: &Arc<Caller>,
) -> Result<Vec<String>, End> {
    caller.err_line(&chrono::Local::now().format("%a %b %e %H:%M:%S %Y").to_string());
    caller.err_line(&format!("Testing server {} at rate: {}", host.name, perl(rate)));
    let start = (brunt_engine::clock::unix_seconds() + settings.lead).ceil() as u64;
    let machines = settings.clients.len() as u64;
    let total = settings.connections.at(rate).max(machines);
    let mut clients = Vec::new();
    for (at, (name, port)) in (0..machines).zip(&settings.clients) {
        // Whole connections: httperf takes no others. Together they are as many as were asked for.
        let connections = total / machines + u64::from(at < total % machines);
        let words = sweep::words(settings, host, rate / machines as f64, connections);
        let arguments = shlex::try_join(words.iter().map(String::as_str)).map_err(|error| error.to_string())?;
        let mut client = Client::reach(name, *port, settings.debug.then(|| Arc::clone(caller)))?;
        client.order(&Order { arguments, start }, secret)?;
        clients.push(client);
    }
    clients.iter_mut().try_for_each(Client::accepted)?;
    let results = clients.iter_mut().map(Client::results).collect::<Result<Vec<_>, _>>()?;
    caller.err_line("Benchmark complete");
    Ok(order::merged(&results).map(perl).to_vec())
}

/// A daemon that we talk to. It ends its test when we are gone.
struct Client {
    name: String,
    stream: BufReader<TcpStream>,
    /// What both say is shown here.
    shown: Option<Arc<Caller>>,
}

impl Client {
    fn reach(name: &str, port: u16, shown_on: Option<Arc<Caller>>) -> Result<Self, String> {
        let shown = format!("{name}:{port}");
        let none = || format!("{shown}: no reply from autobenchd; start it, or correct --clients");
        let mut addresses = (name, port).to_socket_addrs().map_err(|error| format!("{shown}: {error}"))?;
        let stream = addresses.find_map(|address| TcpStream::connect_timeout(&address, PATIENCE).ok());
        let stream = stream.ok_or_else(none)?;
        let kept = stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| sockopt::set_socket_keepalive(&stream, true).map_err(Into::into))
            .and_then(|()| sockopt::set_tcp_keepidle(&stream, ALIVE).map_err(Into::into))
            .and_then(|()| sockopt::set_tcp_keepintvl(&stream, ALIVE).map_err(Into::into));
        kept.map_err(|error| format!("{shown}: {error}"))?;
        Ok(Self { name: shown, stream: BufReader::new(stream), shown: shown_on })
    }

    fn say(&mut self, text: &str) -> Result<(), String> {
        if let Some(caller) = &self.shown {
            caller.err(&format!("{} < {text}", self.name));
        }
        self.stream.get_mut().write_all(text.as_bytes()).map_err(|error| self.broken(&error.to_string()))
    }

    fn line(&mut self) -> Result<String, String> {
        let read = order::line(&mut self.stream).map_err(|error| self.broken(&error.to_string()))?;
        let line = read.ok_or_else(|| self.broken("it closed the connection"))?;
        if let Some(caller) = &self.shown {
            caller.err_line(&format!("{} > {line}", self.name));
        }
        match line.strip_prefix(order::REFUSED) {
            Some(why) => Err(self.broken(why.trim())),
            None => Ok(line),
        }
    }

    fn broken(&self, why: &str) -> String {
        format!("{}: {why}", self.name)
    }

    fn order(&mut self, order: &Order, secret: Option<&Secret>) -> Result<(), String> {
        let text = order.text();
        let mut proof = String::new();
        if let Some(secret) = secret {
            self.say(&format!("{}\n", order::AUTH))?;
            let nonce = self.line().map_err(|why| format!("{why} (it was asked whether it has a secret, as we do)"))?;
            let nonce = nonce.strip_prefix(order::NONCE).ok_or_else(|| self.broken("it does not support secrets"))?;
            proof = format!("{} {}\n", order::PROOF, secret.proof(nonce.trim(), &text));
        }
        self.say(&format!("{proof}{text}\n{}\n", order::END))
    }

    fn accepted(&mut self) -> Result<(), String> {
        match self.line()? {
            line if line == order::ACCEPTED => Ok(()),
            line => Err(self.broken(&format!("`{line}` in place of {}", order::ACCEPTED))),
        }
    }

    /// A test takes as long as it takes; whether the machine is there the system finds out.
    fn results(&mut self) -> Result<[f64; 14], String> {
        self.stream.get_ref().set_read_timeout(None).map_err(|error| self.broken(&error.to_string()))?;
        match self.line()? {
            line if line == order::COMPLETE => {}
            line if line == order::FAILED => return Err(self.broken("no reply came, so there are no results")),
            line => return Err(self.broken(&format!("`{line}` in place of {}", order::COMPLETE))),
        }
        let mut lines = Vec::new();
        loop {
            let line = self.line()?;
            if line == order::END_DATA {
                return order::understood(&lines).map_err(|why| self.broken(&why));
            }
            lines.push(line);
        }
    }
}
