//! Writes the results as a page of Markdown and as JSON.
//!
//! The figures come from [`crate::summary`] and [`crate::check`].

use std::fmt::Write;

use serde_json::json;

use crate::cases::{BenchCase, CaseLoad};
use crate::check::{self, BenchVerdict};
use crate::machine::BenchMachine;
use crate::maths::MedianRange;
use crate::overload;
use crate::pacing;
use crate::session::Results;
use crate::summary::{self, ToolFigures};
use crate::table;
use crate::tools::BenchTool;

/// Input of a page.
#[derive(Clone, Debug)]
pub struct BenchPage<'a> {
    pub machine: &'a BenchMachine,
    pub cases: &'a [BenchCase],
    pub results: &'a Results,
    pub rounds: usize,
    pub seconds: u64,
    pub missing: &'a [BenchTool],
}

impl BenchPage<'_> {
    pub fn markdown(&self) -> String {
        let mut page = self.introduction();
        for case in self.cases {
            let _ = write!(page, "\n## {}\n\n{}", case.title, self.section(case));
        }
        let _ = write!(page, "\n## Targets\n\n{}", verdict_table(&self.verdicts()));
        page + &self.notes()
    }

    pub fn json(&self) -> String {
        let rows: Vec<ToolFigures> = self
            .cases
            .iter()
            .flat_map(|case| summary::rows(case, &self.results.measurements))
            .collect();
        let whole = json!({
            "machine": self.machine,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "rows": rows,
            "pacing_rows": pacing::figures::rows(&self.results.pacing),
            "targets": self.verdicts(),
            "results": self.results,
        });
        format!("{whole:#}\n")
    }

    pub fn verdicts(&self) -> Vec<BenchVerdict> {
        check::verdicts(self.cases, self.results)
    }

    fn introduction(&self) -> String {
        let machine = self.machine;
        let versions: Vec<String> =
            machine.versions.iter().map(|(tool, line)| format!("{tool}: {line}")).collect();
        format!(
            "# Performance\n\n\
             Written by `{}` on {}, commit {}; {} rounds of {} s, tools interleaved in rotating order.\n\n\
             Machine: {}, {} CPUs, {}, Linux {}. {}.\n\n\
             Server: an nginx with one process on the same machine, over loopback; it counts the requests. The rate is \
             that of the middle three quarters of a run. CPU time and peak memory are the kernel's totals for the \
             finished client process. All tools use one thread and 64 connections. Figures are medians; ratios (×) are \
             medians of the ratios within each round, with minimum and maximum. **Compare the ratios: absolute figures \
             are valid for this machine and day only.**\n{}",
            machine.command,
            machine.date,
            if machine.commit.is_empty() { "unknown" } else { &machine.commit },
            self.rounds,
            self.seconds,
            machine.cpu,
            machine.cores,
            machine.system,
            machine.kernel,
            versions.join("; "),
            missing_line(self.missing),
        )
    }

    fn section(&self, case: &BenchCase) -> String {
        let rows = summary::rows(case, &self.results.measurements);
        match case.load {
            CaseLoad::Closed { .. } => closed_table(summary::reference(case).name(), &rows),
            CaseLoad::Open { .. } => open_table(&rows),
            CaseLoad::Pacing => pacing::page::section(&self.results.pacing),
            CaseLoad::Overload => overload::section(&self.results.overload),
            CaseLoad::Memory => self.growth_text(),
            CaseLoad::Connections => self.connections_text(),
            CaseLoad::Urls { count, .. } => self.urls_text(count),
        }
    }

    fn growth_text(&self) -> String {
        let Some(growth) = self.results.growth else { return "Not measured.\n".to_owned() };
        let short = megabytes(growth.short_bytes as f64);
        let long = megabytes(growth.long_bytes as f64);
        let few = grouped(growth.requests as f64);
        let many = grouped(growth.requests as f64 * 10.0);
        format!(
            "brunt's peak memory: {short} MB for {few} requests, {long} MB for {many} (× {:.3}).\n",
            growth.ratio()
        )
    }

    fn connections_text(&self) -> String {
        let Some(memory) = &self.results.held else { return "Not measured.\n".to_owned() };
        let complaint =
            memory.complaint.as_ref().map_or(String::new(), |words| format!(" Problem: {words}."));
        format!(
            "brunt holding {} connections ({} seen open by nginx): {} MB at most, {} MB with 10; {:.0} bytes per \
             connection.{complaint}\n",
            grouped(memory.asked as f64),
            grouped(memory.open as f64),
            megabytes(memory.many_bytes as f64),
            megabytes(memory.few_bytes as f64),
            memory.bytes_per_connection()
        )
    }

    fn urls_text(&self, count: u64) -> String {
        let Some(peak) = self.results.url_peaks.iter().find(|peak| peak.count == count) else {
            return "Not measured.\n".to_owned();
        };
        let requests = grouped(peak.requests as f64);
        let urls = grouped(peak.count as f64);
        format!(
            "brunt's peak memory: {} MB for {requests} requests to {urls} URLs.\n",
            megabytes(peak.bytes as f64)
        )
    }

    fn notes(&self) -> String {
        if self.results.notes.is_empty() {
            return String::new();
        }
        // A note with line breaks would end the list.
        let lines =
            self.results.notes.iter().map(|note| format!("* {}\n", note.replace('\n', " ")));
        format!("\n## Notes\n\n{}", lines.collect::<String>())
    }
}

