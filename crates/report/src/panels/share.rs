//! Makes the percentile curve: the response time at every share of the requests.

use super::{load, loads_of_interest};
use crate::figure::{Axis, AxisScale, Chart, ChartPoint, ChartUnit};
use crate::figures::enough;
use crate::texts::message;
use brunt_model::time::seconds_of;
use brunt_model::{Analysis, Study, Tally, text};

/// Shares at which the curve is read, as far as there are enough requests.
const SHARES: [f64; 25] = [
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99,
    0.995, 0.998, 0.999, 0.9995, 0.9999, 0.99995, 0.99999, 0.999_999,
];

/// Returns two curves of each contender: near its limit and at its highest
/// load, over all repetitions.
pub fn percentiles(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let contenders = study.experiment.contenders.iter().enumerate();
    let lines = contenders.flat_map(|(i, contender)| {
        let loads = loads_of_interest(study, analysis, i);
        let unit = load::axis(study).unit;
        loads.into_iter().enumerate().map(move |(n, load)| {
            let name = load::line_name(
                study,
                &contender.name,
                text!("chart-label.at-load", load = unit.show(load)),
            );
            load::line(study, i, n, name, curve(&tally(study, i, load)))
        })
    });
    vec![Chart {
        id: "percentiles".into(),
        title: message!("chart.percentiles"),
        group: "share".into(),
        x: Axis {
            label: text!("chart-label.percentile"),
            unit: ChartUnit::Share,
            scale: AxisScale::Quantile,
        },
        y: Axis {
            label: text!("chart-label.response-time"),
            unit: ChartUnit::Seconds,
            scale: AxisScale::Log,
        },
        lines: lines.collect(),
        ..Chart::default()
    }]
}

/// Merges all requests of a load. Repetitions are merged, never averaged.
fn tally(study: &Study, contender: usize, load: f64) -> Tally {
    let mut merged = Tally::default();
    let trials = study
        .trials_of(contender)
        .filter(|t| load::of(study, t) == load && !t.run.is_interrupted());
    trials.for_each(|t| merged.merge(&t.run.total));
    // Interrupted trials count only if there is no other.
    if merged == Tally::default() {
        study
            .trials_of(contender)
            .filter(|t| load::of(study, t) == load)
            .for_each(|t| merged.merge(&t.run.total));
    }
    merged
}

/// Returns the points of a curve. It ends where only a lower bound of the percentile is known.
fn curve(tally: &Tally) -> Vec<ChartPoint> {
    if tally.response.is_empty() {
        return Vec::new();
    }
    let mut points = Vec::new();
    for q in SHARES.into_iter().filter(|q| enough(*q, tally.planned)) {
        let quantile = tally.response_quantile(q);
        // A bound is no point of the curve: the true value may be anywhere above.
        let y = (!quantile.at_least).then_some(seconds_of(quantile.value));
        points.push(ChartPoint { x: q, y, ..ChartPoint::default() });
    }
    points
}
