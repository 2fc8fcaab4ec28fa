//! Makes the charts over the load of a sweep: throughput, response times and errors.

use crate::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit, HighlightedValue};
use crate::single;
use crate::study::load_of;
use crate::texts::message;
use brunt_model::analysis::{Band, ContenderAnalysis, LimitKind};
use brunt_model::numbers::percentile;
use brunt_model::objective::Metric;
use brunt_model::text::Value;
use brunt_model::{Analysis, LoadUnit, Study, Text, Trial, text};

/// Ratio of the highest to the lowest load from which the axis is logarithmic.
const MIN_LOG_RATIO: f64 = 100.0;

/// Name of a line, empty for that of the contender, and its figure.
type Series = (Text, Metric);

/// Returns the chart of the throughput, with a line of the offered load.
pub fn throughput(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let mut figure = rate_over_load(study, analysis, Metric::Throughput);
    // A closed loop has no offered load: x is a number of users, and throughput has no diagonal.
    if figure.x.unit == ChartUnit::PerSecond {
        figure.lines.push(diagonal(analysis));
    }
    figure.marks.extend(marks(study, analysis, |kind| kind != LimitKind::Objective));
    vec![figure]
}

/// Returns the chart of the throughput or the goodput over the load.
pub(super) fn rate_over_load(study: &Study, analysis: &Analysis, rate: Metric) -> Chart {
    let (title, label) = words_of_rate(rate);
    let series = [(Text::default(), rate)];
    let figure = over_load(study, analysis, &id_of(rate), title, &series);
    Chart { y: rate_axis(with_band(label, analysis, rate)), ..figure }
}

/// Returns the throughput or the goodput of each repetition, if the study has a single load.
pub(super) fn rate_over_repetitions(
    study: &Study,
    analysis: &Analysis,
    rate: Metric,
) -> Option<Chart> {
    let (title, label) = words_of_rate(rate);
    let figure = over_repetitions(study, analysis, title, rate)?;
    Some(Chart { y: rate_axis(label), ..figure })
}

/// Title of the chart of a rate, and label of its axis.
fn words_of_rate(rate: Metric) -> (Text, Text) {
    if rate == Metric::Goodput {
        (message!("chart.goodput"), text!("chart-label.good"))
    } else {
        (message!("chart.throughput"), text!("chart-label.completed"))
    }
}

fn rate_axis(label: Text) -> Axis {
    Axis { label, unit: ChartUnit::PerSecond, scale: AxisScale::Linear }
}

/// Returns the chart of response-time percentiles; of means, if there are no percentiles.
pub fn response(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let mut figure = over_load(
        study,
        analysis,
        "response",
        message!("chart.response-time"),
        &[0.5, 0.95, 0.99].map(Metric::Quantile).map(|quantile| (quantile.words(), quantile)),
    );
    // The tables of autobench have means only.
    if figure.is_empty() {
        let means = over_load(
            study,
            analysis,
            "response",
            message!("chart.response-time"),
            &[(text!("chart-label.mean"), Metric::Mean)],
        );
        figure.lines = means.lines;
    }
    figure.y = Axis {
        label: text!("chart-label.response-time"),
        unit: ChartUnit::Seconds,
        scale: AxisScale::Log,
    };
    figure.marks.extend(marks(study, analysis, |kind| kind == LimitKind::Knee));
    vec![figure]
}

/// Returns the chart of the error ratio.
pub fn errors(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let mut figure = over_load(
        study,
        analysis,
        "errors",
        message!("chart.errors"),
        &[(Text::default(), Metric::Errors)],
    );
    figure.y = Axis {
        label: text!("chart-label.share-of-requests"),
        unit: ChartUnit::Share,
        scale: AxisScale::Linear,
    };
    vec![figure]
}

/// Returns the throughput of each repetition, if the study has a single load.
pub fn throughput_of_repetitions(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    rate_over_repetitions(study, analysis, Metric::Throughput).into_iter().collect()
}

