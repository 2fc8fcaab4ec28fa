//! Makes the charts of the replies of a run: status codes and passed checks over time, and the
//! histogram of response times.

use super::time;
use crate::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit};
use crate::intervals::Merged;
use crate::texts::message;
use brunt_model::outcome::status_text;
use brunt_model::series::SeriesPoint;
use brunt_model::tally::Statuses;
use brunt_model::{Phase, Run, Text, text};

/// Maximum number of status codes with a line of their own: the number of colors.
const MOST_STATUSES: usize = 8;
/// Number of bars of a histogram for each power of ten.
const BARS_PER_DECADE: f64 = 20.0;

/// Returns the replies per second of each status code.
pub fn statuses(run: &Run, points: &Merged<SeriesPoint>) -> Chart {
    let mut all = Statuses::default();
    for (status, count) in points.points.iter().flat_map(|point| point.statuses.iter()) {
        all.add(status, count);
    }
    let mut frequent: Vec<(u16, u64)> = all.iter().collect();
    frequent.sort_by_key(|(status, count)| (std::cmp::Reverse(*count), *status));
    let rest = if frequent.len() > MOST_STATUSES {
        frequent.split_off(MOST_STATUSES - 1)
    } else {
        Vec::new()
    };
    let mut codes: Vec<u16> = frequent.iter().map(|entry| entry.0).collect();
    codes.sort_unstable();
    let mut lines: Vec<ChartLine> = codes
        .iter()
        .map(|code| status_line(status_text(*code).into(), run, points, |status| status == *code))
        .collect();
    if !rest.is_empty() {
        let is_rest = |status| rest.iter().any(|entry| entry.0 == status);
        lines.push(status_line(text!("chart-label.other-statuses"), run, points, is_rest));
    }
    Chart {
        id: "statuses".into(),
        title: message!("chart.statuses"),
        x: time::axis(points.width),
        y: Axis {
            label: text!("chart-label.replies"),
            unit: ChartUnit::PerSecond,
            scale: AxisScale::Linear,
        },
        lines,
        ..Chart::default()
    }
}

fn status_line(
    name: Text,
    run: &Run,
    points: &Merged<SeriesPoint>,
    is_counted: impl Fn(u16) -> bool,
) -> ChartLine {
    let rate = |point: &SeriesPoint| {
        let replies = point.statuses.iter().filter(|(status, _)| is_counted(*status));
        let count: u64 = replies.map(|(_, count)| count).sum();
        (point.seconds() > 0.0).then(|| count as f64 / point.seconds())
    };
    ChartLine { name, points: over_time(run, points, rate), ..ChartLine::default() }
}

/// Returns the share of the replies that passed all checks; empty if the run has no checks.
pub fn passed_checks(run: &Run, points: &Merged<SeriesPoint>) -> Chart {
    let has_failed = points.points.iter().any(|point| point.flow.failed_checks > 0);
    let share = |point: &SeriesPoint| {
        let all = point.flow.completed;
        let passed = all.saturating_sub(point.flow.failed_checks);
        (all > 0).then(|| passed as f64 / all as f64)
    };
    let lines = if has_failed || has_checks(run) {
        let points = over_time(run, points, share);
        vec![ChartLine { name: text!("chart-label.passed-checks"), points, ..ChartLine::default() }]
    } else {
        Vec::new()
    };
    Chart {
        id: "checks".into(),
        title: message!("chart.passed-checks"),
        x: time::axis(points.width),
        y: Axis {
            label: text!("chart-label.share-of-replies"),
            unit: ChartUnit::Share,
            scale: AxisScale::Linear,
        },
        lines,
        ..Chart::default()
    }
}

/// True if the plan has checks of replies: of any label, or of the only label of the run.
fn has_checks(run: &Run) -> bool {
    let Some(plan) = &run.plan else { return false };
    let mut names = run.label_names.values();
    let only = names.next().filter(|_| names.next().is_none());
    let requests =
        plan.populations.iter().flat_map(|population| population.scenario.requests.iter());
    let mut selected = requests.filter(|request| only.is_none_or(|name| *name == request.label));
    selected.any(|request| {
        let policy = plan.reply_policies.get(request.reply_policy as usize);
        policy.is_some_and(brunt_model::ReplyPolicy::has_checks)
    })
}

fn over_time(
    run: &Run,
    points: &Merged<SeriesPoint>,
    value: impl Fn(&SeriesPoint) -> Option<f64>,
) -> Vec<ChartPoint> {
    let zero = run.phase_start(Phase::Measure).unwrap_or_default();
    let point = |point: &SeriesPoint| ChartPoint {
        x: f64::midpoint(point.from.seconds_from(zero), point.to.seconds_from(zero)),
        y: value(point),
        ..ChartPoint::default()
    };
    points.points.iter().map(point).collect()
}

/// Returns the number of requests by response time: bars of equal ratios.
pub fn histogram(run: &Run) -> Chart {
    let times = &run.total.response;
    let mut points = Vec::new();
    if !times.is_empty() {
        let first = (times.min().max(1) as f64).log10() * BARS_PER_DECADE;
        let last = (times.max().max(1) as f64).log10() * BARS_PER_DECADE;
        let mut before = 0;
        // The last bar ends after the maximum, and a point without a bar ends the line.
        for bar in first.floor() as i64..=last.floor() as i64 + 1 {
            let from = 10f64.powf(bar as f64 / BARS_PER_DECADE);
            let to = 10f64.powf((bar + 1) as f64 / BARS_PER_DECADE);
            let up_to = times.count_at_or_below(to as u64);
            let count = (up_to - before) as f64;
            points.push(ChartPoint { x: from / 1e9, y: Some(count), ..ChartPoint::default() });
            before = up_to;
        }
    }
    Chart {
        id: "histogram".into(),
        title: message!("chart.histogram"),
        x: Axis {
            label: text!("chart-label.response-time"),
            unit: ChartUnit::Seconds,
            scale: AxisScale::Log,
        },
        y: Axis {
            label: text!("chart-label.requests"),
            unit: ChartUnit::Count,
            scale: AxisScale::Linear,
        },
        lines: vec![ChartLine { points, ..ChartLine::default() }],
        is_histogram: true,
        ..Chart::default()
    }
}
