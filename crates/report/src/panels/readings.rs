//! Makes the charts of readings: each gauge over time, and its means over the load.

use super::gauges::{GAUGES, GENERATOR_GAUGES, Gauge, GaugeRule, IN_NO_CHART, fits};
use super::load;
use crate::figure::{Axis, AxisScale, Chart, ChartPoint, ChartUnit};
use crate::readings::{ValueSpan, is_counter, mean, over_time};
use crate::texts::message;
use brunt_model::history::History;
use brunt_model::reading_names::GENERATOR;
use brunt_model::{Analysis, Run, Study, Text};
use std::collections::BTreeMap;

/// A reading over time, with its name.
pub type Track = (Text, Vec<ValueSpan>);

/// Returns the charts of the server's readings over the load.
pub fn server_by_load(study: &Study, _: &Analysis) -> Vec<Chart> {
    GAUGES
        .iter()
        .map(|gauge| by_load(study, "server", gauge, |run| tracks(run, gauge, is_server)))
        .collect()
}

/// Returns the charts of the generator's readings over the load.
pub fn generator_by_load(study: &Study, _: &Analysis) -> Vec<Chart> {
    GENERATOR_GAUGES
        .iter()
        .map(|gauge| by_load(study, "generator", gauge, |run| tracks(run, gauge, is_generator)))
        .collect()
}

/// Returns the charts of readings without a gauge over the load: one for each source and unit.
pub fn others_by_load(study: &Study, _: &Analysis) -> Vec<Chart> {
    let all: std::collections::BTreeSet<OtherReadings> =
        study.trials.iter().flat_map(|t| others(&t.run)).collect();
    let mut figures = Vec::new();
    for other in all {
        let mut figure = by_load(study, "other", &other.gauge(), |run| other.tracks(run));
        figure.id = other.id();
        figure.title = message!("chart.over-load", title = other.title());
        figures.push(figure);
    }
    figures
}

/// A chart of readings over time.
pub struct ReadingChart {
    pub id: String,
    pub title: Text,
    pub y: Axis,
    pub tracks: Vec<Track>,
}

/// Returns the charts of one run's readings: each gauge, and the readings without a gauge.
pub fn by_time(run: &Run) -> Vec<ReadingChart> {
    let mut charts = Vec::new();
    for gauge in GAUGES {
        charts.push(gauge_chart("server", gauge, tracks(run, gauge, is_server)));
    }
    for other in others(run) {
        let tracks = other.tracks(run);
        charts.push(ReadingChart {
            id: other.id(),
            title: other.title(),
            y: axis(&other.gauge()),
            tracks,
        });
    }
    for gauge in GENERATOR_GAUGES {
        charts.push(gauge_chart("generator", gauge, tracks(run, gauge, is_generator)));
    }
    charts
}

fn gauge_chart(prefix: &str, gauge: &Gauge, tracks: Vec<Track>) -> ReadingChart {
    ReadingChart {
        id: format!("{prefix}-{}", gauge.id),
        title: message!(gauge.title),
        y: axis(gauge),
        tracks,
    }
}

fn is_generator(source: &str) -> bool {
    source == GENERATOR
}

fn is_server(source: &str) -> bool {
    source != GENERATOR
}

fn axis(gauge: &Gauge) -> Axis {
    Axis { label: message!(gauge.label), unit: gauge.unit, scale: AxisScale::Linear }
}

/// Returns the lines of a gauge from all matching sources.
fn tracks(run: &Run, gauge: &Gauge, is_source: fn(&str) -> bool) -> Vec<Track> {
    let sources = run.history.iter().filter(|(source, _)| is_source(source));
    let all = sources.flat_map(|(source, history)| {
        gauge.takes.iter().flat_map(move |take| {
            tracks_of_source(run, history, *take)
                .into_iter()
                .map(move |(name, spans)| (track_name(source, name), spans))
        })
    });
    all.filter(|track| !track.1.is_empty()).collect()
}

