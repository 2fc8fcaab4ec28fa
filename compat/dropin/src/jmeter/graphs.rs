//! Builds the graphs of JMeter's dashboard, with JMeter's titles, as charts of brunt's report.
//!
//! Graphs by label show the labels with the most samples. Like JMeter's, means and
//! sums cover the whole run.

use super::console::Zone;
use brunt_jmx::statistics::timeline::{LabelSums, Timeline, TimelineInterval};
use brunt_report::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit};
use brunt_report::html::dashboard::ChartSection;
use brunt_report::scene::COLORS;
use std::collections::BTreeMap;

/// Group of the charts over time, which share their x axis.
const TIME: &str = "time";

/// Builds the graphs that have values, by section.
pub fn all(timeline: &Timeline, percentiles: [f64; 3]) -> Vec<ChartSection> {
    let sections = [
        ("Overview", overview(timeline, percentiles)),
        ("Over Time", over_time(timeline, percentiles)),
        ("Throughput", throughput(timeline)),
        ("Response Times", response_times(timeline)),
    ];
    let begin = timeline.intervals().next().map_or(0.0, |(middle, _)| middle);
    let zone = Zone::of_instant((begin * 1e3) as u64);
    let sections = sections.into_iter().map(|(title, figures)| {
        let figures = figures.into_iter().filter(has_values);
        let figures = figures.map(|figure| with_time_of_day(figure, &zone)).collect();
        ChartSection { title: title.into(), figures }
    });
    sections.filter(|section| !section.figures.is_empty()).collect()
}

/// False if a graph is empty or shows only zeros.
fn has_values(figure: &Chart) -> bool {
    !figure.is_empty() && !figure.lines.iter().all(ChartLine::is_zero)
}

/// Labels the x axis of a chart over time with the time of day in `zone`.
fn with_time_of_day(mut figure: Chart, zone: &Zone) -> Chart {
    if figure.group == TIME {
        figure.x = axis(&format!("Time of day, {}", zone.name), ChartUnit::Clock);
        let points = figure.lines.iter_mut().flat_map(|line| &mut line.points);
        points.for_each(|point| point.x += f64::from(zone.offset_seconds));
    }
    figure
}

/// Throughput, response time and error rate of all samples.
fn overview(timeline: &Timeline, percentiles: [f64; 3]) -> Vec<Chart> {
    let width = timeline.width_seconds();
    let rate = line(timeline, "All samples".into(), move |interval| {
        Some(interval.samples.count as f64 / width)
    });
    let mean = line(timeline, "Average".into(), |interval| {
        let count = interval.samples.count;
        (count > 0).then(|| interval.samples.elapsed as f64 / count as f64 / 1e3)
    });
    let percentile = line(timeline, format!("{}th percentile", percentiles[0]), move |interval| {
        let times = &interval.samples.times;
        (!times.is_empty()).then(|| times.quantile(percentiles[0] / 100.0) as f64 / 1e3)
    });
    let errors = line(timeline, "Failed samples".into(), |interval| {
        let count = interval.samples.count;
        (count > 0).then(|| interval.samples.failed as f64 / count as f64)
    });
    vec![
        time_figure("Throughput", ChartUnit::PerSecond, vec![rate]),
        time_figure("Response Time", ChartUnit::Seconds, vec![mean, percentile]),
        time_figure("Error Rate", ChartUnit::Share, vec![errors]),
    ]
}

fn over_time(timeline: &Timeline, percentiles: [f64; 3]) -> Vec<Chart> {
    let mut quantiles = vec![("Min".to_owned(), 0.0), ("Median".to_owned(), 0.5)];
    quantiles.extend(
        percentiles.iter().map(|percent| (format!("{percent}th percentile"), percent / 100.0)),
    );
    quantiles.push(("Max".to_owned(), 1.0));
    let quantiles = quantiles
        .into_iter()
        .map(|(name, quantile)| {
            line(timeline, name, move |interval| {
                (!interval.good.is_empty()).then(|| interval.good.quantile(quantile) as f64 / 1e3)
            })
        })
        .collect();
    let width = timeline.width_seconds();
    let bytes = [
        line(timeline, "Bytes received per second".into(), move |interval| {
            Some(interval.bytes as f64 / width)
        }),
        line(timeline, "Bytes sent per second".into(), move |interval| {
            Some(interval.sent_bytes as f64 / width)
        }),
    ];
    let threads = by_name(timeline, |interval| &interval.threads, |threads| threads as f64);
    vec![
        time_figure(
            "Response Times Over Time",
            ChartUnit::Seconds,
            mean_by_label(timeline, |sums| sums.elapsed),
        ),
        time_figure(
            "Response Time Percentiles Over Time (successful responses)",
            ChartUnit::Seconds,
            quantiles,
        ),
        time_figure("Active Threads Over Time", ChartUnit::Users, threads),
        time_figure("Bytes Throughput Over Time", ChartUnit::BytesPerSecond, bytes.into()),
        time_figure(
            "Latencies Over Time",
            ChartUnit::Seconds,
            mean_by_label(timeline, |sums| sums.latency),
        ),
        time_figure(
            "Connect Time Over Time",
            ChartUnit::Seconds,
            mean_by_label(timeline, |sums| sums.connect),
        ),
    ]
}

