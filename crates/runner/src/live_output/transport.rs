//! One attempt to send lines: a POST over HTTP, or a connection of TCP; each with a time limit.

use brunt_engine::clock::{self, Epoch, Time};
use brunt_model::live_output::{GraphiteSink, InfluxSink, LiveSink, Token};
use brunt_model::plan::{Connection, Record};
use brunt_model::sample::Opening;
use brunt_model::{Body, Failure, Plan, ReplyPolicy};
use brunt_wire::http::{Common, Http};
use brunt_wire::request::Draft;
use brunt_wire::{Reply, Stamps, Transport as _};
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// Time limit for resolving, connecting and a TLS handshake.
const CONNECT: Duration = Duration::from_secs(1);
/// Time limit for sending, and for the reply.
const REPLY: Duration = Duration::from_secs(3);
/// Characters that are shown of the text of a refusal.
const SHOWN: usize = 200;

/// Why lines were not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendError {
    /// The system was not there, or could not take them now.
    Absent(String),
    /// It refuses them, and would refuse them again.
    Refused(String),
}

/// How lines go to a system.
pub enum Transport {
    /// By HTTP; the certificates that are trusted are read once.
    Http { url: String, token: Option<Token>, common: Option<Arc<Common>> },
    /// By TCP.
    Tcp { host: String, port: u16 },
}

impl Transport {
    /// To this system.
    pub fn new(sink: &LiveSink) -> Self {
        match sink {
            LiveSink::Influx(InfluxSink { url, token, .. }) => {
                Self::Http { url: url.clone(), token: token.clone(), common: None }
            }
            LiveSink::Graphite(GraphiteSink { host, port, .. }) => Self::Tcp { host: host.clone(), port: *port },
        }
    }

    /// Sends a text of whole lines.
    ///
    /// # Errors
    ///
    /// It did not arrive, or was refused.
    pub fn send(&mut self, text: &str) -> Result<(), SendError> {
        match self {
            Self::Http { url, token, common } => {
                let common = match common {
                    Some(common) => Arc::clone(common),
                    None => common.insert(wire().map_err(|error| refused(error.to_string()))?).clone(),
                };
                post(&common, url, token.as_ref(), text)
            }
            Self::Tcp { host, port } => write(host, *port, text).map_err(of_system),
        }
    }
}

fn absent(why: impl Into<String>) -> SendError {
    SendError::Absent(why.into())
}

fn refused(why: impl Into<String>) -> SendError {
    SendError::Refused(why.into())
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of `map_err`")]
fn of_system(error: io::Error) -> SendError {
    absent(error.to_string())
}

/// Connections with the usual settings, each for one request.
fn wire() -> Result<Arc<Common>, brunt_wire::http::BadWire> {
    Common::new(&plan())
}

/// A plan without a load, for the settings of connections.
pub(super) fn plan() -> Plan {
    Plan {
        populations: Vec::new(),
        reply_policies: vec![ReplyPolicy::default()],
        connection: Connection { requests_per_connection: Some(1), ..Connection::plain(REPLY, CONNECT) },
        objectives: Vec::new(),
        until: None,
        record: Record { interval: REPLY, labels: 1, samples: false, records: None },
        seed: 0,
        threads: 1,
        processes: 1,
        precise: false,
        around: Vec::new(),
    }
}

fn post(common: &Arc<Common>, url: &str, token: Option<&Token>, text: &str) -> Result<(), SendError> {
    let mut headers = vec![("Content-Type".to_owned(), "text/plain; charset=utf-8".to_owned())];
    headers.push(("User-Agent".into(), concat!("brunt/", env!("CARGO_PKG_VERSION")).into()));
    headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Token {}", token.0))));
    let body = Body::Bytes(text.as_bytes().to_vec());
    let (method, headers) = ("POST", &headers[..]);
    let draft = Draft { method, url, headers, body: &body, label: 0, reply_policy: 0, verbatim: None };
    let reply = clock::runtime().map_err(of_system)?.block_on(exchanged(common, &draft))?;
    let status = reply.status;
    if (200..300).contains(&status) {
        return Ok(());
    }
    let said = reply.kept.map_or_else(String::new, |kept| shown(&kept.body));
    let why = if said.is_empty() { format!("it answers {status}") } else { format!("it answers {status}: {said}") };
    Err(if status >= 500 || status == 429 { absent(why) } else { refused(why) })
}

/// A request and its reply, each step within its time.
async fn exchanged(common: &Arc<Common>, draft: &Draft<'_>) -> Result<Reply, SendError> {
    let time = Time::new(Epoch::now());
    let _attended = time.attend().map_err(of_system)?;
    let http = Http::new(Arc::clone(common), 0, time.clone());
    let request = http.prepare(draft).map_err(|_| refused("its URL is not valid"))?;
    let failed = |failure: Failure| {
        let note = http.take_note().filter(|note| !note.is_empty());
        let name = failure.row().name;
        absent(match http.take_refusal() {
            // The note would name options for the server under load.
            Some(refusal) if refusal.cause.is_distrust() => {
                format!("{name}: {}; name its authority by SSL_CERT_FILE=FILE, or add it to the system's", refusal.what)
            }
            _ => note.unwrap_or_else(|| name.to_owned()),
        })
    };
    let late = |limit: Duration, what: &str| absent(format!("{what} within {} s", limit.as_secs()));
    let mut steps = Opening::default();
    let opened = time.within(CONNECT, http.open(&request, 0, &mut steps)).await;
    let mut lane = opened.ok_or_else(|| late(CONNECT, "no connection"))?.map_err(failed)?;
    let mut stamps = Stamps::default();
    let reply = time.within(REPLY, http.look(&mut lane, &request, &mut stamps)).await;
    reply.ok_or_else(|| late(REPLY, "no reply"))?.map_err(failed)
}

/// The begin of a text that a system answers, on one line.
fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

/// Writes a text on a connection of its own: on one that was kept, the loss of what is written last would go unseen.
fn write(host: &str, port: u16, text: &str) -> io::Result<()> {
    let mut stream = connected(host, port)?;
    stream.set_write_timeout(Some(REPLY))?;
    stream.write_all(text.as_bytes())?;
    stream.shutdown(Shutdown::Write)
}

fn connected(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

#[cfg(test)]
mod tests;
