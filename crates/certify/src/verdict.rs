//! How near to the truth: the deviation of each figure, and the mark of a run.
//!
//! A figure that a tool does not tell has no deviation and no bad mark. What is compared follows the case: response
//! times by their percentiles (the largest alone is one sample, and is shown without a mark), errors by their counts.

use crate::cases::Comparand;
use crate::figures::{Figures, KEYS, Key};

/// How far a figure may be from the truth: a share of it, and beside it an amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    share: f64,
    amount: f64,
}

/// A percentile up to the 99th, and a mean where no percentile is told: 2 % and 0.2 ms.
const TIME: Limit = Limit { share: 0.02, amount: 0.0002 };

/// The 99.9th, which rests on a few samples: 5 %.
const FAR_TIME: Limit = Limit { share: 0.05, amount: 0.0 };

/// The mark of a run: the figure that is farthest from the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// Which figure.
    pub figure: &'static str,
    /// Told less true, as a share of the true.
    pub deviation: f64,
    /// Whether every figure that counts is within its limit.
    pub met: bool,
}

/// A count: 2 %, and one request that was under way at the end and is known at one end only.
const COUNT: Limit = Limit { share: 0.02, amount: 1.0 };

/// Told less true, as a share of the true; none where either is missing or nothing is true.
pub fn deviation(told: Option<f64>, truth: Option<f64>) -> Option<f64> {
    let (told, truth) = (told?, truth.filter(|truth| *truth > 0.0)?);
    Some(told / truth - 1.0)
}

/// The mark of what was told. None where the tool tells nothing that is compared.
pub fn mark(told: &Figures, truth: &Figures, compares: Comparand) -> Option<Mark> {
    let judged: Vec<_> =
        counted(told, compares).into_iter().filter_map(|(key, limit)| judge(key, limit, told, truth)).collect();
    let worst = judged.iter().max_by(|a, b| a.deviation.abs().total_cmp(&b.deviation.abs()))?;
    Some(Mark { met: judged.iter().all(|one| one.met), ..*worst })
}

fn judge(key: &Key, limit: Limit, told: &Figures, truth: &Figures) -> Option<Mark> {
    let (told, truth) = ((key.of)(told)?, (key.of)(truth)?);
    let met = (told - truth).abs() <= truth * limit.share + limit.amount;
    Some(Mark { figure: key.name, deviation: deviation(Some(told), Some(truth))?, met })
}

/// The figures that count, each with its limit.
fn counted(told: &Figures, compares: Comparand) -> Vec<(&'static Key, Limit)> {
    let keys =
        |names: &[&str], limit| KEYS.iter().filter(|key| names.contains(&key.name)).map(|key| (key, limit)).collect();
    match compares {
        Comparand::Errors if told.failed.or(told.refused).is_some() => keys(&["failed", "refused"], COUNT),
        Comparand::Errors => keys(&["errors"], COUNT),
        Comparand::Times if has_percentiles(told) => {
            let near: Vec<_> = keys(&["p50", "p90", "p99"], TIME);
            near.into_iter().chain(keys(&["p99.9"], FAR_TIME)).collect()
        }
        Comparand::Times => keys(&["mean"], TIME),
    }
}

fn has_percentiles(told: &Figures) -> bool {
    told.p50.or(told.p90).or(told.p99).or(told.p99_9).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(p50: f64, p99: f64, p99_9: f64) -> Figures {
        Figures { p50: Some(p50), p99: Some(p99), p99_9: Some(p99_9), ..Figures::default() }
    }

    #[test]
    fn the_worst_figure_is_the_mark() {
        let mark = mark(&times(0.101, 0.900, 2.0), &times(0.100, 1.000, 2.0), Comparand::Times).unwrap();
        assert_eq!((mark.figure, mark.met), ("p99", false));
        assert!((mark.deviation + 0.1).abs() < 1e-9);
    }

    #[test]
    fn limits_are_a_share_and_an_amount() {
        let met = |told, truth| mark(&told, &truth, Comparand::Times).unwrap().met;
        assert!(met(times(0.0012, 0.1021, 0.21), times(0.001, 0.1, 0.2)));
        assert!(!met(times(0.00125, 0.1, 0.2), times(0.001, 0.1, 0.2)), "0.25 ms");
        assert!(!met(times(0.001, 0.1023, 0.2), times(0.001, 0.1, 0.2)), "2.3 % and more than 0.2 ms");
        assert!(!met(times(0.001, 0.1, 0.2101), times(0.001, 0.1, 0.2)), "5 % and no more at p99.9");
    }

    #[test]
    fn what_is_not_told_has_no_mark() {
        let truth = times(1.0, 2.0, 3.0);
        assert_eq!(mark(&Figures::default(), &truth, Comparand::Times), None);
        let only = Figures { p50: Some(1.0), max: Some(9.0), ..Figures::default() };
        assert!(mark(&only, &Figures { max: Some(1.0), ..truth }, Comparand::Times).unwrap().met, "max is shown only");
        let mean = |mean| Figures { mean: Some(mean), ..Figures::default() };
        assert_eq!(mark(&mean(2.0), &mean(1.0), Comparand::Times).unwrap().figure, "mean");
    }

    #[test]
    fn errors_count_by_kind_where_the_kinds_are_told() {
        let truth = Figures::default().with_errors(100.0, 50.0);
        let mark = |told: Figures| super::mark(&told, &truth, Comparand::Errors).unwrap();
        assert!(mark(Figures::default().with_errors(98.0, 50.0)).met);
        assert!(mark(Figures::default().with_errors(97.0, 50.0)).met, "one was under way at the end");
        assert!(!mark(Figures::default().with_errors(96.0, 50.0)).met);
        assert_eq!(mark(Figures::default().with_errors(50.0, 100.0)).figure, "refused");
        assert!(mark(Figures { errors: Some(150.0), ..Figures::default() }).met);
    }

    #[test]
    fn nothing_is_compared_with_no_truth() {
        assert_eq!(deviation(Some(1.0), None), None);
        assert_eq!(deviation(Some(1.0), Some(0.0)), None);
        assert_eq!(deviation(Some(1.5), Some(1.0)), Some(0.5));
    }
}
