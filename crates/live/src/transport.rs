//! Makes one attempt to send lines: a POST over HTTP, or a TCP connection, each with a time limit.

use brunt_engine::clock;
use brunt_generator::exchange::{CONNECT_TIMEOUT, ExchangeError, REPLY_TIMEOUT, exchange, plan};
use brunt_model::Body;
use brunt_model::live_output::{AccessToken, GraphiteSink, InfluxSink, LiveSink};
use brunt_wire::http::Common;
use brunt_wire::request::RequestDraft;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;

/// Maximum number of characters of an error text.
const MAX_SHOWN: usize = 200;

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
    pub fn send(&mut self, text: &str) -> Result<(), ExchangeError> {
        match self {
            Self::Http { url, token, common } => {
                let common = match common {
                    Some(common) => Arc::clone(common),
                    None => common
                        .insert(wire().map_err(|error| ExchangeError::Refused(error.to_string()))?)
                        .clone(),
                };
                post(&common, url, token.as_ref(), text)
            }
            Self::Tcp { host, port } => Ok(write(host, *port, text)?),
        }
    }
}

/// Connections with default settings, each for one request.
fn wire() -> Result<Arc<Common>, brunt_wire::http::BadWire> {
    Common::new(&plan())
}

fn post(
    common: &Arc<Common>,
    url: &str,
    token: Option<&AccessToken>,
    text: &str,
) -> Result<(), ExchangeError> {
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
    let reply = clock::runtime()?.block_on(exchange(common, &draft))?;
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
    Err(if status >= 500 || status == 429 {
        ExchangeError::Absent(reason)
    } else {
        ExchangeError::Refused(reason)
    })
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
