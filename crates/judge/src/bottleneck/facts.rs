//! Readings of the server within the measured time, as levels that the rules examine.
//!
//! Out of scope: a judgement. A reading that was not taken gives no level.

use super::RuleResult;
use brunt_model::analysis::{Culprit, Reason};
use brunt_model::finding::ThresholdSide;
use brunt_model::history::History;
use brunt_model::reading_names::GENERATOR;
use brunt_model::{Run, Text, Tick};
use std::collections::BTreeMap;

/// Share of the measured time for which a resource that slows a server down must be at its limit.
pub const HALF: f64 = 0.5;
/// The same for a resource that turns connections away when it is exhausted.
pub const TENTH: f64 = 0.1;

/// Values of a reading over the measured time.
pub type ReadingValues = Vec<f64>;

/// A run with readings of its server.
pub struct ServerFacts<'a> {
    run: &'a Run,
    from: Tick,
    to: Tick,
}

impl<'a> ServerFacts<'a> {
    /// Returns None if nothing was measured, or if there are no readings of a server.
    pub fn new(run: &'a Run) -> Option<Self> {
        let (from, to) = run.measured_span()?;
        let facts = Self { run, from, to };
        facts.sources().next()?;
        Some(facts)
    }

    pub fn run(&self) -> &'a Run {
        self.run
    }

    /// Sources of readings of the server.
    pub fn sources(&self) -> impl Iterator<Item = &'a str> {
        self.run.history.keys().map(String::as_str).filter(|source| *source != GENERATOR)
    }

    /// Sources that have readings of this name.
    pub fn sources_with(&self, name: &str) -> Vec<&'a str> {
        self.sources()
            .filter(|source| self.names(source).iter().any(|candidate| candidate == name))
            .collect()
    }

    /// All names that a source has readings of.
    pub fn names(&self, source: &str) -> &'a [String] {
        self.run.history.get(source).map_or(&[], History::names)
    }

    /// Values of a state at each reading within the measured time.
    pub fn states(&self, source: &str, name: &str) -> ReadingValues {
        self.states_at(source, name).into_values().collect()
    }

    /// Values of a state by the time of the reading.
    pub fn states_at(&self, source: &str, name: &str) -> BTreeMap<Tick, f64> {
        let readings = self.run.history.get(source).map(|h| h.values(name)).unwrap_or_default();
        readings.into_iter().filter(|(at, _)| (self.from..=self.to).contains(at)).collect()
    }

    /// Growth of a counter per second, from each reading to the next. Only spans that lie mostly
    /// within the measured time count.
    pub fn rates(&self, source: &str, name: &str) -> ReadingValues {
        self.rates_at(source, name).into_values().collect()
    }

    /// Growth of a counter per second, by the start of the span.
    pub fn rates_at(&self, source: &str, name: &str) -> BTreeMap<Tick, f64> {
        let rates = self.run.history.get(source).map(|h| h.rates(name)).unwrap_or_default();
        // A span that lies mostly outside the measured time describes the warm-up
        // or the grace period.
        let mut within = BTreeMap::new();
        for (from, to, rate) in rates {
            if to.min(self.to).nanos_since(from.max(self.from)) * 2 >= to.nanos_since(from) {
                within.insert(from, rate);
            }
        }
        within
    }

    /// Sum of the rates of several counters that are read together. Counters without
    /// readings are left out.
    pub fn sum_of_rates(&self, source: &str, names: &[&str]) -> BTreeMap<Tick, f64> {
        let mut all =
            names.iter().map(|name| self.rates_at(source, name)).filter(|rates| !rates.is_empty());
        let first = all.next().unwrap_or_default();
        all.fold(first, |sum, next| joined(&sum, &next, |a, b| a + b))
    }

    /// Total growth of a counter over the measured time.
    pub fn growth(&self, source: &str, name: &str) -> Option<f64> {
        let readings = self.run.history.get(source)?.values(name);
        // The last reading before the measured time, so that the first seconds count, too.
        let before = readings.iter().rev().find(|r| r.0 <= self.from).or(readings.first())?;
        let last = readings.iter().rev().find(|r| r.0 <= self.to)?;
        Some((last.1 - before.1).max(0.0))
    }

    /// True if the generator's machine is known to be the server's.
    pub fn same_host(&self) -> bool {
        crate::facts::same_host(self.run) == Some(true)
    }
}

/// Combines the values of two series at the same instants.
pub fn joined(
    a: &BTreeMap<Tick, f64>,
    b: &BTreeMap<Tick, f64>,
    with: impl Fn(f64, f64) -> f64,
) -> BTreeMap<Tick, f64> {
    a.iter().filter_map(|(at, a)| Some((*at, with(*a, *b.get(at)?)))).collect()
}

/// Mean of the values; 0 if there are none.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// A figure, its threshold, and the culprit that it points to.
pub struct BottleneckFigure<'a> {
    pub culprit: Culprit,
    /// Source of the readings.
    pub source: &'a str,
    /// Name of the figure, with its unit.
    pub name: Text,
    /// Values over the measured time.
    pub values: ReadingValues,
    pub threshold: f64,
    /// Side of the threshold on which the resource is at its limit.
    pub side: ThresholdSide,
    /// Share of the readings that must be on that side.
    pub share: f64,
}

impl BottleneckFigure<'_> {
    /// Level that the figure reached or exceeded for the required share of the readings; None if
    /// there are no readings.
    pub fn level(&self) -> Option<f64> {
        let mut values = self.values.clone();
        // The worst values first: the figure was at least this bad for the required share.
        values.sort_by(|a, b| {
            if self.side == ThresholdSide::AtLeast { b.total_cmp(a) } else { a.total_cmp(b) }
        });
        let rank = (values.len() as f64 * self.share).ceil().max(1.0) as usize;
        values.get(rank - 1).copied()
    }
}

impl RuleResult {
    /// Compares a figure with its threshold. Returns its level if the resource is at its limit.
    pub fn compare(&mut self, figure: &BottleneckFigure) -> Option<f64> {
        let value = figure.level()?;
        self.evidence.push(Reason {
            culprit: figure.culprit,
            source: figure.source.to_owned(),
            name: figure.name.clone(),
            value,
            threshold: figure.threshold,
            side: figure.side,
        });
        let at_limit = match figure.side {
            ThresholdSide::AtLeast => value >= figure.threshold,
            ThresholdSide::Below => value < figure.threshold,
        };
        at_limit.then_some(value)
    }
}
