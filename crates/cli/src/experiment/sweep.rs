//! The command `brunt sweep`: builds an experiment from the command line.

use super::{ExperimentContext, refuse_sets, run_experiment};
use crate::args::RunArgs;
use crate::args::settings::SettingArgs;
use crate::exit::{CommandError, Exit, usage_error};
use crate::process::command_line;
use anyhow::Result;
use brunt_model::{Experiment, Question};
use brunt_spec::experiment::contenders::{self, TrialArrangement};
use brunt_spec::experiment::sweep_repetitions;
use brunt_spec::settings::ExperimentSettings;
use brunt_spec::to_plan::sweep_steps;
use brunt_spec::words::duration;
use brunt_spec::{System, defaults};
use clap::Args;

/// Examples for the help text.
pub const SWEEP_EXAMPLES: &str = "\
Examples:
  brunt sweep -r 50..1500+50 -d 30s http://127.0.0.1:8080/          one server at 30 rates, each three times
  brunt sweep -c 10..640*2 -d 10s http://127.0.0.1:8080/            closed loop: twice as many users each time
  brunt sweep -r 100..1000+100 --repeat 6 nginx=http://127.0.0.1:8081/ apache=http://127.0.0.1:8082/
  brunt sweep -r '[100,200,400]' --probe host --probe process=nginx http://127.0.0.1/";

/// Arguments of `brunt sweep`.
#[derive(Debug, Clone, Args)]
pub struct SweepArgs {
    /// Order and number of trials.
    #[command(flatten)]
    arrangement: SettingArgs<ExperimentSettings>,

    /// Name of the experiment
    #[arg(long, value_name = "NAME", default_value = "sweep", help_heading = "Experiment")]
    name: String,

    /// Settings of each run.
    #[command(flatten)]
    run: RunArgs,

    /// More servers to compare with the first; each as URL or NAME=URL
    #[arg(value_name = "URL")]
    more: Vec<String>,
}

/// Measures all loads and writes the reports.
pub fn sweep(args: &SweepArgs) -> Result<Exit, CommandError> {
    let system = crate::process::system();
    let command = command_line();
    let (experiment, notes) = experiment(args, &command, &system).map_err(usage_error)?;
    let context = ExperimentContext::from_args(&args.run, system, notes).map_err(usage_error)?;
    run_experiment(&experiment, context)
}

/// Builds the experiment of the command line, with notes for the user.
fn experiment(
    args: &SweepArgs,
    command: &str,
    system: &System,
) -> Result<(Experiment, Vec<String>)> {
    refuse_sets(&args.run)?;
    let (contenders, notes) =
        contenders::contenders(&args.run.settings, &args.more, |run| sweep_steps(run, system))?;
    let arrangement = &args.arrangement.0;
    let repetitions = arrangement.repetitions;
    let trials = TrialArrangement {
        name: args.name.clone(),
        repetitions: repetitions.unwrap_or_else(|| sweep_repetitions(&contenders)),
        order: arrangement.order.unwrap_or(defaults::TRIAL_ORDER),
        cooldown: duration::or_default(arrangement.cooldown, defaults::COOLDOWN)?,
        question: Question::Sweep,
    };
    let seed = args.run.settings.load.seed.unwrap_or(system.seed);
    Ok((contenders::experiment(contenders, trials, seed, command)?, notes))
}

#[cfg(test)]
mod tests;
