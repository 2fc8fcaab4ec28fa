//! Computes the deviation of each figure from the truth, and the mark of a run.
//!
//! A figure that a tool does not report has no deviation and no bad mark. The case determines which
//! figures are compared. Response times are compared by percentiles (the maximum is a single
//! sample, and is shown without a mark), errors by their counts.

use crate::cases::Comparand;
use crate::figures::{CertifiedFigures, FigureKey, KEYS};

/// Maximum deviation of a figure from the truth: a share of it plus an amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    share: f64,
    amount: f64,
}

/// For a percentile up to the 99th, and for a mean if no percentile is reported: 2 % and 0.2 ms.
const TIME: Tolerance = Tolerance { share: 0.02, amount: 0.0002 };

/// For the 99.9th percentile, which depends on a few samples: 5 %.
const FAR_TIME: Tolerance = Tolerance { share: 0.05, amount: 0.0 };

/// Mark of a run: the figure with the greatest deviation from the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunMark {
    /// Name of the figure.
    pub figure: &'static str,
    /// Reported minus true value, as a share of the true one.
    pub deviation: f64,
    /// True if every compared figure is within its limit.
    pub met: bool,
}

/// For a count: 2 % and one request, which was in flight at the end and is counted
/// on one side only.
const COUNT: Tolerance = Tolerance { share: 0.02, amount: 1.0 };

/// Returns the reported minus the true value, as a share of the true one. None if either is missing
/// or the true value is 0.
pub fn deviation(reported: Option<f64>, truth: Option<f64>) -> Option<f64> {
    let reported = reported?;
    let truth = truth.filter(|truth| *truth > 0.0)?;
    Some(reported / truth - 1.0)
}

/// Returns the mark of the reported figures. None if the tool reports no figure that is compared.
pub fn mark(
    reported: &CertifiedFigures,
    truth: &CertifiedFigures,
    compares: Comparand,
) -> Option<RunMark> {
    let judged: Vec<_> = compared(reported, compares)
        .into_iter()
        .filter_map(|(key, limit)| judge(key, limit, reported, truth))
        .collect();
    // The sign shows the direction, the size decides.
    let worst = judged.iter().max_by(|a, b| a.deviation.abs().total_cmp(&b.deviation.abs()))?;
    Some(RunMark { met: judged.iter().all(|one| one.met), ..*worst })
}

fn judge(
    key: &FigureKey,
    limit: Tolerance,
    reported: &CertifiedFigures,
    truth: &CertifiedFigures,
) -> Option<RunMark> {
    let reported = (key.value)(reported)?;
    let truth = (key.value)(truth)?;
    let met = (reported - truth).abs() <= truth * limit.share + limit.amount;
    Some(RunMark { figure: key.name, deviation: deviation(Some(reported), Some(truth))?, met })
}

/// Returns the compared figures with their limits.
fn compared(
    reported: &CertifiedFigures,
    compares: Comparand,
) -> Vec<(&'static FigureKey, Tolerance)> {
    match compares {
        Comparand::Errors if reported.failed.or(reported.refused).is_some() => {
            with_limit(&["failed", "refused"], COUNT)
        }
        // The tool reports errors in one sum.
        Comparand::Errors => with_limit(&["errors"], COUNT),
        Comparand::Times if has_percentiles(reported) => {
            let mut limits = with_limit(&["p50", "p90", "p99"], TIME);
            limits.extend(with_limit(&["p99.9"], FAR_TIME));
            limits
        }
        Comparand::Times => with_limit(&["mean"], TIME),
    }
}

fn with_limit(names: &[&str], limit: Tolerance) -> Vec<(&'static FigureKey, Tolerance)> {
    KEYS.iter().filter(|key| names.contains(&key.name)).map(|key| (key, limit)).collect()
}

fn has_percentiles(reported: &CertifiedFigures) -> bool {
    reported.p50.or(reported.p90).or(reported.p99).or(reported.p99_9).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(p50: f64, p99: f64, p99_9: f64) -> CertifiedFigures {
        CertifiedFigures {
            p50: Some(p50),
            p99: Some(p99),
            p99_9: Some(p99_9),
            ..CertifiedFigures::default()
        }
    }

    #[test]
    fn the_mark_is_the_worst_deviation() {
        let mark =
            mark(&times(0.101, 0.900, 2.0), &times(0.100, 1.000, 2.0), Comparand::Times).unwrap();
        assert_eq!((mark.figure, mark.met), ("p99", false));
        assert!((mark.deviation + 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_deviation_is_accepted_within_a_relative_or_absolute_limit() {
        let met = |reported, truth| mark(&reported, &truth, Comparand::Times).unwrap().met;
        assert!(met(times(0.0012, 0.1021, 0.21), times(0.001, 0.1, 0.2)));
        assert!(!met(times(0.00125, 0.1, 0.2), times(0.001, 0.1, 0.2)), "0.25 ms");
        assert!(
            !met(times(0.001, 0.1023, 0.2), times(0.001, 0.1, 0.2)),
            "2.3 % and more than 0.2 ms"
        );
        assert!(
            !met(times(0.001, 0.1, 0.2101), times(0.001, 0.1, 0.2)),
            "5 % and no more at p99.9"
        );
    }

    #[test]
    fn unreported_figures_have_no_mark() {
        let truth = times(1.0, 2.0, 3.0);
        assert_eq!(mark(&CertifiedFigures::default(), &truth, Comparand::Times), None);
        let only =
            CertifiedFigures { p50: Some(1.0), max: Some(9.0), ..CertifiedFigures::default() };
        assert!(
            mark(&only, &CertifiedFigures { max: Some(1.0), ..truth }, Comparand::Times)
                .unwrap()
                .met,
            "max is shown only"
        );
        let mean = |mean| CertifiedFigures { mean: Some(mean), ..CertifiedFigures::default() };
        assert_eq!(mark(&mean(2.0), &mean(1.0), Comparand::Times).unwrap().figure, "mean");
    }

    #[test]
    fn reported_kinds_of_errors_are_compared_by_kind() {
        let truth = CertifiedFigures::default().with_errors(100.0, 50.0);
        let mark =
            |reported: CertifiedFigures| super::mark(&reported, &truth, Comparand::Errors).unwrap();
        assert!(mark(CertifiedFigures::default().with_errors(98.0, 50.0)).met);
        assert!(
            mark(CertifiedFigures::default().with_errors(97.0, 50.0)).met,
            "one was under way at the end"
        );
        assert!(!mark(CertifiedFigures::default().with_errors(96.0, 50.0)).met);
        assert_eq!(mark(CertifiedFigures::default().with_errors(50.0, 100.0)).figure, "refused");
        assert!(mark(CertifiedFigures { errors: Some(150.0), ..CertifiedFigures::default() }).met);
    }

    #[test]
    fn deviations_need_a_truth_other_than_zero() {
        assert_eq!(deviation(Some(1.0), None), None);
        assert_eq!(deviation(Some(1.0), Some(0.0)), None);
        assert_eq!(deviation(Some(1.5), Some(1.0)), Some(0.5));
    }
}
