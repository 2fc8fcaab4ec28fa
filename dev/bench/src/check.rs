//! Compares brunt with its targets: one verdict for each target, with the measured
//! figure and the target.
//!
//! A target without a figure is missed: missing data must not pass. The targets
//! themselves are in [`crate::cases`].

use serde::Serialize;

use crate::cases::{
    BenchCase, CONNECTION_BYTES_TARGET, CaseLoad, FLOOR_TARGET, GROWTH_TARGET, NEAR_FLOOR_TARGET,
    PRECISION_TARGET, RATE_TARGET,
};
use crate::maths::{MedianRange, deviation};
use crate::memory::ConnectionMemory;
use crate::overload;
use crate::pacing;
use crate::session::Results;
use crate::summary::{self, ToolFigures};
use crate::tools::BenchTool;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchVerdict {
    pub case: &'static str,
    pub figure: &'static str,
    pub measured: Option<f64>,
    pub target: String,
    pub met: bool,
}

/// Range in which a figure meets its target.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
    Within(f64, f64),
}

pub fn verdicts(cases: &[BenchCase], results: &Results) -> Vec<BenchVerdict> {
    cases.iter().flat_map(|case| verdicts_of(case, results)).collect()
}

/// Returns the line that names a missed target.
pub fn complaint(verdict: &BenchVerdict) -> String {
    let measured =
        verdict.measured.map_or("not measured".to_owned(), |value| format!("{value:.4}"));
    format!("{}: {} is {measured}, target {}", verdict.case, verdict.figure, verdict.target)
}

fn verdicts_of(case: &BenchCase, results: &Results) -> Vec<BenchVerdict> {
    let rows = summary::rows(case, &results.measurements);
    let brunt = rows.iter().find(|row| row.tool == BenchTool::Brunt);
    match case.load {
        CaseLoad::Closed { cpu_target, .. } => closed_verdicts(case.name, brunt, cpu_target),
        CaseLoad::Open { rate } => open_verdicts(case.name, brunt, f64::from(rate)),
        CaseLoad::Pacing => pacing::targets::verdicts(&results.pacing),
        CaseLoad::Overload => overload::verdicts(&results.overload),
        CaseLoad::Memory => {
            let growth = results.growth.map(|growth| deviation(growth.ratio(), 1.0));
            vec![verdict(
                case.name,
                "difference in peak memory, ten times the requests",
                growth,
                Bound::AtMost(GROWTH_TARGET),
            )]
        }
        CaseLoad::Connections => connection_verdicts(case.name, results),
        CaseLoad::Urls { count, bytes_target } => {
            let peak = results
                .url_peaks
                .iter()
                .find(|peak| peak.count == count)
                .map(|peak| peak.bytes as f64);
            vec![verdict(case.name, "bytes of peak memory", peak, Bound::AtMost(bytes_target))]
        }
    }
}

fn closed_verdicts(
    case: &'static str,
    brunt: Option<&ToolFigures>,
    cpu_target: f64,
) -> Vec<BenchVerdict> {
    let cpu = brunt.and_then(|row| row.cpu_ratio);
    let rate = brunt.and_then(|row| row.rate_ratio);
    let floor = brunt.and_then(|row| median_of(row.floor_ratio));
    let floor_verdict =
        verdict(case, "CPU per request ÷ the floor's", floor, Bound::AtMost(NEAR_FLOOR_TARGET));
    let other_verdict = verdict(
        case,
        "CPU per request ÷ the other tool's",
        median_of(cpu),
        Bound::AtMost(cpu_target),
    );
    vec![
        // Near the floor, there is no CPU time left to save.
        if floor_verdict.met { floor_verdict } else { other_verdict },
        verdict(
            case,
            "requests/s ÷ the other tool's",
            median_of(rate),
            Bound::AtLeast(RATE_TARGET),
        ),
    ]
}

fn open_verdicts(case: &'static str, brunt: Option<&ToolFigures>, rate: f64) -> Vec<BenchVerdict> {
    // Both the slope and the total must match. A late start changes the slope; arrivals dropped at
    // the end change the total.
    let precision = brunt.and_then(|row| {
        let slope = deviation(row.rate_per_second?.median, rate);
        Some(slope.max(deviation(row.whole_rate_per_second, rate)))
    });
    let cpu = brunt.and_then(|row| row.cpu_ratio);
    let lag = brunt.and_then(|row| row.lag_ratio);
    vec![
        verdict(case, "CPU per request ÷ the floor's", median_of(cpu), Bound::AtMost(FLOOR_TARGET)),
        verdict(case, "lag p99 ÷ the floor's", median_of(lag), Bound::AtMost(FLOOR_TARGET)),
        verdict(
            case,
            "deviation from the requested rate",
            precision,
            Bound::AtMost(PRECISION_TARGET),
        ),
    ]
}

