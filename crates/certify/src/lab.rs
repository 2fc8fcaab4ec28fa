//! Runs the reference server as a child process: brunt itself, with the command `lab`.

use crate::cases::ReferenceCase;
use crate::error::CertifyError;
use crate::process::{Process, WaitEnd};
use brunt_engine::RunControl;
use brunt_lab::freeze::Freeze;
use brunt_lab::planned::Protocol;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

/// Maximum time that the server takes to write its report.
const REPORT_TIMEOUT: Duration = Duration::from_secs(20);

/// Seconds that the server runs beyond the load, even if brunt dies.
const SPARE_RUNTIME: u32 = 120;

/// Path of the running program, even if its file was replaced.
pub fn brunt_program() -> PathBuf {
    let linked = PathBuf::from("/proc/self/exe");
    if linked.exists() { linked } else { std::env::current_exe().unwrap_or(linked) }
}

/// A running reference server.
pub struct ReferenceServer {
    process: Process,
    /// The server ends when this pipe closes.
    stdin: Option<ChildStdin>,
    stats: PathBuf,
    /// Port on 127.0.0.1 where it listens.
    pub port: u16,
    /// True if the system gave the server real-time priority.
    pub has_real_time_priority: bool,
}

impl ReferenceServer {
    /// Starts the server for a load of this many seconds.
    pub fn start(
        case: &ReferenceCase,
        protocol: Protocol,
        folder: &Path,
        seconds: u32,
    ) -> Result<Self, CertifyError> {
        let stats = folder.join("truth.json");
        let mut command = Command::new(brunt_program());
        // The server must be punctual (`--precise`), and must end with this process in any case.
        command.args([
            "lab",
            "--listen",
            "127.0.0.1:0",
            "--precise",
            "--until-stdin-closes",
            "--max-runtime",
        ]);
        command
            .arg(format!("{}s", seconds + SPARE_RUNTIME))
            .arg("--stats")
            .arg(&stats)
            .args(case.lab.split(' '));
        if protocol == Protocol::Http3 {
            command.args(["--tls", "--http3"]);
        }
        if protocol == Protocol::Grpc {
            command.arg("--grpc");
        }
        let mut process = Process::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))
            .map_err(CertifyError::Start)?;
        let stdin = process.child().stdin.take();
        let stdout = process.child().stdout.take().ok_or(CertifyError::NoOutput)?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        // The server prints its URL, which ends with the port.
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let port = port.ok_or_else(|| CertifyError::NoPort(line.trim().to_owned()))?;
        let has_real_time_priority = set_real_time_priority(&process);
        Ok(Self { process, stdin, stats, port, has_real_time_priority })
    }

    /// Stops the server for this time, and then reports the stop to it.
    pub fn freeze(&mut self, length: Duration) -> Result<(), CertifyError> {
        let freeze = Freeze::impose(self.process.pid(), length).map_err(CertifyError::Freeze)?;
        if let Some(stdin) = &mut self.stdin {
            // The truth of the server includes the freeze, which it cannot observe itself.
            writeln!(stdin, "{freeze}")?;
        }
        Ok(())
    }

    /// Ends the server, and returns its report.
    pub fn end(mut self) -> Result<Value, CertifyError> {
        // Closing the pipe asks the server to write its report and to end.
        drop(self.stdin.take());
        match self.process.wait(REPORT_TIMEOUT, &RunControl::default())? {
            WaitEnd::Ended(status) if status.success() => {}
            end => return Err(CertifyError::Ending(format!("{end:?}"))),
        }
        Ok(serde_json::from_str(&fs::read_to_string(&self.stats)?)?)
    }
}

/// Gives the server real-time priority, which makes its replies punctual. It requires a privilege;
/// without it, the server more often reports that its own times are unreliable.
fn set_real_time_priority(process: &Process) -> bool {
    let pid = process.pid().as_raw_nonzero().to_string();
    let chrt =
        Command::new("chrt").args(["-a", "-f", "-p", "10", &pid]).stdin(Stdio::null()).output();
    chrt.is_ok_and(|output| output.status.success())
}
