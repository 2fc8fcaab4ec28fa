//! Thresholds: conditions on metrics, and on parts of them by tags.

use crate::kinds::MetricKind;
use brunt_model::metric::{Metric, Metrics};
use std::fmt;
use std::time::Duration;

/// A metric, or the part of it with these tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// Name of the metric.
    pub metric: String,
    /// Names and values of tags; empty: the whole metric.
    pub tags: Vec<(String, String)>,
    /// The selector as the script writes it.
    text: String,
}

impl Selector {
    /// Reads `metric` or `metric{name:value,name:value}`.
    ///
    /// # Errors
    ///
    /// A tag has no value, or a brace is missing.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Values may contain `:`, as in `group:::name`.
        let Some((metric, rest)) = text.split_once('{') else {
            return Ok(Self { metric: text.trim().into(), tags: Vec::new(), text: text.into() });
        };
        let Some(list) = rest.trim_end().strip_suffix('}') else {
            return Err(format!("`{text}` has no closing brace; write METRIC{{TAG:VALUE}}"));
        };
        let tags = list.split(',').filter(|tag| !tag.trim().is_empty()).map(|tag| {
            let (name, value) = tag.split_once(':').ok_or_else(|| {
                format!("the tag `{tag}` of `{text}` has no value; write METRIC{{TAG:VALUE}}")
            })?;
            let value = value.trim();
            let unquoted = value
                .strip_prefix('"')
                .and_then(|value| value.strip_suffix('"'))
                .or_else(|| value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')));
            Ok((
                name.trim().trim_matches(['"', '\'']).to_owned(),
                unquoted.unwrap_or(value).to_owned(),
            ))
        });
        let tags = tags.collect::<Result<_, String>>()?;
        Ok(Self { metric: metric.trim().into(), tags, text: text.into() })
    }

    /// True if the tags have the values of the selector.
    pub fn matches(&self, tag: &dyn Fn(&str) -> Option<String>) -> bool {
        self.tags.iter().all(|(name, value)| tag(name).is_some_and(|own| own == *value))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A condition on a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The condition as the script writes it.
    pub text: String,
    figure: Figure,
    operator: Operator,
    bound: f64,
    /// True: the run ends as soon as the condition does not hold.
    pub aborts: bool,
    /// Time before the condition is first evaluated.
    pub delay: Duration,
}

/// The figure of a metric that a condition compares.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Count,
    Rate,
    Value,
    Mean,
    Min,
    Max,
    /// A share, from 0 to 1.
    Quantile(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    NotEqual,
}

/// Longer operators come first, because they begin like shorter ones.
const OPERATORS: [(&str, Operator); 8] = [
    ("===", Operator::Equal),
    ("!==", Operator::NotEqual),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl Threshold {
    /// Reads a condition such as `p(95) < 500`.
    ///
    /// # Errors
    ///
    /// The text is no such condition.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| {
            format!(
                "the threshold `{text}` cannot be read; write a figure, an operator and a number, such as `p(95)<500`, `rate<0.01` or `count>=10`"
            )
        })
    }

    fn read(text: &str) -> Option<Self> {
        let (place, (sign, operator)) = OPERATORS
            .iter()
            .filter_map(|row| Some((text.find(row.0)?, *row)))
            .min_by_key(|(place, (sign, _))| (*place, usize::MAX - sign.len()))?;
        let figure = match text[..place].trim() {
            "count" => Figure::Count,
            "rate" => Figure::Rate,
            "value" => Figure::Value,
            "avg" => Figure::Mean,
            "min" => Figure::Min,
            "max" => Figure::Max,
            "med" => Figure::Quantile(0.5),
            other => {
                let percent = other.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
                // k6 also accepts fractions: `p(99.9)`.
                let percent: f64 = percent.and_then(|p| p.trim().parse().ok())?;
                if !(0.0..=100.0).contains(&percent) {
                    return None;
                }
                Figure::Quantile(percent / 100.0)
            }
        };
        let bound = text[place + sign.len()..].trim().parse().ok()?;
        Some(Self {
            text: text.to_owned(),
            figure,
            operator,
            bound,
            aborts: false,
            delay: Duration::ZERO,
        })
    }

    /// Checks that metrics of a kind have the figure.
    ///
    /// # Errors
    ///
    /// Metrics of this kind do not have it.
    pub fn check_kind(&self, kind: MetricKind, metric: &str) -> Result<(), String> {
        let (fits, figures) = match kind {
            MetricKind::Counter => {
                (matches!(self.figure, Figure::Count | Figure::Rate), "count and rate")
            }
            MetricKind::Gauge => (self.figure == Figure::Value, "value"),
            MetricKind::Rate => (self.figure == Figure::Rate, "rate"),
            MetricKind::Trend => (
                !matches!(self.figure, Figure::Rate | Figure::Value),
                "avg, min, max, med, p(N) and count",
            ),
        };
        if fits {
            return Ok(());
        }
        let kind = kind.word();
        Err(format!("the threshold `{}` of `{metric}`: a {kind} has {figures}", self.text))
    }

    /// Returns the figure of a metric after this time. None: the metric has no values.
    pub fn figure(&self, metric: &Metric, elapsed: Duration) -> Option<f64> {
        Some(match (metric, self.figure) {
            (Metric::Counter { sum, .. }, Figure::Count) => *sum,
            (Metric::Counter { sum, .. }, Figure::Rate) => {
                sum / elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
            }
            (Metric::Gauge { last, .. }, Figure::Value) => *last,
            (Metric::Rate { passed, total }, Figure::Rate) if *total > 0 => {
                *passed as f64 / *total as f64
            }
            (Metric::Trend(trend), Figure::Count) => trend.count() as f64,
            (Metric::Trend(trend), _) if trend.count() == 0 => return None,
            (Metric::Trend(trend), Figure::Mean) => trend.mean(),
            (Metric::Trend(trend), Figure::Min) => trend.min(),
            (Metric::Trend(trend), Figure::Max) => trend.max(),
            (Metric::Trend(trend), Figure::Quantile(share)) => trend.quantile(share),
            _ => return None,
        })
    }

    /// True if the condition holds for a metric after this time. None: the metric has no values.
    fn holds(&self, metric: &Metric, elapsed: Duration) -> Option<bool> {
        let value = self.figure(metric, elapsed)?;
        Some(match self.operator {
            Operator::Less => value < self.bound,
            Operator::AtMost => value <= self.bound,
            Operator::Greater => value > self.bound,
            Operator::AtLeast => value >= self.bound,
            Operator::Equal => value == self.bound,
            Operator::NotEqual => value != self.bound,
        })
    }
}

