//! The graphs of JMeter's dashboard, by its names, drawn as this project draws charts.
//!
//! Graphs by label show the labels with the most samples. Means and sums are of the whole run; JMeter's are likewise.

use super::console::Zone;
use brunt_jmx::statistics::timeline::{Interval, LabelSums, Timeline};
use brunt_report::figure::{Axis, Figure, Line, Point, Scale, Unit};
use brunt_report::html::dashboard::ChartSection;
use brunt_report::scene::COLOURS;
use std::collections::BTreeMap;

/// Charts over time share their x axis.
const TIME: &str = "time";

/// The graphs that show something, by section.
pub fn all(timeline: &Timeline, percentiles: [f64; 3]) -> Vec<ChartSection> {
    let sections = [
        ("Overview", overview(timeline, percentiles)),
        ("Over Time", over_time(timeline, percentiles)),
        ("Throughput", throughput(timeline)),
        ("Response Times", of_times(timeline)),
    ];
    let begin = timeline.intervals().next().map_or(0.0, |(middle, _)| middle);
    let zone = Zone::at((begin * 1e3) as u64);
    let shown = sections.into_iter().map(|(title, figures)| {
        let figures = figures.into_iter().filter(has_values);
        ChartSection { title: title.to_owned(), figures: figures.map(|figure| on_the_clock(figure, &zone)).collect() }
    });
    shown.filter(|section| !section.figures.is_empty()).collect()
}

/// False if a graph is empty or shows nothing but zeros.
fn has_values(figure: &Figure) -> bool {
    !figure.is_empty() && !figure.lines.iter().all(Line::is_zero)
}

/// Charts over time have the time of day of the zone on their axis.
fn on_the_clock(mut figure: Figure, zone: &Zone) -> Figure {
    if figure.group == TIME {
        figure.x = axis(&format!("Time of day, {}", zone.name), Unit::Clock);
        let points = figure.lines.iter_mut().flat_map(|line| &mut line.points);
        points.for_each(|point| point.x += f64::from(zone.offset_seconds));
    }
    figure
}

/// Throughput, response time and errors of all samples.
fn overview(timeline: &Timeline, percentiles: [f64; 3]) -> Vec<Figure> {
    let width = timeline.width_seconds();
    let rate = line(timeline, "All samples".into(), move |of| Some(of.samples.count as f64 / width));
    let mean = line(timeline, "Average".into(), |of| {
        let count = of.samples.count;
        (count > 0).then(|| of.samples.elapsed as f64 / count as f64 / 1e3)
    });
    let percentile = line(timeline, format!("{}th percentile", percentiles[0]), move |of| {
        let times = &of.samples.times;
        (!times.is_empty()).then(|| times.quantile(percentiles[0] / 100.0) as f64 / 1e3)
    });
    let errors = line(timeline, "Failed samples".into(), |of| {
        let count = of.samples.count;
        (count > 0).then(|| of.samples.failed as f64 / count as f64)
    });
    vec![
        time_figure("Throughput", Unit::PerSecond, vec![rate]),
        time_figure("Response Time", Unit::Seconds, vec![mean, percentile]),
        time_figure("Error Rate", Unit::Share, vec![errors]),
    ]
}

fn over_time(timeline: &Timeline, percentiles: [f64; 3]) -> Vec<Figure> {
    let mean = |sum: fn(&LabelSums) -> u64| {
        by_label(timeline, move |sums, _| (sums.count > 0).then(|| sum(sums) as f64 / sums.count as f64 / 1e3))
    };
    let mut quantiles = vec![("Min".to_owned(), 0.0), ("Median".to_owned(), 0.5)];
    quantiles.extend(percentiles.iter().map(|percent| (format!("{percent}th percentile"), percent / 100.0)));
    quantiles.push(("Max".to_owned(), 1.0));
    let quantile =
        |q: f64| move |interval: &Interval| (!interval.good.is_empty()).then(|| interval.good.quantile(q) as f64 / 1e3);
    let quantiles = quantiles.into_iter().map(|(name, q)| line(timeline, name, quantile(q))).collect();
    let width = timeline.width_seconds();
    let bytes = [
        line(timeline, "Bytes received per second".into(), move |of| Some(of.bytes as f64 / width)),
        line(timeline, "Bytes sent per second".into(), move |of| Some(of.sent_bytes as f64 / width)),
    ];
    let threads = named(timeline, |interval| &interval.threads, |threads| threads as f64);
    vec![
        time_figure("Response Times Over Time", Unit::Seconds, mean(|sums| sums.elapsed)),
        time_figure("Response Time Percentiles Over Time (successful responses)", Unit::Seconds, quantiles),
        time_figure("Active Threads Over Time", Unit::Users, threads),
        time_figure("Bytes Throughput Over Time", Unit::BytesPerSecond, bytes.into()),
        time_figure("Latencies Over Time", Unit::Seconds, mean(|sums| sums.latency)),
        time_figure("Connect Time Over Time", Unit::Seconds, mean(|sums| sums.connect)),
    ]
}

