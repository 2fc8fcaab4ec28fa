//! httperf's command line: what each option means by itself, and the rules between them.

mod numbers;
mod options;
mod period;
mod workload;

pub use numbers::short;
pub use period::Period;
pub use workload::Workload;

use crate::getopt::long::{Long, Read};
use crate::side::Side;
use options::OPTIONS;
use std::net::IpAddr;
use std::path::PathBuf;

/// The settings of httperf's command line.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of httperf's
pub struct Args {
    /// `--verbose`, how often.
    pub verbosity: u32,
    /// `--debug` was asked for.
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
    /// `--client`: which of how many.
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
    /// What is in the file of `--add-header-file`.
    pub header_file: String,
    /// `--myaddr`.
    pub sources: Vec<IpAddr>,
    /// `--method`.
    pub method: String,
    /// What connections or sessions are made of.
    pub workload: Workload,
    /// `--num-conns`.
    pub num_conns: u64,
    /// `--num-calls`.
    pub num_calls: u64,
    /// `--burst-length`.
    pub burst_length: u64,
    /// `--wset`: how many files, and how often a new one.
    pub wset: Option<(u64, f64)>,
    /// `--wlog`: begun again at its end, and the file.
    pub wlog: Option<(bool, String)>,
    /// The options that are ours.
    pub side: Side,
}

/// What is shown of a request or a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrintParts {
    /// Its head.
    pub header: bool,
    /// Its body.
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

/// Why nothing is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// This is said on stderr behind the program's name.
    Said(String),
    /// The usage was asked for.
    Help,
    /// The version was asked for.
    Version,
}

impl Refusal {
    fn said(why: impl Into<String>) -> Self {
        Self::Said(why.into())
    }
}

/// Reads the words behind the name under which httperf was called. Words that are no options are not looked at.
pub fn parse(words: &[String]) -> Result<Args, Refusal> {
    let mut args = Args::unsaid();
    let mut long = Long::new(words, OPTIONS);
    while let Some(read) = long.next() {
        match read {
            Read::Option(row, value) => (row.does)(&mut args, value.unwrap_or_default())?,
            Read::Ours(word) => args.side.take(word, || long.take_word()).map_err(Refusal::Said)?,
            Read::OptionError(wrong) => return Err(Refusal::said(wrong.to_string())),
        }
    }
    Ok(args)
}

impl Args {
    /// What holds where nothing is said.
    fn unsaid() -> Self {
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
            side: Side::default(),
        }
    }

    fn version(&mut self, text: &str) -> Result<(), Refusal> {
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        self.http_version = parts.ok_or_else(|| Refusal::said(format!("illegal version number {text}")))?;
        Ok(())
    }

    /// The port that is connected to.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.ssl { 443 } else { 80 })
    }

    /// HTTP/1.0 rather than 1.1.
    pub fn is_http10(&self) -> bool {
        self.http_version == (1, 0)
    }

    /// Requests that may be under way on one connection.
    pub fn piped(&self) -> u64 {
        self.max_piped_calls.filter(|n| *n > 0).unwrap_or(if self.is_http10() { 1 } else { 32 }).min(32)
    }

    /// Connections of one session at a time.
    pub fn per_session(&self) -> u64 {
        if self.max_connections == 0 { 4 } else { self.max_connections.min(4) }
    }

    /// Whether sessions rather than connections are begun.
    pub fn has_sessions(&self) -> bool {
        self.workload != Workload::Plain
    }
}

#[cfg(test)]
mod tests;
