//! Result of a rule: figures with their thresholds, and the time for which they were over them.

use crate::facts::{ReadingSpan, RunFacts, UnreadSpan, total_length};
use crate::texts::message;
use brunt_model::Text;
use brunt_model::finding::{FigureEvidence, LimitingResource, ThresholdSide, UseOrigin};
use brunt_model::numbers::short_seconds;
use std::time::Duration;

/// Share of the measured time for which a limit that slows the generator down must hold
/// to be a cause.
pub const TENTH: f64 = 0.1;
/// The same for a limit that loses packets: p99 is made of a hundredth of all requests.
pub const HUNDREDTH: f64 = 0.01;

/// Result of one rule.
#[derive(Debug, Clone)]
pub struct RuleResult {
    /// The worst value of each figure, with its threshold.
    pub evidence: Vec<FigureEvidence>,
    /// Times in which a figure was over its threshold.
    pub over: Vec<UnreadSpan>,
    pub state: CauseState,
    /// Origin, if it is a cause.
    pub origin: UseOrigin,
    /// Description of the cause; empty if it is none.
    pub sentence: Text,
    pub remedy: Text,
    measured: Duration,
}

/// State of a rule: cause or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseState {
    NoCause,
    /// Over its threshold for a part of the measured time that is too short for a cause.
    Brief,
    Cause,
}

/// Threshold of a figure, and the side on which it is exceeded.
#[derive(Debug, Clone, Copy)]
pub enum FigureThreshold {
    AtLeast(f64),
    Below(f64),
}

/// A figure over time, and its threshold.
pub struct LimitFigure {
    /// Limit that the figure points to.
    pub limit: LimitingResource,
    /// Name of the figure, with its unit.
    pub name: String,
    pub spans: Vec<ReadingSpan>,
    pub bound: FigureThreshold,
}

impl LimitFigure {
    /// The worst value; None if the figure was never read.
    pub fn worst(&self) -> Option<f64> {
        let values = self.spans.iter().map(|span| span.value);
        match self.bound {
            FigureThreshold::AtLeast(_) => values.reduce(f64::max),
            FigureThreshold::Below(_) => values.reduce(f64::min),
        }
    }

    fn evidence(&self) -> Option<FigureEvidence> {
        let (threshold, side) = match self.bound {
            FigureThreshold::AtLeast(threshold) => (threshold, ThresholdSide::AtLeast),
            FigureThreshold::Below(threshold) => (threshold, ThresholdSide::Below),
        };
        Some(FigureEvidence {
            limit: self.limit,
            name: self.name.clone(),
            value: self.worst()?,
            threshold,
            side,
        })
    }

    fn over(&self) -> impl Iterator<Item = UnreadSpan> + '_ {
        let is_over = |value: f64| match self.bound {
            FigureThreshold::AtLeast(threshold) => value >= threshold,
            FigureThreshold::Below(threshold) => value < threshold,
        };
        self.spans.iter().filter(move |span| is_over(span.value)).map(|span| (span.from, span.to))
    }
}

impl RuleResult {
    /// Returns an empty result. Its origin is unknown until the rule proves one.
    pub fn new(facts: &RunFacts) -> Self {
        Self {
            evidence: Vec::new(),
            over: Vec::new(),
            state: CauseState::NoCause,
            origin: UseOrigin::Unknown,
            sentence: Text::default(),
            remedy: Text::default(),
            measured: facts.measured(),
        }
    }

    /// Compares a figure with its threshold. If it is over it for the share `enough` of the
    /// measured time, it is a cause.
    pub fn compare(mut self, figure: &LimitFigure, enough: f64) -> Self {
        self.evidence.extend(figure.evidence());
        let over: Vec<UnreadSpan> = figure.over().collect();
        let share = total_length(&over).as_secs_f64() / self.measured.as_secs_f64();
        let state = match share {
            share if share >= enough => CauseState::Cause,
            share if share > 0.0 => CauseState::Brief,
            _ => CauseState::NoCause,
        };
        self.over.extend(over);
        // A rule with several figures has the state of its worst figure.
        self.state = self.state.max(state);
        self
    }

    /// Expects a count of 0: any other count is a cause, which lasted for `times`.
    pub fn expect_zero(
        mut self,
        limit: LimitingResource,
        name: &str,
        count: u64,
        times: Vec<UnreadSpan>,
    ) -> Self {
        self.evidence.push(FigureEvidence {
            limit,
            name: name.to_owned(),
            value: count as f64,
            threshold: 1.0,
            side: ThresholdSide::AtLeast,
        });
        if count > 0 {
            self.over.extend(times);
            self.state = CauseState::Cause;
        }
        self
    }

    /// Makes it no cause unless `matters` returns true; the evidence stays.
    pub fn only_if(mut self, matters: impl FnOnce() -> bool) -> Self {
        if self.state != CauseState::NoCause && !matters() {
            self.state = CauseState::NoCause;
        }
        self
    }

    /// Adds a figure to the evidence that decides nothing.
    pub fn with_evidence(mut self, figure: &LimitFigure) -> Self {
        self.evidence.extend(figure.evidence());
        self
    }

    /// Sets the origin of a cause, which the rule has proven.
    pub fn with_origin(self, origin: UseOrigin) -> Self {
        Self { origin, ..self }
    }

    /// Sets the description of the cause, and its remedy.
    pub fn with_message(mut self, sentence: Text, remedy: impl Into<Text>) -> Self {
        self.sentence = sentence;
        self.remedy = remedy.into();
        self
    }

    /// Time for which a figure was over its threshold.
    pub fn over_duration(&self) -> Duration {
        total_length(&self.over)
    }

    /// The same as text: `for 3.0 s of 10.0 s`.
    pub fn duration_text(&self) -> Text {
        let over = short_seconds(self.over_duration());
        message!("duration-of-run", over, measured = short_seconds(self.measured))
    }
}
