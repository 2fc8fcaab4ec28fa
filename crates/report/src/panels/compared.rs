//! Makes the charts of the figures by which contenders are compared, and puts them first.

use super::{load, p99};
use crate::figure::{Axis, AxisScale, Chart, ChartUnit};
use crate::texts::message;
use brunt_model::objective::Metric;
use brunt_model::question::Measure;
use brunt_model::{Analysis, Study, text};

/// Returns the charts of compared figures that other panels do not have: response times other than p99,
/// goodput, and errors over repetitions.
pub fn figures(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    measures(analysis)
        .into_iter()
        .flat_map(|measure| of_measure(study, analysis, measure))
        .collect()
}

fn of_measure(study: &Study, analysis: &Analysis, measure: Measure) -> Vec<Chart> {
    match measure {
        Measure::Run(Metric::Errors) => errors_of_repetitions(study, analysis),
        Measure::Run(Metric::Goodput) => {
            let over_load = load::rate_over_load(study, analysis, Metric::Goodput);
            let over_repetitions = load::rate_over_repetitions(study, analysis, Metric::Goodput);
            std::iter::once(over_load).chain(over_repetitions).collect()
        }
        Measure::Run(metric) if metric.is_same(p99::P99) => Vec::new(),
        Measure::Run(time @ (Metric::Mean | Metric::Quantile(_) | Metric::Max)) => {
            let over_load = p99::figure_over_load(study, analysis, time);
            let over_repetitions = p99::figure_over_repetitions(study, analysis, time);
            std::iter::once(over_load).chain(over_repetitions).collect()
        }
        // Other panels have throughput.
        Measure::Run(Metric::Throughput) | Measure::Capacity | Measure::ServerCpu => Vec::new(),
    }
}

fn errors_of_repetitions(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let title = message!("chart.errors");
    let figure = load::over_repetitions(study, analysis, title, Metric::Errors);
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
        Measure::Run(metric) => load::id_of(metric),
        Measure::Capacity => "throughput".into(),
        Measure::ServerCpu => "server-cpu".into(),
    }
}
