//! Parses the command line into values that need no further checks.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser};

use crate::fail::{FailRule, FailureSampler};
use crate::h2::options::Http2Options;
use crate::hostile::Hostile;
use crate::service::ServiceTimes;
use crate::truth::Stall;
use crate::units::{parse_positive_span, parse_size, parse_span};

/// Text at the end of `--help`.
pub const EXAMPLES: &str = "EXAMPLES:
  A fast server on a free port; it prints its address, and runs until Ctrl-C or SIGTERM:
      brunt-lab
  Four workers, exponential service times of 10 ms on average: capacity 400/s; sojourn times are known from theory
  and from a recursion:
      brunt-lab --service exp:10ms --workers 4 --stats truth.json
  A stall of 1 s in every 5 s (coordinated omission hides it):
      brunt-lab --service const:1ms --stall 1s/5s
  Reset 1 % of the requests, and reply with status 503 to 2 %:
      brunt-lab --fail 1%:reset --fail 2%:503
  TLS with a certificate created for this run:
      brunt-lab --tls --tls-cert-out lab.pem
  A child process that ends with its parent, on a fixed port:
      brunt-lab --listen 127.0.0.1:8080 --until-stdin-closes --max-runtime 1m
  On a busy machine: real-time priority, so that replies are written on time and the truth is accepted (needs root):
      chrt -f 10 brunt-lab --service exp:10ms --workers 16 --precise

PATHS: /status/NNN replies with status NNN. /redirect/N redirects N times. /bytes/N replies with N bytes. /delay/MS takes MS ms
longer. /stats replies with the JSON of --stats up to now, and is not counted. It takes time in proportion to the number of
recorded requests, so do not use it during a run.

HTTP/2: by ALPN, by prior knowledge and by `Upgrade: h2c`, unless --http 1.1. The queue, stalls, failures and paths are the
same. Replies are sent when they are due, in any order between streams. The failures reset, refused, close-early, never, slow
and extra affect one stream. goaway excludes the stream and later ones. reset-connection, close, garbage and truncate-head end
the connection. With the failure slow, the head is sent at once, and then the body byte by byte.
    HTTP/2 only, 8 streams per connection, and GOAWAY after 1000 requests:
      brunt-lab --http 2 --h2-streams 8 --keepalive-requests 1000
    A small flow-control window for request bodies, which shrinks while they are sent:
      brunt-lab --h2-window 64k --h2-window-then 1k
    Frames that violate the protocol, instead of replies (names for HTTP/3 begin with h3-, for WebSocket with ws-):
      brunt-lab --hostile list
      brunt-lab --hostile continuation-flood

HTTP/3: with --tls --http3, on the UDP port of the same number. The queue, stalls, failures and paths are the same. Failures
affect streams as with HTTP/2. reset-connection closes the connection with H3_INTERNAL_ERROR, close with H3_NO_ERROR.
--keepalive-requests sends GOAWAY. A reply is written at the instant of its last packet. QUIC paces bodies above about 300 kB,
so their last packet is sent later. 0-RTT is accepted.
    Validate the address of each client, and reject 0-RTT:
      brunt-lab --tls --http3 --retry --refuse-early-data

WebSocket: over HTTP/1.1 if the client requests it (`Upgrade: websocket`), on all paths except /status, /redirect and /stats.
Each message is a request for the path of the handshake, with the same queue, stalls and failures. The reply is one message of
the same kind (text or binary). Replies are sent in the order of the messages. --chunked sends them in frames of 16 kB, --echo
returns the message, --keepalive-requests closes with code 1000. A failure with a status closes the WebSocket with code 1011.
--ws-deflate compresses each message separately, if the client offers compression. Replies are counted with status 101. The
handshake is not counted as a request. Over HTTP/2, an extended CONNECT (RFC 8441) opens a WebSocket on its stream; reset,
refused and goaway then affect streams as with HTTP/2.

DEFINITIONS: A request arrives with its last byte; if requests are recorded, TCP uses the timestamp of the kernel (see
truth.stamped_by_kernel). The truth of a reply with the failure slow ends with its last byte. Stall periods are counted from
the first counted request. Requests that fail by reset, reset-connection, refused, goaway, close or never occupy no worker.";