fn throughput(timeline: &Timeline) -> Vec<Figure> {
    let width = timeline.width_seconds();
    let per_second = |name: &str, count: fn(&Interval) -> u64| {
        line(timeline, name.into(), move |interval| Some(count(interval) as f64 / width))
    };
    let hits = vec![per_second("Hits per second", |interval| interval.begun)];
    let codes = named(timeline, |interval| &interval.codes, move |count| count as f64 / width);
    let transactions = by_label(timeline, move |sums, _| Some(sums.count as f64 / width));
    let total = vec![
        per_second("Transactions success", |interval| interval.ended - interval.failed),
        per_second("Transactions failure", |interval| interval.failed),
    ];
    let against_rate =
        |time: fn(&LabelSums) -> u64| against(timeline, move |interval| interval.ended as f64 / width, time);
    vec![
        time_figure("Hits Per Second", Unit::PerSecond, hits),
        time_figure("Codes Per Second", Unit::PerSecond, codes),
        time_figure("Transactions Per Second", Unit::PerSecond, transactions),
        time_figure("Total Transactions Per Second", Unit::PerSecond, total),
        Figure {
            group: "requests".into(),
            x: axis("Requests", Unit::PerSecond),
            ..time_figure("Response Time Vs Request", Unit::Seconds, against_rate(|sums| sums.elapsed))
        },
        Figure {
            group: "requests".into(),
            x: axis("Requests", Unit::PerSecond),
            ..time_figure("Latency Vs Request", Unit::Seconds, against_rate(|sums| sums.latency))
        },
    ]
}

fn of_times(timeline: &Timeline) -> Vec<Figure> {
    let shown = shown(timeline);
    let lines = |points: fn(&LabelSums) -> Vec<Point>| {
        shown.iter().enumerate().map(|(number, (label, sums))| named_line(number, label, points(sums))).collect()
    };
    let quantiles = lines(|sums| {
        let point = |percent: u32| {
            let q = f64::from(percent) / 1e3;
            Point { x: q, y: Some(sums.times.quantile(q) as f64 / 1e3), ..Point::default() }
        };
        (0..1_000).step_by(5).map(point).collect()
    });
    let distribution = lines(|sums| {
        let mut counts = BTreeMap::new();
        for bucket in sums.times.buckets() {
            // In columns of 100 ms, as JMeter has them.
            *counts.entry(bucket.low / 100).or_insert(0) += bucket.count;
        }
        let point =
            |(column, count): (u64, u64)| Point { x: column as f64 / 10.0, y: Some(count as f64), ..Point::default() };
        counts.into_iter().map(point).collect()
    });
    vec![
        Figure {
            group: "percentiles".into(),
            x: Axis { scale: Scale::Quantile, ..axis("Percentiles", Unit::Share) },
            ..time_figure("Response Time Percentiles", Unit::Seconds, quantiles)
        },
        Figure {
            group: "threads".into(),
            x: axis("Active threads", Unit::Users),
            ..time_figure(
                "Time Vs Threads",
                Unit::Seconds,
                against(timeline, |interval| interval.all_threads as f64, |sums| sums.elapsed),
            )
        },
        Figure {
            group: "distribution".into(),
            x: axis("Response time", Unit::Seconds),
            ..time_figure("Response Time Distribution", Unit::Count, distribution)
        },
    ]
}

fn time_figure(title: &str, unit: Unit, lines: Vec<Line>) -> Figure {
    let id = title.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let label = if unit == Unit::Seconds { "Time" } else { "" };
    let about = lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>().join(", ");
    Figure { id, title: title.to_owned(), about, group: TIME.into(), y: axis(label, unit), lines, ..Figure::default() }
}

