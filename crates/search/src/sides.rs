//! Decides on which side of a capacity a trial lies, while it is running.
//!
//! The test may be repeated at any time. It is a confidence sequence by the method of mixtures
//! (Robbins, Annals of Mathematical Statistics 41, 1970). Its form is that for sums that are only
//! nearly normal (Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas, "Time-uniform central limit theory
//! and asymptotic confidence sequences", Annals of Statistics 52, 2024). Blocks are autocorrelated,
//! so their number is the effective one.

use crate::bound::ObjectiveFigure;
use crate::summary::{BoundCount, TrialBlock, bounds};
use brunt_model::CapacitySearch;
use brunt_model::answer::LoadSide;
use brunt_stats::blocks;

/// Maximum probability of a wrong decision, over all repetitions of the test.
const ALPHA: f64 = 0.05;
/// Number of standard errors that is exceeded by chance once in 160 cases. The margin covers that a
/// few trials are tested and the highest load is used.
const ONE_LOOK: f64 = 2.5;
/// Number of independent blocks at which the sequence is narrowest.
const BEST_AT: f64 = 20.0;

/// Returns the side of each set's capacity on which the load lies, from the blocks so far.
pub fn sides(find: &CapacitySearch, blocks: &[TrialBlock]) -> Vec<LoadSide> {
    let mut sides = Vec::new();
    for (set, bounds) in bounds(find).iter().enumerate() {
        let each = bounds.iter().enumerate().map(|(index, bound)| {
            let undisturbed = blocks.iter().filter(|block| !block.is_contested);
            let parts: Vec<BoundCount> =
                undisturbed.filter_map(|block| block.parts.get(set)?.get(index).copied()).collect();
            side(&parts, bound)
        });
        sides.push(joined(&each.collect::<Vec<_>>()));
    }
    sides
}

/// Combines the sides of single objectives: a load is below if all objectives are met.
pub(crate) fn joined(each: &[LoadSide]) -> LoadSide {
    if each.contains(&LoadSide::Above) {
        LoadSide::Above
    } else if each.iter().all(|side| *side == LoadSide::Below) {
        LoadSide::Below
    } else {
        LoadSide::Undecided
    }
}

/// Returns the side on which the load lies by one objective. It is below if all effects of lag are
/// included, and above if they are excluded.
pub fn side(parts: &[BoundCount], bound: &ObjectiveFigure) -> LoadSide {
    let as_seen = side_of(parts, |part| part.over, bound);
    if parts.iter().all(|part| part.without_lag == part.over) || as_seen != LoadSide::Above {
        return as_seen;
    }
    let without_lag = side_of(parts, |part| part.without_lag, bound);
    if without_lag == LoadSide::Above { LoadSide::Above } else { LoadSide::Undecided }
}

fn side_of(
    parts: &[BoundCount],
    over: impl Fn(&BoundCount) -> f64,
    bound: &ObjectiveFigure,
) -> LoadSide {
    let Some(Deviation { sum, error, independent }) = deviation(parts, over, bound) else {
        return LoadSide::Undecided;
    };
    let wide = error * boundary(independent);
    match sum {
        _ if sum > wide => LoadSide::Above,
        _ if sum < -wide => LoadSide::Below,
        _ => LoadSide::Undecided,
    }
}

/// True if a finished trial shows that its load is below the capacity, including all effects of
/// lag. This test is made only once, so it needs less than half as many requests as the sequence.
pub fn is_below(parts: &[BoundCount], bound: &ObjectiveFigure) -> bool {
    deviation(parts, |part| part.over, bound)
        .is_some_and(|deviation| deviation.sum < -ONE_LOOK * deviation.error)
}

/// Difference between the counted and the allowed figure.
struct Deviation {
    /// Sum over all blocks; positive if the bound is exceeded.
    sum: f64,
    /// Standard error of the sum.
    error: f64,
    /// Effective number of independent blocks.
    independent: f64,
}

fn deviation(
    parts: &[BoundCount],
    over: impl Fn(&BoundCount) -> f64,
    bound: &ObjectiveFigure,
) -> Option<Deviation> {
    let deviations: Vec<f64> =
        parts.iter().map(|part| over(part) - bound.allowed * part.total).collect();
    let count = deviations.len() as f64;
    let spread = blocks::spread(&deviations)?;
    let variance = spread.variance.max(least_variance(parts, bound) / count);
    let error = (variance * count).sqrt();
    Some(Deviation {
        sum: deviations.iter().sum(),
        error,
        independent: count / spread.block as f64,
    })
}

/// Boundary of the confidence sequence. For n independent sums of variance 1, |mean|·√n
/// stays below it at all n with probability 1 − α: √((nρ²+1)/(nρ²) · ln((nρ²+1)/α²)). ρ
/// minimizes it at `BEST_AT`.
fn boundary(n: f64) -> f64 {
    let square = (-2.0 * ALPHA.ln() + (-2.0 * ALPHA.ln() + 1.0).ln()) / BEST_AT;
    let more = n * square + 1.0;
    (more / (n * square) * (more / (ALPHA * ALPHA)).ln()).sqrt()
}

/// Variance of the sum at the capacity if requests are correlated in groups of ten. Without slow
/// requests, the blocks do not vary at all, but that does not make the trial certain.
fn least_variance(parts: &[BoundCount], bound: &ObjectiveFigure) -> f64 {
    const GROUP: f64 = 10.0;
    let all: f64 = parts.iter().map(|part| part.total).sum();
    if bound.is_share() { GROUP * bound.allowed * (1.0 - bound.allowed) * all } else { 0.0 }
}
