//! Defines the tools that can be scored, one file each: the tool's command line, and the
//! parser of its output.
//!
//! A tool's file does no I/O: it builds a command line and parses text. [`crate::trial`] starts the
//! programs. Each tool gets the options with which it measures best, and its most detailed output.

mod ab;
mod bombardier;
mod brunt;
mod h2load;
mod hey;
mod httperf;
mod jmeter;
mod k6;
mod oha;
mod siege;
pub(crate) mod text;
mod vegeta;
mod wrk;
mod wrk2;

use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;
use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Load mode: open or closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadMode {
    /// A fixed number of requests per second, independent of the server.
    Open,
    /// A fixed number of connections, each of which sends a request after each reply.
    Closed,
}

impl LoadMode {
    /// Name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

/// Spacing of the requests of a tool with a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// All requests at equal distances.
    Even,
    /// Each connection has a share of the rate, and all of them send at the same instant.
    PerConnection,
}

/// Parameters of a load. The target is always on loopback.
#[derive(Debug, Clone)]
pub struct LoadParameters {
    /// Port of the server on 127.0.0.1.
    pub port: u16,
    /// Load mode of the job.
    pub way: LoadMode,
    /// Requests per second of the open loop.
    pub rate: u32,
    /// Connections of the closed loop.
    pub connections: u32,
    /// Maximum number of connections that the open loop may need.
    pub most: u32,
    /// Length of the load in seconds.
    pub seconds: u32,
}

impl LoadParameters {
    /// Returns the target URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Number of connections for a tool that gives each connection a share of the rate. Some are
    /// spare, but few enough that their bursts are no other load.
    pub fn sharing(&self) -> u32 {
        self.connections * 4
    }

    /// Number of connections for the load mode of this job.
    pub fn pool(&self) -> u32 {
        if self.way == LoadMode::Open { self.most } else { self.connections }
    }
}

/// A command line, and files for its working directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ToolCommand {
    /// Program and arguments of the command.
    pub words: Vec<String>,
    /// Names and contents of the files.
    pub files: Vec<(&'static str, String)>,
}

impl ToolCommand {
    /// Creates a command from words that are separated by single spaces.
    pub fn line(line: &str) -> Self {
        Self { words: line.split(' ').map(Into::into).collect(), files: Vec::new() }
    }

    /// Creates a command from a line for `sh`.
    pub fn shell(line: String) -> Self {
        Self { words: vec!["sh".into(), "-c".into(), line], files: Vec::new() }
    }

    /// Adds a file to the working directory.
    #[must_use]
    pub fn with_file(mut self, name: &'static str, text: String) -> Self {
        self.files.push((name, text));
        self
    }
}

/// Output of a tool.
#[derive(Debug, Default)]
pub struct ToolReport {
    /// Text on standard output.
    pub out: String,
    /// Contents of the file [`ScoredTool::file`].
    pub file: String,
}

/// A load generator that can be scored.
#[derive(Debug)]
pub struct ScoredTool {
    /// Name on the command line and in tables.
    pub name: &'static str,
    /// Program; None for brunt itself.
    pub program: Option<&'static str>,
    /// Protocol of its requests.
    pub protocol: Protocol,
    /// Load modes that the tool has.
    pub ways: &'static [LoadMode],
    /// Spacing of its requests in an open loop.
    pub spacing: Spacing,
    /// Seconds that the tool runs before it begins to measure.
    pub lead: u32,
    /// File with results that the tool does not print.
    pub file: Option<&'static str>,
    /// Notes for the reader on its options and output.
    pub note: &'static str,
    /// Builds its command line.
    pub command: fn(&LoadParameters) -> ToolCommand,
    /// Parses its output; the error is the reason why that is impossible.
    pub read: fn(&ToolReport) -> Result<CertifiedFigures, String>,
}

impl ScoredTool {
    /// Returns the path of its program, in one of the directories of `search_path`, which has
    /// the format of `PATH`.
    pub fn find(&self, search_path: Option<&OsStr>) -> Option<PathBuf> {
        let Some(program) = self.program else { return env::current_exe().ok() };
        env::split_paths(search_path?)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())
    }
}

/// All tools, in the order of the rows.
pub const TOOLS: [&ScoredTool; 18] = [
    &brunt::TOOL,
    &brunt::HTTP2,
    &brunt::HTTP3,
    &brunt::WEBSOCKET,
    &brunt::GRPC,
    &brunt::WEBSOCKET_HTTP2,
    &wrk::TOOL,
    &wrk2::TOOL,
    &ab::TOOL,
    &siege::TOOL,
    &httperf::TOOL,
    &h2load::TOOL,
    &oha::TOOL,
    &k6::TOOL,
    &vegeta::TOOL,
    &hey::TOOL,
    &bombardier::TOOL,
    &jmeter::TOOL,
];

#[cfg(test)]
pub(super) fn job(way: LoadMode) -> LoadParameters {
    LoadParameters { port: 8080, way, rate: 1000, connections: 5, most: 64, seconds: 10 }
}

#[cfg(test)]
mod tests;
