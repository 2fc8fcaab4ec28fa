//! What stands below `find` in a plan file: the words of `brunt find`, read by its own parser.
//!
//! What it is not: the carrying out.

use crate::args::RunArgs;
use crate::experiment::find::{Said, SearchArgs, question};
use crate::experiment::{Within, of_search, searching};
use crate::to_plan::System;
use anyhow::{Result, bail};
use brunt_model::experiment::Step;
use brunt_model::question::{AtCapacity, Between};
use brunt_model::{Contender, Experiment, Question};
use brunt_spec::plan::{PlanError, Planned, Setting, Value};
use brunt_spec::words::compare::At;
use clap::{Args, FromArgMatches};
use std::time::Duration;

/// A search, as a plan file has it.
pub struct Search {
    arguments: SearchArgs,
    /// The server is started anew between trials.
    restart: bool,
    /// Where contenders are compared, if they are.
    at: At,
    /// What was said that is of one search alone.
    own: Vec<String>,
    /// The first contender's objectives and load, as they were said.
    asked: std::cell::RefCell<Option<RunArgs>>,
}

/// How long a search may take.
const WITHIN: &str = "find.within";
/// What is of one search, and of no comparison of many.
const OF_ONE: [&str; 3] = [WITHIN, "find.overload", "find.require"];
/// A word in place of a time.
const RESTART: &str = "restart";

impl Search {
    /// Reads what stands below `find`; `at` is where contenders are compared.
    pub fn read(settings: &[Setting], at: At) -> Result<Self, PlanError> {
        let between = settings.iter().find(|setting| setting.key == "find.between");
        let restart = between.and_then(|setting| setting.node.text()) == Some(RESTART);
        let mut words = Vec::new();
        for setting in settings {
            let own = words_of(setting);
            // One by one, so that what is wrong is told at its place.
            parsed(&own).map_err(|error| refused(setting, &error))?;
            words.extend(own);
        }
        let whole = |error: clap::Error| PlanError { at: None, path: "find".into(), wrong: told(&error) };
        let own = settings.iter().map(|setting| setting.key.clone()).filter(|key| OF_ONE.contains(&&key[..])).collect();
        Ok(Self { arguments: parsed(&words).map_err(whole)?, restart, at, own, asked: None.into() })
    }

    /// Whether loads that are given are measured besides.
    pub fn is_beside_loads(&self) -> bool {
        self.at == At::Both
    }

    /// The run that is the pattern of a contender's trials, beside those loads.
    pub fn run(&self, asked: &RunArgs, planned: &Planned, given: &[Step]) -> Result<RunArgs> {
        let asked = &of_search(asked, self.at, given);
        self.asked.borrow_mut().get_or_insert_with(|| asked.clone());
        let said = |key: &str| planned.settings.iter().any(|setting| setting.key == key);
        self.arguments.run(asked, Said { warmup: said("load.warmup"), grace: said("load.grace") })
    }

    /// Makes the experiment a search. All contenders are asked what the first is.
    pub fn ask(
        &self,
        experiment: &mut Experiment,
        first: &Planned,
        notes: &mut Vec<String>,
        system: &System,
    ) -> Result<()> {
        let Some(asked) = self.asked.borrow_mut().take() else { bail!("contender {}: nothing is asked", first.name) };
        let mut asks = question(&self.arguments, &asked, &mut experiment.contenders, notes, system)?;
        if let Question::Find(find) = &mut asks {
            find.between = self.between(&experiment.contenders, find.between)?;
        }
        experiment.question = asks;
        experiment.repetitions = 1;
        Ok(())
    }

    /// Makes contenders such as are compared by their capacities. All are asked what the first is.
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
            Some(_) if each => bail!("compare.within and {WITHIN} both say how long it may take; write one of them"),
            None if each => Within::Each(self.arguments.within),
            all => Within::all_or_usual(all)?,
        };
        let mut at = searching(&self.arguments, &asked, contenders, (within, repetitions), (notes, system))?;
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

fn words_of(setting: &Setting) -> Vec<String> {
    let option = match setting.key.strip_prefix("find.").unwrap_or_default() {
        "between" => "cooldown",
        other => other,
    };
    let text = |node: &brunt_spec::plan::Node| node.text().unwrap_or_default().to_owned();
    let values = match &setting.node.value {
        Value::List(nodes) => nodes.iter().map(text).collect(),
        _ => vec![text(&setting.node)],
    };
    let said = values.into_iter().filter(|value| !(option == "cooldown" && value == RESTART));
    said.map(|value| format!("--{option}={value}")).collect()
}

fn parsed(words: &[String]) -> Result<SearchArgs, clap::Error> {
    let command = SearchArgs::augment_args(clap::Command::new("brunt").no_binary_name(true).disable_help_flag(true));
    SearchArgs::from_arg_matches(&command.try_get_matches_from(words)?)
}

fn refused(setting: &Setting, error: &clap::Error) -> PlanError {
    PlanError::new(&setting.node.at, &setting.key, told(error))
}

/// The reason alone: the option is no word of the plan.
fn told(error: &clap::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    }
}
