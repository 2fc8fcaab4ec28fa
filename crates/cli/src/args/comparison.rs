//! What a comparison is to decide, as options.

use brunt_model::Measure;
use brunt_model::question::Regression;
use brunt_spec::defaults;
use brunt_spec::plan::PlannedCompare;
use brunt_spec::words::compare::{self, At};
use clap::Args;
use std::time::Duration;

/// What makes one contender better than another.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Comparison")]
pub struct SpecArgs {
    /// Loads at which servers are compared: the given ones (load), each server's capacity within --objective, searched in each
    /// repetition (capacity), or both [default: load]
    #[arg(long, value_name = "WHERE", value_parser = compare::at)]
    pub at: Option<At>,

    /// Metrics to compare: p99, p50, mean, max, errors, throughput, goodput, cpu, capacity; the first decides [default: p99, p50,
    /// throughput, errors; of a closed loop throughput first; and cpu where it is read; capacity before all with --at]
    #[arg(long = "metric", value_name = "LIST", value_parser = compare::measures)]
    metrics: Vec<Vec<Measure>>,

    #[arg(long = "min-difference", value_name = "SHARE", value_parser = compare::share)]
    #[arg(help = defaulted("Smallest relevant difference; servers within it are equivalent", defaults::SMALLEST))]
    smallest: Option<f64>,

    #[arg(long, value_name = "CHANCE", value_parser = compare::alpha)]
    #[arg(help = defaulted("Significance level: chance that equal servers are found to differ", defaults::ALPHA))]
    alpha: Option<f64>,

    /// Exit code 9 if the whole confidence interval is beyond this difference, such as 'p99 worse by 5%'; repeatable
    #[arg(long = "fail-if", value_name = "DIFFERENCE", value_parser = compare::regressions)]
    fail_if: Vec<Vec<Regression>>,

    /// Exit code 8 if the comparison is undecided; without this option it is only reported
    #[arg(long)]
    pub require_decision: bool,
}

impl SpecArgs {
    /// The same as a plan file would say it; where it says nothing, the plan is heard.
    pub fn told(&self, within: Option<Duration>, plan: Option<PlannedCompare>) -> PlannedCompare {
        let plan = plan.unwrap_or_default();
        PlannedCompare {
            at: self.at.or(plan.at),
            metrics: (!self.metrics.is_empty()).then(|| self.metrics.concat()).or(plan.metrics),
            smallest: self.smallest.or(plan.smallest),
            alpha: self.alpha.or(plan.alpha),
            within: within.or(plan.within),
            fail_if: if self.fail_if.is_empty() { plan.fail_if } else { self.fail_if.concat() },
        }
    }
}

/// A help text with a default that depends on others, shown as clap shows the plain ones.
pub fn defaulted(help: &str, default: &str) -> String {
    format!("{help} [default: {default}]")
}