/// The thresholds of a metric, or of a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricThresholds {
    /// The metric, or the part of it.
    pub selector: Selector,
    /// Its conditions; empty: the part is only shown.
    pub thresholds: Vec<Threshold>,
}

impl MetricThresholds {
    /// Returns for each condition whether it holds. Without values, it holds, as in k6; only a counter has the
    /// value 0.
    pub fn results(&self, kind: MetricKind, metrics: &Metrics, elapsed: Duration) -> Vec<bool> {
        // A counter that nothing has increased is 0, and not absent.
        let zero = Metric::Counter { sum: 0.0, count: 0 };
        let own = metrics.figures.get(&self.selector.to_string());
        let own = own.or((kind == MetricKind::Counter).then_some(&zero));
        let results = self.thresholds.iter().map(|threshold| threshold.holds(own?, elapsed));
        results.map(|holds| holds.unwrap_or(true)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::metric::Trend;

    fn trend(values: &[f64]) -> Metric {
        let mut trend = Trend::default();
        for value in values {
            trend.record(*value);
        }
        Metric::Trend(trend)
    }

    #[test]
    fn conditions_compare_figures() {
        let times = trend(&[100.0, 200.0, 300.0, 400.0, 500.0]);
        let share = Metric::Rate { passed: 1, total: 4 };
        let sum = Metric::Counter { sum: 30.0, count: 3 };
        let level = Metric::Gauge { last: 5.0, least: 1.0, most: 9.0 };
        for (text, metric, holds) in [
            ("p(95)<480.5", &times, Some(true)),
            ("p(95) < 479", &times, Some(false)),
            ("med<=300.3", &times, Some(true)),
            ("avg>=300", &times, Some(true)),
            ("max!=500", &times, Some(false)),
            ("min === 100", &times, Some(true)),
            ("count>4", &times, Some(true)),
            ("p(99.9)<=500", &times, Some(true)),
            ("rate<0.3", &share, Some(true)),
            ("rate>0.25", &share, Some(false)),
            ("count<31", &sum, Some(true)),
            ("rate==3", &sum, Some(true)),
            ("value==5", &level, Some(true)),
            ("avg<1", &trend(&[]), None),
        ] {
            let threshold = Threshold::parse(text).unwrap();
            assert_eq!(threshold.holds(metric, Duration::from_secs(10)), holds, "{text}");
        }
        for text in ["", "p(95)", "<5", "p(101)<5", "p95<5", "rate<x", "rate=0.1", "mean<1"] {
            assert!(Threshold::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn selectors_have_tags_with_and_without_quotes() {
        for (text, tags) in [
            ("http_reqs", &[][..]),
            ("http_reqs{}", &[]),
            ("http_reqs{name:a b}", &[("name", "a b")]),
            ("http_reqs{ name: 'a', status:\"200\" }", &[("name", "a"), ("status", "200")]),
            ("http_reqs{group:::outer::inner}", &[("group", "::outer::inner")]),
        ] {
            let selector = Selector::parse(text).unwrap();
            let found: Vec<_> =
                selector.tags.iter().map(|(name, value)| (&name[..], &value[..])).collect();
            assert_eq!((&selector.metric[..], &found[..]), ("http_reqs", tags), "{text}");
        }
        assert!(Selector::parse("a{b:c").is_err() && Selector::parse("a{b}").is_err());
    }
}
