//! The capacity under a set of objectives, as all trials together have it.
//!
//! What it is: each objective's figure of each trial, with how much it varies, handed to [`crate::curve`]; of several
//! objectives the one that is missed first. What it is not: that model, nor the sentence about it.

use crate::bound::{Bound, Counted, KEPT};
use crate::curve::{Crossing, Glimpse, Saturation, Says, Scale, Target, crossing};
use crate::drift::{self, Drift, Pace};
use crate::search::{Made, Search, searched};
use crate::seen::{Counts, Part, Seen, bounds};
use crate::sides;
use brunt_model::answer::{Estimate, LoadSide};
use brunt_model::{Find, LoadUnit};
use brunt_stats::blocks;

/// What is known of the capacity under one set of objectives.
#[derive(Debug, Clone)]
pub struct Known {
    /// The highest load that met the objectives, of those below the capacity as the trials have it most simply; None where
    /// none met them.
    pub met: Option<f64>,
    /// The least load that missed them, of those above it; None where none did.
    pub missed: Option<f64>,
    /// The highest load of which a trial alone decided that it is met.
    pub surely_met: Option<f64>,
    /// Whether any trial surely lies above it, and not only by the chance of some slow requests.
    pub is_above: bool,
    /// Where the objective that is missed first crosses its bound; None before both sides were seen.
    pub crossing: Option<Crossing>,
    /// The capacity with its interval.
    pub at: Estimate,
}

impl Known {
    /// Half the interval, as a share of the capacity: that of its further end. Infinite where a side is open.
    pub fn half_width(&self) -> f64 {
        match self.at {
            Estimate { value: Some(value), low: Some(low), high: Some(high) } => {
                (high - value).max(value - low) / value
            }
            _ => f64::INFINITY,
        }
    }

    /// On which side of the capacity a load lies.
    pub fn side(&self, load: f64) -> LoadSide {
        match self.at {
            Estimate { low: Some(low), .. } if load <= low => LoadSide::Below,
            Estimate { high: Some(high), .. } if load >= high => LoadSide::Above,
            _ => LoadSide::Undecided,
        }
    }
}

/// What is known of each set's capacity.
pub fn known(find: &Find, unit: LoadUnit, seen: &[Seen]) -> Vec<Known> {
    let sets = bounds(find);
    sets.iter().enumerate().map(|(set, bounds)| of_set(set, bounds, unit, seen)).collect()
}

fn of_set(set: usize, bounds: &[Bound], unit: LoadUnit, seen: &[Seen]) -> Known {
    let useful: Vec<&Seen> = seen.iter().filter(|trial| reading(trial, set, bounds).is_some()).collect();
    let (met, missed) = split(&useful, set, bounds);
    let decided = decided(&useful, set, bounds);
    let is_above =
        decided.1.is_some() || useful.iter().any(|trial| trial.is_overloaded() && misses(trial, set, bounds));
    let crossings: Vec<(Crossing, Target)> = bounds
        .iter()
        .enumerate()
        .filter_map(|(index, _)| {
            let (glimpses, target) = glimpses(&useful, set, bounds, index);
            Some((crossing(&glimpses, target)?, target))
        })
        .collect();
    let least = |of: fn(&Crossing) -> Option<f64>| crossings.iter().filter_map(|(c, _)| of(c)).reduce(f64::min);
    let first = crossings.iter().min_by(|a, b| a.0.load.total_cmp(&b.0.load)).copied();
    let at = match first {
        Some((first, target)) => {
            // An objective whose low end is open may be missed at any load, but for what single trials decided.
            let open = crossings.iter().any(|(c, _)| c.low.is_none());
            let low = if open { None } else { least(|c| c.low) };
            let low = low.or(decided.0.filter(|low| *low < first.load));
            let high = least(|c| c.high).or(decided.1.filter(|high| *high > first.load));
            // Where little is known, it is at least known that no more than this was ever served.
            let most = target.saturation.map_or(f64::INFINITY, |saturation| saturation.load);
            let value = if high.is_none() || low.is_none() { first.load.min(most) } else { first.load };
            // Where a queue grows without end, no bound on a wait is kept.
            let saturation = crossings.iter().find_map(|(_, target)| target.saturation);
            let served = saturation.map(|saturation| saturation.at_most());
            let high = high.into_iter().chain(served).reduce(f64::min).map(|high| high.max(value));
            Estimate { value: Some(value), low, high }
        }
        // What was met for a short time is met once more for longer before it is told (crate::stage).
        None => Estimate { value: None, low: met, high: missed },
    };
    let at = if matches!(unit, LoadUnit::Users { .. }) { whole(at) } else { at };
    Known { met, missed, surely_met: decided.0, is_above, crossing: first.map(|f| f.0), at }
}

