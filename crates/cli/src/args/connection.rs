//! How connections are made and kept.

use super::values;
use crate::defaults;
use brunt_model::plan::Resolve;
use brunt_spec::words::{bytes, duration};
use clap::{Args, value_parser};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How connections are made and kept.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the command line
pub struct ConnectionArgs {
    /// A new connection for each request
    #[arg(long)]
    pub no_keepalive: bool,

    /// Requests on one connection, at most [default: no limit]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub requests_per_connection: Option<u64>,

    /// Ask once more where a kept-alive connection was found closed
    #[arg(long)]
    pub retry_stale: bool,

    /// HTTP/1.0 instead of HTTP/1.1
    #[arg(long = "http1.0")]
    pub http10: bool,

    /// From begun to the reply's last byte, at most
    #[arg(long, value_name = "TIME", default_value = defaults::TIMEOUT, value_parser = duration::positive)]
    pub timeout: Duration,

    /// Resolving, connecting and TLS handshake, at most
    #[arg(long, value_name = "TIME", default_value = defaults::CONNECT_TIMEOUT, value_parser = duration::positive)]
    pub connect_timeout: Duration,

    /// Bytes/s each connection reads, such as 10k [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = bytes::rate)]
    pub receive_rate: Option<u64>,

    /// Authorities to trust, as PEM [default: the system's]
    #[arg(long, value_name = "FILE", value_parser = values::pem)]
    pub cacert: Option<PathBuf>,

    /// Our own certificate, as PEM
    #[arg(long, value_name = "FILE", value_parser = values::pem)]
    pub cert: Option<PathBuf>,

    /// The private key of --cert, as PEM
    #[arg(long, value_name = "FILE", value_parser = values::pem)]
    pub key: Option<PathBuf>,

    /// Trust any certificate of the server
    #[arg(short = 'k', long)]
    pub insecure: bool,

    /// Server name of the TLS handshake [default: the URL's host]
    #[arg(long, value_name = "NAME", value_parser = values::text)]
    pub sni: Option<String>,

    /// A whole TLS handshake for each connection
    #[arg(long)]
    pub no_tls_resumption: bool,

    /// Connect to ADDR for HOST:PORT; repeatable
    #[arg(long, value_name = "HOST:PORT:ADDR", value_parser = values::resolve)]
    pub resolve: Vec<Resolve>,

    /// Look names up again so often [default: once for the run]
    #[arg(long, value_name = "TIME", value_parser = duration::positive)]
    pub resolve_every: Option<Duration>,

    /// An HTTP proxy, as HOST:PORT or `http://HOST:PORT`
    #[arg(long, value_name = "URL", value_parser = values::proxy)]
    pub proxy: Option<String>,

    /// Connect to this Unix socket, whatever the URL's host
    #[arg(long, value_name = "PATH", conflicts_with_all = ["proxy", "resolve", "resolve_every", "source"])]
    pub unix_socket: Option<PathBuf>,

    /// Local addresses to connect from, in turn
    #[arg(long, value_name = "ADDR[,ADDR…]", value_delimiter = ',', value_parser = values::address)]
    pub source: Vec<IpAddr>,
}