fn axis(label: &str, unit: Unit) -> Axis {
    Axis { label: label.to_owned(), unit, scale: Scale::Linear }
}

/// The labels of graphs by label.
fn shown(timeline: &Timeline) -> Vec<(&str, &LabelSums)> {
    timeline.labels().into_iter().take(COLOURS).collect()
}

fn named_line(number: usize, name: &str, points: Vec<Point>) -> Line {
    Line { name: name.to_owned(), contender: Some(number), dash: 0, points }
}

fn line(timeline: &Timeline, name: String, value: impl Fn(&Interval) -> Option<f64>) -> Line {
    let points = timeline.intervals().map(|(x, interval)| Point { x, y: value(interval), ..Point::default() });
    Line { name, points: points.collect(), ..Line::default() }
}

/// A line for each label that is shown.
fn by_label(timeline: &Timeline, value: impl Fn(&LabelSums, &Interval) -> Option<f64>) -> Vec<Line> {
    let of_label = |(number, (label, _)): (usize, (&str, &LabelSums))| {
        let value = |interval: &Interval| interval.labels.get(label).and_then(|sums| value(sums, interval));
        Line { contender: Some(number), ..line(timeline, label.to_owned(), value) }
    };
    shown(timeline).into_iter().enumerate().map(of_label).collect()
}

/// A line for each name of a map: the first ones.
fn named(timeline: &Timeline, map: fn(&Interval) -> &BTreeMap<String, u64>, value: impl Fn(u64) -> f64) -> Vec<Line> {
    let mut names: Vec<&String> = timeline.intervals().flat_map(|(_, interval)| map(interval).keys()).collect();
    names.sort();
    names.dedup();
    let of_name = |(number, name): (usize, &String)| {
        let value = |interval: &Interval| Some(value(map(interval).get(name).copied().unwrap_or(0)));
        Line { contender: Some(number), ..line(timeline, name.clone(), value) }
    };
    names.into_iter().take(COLOURS).enumerate().map(of_name).collect()
}

/// A line for each label: the mean time of an interval against another figure of it.
fn against(timeline: &Timeline, x: impl Fn(&Interval) -> f64, time: fn(&LabelSums) -> u64) -> Vec<Line> {
    let of_label = |(number, (label, _)): (usize, (&str, &LabelSums))| {
        let of_interval = |(_, interval): (f64, &Interval)| {
            let sums = interval.labels.get(label).filter(|sums| sums.count > 0)?;
            Some((x(interval), time(sums) as f64 / sums.count as f64 / 1e3))
        };
        let mut points: Vec<(f64, f64)> = timeline.intervals().filter_map(of_interval).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        named_line(
            number,
            label,
            points.into_iter().map(|(x, y)| Point { x, y: Some(y), ..Point::default() }).collect(),
        )
    };
    shown(timeline).into_iter().enumerate().map(of_label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_jmx::statistics::{Statistics, StatisticsSettings};
    use brunt_model::SampleRecord;

    #[test]
    fn graphs_have_the_names_of_jmeters_and_show_what_was_recorded() {
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
        let figures: Vec<&Figure> = sections.iter().flat_map(|section| &section.figures).collect();
        for title in ["Response Times Over Time", "Codes Per Second", "Time Vs Threads", "Response Time Distribution"] {
            assert!(figures.iter().any(|figure| figure.title == title), "{title}");
        }
        let errors = sections[0].figures.iter().find(|figure| figure.title == "Error Rate").unwrap();
        assert_eq!(errors.lines[0].known().next().map(|point| point.1), Some(0.25));
        // A time of day, and one axis for all charts over time.
        let over_time: Vec<&&Figure> = figures.iter().filter(|figure| figure.group == TIME).collect();
        let first = over_time[0].lines[0].points[0].x - f64::from(Zone::at(1_000_000).offset_seconds);
        assert_eq!(first, 1_000.5);
        // Three of the overview, three over time, four of the throughput; bytes, latencies and connect times are 0.
        assert!(over_time.len() == 10 && over_time.iter().all(|figure| figure.x == over_time[0].x));
        assert!(all(Statistics::new(StatisticsSettings::default()).timeline(), [90.0; 3]).is_empty());
    }
}
