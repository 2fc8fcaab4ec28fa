//! What stands below `find` in a plan file: the settings of `brunt find`.
//!
//! Out of scope: the carrying out.

use super::told::put_all;
use crate::error::{Result, bail};
use crate::experiment::{Within, of_search, question, searching};
use crate::plan::{Keyed, Planned};
use crate::settings::{RunSettings, SearchSettings};
use crate::system::System;
use crate::words::compare::At;
use brunt_model::experiment::Step;
use brunt_model::question::{AtCapacity, Between};
use brunt_model::{Contender, Experiment, Question};
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

/// A search, as a plan file has it.
pub struct Search {
    settings: SearchSettings,
    /// The server is started anew between trials.
    restart: bool,
    /// Loads at which contenders are compared, if they are.
    at: At,
    /// What was said that is of one search alone.
    own: Vec<String>,
    /// The first contender's objectives and load, as they were said.
    asked: RefCell<Option<RunSettings>>,
}

/// How long a search may take.
const WITHIN: &str = "find.time_budget";
/// What is of one search, and of no comparison of many.
const OF_ONE: [&str; 3] = [WITHIN, "find.overload", "find.require"];
/// A word in place of a time.
const RESTART: &str = "restart";

impl Search {
    /// Reads what stands below `find`; `at` is where contenders are compared.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn read(keys: &[Keyed], at: At, system: &System) -> Result<Self> {
        let between = keys.iter().find(|keyed| keyed.key == "find.between");
        let restart = between.and_then(|keyed| keyed.node.text()) == Some(RESTART);
        let times = keys.iter().filter(|keyed| !(restart && keyed.key == "find.between"));
        let settings = put_all(times, Path::new(""), system)?;
        let own = keys.iter().map(|keyed| keyed.key.clone()).filter(|key| OF_ONE.contains(&&key[..])).collect();
        Ok(Self { settings, restart, at, own, asked: RefCell::default() })
    }

    /// Whether loads that are given are measured besides.
    pub fn is_beside_loads(&self) -> bool {
        self.at == At::Both
    }

    /// The run that is the pattern of a contender's trials, beside those loads.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn run(&self, asked: &RunSettings, given: &[Step]) -> Result<RunSettings> {
        let asked = &of_search(asked, self.at, given);
        self.asked.borrow_mut().get_or_insert_with(|| asked.clone());
        self.settings.run(asked)
    }

    /// Makes the experiment a search. All contenders are asked what the first is.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn ask(
        &self,
        experiment: &mut Experiment,
        first: &Planned,
        notes: &mut Vec<String>,
        system: &System,
    ) -> Result<()> {
        let Some(asked) = self.asked.borrow_mut().take() else {
            bail!("contender {}: no request is defined", first.name)
        };
        let mut asks = question(&self.settings, &asked, &mut experiment.contenders, notes, system)?;
        if let Question::Find(find) = &mut asks {
            find.between = self.between(&experiment.contenders, find.between)?;
        }
        experiment.question = asks;
        experiment.repetitions = 1;
        Ok(())
    }

    /// Makes contenders such as are compared by their capacities. All are asked what the first is.
    ///
    /// # Errors
    ///
    /// `SpecError` with its place if a value is invalid, or does not go with another one.
    pub fn compare(
        &self,
        contenders: &mut [Contender],
        (all, repetitions): (Option<Duration>, u32),
        (notes, system): (&mut Vec<String>, &System),
    ) -> Result<AtCapacity> {
        let Some(asked) = self.asked.borrow_mut().take() else { bail!("nothing is asked") };
        let each = self.own.iter().any(|key| key == WITHIN);
        if let Some(key) = self.own.iter().find(|key| *key != WITHIN) {
            bail!("{key}: that is of one search, and here many are compared; leave it out");
        }
        let within = match all {
            Some(_) if each => {
                bail!("compare.time_budget and {WITHIN} both say how long it may take; write one of them")
            }
            None if each => Within::Each(self.settings.within),
            all => Within::all_or_usual(all)?,
        };
        let mut at = searching(&self.settings, &asked, contenders, (within, repetitions), (notes, system))?;
        at.find.between = self.between(contenders, at.find.between)?;
        Ok(at)
    }

    fn between(&self, contenders: &[Contender], said: Between) -> Result<Between> {
        if !self.restart {
            return Ok(said);
        }
        match contenders.iter().find(|contender| contender.server.is_none()) {
            Some(without) => {
                bail!(
                    "find.between: restart: brunt starts no server of {}; add `server`, or write a time",
                    without.name
                )
            }
            None => Ok(Between::Restart),
        }
    }
}