fn missing_line(missing: &[BenchTool]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = missing.iter().map(|tool| tool.name()).collect();
    format!("\nNot installed (shown as –): {}.\n", names.join(", "))
}

fn closed_table(reference: &str, rows: &[ToolFigures]) -> String {
    let cpu = format!("CPU × {reference}");
    let rate_ratio = format!("requests/s × {reference}");
    let headings = [
        "tool",
        "requests/s",
        "CPU µs/request",
        "user",
        "system",
        "peak MB",
        &cpu,
        &rate_ratio,
        "CPU × floor",
    ];
    let tools =
        [BenchTool::Brunt, BenchTool::Wrk, BenchTool::Ab, BenchTool::H2load, BenchTool::Floor];
    table::render(
        &headings,
        &cells(&tools, rows, |row| {
            vec![
                rate(row),
                format!("{:.2}", row.cpu_microseconds),
                format!("{:.2}", row.user_microseconds),
                format!("{:.2}", row.system_microseconds),
                megabytes(row.peak_rss_bytes),
                ratio(row.cpu_ratio),
                ratio(row.rate_ratio),
                ratio(row.floor_ratio),
            ]
        }),
    )
}

fn open_table(rows: &[ToolFigures]) -> String {
    let headings = [
        "tool",
        "requests/s",
        "CPU µs/request",
        "user",
        "system",
        "lag p50 µs",
        "lag p99 µs",
        "CPU × floor",
        "lag p99 × floor",
    ];
    let tools = [BenchTool::Brunt, BenchTool::Floor, BenchTool::H2load];
    table::render(
        &headings,
        &cells(&tools, rows, |row| {
            vec![
                rate(row),
                format!("{:.2}", row.cpu_microseconds),
                format!("{:.2}", row.user_microseconds),
                format!("{:.2}", row.system_microseconds),
                microseconds(row.lag_p50_seconds),
                microseconds(row.lag_p99_seconds),
                ratio(row.cpu_ratio),
                ratio(row.lag_ratio),
            ]
        }),
    )
}

fn verdict_table(verdicts: &[BenchVerdict]) -> String {
    let rows: Vec<Vec<String>> = verdicts.iter().map(verdict_cells).collect();
    table::render(&["figure", "target", "measured", ""], &rows)
}

fn verdict_cells(verdict: &BenchVerdict) -> Vec<String> {
    let measured = verdict.measured.map_or(dash(), significant);
    let word = match (verdict.met, verdict.measured) {
        (true, _) => "met",
        (false, Some(_)) => "**missed**",
        (false, None) => "not measured",
    };
    vec![
        format!("{}: {}", verdict.case, verdict.figure),
        verdict.target.clone(),
        measured,
        word.to_owned(),
    ]
}

/// Returns one line for each tool; only its name if it was not measured.
fn cells(
    tools: &[BenchTool],
    rows: &[ToolFigures],
    figures: impl Fn(&ToolFigures) -> Vec<String>,
) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for tool in tools {
        let row = rows.iter().find(|row| row.tool == *tool);
        lines.push([vec![tool.name().to_owned()], row.map(&figures).unwrap_or_default()].concat());
    }
    lines
}

fn rate(row: &ToolFigures) -> String {
    row.rate_per_second.map_or(dash(), |rate| grouped(rate.median))
}

pub(crate) fn ratio(spread: Option<MedianRange>) -> String {
    spread.map_or(dash(), |spread| {
        format!("{:.2} ({:.2}–{:.2})", spread.median, spread.min, spread.max)
    })
}

pub(crate) fn microseconds(seconds: Option<f64>) -> String {
    seconds.map_or(dash(), |seconds| format!("{:.1}", seconds * 1e6))
}

fn megabytes(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e6)
}

/// Whole number for large values, four decimals for small ones.
fn significant(value: f64) -> String {
    if value.abs() >= 100.0 { grouped(value) } else { format!("{value:.4}") }
}

/// A rounded number with thousands separators.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b',')).into_owned()
}

pub(crate) fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
