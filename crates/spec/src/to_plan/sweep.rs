//! Turns a load, or each load of a sweep, into a step with a plan.

use super::to_plan;
use crate::System;
use crate::error::Result;
use crate::settings::RunSettings;
use crate::words::shape::Loads;
use brunt_model::LoadShape;
use brunt_model::experiment::LoadStep;

/// Creates the steps of settings, in the order in which they were written, and the notes for
/// the user, without duplicates.
///
/// If the rate (or else the number of connections) is a sweep, each of its loads is a step of
/// constant load. Otherwise there is one step, and its load is the peak.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn sweep_steps(
    settings: &RunSettings,
    system: &System,
) -> Result<(Vec<LoadStep>, Vec<String>)> {
    let Some(loads) = sweep(settings) else {
        let (plan, notes) = to_plan(settings, system)?;
        return Ok((vec![LoadStep::new(plan.main().load.peak(), plan)], notes));
    };
    let mut steps = Vec::with_capacity(loads.len());
    let mut notes = Vec::<String>::new();
    for load in loads {
        let (plan, new_notes) = to_plan(&with_load(settings, *load), system)?;
        // Most notes apply to every load of the sweep.
        notes
            .extend(new_notes.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
        steps.push(LoadStep::new(*load, plan));
    }
    Ok((steps, notes))
}

/// Loads of a sweep; None without a sweep. With a rate, the number of connections is a maximum,
/// and not a load.
fn sweep(settings: &RunSettings) -> Option<&[f64]> {
    // The rate comes first, because with it the number of connections is no load.
    match settings.load.rate.as_ref().or(settings.load.connections.as_ref()) {
        Some(Loads::Sweep(loads)) => Some(loads),
        _ => None,
    }
}

/// The settings with a single load in place of the sweep.
fn with_load(settings: &RunSettings, load: f64) -> RunSettings {
    let mut settings = settings.clone();
    let loads = &mut settings.load;
    let sweep = if loads.rate.is_some() { &mut loads.rate } else { &mut loads.connections };
    *sweep = Some(Loads::One(LoadShape::constant(load)));
    settings
}
