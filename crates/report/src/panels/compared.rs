//! Makes the charts of the figures by which contenders are compared, and puts them first.

use super::{load, p99};
use crate::figure::{Axis, AxisScale, Chart, ChartUnit};
use crate::figures::is_same_quantile;
use brunt_model::analysis::{BandedFigure, CurvePoint};
use brunt_model::objective::Metric;
use brunt_model::question::Measure;
use brunt_model::{Analysis, Study, text};

/// Returns the charts of compared figures that other panels do not have: response times other than p99,
/// and errors over repetitions.
pub fn figures(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    measures(analysis)
        .into_iter()
        .flat_map(|measure| of_measure(study, analysis, measure))
        .collect()
}

fn of_measure(study: &Study, analysis: &Analysis, measure: Measure) -> Vec<Chart> {
    let Measure::Run(metric) = measure else { return Vec::new() };
    match metric {
        Metric::Errors => errors_of_repetitions(study, analysis),
        Metric::Mean => of_times(study, analysis, metric, |point| point.mean),
        Metric::Quantile(q) if is_same_quantile(q, 0.5) => {
            of_times(study, analysis, metric, |point| point.p50)
        }
        Metric::Quantile(q) if is_same_quantile(q, 0.95) => {
            of_times(study, analysis, metric, |point| point.p95)
        }
        // Other panels have throughput and p99. Curves have no other figures.
        Metric::Throughput | Metric::Goodput | Metric::Quantile(_) | Metric::Max => Vec::new(),
    }
}

fn of_times(
    study: &Study,
    analysis: &Analysis,
    metric: Metric,
    select: fn(&CurvePoint) -> Option<BandedFigure>,
) -> Vec<Chart> {
    let time = p99::ResponseFigure { id: id_of(metric), metric, select };
    let over_load = p99::figure_over_load(study, analysis, &time);
    std::iter::once(over_load).chain(p99::figure_over_repetitions(study, analysis, &time)).collect()
}

fn errors_of_repetitions(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let title = text!("chart.errors");
    let figure = load::over_repetitions(study, analysis, "errors", title, |point| point.errors);
    let with_axis = figure.map(|figure| Chart {
        y: Axis {
            label: text!("chart-label.share-of-requests"),
            unit: ChartUnit::Share,
            scale: AxisScale::Linear,
        },
        ..figure
    });
    with_axis.into_iter().collect()
}

/// Moves the charts of compared figures to the front: first those of the deciding figures, as in the conclusions.
pub fn put_first(charts: &mut [Chart], analysis: &Analysis) {
    let ids: Vec<String> = measures(analysis).into_iter().map(id_of_measure).collect();
    charts.sort_by_key(|chart| {
        let id = figure_id(chart);
        ids.iter().position(|compared| compared == id).unwrap_or(ids.len())
    });
}

/// Removes the chart of the figure that decides a comparison, and returns it; None if there is none.
pub fn take_deciding(charts: &mut Vec<Chart>, analysis: &Analysis) -> Option<Chart> {
    let id = measures(analysis).into_iter().next().map(id_of_measure)?;
    let place = charts.iter().position(|chart| figure_id(chart) == id)?;
    Some(charts.remove(place))
}

/// Returns the id of the figure that a chart shows, over loads or over repetitions.
fn figure_id(chart: &Chart) -> &str {
    chart.id.strip_prefix("repetition-").unwrap_or(&chart.id)
}

/// Returns the compared figures: those that decide about a pair, then the others.
fn measures(analysis: &Analysis) -> Vec<Measure> {
    let compared = analysis.comparison.iter().flat_map(|comparison| &comparison.pairs);
    let pairs: Vec<_> = compared.chain(&analysis.pairs).collect();
    let deciding = pairs.iter().filter_map(|pair| pair.measures.first());
    let all = deciding.chain(pairs.iter().flat_map(|pair| &pair.measures));
    let mut measures: Vec<Measure> = Vec::new();
    for measure in all.map(|compared| compared.measure) {
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    measures
}

fn id_of_measure(measure: Measure) -> String {
    match measure {
        Measure::Run(metric) => id_of(metric),
        Measure::Capacity => "throughput".into(),
        Measure::ServerCpu => "server-cpu".into(),
    }
}

/// Returns the id of the charts of a figure.
fn id_of(metric: Metric) -> String {
    match metric {
        Metric::Quantile(q) => brunt_model::numbers::percentile(q),
        // Curves have no goodput. Errors are compared if it differs from the throughput.
        Metric::Throughput | Metric::Goodput => "throughput".into(),
        Metric::Errors => "errors".into(),
        Metric::Mean => "mean".into(),
        Metric::Max => "max".into(),
    }
}
