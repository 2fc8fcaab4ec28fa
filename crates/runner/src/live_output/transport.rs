//! Makes one attempt to send lines: a POST over HTTP, or a TCP connection, each with a time limit.

use brunt_engine::clock::{self, RunEpoch, WorkerClock};
use brunt_model::live_output::{AccessToken, GraphiteSink, InfluxSink, LiveSink};
use brunt_model::plan::{ConnectionSettings, RecordSettings};
use brunt_model::sample::ConnectTimes;
use brunt_model::{Body, Failure, Plan, ReplyPolicy};
use brunt_wire::http::{Common, Http};
use brunt_wire::request::RequestDraft;
use brunt_wire::{Reply, Stamps, Transport as _};
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// Time limit for name resolution, connect and TLS handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit for sending, and for the reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum number of characters of an error text.
const MAX_SHOWN: usize = 200;

/// Reason why lines were not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendError {
    /// The system is unreachable, or cannot accept them now.
    Absent(String),
    /// The system rejects them, and would reject them again.
    Refused(String),
}

/// Protocol and address of a system.
pub enum LiveTransport {
    /// HTTP. The trusted certificates are read once.
    Http { url: String, token: Option<AccessToken>, common: Option<Arc<Common>> },
    /// TCP, with one connection for each attempt.
    Tcp { host: String, port: u16 },
}

impl LiveTransport {
    /// Creates the transport to a system.
    pub fn new(sink: &LiveSink) -> Self {
        match sink {
            LiveSink::Influx(InfluxSink { url, token, .. }) => {
                Self::Http { url: url.clone(), token: token.clone(), common: None }
            }
            LiveSink::Graphite(GraphiteSink { host, port, .. }) => {
                Self::Tcp { host: host.clone(), port: *port }
            }
        }
    }

    /// Sends a text of whole lines.
    ///
    /// # Errors
    ///
    /// The text did not arrive, or was rejected.
    pub fn send(&mut self, text: &str) -> Result<(), SendError> {
        match self {
            Self::Http { url, token, common } => {
                let common = match common {
                    Some(common) => Arc::clone(common),
                    None => common
                        .insert(wire().map_err(|error| refused_error(error.to_string()))?)
                        .clone(),
                };
                post(&common, url, token.as_ref(), text)
            }
            Self::Tcp { host, port } => write(host, *port, text).map_err(system_error),
        }
    }
}

fn absent_error(reason: impl Into<String>) -> SendError {
    SendError::Absent(reason.into())
}

fn refused_error(reason: impl Into<String>) -> SendError {
    SendError::Refused(reason.into())
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of `map_err`")]
fn system_error(error: io::Error) -> SendError {
    absent_error(error.to_string())
}

/// Connections with default settings, each for one request.
fn wire() -> Result<Arc<Common>, brunt_wire::http::BadWire> {
    Common::new(&plan())
}

/// A plan without a load, for its connection settings.
pub(crate) fn plan() -> Plan {
    Plan {
        populations: Vec::new(),
        reply_policies: vec![ReplyPolicy::default()],
        connection: ConnectionSettings {
            requests_per_connection: Some(1),
            ..ConnectionSettings::plain(REPLY_TIMEOUT, CONNECT_TIMEOUT)
        },
        objectives: Vec::new(),
        until: None,
        record: RecordSettings {
            interval: REPLY_TIMEOUT,
            labels: 1,
            samples: false,
            records: None,
        },
        seed: 0,
        threads: 1,
        processes: 1,
        allowed_targets: Vec::new(),
        fleet: None,
        precise: false,
        stages: Vec::new(),
    }
}

fn post(
    common: &Arc<Common>,
    url: &str,
    token: Option<&AccessToken>,
    text: &str,
) -> Result<(), SendError> {
    let mut headers = vec![("Content-Type".to_owned(), "text/plain; charset=utf-8".to_owned())];
    headers.push(("User-Agent".into(), concat!("brunt/", env!("CARGO_PKG_VERSION")).into()));
    // `Token` is the scheme of InfluxDB 2; it is not `Bearer`.
    headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Token {}", token.0))));
    let body = Body::from_bytes(text.as_bytes().to_vec());
    let headers = &headers[..];
    let draft = RequestDraft {
        method: "POST",
        url,
        headers,
        body: &body,
        label: 0,
        reply_policy: 0,
        verbatim: None,
    };
    let reply = clock::runtime().map_err(system_error)?.block_on(exchange(common, &draft))?;
    let status = reply.status;
    if (200..300).contains(&status) {
        return Ok(());
    }
    let text = reply.details.map_or_else(String::new, |details| one_line(&details.body));
    let reason = if text.is_empty() {
        format!("it answers {status}")
    } else {
        format!("it answers {status}: {text}")
    };
    // 5xx and 429 are temporary, so the lines are sent again.
    Err(if status >= 500 || status == 429 { absent_error(reason) } else { refused_error(reason) })
}

/// Sends a request and receives its reply, each step within its time limit.
pub(crate) async fn exchange(
    common: &Arc<Common>,
    draft: &RequestDraft<'_>,
) -> Result<Reply, SendError> {
    let time = WorkerClock::new(RunEpoch::now());
    let _runtime_hooks = time.install().map_err(system_error)?;
    let http = Http::new(Arc::clone(common), 0, time.clone());
    let request = http.prepare(draft).map_err(|_| refused_error("its URL is not valid"))?;
    let mut steps = ConnectTimes::default();
    let connection = time.within(CONNECT_TIMEOUT, http.open(&request, 0, &mut steps)).await;
    let connection = connection.ok_or_else(|| timed_out("no connection", CONNECT_TIMEOUT))?;
    let mut lane = connection.map_err(|failure| send_error(&http, failure))?;
    let mut stamps = Stamps::default();
    let reply = time.within(REPLY_TIMEOUT, http.inspect(&mut lane, &request, &mut stamps)).await;
    let reply = reply.ok_or_else(|| timed_out("no reply", REPLY_TIMEOUT))?;
    reply.map_err(|failure| send_error(&http, failure))
}

fn send_error(http: &Http<WorkerClock>, failure: Failure) -> SendError {
    let note = http.take_note().filter(|note| !note.is_empty());
    let name = &*failure.row().name;
    absent_error(match http.take_refusal() {
        // The note would name options for the server under load.
        Some(refusal) if refusal.cause.is_distrust() => {
            format!(
                "{name}: {}; name its authority by SSL_CERT_FILE=FILE, or add it to the system's",
                refusal.what
            )
        }
        _ => note.map_or_else(|| name.to_owned(), String::from),
    })
}

fn timed_out(wrong: &str, limit: Duration) -> SendError {
    absent_error(format!("{wrong} within {} s", limit.as_secs()))
}

/// The begin of a reply text, on one line.
fn one_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect()
}

/// Writes a text on its own connection: on a reused one, the loss of the last lines
/// would not be noticed.
fn write(host: &str, port: u16, text: &str) -> io::Result<()> {
    let mut stream = connect(host, port)?;
    stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
    stream.write_all(text.as_bytes())?;
    stream.shutdown(Shutdown::Write)
}

fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    // A name may have an IPv6 address on which Graphite does not listen.
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

#[cfg(test)]
mod tests;
