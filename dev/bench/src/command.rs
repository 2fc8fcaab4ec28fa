//! Builds the command line of each tool for a case: one function for each tool.
//!
//! All tools use one thread and the same number of connections. A case that a tool cannot run is
//! `None`, and a dash in the table. Other modules run the commands.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::cases::{CONNECTIONS, CaseLoad, CaseTransport, H2_CONNECTIONS, SMALL};
use crate::nginx::BenchNginx;
use crate::tools::BenchTool;

/// More requests per second than any tool reaches: ab requires a number of requests.
const AB_AT_MOST_PER_SECOND: u64 = 400_000;

/// Parameters of one run.
#[derive(Clone, Copy, Debug)]
pub struct RunParameters<'a> {
    pub load: CaseLoad,
    pub seconds: u64,
    pub server: &'a BenchNginx,
    /// Output file of brunt.
    pub result: &'a Path,
}

impl RunParameters<'_> {
    pub fn command(&self, tool: BenchTool, program: &Path) -> Option<Command> {
        let arguments = match tool {
            BenchTool::Brunt => self.brunt(),
            BenchTool::Wrk => self.wrk(),
            BenchTool::Ab => self.ab(),
            BenchTool::H2load => self.h2load(),
            BenchTool::Floor => self.floor(),
        }?;
        let mut command = Command::new(program);
        command.args(arguments);
        // The path of the result file may contain spaces, so it is no part of the words above.
        if tool == BenchTool::Brunt {
            command
                .arg("-o")
                .arg([OsStr::new("json="), self.result.as_os_str()].join(OsStr::new("")));
        }
        Some(command)
    }

    fn brunt(&self) -> Option<Vec<String>> {
        let url = match self.load {
            CaseLoad::Open { .. } => self.server.url(SMALL),
            _ => self.url()?,
        };
        let connections = if self.streams().is_some() { H2_CONNECTIONS } else { CONNECTIONS };
        let mut words = words(&[
            &url,
            "--threads 1 --quiet",
            &format!("-c {connections} -d {}s", self.seconds),
        ]);
        match self.load {
            CaseLoad::Open { rate } => words.extend(split(&format!("-r {rate} --arrivals even"))),
            CaseLoad::Closed { transport: CaseTransport::NewConnection, .. } => {
                words.push("--no-keepalive".to_owned());
            }
            CaseLoad::Closed { transport: CaseTransport::TlsKeepAlive, .. } => {
                words.push("--insecure".to_owned());
            }
            CaseLoad::Closed { transport: CaseTransport::H2 { streams }, .. } => {
                words.extend(split(&format!("--insecure --http 2 --streams {streams}")));
            }
            _ => {}
        }
        Some(words)
    }

    fn wrk(&self) -> Option<Vec<String>> {
        let url = self.url().filter(|_| self.streams().is_none())?;
        let mut words = split(&format!("-t1 -c{CONNECTIONS} -d{}s", self.seconds));
        if self.transport() == Some(CaseTransport::NewConnection) {
            // wrk has no other way to open a connection per request.
            words.extend(["-H", "Connection: close"].map(str::to_owned));
        }
        words.push(url);
        Some(words)
    }

    fn ab(&self) -> Option<Vec<String>> {
        let url = self.url().filter(|_| self.streams().is_none())?;
        let keep = if self.transport() == Some(CaseTransport::NewConnection) { "" } else { "-k" };
        // The order matters: -t sets a number of requests, which -n then replaces.
        let limits = format!(
            "-q -c {CONNECTIONS} -t {} -n {}",
            self.seconds,
            self.seconds * AB_AT_MOST_PER_SECOND
        );
        Some(words(&[keep, &limits, &url]))
    }

    fn h2load(&self) -> Option<Vec<String>> {
        let common = format!("--h1 -t1 -m1 -c{CONNECTIONS} -D {}", self.seconds);
        match self.load {
            CaseLoad::Open { rate } => {
                // h2load takes the rate of each connection.
                let each = f64::from(rate) / f64::from(CONNECTIONS);
                Some(words(&[&common, &format!("--rps={each}"), &self.server.url(SMALL)]))
            }
            // h2load keeps its connections.
            CaseLoad::Closed { transport: CaseTransport::NewConnection, .. } => None,
            CaseLoad::Closed { transport: CaseTransport::H2 { streams }, .. } => {
                let many = format!("-t1 -m{streams} -c{H2_CONNECTIONS} -D {}", self.seconds);
                Some(words(&[&many, &self.url()?]))
            }
            _ => Some(words(&[&common, &self.url()?])),
        }
    }

    fn floor(&self) -> Option<Vec<String>> {
        let BenchNginx { address, .. } = self.server;
        let Self { seconds, .. } = self;
        match self.load {
            CaseLoad::Open { rate } => {
                Some(split(&format!("open {address} {rate} {seconds} {CONNECTIONS} even")))
            }
            CaseLoad::Closed {
                page,
                transport: CaseTransport::KeepAlive | CaseTransport::NewConnection,
                ..
            } => {
                let new = if self.transport() == Some(CaseTransport::NewConnection) {
                    "--new-connections"
                } else {
                    ""
                };
                Some(split(&format!(
                    "closed {address} {} {seconds} {CONNECTIONS} {new}",
                    page.path
                )))
            }
            _ => None,
        }
    }

    fn transport(&self) -> Option<CaseTransport> {
        match self.load {
            CaseLoad::Closed { transport, .. } => Some(transport),
            _ => None,
        }
    }

    /// Number of streams on each connection; None without HTTP/2.
    fn streams(&self) -> Option<u32> {
        match self.transport() {
            Some(CaseTransport::H2 { streams }) => Some(streams),
            _ => None,
        }
    }

    /// URL of a closed loop's page.
    fn url(&self) -> Option<String> {
        match self.load {
            CaseLoad::Closed {
                page,
                transport: CaseTransport::TlsKeepAlive | CaseTransport::H2 { .. },
                ..
            } => Some(self.server.tls_url(page)),
            CaseLoad::Closed { page, .. } => Some(self.server.url(page)),
            _ => None,
        }
    }
}

fn words(parts: &[&str]) -> Vec<String> {
    parts.iter().flat_map(|part| split(part)).collect()
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}
