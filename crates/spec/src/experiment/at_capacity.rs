//! Contenders compared by their capacities: each repetition searches the capacity of each,
//! with the same settings.
//!
//! Out of scope: the searches, and the comparison. The settings of a search are those of `brunt
//! find`, on the command line or below `find` in a plan file.

use super::pattern::make;
use crate::System;
use crate::defaults;
use crate::error::{Result, bail, require};
use crate::estimate;
use crate::settings::{RunSettings, SearchSettings};
use crate::words::compare::ComparedLoads;
use crate::words::duration;
use crate::words::shape::Loads;
use brunt_model::experiment::LoadStep;
use brunt_model::numbers::span;
use brunt_model::question::AtCapacity;
use brunt_model::{Contender, LoadShape, LoadUnit};
use std::time::Duration;

/// Time budget of a comparison of capacities.
#[derive(Debug, Clone, Copy)]
pub enum CapacityTimeBudget {
    /// All searches and trials together.
    All(Duration),
    /// Each of the searches.
    Each(Duration),
}

impl CapacityTimeBudget {
    /// Time budget of the whole comparison; without one, the default for each search.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn all_or_default(all: Option<Duration>) -> Result<Self> {
        match all {
            Some(all) => Ok(Self::All(all)),
            None => Ok(Self::Each(duration::parse(defaults::COMPARE_SEARCH)?)),
        }
    }
}

/// Settings of the run of a search. If given loads are measured as well, their duration is not
/// that of the search.
pub fn search_run_settings(
    run_settings: &RunSettings,
    at: ComparedLoads,
    given: &[LoadStep],
) -> RunSettings {
    let mut run = run_settings.clone();
    if at != ComparedLoads::Both {
        return run;
    }
    // These settings are of the given loads; a search chooses the length of its trials.
    run.stop.duration = None;
    run.stop.requests = None;
    run.load.until = Vec::new();
    // A search begins low, because an overload may damage the server.
    let lowest = given
        .iter()
        .map(|step| step.load)
        .reduce(f64::min)
        .map(|load| Loads::One(LoadShape::constant(load)));
    match given.first().map(|step| LoadUnit::from(&step.plan.main().load)) {
        Some(LoadUnit::Users { .. }) => run.load.connections = lowest,
        _ => run.load.rate = lowest,
    }
    run
}

/// Makes the first step of each contender the pattern of the trials of its searches. The
/// steps after it are given loads, which are measured unchanged. `run_settings` are those of
/// the run of a search.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn prepare_capacity_comparison(
    search: &SearchSettings,
    run_settings: &RunSettings,
    contenders: &mut [Contender],
    budget: (CapacityTimeBudget, u32),
    output: (&mut Vec<String>, &System),
) -> Result<AtCapacity> {
    let (within, repetitions) = budget;
    let (notes, system) = output;
    let given_loads = contenders.first().map_or(0, |contender| contender.steps.len() - 1);
    let within = time_per_search(within, search, contenders, repetitions)?;
    let search = SearchSettings { within, overload: None, require: Vec::new(), ..search.clone() };
    let (find, search_notes) = search.find(run_settings, contenders, system)?;
    notes.extend(search_notes);
    // The test compares one capacity of each contender in a block.
    if let [_, second, ..] = &find.objectives[..] {
        return Err(run_settings.sources.refuse(|names| {
            let option = names.name_of("objective");
            let second = &second.name;
            format!("{option}: `{second}` would be a second capacity, and one is compared; write one bound a figure")
        }));
    }
    for contender in contenders {
        let Some((pattern, given_steps)) = contender.steps.split_first_mut() else {
            bail!("a contender has no load")
        };
        make(pattern, &find);
        // The objectives apply to the capacity, so given loads have none.
        for step in given_steps {
            step.plan.objectives.clear();
        }
    }
    Ok(AtCapacity { find, given: given_loads })
}

/// Time budget of each search.
fn time_per_search(
    within: CapacityTimeBudget,
    search: &SearchSettings,
    contenders: &[Contender],
    repetitions: u32,
) -> Result<Duration> {
    let whole_budget = match within {
        CapacityTimeBudget::Each(search_budget) => return Ok(search_budget),
        CapacityTimeBudget::All(whole_budget) => whole_budget,
    };
    let searches = repetitions.saturating_mul(contenders.len() as u32).max(1);
    let steps = contenders.first().map_or(&[][..], |contender| &contender.steps);
    let given_loads: Duration =
        steps.iter().skip(1).filter_map(|step| estimate::trial(&step.plan)).sum();
    // The given loads take their part of each repetition first.
    let search_budget = (whole_budget / searches).saturating_sub(given_loads);
    let warmup = steps.first().map_or(Duration::ZERO, |pattern| pattern.plan.main().stop.warmup);
    let shortest_trial = warmup + search.trial + search.cooldown;
    require!(search.sources, search_budget >= 3 * shortest_trial, |names| format!(
        "{} {}: that is {} for each of {searches} searches, and three trials of {} do not fit into it; write more, fewer \
         repetitions ({}), or shorter trials ({})",
        names.either("--time-budget", "compare.time_budget"),
        span(whole_budget.as_secs_f64()),
        span(search_budget.as_secs_f64()),
        span(shortest_trial.as_secs_f64()),
        names.either("--repeat", "repetitions"),
        names.name_of("trial-duration")
    ));
    Ok(search_budget)
}
