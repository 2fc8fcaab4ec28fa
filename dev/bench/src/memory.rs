//! The cases about brunt's memory: does a long run need more than a short one, and what do open connections, labels and URLs cost.
//!
//! Run once, and with brunt alone; the other tools have no such goals. The kernel's own memory for sockets is not in it.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::cases::{CONNECTIONS, SMALL};
use crate::measure::{Observed, Stand};
use crate::output;
use crate::tools::Tool;

/// The case of open connections.
const HELD: u64 = 15_000;
const FEW: u64 = 10;
const HELD_RATE: u64 = 2_000;
const HELD_SECONDS: u64 = 15;
/// Requests of the runs over distinct URLs.
const REQUESTS_TO_URLS: u64 = 400_000;
/// What a run may take beyond its load.
const PATIENCE: Duration = Duration::from_secs(45);
/// A server slower than this is not worth waiting for.
const SLOWEST_PER_SECOND: u64 = 10_000;

/// How many requests the runs of [`growth`] have.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub requests: u64,
}

impl Scale {
    pub const FULL: Self = Self { requests: 1_000_000 };
    pub const QUICK: Self = Self { requests: 100_000 };
}

/// Peak memory of a run and of one ten times as long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Growth {
    pub requests: u64,
    pub short_bytes: u64,
    pub long_bytes: u64,
}

impl Growth {
    pub fn ratio(&self) -> f64 {
        self.long_bytes as f64 / self.short_bytes as f64
    }
}

/// Peak memory with few and with many connections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Held {
    pub asked: u64,
    /// As many as nginx saw open.
    pub open: u64,
    pub few_bytes: u64,
    pub many_bytes: u64,
    pub complaint: Option<String>,
}

impl Held {
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

/// `None` where there is no brunt.
pub fn growth(stand: &Stand, scale: Scale) -> Option<Result<Growth>> {
    stand.toolbox.path(Tool::Brunt)?;
    let peak = |requests: u64| -> Result<u64> {
        let limit = Duration::from_secs(requests / SLOWEST_PER_SECOND) + PATIENCE;
        let words = format!("-c {CONNECTIONS} -n {requests}");
        let seen = brunt(stand, &words, 1.0, limit)?;
        ensure!(seen.requests >= requests, "nginx counted {} of {requests} requests", seen.requests);
        Ok(seen.peak_rss_bytes)
    };
    let requests = scale.requests;
    Some((|| Ok(Growth { requests, short_bytes: peak(requests)?, long_bytes: peak(10 * requests)? }))())
}

/// `None` where there is no brunt.
pub fn held(stand: &Stand) -> Option<Result<Held>> {
    stand.toolbox.path(Tool::Brunt)?;
    let with = |connections: u64| {
        let words = format!("-c {connections} -r {HELD_RATE} -d {HELD_SECONDS}s");
        brunt(stand, &words, HELD_SECONDS as f64, Duration::from_secs(HELD_SECONDS) + PATIENCE)
    };
    Some((|| {
        let (few, many) = (with(FEW)?, with(HELD)?);
        Ok(Held {
            asked: HELD,
            open: many.connections,
            few_bytes: few.peak_rss_bytes,
            many_bytes: many.peak_rss_bytes,
            complaint: many.complaint,
        })
    })())
}

/// `None` where there is no brunt.
pub fn urls(stand: &Stand, count: u64) -> Option<Result<UrlPeak>> {
    stand.toolbox.path(Tool::Brunt)?;
    let file = stand.result_file().with_file_name("urls");
    let limit = Duration::from_secs(REQUESTS_TO_URLS / SLOWEST_PER_SECOND) + PATIENCE;
    let words = format!("-c {CONNECTIONS} -n {REQUESTS_TO_URLS} --urls {}", file.display());
    Some((|| {
        fs::write(&file, (0..count).map(url_line).collect::<String>()).context("the list of URLs")?;
        let Observed { requests, peak_rss_bytes: bytes, .. } = brunt(stand, &words, 1.0, limit)?;
        ensure!(requests >= REQUESTS_TO_URLS, "nginx counted {requests} of {REQUESTS_TO_URLS} requests");
        Ok(UrlPeak { count, requests, bytes })
    })())
}

fn url_line(number: u64) -> String {
    format!("{}?item={number:06}&category={}&from=home\n", SMALL.path, number % 97)
}

fn brunt(stand: &Stand, load: &str, seconds: f64, limit: Duration) -> Result<Observed> {
    let program = stand.toolbox.path(Tool::Brunt).context("no brunt")?;
    let mut command = Command::new(program);
    command.arg(stand.server.url(SMALL)).args(load.split_whitespace()).args(["--threads", "1", "--quiet"]);
    command.arg("-o").arg(format!("json={}", stand.result_file().display()));
    let (seen, _) = stand.observe(Tool::Brunt, &mut command, seconds, limit)?;
    output::progress(&format!("brunt {load}: {:.1} MB", seen.peak_rss_bytes as f64 / 1e6));
    stand.interrupt.pause(Duration::from_secs(1))?;
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_connection_costs_is_the_difference_over_all_of_them() {
        let held = Held { asked: 15_000, open: 15_000, few_bytes: 5_000_000, many_bytes: 35_000_000, complaint: None };
        assert_eq!(held.bytes_per_connection(), 2000.0);
    }

    #[test]
    fn growth_is_a_ratio() {
        assert_eq!(Growth { requests: 1, short_bytes: 4, long_bytes: 5 }.ratio(), 1.25);
    }
}
