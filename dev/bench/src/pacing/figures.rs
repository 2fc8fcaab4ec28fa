//! Summarizes runs as rows: the figures of a contender at a pace, and their ratios to the floor
//! in the same round.
//!
//! [`super::targets`] compares them with targets.

use serde::Serialize;

use super::{PacingContender, PacingRun};
use crate::cases::{PACES, PacingLoad};
use crate::maths::{MedianRange, median, ratios_within_rounds};

/// A contender at a pace, over its rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PacingRow {
    pub pace: &'static str,
    pub contender: PacingContender,
    pub runs: usize,
    pub dispersion: Option<MedianRange>,
    /// Ratio to the floor's of the same round.
    pub dispersion_ratio: Option<MedianRange>,
    /// Medians over the rounds.
    pub lag_p50_seconds: Option<f64>,
    pub lag_p99_seconds: Option<f64>,
    /// Ratio of p99 to the floor's of the same round.
    pub lag_ratio: Option<MedianRange>,
    /// Number of runs that ignored `--precise`, with a warning.
    pub not_precise: usize,
}

/// Returns one row for each contender that ran at a pace, ordered by pace.
pub fn rows(runs: &[PacingRun]) -> Vec<PacingRow> {
    let mut rows = Vec::new();
    for pace in PACES {
        rows.extend(
            PacingContender::ALL.into_iter().filter_map(|contender| row(pace, contender, runs)),
        );
    }
    rows
}

fn row(pace: PacingLoad, contender: PacingContender, runs: &[PacingRun]) -> Option<PacingRow> {
    let contender_runs = runs_of(pace, contender, runs);
    let floors = runs_of(pace, PacingContender::Floor, runs);
    (!contender_runs.is_empty()).then(|| PacingRow {
        pace: pace.name,
        contender,
        runs: contender_runs.len(),
        dispersion: MedianRange::of(&values(&contender_runs, dispersion)),
        dispersion_ratio: ratio(&contender_runs, &floors, dispersion),
        lag_p50_seconds: median(&values(&contender_runs, |run| run.lag_seconds.map(|lag| lag.p50))),
        lag_p99_seconds: median(&values(&contender_runs, lag_p99)),
        lag_ratio: ratio(&contender_runs, &floors, lag_p99),
        not_precise: contender_runs.iter().filter(|run| run.not_precise.is_some()).count(),
    })
}

fn dispersion(run: &PacingRun) -> Option<f64> {
    run.dispersion
}

fn lag_p99(run: &PacingRun) -> Option<f64> {
    run.lag_seconds.map(|lag| lag.p99)
}

fn runs_of(pace: PacingLoad, contender: PacingContender, runs: &[PacingRun]) -> Vec<&PacingRun> {
    runs.iter().filter(|run| run.pace == pace.name && run.contender == contender).collect()
}

/// Spread of the ratios of a figure within rounds.
fn ratio(
    runs: &[&PacingRun],
    floors: &[&PacingRun],
    value: fn(&PacingRun) -> Option<f64>,
) -> Option<MedianRange> {
    MedianRange::of(&ratios_within_rounds(&by_round(runs, value), &by_round(floors, value)))
}

fn values(runs: &[&PacingRun], value: fn(&PacingRun) -> Option<f64>) -> Vec<f64> {
    runs.iter().filter_map(|run| value(run)).collect()
}

fn by_round(runs: &[&PacingRun], value: fn(&PacingRun) -> Option<f64>) -> Vec<(usize, f64)> {
    runs.iter().filter_map(|run| Some((run.round, value(run)?))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::account::Lag;

    /// A run with this variance over mean, and this lag p99 in µs.
    pub(crate) fn paced(
        pace: &'static str,
        contender: PacingContender,
        round: usize,
        [index, lag]: [f64; 2],
    ) -> PacingRun {
        PacingRun {
            pace,
            contender,
            round,
            requests: 14_000,
            rate_per_second: Some(2000.0),
            dispersion: Some(index),
            lag_seconds: Some(Lag { p50: lag / 4e6, p99: lag / 1e6 }),
            foreign_cpus: 0.0,
            not_precise: None,
            complaint: None,
        }
    }

    #[test]
    fn ratios_are_of_the_floor_in_the_same_round() {
        let runs = [
            paced("even-2000", PacingContender::Brunt, 0, [0.02, 50.0]),
            paced("even-2000", PacingContender::Floor, 0, [0.01, 40.0]),
            paced("even-2000", PacingContender::Floor, 1, [0.10, 80.0]),
            paced("even-2000", PacingContender::Brunt, 1, [0.10, 60.0]),
            paced("even-10000", PacingContender::Floor, 0, [9.0, 9.0]),
        ];
        let rows = rows(&runs);
        let names: Vec<_> = rows.iter().map(|row| (row.pace, row.contender)).collect();
        assert_eq!(
            names,
            [
                ("even-2000", PacingContender::Brunt),
                ("even-2000", PacingContender::Floor),
                ("even-10000", PacingContender::Floor)
            ]
        );
        assert_eq!(rows[0].dispersion, MedianRange::of(&[0.02, 0.1]));
        assert_eq!(rows[0].dispersion_ratio, MedianRange::of(&[2.0, 1.0]));
        let lag = rows[0].lag_ratio.unwrap();
        assert!((lag.max - 1.25).abs() < 1e-9 && (lag.min - 0.75).abs() < 1e-9, "{lag:?}");
        assert!((rows[0].lag_p50_seconds.unwrap() - 13.75e-6).abs() < 1e-12);
    }

    #[test]
    fn without_a_floor_there_is_no_ratio() {
        let rows = rows(&[paced("even-2000", PacingContender::Brunt, 0, [0.02, 50.0])]);
        assert_eq!((rows.len(), rows[0].dispersion_ratio, rows[0].lag_ratio), (1, None, None));
    }

    #[test]
    fn imprecise_runs_are_counted() {
        let words = Some("--precise: 1 cores are too few".to_owned());
        let run = PacingRun {
            not_precise: words,
            ..paced("even-2000", PacingContender::BruntPrecise, 0, [0.02, 50.0])
        };
        assert_eq!(rows(&[run])[0].not_precise, 1);
    }
}
