//! A search for the capacity: the run that all its trials are based on, and its question.

use super::pattern::{make, objective_sets, only_load};
use crate::System;
use crate::defaults;
use crate::error::{Result, bail, require};
use crate::settings::{RunSettings, SearchSettings};
use crate::words::shape::Loads;
use crate::words::{duration, objective};
use brunt_model::question::{TrialGap, TrialTimes};
use brunt_model::{CapacitySearch, Contender, LoadShape, LoadUnit, Question};
use std::time::Duration;

/// Creates the question of a search, and makes the steps of the contenders patterns of its trials.
/// `run` are the settings as the user wrote them.
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
    let (find, search_notes) = search.find(run, contenders, system)?;
    notes.extend(search_notes);
    for step in contenders.iter_mut().flat_map(|contender| &mut contender.steps) {
        make(step, &find);
    }
    Ok(Question::Find(find))
}

impl SearchSettings {
    /// Settings of the run that is the pattern of all trials: with the first load, and the maximum
    /// duration of a trial.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn run(&self, run_settings: &RunSettings) -> Result<RunSettings> {
        let load = &run_settings.load;
        // Settings of one run, which a search has in another form: is it set,
        // option, its value, replacement.
        let unsuitable = [
            (run_settings.stop.duration.is_some(), "duration", "", "trial-duration", "2s"),
            (run_settings.stop.requests.is_some(), "requests", "", "trial-duration", "2s"),
            (!load.until.is_empty(), "until", "", "precision", "1%"),
            (run_settings.stop.warmup_until_steady, "warmup", " auto", "warmup", "5s"),
        ];
        if let Some((_, option, suffix, other, value)) = unsuitable.into_iter().find(|row| row.0) {
            return Err(run_settings.sources.refuse(|names| {
                let option = names.name_of(option);
                let instead = names.name_of(other);
                let itself = "a search chooses the duration of its trials";
                format!("{option}{suffix}: {itself}; leave it out, or write {instead} {value}")
            }));
        }
        let mut run = run_settings.clone();
        let start = Loads::One(LoadShape::constant(self.first_load(run_settings)?));
        match (&load.rate, &load.connections) {
            // With users alone, the load of the search is their number.
            (None, Some(_)) => run.load.connections = Some(start),
            _ => run.load.rate = Some(start),
        }
        run.stop.duration = Some(self.trial);
        // Trials of a search have other defaults than a single run.
        if !run_settings.sources.is_given("warmup") {
            run.stop.warmup = duration::parse(defaults::FIND_WARMUP)?;
        }
        if !run_settings.sources.is_given("grace") {
            run.stop.grace = duration::parse(defaults::FIND_GRACE)?;
        }
        Ok(run)
    }

    /// Creates the question, and the notes for the user. `run_settings` are as the user wrote them;
    /// each contender has one step.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn find(
        &self,
        run_settings: &RunSettings,
        contenders: &[Contender],
        system: &System,
    ) -> Result<(CapacitySearch, Vec<String>)> {
        let mut notes = Vec::new();
        let unit = contenders.first().map_or(LoadUnit::PerSecond, Contender::unit);
        let mut objectives = run_settings.checks.objectives.clone();
        if objectives.is_empty() {
            objectives = objective::parse(defaults::FIND_OBJECTIVE)?;
            let missing = run_settings.sources.text(|names| names.name_of("objective"));
            let default = defaults::FIND_OBJECTIVE;
            notes.push(format!("no {missing}; the default is `{default}`"));
        }
        if let Some(step_objective) = objectives.iter().find(|objective| objective.step.is_some()) {
            let name = run_settings.sources.text(|names| names.name_of("objective"));
            let metric = step_objective.metric;
            bail!(
                "{name} `{step_objective}`: a search judges all requests together; bound {metric} without a step"
            )
        }
        let start = self.first_load(run_settings)?;
        let most = match (self.most, unit) {
            // Each user has a connection, so open files limit the search.
            (None, LoadUnit::Users { .. }) => Some(max_users(system)),
            (most, _) => most,
        };
        require!(self.sources, most.is_none_or(|most| most >= start), |names| {
            let most = names.name_of("max-load");
            let first = names.name_of("start-load");
            format!("{most} is below the load of the first trial, {start}; write {first} with less")
        });
        let warmup = contenders
            .first()
            .and_then(|c| c.steps.first())
            .map_or(Duration::ZERO, |s| s.plan.main().stop.warmup);
        let trial = TrialTimes { warmup, measured: self.trial };
        let one = warmup + trial.measured;
        require!(self.sources, self.within >= 3 * one, |names| format!(
            "{} {}s: three trials of {}s do not fit into it; write more, or shorter ones with {}",
            names.name_of("time-budget"),
            self.within.as_secs_f64(),
            one.as_secs_f64(),
            names.name_of("trial-duration")
        ));
        let find = CapacitySearch {
            objectives: objective_sets(&objectives, &run_settings.sources)?,
            precision: self.precision,
            within: self.within,
            start,
            most,
            trial,
            between: TrialGap::Cool(self.cooldown),
            overload: self.overload,
            require: self.require.clone(),
        };
        Ok((find, notes))
    }

    fn first_load(&self, run_settings: &RunSettings) -> Result<f64> {
        let load = &run_settings.load;
        let (option, loads, default) = match (&load.rate, &load.connections) {
            (None, Some(users)) => ("connections", Some(users), defaults::FIND_USERS),
            (rate, _) => ("rate", rate.as_ref(), defaults::FIND_RATE),
        };
        let given_load =
            loads.map(|loads| only_load(option, loads, &run_settings.sources)).transpose()?;
        let first = self.start.or(given_load).unwrap_or(default);
        if option == "connections" {
            // `start-load` serves rates, too, so its parser accepts fractions.
            require!(self.sources, first.fract() == 0.0, |names| {
                format!(
                    "{} {first}: users are whole; write {}",
                    names.name_of("start-load"),
                    first.ceil()
                )
            });
        }
        // The default start may exceed a low maximum; a start that the user gave may not.
        Ok(self
            .most
            .filter(|_| self.start.is_none() && given_load.is_none())
            .map_or(first, |most| first.min(most)))
    }
}

/// Maximum number of users in one process.
fn max_users(system: &System) -> f64 {
    system.descriptors.saturating_sub(defaults::RESERVED_DESCRIPTORS).max(1) as f64
}
