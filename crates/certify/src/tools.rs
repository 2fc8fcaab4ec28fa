//! The tools that can be scored, one file each: how it is told what to do, and how its words are read.
//!
//! Pure: a tool's file makes a command line and reads text. Starting programs is [`crate::trial`]'s. Each is told as well
//! as it can be told: with the options under which it measures best, and with its finest output.

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
mod text;
mod vegeta;
mod wrk;
mod wrk2;

use crate::figures::Figures;
use brunt_lab::planned::Protocol;
use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

/// How load is put on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadMode {
    /// So many requests per second, whatever the server does.
    Open,
    /// So many connections, each of which asks again when it has its reply.
    Closed,
}

impl LoadMode {
    /// Its name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

/// How a tool that is told a rate spaces its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    Even,
    /// Each connection has its share of the rate, and all of them send at the same instant.
    PerConnection,
}

/// What a tool is to do. Only loopback is ever a target.
#[derive(Debug, Clone)]
pub struct Job {
    /// The port on 127.0.0.1.
    pub port: u16,
    /// How load is put.
    pub way: LoadMode,
    /// Requests per second of the open loop.
    pub rate: u32,
    /// Connections of the closed loop.
    pub connections: u32,
    /// Connections that the open loop can come to need.
    pub most: u32,
    /// How long, in seconds.
    pub seconds: u32,
}

impl Job {
    /// What is asked for.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Connections for a tool that gives each its share of the rate: some to spare, and not so many that their bursts
    /// would be another load.
    pub fn sharing(&self) -> u32 {
        self.connections * 4
    }

    /// Connections for the way of this job.
    pub fn pool(&self) -> u32 {
        if self.way == LoadMode::Open { self.most } else { self.connections }
    }
}

/// A command, and files to be put into the directory where it runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ToolCommand {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Names and contents.
    pub files: Vec<(&'static str, String)>,
}

impl ToolCommand {
    /// A command line, its words parted by single spaces.
    pub fn line(line: &str) -> Self {
        Self { words: line.split(' ').map(Into::into).collect(), files: Vec::new() }
    }

    /// A line for `sh`.
    pub fn shell(line: String) -> Self {
        Self { words: vec!["sh".into(), "-c".into(), line], files: Vec::new() }
    }

    /// With a file beside it.
    #[must_use]
    pub fn with_file(mut self, name: &'static str, text: String) -> Self {
        self.files.push((name, text));
        self
    }
}

/// What a tool has said.
#[derive(Debug, Default)]
pub struct ToolReport {
    /// On standard output.
    pub out: String,
    /// In its [`Tool::file`].
    pub file: String,
}

/// One tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// The program; none is brunt itself.
    pub program: Option<&'static str>,
    /// What it speaks.
    pub protocol: Protocol,
    /// Its capabilities.
    pub ways: &'static [LoadMode],
    /// How it spaces an open loop.
    pub spacing: Spacing,
    /// Seconds that it runs before it begins to measure.
    pub lead: u32,
    /// The file in which it leaves what it does not print.
    pub file: Option<&'static str>,
    /// What the reader should know of how it is told and read.
    pub note: &'static str,
    /// Tells it what to do.
    pub ask: fn(&Job) -> ToolCommand,
    /// Reads its words; why not, where that cannot be done.
    pub read: fn(&ToolReport) -> Result<Figures, String>,
}

impl Tool {
    /// Where its program is on this machine: in one of the folders of `search_path`, which is written as `PATH` is.
    pub fn find(&self, search_path: Option<&OsStr>) -> Option<PathBuf> {
        let Some(program) = self.program else { return env::current_exe().ok() };
        env::split_paths(search_path?).map(|folder| folder.join(program)).find(|file| file.is_file())
    }
}

/// All tools, in the order of the rows.
pub const TOOLS: [&Tool; 18] = [
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
pub(super) fn job(way: LoadMode) -> Job {
    Job { port: 8080, way, rate: 1000, connections: 5, most: 64, seconds: 10 }
}

#[cfg(test)]
mod tests;
