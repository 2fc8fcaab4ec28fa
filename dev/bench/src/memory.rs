//! The memory cases: growth of brunt's memory with the length of a run, and the cost of open
//! connections, labels and URLs.
//!
//! Each runs once, and only with brunt; there are no such targets for other tools. The kernel's
//! memory for sockets is not included.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::cases::{CONNECTIONS, SMALL};
use crate::measure::{Observed, Stand};
use crate::output;
use crate::tools::BenchTool;

/// Parameters of the case of open connections.
const MANY: u64 = 15_000;
const FEW: u64 = 10;
const CONNECTIONS_RATE: u64 = 2_000;
const CONNECTIONS_SECONDS: u64 = 15;
/// Number of requests of the runs over distinct URLs.
const REQUESTS_TO_URLS: u64 = 400_000;
/// Maximum time of a run in addition to its load.
const PATIENCE: Duration = Duration::from_secs(45);
/// Requests per second of the slowest server for which the time limits suffice.
const SLOWEST_PER_SECOND: u64 = 10_000;

/// Number of requests of the shorter run of [`growth`].
#[derive(Clone, Copy, Debug)]
pub struct RunLength {
    pub requests: u64,
}

impl RunLength {
    pub const FULL: Self = Self { requests: 1_000_000 };
    pub const QUICK: Self = Self { requests: 100_000 };
}

/// Peak memory of a run, and of a run that is ten times as long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MemoryGrowth {
    pub requests: u64,
    pub short_bytes: u64,
    pub long_bytes: u64,
}

impl MemoryGrowth {
    pub fn ratio(&self) -> f64 {
        self.long_bytes as f64 / self.short_bytes as f64
    }
}

/// Peak memory with few and with many connections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConnectionMemory {
    pub asked: u64,
    /// Number of connections that nginx had open.
    pub open: u64,
    pub few_bytes: u64,
    pub many_bytes: u64,
    pub complaint: Option<String>,
}

impl ConnectionMemory {
    pub fn bytes_per_connection(&self) -> f64 {
        self.many_bytes.saturating_sub(self.few_bytes) as f64 / self.asked as f64
    }
}

/// Peak memory of a run over distinct URLs, the first 1,000 of which have a label each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UrlPeak {
    pub count: u64,
    pub requests: u64,
    pub bytes: u64,
}

/// Measures the growth of memory with the length of a run. `None` without brunt.
pub fn growth(stand: &Stand, scale: RunLength) -> Option<Result<MemoryGrowth>> {
    stand.toolbox.path(BenchTool::Brunt)?;
    Some(measure_growth(stand, scale.requests))
}

fn measure_growth(stand: &Stand, requests: u64) -> Result<MemoryGrowth> {
    let short_bytes = peak_bytes(stand, requests)?;
    let long_bytes = peak_bytes(stand, 10 * requests)?;
    Ok(MemoryGrowth { requests, short_bytes, long_bytes })
}

/// Peak memory of a run with this many requests.
fn peak_bytes(stand: &Stand, requests: u64) -> Result<u64> {
    let limit = Duration::from_secs(requests / SLOWEST_PER_SECOND) + PATIENCE;
    let observed = brunt(stand, &format!("-c {CONNECTIONS} -n {requests}"), 1.0, limit)?;
    ensure!(
        observed.requests >= requests,
        "nginx counted {} of {requests} requests",
        observed.requests
    );
    Ok(observed.peak_rss_bytes)
}

/// Measures the memory of open connections. `None` without brunt.
pub fn connections(stand: &Stand) -> Option<Result<ConnectionMemory>> {
    stand.toolbox.path(BenchTool::Brunt)?;
    Some(measure_connections(stand))
}

fn measure_connections(stand: &Stand) -> Result<ConnectionMemory> {
    let few = hold_connections(stand, FEW)?;
    let many = hold_connections(stand, MANY)?;
    Ok(ConnectionMemory {
        asked: MANY,
        open: many.connections,
        few_bytes: few.peak_rss_bytes,
        many_bytes: many.peak_rss_bytes,
        complaint: many.complaint,
    })
}

fn hold_connections(stand: &Stand, connections: u64) -> Result<Observed> {
    let words = format!("-c {connections} -r {CONNECTIONS_RATE} -d {CONNECTIONS_SECONDS}s");
    let limit = Duration::from_secs(CONNECTIONS_SECONDS) + PATIENCE;
    brunt(stand, &words, CONNECTIONS_SECONDS as f64, limit)
}

/// Measures the memory of a run over distinct URLs. `None` without brunt.
pub fn urls(stand: &Stand, count: u64) -> Option<Result<UrlPeak>> {
    stand.toolbox.path(BenchTool::Brunt)?;
    Some(measure_urls(stand, count))
}

fn measure_urls(stand: &Stand, count: u64) -> Result<UrlPeak> {
    let file = stand.result_file().with_file_name("urls");
    let limit = Duration::from_secs(REQUESTS_TO_URLS / SLOWEST_PER_SECOND) + PATIENCE;
    let words = format!("-c {CONNECTIONS} -n {REQUESTS_TO_URLS} --urls {}", file.display());
    fs::write(&file, (0..count).map(url_line).collect::<String>()).context("the list of URLs")?;
    let Observed { requests, peak_rss_bytes: bytes, .. } = brunt(stand, &words, 1.0, limit)?;
    ensure!(
        requests >= REQUESTS_TO_URLS,
        "nginx counted {requests} of {REQUESTS_TO_URLS} requests"
    );
    Ok(UrlPeak { count, requests, bytes })
}

fn url_line(number: u64) -> String {
    format!("{}?item={number:06}&category={}&from=home\n", SMALL.path, number % 97)
}

fn brunt(stand: &Stand, load: &str, seconds: f64, limit: Duration) -> Result<Observed> {
    let program = stand.toolbox.path(BenchTool::Brunt).context("brunt not found")?;
    let mut command = Command::new(program);
    command.arg(stand.server.url(SMALL)).args(load.split_whitespace()).args([
        "--threads",
        "1",
        "--quiet",
    ]);
    command.arg("-o").arg(format!("json={}", stand.result_file().display()));
    let (observed, _) = stand.observe(BenchTool::Brunt, &mut command, seconds, limit)?;
    output::progress(&format!("brunt {load}: {:.1} MB", observed.peak_rss_bytes as f64 / 1e6));
    stand.interrupt.pause(Duration::from_secs(1))?;
    Ok(observed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_connection_is_the_difference_divided_by_all_connections() {
        let memory = ConnectionMemory {
            asked: 15_000,
            open: 15_000,
            few_bytes: 5_000_000,
            many_bytes: 35_000_000,
            complaint: None,
        };
        assert_eq!(memory.bytes_per_connection(), 2000.0);
    }

    #[test]
    fn growth_is_a_ratio() {
        assert_eq!(MemoryGrowth { requests: 1, short_bytes: 4, long_bytes: 5 }.ratio(), 1.25);
    }
}
