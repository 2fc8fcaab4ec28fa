//! Summarizes runs as rows: the medians of a tool in a case, and its ratios to the
//! reference of the case.
//!
//! The reference is wrk in a closed loop, h2load for HTTP/2, and the floor in an open loop. Ratios
//! are computed within a round before they are summarized, so that temporary changes of the machine
//! cancel out. [`crate::check`] compares them with targets.

use serde::Serialize;

use crate::cases::{BenchCase, CaseLoad, CaseTransport};
use crate::maths::{MedianRange, median, ratios_within_rounds};
use crate::measure::Measurement;
use crate::tools::BenchTool;

/// Figures of a tool in a case: medians over its rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolFigures {
    pub case: &'static str,
    pub tool: BenchTool,
    pub runs: usize,
    pub rate_per_second: Option<MedianRange>,
    /// All requests divided by the requested time, start and end included.
    pub whole_rate_per_second: f64,
    pub user_microseconds: f64,
    pub system_microseconds: f64,
    pub cpu_microseconds: f64,
    pub peak_rss_bytes: f64,
    pub lag_p50_seconds: Option<f64>,
    pub lag_p99_seconds: Option<f64>,
    pub cpu_ratio: Option<MedianRange>,
    pub rate_ratio: Option<MedianRange>,
    pub lag_ratio: Option<MedianRange>,
    /// Ratio of CPU time to the floor's, in addition to the case's reference.
    pub floor_ratio: Option<MedianRange>,
}

/// Reference tool of a case.
pub fn reference(case: &BenchCase) -> BenchTool {
    match case.load {
        CaseLoad::Open { .. } => BenchTool::Floor,
        CaseLoad::Closed { transport: CaseTransport::H2 { .. }, .. } => BenchTool::H2load,
        _ => BenchTool::Wrk,
    }
}

/// Returns one row for each tool that was measured in the case.
pub fn rows(case: &BenchCase, measurements: &[Measurement]) -> Vec<ToolFigures> {
    let references = runs_of(case, reference(case), measurements);
    let floors = runs_of(case, BenchTool::Floor, measurements);
    let mut rows = Vec::new();
    for tool in BenchTool::ALL {
        rows.extend(row(case, tool, &runs_of(case, tool, measurements), &references, &floors));
    }
    rows
}

fn runs_of<'a>(
    case: &BenchCase,
    tool: BenchTool,
    measurements: &'a [Measurement],
) -> Vec<&'a Measurement> {
    let runs = measurements.iter().filter(|run| run.case == case.name && run.tool == tool);
    runs.filter(|run| run.observed.requests > 0).collect()
}

fn row(
    case: &BenchCase,
    tool: BenchTool,
    runs: &[&Measurement],
    references: &[&Measurement],
    floors: &[&Measurement],
) -> Option<ToolFigures> {
    Some(ToolFigures {
        case: case.name,
        tool,
        runs: runs.len(),
        rate_per_second: MedianRange::of(&values(runs, rate)),
        whole_rate_per_second: middle(runs, |run| {
            Some(run.observed.requests as f64 / run.seconds)
        })?,
        user_microseconds: middle(runs, |run| Some(per_request(run, run.observed.user_seconds)))?,
        system_microseconds: middle(runs, |run| {
            Some(per_request(run, run.observed.system_seconds))
        })?,
        cpu_microseconds: middle(runs, |run| Some(cpu(run)))?,
        peak_rss_bytes: middle(runs, |run| Some(run.observed.peak_rss_bytes as f64))?,
        lag_p50_seconds: middle(runs, |run| run.lag_seconds.map(|lag| lag.p50)),
        lag_p99_seconds: middle(runs, lag),
        cpu_ratio: ratio(runs, references, |run| Some(cpu(run))),
        rate_ratio: ratio(runs, references, rate),
        lag_ratio: ratio(runs, references, lag),
        floor_ratio: ratio(runs, floors, |run| Some(cpu(run))),
    })
}

fn rate(run: &Measurement) -> Option<f64> {
    run.observed.rate_per_second
}

fn cpu(run: &Measurement) -> f64 {
    per_request(run, run.observed.cpu_seconds())
}

fn lag(run: &Measurement) -> Option<f64> {
    run.lag_seconds.map(|lag| lag.p99)
}

