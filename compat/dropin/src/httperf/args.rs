//! Parses httperf's command line: the meaning of each option, and the values derived from several.

mod numbers;
mod options;
mod period;
mod workload;

pub use numbers::short;
pub use period::Period;
pub use workload::Workload;

use crate::brunt_options::BruntOptions;
use crate::getopt::long::{LongItem, LongOptions};
use options::OPTIONS;
use std::net::IpAddr;
use std::path::PathBuf;

/// The settings of httperf's command line.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of httperf's
pub struct HttperfArgs {
    /// Number of `--verbose` options.
    pub verbosity: u32,
    pub debug: bool,
    /// `--print-reply`.
    pub print_reply: Option<PrintParts>,
    /// `--print-request`.
    pub print_request: Option<PrintParts>,
    /// `--hog`.
    pub hog: bool,
    /// `--close-with-reset`.
    pub close_with_reset: bool,
    /// `--think-timeout`, in seconds.
    pub think_timeout: f64,
    /// `--timeout`, in seconds; 0: none.
    pub timeout: f64,
    /// `--runtime`, in seconds.
    pub runtime: Option<f64>,
    /// `--client`: index and number of clients.
    pub client: (u64, u64),
    /// `--server`.
    pub server: String,
    /// `--server-name`.
    pub server_name: Option<String>,
    /// `--port`.
    pub port: Option<u16>,
    /// `--uri`.
    pub uri: String,
    /// `--failure-status`.
    pub failure_status: Option<u16>,
    /// `--http-version`: major and minor.
    pub http_version: (u64, u64),
    /// `--no-host-hdr`.
    pub no_host_hdr: bool,
    /// `--max-connections` of one session.
    pub max_connections: u64,
    /// `--max-piped-calls`.
    pub max_piped_calls: Option<u64>,
    /// `--rate` or `--period`.
    pub period: Period,
    /// `--send-buffer`, in bytes.
    pub send_buffer: i64,
    /// `--recv-buffer`, in bytes.
    pub recv_buffer: i64,
    /// `--retry-on-failure`.
    pub retry_on_failure: bool,
    /// `--session-cookies`.
    pub session_cookies: bool,
    /// `--ssl`.
    pub ssl: bool,
    /// `--ssl-ciphers`.
    pub ssl_ciphers: Option<String>,
    /// `--ssl-no-reuse`.
    pub ssl_no_reuse: bool,
    /// `--tls-server-name`.
    pub tls_server_name: Option<String>,
    /// `--ssl-protocol`.
    pub ssl_protocol: Option<String>,
    /// `--ssl-certificate`.
    pub ssl_certificate: Option<PathBuf>,
    /// `--ssl-key`.
    pub ssl_key: Option<PathBuf>,
    /// `--ssl-ca-file`.
    pub ssl_ca_file: Option<PathBuf>,
    /// `--ssl-verify`.
    pub ssl_verify: bool,
    /// `--add-header`, as it was typed.
    pub add_header: Option<String>,
    /// Contents of the file of `--add-header-file`.
    pub header_file: String,
    /// `--myaddr`.
    pub sources: Vec<IpAddr>,
    /// `--method`.
    pub method: String,
    /// Calls of each connection or session.
    pub workload: Workload,
    /// `--num-conns`.
    pub num_conns: u64,
    /// `--num-calls`.
    pub num_calls: u64,
    /// `--burst-length`.
    pub burst_length: u64,
    /// `--wset`: number of files, and probability of a new one.
    pub wset: Option<(u64, f64)>,
    /// `--wlog`: whether to restart at the end of the list, and the file.
    pub wlog: Option<(bool, String)>,
    pub brunt_options: BruntOptions,
}

/// Parts of a request or reply to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrintParts {
    pub header: bool,
    pub body: bool,
}

impl PrintParts {
    fn parse(text: &str) -> Self {
        match text.chars().next() {
            Some('h' | 'H') => Self { header: true, body: false },
            Some('b' | 'B') => Self { header: false, body: true },
            _ => Self { header: true, body: true },
        }
    }
}

/// Why httperf exits without a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttperfExit {
    /// Prints this message to stderr, after the program's name.
    Message(String),
    Help,
    Version,
}

impl HttperfExit {
    fn message(why: impl Into<String>) -> Self {
        Self::Message(why.into())
    }
}

/// Parses the arguments that follow the program's name. Words that are not options are ignored.
pub fn parse(words: &[String]) -> Result<HttperfArgs, HttperfExit> {
    let mut args = HttperfArgs::with_defaults();
    let mut long = LongOptions::new(words, OPTIONS);
    while let Some(read) = long.next() {
        match read {
            LongItem::Option(row, value) => (row.effect)(&mut args, value.unwrap_or_default())?,
            LongItem::BruntOption(word) => {
                args.brunt_options.take(word, || long.take_word()).map_err(HttperfExit::Message)?;
            }
            LongItem::OptionError(wrong) => return Err(HttperfExit::message(wrong.to_string())),
        }
    }
    Ok(args)
}

impl HttperfArgs {
    /// The values of options that are not given.
    fn with_defaults() -> Self {
        Self {
            verbosity: 0,
            debug: false,
            print_reply: None,
            print_request: None,
            hog: false,
            close_with_reset: false,
            think_timeout: 0.0,
            timeout: 0.0,
            runtime: None,
            client: (0, 1),
            server: "localhost".into(),
            server_name: None,
            port: None,
            uri: "/".into(),
            failure_status: None,
            http_version: (1, 1),
            no_host_hdr: false,
            max_connections: 4,
            max_piped_calls: None,
            period: Period::None,
            send_buffer: 4096,
            recv_buffer: 16384,
            retry_on_failure: false,
            session_cookies: false,
            ssl: false,
            ssl_ciphers: None,
            ssl_no_reuse: false,
            tls_server_name: None,
            ssl_protocol: None,
            ssl_certificate: None,
            ssl_key: None,
            ssl_ca_file: None,
            ssl_verify: false,
            add_header: None,
            header_file: String::new(),
            sources: Vec::new(),
            method: "GET".into(),
            workload: Workload::Plain,
            num_conns: 1,
            num_calls: 1,
            burst_length: 1,
            wset: None,
            wlog: None,
            brunt_options: BruntOptions::default(),
        }
    }

    fn set_version(&mut self, text: &str) -> Result<(), HttperfExit> {
        let parts = text
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        self.http_version =
            parts.ok_or_else(|| HttperfExit::message(format!("illegal version number {text}")))?;
        Ok(())
    }

    /// Port of the server.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.ssl { 443 } else { 80 })
    }

    /// True for HTTP/1.0, false for 1.1.
    pub fn is_http10(&self) -> bool {
        self.http_version == (1, 0)
    }

    /// Maximum number of requests in flight on one connection.
    pub fn piped(&self) -> u64 {
        self.max_piped_calls
            .filter(|n| *n > 0)
            .unwrap_or(if self.is_http10() { 1 } else { 32 })
            .min(32)
    }

    /// Maximum number of concurrent connections of one session.
    pub fn per_session(&self) -> u64 {
        if self.max_connections == 0 { 4 } else { self.max_connections.min(4) }
    }

    /// True if the load consists of sessions, not single connections.
    pub fn has_sessions(&self) -> bool {
        self.workload != Workload::Plain
    }
}

#[cfg(test)]
mod tests;
