//! Charts over the load of a sweep: what was achieved, how long it took, what went wrong.

use crate::figure::{Axis, Figure, Line, Mark, Point, Scale, Unit};
use crate::study::load_of;
use brunt_model::analysis::{BandedFigure, ContenderAnalysis, CurvePoint, LimitKind};
use brunt_model::{Analysis, LoadUnit, Study, Trial};

/// From this ratio of the highest load to the lowest on, the axis goes by powers of ten.
const WIDE: f64 = 100.0;

/// A figure of a point of the curve, and what its line is called.
type Series = (&'static str, fn(&CurvePoint) -> Option<BandedFigure>);

/// What was achieved, beside what was offered.
pub fn throughput(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let mut figure = over_load(study, analysis, "throughput", "Throughput", &[("", |p| Some(p.achieved))]);
    figure.y = Axis { label: "completed".into(), unit: Unit::PerSecond, scale: Scale::Linear };
    if figure.x.unit == Unit::PerSecond {
        figure.lines.push(diagonal(analysis));
    }
    figure.marks.extend(marks(study, analysis, |_| true));
    vec![figure]
}

/// Percentiles of the response time.
pub fn response(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let mut figure = over_load(
        study,
        analysis,
        "response",
        "Response time",
        &[("p50", |p| p.p50), ("p95", |p| p.p95), ("p99", |p| p.p99)],
    );
    if figure.is_empty() {
        let means = over_load(study, analysis, "response", "Response time", &[("mean", |p| p.mean)]);
        figure.lines = means.lines;
    }
    figure.y = Axis { label: "response time".into(), unit: Unit::Seconds, scale: Scale::Log };
    figure.marks.extend(marks(study, analysis, |kind| kind == LimitKind::Knee));
    vec![figure]
}

/// The share of errors; none where there never was one.
pub fn errors(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let mut figure = over_load(study, analysis, "errors", "Errors", &[("", |p| p.errors)]);
    figure.y = Axis { label: "share of requests".into(), unit: Unit::Share, scale: Scale::Linear };
    let any = figure.lines.iter().flat_map(Line::known).any(|point| point.1 > 0.0);
    if any { vec![figure] } else { Vec::new() }
}

/// A trial's load.
pub fn of(study: &Study, trial: &Trial) -> f64 {
    load_of(&study.experiment, trial)
}

/// The x axis of all charts over the load.
pub fn axis(study: &Study) -> Axis {
    let contenders = &study.experiment.contenders;
    let users = contenders.first().is_some_and(|c| matches!(c.unit(), LoadUnit::Users { .. }));
    let loads = || contenders.iter().flat_map(|c| &c.steps).map(|step| step.load);
    let (low, high) = (loads().fold(f64::INFINITY, f64::min), loads().fold(0.0, f64::max));
    let (label, unit) = if users { ("virtual users", Unit::Users) } else { ("offered", Unit::PerSecond) };
    let scale = if low > 0.0 && high / low >= WIDE { Scale::Log } else { Scale::Linear };
    Axis { label: label.into(), unit, scale }
}

/// `nginx p99`, or the one of them that says something.
pub fn line_name(study: &Study, contender: &str, series: &str) -> String {
    match (study.experiment.contenders.len(), series) {
        (_, "") => contender.into(),
        (0 | 1, series) => series.into(),
        _ => format!("{contender} {series}"),
    }
}

/// The n-th line of a contender: lines of several differ in colour by contender and in dashes by n, those of a single one
/// in colour.
pub fn line(study: &Study, contender: usize, n: usize, name: String, points: Vec<Point>) -> Line {
    match study.experiment.contenders.len() {
        0 | 1 => Line { name, contender: None, dash: 0, points },
        _ => Line { name, contender: Some(contender), dash: n as u8, points },
    }
}

fn over_load(study: &Study, analysis: &Analysis, id: &str, title: &str, series: &[Series]) -> Figure {
    let lines = analysis.contenders.iter().enumerate().flat_map(|(i, analysed)| {
        series.iter().enumerate().map(move |(n, (name, of))| {
            line(study, i, n, line_name(study, &analysed.contender, name), points(analysed, *of))
        })
    });
    let (group, x) = ("load".into(), axis(study));
    Figure { id: id.into(), title: format!("{title} over load"), group, x, lines: lines.collect(), ..Figure::default() }
}

/// A figure of each point of a contender's curve, with its band.
pub fn points(analysed: &ContenderAnalysis, of: fn(&CurvePoint) -> Option<BandedFigure>) -> Vec<Point> {
    let point = |p: &CurvePoint| {
        let figure = of(p);
        let band = figure.filter(|f| f.low < f.high);
        Point { x: p.load, y: figure.map(|f| f.value), low: band.map(|f| f.low), high: band.map(|f| f.high) }
    };
    analysed.curve.iter().map(point).collect()
}

/// Where everything offered would be achieved.
fn diagonal(analysis: &Analysis) -> Line {
    let mut loads: Vec<f64> = analysis.contenders.iter().flat_map(|c| &c.curve).map(|p| p.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let point = |x: &f64| Point { x: *x, y: Some(*x), ..Point::default() };
    Line { name: "offered".into(), contender: None, dash: 3, points: loads.iter().map(point).collect() }
}

/// The limits of some kinds, as far as they are loads: the saturation point is a throughput, and of an open loop a load as well.
fn marks<'a>(
    study: &'a Study,
    analysis: &'a Analysis,
    wanted: impl Fn(LimitKind) -> bool + Copy + 'a,
) -> impl Iterator<Item = Mark> + 'a {
    let open = axis(study).unit == Unit::PerSecond;
    let shown = move |kind| match kind {
        LimitKind::Knee | LimitKind::Asymptotes => wanted(kind),
        LimitKind::Saturation => open && wanted(kind),
        LimitKind::Kept | LimitKind::Objective | LimitKind::Patience => false,
    };
    analysis.contenders.iter().enumerate().flat_map(move |(i, analysed)| {
        analysed.limits.iter().filter(move |limit| shown(limit.kind)).filter_map(move |limit| {
            let name = line_name(study, &analysed.contender, &limit.name);
            Some(Mark { x: limit.at?.value, name, contender: Some(i) })
        })
    })
}
