//! Charts of what was read beside the requests: each gauge over time, and its means over the load.

use super::gauges::{GAUGES, GENERATOR_GAUGES, Gauge, IN_NO_CHART, Take, fits};
use super::load;
use crate::figure::{Axis, Figure, Point, Scale, Unit};
use crate::readings::{Span, is_counter, mean, over_time};
use brunt_model::history::History;
use brunt_model::reading_names::GENERATOR;
use brunt_model::{Analysis, Run, Study};
use std::collections::BTreeMap;

/// A reading over time, with what it is called.
pub type Track = (String, Vec<Span>);

/// What was read of the server, over the load.
pub fn server_by_load(study: &Study, _: &Analysis) -> Vec<Figure> {
    GAUGES.iter().map(|gauge| by_load(study, "server", gauge, |run| tracks(run, gauge, is_server))).collect()
}

/// What was read of the generator, over the load.
pub fn generator_by_load(study: &Study, _: &Analysis) -> Vec<Figure> {
    let of = |gauge| by_load(study, "generator", gauge, |run| tracks(run, gauge, is_generator));
    GENERATOR_GAUGES.iter().map(of).collect()
}

/// Readings that no gauge shows, over the load: a chart for each source and unit.
pub fn others_by_load(study: &Study, _: &Analysis) -> Vec<Figure> {
    let all: std::collections::BTreeSet<Other> = study.trials.iter().flat_map(|t| others(&t.run)).collect();
    let figure = |other: Other| {
        let mut figure = by_load(study, "other", &other.gauge(), |run| other.tracks(run));
        figure.id = other.id();
        figure.title = format!("{} over load", other.title());
        figure
    };
    all.into_iter().map(figure).collect()
}

/// Each gauge of one run, and the readings that no gauge shows: heading, id, y axis and lines.
pub fn by_time(run: &Run) -> Vec<(String, String, Axis, Vec<Track>)> {
    let row = |prefix: &str, gauge: &Gauge, tracks| {
        (format!("{prefix}-{}", gauge.id), gauge.title.to_owned(), axis(gauge), tracks)
    };
    let server = GAUGES.iter().map(|gauge| row("server", gauge, tracks(run, gauge, is_server)));
    let others = others(run).into_iter().map(|o| (o.id(), o.title(), axis(&o.gauge()), o.tracks(run)));
    let generator = GENERATOR_GAUGES.iter().map(|gauge| row("generator", gauge, tracks(run, gauge, is_generator)));
    server.chain(others).chain(generator).collect()
}

fn is_generator(source: &str) -> bool {
    source == GENERATOR
}

fn is_server(source: &str) -> bool {
    source != GENERATOR
}

fn axis(gauge: &Gauge) -> Axis {
    Axis { label: gauge.label.into(), unit: gauge.unit, scale: Scale::Linear }
}

/// The lines of a gauge from all sources that have what it shows.
fn tracks(run: &Run, gauge: &Gauge, of: fn(&str) -> bool) -> Vec<Track> {
    let sources = run.history.iter().filter(|(source, _)| of(source));
    let all = sources.flat_map(|(source, history)| {
        gauge.takes.iter().flat_map(move |take| {
            taken(run, history, *take).into_iter().map(move |(word, spans)| (named(source, &word), spans))
        })
    });
    all.filter(|track| !track.1.is_empty()).collect()
}

fn named(source: &str, word: &str) -> String {
    let source = if is_generator(source) { "" } else { source };
    format!("{source} {word}").trim().to_owned()
}

fn taken(run: &Run, history: &History, take: Take) -> Vec<Track> {
    let of = |name: &str| over_time(run, history, name);
    match take {
        Take::Each(pattern, word) => {
            let fitting = history.names().iter().filter_map(|name| Some((name, fits(pattern, name)?)));
            fitting.map(|(name, part)| (format!("{part} {word}").trim().to_owned(), of(name))).collect()
        }
        Take::Sum(names, word) => vec![(word.to_owned(), joined(names.iter().map(|name| of(name)), |a, b| a + b))],
        Take::First(all) => {
            let read = all.iter().map(|(name, word)| ((*word).to_owned(), of(name)));
            read.into_iter().find(|track| track.1.len() > 1).into_iter().collect()
        }
        Take::Less(a, b, word) => vec![(word.to_owned(), joined([of(a), of(b)].into_iter(), |a, b| a - b))],
    }
}