fn mean_by_label(timeline: &Timeline, sum: fn(&LabelSums) -> u64) -> Vec<ChartLine> {
    by_label(timeline, |sums, _| {
        (sums.count > 0).then(|| sum(sums) as f64 / sums.count as f64 / 1e3)
    })
}

fn throughput(timeline: &Timeline) -> Vec<Chart> {
    let width = timeline.width_seconds();

    let hits = vec![per_second(timeline, "Hits per second", |interval| interval.begun)];
    let codes = by_name(timeline, |interval| &interval.codes, move |count| count as f64 / width);
    let transactions = by_label(timeline, move |sums, _| Some(sums.count as f64 / width));
    let total = vec![
        per_second(timeline, "Transactions success", |interval| interval.ended - interval.failed),
        per_second(timeline, "Transactions failure", |interval| interval.failed),
    ];

    vec![
        time_figure("Hits Per Second", ChartUnit::PerSecond, hits),
        time_figure("Codes Per Second", ChartUnit::PerSecond, codes),
        time_figure("Transactions Per Second", ChartUnit::PerSecond, transactions),
        time_figure("Total Transactions Per Second", ChartUnit::PerSecond, total),
        Chart {
            group: "requests".into(),
            x: axis("Requests", ChartUnit::PerSecond),
            ..time_figure(
                "Response Time Vs Request",
                ChartUnit::Seconds,
                against_rate(timeline, |sums| sums.elapsed),
            )
        },
        Chart {
            group: "requests".into(),
            x: axis("Requests", ChartUnit::PerSecond),
            ..time_figure(
                "Latency Vs Request",
                ChartUnit::Seconds,
                against_rate(timeline, |sums| sums.latency),
            )
        },
    ]
}

fn per_second(timeline: &Timeline, name: &str, count: fn(&TimelineInterval) -> u64) -> ChartLine {
    let width = timeline.width_seconds();
    line(timeline, name.into(), |interval| Some(count(interval) as f64 / width))
}

/// A line for each label: a mean time against the rate of samples.
fn against_rate(timeline: &Timeline, time: fn(&LabelSums) -> u64) -> Vec<ChartLine> {
    let width = timeline.width_seconds();
    against(timeline, |interval| interval.ended as f64 / width, time)
}

fn response_times(timeline: &Timeline) -> Vec<Chart> {
    let quantiles = for_labels(timeline, |sums| {
        let quantiles = (0..1_000).step_by(5).map(|permille| f64::from(permille) / 1e3);
        let points = quantiles.map(|q| ChartPoint {
            x: q,
            y: Some(sums.times.quantile(q) as f64 / 1e3),
            ..ChartPoint::default()
        });
        points.collect()
    });
    let distribution = for_labels(timeline, |sums| {
        let mut counts = BTreeMap::new();
        for bucket in sums.times.buckets() {
            // Columns of 100 ms, as in JMeter.
            *counts.entry(bucket.low / 100).or_insert(0) += bucket.count;
        }
        let points = counts.into_iter().map(|(column, count): (u64, u64)| ChartPoint {
            x: column as f64 / 10.0,
            y: Some(count as f64),
            ..ChartPoint::default()
        });
        points.collect()
    });
    vec![
        Chart {
            group: "percentiles".into(),
            x: Axis { scale: AxisScale::Quantile, ..axis("Percentiles", ChartUnit::Share) },
            ..time_figure("Response Time Percentiles", ChartUnit::Seconds, quantiles)
        },
        Chart {
            group: "threads".into(),
            x: axis("Active threads", ChartUnit::Users),
            ..time_figure(
                "Time Vs Threads",
                ChartUnit::Seconds,
                against(timeline, |interval| interval.all_threads as f64, |sums| sums.elapsed),
            )
        },
        Chart {
            group: "distribution".into(),
            x: axis("Response time", ChartUnit::Seconds),
            ..time_figure("Response Time Distribution", ChartUnit::Count, distribution)
        },
    ]
}

fn time_figure(title: &str, unit: ChartUnit, lines: Vec<ChartLine>) -> Chart {
    let id = title.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let label = if unit == ChartUnit::Seconds { "Time" } else { "" };
    let about = lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>().join(", ");
    Chart {
        id,
        title: title.into(),
        about: about.into(),
        group: TIME.into(),
        y: axis(label, unit),
        lines,
        ..Chart::default()
    }
}

fn axis(label: &str, unit: ChartUnit) -> Axis {
    Axis { label: label.into(), unit, scale: AxisScale::Linear }
}

/// The labels of graphs by label, those with the most samples.
fn top_labels(timeline: &Timeline) -> Vec<(&str, &LabelSums)> {
    timeline.labels().into_iter().take(COLORS).collect()
}

fn for_labels(timeline: &Timeline, points: fn(&LabelSums) -> Vec<ChartPoint>) -> Vec<ChartLine> {
    let labels = top_labels(timeline).into_iter().enumerate();
    labels.map(|(index, (label, sums))| named_line(index, label, points(sums))).collect()
}