fn track_name(source: &str, name: Text) -> Text {
    // Titles of its charts already name the generator.
    if is_generator(source) { name } else { part_name(source, name) }
}

/// Name of a part and of its reading; only one of them if the other is empty.
fn part_name(part: &str, name: Text) -> Text {
    match (part, name.is_empty()) {
        ("", _) => name,
        (part, true) => part.into(),
        (part, false) => message!("gauge-label.part", part, name),
    }
}

/// Name of a reading by its message; empty without one.
fn reading_name(message: &'static str) -> Text {
    if message.is_empty() { Text::default() } else { message!(message) }
}

fn tracks_of_source(run: &Run, history: &History, take: GaugeRule) -> Vec<Track> {
    match take {
        GaugeRule::Each(pattern, message) => {
            let fitting =
                history.names().iter().filter_map(|name| Some((name, fits(pattern, name)?)));
            fitting
                .map(|(name, part)| {
                    (part_name(part, reading_name(message)), over_time(run, history, name))
                })
                .collect()
        }
        GaugeRule::Sum(names, message) => {
            vec![(
                reading_name(message),
                joined(names.iter().map(|name| over_time(run, history, name)), |a, b| a + b),
            )]
        }
        GaugeRule::First(all) => {
            let tracks = all
                .iter()
                .map(|(name, message)| (reading_name(message), over_time(run, history, name)));
            // A reading that was read only once makes no line.
            tracks.into_iter().find(|track| track.1.len() > 1).into_iter().collect()
        }
        GaugeRule::Less(a, b, message) => {
            let readings = [over_time(run, history, a), over_time(run, history, b)];
            vec![(reading_name(message), joined(readings.into_iter(), |a, b| a - b))]
        }
    }
}

/// Joins readings of a source, instant by instant. Instants that one of them lacks are omitted.
fn joined(all: impl Iterator<Item = Vec<ValueSpan>>, join: fn(f64, f64) -> f64) -> Vec<ValueSpan> {
    let mut all = all.filter(|spans| !spans.is_empty());
    let Some(mut first) = all.next() else { return Vec::new() };
    for next in all {
        // Readings that were read together have the same instant, bit by bit.
        let values: BTreeMap<u64, f64> =
            next.iter().map(|span| (span.to.to_bits(), span.value)).collect();
        first.retain_mut(|span| match values.get(&span.to.to_bits()) {
            Some(value) => {
                span.value = join(span.value, *value);
                true
            }
            None => false,
        });
    }
    first
}

/// Readings of one source and unit that have no gauge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct OtherReadings {
    source: String,
    ending: &'static str,
}

/// Suffixes of names, with the unit in which they are shown, and the message with its name.
const ENDINGS: &[(&str, ChartUnit, &str)] = &[
    // The first suffix that fits applies: `_bytes_total` must precede `_total`.
    ("_bytes_total", ChartUnit::BytesPerSecond, "gauge-label.bytes-per-second"),
    ("_total", ChartUnit::PerSecond, "gauge-label.per-second"),
    // A counter of seconds grows by seconds per second.
    ("_seconds", ChartUnit::Share, "gauge-label.share-of-time"),
    ("_bytes", ChartUnit::Bytes, "gauge-label.bytes"),
    ("_share", ChartUnit::Share, "gauge-label.shares"),
    ("", ChartUnit::Count, "gauge-label.numbers"),
];

fn ending(name: &str) -> &'static str {
    // Labels of Prometheus follow the suffix.
    let name = name.split('{').next().unwrap_or(name);
    ENDINGS.iter().find(|row| name.ends_with(row.0)).map_or("", |row| row.0)
}