/// Several readings of a source as one, instant by instant; instants that one of them lacks are left out.
fn joined(all: impl Iterator<Item = Vec<Span>>, join: fn(f64, f64) -> f64) -> Vec<Span> {
    let mut all = all.filter(|spans| !spans.is_empty());
    let Some(mut first) = all.next() else { return Vec::new() };
    for next in all {
        let at: BTreeMap<u64, f64> = next.iter().map(|span| (span.to.to_bits(), span.value)).collect();
        first.retain_mut(|span| match at.get(&span.to.to_bits()) {
            Some(value) => {
                span.value = join(span.value, *value);
                true
            }
            None => false,
        });
    }
    first
}

/// Readings of one source and unit that no gauge shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Other {
    source: String,
    ending: &'static str,
}

/// Endings of names, what they are counted in as they are shown, and the word for it.
const ENDINGS: &[(&str, Unit, &str)] = &[
    ("_bytes_total", Unit::BytesPerSecond, "bytes per second"),
    ("_total", Unit::PerSecond, "per second"),
    ("_seconds", Unit::Share, "share of the time"),
    ("_bytes", Unit::Bytes, "bytes"),
    ("_share", Unit::Share, "shares"),
    ("", Unit::Count, "numbers"),
];

fn ending(name: &str) -> &'static str {
    let name = name.split('{').next().unwrap_or(name);
    ENDINGS.iter().find(|row| name.ends_with(row.0)).map_or("", |row| row.0)
}

fn others(run: &Run) -> Vec<Other> {
    let sources = run.history.iter().filter(|(source, _)| is_server(source));
    let mut all: Vec<Other> = sources
        .flat_map(|(source, history)| {
            let unseen = history.names().iter().filter(|name| is_other(name));
            unseen.map(|name| Other { source: source.clone(), ending: ending(name) })
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

fn is_other(name: &str) -> bool {
    let shown = GAUGES.iter().flat_map(|gauge| gauge.takes).any(|take| take.takes(name));
    !shown && !IN_NO_CHART.iter().any(|pattern| fits(pattern, name).is_some())
}

impl Other {
    fn row(&self) -> &'static (&'static str, Unit, &'static str) {
        ENDINGS.iter().find(|row| row.0 == self.ending).unwrap_or(&ENDINGS[ENDINGS.len() - 1])
    }

    fn gauge(&self) -> Gauge {
        Gauge { id: "", title: "", label: self.row().2, unit: self.row().1, takes: &[] }
    }

    fn id(&self) -> String {
        format!("other-{}-{}", super::words::slug(&self.source), super::words::slug(self.row().2))
    }

    fn title(&self) -> String {
        format!("{}: {}", self.source, self.row().2)
    }

    fn tracks(&self, run: &Run) -> Vec<Track> {
        let Some(history) = run.history.get(&self.source) else { return Vec::new() };
        let names = history.names().iter().filter(|name| is_other(name) && ending(name) == self.ending);
        let shown = |name: &String| if is_counter(name) { name.replace("_total", "") } else { name.clone() };
        names.map(|name| (shown(name), over_time(run, history, name))).collect()
    }
}

/// The means of tracks over the load: the median of the trials, with the least and the greatest around it.
fn by_load(study: &Study, prefix: &str, gauge: &Gauge, tracks: impl Fn(&Run) -> Vec<Track>) -> Figure {
    let mut lines: BTreeMap<(usize, String), BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    let whole = study.trials.iter().filter(|t| !t.run.interrupted());
    for trial in whole {
        let at = load::of(study, trial).max(0.0).to_bits();
        for (name, spans) in tracks(&trial.run) {
            let Some(mean) = mean(&trial.run, &spans) else { continue };
            let line = lines.entry((trial.place.contender, name)).or_default();
            line.entry(at).or_default().push(mean);
        }
    }
    let mut drawn: BTreeMap<usize, usize> = BTreeMap::new();
    let lines = lines.into_iter().map(|((contender, name), loads)| {
        let n = drawn.entry(contender).or_default();
        *n += 1;
        let whose = study.experiment.contenders.get(contender).map_or("", |c| c.name.as_str());
        // Bits of positive numbers stand in the order of the numbers.
        let points = loads.into_iter().map(|(at, values)| point(f64::from_bits(at), values)).collect();
        load::line(study, contender, *n - 1, load::line_name(study, whose, &name), points)
    });
    Figure {
        id: format!("{prefix}-{}", gauge.id),
        title: format!("{} over load", gauge.title),
        group: "load".into(),
        x: load::axis(study),
        y: axis(gauge),
        lines: lines.collect(),
        ..Figure::default()
    }
}

fn point(x: f64, mut values: Vec<f64>) -> Point {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) };
    let band = (values.first() < values.last()).then(|| (values[0], values[values.len() - 1]));
    Point { x, y: Some(median), low: band.map(|b| b.0), high: band.map(|b| b.1) }
}