/// Returns a chart of a figure by repetition; None if the study has several loads.
///
/// Each contender has a line of its trials, and a line of their median with its band. The caller
/// sets the y axis.
pub(super) fn over_repetitions(
    study: &Study,
    analysis: &Analysis,
    title: Text,
    metric: Metric,
) -> Option<Chart> {
    let contenders = &study.experiment.contenders;
    let varies = (0..contenders.len()).any(|contender| {
        let mut loads = study.trials_of(contender).map(|trial| of(study, trial));
        loads.next().is_some_and(|first| loads.any(|load| load != first))
    });
    // With several loads, the charts over the load have the repetitions as bands.
    if varies {
        return None;
    }
    let mut lines = Vec::new();
    for (i, contender) in contenders.iter().enumerate() {
        // An interrupted trial has fewer requests, so its figures are not comparable.
        let completed = study.trials_of(i).filter(|trial| !trial.run.is_interrupted());
        let mut points: Vec<ChartPoint> = completed
            .map(|trial| ChartPoint {
                x: f64::from(trial.place.repetition + 1),
                y: single::figure(&trial.run, metric),
                ..ChartPoint::default()
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        // The median is a horizontal line from the first repetition to the last.
        let ends = points.first().zip(points.last()).map(|(first, last)| [first.x, last.x]);
        let all = analysis
            .contenders
            .get(i)
            .and_then(|found| found.curve.first())
            .and_then(|point| point.figure(metric));
        lines.push(line(study, i, 0, (&*contender.name).into(), points));
        if let (Some(ends), Some(all)) = (ends, all.filter(|all| all.band != Band::One)) {
            let name = line_name(
                study,
                &contender.name,
                text!("chart-label.median", band = band_name(all.band)),
            );
            let points = ends.map(|x| ChartPoint {
                x,
                y: Some(all.value),
                low: Some(all.low),
                high: Some(all.high),
            });
            lines.push(line(study, i, 1, name, points.into()));
        }
    }
    Some(Chart {
        id: format!("repetition-{}", id_of(metric)),
        title: message!("chart.by-repetition", title),
        group: "repetition".into(),
        x: Axis { label: text!("chart-label.repetition"), ..Axis::default() },
        lines,
        ..Chart::default()
    })
}

/// Returns the id of the chart of a figure over the load.
pub(super) fn id_of(metric: Metric) -> String {
    match metric {
        Metric::Quantile(q) => percentile(q),
        Metric::Throughput => "throughput".into(),
        Metric::Goodput => "goodput".into(),
        Metric::Errors => "errors".into(),
        Metric::Mean => "mean".into(),
        Metric::Max => "max".into(),
    }
}

/// Returns the load of a trial.
pub fn of(study: &Study, trial: &Trial) -> f64 {
    load_of(&study.experiment, trial)
}

/// Returns the x axis of all charts over the load.
pub fn axis(study: &Study) -> Axis {
    let contenders = &study.experiment.contenders;
    let is_closed = contenders.first().is_some_and(|c| matches!(c.unit(), LoadUnit::Users { .. }));
    let loads: Vec<f64> = contenders.iter().flat_map(|c| &c.steps).map(|step| step.load).collect();
    let low = loads.iter().copied().fold(f64::INFINITY, f64::min);
    let high = loads.iter().copied().fold(0.0, f64::max);
    let (label, unit) = if is_closed {
        (text!("chart-label.users"), ChartUnit::Users)
    } else {
        (text!("chart-label.offered"), ChartUnit::PerSecond)
    };
    let scale =
        if low > 0.0 && high / low >= MIN_LOG_RATIO { AxisScale::Log } else { AxisScale::Linear };
    Axis { label, unit, scale }
}

/// Returns the name of a line, such as `nginx p99`. A single contender is not named.
pub fn line_name(study: &Study, contender: &str, series: Text) -> Text {
    match study.experiment.contenders.len() {
        _ if series.is_empty() => contender.into(),
        0 | 1 => series,
        _ => text!("chart-label.of-contender", contender, series),
    }
}

/// Creates the n-th line of a contender. Lines of several contenders differ in color by contender
/// and in dashes by n. Lines of a single contender differ in color.
pub fn line(
    study: &Study,
    contender: usize,
    n: usize,
    name: Text,
    points: Vec<ChartPoint>,
) -> ChartLine {
    match study.experiment.contenders.len() {
        0 | 1 => ChartLine { name, contender: None, dash: 0, points },
        _ => ChartLine { name, contender: Some(contender), dash: n as u8, points },
    }
}

/// Returns a chart over the load without a y axis, with these series of each contender.
pub(super) fn over_load(
    study: &Study,
    analysis: &Analysis,
    id: &str,
    title: Text,
    series: &[Series],
) -> Chart {
    let lines = analysis.contenders.iter().enumerate().flat_map(|(i, contender)| {
        series.iter().enumerate().map(move |(n, (name, metric))| {
            line(
                study,
                i,
                n,
                line_name(study, &contender.contender, name.clone()),
                points(contender, *metric),
            )
        })
    });
    let group = "load".into();
    let x = axis(study);
    Chart {
        id: id.into(),
        title: message!("chart.over-load", title),
        group,
        x,
        lines: lines.collect(),
        ..Chart::default()
    }
}

/// Name of a limit; that of an objective is its condition.
fn limit_name(kind: LimitKind, name: &str) -> Text {
    match kind {
        LimitKind::Knee => text!("chart-label.knee"),
        LimitKind::Saturation => text!("chart-label.saturation"),
        LimitKind::Asymptotes | LimitKind::Objective | LimitKind::Kept | LimitKind::Patience => {
            name.into()
        }
    }
}

/// Returns a figure of each point of a contender's curve, with its band.
pub fn points(contender: &ContenderAnalysis, metric: Metric) -> Vec<ChartPoint> {
    let mut points = Vec::new();
    for point in &contender.curve {
        let figure = point.figure(metric);
        let band = figure.filter(|f| f.low < f.high);
        let y = figure.map(|f| f.value);
        points.push(ChartPoint {
            x: point.load,
            y,
            low: band.map(|f| f.low),
            high: band.map(|f| f.high),
        });
    }
    points
}

/// Returns the kind of a band, in words.
fn band_name(band: Band) -> Text {
    match band {
        Band::One => text!("chart-label.one-value"),
        Band::Range => text!("chart-label.range"),
        Band::Model | Band::WithinRun | Band::Repetitions => text!("chart-label.interval"),
    }
}

/// Returns the label of an axis, with the kind of the bands: `p99, shaded: 95 % CI`.
pub(super) fn with_band(label: Text, analysis: &Analysis, metric: Metric) -> Text {
    let points = analysis.contenders.iter().flat_map(|contender| &contender.curve);
    let figures = points.filter_map(|point| point.figure(metric));
    let mut names: Vec<Text> = figures
        .filter(|figure| figure.low < figure.high)
        .map(|figure| band_name(figure.band))
        .collect();
    names.sort_by(|a, b| a.cmp(b));
    // Loads may have different bands, for instance if only some were repeated.
    names.dedup();
    if names.is_empty() {
        label
    } else {
        text!("chart-label.with-band", label, bands = Value::Words(names))
    }
}

/// Returns the line on which throughput equals the offered load.
fn diagonal(analysis: &Analysis) -> ChartLine {
    let mut loads: Vec<f64> =
        analysis.contenders.iter().flat_map(|c| &c.curve).map(|p| p.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let points = loads
        .iter()
        .map(|load| ChartPoint { x: *load, y: Some(*load), ..ChartPoint::default() })
        .collect();
    ChartLine { name: text!("chart-label.offered"), contender: None, dash: 3, points }
}

/// Returns marks for the limits of some kinds, as far as they are loads. A saturation point is a
/// throughput; in an open loop it is also a load.
pub(super) fn marks<'a>(
    study: &'a Study,
    analysis: &'a Analysis,
    is_selected: impl Fn(LimitKind) -> bool + Copy + 'a,
) -> impl Iterator<Item = HighlightedValue> + 'a {
    let is_open = axis(study).unit == ChartUnit::PerSecond;
    analysis.contenders.iter().enumerate().flat_map(move |(i, contender)| {
        contender
            .limits
            .iter()
            .filter(move |limit| is_load(limit.kind, is_open) && is_selected(limit.kind))
            .filter_map(move |limit| {
                let name =
                    line_name(study, &contender.contender, limit_name(limit.kind, &limit.name));
                let x = limit.at?.value;
                Some(HighlightedValue { x, until: None, name, contender: Some(i) })
            })
    })
}

fn is_load(kind: LimitKind, is_open: bool) -> bool {
    match kind {
        LimitKind::Knee | LimitKind::Asymptotes | LimitKind::Objective => true,
        LimitKind::Saturation => is_open,
        LimitKind::Kept | LimitKind::Patience => false,
    }
}
