//! What a search is told, on the command line or below `find` in a plan file.
//!
//! What it is not: what its trials are told; that is in [`RunArgs`].

use super::pattern::{Said, objective_sets, only_load};
use crate::args::RunArgs;
use crate::args::values::Warmup;
use crate::defaults;
use crate::to_plan::System;
use anyhow::{Result, bail, ensure};
use brunt_model::question::{Between, Requirement, TrialTimes};
use brunt_model::{Contender, Find, LoadUnit, Shape};
use brunt_spec::words::shape::Loads;
use brunt_spec::words::{duration, find, objective};
use clap::Args;
use std::time::Duration;

/// How the capacity is looked for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// All trials of a server together may take so long
    #[arg(long, value_name = "TIME", default_value = defaults::FIND_WITHIN, value_parser = duration::positive)]
    pub within: Duration,

    /// What a comparison of capacities is told, too.
    #[command(flatten)]
    pub tries: TryArgs,

    /// Rest between two trials; more where the one before left unfinished work
    #[arg(long, value_name = "TIME", default_value = defaults::FIND_COOLDOWN, value_parser = duration::parse)]
    pub cooldown: Duration,

    /// At the end so many times the capacity is asked for, to see how the server recovers; or no
    #[arg(long, value_name = "TIMES", default_value = defaults::FIND_OVERLOAD, value_parser = find::overload)]
    pub overload: Overload,

    /// Such as 'capacity > 3000/s': exit code 4 if missed, 8 if the interval does not decide it; repeatable
    #[arg(long, value_name = "BOUND", value_parser = find::requirement)]
    pub require: Vec<Requirement>,
}

/// Which trials a search makes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub struct TryArgs {
    /// Stop as soon as each capacity is known so well: half its 95 % interval
    #[arg(long, value_name = "SHARE", default_value = defaults::FIND_PRECISION, value_parser = find::precision)]
    pub precision: f64,

    /// The load of the first trial [default: that of --rate or --connections, else 50 requests/s]
    #[arg(long, value_name = "LOAD", value_parser = find::load)]
    pub start: Option<f64>,

    /// No higher load is tried [default: as far as it goes]
    #[arg(long, value_name = "LOAD", value_parser = find::load)]
    pub most: Option<f64>,

    /// Measured time of a trial, at least and at most; it ends as soon as its side is decided
    #[arg(long, value_name = "TIME..TIME", default_value = defaults::FIND_TRIAL, value_parser = find::lengths)]
    pub trial: (Duration, Duration),
}

/// So many times the capacity; None: no overload.
pub type Overload = Option<f64>;

impl SearchArgs {
    /// The run that is the pattern of all trials: at the first load, as long as a trial may be.
    pub fn run(&self, asked: &RunArgs, said: Said) -> Result<RunArgs> {
        let load = &asked.load;
        let of_one_run = [
            (load.duration.is_some(), "--duration", "--trial 2s..20s"),
            (load.requests.is_some(), "--requests", "--trial 2s..20s"),
            (!load.until.is_empty(), "--until", "--precision 1%"),
            (load.warmup == Warmup::UntilSteady, "--warmup auto", "--warmup 5s"),
        ];
        if let Some((_, option, instead)) = of_one_run.iter().find(|row| row.0) {
            bail!("{option}: a search says itself how long its trials are; leave it out, or write {instead}");
        }
        let mut run = asked.clone();
        let start = Loads::One(Shape::constant(self.first_load(asked)?));
        match (&load.rate, &load.connections) {
            (None, Some(_)) => run.load.connections = Some(start),
            _ => run.load.rate = Some(start),
        }
        run.load.duration = Some(self.tries.trial.1);
        run.load.warmup = if said.warmup { load.warmup } else { Warmup::For(duration::parse(defaults::FIND_WARMUP)?) };
        run.load.grace = if said.grace { load.grace } else { duration::parse(defaults::FIND_GRACE)? };
        Ok(run)
    }

    /// The question, and what the user should be told. `asked` is the run as it was said, `contenders` have a step each.
    pub fn find(&self, asked: &RunArgs, contenders: &[Contender], system: &System) -> Result<(Find, Vec<String>)> {
        let mut notes = Vec::new();
        let unit = contenders.first().map_or(LoadUnit::PerSecond, Contender::unit);
        let mut objectives = asked.checks.objectives.concat();
        if objectives.is_empty() {
            objectives = objective::parse(defaults::FIND_OBJECTIVE)?;
            notes.push(format!(
                "no --objective says what a load is to meet; it is `{}`, where people lose patience",
                defaults::FIND_OBJECTIVE
            ));
        }
        let start = self.first_load(asked)?;
        let most = match (self.tries.most, unit) {
            (None, LoadUnit::Users { .. }) => Some(room(system)),
            (most, _) => most,
        };
        ensure!(
            most.is_none_or(|most| most >= start),
            "--most is below the load of the first trial, {start}; write --start with less"
        );
        let warmup = contenders.first().and_then(|c| c.steps.first()).map_or(Duration::ZERO, |s| s.plan.stop.warmup);
        let trial = TrialTimes { warmup, least: self.tries.trial.0, most: self.tries.trial.1 };
        let one = warmup + trial.least;
        ensure!(
            self.within >= 3 * one,
            "--within {}s: three trials of {}s do not fit into it; write more, or shorter ones with --trial",
            self.within.as_secs_f64(),
            one.as_secs_f64()
        );
        let find = Find {
            objectives: objective_sets(&objectives)?,
            precision: self.tries.precision,
            within: self.within,
            start,
            most,
            trial,
            between: Between::Cool(self.cooldown),
            overload: self.overload,
            require: self.require.clone(),
        };
        Ok((find, notes))
    }

    fn first_load(&self, asked: &RunArgs) -> Result<f64> {
        let load = &asked.load;
        let (option, said, usual) = match (&load.rate, &load.connections) {
            (None, Some(users)) => ("--connections", Some(users), defaults::FIND_USERS),
            (rate, _) => ("--rate", rate.as_ref(), defaults::FIND_RATE),
        };
        let said = said.map(|loads| only_load(option, loads)).transpose()?;
        let first = self.tries.start.or(said).unwrap_or(usual);
        if option == "--connections" {
            ensure!(first.fract() == 0.0, "--start {first}: users are whole; write {}", first.ceil());
        }
        Ok(self
            .tries
            .most
            .filter(|_| self.tries.start.is_none() && said.is_none())
            .map_or(first, |most| first.min(most)))
    }
}

/// Users at most, in one process.
fn room(system: &System) -> f64 {
    system.descriptors.saturating_sub(defaults::DESCRIPTORS_KEPT).max(1) as f64
}
