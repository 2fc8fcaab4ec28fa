//! Charts over the time of one trial: the requests, and on the same axis what was read meanwhile.

use super::{chosen, heat, load, readings, words};
use crate::figure::{Axis, Figure, Line, Point, Scale, Unit};
use crate::readings::Span;
use crate::result::{Interval, series};
use brunt_model::{Analysis, Study, Trial};

/// An interval's figure, and what its line is called.
type Series = (&'static str, fn(&Interval) -> Option<f64>);

/// A chart of the series of a run.
struct TimeChart {
    id: &'static str,
    title: &'static str,
    y: (&'static str, Unit, Scale),
    series: &'static [Series],
}

/// The charts of requests over time.
const TIME_CHARTS: &[TimeChart] = &[
    TimeChart {
        id: "throughput",
        title: "Throughput",
        y: ("requests", Unit::PerSecond, Scale::Linear),
        series: &[("completed", |i| Some(i.throughput_per_second)), ("planned", |i| per_second(i, i.planned))],
    },
    TimeChart {
        id: "response",
        title: "Response time",
        y: ("response time", Unit::Seconds, Scale::Log),
        series: &[
            ("p50", |i| i.response_p50_seconds),
            ("p99", |i| i.response_p99_seconds),
            ("max", |i| i.response_max_seconds),
        ],
    },
    TimeChart {
        id: "errors",
        title: "Errors",
        y: ("errors", Unit::PerSecond, Scale::Linear),
        series: &[("errors", |i| per_second(i, i.errors))],
    },
    TimeChart {
        id: "under-way",
        title: "Requests under way, and connections",
        y: ("requests, connections", Unit::Count, Scale::Linear),
        series: &[
            ("under way", |i| Some(i.in_flight as f64)),
            ("connections", |i| Some(i.connections as f64)),
            ("waiting", |i| (i.waiting > 0).then_some(i.waiting as f64)),
        ],
    },
];

/// The figures of the trials that are worth a look.
pub fn of_chosen(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    chosen(study, analysis).into_iter().flat_map(|index| of_trial(study, index)).collect()
}

/// The figures of one trial, by its index in the study: its requests, a heat map of their response time, and what was
/// read meanwhile, all over the same time. Empty ones are left out.
pub fn of_trial(study: &Study, index: usize) -> Vec<Figure> {
    let Some(trial) = study.trials.get(index) else { return Vec::new() };
    let intervals: Vec<Interval> = series(&trial.run).collect();
    let mut all: Vec<Figure> = TIME_CHARTS.iter().map(|chart| of_chart(chart, &intervals)).collect();
    all.push(heat::of(&trial.run));
    all.extend(readings::by_time(&trial.run).into_iter().map(|(id, title, y, tracks)| {
        let lines = tracks.into_iter().enumerate().map(|(i, (name, spans))| line(name, i, course_of(&spans)));
        Figure { id, title, y, lines: lines.collect(), ..Figure::default() }
    }));
    let whose = words::trial(study, trial);
    let end = intervals.last().map_or(0.0, |i| i.to_seconds);
    let placed = all.into_iter().map(|figure| placed(figure, study, trial, index, &whose));
    placed.map(|figure| within(figure, end)).filter(|figure| !figure.is_empty()).map(words::told).collect()
}

fn placed(figure: Figure, study: &Study, trial: &Trial, index: usize, whose: &str) -> Figure {
    let alone = study.trials.len() == 1;
    let name = words::slug(&format!("{} {}", load::of(study, trial), trial.place.repetition + 1));
    let id = if alone { figure.id } else { format!("{}-c{}-{name}", figure.id, trial.place.contender + 1) };
    Figure {
        id: format!("time-{id}"),
        title: if alone {
            format!("{} over time", figure.title)
        } else {
            format!("{} over time: {whose}", figure.title)
        },
        group: format!("time-{index}"),
        trial: Some(index),
        x: Axis { label: "time since the measured time began".into(), unit: Unit::Seconds, scale: Scale::Linear },
        ..figure
    }
}

/// What was read after the last interval would make the axis longer than the run.
fn within(mut figure: Figure, end: f64) -> Figure {
    if end > 0.0 {
        figure.lines.iter_mut().for_each(|line| line.points.retain(|point| point.x <= end));
    }
    figure
}

fn of_chart(chart: &TimeChart, intervals: &[Interval]) -> Figure {
    let middle = |i: &Interval| f64::midpoint(i.from_seconds, i.to_seconds);
    let points = |of: fn(&Interval) -> Option<f64>| {
        let point = |i: &Interval| Point { x: middle(i), y: of(i), ..Point::default() };
        intervals.iter().map(point).collect::<Vec<_>>()
    };
    let lines = chart.series.iter().enumerate().map(|(i, (name, of))| line((*name).into(), i, points(*of)));
    let any = |line: &Line| line.known().any(|point| point.1 != 0.0);
    let lines = lines.filter(any).collect();
    let (label, unit, scale) = chart.y;
    let y = Axis { label: label.into(), unit, scale };
    Figure { id: chart.id.into(), title: chart.title.into(), y, lines, ..Figure::default() }
}

fn per_second(interval: &Interval, n: u64) -> Option<f64> {
    let seconds = interval.to_seconds - interval.from_seconds;
    (seconds > 0.0).then(|| n as f64 / seconds)
}

fn line(name: String, index: usize, points: Vec<Point>) -> Line {
    Line { name, contender: None, dash: (index / 8) as u8, points }
}

fn course_of(spans: &[Span]) -> Vec<Point> {
    spans.iter().map(|span| Point { x: span.at(), y: Some(span.value), ..Point::default() }).collect()
}
