//! When the run was steady, and how sure its figures are.

use brunt_model::Run;
use brunt_model::finding::{Estimate, Interval, Steady};

/// When the run was steady, the percentiles of its response time and its throughput, with their intervals.
pub fn figures(_run: &Run) -> (Option<Steady>, Vec<Interval>, Option<Estimate>) {
    (None, Vec::new(), None)
}
