//! On which side of a capacity one trial lies, while it goes on.
//!
//! What it is: a test that may be looked at as often as one likes: a confidence sequence, by the method of mixtures (Robbins,
//! Annals of Mathematical Statistics 41, 1970), in its form for sums that are only nearly normal (Waudby-Smith, Arbour,
//! Sinha, Kennedy & Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics
//! 52, 2024). Blocks hang together, so their number is the effective one. Out of scope: the capacity.

use crate::bound::Bound;
use crate::summary::{Counts, Part, bounds};
use brunt_model::Find;
use brunt_model::answer::LoadSide;
use brunt_stats::blocks;

/// How often a side that is not the true one may be called, at whatever look.
const ALPHA: f64 = 0.05;
/// Standard errors that are exceeded by chance once in 160 cases: a few trials are looked at, and the highest is picked.
const ONE_LOOK: f64 = 2.5;
/// The sequence is narrowest when so many independent blocks were seen.
const BEST_AT: f64 = 20.0;

/// On which side of each set's capacity the trial's load lies, by its blocks so far.
pub fn sides(find: &Find, of: &[Counts]) -> Vec<LoadSide> {
    let one = |(set, bounds): (usize, &Vec<Bound>)| {
        let each = bounds.iter().enumerate().map(|(index, bound)| {
            let undisturbed = of.iter().filter(|block| !block.is_contested);
            let parts: Vec<Part> = undisturbed.filter_map(|block| block.parts.get(set)?.get(index).copied()).collect();
            side(&parts, bound)
        });
        joined(&each.collect::<Vec<_>>())
    };
    bounds(find).iter().enumerate().map(one).collect()
}

/// A load passes when all objectives are met.
pub(crate) fn joined(each: &[LoadSide]) -> LoadSide {
    if each.contains(&LoadSide::Above) {
        LoadSide::Above
    } else if each.iter().all(|side| *side == LoadSide::Below) {
        LoadSide::Below
    } else {
        LoadSide::Undecided
    }
}

/// On which side the trial's load lies by one objective: below if it is with all that the generator's lag can have done,
/// above if it is without.
pub fn side(parts: &[Part], bound: &Bound) -> LoadSide {
    let as_seen = side_of(parts, |part| part.over, bound);
    if parts.iter().all(|part| part.least == part.over) || as_seen != LoadSide::Above {
        return as_seen;
    }
    let without_lag = side_of(parts, |part| part.least, bound);
    if without_lag == LoadSide::Above { LoadSide::Above } else { LoadSide::Undecided }
}

fn side_of(parts: &[Part], over: impl Fn(&Part) -> f64, bound: &Bound) -> LoadSide {
    let Some((sum, error, independent)) = apart(parts, over, bound) else { return LoadSide::Undecided };
    let wide = error * boundary(independent);
    match sum {
        _ if sum > wide => LoadSide::Above,
        _ if sum < -wide => LoadSide::Below,
        _ => LoadSide::Undecided,
    }
}

/// Whether a finished trial shows that its load is below the capacity, with all that lag can have done: a test of one look,
/// which needs less than half as many requests as the sequence.
pub fn is_below(parts: &[Part], bound: &Bound) -> bool {
    apart(parts, |part| part.over, bound).is_some_and(|(sum, error, _)| sum < -ONE_LOOK * error)
}

/// How far what counts against it lies above what is allowed, its standard error, and how many independent blocks there are.
fn apart(parts: &[Part], over: impl Fn(&Part) -> f64, bound: &Bound) -> Option<(f64, f64, f64)> {
    let apart: Vec<f64> = parts.iter().map(|part| over(part) - bound.allowed * part.of).collect();
    let count = apart.len() as f64;
    let spread = blocks::spread(&apart)?;
    let variance = spread.variance.max(least_variance(parts, bound) / count);
    Some((apart.iter().sum(), (variance * count).sqrt(), count / spread.block as f64))
}

/// Of n independent sums of variance 1, |mean|·√n stays below this at all n, but for a share of α:
/// √((nρ²+1)/(nρ²) · ln((nρ²+1)/α²)), with the ρ that makes it least at `BEST_AT`.
fn boundary(n: f64) -> f64 {
    let square = (-2.0 * ALPHA.ln() + (-2.0 * ALPHA.ln() + 1.0).ln()) / BEST_AT;
    let more = n * square + 1.0;
    (more / (n * square) * (more / (ALPHA * ALPHA)).ln()).sqrt()
}

/// What the sum would vary by if the load were just at the capacity, and ten requests hung together: a trial without any
/// slow request does not vary at all, and is not sure for that.
fn least_variance(parts: &[Part], bound: &Bound) -> f64 {
    const TOGETHER: f64 = 10.0;
    let all: f64 = parts.iter().map(|part| part.of).sum();
    if bound.is_share() { TOGETHER * bound.allowed * (1.0 - bound.allowed) * all } else { 0.0 }
}
