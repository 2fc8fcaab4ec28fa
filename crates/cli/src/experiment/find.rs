//! The command `brunt find`: builds an experiment that chooses its loads during the run.
//!
//! The crate `search` chooses the loads; `runner` runs and evaluates the trials.

#[cfg(test)]
mod tests;

use super::{ExperimentContext, run_experiment};
use crate::args::RunArgs;
use crate::args::settings::SettingArgs;
use crate::exit::{CommandError, Exit, usage_error};
use crate::process::command_line;
use anyhow::Result;
use brunt_model::Experiment;
use brunt_model::experiment::TrialOrder;
use brunt_spec::System;
use brunt_spec::experiment::{self, TrialArrangement, contenders::contenders, question};
use brunt_spec::settings::SearchSettings;
use brunt_spec::to_plan::sweep_steps;
use clap::Args;
use std::time::Duration;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt find http://127.0.0.1:8080/ --objective 'p99 < 50ms, errors < 0.1%'     the highest rate within these bounds
  brunt find http://127.0.0.1:8080/ --objective 1-3-10                          three capacities: p99 below 1, 3 and 10 s
  brunt find -c 10 http://127.0.0.1:8080/ --objective 'p99 < 50ms'              the most users (closed loop), from 10 on
  brunt find http://127.0.0.1/ --time-budget 10m --precision 1% --probe host --probe process=nginx
  brunt find http://127.0.0.1/ --objective 'p99 < 50ms' --require 'capacity > 3000/s' -o junit=find.xml      for CI";

/// Arguments of `brunt find`.
#[derive(Debug, Clone, Args)]
pub struct FindArgs {
    /// Settings of the search.
    #[command(flatten)]
    search: SettingArgs<SearchSettings>,

    /// Name of the experiment
    #[arg(long, value_name = "NAME", default_value = "find", help_heading = "Search")]
    name: String,

    /// Settings of each trial.
    #[command(flatten)]
    run: RunArgs,

    /// More servers to search one after the other; each as URL or NAME=URL
    #[arg(value_name = "URL")]
    more: Vec<String>,
}

/// Searches the capacity and writes the reports.
pub fn find(args: &FindArgs) -> Result<Exit, CommandError> {
    if let Some(path) = args.run.settings.url.as_deref().and_then(super::plan_path) {
        let file = path.display();
        return Err(usage_error(anyhow::anyhow!(
            "{file} is a plan file: write `find: {{}}` in it, and `brunt run {file}`"
        )));
    }
    let system = crate::process::system();
    let command = command_line();
    let (experiment, notes) = experiment(args, &command, &system).map_err(usage_error)?;
    run_experiment(
        &experiment,
        ExperimentContext::from_args(&args.run, system, notes).map_err(usage_error)?,
    )
}

/// Builds the experiment of the command line, with notes for the user.
fn experiment(
    args: &FindArgs,
    command: &str,
    system: &System,
) -> Result<(Experiment, Vec<String>)> {
    super::refuse_sets(&args.run)?;
    let search = &args.search.0;
    let settings = &args.run.settings;
    let run = search.run(settings)?;
    let (mut contenders, mut notes) = contenders(&run, &args.more, |run| sweep_steps(run, system))?;
    let question = question(search, settings, &mut contenders, &mut notes, system)?;
    let trials = TrialArrangement {
        name: args.name.clone(),
        repetitions: 1,
        // Each trial of a search depends on the one before, so contenders cannot alternate.
        order: TrialOrder::Blocks,
        cooldown: Duration::ZERO,
        question,
    };
    let seed = run.load.seed.unwrap_or(system.seed);
    Ok((experiment::experiment(contenders, trials, seed, command)?, notes))
}
