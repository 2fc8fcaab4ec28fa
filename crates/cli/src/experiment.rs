//! Experiments: `brunt sweep`, and `brunt run` of a plan file.
//!
//! * [`sweep`]: from the command line to an experiment. [`probes`]: the words of `--probe`. [`planned`]: a plan file's.
//! * [`measurer`]: makes the runs that the room `rig` asks for, and keeps them. [`left`]: how long it will still take.
//! * [`ending`]: how an experiment's figures make brunt exit.
//!
//! What it is **not**: the order of trials, hooks and managed servers are `rig`'s.

mod ending;
mod left;
mod measurer;
mod planned;
mod probes;
mod sweep;

use crate::exit::Exit;
use crate::measure::Strict;
use crate::output::Outputs;
use crate::signals::Interrupt;
use crate::to_plan::System;
use crate::world::Real;
use crate::{Failed, failed, usage};
use anyhow::{Context, Result};
use brunt_model::{Analysis, Experiment, Place, Trial};
use brunt_rig::{End, Failure, Gear};
use measurer::Measurer;
pub use planned::{plan_path, run_plan};
use std::collections::BTreeSet;
pub use sweep::{SWEEP_EXAMPLES, SweepArgs, sweep};

/// What goes with an experiment besides what is to be done.
pub struct Given {
    /// The command line, for the report.
    pub command: String,
    /// This machine.
    pub system: System,
    /// Where reports go.
    pub outputs: Outputs,
    /// No progress, no text.
    pub quiet: bool,
    /// Whether a limited generator makes brunt fail.
    pub strict: Strict,
    /// What the user should be told.
    pub notes: Vec<String>,
    /// Trials that were made before an interruption, in the order in which they were. Those that it cut short are made
    /// again.
    pub done: Vec<Trial>,
}

/// Carries out an experiment, or what is left of it, and reports it.
pub fn carry_out(experiment: &Experiment, given: Given) -> Result<Exit, Failed> {
    // What plans name, such as certificates, is to be there before anything is begun.
    for contender in &experiment.contenders {
        let plan = contender.steps.first().map(|step| &step.plan);
        plan.map(Real::new).transpose().with_context(|| contender.name.clone()).map_err(usage)?;
    }
    let interrupt = Interrupt::listen().map_err(failed)?;
    let guard = std::env::current_exe().context("brunt cannot find its own program").map_err(failed)?;
    let time = brunt_rig::Real::default();
    let gear = Gear { guard: (guard, vec!["guard".into()]), time: &time };
    let whole: Vec<Trial> = given.done.into_iter().filter(|trial| !trial.run.interrupted()).collect();
    let done: BTreeSet<Place> = whole.iter().map(|trial| trial.place).collect();
    let (outputs, strict) = (given.outputs, given.strict);
    let told = measurer::Told { command: given.command, system: given.system, quiet: given.quiet, notes: given.notes };
    let mut measurer = Measurer::new(experiment, whole, told, interrupt, &time);
    let outcome = brunt_rig::conduct(experiment, &done, &gear, &mut measurer);
    finish(measurer, outcome, outputs, strict)
}

/// Reports what was measured, whatever happened.
fn finish(
    measurer: Measurer,
    outcome: Result<End, Failure<anyhow::Error>>,
    outputs: Outputs,
    strict: Strict,
) -> Result<Exit, Failed> {
    let mut study = measurer.study;
    study.interrupted = !matches!(outcome, Ok(End::Whole));
    if let Err(failure) = &outcome {
        study.warnings.push(format!("the experiment was stopped: {failure:#}"));
    }
    let written = if study.trials.is_empty() { Ok(()) } else { outputs.write_study(&study, &Analysis::default()) };
    match outcome {
        Err(Failure::Host(error)) => Err(failed(error)),
        Err(failure) => Err(Failed { exit: Exit::Halted, error: failure.into() }),
        Ok(_) => written.map(|()| ending::exit_of_study(&study, strict)).map_err(failed),
    }
}
