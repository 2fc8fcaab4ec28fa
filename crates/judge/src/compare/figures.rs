//! One figure of a run, as far as it is known.
//!
//! Out of scope: a comparison.

use crate::bottleneck::server_cores;
use brunt_model::Run;
use brunt_model::answer::Estimate;
use brunt_model::numbers::{percent, rate, seconds};
use brunt_model::objective::Metric;
use brunt_model::question::Measure;
use brunt_stats::shift::ValueRange;

/// Returns a figure in seconds, as a share, or per second. A figure that is known from below only
/// has an open upper end. None if nothing is known of it.
pub fn figure(run: &Run, measure: Measure) -> Option<ValueRange> {
    match measure {
        Measure::Run(_) if run.total.planned == 0 => None,
        Measure::Run(metric) => {
            let (value, at_least) = metric.value_in(run);
            let high = if at_least { f64::INFINITY } else { value };
            Some(ValueRange { low: value, high })
        }
        Measure::ServerCpu => {
            let throughput = run.throughput();
            let cores = server_cores(run)?;
            (throughput > 0.0).then(|| ValueRange::exact(cores / throughput))
        }
        // A run has no capacity: a search finds it from many runs.
        Measure::Capacity => None,
    }
}

/// Returns a capacity: the figure that a search found, or its known bounds. The interval of a
/// single search is not used, because the repetitions show how much searches differ.
pub fn capacity(estimate: Estimate) -> Option<ValueRange> {
    match (estimate.value, estimate.low, estimate.high) {
        (Some(value), _, _) => Some(ValueRange::exact(value)),
        (None, None, None) => None,
        (None, low, high) => {
            Some(ValueRange { low: low.unwrap_or(0.0), high: high.unwrap_or(f64::INFINITY) })
        }
    }
}

/// A figure as text, with its unit.
pub fn written(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Run(Metric::Errors) => percent(value),
        Measure::Run(Metric::Throughput | Metric::Goodput) | Measure::Capacity => rate(value),
        Measure::Run(_) | Measure::ServerCpu => seconds(value),
    }
}