fn named_line(index: usize, name: &str, points: Vec<ChartPoint>) -> ChartLine {
    ChartLine { name: name.into(), contender: Some(index), dash: 0, points }
}

fn line(
    timeline: &Timeline,
    name: String,
    value: impl Fn(&TimelineInterval) -> Option<f64>,
) -> ChartLine {
    let points = timeline.intervals().map(|(x, interval)| ChartPoint {
        x,
        y: value(interval),
        ..ChartPoint::default()
    });
    ChartLine { name: name.into(), points: points.collect(), ..ChartLine::default() }
}

/// A line for each shown label.
fn by_label(
    timeline: &Timeline,
    value: impl Fn(&LabelSums, &TimelineInterval) -> Option<f64>,
) -> Vec<ChartLine> {
    let labels = top_labels(timeline).into_iter().enumerate();
    labels
        .map(|(index, (label, _))| {
            let value = |interval: &TimelineInterval| {
                interval.labels.get(label).and_then(|sums| value(sums, interval))
            };
            ChartLine { contender: Some(index), ..line(timeline, label.to_owned(), value) }
        })
        .collect()
}

/// A line for each of the first names of a map.
fn by_name(
    timeline: &Timeline,
    map: fn(&TimelineInterval) -> &BTreeMap<String, u64>,
    value: impl Fn(u64) -> f64,
) -> Vec<ChartLine> {
    let mut names: Vec<&String> =
        timeline.intervals().flat_map(|(_, interval)| map(interval).keys()).collect();
    names.sort();
    names.dedup();
    let names = names.into_iter().take(COLORS).enumerate();
    names
        .map(|(index, name)| {
            let value = |interval: &TimelineInterval| {
                Some(value(map(interval).get(name).copied().unwrap_or(0)))
            };
            ChartLine { contender: Some(index), ..line(timeline, name.clone(), value) }
        })
        .collect()
}

/// A line for each label: its mean time in an interval (y) against another
/// figure of the interval (x).
fn against(
    timeline: &Timeline,
    x: impl Fn(&TimelineInterval) -> f64,
    time: fn(&LabelSums) -> u64,
) -> Vec<ChartLine> {
    let labels = top_labels(timeline).into_iter().enumerate();
    labels
        .map(|(index, (label, _))| {
            let intervals = timeline.intervals().filter_map(|(_, interval)| {
                let sums = interval.labels.get(label).filter(|sums| sums.count > 0)?;
                Some((x(interval), time(sums) as f64 / sums.count as f64 / 1e3))
            });
            let mut points: Vec<(f64, f64)> = intervals.collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            let points = points.into_iter().map(|(x, y)| ChartPoint {
                x,
                y: Some(y),
                ..ChartPoint::default()
            });
            named_line(index, label, points.collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_jmx::statistics::{Statistics, StatisticsSettings};
    use brunt_model::SampleRecord;

    #[test]
    fn graphs_have_the_names_of_jmeter_and_show_the_samples() {
        let mut statistics = Statistics::new(StatisticsSettings::default());
        for number in 0..40_u64 {
            statistics.record(&SampleRecord {
                label: if number % 2 == 0 { "home" } else { "a < b" }.into(),
                thread_name: "Users 1-1".into(),
                code: "200".into(),
                start_unix_millis: 1_000_000 + number * 250,
                elapsed_millis: 100 + number * 10,
                success: number % 5 > 0,
                group_threads: 1 + number as u32 / 10,
                all_threads: 1 + number as u32 / 10,
                ..SampleRecord::default()
            });
        }
        let sections = all(statistics.timeline(), [90.0, 95.0, 99.0]);
        let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["Overview", "Over Time", "Throughput", "Response Times"]);
        let figures: Vec<&Chart> = sections.iter().flat_map(|section| &section.figures).collect();
        for title in [
            "Response Times Over Time",
            "Codes Per Second",
            "Time Vs Threads",
            "Response Time Distribution",
        ] {
            assert!(figures.iter().any(|figure| figure.title == title), "{title}");
        }
        let errors =
            sections[0].figures.iter().find(|figure| figure.title == "Error Rate").unwrap();
        assert_eq!(errors.lines[0].known().next().map(|point| point.1), Some(0.25));
        // The x axis is the time of day, the same for all charts over time.
        let over_time: Vec<&&Chart> =
            figures.iter().filter(|figure| figure.group == TIME).collect();
        let first = over_time[0].lines[0].points[0].x
            - f64::from(Zone::of_instant(1_000_000).offset_seconds);
        assert_eq!(first, 1_000.5);
        // Three charts of the overview, three over time, four of the throughput. Those of bytes,
        // latencies and connect times are left out, since these are 0.
        assert!(over_time.len() == 10 && over_time.iter().all(|figure| figure.x == over_time[0].x));
        assert!(
            all(Statistics::new(StatisticsSettings::default()).timeline(), [90.0; 3]).is_empty()
        );
    }
}
