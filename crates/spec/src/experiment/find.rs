//! A search for the capacity: the run that its trials are made of, and the question that they answer.

use super::pattern::{make, objective_sets, only_load};
use crate::System;
use crate::defaults;
use crate::error::{Result, bail, require};
use crate::settings::{RunSettings, SearchSettings};
use crate::words::shape::Loads;
use crate::words::{duration, objective};
use brunt_model::question::{Between, TrialTimes};
use brunt_model::{Contender, Find, LoadUnit, Question, Shape};
use std::time::Duration;

/// The question, and the contenders' steps made patterns of its trials. `run` is as it was said.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn question(
    search: &SearchSettings,
    run: &RunSettings,
    contenders: &mut [Contender],
    notes: &mut Vec<String>,
    system: &System,
) -> Result<Question> {
    let (find, told) = search.find(run, contenders, system)?;
    notes.extend(told);
    for step in contenders.iter_mut().flat_map(|contender| &mut contender.steps) {
        make(step, &find);
    }
    Ok(Question::Find(find))
}

impl SearchSettings {
    /// The run that is the pattern of all trials: at the first load, as long as a trial may be.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn run(&self, asked: &RunSettings) -> Result<RunSettings> {
        let load = &asked.load;
        let of_one_run = [
            (asked.stop.duration.is_some(), ("duration", ""), ("trial-duration", "2s..20s")),
            (asked.stop.requests.is_some(), ("requests", ""), ("trial-duration", "2s..20s")),
            (!load.until.is_empty(), ("until", ""), ("precision", "1%")),
            (asked.stop.warmup_until_steady, ("warmup", " auto"), ("warmup", "5s")),
        ];
        if let Some((_, (option, with), (other, value))) = of_one_run.into_iter().find(|row| row.0) {
            return Err(asked.said.refuse(|names| {
                let (option, instead) = (names.of(option), names.of(other));
                let itself = "a search chooses the duration of its trials";
                format!("{option}{with}: {itself}; leave it out, or write {instead} {value}")
            }));
        }
        let mut run = asked.clone();
        let start = Loads::One(Shape::constant(self.first_load(asked)?));
        match (&load.rate, &load.connections) {
            (None, Some(_)) => run.load.connections = Some(start),
            _ => run.load.rate = Some(start),
        }
        run.stop.duration = Some(self.trial.1);
        if !asked.said.is_said("warmup") {
            run.stop.warmup = duration::parse(defaults::FIND_WARMUP)?;
        }
        if !asked.said.is_said("grace") {
            run.stop.grace = duration::parse(defaults::FIND_GRACE)?;
        }
        Ok(run)
    }

    /// The question, and what the user should be told. `asked` is the run as it was said, `contenders` have a step each.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn find(&self, asked: &RunSettings, contenders: &[Contender], system: &System) -> Result<(Find, Vec<String>)> {
        let mut notes = Vec::new();
        let unit = contenders.first().map_or(LoadUnit::PerSecond, Contender::unit);
        let mut objectives = asked.checks.objectives.clone();
        if objectives.is_empty() {
            objectives = objective::parse(defaults::FIND_OBJECTIVE)?;
            let missing = asked.said.text(|names| names.of("objective"));
            let usual = defaults::FIND_OBJECTIVE;
            notes.push(format!("no {missing}; the default is `{usual}`"));
        }
        if let Some(of_step) = objectives.iter().find(|objective| objective.step.is_some()) {
            let name = asked.said.text(|names| names.of("objective"));
            let metric = of_step.metric;
            bail!("{name} `{of_step}`: a search judges all requests together; bound {metric} without a step")
        }
        let start = self.first_load(asked)?;
        let most = match (self.most, unit) {
            (None, LoadUnit::Users { .. }) => Some(room(system)),
            (most, _) => most,
        };
        require!(self.said, most.is_none_or(|most| most >= start), |names| {
            let (most, first) = (names.of("max-load"), names.of("start-load"));
            format!("{most} is below the load of the first trial, {start}; write {first} with less")
        });
        let warmup =
            contenders.first().and_then(|c| c.steps.first()).map_or(Duration::ZERO, |s| s.plan.main().stop.warmup);
        let trial = TrialTimes { warmup, least: self.trial.0, most: self.trial.1 };
        let one = warmup + trial.least;
        require!(self.said, self.within >= 3 * one, |names| format!(
            "{} {}s: three trials of {}s do not fit into it; write more, or shorter ones with {}",
            names.of("time-budget"),
            self.within.as_secs_f64(),
            one.as_secs_f64(),
            names.of("trial-duration")
        ));
        let find = Find {
            objectives: objective_sets(&objectives, &asked.said)?,
            precision: self.precision,
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

    fn first_load(&self, asked: &RunSettings) -> Result<f64> {
        let load = &asked.load;
        let (option, said, usual) = match (&load.rate, &load.connections) {
            (None, Some(users)) => ("connections", Some(users), defaults::FIND_USERS),
            (rate, _) => ("rate", rate.as_ref(), defaults::FIND_RATE),
        };
        let said = said.map(|loads| only_load(option, loads, &asked.said)).transpose()?;
        let first = self.start.or(said).unwrap_or(usual);
        if option == "connections" {
            require!(self.said, first.fract() == 0.0, |names| {
                format!("{} {first}: users are whole; write {}", names.of("start-load"), first.ceil())
            });
        }
        Ok(self.most.filter(|_| self.start.is_none() && said.is_none()).map_or(first, |most| first.min(most)))
    }
}

/// Users at most, in one process.
fn room(system: &System) -> f64 {
    system.descriptors.saturating_sub(defaults::DESCRIPTORS_KEPT).max(1) as f64
}
