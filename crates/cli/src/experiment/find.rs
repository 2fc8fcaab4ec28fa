//! `brunt find`: from the command line to an experiment whose loads are chosen on the way.
//!
//! Loads are chosen in the crate `search`; trials are run and evaluated in `runner`.

#[cfg(test)]
mod tests;

use super::{ExperimentContext, carry_out};
use crate::args::RunArgs;
use crate::args::settings::SettingArgs;
use crate::exit::{Exit, Failed, usage};
use crate::process::command_line;
use anyhow::Result;
use brunt_model::Experiment;
use brunt_model::experiment::TrialOrder;
use brunt_spec::System;
use brunt_spec::experiment::{self, Arranged, contenders::contenders, question};
use brunt_spec::settings::SearchSettings;
use brunt_spec::to_plan::sweep_steps;
use clap::Args;
use std::time::Duration;

/// Examples for the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt find http://127.0.0.1:8080/ --objective 'p99 < 50ms, errors < 0.1%'     the highest rate within these bounds
  brunt find http://127.0.0.1:8080/ --objective 1-3-10                          three capacities: p99 below 1, 3 and 10 s
  brunt find -c 10 http://127.0.0.1:8080/ --objective 'p99 < 50ms'              the most users (closed loop), from 10 on
  brunt find http://127.0.0.1/ --time-budget 10m --precision 1% --probe host --probe process=nginx
  brunt find http://127.0.0.1/ --objective 'p99 < 50ms' --require 'capacity > 3000/s' -o junit=find.xml      for CI";

/// What `brunt find` is told.
#[derive(Debug, Clone, Args)]
pub struct FindArgs {
    /// How the capacity is looked for.
    #[command(flatten)]
    search: SettingArgs<SearchSettings>,

    /// Name of the experiment
    #[arg(long, value_name = "NAME", default_value = "find", help_heading = "Search")]
    name: String,

    /// What each trial is told.
    #[command(flatten)]
    run: RunArgs,

    /// More servers to search one after the other; each as URL or NAME=URL
    #[arg(value_name = "URL")]
    more: Vec<String>,
}

/// Carries it out.
pub fn find(args: &FindArgs) -> Result<Exit, Failed> {
    if let Some(path) = args.run.settings.url.as_deref().and_then(super::plan_path) {
        let file = path.display();
        let told = anyhow::anyhow!("{file} is a plan file: write `find: {{}}` in it, and `brunt run {file}`");
        return Err(usage(told));
    }
    let system = crate::process::system();
    let command = command_line();
    let (experiment, notes) = experiment(args, &command, &system).map_err(usage)?;
    carry_out(&experiment, ExperimentContext::asked(&args.run, system, notes).map_err(usage)?)
}

/// The experiment that the command line speaks of, and notes that the user should be told.
fn experiment(args: &FindArgs, command: &str, system: &System) -> Result<(Experiment, Vec<String>)> {
    super::refuse_sets(&args.run)?;
    let (search, asked) = (&args.search.0, &args.run.settings);
    let run = search.run(asked)?;
    let (mut contenders, mut notes) = contenders(&run, &args.more, |run| sweep_steps(run, system))?;
    let question = question(search, asked, &mut contenders, &mut notes, system)?;
    let (name, cooldown, order) = (args.name.clone(), Duration::ZERO, TrialOrder::Blocks);
    let arranged = Arranged { name, repetitions: 1, order, cooldown, question };
    let seed = run.load.seed.unwrap_or(system.seed);
    Ok((experiment::experiment(contenders, arranged, seed, command)?, notes))
}
