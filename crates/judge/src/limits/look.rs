//! What a rule has found: figures beside their thresholds, and for how long they were over.

use crate::facts::{Facts, Span, Stretch, together};
use brunt_model::finding::{Evidence, Limit, Origin, Side};
use brunt_model::numbers::short_seconds;
use std::time::Duration;

/// For this share of the measured time, what slows a generator down is a cause.
pub const TENTH: f64 = 0.1;
/// For this share, what loses packets is one: a hundredth of all requests is what p99 is made of.
pub const HUNDREDTH: f64 = 0.01;

/// What a rule has found.
#[derive(Debug, Clone)]
pub struct RuleResult {
    /// Each figure at its worst, beside its threshold.
    pub evidence: Vec<Evidence>,
    /// When one of them was over its threshold.
    pub over: Vec<Stretch>,
    /// Whether that is a cause.
    pub standing: CauseState,
    /// Origin, if it is a cause.
    pub origin: Origin,
    /// What was seen, where it is a cause.
    pub sentence: String,
    /// What to do about it.
    pub remedy: String,
    measured: Duration,
}

/// Whether something is a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseState {
    /// It is none.
    Nothing,
    /// It was over its threshold for a moment.
    Brief,
    /// It is one.
    Cause,
}

/// From where on a figure is over its threshold.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// From here upwards.
    AtLeast(f64),
    /// From here downwards.
    Below(f64),
}

/// A figure over time, and its threshold.
pub struct Figure {
    /// What it bears on.
    pub limit: Limit,
    /// Its name, with its unit.
    pub name: String,
    /// Its values.
    pub spans: Vec<Span>,
    /// Its threshold.
    pub bound: Bound,
}

impl Figure {
    /// Its value at the worst time; None where it was never read.
    pub fn worst(&self) -> Option<f64> {
        let values = self.spans.iter().map(|span| span.value);
        match self.bound {
            Bound::AtLeast(_) => values.reduce(f64::max),
            Bound::Below(_) => values.reduce(f64::min),
        }
    }

    fn evidence(&self) -> Option<Evidence> {
        let (threshold, side) = match self.bound {
            Bound::AtLeast(threshold) => (threshold, Side::AtLeast),
            Bound::Below(threshold) => (threshold, Side::Below),
        };
        Some(Evidence { limit: self.limit, name: self.name.clone(), value: self.worst()?, threshold, side })
    }

    fn over(&self) -> impl Iterator<Item = Stretch> + '_ {
        let is_over = |value: f64| match self.bound {
            Bound::AtLeast(threshold) => value >= threshold,
            Bound::Below(threshold) => value < threshold,
        };
        self.spans.iter().filter(move |span| is_over(span.value)).map(|span| (span.from, span.to))
    }
}

impl RuleResult {
    /// Nothing has been found yet.
    pub fn at(facts: &Facts) -> Self {
        Self {
            evidence: Vec::new(),
            over: Vec::new(),
            standing: CauseState::Nothing,
            origin: Origin::Generator,
            sentence: String::new(),
            remedy: String::new(),
            measured: facts.measured(),
        }
    }

    /// Holds a figure against its threshold: over it for the share `enough` of the measured time, it is a cause.
    pub fn hold(mut self, figure: &Figure, enough: f64) -> Self {
        self.evidence.extend(figure.evidence());
        let over: Vec<Stretch> = figure.over().collect();
        let share = together(&over).as_secs_f64() / self.measured.as_secs_f64();
        let standing = match share {
            share if share >= enough => CauseState::Cause,
            share if share > 0.0 => CauseState::Brief,
            _ => CauseState::Nothing,
        };
        self.over.extend(over);
        self.standing = self.standing.max(standing);
        self
    }

    /// A count that should be 0: any other is a cause, which lasted for these times.
    pub fn none_of(mut self, limit: Limit, name: &str, count: u64, times: Vec<Stretch>) -> Self {
        let (name, value) = (name.to_owned(), count as f64);
        self.evidence.push(Evidence { limit, name, value, threshold: 1.0, side: Side::AtLeast });
        if count > 0 {
            self.over.extend(times);
            self.standing = CauseState::Cause;
        }
        self
    }

    /// It is a cause only if that is so; its evidence stays.
    pub fn only_if(mut self, matters: impl FnOnce() -> bool) -> Self {
        if self.standing != CauseState::Nothing && !matters() {
            self.standing = CauseState::Nothing;
        }
        self
    }

    /// Shows a figure that decides nothing.
    pub fn show(mut self, figure: &Figure) -> Self {
        self.evidence.extend(figure.evidence());
        self
    }

    /// Someone else than the generator used it up.
    pub fn by(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// What to say where it is a cause.
    pub fn say(mut self, sentence: String, remedy: impl Into<String>) -> Self {
        (self.sentence, self.remedy) = (sentence, remedy.into());
        self
    }

    /// For how long a figure was over its threshold.
    pub fn lasted(&self) -> Duration {
        together(&self.over)
    }

    /// The same in words: `for 3.0 s of 10.0 s`.
    pub fn for_so_long(&self) -> String {
        format!("for {} of {}", short_seconds(self.lasted()), short_seconds(self.measured))
    }
}