fn connection_verdicts(case: &'static str, results: &Results) -> Vec<BenchVerdict> {
    let memory = results.held.as_ref();
    let bytes = memory.map(ConnectionMemory::bytes_per_connection);
    let open = memory.map(|memory| memory.open as f64);
    // Without a figure, the target must be missed.
    let requested = memory.map_or(f64::INFINITY, |memory| memory.asked as f64);
    let faults = memory.map(|memory| f64::from(u8::from(memory.complaint.is_some())));
    vec![
        verdict(case, "bytes per connection", bytes, Bound::AtMost(CONNECTION_BYTES_TARGET)),
        verdict(case, "connections open", open, Bound::AtLeast(requested)),
        verdict(case, "complaints", faults, Bound::AtMost(0.0)),
    ]
}

pub(crate) fn median_of(spread: Option<MedianRange>) -> Option<f64> {
    spread.map(|spread| spread.median)
}

pub(crate) fn verdict(
    case: &'static str,
    figure: &'static str,
    measured: Option<f64>,
    bound: Bound,
) -> BenchVerdict {
    let (target, range) = match bound {
        Bound::AtMost(most) => (format!("≤ {most}"), f64::NEG_INFINITY..=most),
        Bound::AtLeast(least) => (format!("≥ {least}"), least..=f64::INFINITY),
        Bound::Within(least, most) => (format!("{least}–{most}"), least..=most),
    };
    let met = measured.is_some_and(|value| range.contains(&value));
    BenchVerdict { case, figure, measured, target, met }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::named;
    use crate::memory::{ConnectionMemory, MemoryGrowth, UrlPeak};
    use crate::summary::tests::run;

    fn missed(case: &str, results: &Results) -> Vec<&'static str> {
        let verdicts = verdicts(&[*named(case).unwrap()], results);
        verdicts.into_iter().filter(|verdict| !verdict.met).map(|verdict| verdict.figure).collect()
    }

    fn measured(
        case: &'static str,
        other: BenchTool,
        brunt: [f64; 3],
        reference: [f64; 3],
    ) -> Results {
        let measurements =
            vec![run(case, BenchTool::Brunt, 0, brunt), run(case, other, 0, reference)];
        Results { measurements, ..Results::default() }
    }

    #[test]
    fn a_closed_loop_has_targets_of_cost_and_rate() {
        let of = |brunt| measured("keepalive-124k", BenchTool::Wrk, brunt, [100.0, 20.0, 0.0]);
        assert!(missed("keepalive-124k", &of([99.0, 8.9, 0.0])).is_empty());
        assert_eq!(
            missed("keepalive-124k", &of([99.0, 9.1, 0.0])),
            ["CPU per request ÷ the other tool's"]
        );
        assert_eq!(
            missed("keepalive-124k", &of([97.0, 8.9, 0.0])),
            ["requests/s ÷ the other tool's"]
        );
    }

    #[test]
    fn a_closed_loop_near_the_floor_meets_its_target() {
        let of = |brunt| {
            let mut results =
                measured("keepalive-124k", BenchTool::Wrk, [100.0, brunt, 0.0], [100.0, 20.0, 0.0]);
            results.measurements.push(run(
                "keepalive-124k",
                BenchTool::Floor,
                0,
                [100.0, 10.0, 0.0],
            ));
            results
        };
        assert!(missed("keepalive-124k", &of(10.2)).is_empty());
        assert_eq!(missed("keepalive-124k", &of(10.4)), ["CPU per request ÷ the other tool's"]);
    }

    #[test]
    fn an_open_loop_has_a_target_of_its_rate() {
        let of = |brunt| measured("open-2000", BenchTool::Floor, brunt, [2000.0, 10.0, 5e-5]);
        assert!(missed("open-2000", &of([2001.9, 12.9, 6.4e-5])).is_empty());
        assert_eq!(
            missed("open-2000", &of([1990.0, 12.9, 6.4e-5])),
            ["deviation from the requested rate"]
        );
        assert_eq!(missed("open-2000", &of([2000.0, 12.9, 7e-5])), ["lag p99 ÷ the floor's"]);
    }

    #[test]
    fn an_unmeasured_case_is_missed() {
        assert_eq!(missed("tls-10b", &Results::default()).len(), 2);
        assert_eq!(missed("connections", &Results::default()).len(), 3);
        let verdict = &verdicts(&[*named("memory").unwrap()], &Results::default())[0];
        assert!(complaint(verdict).contains("not measured"));
    }

    #[test]
    fn memory_has_targets_of_growth_and_size() {
        let growth = |long_bytes| Results {
            growth: Some(MemoryGrowth { requests: 1, short_bytes: 100, long_bytes }),
            ..Results::default()
        };
        assert!(missed("memory", &growth(104)).is_empty());
        assert_eq!(missed("memory", &growth(106)).len(), 1);
        let memory = ConnectionMemory {
            asked: 15_000,
            open: 14_000,
            few_bytes: 0,
            many_bytes: 60_000_000,
            complaint: None,
        };
        let results = Results { held: Some(memory), ..Results::default() };
        assert_eq!(missed("connections", &results), ["connections open"]);
        let peaks = [(1_000, 41_000_000), (100_000, 149_000_000)];
        let url_peaks = peaks.map(|(count, bytes)| UrlPeak { count, requests: 1, bytes }).to_vec();
        let results = Results { url_peaks, ..Results::default() };
        assert_eq!(missed("labels", &results), ["bytes of peak memory"]);
        assert!(missed("urls", &results).is_empty());
    }
}
