//! `brunt sweep`: from the command line to an experiment.

use super::{ExperimentContext, carry_out, refuse_sets};
use crate::args::RunArgs;
use crate::exit::{Exit, Failed, usage};
use crate::process::command_line;
use anyhow::Result;
use brunt_model::experiment::TrialOrder;
use brunt_model::{Experiment, Question};
use brunt_spec::experiment::contenders::{self, Arranged};
use brunt_spec::plan::MOST_REPETITIONS;
use brunt_spec::to_plan::sweep_steps;
use brunt_spec::words::duration;
use brunt_spec::{System, defaults};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use std::time::Duration;

/// Examples for the help.
pub const SWEEP_EXAMPLES: &str = "\
Examples:
  brunt sweep -r 50..1500+50 -d 30s http://127.0.0.1:8080/          one server at 30 rates, each three times
  brunt sweep -c 10..640*2 -d 10s http://127.0.0.1:8080/            closed loop: twice as many users each time
  brunt sweep -r 100..1000+100 --repeat 6 nginx=http://127.0.0.1:8081/ apache=http://127.0.0.1:8082/
  brunt sweep -r '[100,200,400]' --probe host --probe process=nginx http://127.0.0.1/";

/// What `brunt sweep` is told.
#[derive(Debug, Clone, Args)]
pub struct SweepArgs {
    /// How the runs are arranged.
    #[command(flatten)]
    trials: TrialArgs,

    /// What each run is told.
    #[command(flatten)]
    run: RunArgs,

    /// More servers to compare with the first; each as URL or NAME=URL
    #[arg(value_name = "URL")]
    more: Vec<String>,
}

/// How runs are arranged.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Experiment")]
pub struct TrialArgs {
    /// Repetitions of each load at each server
    #[arg(long, value_name = "N", default_value_t = defaults::REPETITIONS, value_parser = value_parser!(u32).range(1..=i64::from(MOST_REPETITIONS)))]
    repeat: u32,

    /// Order of trials: each repetition measures every server (interleaved), one server after the other (blocks), or random
    #[arg(long, value_name = "ORDER", default_value = "interleaved", value_parser = trial_order())]
    trial_order: TrialOrder,

    /// Pause before each trial but the first
    #[arg(long, value_name = "TIME", default_value = defaults::COOLDOWN, value_parser = duration::parse)]
    cooldown: Duration,

    /// Name of the experiment
    #[arg(long, value_name = "NAME", default_value = "sweep")]
    name: String,
}

/// The words for the order of trials.
pub fn trial_order() -> impl TypedValueParser<Value = TrialOrder> {
    PossibleValuesParser::new(["interleaved", "blocks", "random"]).map(|word| match word.as_str() {
        "blocks" => TrialOrder::Blocks,
        "random" => TrialOrder::Random,
        _ => TrialOrder::Interleaved,
    })
}

/// Carries it out.
pub fn sweep(args: &SweepArgs) -> Result<Exit, Failed> {
    let system = crate::process::system();
    let command = command_line();
    let (experiment, notes) = experiment(args, &command, &system).map_err(usage)?;
    let given = ExperimentContext::asked(&args.run, system, notes).map_err(usage)?;
    carry_out(&experiment, given)
}

/// The experiment that the command line speaks of, and notes that the user should be told.
fn experiment(args: &SweepArgs, command: &str, system: &System) -> Result<(Experiment, Vec<String>)> {
    refuse_sets(&args.run)?;
    let (contenders, notes) = contenders::contenders(&args.run.settings, &args.more, |run| sweep_steps(run, system))?;
    let trials = &args.trials;
    let arranged = Arranged {
        name: trials.name.clone(),
        repetitions: trials.repeat,
        order: trials.trial_order,
        cooldown: trials.cooldown,
        question: Question::Sweep,
    };
    let seed = args.run.settings.load.seed.unwrap_or(system.seed);
    Ok((contenders::experiment(contenders, arranged, seed, command)?, notes))
}

#[cfg(test)]
mod tests;
