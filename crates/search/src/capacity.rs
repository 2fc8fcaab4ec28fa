//! The capacity under a set of objectives, as all trials together have it.
//!
//! What it is: each objective's figure of each trial, with how much it varies, handed to [`crate::curve`]; of several
//! objectives the one that is missed first. What it is not: that model, nor the sentence about it.

use crate::bound::Bound;
use crate::curve::{Crossing, Glimpse, Scale, Target, crossing};
use crate::drift::{self, Drift};
use crate::search::{Made, Search, searched};
use crate::seen::{Counts, Part, Seen, bounds};
use brunt_model::answer::{Estimate, LoadSide};
use brunt_model::{Find, LoadUnit};
use brunt_stats::blocks;

/// What is known of the capacity under one set of objectives.
#[derive(Debug, Clone)]
pub struct Known {
    /// The highest load that met the objectives, below the least that missed them; None where none met them.
    pub met: Option<f64>,
    /// The least load that missed them; None where none did.
    pub missed: Option<f64>,
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
    let useful: Vec<&Seen> = seen.iter().filter(|trial| counts(trial, set, bounds)).collect();
    let misses = |trial: &&&Seen| misses(trial, set, bounds);
    let missed = useful.iter().filter(misses).map(|trial| trial.load).reduce(f64::min);
    let below = |trial: &&&Seen| !misses(trial) && missed.is_none_or(|missed| trial.load < missed);
    let met = useful.iter().filter(below).map(|trial| trial.load).reduce(f64::max);
    let crossings: Vec<(Crossing, Target)> = bounds
        .iter()
        .enumerate()
        .filter_map(|(index, bound)| {
            let (glimpses, target) = glimpses(&useful, set, index, bound);
            Some((crossing(&glimpses, target)?, target))
        })
        .collect();
    let least = |of: fn(&Crossing) -> Option<f64>| crossings.iter().filter_map(|(c, _)| of(c)).reduce(f64::min);
    let first = crossings.iter().min_by(|a, b| a.0.load.total_cmp(&b.0.load)).copied();
    let at = match first {
        Some((first, _)) => {
            // An objective whose low end is open may be missed at any load.
            let open = crossings.iter().any(|(c, _)| c.low.is_none());
            let low = if open { None } else { least(|c| c.low) };
            Estimate { value: Some(first.load), low, high: least(|c| c.high) }
        }
        None => Estimate { value: None, low: met, high: missed },
    };
    let at = if matches!(unit, LoadUnit::Users { .. }) { whole(at) } else { at };
    Known { met, missed, crossing: first.map(|f| f.0), at }
}

/// Users are whole: the greatest number that meets the objectives.
fn whole(at: Estimate) -> Estimate {
    Estimate { value: at.value.map(f64::floor), low: at.low.map(f64::floor), high: at.high.map(f64::floor) }
}

/// A trial in which the generator was the limit says nothing against the server; but what it met, was met.
fn counts(trial: &Seen, set: usize, bounds: &[Bound]) -> bool {
    !trial.blocks.is_empty() && (trial.limited.is_none() || !misses(trial, set, bounds))
}

/// Whether a trial's figures are over a bound of the set.
pub fn misses(trial: &Seen, set: usize, bounds: &[Bound]) -> bool {
    bounds.iter().enumerate().any(|(index, bound)| figure(&parts(trial, set, index)) > bound.allowed)
}

fn parts(trial: &Seen, set: usize, index: usize) -> Vec<Part> {
    let part = |block: &Counts| block.parts.get(set)?.get(index).copied();
    trial.blocks.iter().filter_map(part).collect()
}

/// Over all, of all. Where nothing came, nothing was met.
fn figure(parts: &[Part]) -> f64 {
    let (over, of) = sums(parts);
    if of > 0.0 { over / of } else { 1.0 }
}

fn sums(parts: &[Part]) -> (f64, f64) {
    parts.iter().fold((0.0, 0.0), |(over, of), part| (over + part.over, of + part.of))
}

/// How much the figure of one trial varies: φ, so that its variance over T seconds is φ·y^1.5/T.
struct Own {
    phi: f64,
    freedom: f64,
}

