//! Measures one run: a tool and a load, as nginx and the kernel observe them.
//!
//! nginx counts requests; the kernel accounts for CPU time and memory. The rate is the slope of
//! nginx's count between one eighth and seven eighths of the run. Neither a tool's start nor its
//! evaluation at the end counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::account::{Account, Lag};
use crate::cases::BenchCase;
use crate::child::{self, ChildResult, InterruptFlag};
use crate::clock::Stopwatch;
use crate::command::RunParameters;
use crate::machine;
use crate::nginx::BenchNginx;
use crate::status::NginxCounters;
use crate::tools::{BenchTool, Toolbox};

/// Maximum difference between a tool's own count and nginx's, as a share. Requests in flight at the
/// end are tolerated in addition.
const COUNTS_AGREE_WITHIN: f64 = 0.001;
/// brunt's exit code for a failed consistency check (docs/exit-codes.md).
const BRUNT_DOUBTS: i32 = 5;
/// Maximum time that a tool takes in addition to its load. Then it is killed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Environment of every run.
#[derive(Debug)]
pub struct Stand {
    pub server: BenchNginx,
    pub toolbox: Toolbox,
    pub interrupt: InterruptFlag,
    pub scratch: tempfile::TempDir,
    pub seconds: u64,
    /// True if the server is pinned to the first CPU, and the tools to the second.
    pub pinned: bool,
}

/// One run of a case with rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    pub case: &'static str,
    pub tool: BenchTool,
    pub round: usize,
    /// Requested length of the load.
    pub seconds: f64,
    #[serde(flatten)]
    pub observed: Observed,
    pub lag_seconds: Option<Lag>,
}

/// Measurement of a run from outside.
#[derive(Clone, Debug, Serialize)]
pub struct Observed {
    pub requests: u64,
    /// Over the middle three quarters; `None` if the process ended before.
    pub rate_per_second: Option<f64>,
    pub user_seconds: f64,
    pub system_seconds: f64,
    pub elapsed_seconds: f64,
    pub peak_rss_bytes: u64,
    /// Greatest number of connections open at a reading.
    pub connections: u64,
    /// CPU time of all other processes on the machine, in CPUs.
    pub foreign_cpus: f64,
    pub complaint: Option<String>,
}

impl Observed {
    pub fn cpu_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}

impl Stand {
    /// Measures a run. `None` if the tool is not installed or does not support the case.
    pub fn measure(
        &self,
        case: &BenchCase,
        tool: BenchTool,
        round: usize,
    ) -> Option<Result<Measurement>> {
        self.measure_with(case, tool, self.toolbox.path(tool)?, round)
    }

    /// Measures a run with `program` for the tool.
    pub fn measure_with(
        &self,
        case: &BenchCase,
        tool: BenchTool,
        program: &Path,
        round: usize,
    ) -> Option<Result<Measurement>> {
        let result = self.result_file();
        let job = RunParameters {
            load: case.load,
            seconds: self.seconds,
            server: &self.server,
            result: &result,
        };
        let mut command = job.command(tool, program)?;
        let seconds = self.seconds as f64;
        let run =
            self.observe(tool, &mut command, seconds, Duration::from_secs(self.seconds) + PATIENCE);
        Some(run.map(|(observed, account)| Measurement {
            case: case.name,
            tool,
            round,
            seconds,
            observed,
            lag_seconds: account.lag,
        }))
    }

    /// Runs `command`, which loads the server for about `seconds`, and kills it after `limit`.
    pub fn observe(
        &self,
        tool: BenchTool,
        command: &mut Command,
        seconds: f64,
        limit: Duration,
    ) -> Result<(Observed, Account)> {
        let result = self.result_file();
        // A result of an earlier run must not be read.
        let _ = fs::remove_file(&result);
        let before = Cpu::read(self.server.id())?;
        let mut watcher = Watcher::new(self, seconds)?;
        let finished =
            child::run(command, limit, &self.interrupt, |elapsed| watcher.read_if_due(elapsed))?;
        let requests = watcher.total()?;
        let foreign = Cpu::read(self.server.id())?.foreign_since(&before, &finished);
        expect_measured(tool, &finished)?;
        let account = Account::read(tool, &finished.output, &result);
        let usage = finished.usage;
        let observed = Observed {
            requests,
            rate_per_second: watcher.rate(),
            user_seconds: usage.user.as_secs_f64(),
            system_seconds: usage.system.as_secs_f64(),
            elapsed_seconds: finished.elapsed.as_secs_f64(),
            // A polled reading may miss the true peak, which brunt reports itself.
            peak_rss_bytes: usage.peak_rss_bytes.max(account.peak_rss_bytes.unwrap_or(0)),
            connections: watcher.connections,
            foreign_cpus: foreign,
            complaint: account
                .complaint
                .clone()
                .or_else(|| disagreement(&account, requests, watcher.connections)),
        };
        Ok((observed, account))
    }

    /// Path of brunt's output file.
    pub fn result_file(&self) -> PathBuf {
        self.scratch.path().join("result.json")
    }
}

