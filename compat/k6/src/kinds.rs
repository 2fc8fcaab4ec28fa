//! Kinds and declarations of metrics.

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A sum of values.
    Counter,
    /// A level, of which the last value counts.
    Gauge,
    /// A share of values that are not 0.
    Rate,
    /// A distribution of values.
    Trend,
}

impl MetricKind {
    /// Parses the word of a script.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Counter, Self::Gauge, Self::Rate, Self::Trend]
            .into_iter()
            .find(|kind| kind.word() == word)
    }

    /// Name of the kind in k6's outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        }
    }
}

/// What the values of a metric are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Numbers without a unit.
    Number,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Unit {
    /// Name of the unit in k6's outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Number => "default",
            Self::Time => "time",
            Self::Data => "data",
        }
    }
}

/// The declaration of a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Name of the metric.
    pub name: String,
    /// Kind of the metric.
    pub kind: MetricKind,
    /// What its values are.
    pub unit: Unit,
}
