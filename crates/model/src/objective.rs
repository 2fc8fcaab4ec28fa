//! Objectives: bounds on the figures of a run, such as `p99 < 50ms`.

use crate::scenario::ScenarioStep;
use crate::text::Text;
use crate::time::seconds_of;
use crate::{Plan, Run, Tally, TransactionTally, numbers, text};
use brunt_stats::{Histogram, Quantile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A bound on a figure of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// Figure that is bounded.
    pub metric: Metric,
    /// Name of the step or transaction that the bound applies to; null: all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Comparison with the bound.
    pub relation: Relation,
    /// Bound in the unit of the metric: seconds, a share from 0 to 1, or per second.
    pub bound: f64,
}

/// A figure of a run that can be bounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// A quantile (0 to 1) of the response time, in seconds.
    Quantile(f64),
    /// The mean response time, in seconds.
    Mean,
    /// The longest response time, in seconds.
    Max,
    /// The share of errors.
    Errors,
    /// Completed requests per second.
    Throughput,
    /// Good requests per second.
    Goodput,
}

/// Comparison of a figure with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Less than the bound.
    Below,
    /// At most the bound.
    AtMost,
    /// Greater than the bound.
    Above,
    /// At least the bound.
    AtLeast,
}

impl Relation {
    /// True if a value has this relation to a bound.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
        }
    }

    /// Mathematical sign of the relation.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// Result of an objective in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectiveResult {
    /// The objective that was evaluated.
    pub objective: Objective,
    /// Value of the figure; a lower bound if `at_least`.
    pub value: f64,
    /// True if the figure is known only from below.
    pub at_least: bool,
    /// True if the bound was met. A figure that is known only from below never
    /// meets an upper bound.
    pub met: bool,
}

impl Objective {
    /// Evaluates the objective for a run.
    pub fn judge(&self, run: &Run) -> ObjectiveResult {
        let (value, at_least) = match &self.step {
            None => self.metric.value_in(run),
            Some(name) => self.metric.of_step(run, name),
        };
        let is_upper = matches!(self.relation, Relation::Below | Relation::AtMost);
        // The true value of a lower bound may be above the objective's bound.
        let met = self.relation.holds(value, self.bound) && !(at_least && is_upper);
        ObjectiveResult { objective: self.clone(), value, at_least, met }
    }

    /// Formats the figure as users write it: `p99`, `p99 of checkout`.
    pub fn figure(&self) -> String {
        match &self.step {
            None => self.metric.to_string(),
            // Such a name would be ambiguous in the syntax of objectives.
            Some(name) if name.contains([',', '<', '>', '≤', '≥', '"']) || name.trim() != name =>
            {
                format!("{} of \"{name}\"", self.metric)
            }
            Some(name) => format!("{} of {name}", self.metric),
        }
    }

    /// True if a known figure, in the unit of the bound, meets the objective.
    pub fn holds(&self, value: f64) -> bool {
        self.relation.holds(value, self.bound)
    }
}

/// Sums for the computation of figures: of a run, a step, or a transaction.
struct FigureSource<'a> {
    /// True if nothing was requested, so that no figure is known.
    is_empty: bool,
    quantile: &'a dyn Fn(f64) -> Quantile,
    response: &'a Histogram,
    error_share: f64,
    completed_per_second: f64,
    good_per_second: f64,
}

impl Metric {
    /// True if both are the same figure; quantiles may differ by rounding.
    pub fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Quantile(one), Self::Quantile(other)) => (one - other).abs() < 1e-9,
            (one, other) => one == other,
        }
    }

    /// Returns this figure of a run, in its unit, and whether it is known only from below.
    pub fn value_in(self, run: &Run) -> (f64, bool) {
        let tally = &run.total;
        self.figure(&FigureSource {
            completed_per_second: run.throughput(),
            good_per_second: run.goodput(),
            ..FigureSource::of_tally(run, tally, &|q| tally.response_quantile(q))
        })
    }

    /// Returns this figure of a step or transaction, like [`Metric::value_in`].
    fn of_step(self, run: &Run, name: &str) -> (f64, bool) {
        if let Some(tally) = run.transactions.get(name) {
            return self.figure(&FigureSource::of_transaction(run, tally, &|q| {
                tally.response_quantile(q)
            }));
        }
        if run.labels.is_empty() {
            // The only step of a run has no separate tally.
            return self.value_in(run);
        }
        let mut tally = Tally::default();
        for (step, one) in run.steps() {
            if run.label_names.get(&step).is_some_and(|label| label == name) {
                tally.merge(one);
            }
        }
        self.figure(&FigureSource::of_tally(run, &tally, &|q| tally.response_quantile(q)))
    }

    fn figure(self, part: &FigureSource<'_>) -> (f64, bool) {
        match self {
            Self::Quantile(q) => part.seconds_at(q),
            // The quantile includes dropped and cut requests, which the histogram's maximum does
            // not know.
            Self::Max => part.seconds_at(1.0),
            // Without replies the mean is unknown, and 0 would meet every upper bound.
            Self::Mean => (part.response.mean() / 1e9, part.response.is_empty()),
            // Without requests, a bound on errors is not met.
            Self::Errors => (if part.is_empty { 1.0 } else { part.error_share }, false),
            Self::Throughput => (part.completed_per_second, false),
            Self::Goodput => (part.good_per_second, false),
        }
    }
}

