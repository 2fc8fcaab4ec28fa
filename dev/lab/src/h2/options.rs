//! Defines the options of HTTP/2.

use clap::{Args, ValueEnum};

use crate::units::parse_size;

/// HTTP versions of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Versions {
    /// HTTP/1.1 and 1.0 only.
    #[value(name = "1.1")]
    Http1,
    /// HTTP/2 only: by ALPN, or without TLS by prior knowledge.
    #[value(name = "2")]
    Http2,
    /// Both: the client chooses by ALPN, by prior knowledge or by `Upgrade: h2c`.
    #[default]
    Both,
}

impl Versions {
    /// True if HTTP/2 is one of the versions.
    pub fn has_http2(self) -> bool {
        self != Self::Http1
    }
}

/// The options of HTTP/2.
#[derive(Debug, Clone, Args)]
pub struct Http2Options {
    /// HTTP versions to serve: HTTP/2 by ALPN, by prior knowledge and by `Upgrade: h2c`
    #[arg(long = "http", value_name = "VERSION", value_enum, default_value = "both")]
    pub versions: Versions,

    /// Maximum number of concurrent HTTP/2 streams (`SETTINGS_MAX_CONCURRENT_STREAMS`); others are refused
    #[arg(long = "h2-streams", value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..1 << 31))]
    pub streams: u32,

    /// Flow-control window of HTTP/2 request bodies (`SETTINGS_INITIAL_WINDOW_SIZE`)
    #[arg(long = "h2-window", value_name = "SIZE", default_value = "1M", value_parser = parse_window)]
    pub window: u32,

    /// Change that window to this size when the first DATA frame arrives on a connection, while bodies are being sent
    #[arg(long = "h2-window-then", value_name = "SIZE", value_parser = parse_window)]
    pub window_then: Option<u32>,

    /// Maximum size of the client's HPACK table (`SETTINGS_HEADER_TABLE_SIZE`)
    #[arg(long = "h2-table", value_name = "SIZE", default_value = "4096", value_parser = parse_size)]
    pub table: usize,

    /// Reply to HTTP/2 requests as a gRPC service: one message of `--body` bytes and status OK. A `--fail` rule with an HTTP
    /// status becomes UNAVAILABLE for 503, and UNKNOWN for other statuses
    #[arg(long, conflicts_with = "hostile")]
    pub grpc: bool,
}

fn parse_window(text: &str) -> Result<u32, String> {
    let size = parse_size(text)?;
    u32::try_from(size)
        .ok()
        .filter(|size| *size > 0)
        .ok_or_else(|| format!("`{text}` is not a window size: write e.g. `64k`"))
}