fn glimpses(useful: &[&Seen], set: usize, index: usize, bound: &Bound) -> (Vec<Glimpse>, Target) {
    let scale = if bound.is_share() { Scale::Share } else { Scale::Amount };
    let mut target = Target { scale, allowed: bound.allowed, freedom: FEWEST_FREEDOM };
    let each: Vec<(&Seen, f64, Option<Own>)> = useful
        .iter()
        .map(|trial| {
            let parts = parts(trial, set, index);
            (*trial, figure(&parts), own(trial, &parts))
        })
        .collect();
    let (phi, freedom) = pooled(&each, &target);
    target.freedom = freedom;
    let glimpse = |(trial, figure, _): &(&Seen, f64, Option<Own>)| Glimpse {
        load: trial.load,
        figure: *figure,
        spread: phi / trial.seconds.max(0.1),
    };
    (each.iter().map(glimpse).collect(), target)
}

/// A spread that nothing is known of counts as known by so many degrees of freedom.
const FEWEST_FREEDOM: f64 = 3.0;
/// Before anything is known, slow requests are taken to come in clumps of so many seconds.
const CLUMP_SECONDS: f64 = 0.5;

/// The spread of all trials near what is allowed, else of all that have any; each weighs by how well it knows its own.
fn pooled(each: &[(&Seen, f64, Option<Own>)], target: &Target) -> (f64, f64) {
    let owns = |near: bool| -> Vec<(&Own, f64)> {
        let fits = |figure: f64| target.is_near(figure) || !near;
        each.iter().filter(|t| fits(t.1)).filter_map(|t| Some((t.2.as_ref()?, t.0.seconds))).collect()
    };
    let near = owns(true);
    let of = if near.is_empty() { owns(false) } else { near };
    let weight: f64 = of.iter().map(|(own, seconds)| own.freedom.min(*seconds)).sum();
    if weight <= 0.0 {
        return (2.0 * CLUMP_SECONDS / target.allowed.sqrt(), FEWEST_FREEDOM);
    }
    let phi = of.iter().map(|(own, seconds)| own.phi * own.freedom.min(*seconds)).sum::<f64>() / weight;
    (phi, of.iter().map(|(own, _)| own.freedom).sum::<f64>().max(FEWEST_FREEDOM))
}

/// By batch means of the trial's blocks; None where it had nothing over, or did not vary.
fn own(trial: &Seen, parts: &[Part]) -> Option<Own> {
    let (over, of) = sums(parts);
    if over <= 0.0 || of <= 0.0 {
        return None;
    }
    let figure = over / of;
    let apart: Vec<f64> = parts.iter().map(|part| part.over - figure * part.of).collect();
    let (variance, freedom) = match blocks::spread(&apart) {
        Some(spread) => (spread.variance * apart.len() as f64, spread.freedom),
        None => coarse(&apart)?,
    };
    let phi = variance / (of * of) * trial.seconds / figure.powf(1.5);
    (phi > 0.0).then_some(Own { phi, freedom })
}

/// Where neighbours hang together however long blocks are: five batches.
fn coarse(apart: &[f64]) -> Option<(f64, f64)> {
    let batch = apart.len() / 5;
    if batch == 0 {
        return None;
    }
    let sums: Vec<f64> = apart.chunks_exact(batch).map(|chunk| chunk.iter().sum()).collect();
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (sums.len() - 1) as f64;
    Some((variance * sums.len() as f64, FEWEST_FREEDOM))
}

/// How the capacity under the first set of objectives wandered; None where it did not, as far as is known.
pub fn drift(search: &Search, seen: &[Seen], made: &[Made]) -> Option<Drift> {
    let searched = searched(seen, made);
    let sets = bounds(&search.find);
    let bounds = sets.first()?;
    let useful: Vec<&Seen> = searched.iter().filter(|trial| counts(trial, 0, bounds)).collect();
    let times: Vec<f64> = useful.iter().map(|trial| trial.began).collect();
    let of = |(index, bound): (usize, &Bound)| {
        let (glimpses, target) = glimpses(&useful, 0, index, bound);
        drift::drift(&glimpses, &times, target)
    };
    bounds.iter().enumerate().find_map(of)
}