/// A reference server (HTTP/1.x, HTTP/2, HTTP/3 and WebSocket) whose response times are computed. It listens on loopback only.
#[derive(Debug, Clone, Parser)]
#[command(name = "brunt-lab", version, after_long_help = EXAMPLES, after_help = "More and examples: --help")]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct LabOptions {
    /// Listen on this loopback address and port (0: a free port), or on unix:PATH
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = Listen::parse)]
    pub listen: Listen,

    /// Service time: none, const:10ms, exp:MEAN, lognormal:MEAN,SIGMA (SIGMA of the logarithm), or
    /// `file:PATH` (one number of seconds per line, used in turn)
    #[arg(long, default_value = "none", value_parser = ServiceTimes::parse)]
    pub service: ServiceTimes,

    /// Number of workers that serve one first-come, first-served queue; 0 means infinitely many
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = parse_workers)]
    pub workers: usize,

    /// Size of the reply body: 10, 1k, 124k, 1M
    #[arg(long, value_name = "SIZE", default_value = "10", value_parser = parse_size)]
    pub body: usize,

    /// Status of the reply
    #[arg(long, value_name = "CODE", default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..=599))]
    pub status: u16,

    /// A header field to add to every reply; may be repeated
    #[arg(long = "header", value_name = "K: V", value_parser = parse_header)]
    pub headers: Vec<String>,

    /// Send reply bodies with chunked transfer coding (except to HTTP/1.0 clients)
    #[arg(long)]
    pub chunked: bool,

    /// Close each connection after this number of requests; HTTP/2: with a GOAWAY that names the last stream
    #[arg(long, visible_alias = "requests-per-connection", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub keepalive_requests: Option<u64>,

    /// Reply with a copy of the request: request line, header fields, empty line, body
    #[arg(long)]
    pub echo: bool,

    /// Delay all replies that are due in the last LENGTH of every PERIOD, such as 1s/5s, counted from the first request.
    /// Requests are still received and served during a stall
    #[arg(long, value_name = "LENGTH/PERIOD", value_parser = Stall::parse)]
    pub stall: Option<Stall>,

    /// Fail this share of the requests: 1%:503, 0.01:reset; also reset-connection, refused, goaway, close, close-early,
    /// garbage, never, slow, truncate-head, extra; may be repeated
    #[arg(long = "fail", value_name = "P:KIND", value_parser = FailRule::parse)]
    pub fail: Vec<FailRule>,

    /// Time between two bytes of a reply with the failure `slow`
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = parse_positive_span)]
    pub drip: u64,

    /// Seed of random service times and failures
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Close connections that are idle for this time
    #[arg(long, value_name = "TIME", value_parser = parse_positive_span)]
    pub idle_timeout: Option<u64>,

    /// Length of the accept queue (limited by the kernel's somaxconn)
    #[arg(long, value_name = "N", default_value_t = 16384, value_parser = clap::value_parser!(i32).range(1..))]
    pub backlog: i32,

    /// End after this time [default: run until stopped by Ctrl-C or SIGTERM]
    #[arg(long, value_name = "TIME", value_parser = parse_span)]
    pub max_runtime: Option<u64>,

    /// Write the results as JSON to this file on exit; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,

    /// End when standard input closes. An input line `frozen FROM TO` (nanoseconds of `CLOCK_MONOTONIC`) reports an external
    /// SIGSTOP, which the truth then includes as a stall
    #[arg(long)]
    pub until_stdin_closes: bool,

    /// Record every request, even if replies are immediate
    #[arg(long)]
    pub record: bool,

    /// Maximum number of recorded requests; beyond it the truth is refused
    #[arg(long, value_name = "N", default_value_t = 5_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_record: u32,

    /// Busy-wait for the last 50 µs before a reply is due (uses more CPU)
    #[arg(long)]
    pub precise: bool,

    /// Use TLS, with a certificate for localhost and the loopback addresses that is created at start
    #[arg(long)]
    pub tls: bool,

    /// Write the certificate to this file (PEM)
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub tls_cert_out: Option<PathBuf>,

    /// Reply with bytes that violate HTTP/2, HTTP/3 or WebSocket, or are valid but rare; `list` prints the names
    #[arg(long, value_name = "NAME", value_parser = Hostile::parse)]
    pub hostile: Option<Hostile>,

    /// HTTP/2.
    #[command(flatten)]
    pub http2: Http2Options,

    /// HTTP/3.
    #[command(flatten)]
    pub http3: Http3,

    /// WebSocket.
    #[command(flatten)]
    pub websocket: WebSocketOptions,
}

/// Options of WebSocket.
#[derive(Debug, Clone, Args)]
pub struct WebSocketOptions {
    /// Compress WebSocket messages if the client offers it (`permessage-deflate`), and accept compressed ones
    #[arg(long = "ws-deflate")]
    pub deflate: bool,

    /// Limit the compression window of the client to 2^BITS bytes, if it offers this (`client_max_window_bits`)
    #[arg(long = "ws-client-bits", value_name = "BITS", requires = "deflate", value_parser = clap::value_parser!(u8).range(8..=15))]
    pub client_bits: Option<u8>,
}

/// Options of HTTP/3.
#[derive(Debug, Clone, Args)]
pub struct Http3 {
    /// Serve HTTP/3 as well, on the UDP port of the same number, with 0-RTT
    #[arg(long, requires = "tls")]
    pub http3: bool,

    /// HTTP/3: validate the address of each client before its handshake (Retry packet)
    #[arg(long, requires = "http3")]
    pub retry: bool,

    /// HTTP/3: store no sessions, so that 0-RTT is offered, but rejected if a client uses it
    #[arg(long, requires = "http3")]
    pub refuse_early_data: bool,
}

