//! From runs to rows: what a contender did at a pace, beside the floor in the same round.
//!
//! Not a judgement; that is [`super::targets`].

use serde::Serialize;

use super::{Contender, Paced};
use crate::cases::{PACES, Pace};
use crate::maths::{Spread, median, ratios_within_rounds};

/// A contender at a pace, over its rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PacedRow {
    pub pace: &'static str,
    pub contender: Contender,
    pub runs: usize,
    pub dispersion: Option<Spread>,
    /// Over the floor's of the same round.
    pub dispersion_ratio: Option<Spread>,
    /// Medians over the rounds.
    pub lag_p50_seconds: Option<f64>,
    pub lag_p99_seconds: Option<f64>,
    /// p99 over the floor's of the same round.
    pub lag_ratio: Option<Spread>,
    /// How many of the runs were not as precise as they were told to be, and said so.
    pub not_precise: usize,
}

/// One row a contender that ran at a pace, pace by pace.
pub fn rows(runs: &[Paced]) -> Vec<PacedRow> {
    let of_pace = |pace: Pace| Contender::ALL.into_iter().filter_map(move |contender| row(pace, contender, runs));
    PACES.into_iter().flat_map(of_pace).collect()
}

fn row(pace: Pace, contender: Contender, runs: &[Paced]) -> Option<PacedRow> {
    let own = of(pace, contender, runs);
    let floors = of(pace, Contender::Floor, runs);
    let ratio = |value: &dyn Fn(&Paced) -> Option<f64>| {
        Spread::of(&ratios_within_rounds(&by_round(&own, value), &by_round(&floors, value)))
    };
    let p99 = |run: &Paced| run.lag_seconds.map(|lag| lag.p99);
    (!own.is_empty()).then(|| PacedRow {
        pace: pace.name,
        contender,
        runs: own.len(),
        dispersion: Spread::of(&values(&own, &|run| run.dispersion)),
        dispersion_ratio: ratio(&|run| run.dispersion),
        lag_p50_seconds: median(&values(&own, &|run| run.lag_seconds.map(|lag| lag.p50))),
        lag_p99_seconds: median(&values(&own, &p99)),
        lag_ratio: ratio(&p99),
        not_precise: own.iter().filter(|run| run.not_precise.is_some()).count(),
    })
}

fn of(pace: Pace, contender: Contender, runs: &[Paced]) -> Vec<&Paced> {
    runs.iter().filter(|run| run.pace == pace.name && run.contender == contender).collect()
}

fn values(runs: &[&Paced], value: &dyn Fn(&Paced) -> Option<f64>) -> Vec<f64> {
    runs.iter().filter_map(|run| value(run)).collect()
}

fn by_round(runs: &[&Paced], value: &dyn Fn(&Paced) -> Option<f64>) -> Vec<(usize, f64)> {
    runs.iter().filter_map(|run| Some((run.round, value(run)?))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::account::Lag;

    /// A run with this variance over mean, and a lag p99 of so many µs.
    pub(crate) fn paced(pace: &'static str, contender: Contender, round: usize, [index, lag]: [f64; 2]) -> Paced {
        Paced {
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
            paced("even-2000", Contender::Brunt, 0, [0.02, 50.0]),
            paced("even-2000", Contender::Floor, 0, [0.01, 40.0]),
            paced("even-2000", Contender::Floor, 1, [0.10, 80.0]),
            paced("even-2000", Contender::Brunt, 1, [0.10, 60.0]),
            paced("even-10000", Contender::Floor, 0, [9.0, 9.0]),
        ];
        let rows = rows(&runs);
        let names: Vec<_> = rows.iter().map(|row| (row.pace, row.contender)).collect();
        assert_eq!(
            names,
            [("even-2000", Contender::Brunt), ("even-2000", Contender::Floor), ("even-10000", Contender::Floor)]
        );
        assert_eq!(rows[0].dispersion, Spread::of(&[0.02, 0.1]));
        assert_eq!(rows[0].dispersion_ratio, Spread::of(&[2.0, 1.0]));
        let lag = rows[0].lag_ratio.unwrap();
        assert!((lag.max - 1.25).abs() < 1e-9 && (lag.min - 0.75).abs() < 1e-9, "{lag:?}");
        assert!((rows[0].lag_p50_seconds.unwrap() - 13.75e-6).abs() < 1e-12);
    }

    #[test]
    fn without_a_floor_there_is_no_ratio() {
        let rows = rows(&[paced("even-2000", Contender::Brunt, 0, [0.02, 50.0])]);
        assert_eq!((rows.len(), rows[0].dispersion_ratio, rows[0].lag_ratio), (1, None, None));
    }

    #[test]
    fn who_could_not_be_precise_is_counted() {
        let words = Some("--precise: 1 cores are none too many".to_owned());
        let run = Paced { not_precise: words, ..paced("even-2000", Contender::BruntPrecise, 0, [0.02, 50.0]) };
        assert_eq!(rows(&[run])[0].not_precise, 1);
    }
}