/// Fails unless the tool has measured. A run of brunt with a failed consistency check counts:
/// excluding it would exclude brunt's worst runs.
pub(crate) fn expect_measured(tool: BenchTool, finished: &ChildResult) -> Result<()> {
    let has_failed_check = tool == BenchTool::Brunt && finished.code == Some(BRUNT_DOUBTS);
    let status =
        finished.code.map_or("ended by a signal".to_owned(), |code| format!("exit code {code}"));
    ensure!(
        finished.code == Some(0) || has_failed_check,
        "{} failed ({status}):\n{}",
        tool.name(),
        last_lines(&finished.output)
    );
    Ok(())
}

fn disagreement(account: &Account, counted: u64, connections: u64) -> Option<String> {
    let completed = account.completed?;
    // Each connection may have had one request in flight at the end.
    let tolerated = connections as f64 + counted as f64 * COUNTS_AGREE_WITHIN;
    (completed.abs_diff(counted) as f64 > tolerated)
        .then(|| format!("the tool reported {completed} requests, nginx counted {counted}"))
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// Reads nginx's count at two instants of a run.
struct Watcher<'a> {
    server: &'a BenchNginx,
    watch: Stopwatch,
    start: NginxCounters,
    /// Instants of readings that are still due, in descending order.
    instants: Vec<Duration>,
    readings: Vec<(Duration, NginxCounters)>,
    connections: u64,
}

impl<'a> Watcher<'a> {
    fn new(stand: &'a Stand, seconds: f64) -> Result<Self> {
        let server = &stand.server;
        let start = server.status.read().context("before the run")?;
        // In descending order, so that the next one is the last element.
        let instants = [0.875, 0.125].map(|part| Duration::from_secs_f64(seconds * part)).to_vec();
        Ok(Self {
            server,
            watch: Stopwatch::start(),
            start,
            instants,
            readings: Vec::new(),
            connections: 0,
        })
    }

    fn read_if_due(&mut self, elapsed: Duration) -> Result<()> {
        if self.instants.last().is_none_or(|instant| elapsed < *instant) {
            return Ok(());
        }
        self.instants.pop();
        let reading = self.server.status.read().context("during the run")?;
        self.connections = self.connections.max(reading.connections);
        self.readings.push((self.watch.elapsed(), reading));
        Ok(())
    }

    fn total(&self) -> Result<u64> {
        Ok(self.server.status.read().context("after the run")?.requests - self.start.requests)
    }

    fn rate(&self) -> Option<f64> {
        let [(from, first), (to, last)] = self.readings[..] else { return None };
        Some((last.requests - first.requests) as f64 / to.saturating_sub(from).as_secs_f64())
    }
}

/// CPU time up to an instant: of all processes, and of the server.
pub(crate) struct Cpu {
    at: Stopwatch,
    all: f64,
    server: f64,
}

impl Cpu {
    pub(crate) fn read(server: u32) -> Result<Self> {
        let all = machine::busy_seconds().context("reading /proc/stat")?;
        let server =
            machine::process_seconds(server).context("the nginx of the benchmark has ended")?;
        Ok(Self { at: Stopwatch::start(), all, server })
    }

    /// CPU usage of all processes but our server and this client, in CPUs.
    pub(crate) fn foreign_since(&self, before: &Self, client: &ChildResult) -> f64 {
        let ours =
            self.server - before.server + (client.usage.user + client.usage.system).as_secs_f64();
        let elapsed = before.at.elapsed().as_secs_f64();
        // The readings have the resolution of a tick, so the difference may be negative.
        ((self.all - before.all - ours) / elapsed).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_differ_by_the_requests_in_flight() {
        let reported = |completed| Account { completed: Some(completed), ..Account::default() };
        assert_eq!(disagreement(&reported(999_000), 1_000_000, 64), None);
        assert_eq!(disagreement(&reported(999_936), 1_000_000, 64), None);
        assert!(disagreement(&reported(990_000), 1_000_000, 64).is_some());
        assert_eq!(disagreement(&Account::default(), 1_000_000, 64), None);
    }

    #[test]
    fn only_brunt_may_exit_with_code_5() {
        let ended = |script: &str| {
            let limit = Duration::from_secs(10);
            child::run(
                Command::new("sh").args(["-c", script]),
                limit,
                &InterruptFlag::default(),
                |_| Ok(()),
            )
            .unwrap()
        };
        let (well, doubtful, ill) =
            (ended("exit 0"), ended("exit 5"), ended("echo no reply; exit 3"));
        assert!(expect_measured(BenchTool::Ab, &well).is_ok());
        assert!(expect_measured(BenchTool::Brunt, &doubtful).is_ok());
        assert!(expect_measured(BenchTool::Floor, &doubtful).is_err());
        let error = expect_measured(BenchTool::Brunt, &ill).unwrap_err().to_string();
        assert!(error.contains("exit code 3") && error.contains("no reply"), "{error}");
    }

    #[test]
    fn the_last_lines_of_a_long_output_are_returned() {
        assert_eq!(last_lines("1\n2\n3\n4\n5\n6\n7"), "3\n4\n5\n6\n7");
        assert_eq!(last_lines(""), "");
    }
}
