//! A load, or each load of a sweep, as steps with a plan each.

use super::{System, to_plan};
use crate::args::RunArgs;
use anyhow::Result;
use brunt_model::Shape;
use brunt_model::experiment::Step;
use brunt_script::shape::Loads;

/// The steps that a command line speaks of, in the order in which they were written, and notes that the user should be
/// told, each once. Where the rate (or else the number of connections) is a sweep, each of its loads is a step of constant
/// load; anything else is one step, whose load is the peak.
pub fn sweep_steps(args: &RunArgs, system: &System) -> Result<(Vec<Step>, Vec<String>)> {
    let Some(loads) = sweep(args) else {
        let (plan, notes) = to_plan(args, system)?;
        return Ok((vec![Step::new(plan.load.peak(), plan)], notes));
    };
    let (mut steps, mut notes) = (Vec::with_capacity(loads.len()), Vec::<String>::new());
    for load in loads {
        let (plan, told) = to_plan(&at(args, *load), system)?;
        notes.extend(told.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
        steps.push(Step::new(*load, plan));
    }
    Ok((steps, notes))
}

/// The loads of a sweep, where there is one. With a rate, connections are a bound and no load.
fn sweep(args: &RunArgs) -> Option<&[f64]> {
    match args.load.rate.as_ref().or(args.load.connections.as_ref()) {
        Some(Loads::Sweep(loads)) => Some(loads),
        _ => None,
    }
}

/// The same command line with one load in the place of the sweep.
fn at(args: &RunArgs, load: f64) -> RunArgs {
    let mut args = args.clone();
    let swept = if args.load.rate.is_some() { &mut args.load.rate } else { &mut args.load.connections };
    *swept = Some(Loads::One(Shape::constant(load)));
    args
}