impl LabOptions {
    /// Checks combinations of options.
    ///
    /// # Errors
    ///
    /// Options that exclude each other, as a message.
    pub fn check(&self) -> Result<(), String> {
        let row = self.hostile.and_then(Hostile::row);
        if let Some(row) = row.filter(|row| row.is_of_http3() && !self.http3.http3) {
            return Err(format!("--hostile {} requires HTTP/3; add --tls --http3", row.name));
        }
        if self.http3.http3 && !cfg!(feature = "http3") {
            return Err("--http3: this program was built without the feature http3".to_owned());
        }
        if self.http3.http3 && matches!(self.listen, Listen::Unix(_)) {
            return Err("--http3 needs an address and a port: --listen 127.0.0.1:0".to_owned());
        }
        FailureSampler::new(&self.fail, self.seed).map(|_| ())
    }

    /// True if replies have due times, false if all are sent immediately.
    pub fn is_timed(&self) -> bool {
        self.service.distribution != crate::service::ServiceTime::None || self.stall.is_some()
    }

    /// True if arrival, service and writing of each request are recorded.
    pub fn is_recorded(&self) -> bool {
        self.is_timed() || self.record
    }
}

/// An address to listen on. Other machines cannot reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A loopback address.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl Listen {
    /// Parses `127.0.0.1:PORT`, `[::1]:PORT`, `localhost:PORT` or `unix:PATH`.
    ///
    /// # Errors
    ///
    /// The text is not such an address, as a message.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            let has_path = !path.is_empty();
            return has_path
                .then(|| Self::Unix(path.into()))
                .ok_or_else(|| "`unix:` needs a path".to_owned());
        }
        let numeric = text
            .strip_prefix("localhost:")
            .map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
        let address: SocketAddr = numeric.parse().map_err(|_| {
            format!("`{text}` is not an address: write e.g. `127.0.0.1:8080`, `[::1]:0` or `unix:/tmp/lab.sock`")
        })?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "`{text}` is not a loopback address; the lab listens on 127.0.0.1, [::1] or unix:PATH only"
            ));
        }
        Ok(Self::Tcp(address))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(out, "{address}"),
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}

fn parse_workers(text: &str) -> Result<usize, String> {
    let workers = text.parse().ok().filter(|workers| *workers <= 1_000_000);
    workers.ok_or_else(|| {
        format!("`{text}` is not a number of workers: write 0 (infinitely many) to 1000000")
    })
}

fn parse_header(text: &str) -> Result<String, String> {
    let (name, value) = text.split_once(':').ok_or_else(|| header_error(text))?;
    if name.is_empty()
        || !name.bytes().all(is_token_byte)
        || value.bytes().any(|byte| byte.is_ascii_control())
    {
        return Err(header_error(text));
    }
    Ok(format!("{name}: {}", value.trim()))
}

fn header_error(text: &str) -> String {
    format!("`{text}` is not a header field: write e.g. `X-Name: value`")
}

/// True for the bytes of a token (RFC 9110, section 5.6.2).
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<LabOptions, String> {
        let words = line.split(' ').filter(|word| !word.is_empty());
        let options = LabOptions::try_parse_from(["brunt-lab"].into_iter().chain(words))
            .map_err(|error| error.to_string())?;
        options.check().map(|()| options)
    }

    #[test]
    fn defaults_are_applied() {
        let options = parse("").unwrap();
        assert_eq!(options.listen, Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0))));
        assert_eq!((options.body, options.status, options.workers), (10, 200, 0));
        assert!(!options.is_timed() && !options.is_recorded());
        assert!(parse("--record").unwrap().is_recorded());
        assert!(parse("--stall 1s/5s").unwrap().is_timed());
    }

    #[test]
    fn addresses_outside_loopback_are_refused() {
        for address in ["0.0.0.0:80", "192.168.1.1:80", "[::]:80"] {
            assert!(
                parse(&format!("--listen {address}")).unwrap_err().contains("loopback"),
                "{address}"
            );
        }
        assert!(parse("--listen example.org:80").unwrap_err().contains("127.0.0.1:8080"));
        assert!(parse("--listen [::1]:0").is_ok());
        assert!(parse("--listen localhost:0").is_ok());
        assert_eq!(parse("--listen unix:/tmp/x").unwrap().listen, Listen::Unix("/tmp/x".into()));
    }

    #[test]
    fn error_messages_show_a_valid_value() {
        for (line, expected) in [
            ("--service fast", "const:10ms"),
            ("--service const:10", "10ms"),
            ("--workers many", "infinitely many"),
            ("--stall 5s/1s", "shorter than its period"),
            ("--fail 500", "1%:500"),
            ("--fail 60%:500 --fail 60%:reset", "more than 1"),
            ("--status 99", "200..=599"),
            ("--header nonsense", "X-Name: value"),
            ("--body big", "124k"),
            ("--tls-cert-out x.pem", "--tls"),
        ] {
            let refusal = parse(line).unwrap_err();
            assert!(refusal.contains(expected), "{line}: {refusal}");
        }
    }
}
