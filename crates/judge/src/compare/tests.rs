//! Tests of comparisons of figures made by hand, and of studies.

mod capacities;
mod simulated;
mod studies;
mod words;

use super::decide::{PairDecision, decide};
use super::sample::{FigurePair, PairFigures, SampleDesign};
use brunt_model::objective::Metric;
use brunt_model::question::{ComparisonSettings, Measure};
use brunt_stats::shift::ValueRange;

const P99: Measure = Measure::Run(Metric::Quantile(0.99));
const P50: Measure = Measure::Run(Metric::Quantile(0.5));
const THROUGHPUT: Measure = Measure::Run(Metric::Throughput);
const ERRORS: Measure = Measure::Run(Metric::Errors);

/// The default comparison: p99 first, 2 % matter, 5 % error probability.
fn spec(metrics: &[Measure]) -> ComparisonSettings {
    ComparisonSettings {
        metrics: metrics.to_vec(),
        factor: None,
        smallest: 0.02,
        alpha: 0.05,
        fail_if: Vec::new(),
        within: None,
        at_capacity: None,
    }
}

/// A measure that is `ours` for one contender, and multiplied by these factors for the other.
fn times(ours: &[f64], times: &[f64], most: u32) -> FigurePair {
    let block = |(value, times): (&f64, &f64)| {
        (ValueRange::exact(*value), ValueRange::exact(value * times))
    };
    let (ours, theirs) = ours.iter().zip(times).map(block).unzip();
    FigurePair { ours, theirs, design: SampleDesign::Blocks { most } }
}

fn pair(figures: Vec<(Measure, FigurePair)>) -> PairFigures {
    PairFigures { theirs: "B".into(), figures }
}

fn decided(pairs: &[PairFigures], spec: &ComparisonSettings) -> Vec<PairDecision> {
    decide(pairs, &super::measures(spec), spec).0
}
