//! Makes the charts over the time of one trial: its requests and, on the same axis, its readings.

use super::{chosen, heat, load, outcomes, p99, readings, words};
use crate::agents::AgentFigures;
use crate::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit, HighlightedValue};
use crate::intervals::{self, Merged};
use crate::readings::ValueSpan;
use crate::result::{self, IntervalRow};
use crate::texts::message;
use brunt_model::numbers;
use brunt_model::{Analysis, Judgement, Load, Phase, Run, Study, Text, Tick, Trial, text};

/// Maximum number of marks in a chart. Each has a line of text.
const MOST_MARKS: usize = 3;

/// Minimum duration of a span without replies that is shaded.
const MIN_GAP_SECONDS: f64 = 1.0;
/// Minimum number of replies that such a span would have had at the mean throughput.
const MIN_GAP_REPLIES: f64 = 20.0;

/// A line of a chart over time.
struct TimeLine {
    /// Message with its name.
    name: &'static str,
    value: IntervalValue,
}

/// Source of a line's values.
enum IntervalValue {
    /// Counts and percentiles. Those of merged intervals come from their sums and histograms.
    Sum(fn(&IntervalRow) -> Option<f64>),
    /// The same of arrivals, which only an open loop has.
    Arrivals(fn(&IntervalRow) -> Option<f64>),
    /// The state at the end of an interval.
    State(fn(&IntervalRow) -> u64),
}

use IntervalValue::{Arrivals, State, Sum};

