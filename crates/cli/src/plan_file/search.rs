//! What stands below `find` in a plan file: the words of `brunt find`, read by its own parser.
//!
//! What it is not: the carrying out.

use crate::args::RunArgs;
use crate::experiment::find::{Said, SearchArgs, question};
use crate::to_plan::System;
use anyhow::{Result, bail};
use brunt_model::question::Between;
use brunt_model::{Experiment, Question};
use brunt_script::plan::{PlanError, Planned, Setting, Value};
use clap::{Args, FromArgMatches};

/// A search, as a plan file has it.
pub struct Search {
    arguments: SearchArgs,
    /// The server is started anew between trials.
    restart: bool,
    /// The first contender's objectives and load, as they were said.
    asked: std::cell::RefCell<Option<RunArgs>>,
}

/// A word in place of a time.
const RESTART: &str = "restart";

impl Search {
    /// Reads what stands below `find`.
    pub fn read(settings: &[Setting]) -> Result<Self, PlanError> {
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
        Ok(Self { arguments: parsed(&words).map_err(whole)?, restart, asked: None.into() })
    }

    /// The run that is the pattern of a contender's trials.
    pub fn run(&self, asked: &RunArgs, planned: &Planned) -> Result<RunArgs> {
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
        if let Question::Find(find) = &mut asks
            && self.restart
        {
            if let Some(without) = experiment.contenders.iter().find(|contender| contender.server.is_none()) {
                bail!(
                    "find.between: restart: brunt starts no server of {}; add `server`, or write a time",
                    without.name
                );
            }
            find.between = Between::Restart;
        }
        experiment.question = asks;
        experiment.repetitions = 1;
        Ok(())
    }
}

fn words_of(setting: &Setting) -> Vec<String> {
    let option = match setting.key.strip_prefix("find.").unwrap_or_default() {
        "between" => "cooldown",
        other => other,
    };
    let text = |node: &brunt_script::plan::Node| node.text().unwrap_or_default().to_owned();
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
