//! Writes the clocks of a request: percentiles of the response time with their intervals, and the
//! other clocks as tables.

use super::{ReportSection, RunReport};
use crate::breakdown::Breakdown;
use crate::figures::{self, estimate, quantile_of, response_quantile, with_both_ends};
use crate::outline::block::{Fact, ReportBlock, Words};
use crate::view::{Detail, Emphasis};
use brunt_model::finding::{FigureEstimate, PercentileInterval};
use brunt_model::numbers::{self, UNKNOWN, time};
use brunt_model::{Judgement, Load, Plan, Run, Tally, Text};
use brunt_stats::Histogram;

const BRIEF_QUANTILES: &[(f64, &str)] = &[(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (1.0, "max")];
const FULL_QUANTILES: &[(f64, &str)] = &[
    (0.5, "p50"),
    (0.75, "p75"),
    (0.9, "p90"),
    (0.95, "p95"),
    (0.99, "p99"),
    (0.999, "p99.9"),
    (1.0, "max"),
];

/// A clock: its name, its start and end, and its values.
type ClockRow<'a> = (&'static str, &'static str, &'a Histogram);

/// Returns percentiles of the response time, one per line, with maximum, minimum,
/// mean and standard deviation.
pub fn response(report: &RunReport) -> ReportSection {
    let quantiles = if report.detail == Detail::Brief { BRIEF_QUANTILES } else { FULL_QUANTILES };
    let mut lines: Vec<Words> =
        quantiles.iter().map(|(quantile, name)| line(report, *quantile, name)).collect();
    let is_bound = lines.iter().any(|line| line.0[1].1.starts_with('≥'));
    // The last line, with the maximum, has space for the other figures of the histogram.
    lines
        .last_mut()
        .into_iter()
        .for_each(|line| line.0.push((None, spread(&report.run.total.response).into())));
    lines.extend(is_bound.then(|| LOWER_BOUND_LEGEND.into()));
    lines.extend(method(report.judgement, report.detail).map(Words::from));
    vec![ReportBlock::Facts(vec![Fact { key: "Response time".into(), lines, ..Fact::default() }])]
}

/// Formats a percentile with its name.
fn line(report: &RunReport, quantile: f64, name: &str) -> Words {
    let figure = percentile(report.run, report.judgement, quantile);
    Words::from(format!("{name:<7}")).and_emphasized(Emphasis::Strong, figure)
}

/// Returns `, min 300 µs, mean 632 µs, stddev 298 µs`; empty if no reply came.
fn spread(response: &Histogram) -> String {
    if response.is_empty() {
        return String::new();
    }
    let mean = time(response.mean() as u64);
    let stddev = time(response.stddev() as u64);
    format!(", min {}, mean {mean}, stddev {stddev}", time(response.min()))
}

/// Formats a percentile with its interval. With too few samples above it, only a
/// lower bound is known.
pub fn percentile(run: &Run, judgement: &Judgement, q: f64) -> String {
    let t = &run.total;
    if let Some((value, ends)) = with_both_ends(run, judgement, q) {
        return figures::time_with_interval(value, Some(ends));
    }
    match estimate(judgement, q) {
        // The interval has no upper end if too few samples are above the percentile.
        Some(FigureEstimate { low, high: None, .. }) if low * 1e9 > below(t, q) => {
            format!("> {}", numbers::seconds(*low))
        }
        Some(FigureEstimate { high: None, .. }) => UNKNOWN.into(),
        _ => response_quantile(t, q),
    }
}

/// Returns the next lower percentile of the report, in nanoseconds. A lower bound below
/// it carries no information.
fn below(t: &Tally, q: f64) -> f64 {
    let below = FULL_QUANTILES.iter().rev().find(|row| row.0 < q);
    below.map_or(0.0, |row| t.response_quantile(row.0).value as f64)
}

