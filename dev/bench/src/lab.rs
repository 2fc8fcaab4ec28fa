//! A `brunt-lab` for one run, with its count of requests or arrivals.
//!
//! It uses the kernel's time of receipt for each request, which does not depend on the scheduling
//! of the server. The lab is a separate program and not linked; its results are read from the
//! JSON that it writes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use crate::child::OwnedProcess;

/// Maximum time that the lab takes to start, or to end and compute its results.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

#[derive(Debug)]
pub struct BenchLab {
    pub address: SocketAddr,
    process: OwnedProcess,
    /// The lab ends when this pipe closes. Therefore it also ends when this process
    /// does, for any reason.
    input: ChildStdin,
    stats: PathBuf,
}

/// Arrivals of requests, by the kernel's time stamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    pub requests: u64,
    pub rate_per_second: Option<f64>,
    /// Variance over mean of the counts in bins of 1 ms.
    pub dispersion: Option<f64>,
    /// Number of requests without a time stamp of the kernel.
    pub unstamped: u64,
}

impl BenchLab {
    /// Starts a lab with these options for at most `seconds`. It writes its results to `stats`.
    pub fn start(program: &Path, options: &[&str], stats: &Path, seconds: u64) -> Result<Self> {
        // The report of an earlier run must not be read.
        let _ = fs::remove_file(stats);
        let mut command = Command::new(program);
        command.args(options).args([
            "--until-stdin-closes",
            "--max-runtime",
            &format!("{seconds}s"),
            "--stats",
        ]);
        command.arg(stats).stderr(Stdio::null());
        let (process, input, output) = OwnedProcess::spawn_with_pipes(&mut command)?;
        let line = first_line(output)?;
        let address = address(&line)
            .with_context(|| format!("the lab printed {line:?} instead of its address"))?;
        Ok(Self { address, process, input, stats: stats.to_owned() })
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Ends the lab, and returns its count of arrivals. The lab must have the option `--record`.
    pub fn count(self) -> Result<Count> {
        count(&self.report()?)
    }

    /// Ends the lab, and returns the number of requests that it received.
    pub fn request_count(self) -> Result<u64> {
        self.report()?["requests"]["received"]
            .as_u64()
            .context("the lab's JSON has no `requests.received`")
    }

    /// Ends the lab, and returns the JSON that it writes.
    fn report(self) -> Result<Value> {
        drop(self.input);
        ensure!(self.process.ended_within(&PATIENCE)?, "the lab did not end in time");
        ensure!(self.process.reap()?.success(), "the lab failed");
        let text = fs::read_to_string(&self.stats).context("the lab wrote no results")?;
        serde_json::from_str(&text).context("the results of the lab are not valid JSON")
    }
}

fn first_line(output: ChildStdout) -> Result<String> {
    // A lab that hangs prints nothing, and a read would wait forever.
    let has_output = poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&PATIENCE))? > 0;
    ensure!(has_output, "the lab did not print its address in time");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).context("reading the output of the lab")?;
    Ok(line)
}

/// Parses `listening on http://127.0.0.1:8080`.
fn address(line: &str) -> Option<SocketAddr> {
    line.trim().strip_prefix("listening on ")?.split_once("://")?.1.parse().ok()
}

fn count(json: &Value) -> Result<Count> {
    let arrivals = &json["arrivals"];
    let (Some(requests), Some(stamped)) =
        (arrivals["count"].as_u64(), json["truth"]["stamped_by_kernel"].as_u64())
    else {
        bail!(
            "the lab's JSON has no `arrivals.count` or no `truth.stamped_by_kernel`: it has another version"
        );
    };
    Ok(Count {
        requests,
        rate_per_second: arrivals["rate_per_second"].as_f64(),
        dispersion: arrivals["dispersion_1ms"].as_f64(),
        unstamped: requests.saturating_sub(stamped),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_line_has_the_address() {
        assert_eq!(
            address("listening on http://127.0.0.1:8080\n"),
            Some(([127, 0, 0, 1], 8080).into())
        );
        assert_eq!(
            address("listening on https://127.0.0.1:8080\n"),
            Some(([127, 0, 0, 1], 8080).into())
        );
        assert_eq!(address("listening on unix:/tmp/x\n"), None);
        assert_eq!(address(""), None);
    }

    #[test]
    fn the_count_is_read_from_the_results_of_the_lab() {
        let arrivals = json!({ "count": 4000, "rate_per_second": 2000.1, "dispersion_1ms": 0.02 });
        let left = json!({ "arrivals": arrivals, "truth": { "stamped_by_kernel": 3999 } });
        let expected = Count {
            requests: 4000,
            rate_per_second: Some(2000.1),
            dispersion: Some(0.02),
            unstamped: 1,
        };
        assert_eq!(count(&left).unwrap(), expected);
        assert!(count(&json!({})).unwrap_err().to_string().contains("another version"));
    }

    #[test]
    fn a_program_other_than_the_lab_is_refused_and_ended() {
        let scratch = tempfile::tempdir().unwrap();
        let error =
            BenchLab::start(Path::new("true"), &[], &scratch.path().join("stats"), 1).unwrap_err();
        assert!(format!("{error:#}").contains("instead of its address"), "{error:#}");
    }
}