/// The highest load that met the objectives and the least that missed them, where as little as possible speaks against it:
/// one slow request of the few of a low load is no limit where ten times as many are served well.
fn split(useful: &[&Seen], set: usize, bounds: &[Bound]) -> (Option<f64>, Option<f64>) {
    let mut all: Vec<(f64, f64)> = useful.iter().map(|trial| (trial.load, excess(trial, set, bounds))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    // What speaks against the capacity being below all of them; each that is let in speaks for or against it.
    let mut against: f64 = all.iter().map(|(_, excess)| (-excess).max(0.0)).sum();
    let (mut least, mut below) = (against, 0);
    for (index, (_, excess)) in all.iter().enumerate() {
        against += excess;
        if against < least - 1e-9 {
            (least, below) = (against, index + 1);
        }
    }
    let met = all[..below].iter().filter(|(_, excess)| *excess <= 0.0).map(|(load, _)| *load);
    let missed = all[below..].iter().filter(|(_, excess)| *excess > 0.0).map(|(load, _)| *load);
    (met.reduce(f64::max), missed.reduce(f64::min))
}

/// By how much a trial misses the objective that it misses most: in requests, as a multiple of what is allowed. Below 0
/// where it meets all.
fn excess(trial: &Seen, set: usize, bounds: &[Bound]) -> f64 {
    const MOST: f64 = 10.0;
    let one = |(index, bound): (usize, &Bound)| {
        let parts = parts(trial, set, bounds, index);
        (figure(trial, &parts, bound) / bound.allowed - 1.0).min(MOST) * sums(&parts).1.max(1.0)
    };
    bounds.iter().enumerate().map(one).fold(f64::NEG_INFINITY, f64::max)
}

/// The highest load that a trial alone decided to be below the capacity, and the least above it.
fn decided(useful: &[&Seen], set: usize, bounds: &[Bound]) -> (Option<f64>, Option<f64>) {
    let of = |wanted: LoadSide| {
        useful.iter().filter(move |trial| side(trial, set, bounds) == wanted).map(|trial| trial.load)
    };
    (of(LoadSide::Below).reduce(f64::max), of(LoadSide::Above).reduce(f64::min))
}

/// On which side of the capacity a whole trial lies, by itself.
pub fn side(trial: &Seen, set: usize, bounds: &[Bound]) -> LoadSide {
    let one = |(index, bound): (usize, &Bound)| sides::side(&parts(trial, set, bounds, index), bound);
    let endless = trial.is_overloaded() && bounds.iter().any(Bound::waits);
    let each = bounds.iter().enumerate().map(one).chain(endless.then_some(LoadSide::Above));
    sides::joined(&each.collect::<Vec<_>>())
}

/// Users are whole: the greatest number that meets the objectives.
fn whole(at: Estimate) -> Estimate {
    Estimate { value: at.value.map(f64::floor), low: at.low.map(f64::floor), high: at.high.map(f64::floor) }
}

/// What a trial's blocks say of the server, and which of them; None where they say nothing.
///
/// Where the generator was the limit, what was met was met. What was missed was missed only if it is without all that the
/// generator's lag can have brought about.
pub fn reading<'a>(trial: &'a Seen, set: usize, bounds: &[Bound]) -> Option<(Says, &'a [Counts])> {
    let over = |blocks: &[Counts]| are_over(trial, blocks, set, bounds);
    match (&trial.limited, &trial.excused) {
        _ if trial.blocks.is_empty() => None,
        (None, _) => Some((Says::Exactly, &trial.blocks)),
        _ if !over(&trial.blocks) => Some((Says::AtMost, &trial.blocks)),
        (_, Some(excused)) if over(&excused.blocks) => Some((Says::AtLeast, &excused.blocks)),
        _ => None,
    }
}

/// Whether a trial's figures are over a bound of the set.
pub fn misses(trial: &Seen, set: usize, bounds: &[Bound]) -> bool {
    are_over(trial, &trial.blocks, set, bounds)
}

fn are_over(trial: &Seen, blocks: &[Counts], set: usize, bounds: &[Bound]) -> bool {
    let over = |(index, bound): (usize, &Bound)| figure(trial, &of_blocks(blocks, set, index), bound) > bound.allowed;
    bounds.iter().enumerate().any(over)
}

/// The parts that say something.
fn parts(trial: &Seen, set: usize, bounds: &[Bound], index: usize) -> Vec<Part> {
    reading(trial, set, bounds).map(|(_, blocks)| of_blocks(blocks, set, index)).unwrap_or_default()
}

fn of_blocks(blocks: &[Counts], set: usize, index: usize) -> Vec<Part> {
    blocks.iter().filter_map(|block| block.parts.get(set)?.get(index).copied()).collect()
}

