//! Defines the options of HTTP/2.

use clap::{Args, ValueEnum};

use crate::units::parse_size;

/// HTTP versions of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Versions {
    /// HTTP/1.1 and 1.0 only.
    #[value(name = "1.1")]
    Http1,
    /// HTTP/2 only: by ALPN, and without TLS from the first byte on.
    #[value(name = "2")]
    Http2,
    /// What the client begins with, or agrees to by ALPN or `Upgrade: h2c`.
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
    /// HTTP versions to speak: HTTP/2 by ALPN, by prior knowledge and by `Upgrade: h2c`
    #[arg(long = "http", value_name = "VERSION", value_enum, default_value = "both")]
    pub versions: Versions,

    /// Concurrent HTTP/2 streams to allow (`SETTINGS_MAX_CONCURRENT_STREAMS`); more are refused
    #[arg(long = "h2-streams", value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..1 << 31))]
    pub streams: u32,

    /// Flow-control window of HTTP/2 request bodies (`SETTINGS_INITIAL_WINDOW_SIZE`)
    #[arg(long = "h2-window", value_name = "SIZE", default_value = "1M", value_parser = parse_window)]
    pub window: u32,

    /// Change that window to this size when the first DATA arrives on a connection, while bodies are under way
    #[arg(long = "h2-window-then", value_name = "SIZE", value_parser = parse_window)]
    pub window_then: Option<u32>,

    /// Largest HPACK table of the client (`SETTINGS_HEADER_TABLE_SIZE`)
    #[arg(long = "h2-table", value_name = "SIZE", default_value = "4096", value_parser = parse_size)]
    pub table: usize,

    /// Answer HTTP/2 requests as a gRPC service: each with one message of `--body` bytes and status OK; where `--fail` wants
    /// a status of HTTP, with UNAVAILABLE for 503 and UNKNOWN for others
    #[arg(long, conflicts_with = "hostile")]
    pub grpc: bool,
}

fn parse_window(text: &str) -> Result<u32, String> {
    let size = parse_size(text)?;
    u32::try_from(size)
        .ok()
        .filter(|size| *size > 0)
        .ok_or_else(|| format!("`{text}` is no window: write e.g. `64k`"))
}
