//! What the rules look at: the readings of the server within the measured time, as levels.
//!
//! Out of scope: a judgement. What was not read gives no level.

use super::RuleResult;
use brunt_model::analysis::{Culprit, Reason};
use brunt_model::finding::Side;
use brunt_model::history::History;
use brunt_model::reading_names::GENERATOR;
use brunt_model::{Run, Tick};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// For so much of the measured time, what slows a server down is its limit.
pub const HALF: f64 = 0.5;
/// For so much of it, what turns connections away is.
pub const TENTH: f64 = 0.1;

/// Values over the measured time.
pub type Values = Vec<f64>;

/// What the rules look at.
pub struct Facts<'a> {
    run: &'a Run,
    from: Tick,
    to: Tick,
}

impl<'a> Facts<'a> {
    /// None where nothing was measured, or nothing was read of a server.
    pub fn of(run: &'a Run) -> Option<Self> {
        let (from, to) = run.measured_span()?;
        let facts = Self { run, from, to };
        facts.sources().next()?;
        Some(facts)
    }

    /// The run itself.
    pub fn run(&self) -> &'a Run {
        self.run
    }

    /// The sources of readings of the server.
    pub fn sources(&self) -> impl Iterator<Item = &'a str> {
        self.run.history.keys().map(String::as_str).filter(|source| *source != GENERATOR)
    }

    /// Those that tell this.
    pub fn telling(&self, name: &str) -> Vec<&'a str> {
        self.sources().filter(|source| self.names(source).iter().any(|own| own == name)).collect()
    }

    /// All that a source tells.
    pub fn names(&self, source: &str) -> &'a [String] {
        self.run.history.get(source).map_or(&[], History::names)
    }

    /// A state at each reading within the measured time.
    pub fn states(&self, source: &str, name: &str) -> Values {
        self.states_at(source, name).into_values().collect()
    }

    /// The same by when it was read.
    pub fn states_at(&self, source: &str, name: &str) -> BTreeMap<Tick, f64> {
        let readings = self.run.history.get(source).map(|h| h.of(name)).unwrap_or_default();
        readings.into_iter().filter(|(at, _)| (self.from..=self.to).contains(at)).collect()
    }

    /// The growth of a counter per second, from each reading to the next; spans that lie mostly within the measured time.
    pub fn rates(&self, source: &str, name: &str) -> Values {
        self.rates_at(source, name).into_values().collect()
    }

    /// The same by when it began.
    pub fn rates_at(&self, source: &str, name: &str) -> BTreeMap<Tick, f64> {
        let rates = self.run.history.get(source).map(|h| h.rates(name)).unwrap_or_default();
        let within =
            |from: Tick, to: Tick| to.min(self.to).nanos_since(from.max(self.from)) * 2 >= to.nanos_since(from);
        rates.into_iter().filter(|(from, to, _)| within(*from, *to)).map(|(from, _, rate)| (from, rate)).collect()
    }

    /// The sum of the rates of several counters that are read together; those that are not read at all are left out.
    pub fn sum_of_rates(&self, source: &str, names: &[&str]) -> BTreeMap<Tick, f64> {
        let mut all = names.iter().map(|name| self.rates_at(source, name)).filter(|rates| !rates.is_empty());
        let first = all.next().unwrap_or_default();
        all.fold(first, |sum, next| joined(&sum, &next, |a, b| a + b))
    }

    /// How much a counter grew in all.
    pub fn growth(&self, source: &str, name: &str) -> Option<f64> {
        let readings = self.run.history.get(source)?.of(name);
        let before = readings.iter().rev().find(|r| r.0 <= self.from).or(readings.first())?;
        let last = readings.iter().rev().find(|r| r.0 <= self.to)?;
        Some((last.1 - before.1).max(0.0))
    }

    /// Whether the generator's machine is the server's, as far as that is known.
    pub fn same_host(&self) -> bool {
        let environment = &self.run.environment;
        if let Some(same) = environment.route.as_ref().and_then(|route| route.same_host) {
            return same;
        }
        let ip = |text: &String| {
            text.parse::<IpAddr>().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
        };
        let addresses = &environment.addresses;
        !addresses.is_empty() && addresses.iter().all(|text| ip(text).is_some_and(|ip| ip.is_loopback()))
    }
}

/// Values at the same instants.
pub fn joined(a: &BTreeMap<Tick, f64>, b: &BTreeMap<Tick, f64>, with: impl Fn(f64, f64) -> f64) -> BTreeMap<Tick, f64> {
    a.iter().filter_map(|(at, a)| Some((*at, with(*a, *b.get(at)?)))).collect()
}

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// A figure, and what it is held against.
pub struct Figure<'a> {
    /// What it bears on.
    pub culprit: Culprit,
    /// Whose it is.
    pub source: &'a str,
    /// Its name, with its unit.
    pub name: String,
    /// Its values over the measured time.
    pub values: Values,
    /// From where on it counts.
    pub threshold: f64,
    /// On which side of it.
    pub side: Side,
    /// For which share of the readings.
    pub share: f64,
}

impl Figure<'_> {
    /// The level that it kept to, or went beyond, for that share of the readings; None where there are none.
    pub fn level(&self) -> Option<f64> {
        let mut values = self.values.clone();
        values.sort_by(|a, b| if self.side == Side::AtLeast { b.total_cmp(a) } else { a.total_cmp(b) });
        let rank = (values.len() as f64 * self.share).ceil().max(1.0) as usize;
        values.get(rank - 1).copied()
    }
}

impl RuleResult {
    /// Holds a figure against its threshold: its level, where that is at its limit.
    pub fn hold(&mut self, figure: &Figure) -> Option<f64> {
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
            Side::AtLeast => value >= figure.threshold,
            Side::Below => value < figure.threshold,
        };
        at_limit.then_some(value)
    }

    /// Something is at its limit; what was found before is told with it.
    pub fn say(&mut self, sentence: String) {
        self.sentence = Some(match self.sentence.take() {
            Some(before) => format!("{before}; {sentence}"),
            None => sentence,
        });
    }
}