/// A chart of the series of a run.
struct TimeChart {
    id: &'static str,
    /// Message with its title.
    title: &'static str,
    /// Message with the label of the y axis, its unit and scale.
    y: (&'static str, ChartUnit, AxisScale),
    lines: &'static [TimeLine],
}

const fn line_of(name: &'static str, value: IntervalValue) -> TimeLine {
    TimeLine { name, value }
}

/// The charts of requests over time.
const TIME_CHARTS: &[TimeChart] = &[
    TimeChart {
        id: "throughput",
        title: "chart.throughput",
        y: ("chart-label.requests", ChartUnit::PerSecond, AxisScale::Linear),
        lines: &[
            line_of("chart-label.completed", Sum(|i| Some(i.throughput_per_second))),
            line_of("chart-label.planned", Arrivals(|i| per_second(i, i.planned))),
        ],
    },
    TimeChart {
        id: "response",
        title: "chart.response-time",
        y: ("chart-label.response-time", ChartUnit::Seconds, AxisScale::Log),
        lines: &[
            line_of("chart-label.p50", Sum(|i| i.response_p50_seconds)),
            line_of("chart-label.p99", Sum(|i| i.response_p99_seconds)),
            line_of("chart-label.max", Sum(|i| i.response_max_seconds)),
        ],
    },
    TimeChart {
        id: "errors",
        title: "chart.errors",
        y: ("chart-label.errors", ChartUnit::PerSecond, AxisScale::Linear),
        lines: &[line_of("chart-label.errors", Sum(|i| per_second(i, i.errors)))],
    },
    TimeChart {
        id: "under-way",
        title: "chart.in-flight",
        y: ("chart-label.requests-connections", ChartUnit::Count, AxisScale::Linear),
        lines: &[
            line_of("chart-label.in-flight", State(|i| i.in_flight)),
            line_of("chart-label.connections", State(|i| i.connections)),
            line_of("chart-label.waiting", State(|i| i.waiting)),
        ],
    },
];

/// Returns the figures of the chosen trials.
pub fn of_chosen(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let mut charts = Vec::new();
    for index in chosen(study, analysis) {
        let Some(trial) = study.trials.get(index) else { continue };
        let name = (study.trials.len() > 1).then(|| words::trial(study, trial));
        let all = of_trial(study, index).into_iter();
        charts.extend(all.map(|chart| titled(chart, name.as_ref())));
    }
    charts
}

/// Returns the figures of one trial, by its index in the study: its requests, a heat map and a histogram of
/// response times, and its readings. All but the histogram have the same time axis, and titles without the time and
/// the trial. Empty ones are omitted.
pub fn of_trial(study: &Study, index: usize) -> Vec<Chart> {
    let Some(trial) = study.trials.get(index) else { return Vec::new() };
    let run = &trial.run;
    let recorded: Vec<IntervalRow> =
        result::intervals(run, intervals::recorded(run).into_iter()).collect();
    let merged = intervals::of_run(run);
    let mut all: Vec<Chart> =
        TIME_CHARTS.iter().map(|chart| of_chart(chart, run, &recorded, &merged)).collect();
    // In the order of the charts over the load: throughput, p99, response.
    all.insert(1, p99::over_time(run, &trial.judgement));
    let in_flight = all.len() - 1;
    all.splice(
        in_flight..in_flight,
        [outcomes::statuses(run, &merged), outcomes::passed_checks(run, &merged)],
    );
    all.push(heat::of(run, &merged));
    all.extend(readings::by_time(run).into_iter().map(of_readings));
    let end = recorded.last().map_or(0.0, |i| i.to_seconds);
    all.into_iter()
        .map(|figure| within(figure, end))
        .chain([outcomes::histogram(run)])
        .map(|figure| named_after_trial(figure, study, trial, index))
        .filter_map(super::shown)
        .collect()
}

fn of_readings(chart: readings::ReadingChart) -> Chart {
    let (names, spans): (Vec<Text>, Vec<Vec<ValueSpan>>) = chart.tracks.into_iter().unzip();
    let merged: Vec<Merged<ChartPoint>> =
        spans.iter().map(|spans| intervals::of_spans(spans)).collect();
    // Sources are read at different intervals, so the label names the widest.
    let x = axis_with_ranges(merged.iter().filter_map(|line| line.width).reduce(f64::max));
    let lines = names.into_iter().zip(merged).enumerate();
    let lines = lines.map(|(i, (name, merged))| line(name, i, merged.points)).collect();
    Chart { id: chart.id, title: chart.title, x, y: chart.y, lines, ..Chart::default() }
}

/// Adds the time, and the name of the trial if there are several, to the title of a figure.
fn titled(figure: Chart, trial: Option<&Text>) -> Chart {
    let title = match trial {
        Some(trial) if figure.is_histogram => {
            message!("chart.of-trial", title = figure.title, trial = trial.clone())
        }
        None if figure.is_histogram => figure.title,
        Some(trial) => {
            message!("chart.over-time-of-trial", title = figure.title, trial = trial.clone())
        }
        None => message!("chart.over-time", title = figure.title),
    };
    Chart { title, ..figure }
}

/// Adds the trial to the id and the group of a figure.
fn named_after_trial(figure: Chart, study: &Study, trial: &Trial, index: usize) -> Chart {
    let name = words::slug(&format!("{} {}", load::of(study, trial), trial.place.repetition + 1));
    let id = if study.trials.len() == 1 {
        figure.id
    } else {
        format!("{}-c{}-{name}", figure.id, trial.place.contender + 1)
    };
    // The axis of a histogram is no time, so that it does not zoom with the others.
    let (id, group) = if figure.is_histogram {
        (id, format!("histogram-{index}"))
    } else {
        (format!("time-{id}"), format!("time-{index}"))
    };
    Chart { id, group, trial: Some(index), ..figure }
}

/// Removes readings after the last interval, which would make the axis longer than the run.
fn within(mut figure: Chart, end: f64) -> Chart {
    if end > 0.0 {
        figure.lines.iter_mut().for_each(|line| line.points.retain(|point| point.x <= end));
    }
    figure
}

/// Returns the time axis. Its label has the width of merged intervals.
pub(super) fn axis(width: Option<f64>) -> Axis {
    let label = match width {
        Some(width) => text!("chart-label.merged-time", width = numbers::span(width)),
        None => text!("chart-label.time"),
    };
    Axis { label, unit: ChartUnit::Seconds, scale: AxisScale::Linear }
}

/// Returns the time axis of lines with a band from the lowest to the highest merged value.
fn axis_with_ranges(width: Option<f64>) -> Axis {
    let mut axis = axis(width);
    if width.is_some() {
        axis.label = text!("chart-label.with-range", label = axis.label);
    }
    axis
}

fn of_chart(
    chart: &TimeChart,
    run: &Run,
    recorded: &[IntervalRow],
    merged: &Merged<brunt_model::series::SeriesPoint>,
) -> Chart {
    let intervals: Vec<IntervalRow> =
        result::intervals(run, merged.points.iter().cloned()).collect();
    // In a closed loop, each reply is followed by the next planned request.
    let mut populations = run.plan.iter().flat_map(|plan| &plan.populations);
    let is_open = populations.any(|population| matches!(population.load, Load::Open { .. }));
    let rows = chart.lines.iter().filter(|row| is_open || !matches!(row.value, Arrivals(_)));
    let lines = rows
        .enumerate()
        .map(|(i, row)| line(text!(row.name), i, points_of(&row.value, recorded, &intervals)));
    let has_states = chart.lines.iter().any(|row| matches!(row.value, State(_)));
    let x = if has_states { axis_with_ranges(merged.width) } else { axis(merged.width) };
    let (label, unit, scale) = chart.y;
    Chart {
        id: chart.id.into(),
        title: message!(chart.title),
        x,
        y: Axis { label: text!(label), unit, scale },
        lines: lines.collect(),
        marks: marks(run),
        ..Chart::default()
    }
}

/// Returns the marks of the user, and shaded spans: those without an agent that was lost, and those without replies. Of
/// many, only the first ones are shown.
fn marks(run: &Run) -> Vec<HighlightedValue> {
    let start = run.phase_start(Phase::Measure).unwrap_or_default();
    let end = run.last_interval_end.seconds_from(start);
    let agents = AgentFigures::all(run, &Judgement::default());
    let lost = agents.iter().filter_map(|agent| {
        let until = agent.replaced_at().unwrap_or(end);
        let name = text!("chart-label.lost", agent = agent.name());
        Some(HighlightedValue { x: agent.lost_at()?, until: Some(until), name, contender: None })
    });
    let by_user = run.marks.iter().map(|mark| HighlightedValue {
        x: mark.at.seconds_from(start),
        until: None,
        name: mark.text.as_str().into(),
        contender: None,
    });
    let mut marks: Vec<HighlightedValue> = lost.chain(by_user).chain(gaps(run, start)).collect();
    marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    marks.truncate(MOST_MARKS);
    marks
}

/// Returns the spans without a reply, if they are much longer than the usual time between replies.
fn gaps(run: &Run, start: Tick) -> Vec<HighlightedValue> {
    let loaded =
        run.series.points().filter(|point| matches!(point.phase, Phase::Warmup | Phase::Measure));
    let points: Vec<(Tick, Tick, u64)> =
        loaded.map(|point| (point.from, point.to, point.flow.completed)).collect();
    let seconds: f64 = points.iter().map(|(from, to, _)| to.seconds_since(*from)).sum();
    let replies: u64 = points.iter().map(|point| point.2).sum();
    // Without any reply, no span differs from the others.
    let least = MIN_GAP_SECONDS.max(MIN_GAP_REPLIES * seconds / replies as f64);
    let spans = points.chunk_by(|a, b| (a.2 == 0) == (b.2 == 0)).filter(|span| span[0].2 == 0);
    // A single interval may be as short as the time between two replies.
    let spans = spans.filter(|span| span.len() > 1);
    let spans = spans.filter_map(|span| Some((span.first()?.0, span.last()?.1)));
    let gaps = spans.filter(|(from, to)| to.seconds_since(*from) >= least);
    gaps.map(|(from, to)| HighlightedValue {
        x: from.seconds_from(start),
        until: Some(to.seconds_from(start)),
        name: text!("chart-label.no-replies"),
        contender: None,
    })
    .collect()
}

/// Returns the points of a line: sums from the merged intervals, states from the recorded ones.
fn points_of(
    value: &IntervalValue,
    recorded: &[IntervalRow],
    merged: &[IntervalRow],
) -> Vec<ChartPoint> {
    match value {
        Sum(value) | Arrivals(value) => merged
            .iter()
            .map(|i| ChartPoint { x: middle(i), y: value(i), ..ChartPoint::default() })
            .collect(),
        State(value) => {
            // The merged interval would have only the last state; the band shows the lowest and the
            // highest.
            let spans = recorded.iter().map(|i| ValueSpan {
                from: i.from_seconds,
                to: i.to_seconds,
                value: value(i) as f64,
            });
            intervals::of_spans(&spans.collect::<Vec<_>>()).points
        }
    }
}

fn middle(interval: &IntervalRow) -> f64 {
    f64::midpoint(interval.from_seconds, interval.to_seconds)
}

fn per_second(interval: &IntervalRow, n: u64) -> Option<f64> {
    let seconds = interval.to_seconds - interval.from_seconds;
    (seconds > 0.0).then(|| n as f64 / seconds)
}

/// Creates a line. There are eight colors, so every further eight lines have other dashes.
fn line(name: Text, index: usize, points: Vec<ChartPoint>) -> ChartLine {
    ChartLine { name, contender: None, dash: (index / 8) as u8, points }
}