/// Returns the method of the intervals, or the reason why there are none.
fn method(judgement: &Judgement, detail: Detail) -> Option<String> {
    let with = judgement.intervals.iter().find(|i| i.estimate.is_some());
    let without = judgement.intervals.iter().find_map(|i| i.too_short.as_ref());
    match (with, without) {
        (Some(_), _) if detail == Detail::Brief => None,
        // The block lengths differ between percentiles.
        (Some(PercentileInterval { method, .. }), _) => {
            let method = method.split(" from ").next().unwrap_or_default();
            Some(format!("95 % CI: {method}, from blocks of the time series"))
        }
        (None, Some(why)) => Some(format!("no 95 % CI: {why}")),
        (None, None) => None,
    }
}

const LOWER_BOUND_LEGEND: &str =
    "≥: true value is this or more (requests dropped, cut off or timed out)";

/// Quantiles of a clock, each with the minimum terminal width that shows it.
const CLOCK_COLUMNS: [(&str, usize); 7] = [
    ("column.p50", 0),
    ("column.p75", 96),
    ("column.p90", 76),
    ("column.p95", 96),
    ("column.p99", 0),
    ("column.p999", 76),
    ("column.max", 0),
];

/// Returns percentiles of every other clock, and the steady part of the run.
pub fn clocks(report: &RunReport) -> ReportSection {
    let rows = rows(report.run);
    let cells = rows.iter().map(|(name, _, times)| {
        (
            (*name).into(),
            FULL_QUANTILES.iter().map(|(q, _)| quantile_of(times, *q).into()).collect(),
        )
    });
    let table = Breakdown {
        title: "column.clocks",
        columns: &CLOCK_COLUMNS,
        rows: cells.collect(),
        kind: None,
    };
    let others = rows.iter().map(|(name, from_to, _)| format!("; {name}: {from_to}"));
    let legend = format!("response time: planned -> last byte{}", others.collect::<String>());
    let steady = ReportBlock::Facts(super::verdict::steady(report).into_iter().collect());
    vec![ReportBlock::Breakdown(table), ReportBlock::Paragraph(legend), steady]
}

fn rows(run: &Run) -> Vec<ClockRow<'_>> {
    let t = &run.total;
    let is_capped = matches!(
        run.plan.as_ref().and_then(Plan::only).map(|p| &p.load),
        Some(Load::Open { connections: Some(_), .. })
    );
    let mut rows: Vec<ClockRow> = vec![("service time", "sent -> last byte", &t.service)];
    // Without a limit of connections no request waits for one, and the row would be 0.
    if is_capped || t.queue_wait.max() > 0 {
        rows.push(("queue wait", "planned -> a connection was free", &t.queue_wait));
    }
    rows.push(("lag", "free -> begun, brunt's own lateness", &t.lag));
    if !t.opening_lag.is_empty() {
        rows.push((
            "opening lag",
            "waiting for paced connection opening (--connect-rate), part of the lag",
            &t.opening_lag,
        ));
    }
    if !t.phases.connection.is_empty() {
        rows.push(("connection time", "begun -> sent, where one was opened", &t.phases.connection));
    }
    rows
}

/// Returns the phases of a request that occurred.
pub fn phases(report: &RunReport) -> ReportSection {
    let phases = &report.run.total.phases;
    let steps = [
        ("resolve", &phases.resolve),
        ("connect", &phases.connect),
        ("TLS handshake", &phases.tls),
        ("first byte", &phases.first_byte),
        ("receive", &phases.receive),
        ("read lag", &report.run.total.read_lag),
    ];
    let occurred = steps.into_iter().filter(|(_, times)| !times.is_empty());
    let rows = occurred.map(|(name, times)| {
        let figures = [0.5, 0.99, 1.0].map(|quantile| quantile_of(times, quantile));
        let figures = figures.into_iter().chain([numbers::count(times.count())]);
        (name.into(), figures.map(Text::from).collect())
    });
    let rows = rows.collect();
    let columns = &[("column.p50", 0), ("column.p99", 0), ("column.max", 0), ("column.count", 0)];
    vec![ReportBlock::Breakdown(Breakdown { title: "column.phases", columns, rows, kind: None })]
}