fn per_request(run: &Measurement, seconds: f64) -> f64 {
    seconds * 1e6 / run.observed.requests as f64
}

fn middle(runs: &[&Measurement], value: fn(&Measurement) -> Option<f64>) -> Option<f64> {
    median(&values(runs, value))
}

/// Spread of the ratios of a figure within rounds.
fn ratio(
    runs: &[&Measurement],
    references: &[&Measurement],
    value: fn(&Measurement) -> Option<f64>,
) -> Option<MedianRange> {
    MedianRange::of(&ratios_within_rounds(&by_round(runs, value), &by_round(references, value)))
}

fn values(runs: &[&Measurement], value: fn(&Measurement) -> Option<f64>) -> Vec<f64> {
    runs.iter().filter_map(|run| value(run)).collect()
}

fn by_round(runs: &[&Measurement], value: fn(&Measurement) -> Option<f64>) -> Vec<(usize, f64)> {
    runs.iter().filter_map(|run| Some((run.round, value(run)?))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::account::Lag;
    use crate::cases::named;
    use crate::measure::Observed;

    /// A run of 1000 requests at `rate` that cost `cpu` µs each, with a lag p99 of `lag` s.
    pub(crate) fn run(
        case: &'static str,
        tool: BenchTool,
        round: usize,
        [rate, cpu, lag]: [f64; 3],
    ) -> Measurement {
        let observed = Observed {
            requests: 1000,
            rate_per_second: Some(rate),
            user_seconds: cpu * 1000.0 / 1e6 / 4.0,
            system_seconds: cpu * 1000.0 / 1e6 * 3.0 / 4.0,
            elapsed_seconds: 1000.0 / rate,
            peak_rss_bytes: 5_000_000,
            connections: 64,
            foreign_cpus: 0.0,
            complaint: None,
        };
        let lag_seconds = (lag > 0.0).then_some(Lag { p50: lag / 2.0, p99: lag });
        Measurement { case, tool, round, seconds: 1000.0 / rate, observed, lag_seconds }
    }

    #[test]
    fn a_closed_loop_is_compared_with_wrk_per_round() {
        let name = "keepalive-10b";
        let runs = [
            run(name, BenchTool::Wrk, 0, [100.0, 5.0, 0.0]),
            run(name, BenchTool::Brunt, 0, [110.0, 4.0, 0.0]),
            run(name, BenchTool::Wrk, 1, [50.0, 10.0, 0.0]),
            run(name, BenchTool::Brunt, 1, [55.0, 9.0, 0.0]),
        ];
        let rows = rows(named(name).unwrap(), &runs);
        assert_eq!(
            rows.iter().map(|row| row.tool).collect::<Vec<_>>(),
            [BenchTool::Brunt, BenchTool::Wrk]
        );
        let ratio = rows[0].cpu_ratio.unwrap();
        assert!((ratio.median - 0.85).abs() < 1e-9 && (ratio.min - 0.8).abs() < 1e-9, "{ratio:?}");
        assert!((rows[0].rate_ratio.unwrap().median - 1.1).abs() < 1e-9);
        assert!((rows[0].user_microseconds - 1.625).abs() < 1e-9);
        assert_eq!(rows[0].lag_ratio, None);
    }

    #[test]
    fn an_open_loop_is_compared_with_the_floor() {
        let name = "open-2000";
        let runs = [
            run(name, BenchTool::Brunt, 0, [2000.0, 12.0, 6e-5]),
            run(name, BenchTool::Floor, 0, [2000.0, 10.0, 5e-5]),
        ];
        let rows = rows(named(name).unwrap(), &runs);
        assert!((rows[0].cpu_ratio.unwrap().median - 1.2).abs() < 1e-9);
        assert!((rows[0].lag_ratio.unwrap().median - 1.2).abs() < 1e-9);
    }

    #[test]
    fn without_the_reference_there_is_no_ratio() {
        let name = "tls-10b";
        let rows = rows(named(name).unwrap(), &[run(name, BenchTool::Ab, 0, [100.0, 5.0, 0.0])]);
        assert_eq!((rows[0].runs, rows[0].cpu_ratio), (1, None));
    }
}
