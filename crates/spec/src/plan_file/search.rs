//! The keys below `find` in a plan file: the settings of `brunt find`.
//!
//! Out of scope: running the search.

use super::setting_keys::put_all;
use crate::error::{Result, bail};
use crate::experiment::{
    CapacityTimeBudget, prepare_capacity_comparison, question, search_run_settings,
};
use crate::plan::{KeyedValue, PlannedContender};
use crate::settings::{RunSettings, SearchSettings};
use crate::system::System;
use crate::words::compare::ComparedLoads;
use brunt_model::experiment::LoadStep;
use brunt_model::question::{AtCapacity, TrialGap};
use brunt_model::{Contender, Experiment, Question};
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

/// A search, as a plan file describes it.
pub struct SearchSection {
    settings: SearchSettings,
    /// True if the server is restarted between trials.
    restarts_server: bool,
    /// Loads of a comparison; [`ComparedLoads::Load`] without one.
    at: ComparedLoads,
    /// Keys in use that apply to a single search only.
    single_search_keys: Vec<String>,
    /// Settings of the first contender, with its objectives and load.
    run_settings: RefCell<Option<RunSettings>>,
}

/// Key of the time budget of a search.
const TIME_BUDGET: &str = "find.time_budget";
/// Keys that apply to a single search, and not to a comparison of many.
const SINGLE_SEARCH_KEYS: [&str; 3] = [TIME_BUDGET, "find.overload", "find.require"];
/// Word in place of a time between trials.
const RESTART: &str = "restart";

impl SearchSection {
    /// Reads the keys below `find`; `at` are the loads of a comparison.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn read(keys: &[KeyedValue], at: ComparedLoads, system: &System) -> Result<Self> {
        let between = keys.iter().find(|keyed| keyed.key == "find.between");
        let restarts_server = between.and_then(|keyed| keyed.node.text()) == Some(RESTART);
        // The row of this key reads times only.
        let times = keys.iter().filter(|keyed| !(restarts_server && keyed.key == "find.between"));
        let settings = put_all(times, Path::new(""), system)?;
        let single_search_keys = keys
            .iter()
            .map(|keyed| keyed.key.clone())
            .filter(|key| SINGLE_SEARCH_KEYS.contains(&&key[..]))
            .collect();
        Ok(Self {
            settings,
            restarts_server,
            at,
            single_search_keys,
            run_settings: RefCell::default(),
        })
    }

    /// True if given loads are measured in addition to the search.
    pub fn has_given_loads(&self) -> bool {
        self.at == ComparedLoads::Both
    }

    /// Settings of the run that is the pattern of a contender's trials. `given`
    /// are the given loads.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn run(&self, run_settings: &RunSettings, given: &[LoadStep]) -> Result<RunSettings> {
        let run_settings = &search_run_settings(run_settings, self.at, given);
        // Only the settings of the first contender define the question of the search.
        self.run_settings.borrow_mut().get_or_insert_with(|| run_settings.clone());
        self.settings.run(run_settings)
    }

    /// Makes the experiment a search. The objectives and the load of the first contender
    /// apply to all contenders.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn make_search(
        &self,
        experiment: &mut Experiment,
        first: &PlannedContender,
        notes: &mut Vec<String>,
        system: &System,
    ) -> Result<()> {
        let Some(run_settings) = self.run_settings.borrow_mut().take() else {
            bail!("contender {}: no request is defined", first.name)
        };
        let mut question =
            question(&self.settings, &run_settings, &mut experiment.contenders, notes, system)?;
        if let Question::Find(find) = &mut question {
            find.between = self.between(&experiment.contenders, find.between)?;
        }
        experiment.question = question;
        // A search repeats loads by itself until the interval is narrow.
        experiment.repetitions = 1;
        Ok(())
    }

    /// Makes the contenders ready for a comparison of their capacities. The objectives and the load
    /// of the first contender apply to all contenders.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn compare(
        &self,
        contenders: &mut [Contender],
        all: Option<Duration>,
        repetitions: u32,
        notes: &mut Vec<String>,
        system: &System,
    ) -> Result<AtCapacity> {
        let Some(run_settings) = self.run_settings.borrow_mut().take() else {
            bail!("nothing is asked")
        };
        let has_time_budget = self.single_search_keys.iter().any(|key| key == TIME_BUDGET);
        // The time budget of a single search is also useful for each of many.
        if let Some(key) = self.single_search_keys.iter().find(|key| *key != TIME_BUDGET) {
            bail!("{key}: that is of one search, and here many are compared; leave it out");
        }
        let budget = match all {
            Some(_) if has_time_budget => {
                bail!(
                    "compare.time_budget and {TIME_BUDGET} both limit the time; write one of them"
                )
            }
            None if has_time_budget => CapacityTimeBudget::Each(self.settings.within),
            all => CapacityTimeBudget::all_or_default(all)?,
        };
        let mut at = prepare_capacity_comparison(
            &self.settings,
            &run_settings,
            contenders,
            (budget, repetitions),
            (notes, system),
        )?;
        at.find.between = self.between(contenders, at.find.between)?;
        Ok(at)
    }

    /// Replaces the pause between trials by a restart, if the plan asks for it.
    fn between(&self, contenders: &[Contender], default: TrialGap) -> Result<TrialGap> {
        if !self.restarts_server {
            return Ok(default);
        }
        match contenders.iter().find(|contender| contender.server.is_none()) {
            Some(without) => {
                bail!(
                    "find.between: restart: brunt starts no server of {}; add `server`, or write a time",
                    without.name
                )
            }
            None => Ok(TrialGap::Restart),
        }
    }
}
