//! Contenders compared by their capacities: a search of each in each repetition, all told the same.
//!
//! Out of scope: the searches, and the comparison. How a search goes is said as for `brunt find`, on the command line or
//! below `find` in a plan file.

use super::pattern::make;
use crate::System;
use crate::defaults;
use crate::error::{Result, bail, require};
use crate::estimate;
use crate::settings::{RunSettings, SearchSettings};
use crate::words::compare::At;
use crate::words::duration;
use crate::words::shape::Loads;
use brunt_model::experiment::Step;
use brunt_model::numbers::span;
use brunt_model::question::AtCapacity;
use brunt_model::{Contender, LoadUnit, Shape};
use std::time::Duration;

/// How long it may take.
#[derive(Debug, Clone, Copy)]
pub enum Within {
    /// All together.
    All(Duration),
    /// Each search.
    Each(Duration),
}

impl Within {
    /// All together, where that is said; else each search as long as usual.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn all_or_usual(all: Option<Duration>) -> Result<Self> {
        let usual = || duration::parse(defaults::COMPARE_SEARCH).map(Self::Each);
        Ok(all.map_or_else(usual, |all| Ok(Self::All(all)))?)
    }
}

/// The run of a search, of one that was asked for: beside given loads, how long those are measured is not the search's.
pub fn of_search(asked: &RunSettings, at: At, given: &[Step]) -> RunSettings {
    let mut run = asked.clone();
    if at != At::Both {
        return run;
    }
    run.stop.duration = None;
    run.stop.requests = None;
    run.load.until = Vec::new();
    let lowest = given.iter().map(|step| step.load).reduce(f64::min).map(|load| Loads::One(Shape::constant(load)));
    match given.first().map(|step| LoadUnit::from(&step.plan.main().load)) {
        Some(LoadUnit::Users { .. }) => run.load.connections = lowest,
        _ => run.load.rate = lowest,
    }
    run
}

/// Makes the first step of each contender the pattern of its searches' trials; those behind it are measured as they are.
/// `asked` is the run of a search.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn searching(
    search: &SearchSettings,
    asked: &RunSettings,
    contenders: &mut [Contender],
    (within, repetitions): (Within, u32),
    (notes, system): (&mut Vec<String>, &System),
) -> Result<AtCapacity> {
    let given = contenders.first().map_or(0, |contender| contender.steps.len() - 1);
    let within = each(within, search, contenders, repetitions)?;
    let search = SearchSettings { within, overload: None, require: Vec::new(), ..search.clone() };
    let (find, told) = search.find(asked, contenders, system)?;
    notes.extend(told);
    if let [_, second, ..] = &find.objectives[..] {
        return Err(asked.said.refuse(|names| {
            let (option, second) = (names.of("objective"), &second.name);
            format!("{option}: `{second}` would be a second capacity, and one is compared; write one bound a figure")
        }));
    }
    for contender in contenders {
        let Some((pattern, given)) = contender.steps.split_first_mut() else { bail!("a contender has no load") };
        make(pattern, &find);
        // What a load is to meet is asked of the capacity.
        for step in given {
            step.plan.objectives.clear();
        }
    }
    Ok(AtCapacity { find, given })
}

/// How long each search may take.
fn each(within: Within, search: &SearchSettings, contenders: &[Contender], repetitions: u32) -> Result<Duration> {
    let all = match within {
        Within::Each(each) => return Ok(each),
        Within::All(all) => all,
    };
    let searches = repetitions.saturating_mul(contenders.len() as u32).max(1);
    let steps = || contenders.first().map_or(&[][..], |contender| &contender.steps);
    let given: Duration = steps().iter().skip(1).filter_map(|step| estimate::trial(&step.plan)).sum();
    let each = (all / searches).saturating_sub(given);
    let warmup = steps().first().map_or(Duration::ZERO, |pattern| pattern.plan.main().stop.warmup);
    let one = warmup + search.trial.0 + search.cooldown;
    require!(search.said, each >= 3 * one, |names| format!(
        "{} {}: that is {} for each of {searches} searches, and three trials of {} do not fit into it; write more, fewer \
         repetitions ({}), or shorter trials ({})",
        names.either("--time-budget", "compare.time_budget"),
        span(all.as_secs_f64()),
        span(each.as_secs_f64()),
        span(one.as_secs_f64()),
        names.either("--repeat", "repetitions"),
        names.of("trial-duration")
    ));
    Ok(each)
}
