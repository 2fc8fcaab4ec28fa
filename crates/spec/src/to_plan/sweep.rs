//! A load, or each load of a sweep, as steps with a plan each.

use super::to_plan;
use crate::System;
use crate::error::Result;
use crate::settings::RunSettings;
use crate::words::shape::Loads;
use brunt_model::Shape;
use brunt_model::experiment::Step;

/// The steps that settings speak of, in the order in which they were written, and notes that the user should be
/// told, each once. Where the rate (or else the number of connections) is a sweep, each of its loads is a step of constant
/// load; anything else is one step, whose load is the peak.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn sweep_steps(settings: &RunSettings, system: &System) -> Result<(Vec<Step>, Vec<String>)> {
    let Some(loads) = sweep(settings) else {
        let (plan, notes) = to_plan(settings, system)?;
        return Ok((vec![Step::new(plan.main().load.peak(), plan)], notes));
    };
    let (mut steps, mut notes) = (Vec::with_capacity(loads.len()), Vec::<String>::new());
    for load in loads {
        let (plan, told) = to_plan(&at(settings, *load), system)?;
        notes.extend(told.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
        steps.push(Step::new(*load, plan));
    }
    Ok((steps, notes))
}

/// The loads of a sweep, where there is one. With a rate, connections are a bound and no load.
fn sweep(settings: &RunSettings) -> Option<&[f64]> {
    match settings.load.rate.as_ref().or(settings.load.connections.as_ref()) {
        Some(Loads::Sweep(loads)) => Some(loads),
        _ => None,
    }
}

/// The same settings with one load in the place of the sweep.
fn at(settings: &RunSettings, load: f64) -> RunSettings {
    let mut settings = settings.clone();
    let of_load = &mut settings.load;
    let swept = if of_load.rate.is_some() { &mut of_load.rate } else { &mut of_load.connections };
    *swept = Some(Loads::One(Shape::constant(load)));
    settings
}