/// Over all, of all. Where nothing came, nothing was met; nor where a queue grows without end, however short it is yet.
fn figure(trial: &Seen, parts: &[Part], bound: &Bound) -> f64 {
    const ENDLESS: f64 = 1000.0;
    let (over, of) = sums(parts);
    match if of > 0.0 { over / of } else { 1.0 } {
        figure if !(bound.waits() && trial.is_overloaded()) => figure,
        _ if bound.is_share() => 1.0,
        figure => figure.max(ENDLESS * bound.allowed),
    }
}

fn sums(parts: &[Part]) -> (f64, f64) {
    parts.iter().fold((0.0, 0.0), |(over, of), part| (over + part.over, of + part.of))
}

fn glimpses(useful: &[&Seen], set: usize, bounds: &[Bound], index: usize) -> (Vec<Glimpse>, Target) {
    let bound = &bounds[index];
    let scale = if bound.is_share() { Scale::Share } else { Scale::Amount };
    let glimpse = |trial: &&Seen| {
        let (says, blocks) = reading(trial, set, bounds)?;
        let parts = of_blocks(blocks, set, index);
        // What was taken away would have varied, too.
        let (variance, freedom) = variance(&of_blocks(&trial.blocks, set, index), bound);
        let seconds = trial.seconds.max(0.1);
        let figure = figure(trial, &parts, bound);
        Some(Glimpse { load: trial.load, figure, seconds, variance, freedom, says })
    };
    let saturation = bound.waits().then(|| saturation(useful)).flatten();
    (
        useful.iter().filter_map(glimpse).collect(),
        Target { scale, allowed: bound.allowed, saturation, clump: bound.clump() },
    )
}

/// The most that a server achieved to which more was offered; as sure as the number of independent requests is.
fn saturation(useful: &[&Seen]) -> Option<Saturation> {
    let overloaded = useful.iter().filter(|trial| trial.is_overloaded() && trial.limited.is_none());
    let most = overloaded.max_by(|a, b| a.achieved.total_cmp(&b.achieved))?;
    let error = (most.achieved * most.seconds).max(1.0).sqrt().recip().max(0.005);
    Some(Saturation { load: most.achieved, error })
}

/// The variance of the figure, with its degrees of freedom: by batch means of the trial's blocks (a ratio estimator, as the
/// requests of a block are random too).
fn variance(parts: &[Part], bound: &Bound) -> (f64, f64) {
    let (over, of) = sums(parts);
    if over <= 0.0 || of <= 0.0 {
        return (0.0, 1.0);
    }
    let apart: Vec<f64> = parts.iter().map(|part| part.over - over / of * part.of).collect();
    let (variance, freedom) = match blocks::spread(&apart) {
        Some(spread) => (spread.variance * apart.len() as f64, spread.freedom),
        None => coarse(&apart),
    };
    // Requests that were slow one by one, and none because of the other, vary least.
    let figure = over / of;
    let least = if bound.is_share() { figure * (1.0 - figure).max(0.0) / of } else { 0.0 };
    ((variance / (of * of)).max(least), freedom)
}

/// Where neighbours hang together however long blocks are: five batches.
fn coarse(apart: &[f64]) -> (f64, f64) {
    let batch = apart.len() / 5;
    if batch == 0 {
        return (0.0, 1.0);
    }
    let sums: Vec<f64> = apart.chunks_exact(batch).map(|chunk| chunk.iter().sum()).collect();
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (sums.len() - 1) as f64;
    (variance * sums.len() as f64, 3.0)
}

/// How the capacity under the first set of objectives wandered, whose value is `at`; None where it did not, as far as is known.
pub fn drift(search: &Search, seen: &[Seen], made: &[Made], at: f64) -> Option<Drift> {
    let sets = bounds(&search.find);
    if !sets.first()?.iter().any(Bound::waits) {
        return None;
    }
    let steady = |trial: &&Seen| trial.limited.is_none() && trial.achieved >= KEPT * trial.offered;
    let paces: Vec<Pace> = searched(seen, made).iter().filter(steady).filter_map(pace).collect();
    let all: Vec<&Seen> = seen.iter().collect();
    drift::drift(&paces, at, saturation(&all)?.load)
}

fn pace(trial: &Seen) -> Option<Pace> {
    let mean = Bound { counted: Counted::Mean, allowed: 0.0 };
    let parts: Vec<Part> =
        trial.blocks.iter().map(|block| Part { over: block.response, of: block.completed }).collect();
    let (variance, _) = variance(&parts, &mean);
    let (over, of) = sums(&parts);
    let known = Pace { load: trial.load, time: trial.began + trial.seconds / 2.0, mean: over / of, variance };
    (over > 0.0 && of > 0.0).then_some(known)
}