impl<'a> FigureSource<'a> {
    /// Returns a quantile in seconds, and whether it is known only from below.
    fn seconds_at(&self, q: f64) -> (f64, bool) {
        let quantile = (self.quantile)(q);
        (seconds_of(quantile.value), quantile.at_least || self.is_empty)
    }

    fn of_tally(run: &Run, tally: &'a Tally, quantile: &'a dyn Fn(f64) -> Quantile) -> Self {
        Self {
            is_empty: tally.planned == 0,
            quantile,
            response: &tally.response,
            error_share: tally.error_share(),
            completed_per_second: run.per_second(tally.completed),
            good_per_second: run.per_second(tally.good),
        }
    }

    fn of_transaction(
        run: &Run,
        tally: &'a TransactionTally,
        quantile: &'a dyn Fn(f64) -> Quantile,
    ) -> Self {
        // Unfinished transactions have no result, so they are no errors either.
        let ended = tally.succeeded + tally.failed;
        Self {
            is_empty: ended == 0,
            quantile,
            response: &tally.response,
            error_share: tally.failed as f64 / ended.max(1) as f64,
            completed_per_second: run.per_second(ended),
            good_per_second: run.per_second(tally.succeeded),
        }
    }
}

impl Objective {
    /// True if a plan has the step or transaction of the objective. A name with a variable becomes
    /// known only during the run, so it applies if it can match.
    pub fn applies_to(&self, plan: &Plan) -> bool {
        self.step
            .as_ref()
            .is_none_or(|step| step_names(plan).iter().any(|name| can_become(name, step)))
    }
}

/// True if a name in a plan, which may contain variables, can become `step` during the run.
fn can_become(name: &str, step: &str) -> bool {
    let Some((start, rest)) = name.split_once("${") else { return name == step };
    // The values of variables are unknown here, so only the fixed ends of the name can decide.
    let end = rest.rsplit_once('}').map_or("", |(_, end)| end);
    step.strip_prefix(start).is_some_and(|rest| rest.ends_with(end))
}

/// Returns the names of a plan's steps and transactions, which objectives can refer to.
pub fn step_names(plan: &Plan) -> Vec<String> {
    let mut names = Vec::new();
    for population in &plan.populations {
        names.extend(population.scenario.requests.iter().map(|request| request.label.clone()));
        ScenarioStep::each(&population.scenario.steps, &mut |step| {
            if let ScenarioStep::Transaction { name, .. } = step {
                names.push(name.clone());
            }
        });
    }
    names
}

impl Metric {
    /// Returns the name of the figure, for people. The syntax of objectives has the English name.
    pub fn words(self) -> Text {
        match self {
            Self::Quantile(q) => numbers::percentile(q).into(),
            Self::Mean => text!("measure.mean"),
            Self::Max => text!("measure.max"),
            Self::Errors => text!("measure.errors"),
            Self::Throughput => text!("measure.throughput"),
            Self::Goodput => text!("measure.goodput"),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())
    }
}

/// Rounds to six decimals, which removes the error of binary fractions.
fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.figure(), self.relation.symbol())?;
        match self.metric {
            Metric::Errors => write!(f, "{}%", numbers::exact_percent(self.bound)),
            Metric::Throughput | Metric::Goodput => write!(f, "{}/s", self.bound),
            // The syntax of objectives has these units, so the text can be read again.
            _ if self.bound < 1.0 => write!(f, "{}ms", rounded(self.bound * 1e3)),
            _ => write!(f, "{}s", rounded(self.bound)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::can_become;

    #[test]
    fn names_with_variables_match_possible_names() {
        for (name, step, can) in [
            ("buy", "buy", true),
            ("buy", "buy 2", false),
            ("main ${__P(a,${b})}", "main yes", true),
            ("main ${x}", "count", false),
            ("${x} end", "the end", true),
            ("${x} end", "ending", false),
            ("a ${x} b", "a b", false),
            ("a ${x} or ${y} b", "a 1 or 2 b", true),
            ("${x}", "anything", true),
        ] {
            assert_eq!(can_become(name, step), can, "{name} {step}");
        }
    }
}
