//! The percentile curve: the response time at every share of the requests.

use super::{load, loads_of_interest};
use crate::figure::{Axis, Figure, Point, Scale, Unit};
use crate::figures::enough;
use brunt_model::time::seconds_of;
use brunt_model::{Analysis, Study, Tally};

/// The shares at which the curve is read, as often as the requests allow.
const SHARES: [f64; 25] = [
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999,
    0.9995, 0.9999, 0.99995, 0.99999, 0.999_999,
];

/// Of each contender a curve near its limit and one at its highest load, over all repetitions together.
pub fn percentiles(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let contenders = study.experiment.contenders.iter().enumerate();
    let lines = contenders.flat_map(|(i, contender)| {
        let loads = loads_of_interest(study, analysis, i);
        let unit = load::axis(study).unit;
        loads.into_iter().enumerate().map(move |(n, at)| {
            let name = load::line_name(study, &contender.name, &format!("at {}", unit.show(at)));
            load::line(study, i, n, name, curve(&tally(study, i, at)))
        })
    });
    vec![Figure {
        id: "percentiles".into(),
        title: "Response time by percentile".into(),
        group: "share".into(),
        x: Axis { label: "percentile".into(), unit: Unit::Share, scale: Scale::Quantile },
        y: Axis { label: "response time".into(), unit: Unit::Seconds, scale: Scale::Log },
        lines: lines.collect(),
        ..Figure::default()
    }]
}

/// All requests of a load: repetitions are joined, never averaged.
fn tally(study: &Study, contender: usize, at: f64) -> Tally {
    let mut joined = Tally::default();
    let trials = study.of(contender).filter(|t| load::of(study, t) == at && !t.run.interrupted());
    trials.for_each(|t| joined.merge(&t.run.total));
    if joined == Tally::default() {
        study.of(contender).filter(|t| load::of(study, t) == at).for_each(|t| joined.merge(&t.run.total));
    }
    joined
}

/// Where a percentile is only known from below the curve ends.
fn curve(tally: &Tally) -> Vec<Point> {
    if tally.response.is_empty() {
        return Vec::new();
    }
    let at = |q: f64| {
        let quantile = tally.response_quantile(q);
        let y = (!quantile.at_least).then_some(seconds_of(quantile.value));
        Point { x: q, y, ..Point::default() }
    };
    SHARES.iter().filter(|q| enough(**q, tally.planned)).map(|q| at(*q)).collect()
}
