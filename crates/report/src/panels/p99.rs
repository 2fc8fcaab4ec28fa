//! Makes the charts of p99 of the response time with its interval: over load, repetitions, and the
//! time of a run. Other response times have the same charts, if contenders are compared by them.

use super::load::{self, id_of};
use super::time;
use crate::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit};
use crate::figures::{enough, known_quantile, with_both_ends};
use crate::intervals;
use crate::texts::message;
use brunt_model::analysis::LimitKind;
use brunt_model::objective::Metric;
use brunt_model::{Analysis, Judgement, Objective, Plan, Run, Study, Text, text};

const Q: f64 = 0.99;
pub(super) const P99: Metric = Metric::Quantile(Q);
/// Minimum number of response times in an interval. With fewer, p99 is the maximum.
const MIN_RESPONSES: u64 = 100;
/// Ratio of the highest to the lowest value from which the axis is logarithmic.
const MIN_LOG_RATIO: f64 = 100.0;

/// Returns p99 at each load with its interval, and the objective.
pub fn over_load(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    vec![figure_over_load(study, analysis, P99)]
}

/// Returns p99 of each repetition, and of all of them with its interval, if the study
/// has a single load.
pub fn over_repetitions(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    figure_over_repetitions(study, analysis, P99).into_iter().collect()
}

/// Returns a response time at each load with its interval, and the objective.
pub fn figure_over_load(study: &Study, analysis: &Analysis, time: Metric) -> Chart {
    let series = [(Text::default(), time)];
    let mut figure = load::over_load(study, analysis, &id_of(time), title_of(time), &series);
    figure.marks.extend(load::marks(study, analysis, |kind| kind == LimitKind::Objective));
    let plan = study
        .experiment
        .contenders
        .first()
        .and_then(|contender| contender.steps.first())
        .map(|step| &step.plan);
    let label = load::with_band(time.words(), analysis, time);
    finish(figure, plan, label, time)
}

/// Returns a response time of each repetition, and of all of them with its interval. None if the
/// study has several loads.
pub fn figure_over_repetitions(study: &Study, analysis: &Analysis, time: Metric) -> Option<Chart> {
    let figure = load::over_repetitions(study, analysis, title_of(time), time)?;
    let plan = study.trials.first().and_then(|trial| trial.run.plan.as_ref());
    Some(finish(figure, plan, time.words(), time))
}

/// Returns p99 over the time of a run, and that of the whole run with its interval.
pub fn over_time(run: &Run, judgement: &Judgement) -> Chart {
    let mut figure = Chart { title: title_of(P99), id: id_of(P99), ..Chart::default() };
    let Some(merged) = intervals::with_responses(run, MIN_RESPONSES) else { return figure };
    let counts: Vec<u64> = merged.points.iter().map(|point| point.response.count()).collect();
    let intervals = crate::result::intervals(run, merged.points.into_iter());
    let points = intervals.zip(counts).map(|(interval, count)| ChartPoint {
        x: f64::midpoint(interval.from_seconds, interval.to_seconds),
        // With fewer values, p99 is the maximum of the interval and would draw peaks that are not
        // there.
        y: interval.response_p99_seconds.filter(|_| enough(Q, count)),
        ..ChartPoint::default()
    });
    let points: Vec<ChartPoint> = points.collect();
    figure.x = time::axis(merged.width);
    let ends = points.first().zip(points.last()).map(|(first, last)| [first.x, last.x]);
    figure.lines.push(ChartLine { name: "p99".into(), points, ..ChartLine::default() });
    figure.lines.extend(ends.and_then(|ends| of_whole_run(run, judgement, ends)));
    finish(figure, run.plan.as_ref(), "p99".into(), P99)
}

/// Returns p99 of the measured time as a horizontal line, with its interval if it is known.
fn of_whole_run(run: &Run, judgement: &Judgement, ends: [f64; 2]) -> Option<ChartLine> {
    let interval = with_both_ends(run, judgement, Q);
    // A lower bound would be drawn as an exact value.
    let exact = known_quantile(&run.total, Q).filter(|q| !q.at_least)?.value as f64 / 1e9;
    let points = ends.map(|x| ChartPoint {
        x,
        y: Some(exact),
        low: interval.map(|(_, (low, _))| low),
        high: interval.map(|(_, (_, high))| high),
    });
    let name = match interval {
        Some(_) => text!("chart-label.whole-run-with-interval"),
        None => text!("chart-label.whole-run"),
    };
    Some(ChartLine { name, dash: 1, points: points.into(), ..ChartLine::default() })
}

fn title_of(time: Metric) -> Text {
    message!("chart.of-response-time", figure = time.words())
}

/// Adds the objective as a horizontal line, and chooses the y axis.
fn finish(mut figure: Chart, plan: Option<&Plan>, label: Text, metric: Metric) -> Chart {
    let values: Vec<(f64, f64)> = figure.lines.iter().flat_map(ChartLine::known).collect();
    let ends = ends_of(values.iter().map(|point| point.0));
    let objective =
        plan.and_then(|plan| plan.objectives.iter().find(|objective| is_of(objective, metric)));
    if let Some(objective) = objective.filter(|_| ends[0] < ends[1]) {
        let points =
            ends.map(|x| ChartPoint { x, y: Some(objective.bound), ..ChartPoint::default() });
        let name = text!("chart-label.objective", objective = objective.to_string());
        figure.lines.push(ChartLine {
            name,
            dash: 3,
            points: points.into(),
            ..ChartLine::default()
        });
    }
    let bound = objective.map(|objective| objective.bound);
    // A logarithm exists only above 0.
    let range = ends_of(values.iter().map(|point| point.1).chain(bound).filter(|y| *y > 0.0));
    let scale =
        if range[1] / range[0] >= MIN_LOG_RATIO { AxisScale::Log } else { AxisScale::Linear };
    figure.y = Axis { label, unit: ChartUnit::Seconds, scale };
    figure
}

/// Returns the lowest and the highest value.
fn ends_of(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    [values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max)]
}

/// True if an objective bounds a figure of all requests.
fn is_of(objective: &Objective, metric: Metric) -> bool {
    objective.metric.is_same(metric) && objective.step.is_none()
}
