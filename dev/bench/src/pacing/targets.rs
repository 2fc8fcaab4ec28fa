//! Compares brunt with its targets in the pacing case, pace by pace. The targets
//! themselves are in [`crate::cases`].

use super::figures::{PacingRow, rows};
use super::{PacingContender, PacingRun};
use crate::cases::{
    ArrivalSpacing, FLOOR_TARGET, PACES, POISSON_TARGET, PRECISE_LAG_TARGET, PacingLoad,
};
use crate::check::{BenchVerdict, Bound, median_of, verdict};

pub fn verdicts(runs: &[PacingRun]) -> Vec<BenchVerdict> {
    let rows = rows(runs);
    PACES.into_iter().flat_map(|pace| verdicts_of(pace, &rows)).collect()
}

fn verdicts_of(pace: PacingLoad, rows: &[PacingRow]) -> Vec<BenchVerdict> {
    let of_pace: Vec<&PacingRow> = rows.iter().filter(|row| row.pace == pace.name).collect();
    let brunt = of_pace.iter().copied().find(|row| row.contender == PacingContender::Brunt);
    let precise =
        of_pace.iter().copied().find(|row| row.contender == PacingContender::BruntPrecise);
    let lag = median_of(brunt.and_then(|row| row.lag_ratio));
    vec![
        verdict(pace.name, "lag p99 ÷ the floor's", lag, Bound::AtMost(FLOOR_TARGET)),
        precise_verdict(pace, precise),
        spacing_verdict(pace, brunt),
    ]
}

/// Without a spare core, the target is that every run has the warning.
fn precise_verdict(pace: PacingLoad, row: Option<&PacingRow>) -> BenchVerdict {
    let refused =
        row.map(|row| row.not_precise as f64 / row.runs as f64).filter(|share| *share > 0.0);
    if refused.is_some() {
        return verdict(
            pace.name,
            "share of the runs without a free core",
            refused,
            Bound::AtLeast(1.0),
        );
    }
    let lag = row.and_then(|row| row.lag_p99_seconds).map(|lag| lag * 1e6);
    verdict(pace.name, "lag p99 with --precise, µs", lag, Bound::AtMost(PRECISE_LAG_TARGET * 1e6))
}

fn spacing_verdict(pace: PacingLoad, row: Option<&PacingRow>) -> BenchVerdict {
    match pace.arrivals {
        ArrivalSpacing::Even => {
            let ratio = median_of(row.and_then(|row| row.dispersion_ratio));
            verdict(pace.name, "variance ÷ mean, ÷ the floor's", ratio, Bound::AtMost(FLOOR_TARGET))
        }
        ArrivalSpacing::Poisson => {
            let index = median_of(row.and_then(|row| row.dispersion));
            let [least, most] = POISSON_TARGET;
            verdict(pace.name, "variance ÷ mean", index, Bound::Within(least, most))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::paced;
    use super::*;

    /// The figures missed at the pace that these runs are of.
    fn missed(runs: &[PacingRun]) -> Vec<&'static str> {
        let of_pace = |verdict: &BenchVerdict| verdict.case == runs[0].pace && !verdict.met;
        verdicts(runs).into_iter().filter(of_pace).map(|verdict| verdict.figure).collect()
    }

    fn runs(
        pace: &'static str,
        brunt: [f64; 2],
        precise: [f64; 2],
        floor: [f64; 2],
    ) -> Vec<PacingRun> {
        vec![
            paced(pace, PacingContender::Brunt, 0, brunt),
            paced(pace, PacingContender::BruntPrecise, 0, precise),
            paced(pace, PacingContender::Floor, 0, floor),
        ]
    }

    #[test]
    fn even_arrivals_are_compared_with_the_floor() {
        let of = |brunt, precise| missed(&runs("even-2000", brunt, precise, [0.1, 100.0]));
        assert!(of([0.129, 129.0], [0.5, 49.0]).is_empty());
        assert_eq!(of([0.129, 131.0], [0.5, 49.0]), ["lag p99 ÷ the floor's"]);
        assert_eq!(of([0.131, 129.0], [0.5, 49.0]), ["variance ÷ mean, ÷ the floor's"]);
        assert_eq!(of([0.129, 129.0], [0.5, 51.0]), ["lag p99 with --precise, µs"]);
    }

    #[test]
    fn random_arrivals_are_compared_with_theory() {
        let of = |index| missed(&runs("poisson-20000", [index, 100.0], [1.0, 40.0], [3.0, 100.0]));
        assert!(of(0.951).is_empty() && of(1.049).is_empty());
        assert_eq!([of(0.949), of(1.051)].concat(), ["variance ÷ mean"; 2]);
    }

    #[test]
    fn without_a_free_core_every_run_must_have_the_warning() {
        let say = |run: &PacingRun| PacingRun {
            not_precise: Some("--precise: 1 cores".to_owned()),
            ..run.clone()
        };
        let mut runs = runs("even-2000", [0.1, 100.0], [0.1, 900.0], [0.1, 100.0]);
        runs[1] = say(&runs[1]);
        assert!(missed(&runs).is_empty());
        runs.push(paced("even-2000", PacingContender::BruntPrecise, 1, [0.1, 10.0]));
        assert_eq!(missed(&runs), ["share of the runs without a free core"]);
    }

    #[test]
    fn an_unmeasured_target_is_missed() {
        let verdicts = verdicts(&[]);
        assert_eq!(verdicts.len(), 3 * PACES.len());
        assert!(verdicts.iter().all(|verdict| !verdict.met && verdict.measured.is_none()));
    }
}
