//! One figure of a run, as far as it is known.
//!
//! Out of scope: a comparison.

use crate::bottleneck::server_cores;
use brunt_model::Run;
use brunt_model::answer::Estimate;
use brunt_model::numbers::{percent, rate, seconds};
use brunt_model::objective::Metric;
use brunt_model::question::Measure;
use brunt_stats::shift::Between;

/// The figure: seconds, a share, or per second. One that is known from below only has an open end; None where nothing is
/// known of it.
pub fn figure(run: &Run, measure: Measure) -> Option<Between> {
    match measure {
        Measure::Run(_) if run.total.planned == 0 => None,
        Measure::Run(metric) => {
            let (value, at_least) = metric.of(run);
            let high = if at_least { f64::INFINITY } else { value };
            Some(Between { low: value, high })
        }
        Measure::ServerCpu => {
            let throughput = run.throughput();
            let cores = server_cores(run)?;
            (throughput > 0.0).then(|| Between::at(cores / throughput))
        }
        // A run has none: it is what a search finds of many.
        Measure::Capacity => None,
    }
}

/// A capacity: the figure that a search found, or what is known of it. The interval of the one search counts for nothing: how
/// much searches differ is seen from one repetition to the next.
pub fn capacity(at: Estimate) -> Option<Between> {
    match (at.value, at.low, at.high) {
        (Some(value), _, _) => Some(Between::at(value)),
        (None, None, None) => None,
        (None, low, high) => Some(Between { low: low.unwrap_or(0.0), high: high.unwrap_or(f64::INFINITY) }),
    }
}

/// It in words.
pub fn written(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Run(Metric::Errors) => percent(value),
        Measure::Run(Metric::Throughput | Metric::Goodput) | Measure::Capacity => rate(value),
        Measure::Run(_) | Measure::ServerCpu => seconds(value),
    }
}
