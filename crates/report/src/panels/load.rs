//! Charts over the load of a sweep: what was achieved, how long it took, what went wrong.

use crate::figure::{Axis, Figure, Line, Mark, Point, Scale, Unit};
use crate::single;
use crate::study::load_of;
use brunt_model::analysis::{Band, BandedFigure, ContenderAnalysis, CurvePoint, LimitKind};
use brunt_model::{Analysis, LoadUnit, Study, Trial};

/// From this ratio of the highest load to the lowest on, the axis goes by powers of ten.
const WIDE: f64 = 100.0;

/// A figure of a point of the curve, and what its line is called.
type Series = (&'static str, fn(&CurvePoint) -> Option<BandedFigure>);

/// What was achieved, beside what was offered.
pub fn throughput(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let mut figure = over_load(study, analysis, "throughput", "Throughput", &[("", |p| Some(p.achieved))]);
    let label = with_band("completed", analysis, |p| Some(p.achieved));
    figure.y = Axis { label, unit: Unit::PerSecond, scale: Scale::Linear };
    if figure.x.unit == Unit::PerSecond {
        figure.lines.push(diagonal(analysis));
    }
    figure.marks.extend(marks(study, analysis, |kind| kind != LimitKind::Objective));
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

/// The share of errors.
pub fn errors(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let mut figure = over_load(study, analysis, "errors", "Errors", &[("", |p| p.errors)]);
    figure.y = Axis { label: "share of requests".into(), unit: Unit::Share, scale: Scale::Linear };
    vec![figure]
}

/// Throughput of each repetition, where a study varies no load.
pub fn throughput_of_repetitions(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let Some(mut figure) = over_repetitions(study, analysis, "throughput", "Throughput", |p| Some(p.achieved)) else {
        return Vec::new();
    };
    figure.y = Axis { label: "completed".into(), unit: Unit::PerSecond, scale: Scale::Linear };
    vec![figure]
}

/// Chart of a value by repetition: for each contender a line of its trials, and a line of their median with its band. None if
/// the study has several loads. The caller sets the y axis.
pub(super) fn over_repetitions(
    study: &Study,
    analysis: &Analysis,
    id: &str,
    title: &str,
    value: fn(&CurvePoint) -> Option<BandedFigure>,
) -> Option<Figure> {
    let contenders = &study.experiment.contenders;
    let varies = (0..contenders.len()).any(|contender| {
        let mut loads = study.of(contender).map(|trial| of(study, trial));
        loads.next().is_some_and(|first| loads.any(|load| load != first))
    });
    if varies {
        return None;
    }
    let mut lines = Vec::new();
    for (i, contender) in contenders.iter().enumerate() {
        let whole = study.of(i).filter(|trial| !trial.run.interrupted());
        let mut points: Vec<Point> = whole
            .map(|trial| Point {
                x: f64::from(trial.place.repetition + 1),
                y: value(&single::point(&trial.run)).map(|figure| figure.value),
                ..Point::default()
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let ends = points.first().zip(points.last()).map(|(first, last)| [first.x, last.x]);
        let all = analysis.contenders.get(i).and_then(|found| found.curve.first()).and_then(value);
        lines.push(line(study, i, 0, contender.name.clone(), points));
        if let (Some(ends), Some(all)) = (ends, all.filter(|all| all.band != Band::One)) {
            let name = line_name(study, &contender.name, &format!("median ({})", band_name(all.band)));
            let points = ends.map(|x| Point { x, y: Some(all.value), low: Some(all.low), high: Some(all.high) });
            lines.push(line(study, i, 1, name, points.into()));
        }
    }
    Some(Figure {
        id: format!("repetition-{id}"),
        title: format!("{title} by repetition"),
        group: "repetition".into(),
        x: Axis { label: "repetition".into(), ..Axis::default() },
        lines,
        ..Figure::default()
    })
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

pub(super) fn over_load(study: &Study, analysis: &Analysis, id: &str, title: &str, series: &[Series]) -> Figure {
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

/// The kind of a band, in words.
fn band_name(band: Band) -> &'static str {
    match band {
        Band::One => "one value",
        Band::Range => "range",
        Band::Model | Band::WithinRun | Band::Repetitions => "95 % CI",
    }
}

/// The label of an axis, with the kind of the bands of its figure: `p99, shaded: 95 % CI`.
pub(super) fn with_band(label: &str, analysis: &Analysis, of: fn(&CurvePoint) -> Option<BandedFigure>) -> String {
    let figures = analysis.contenders.iter().flat_map(|found| &found.curve).filter_map(of);
    let mut names: Vec<&str> =
        figures.filter(|figure| figure.low < figure.high).map(|figure| band_name(figure.band)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { label.to_owned() } else { format!("{label}, shaded: {}", names.join(" or ")) }
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
pub(super) fn marks<'a>(
    study: &'a Study,
    analysis: &'a Analysis,
    wanted: impl Fn(LimitKind) -> bool + Copy + 'a,
) -> impl Iterator<Item = Mark> + 'a {
    let open = axis(study).unit == Unit::PerSecond;
    let shown = move |kind| match kind {
        LimitKind::Knee | LimitKind::Asymptotes | LimitKind::Objective => wanted(kind),
        LimitKind::Saturation => open && wanted(kind),
        LimitKind::Kept | LimitKind::Patience => false,
    };
    analysis.contenders.iter().enumerate().flat_map(move |(i, analysed)| {
        analysed.limits.iter().filter(move |limit| shown(limit.kind)).filter_map(move |limit| {
            let name = line_name(study, &analysed.contender, &limit.name);
            Some(Mark { x: limit.at?.value, name, contender: Some(i) })
        })
    })
}