fn others(run: &Run) -> Vec<OtherReadings> {
    let sources = run.history.iter().filter(|(source, _)| is_server(source));
    let mut all: Vec<OtherReadings> = sources
        .flat_map(|(source, history)| {
            let names = history.names().iter().filter(|name| is_other(name));
            names.map(|name| OtherReadings { source: source.clone(), ending: ending(name) })
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

/// True for a reading without a gauge that is not excluded from charts.
fn is_other(name: &str) -> bool {
    let has_gauge = GAUGES.iter().flat_map(|gauge| gauge.takes).any(|take| take.takes(name));
    !has_gauge && !IN_NO_CHART.iter().any(|pattern| fits(pattern, name).is_some())
}

impl OtherReadings {
    fn row(&self) -> &'static (&'static str, ChartUnit, &'static str) {
        ENDINGS.iter().find(|row| row.0 == self.ending).unwrap_or(&ENDINGS[ENDINGS.len() - 1])
    }

    fn gauge(&self) -> Gauge {
        Gauge { id: "", title: "", label: self.row().2, unit: self.row().1, takes: &[] }
    }

    fn id(&self) -> String {
        let unit = message!(self.row().2);
        format!("other-{}-{}", super::words::slug(&self.source), super::words::slug(&unit))
    }

    fn title(&self) -> Text {
        let unit = message!(self.row().2);
        message!("gauge.over-source", source = &*self.source, unit)
    }

    fn tracks(&self, run: &Run) -> Vec<Track> {
        let Some(history) = run.history.get(&self.source) else { return Vec::new() };
        let names =
            history.names().iter().filter(|name| is_other(name) && ending(name) == self.ending);
        names.map(|name| (line_name(name).into(), over_time(run, history, name))).collect()
    }
}

/// Returns the name of a reading in a legend. A counter is shown as a rate, so it loses `_total`.
fn line_name(name: &str) -> String {
    if is_counter(name) { name.replace("_total", "") } else { name.to_owned() }
}

/// Means of a reading over the load.
#[derive(Default)]
struct ReadingLine {
    name: Text,
    /// Means of the trials, by the bits of the load.
    means: BTreeMap<u64, Vec<f64>>,
}

/// Returns the means of tracks over the load: the median of the trials, with the lowest and the
/// highest as the band.
fn by_load(
    study: &Study,
    prefix: &str,
    gauge: &Gauge,
    tracks: impl Fn(&Run) -> Vec<Track>,
) -> Chart {
    let mut lines: BTreeMap<(usize, String), ReadingLine> = BTreeMap::new();
    // The mean of an interrupted trial covers another time than those of its repetitions.
    let completed = study.trials.iter().filter(|t| !t.run.is_interrupted());
    for trial in completed {
        // `f64` has no total order for a map.
        let load = load::of(study, trial).max(0.0).to_bits();
        for (name, spans) in tracks(&trial.run) {
            let Some(mean) = mean(&trial.run, &spans) else { continue };
            let line = lines.entry((trial.place.contender, name.to_string())).or_default();
            line.name = name;
            line.means.entry(load).or_default().push(mean);
        }
    }
    let mut line_counts: BTreeMap<usize, usize> = BTreeMap::new();
    let lines = lines.into_iter().map(|((contender, _), reading)| {
        let n = line_counts.entry(contender).or_default();
        *n += 1;
        let contender_name =
            study.experiment.contenders.get(contender).map_or("", |c| c.name.as_str());
        // The bits of positive numbers have the order of the numbers.
        let points = reading
            .means
            .into_iter()
            .map(|(load, values)| point(f64::from_bits(load), values))
            .collect();
        let name = load::line_name(study, contender_name, reading.name);
        load::line(study, contender, *n - 1, name, points)
    });
    Chart {
        id: format!("{prefix}-{}", gauge.id),
        title: message!("chart.over-load", title = reading_name(gauge.title)),
        group: "load".into(),
        x: load::axis(study),
        y: axis(gauge),
        lines: lines.collect(),
        ..Chart::default()
    }
}

fn point(x: f64, mut values: Vec<f64>) -> ChartPoint {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    };
    let band = (values.first() < values.last()).then(|| (values[0], values[values.len() - 1]));
    ChartPoint { x, y: Some(median), low: band.map(|b| b.0), high: band.map(|b| b.1) }
}
