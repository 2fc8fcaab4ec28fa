//! Results of an experiment: the trials made so far.

use crate::{Environment, Experiment, Judgement, Question, Run, Text, TrialIndex};
use serde::{Deserialize, Serialize};

/// Results of an experiment. A single run is a study with one trial.
#[derive(Debug, Clone)]
pub struct Study {
    /// Short id in the store; None if it is not stored.
    pub id: Option<String>,
    /// Experiment as planned.
    pub experiment: Experiment,
    /// Environment of the generator.
    pub environment: Environment,
    /// Start time, in seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// Trials in the order of measurement.
    pub trials: Vec<Trial>,
    /// Warnings, each a sentence.
    pub warnings: Vec<Text>,
    /// True if it was stopped before all trials were made.
    pub interrupted: bool,
    /// Continuations after interruptions, in order.
    pub resumptions: Vec<Resumption>,
}

/// Continuation of an interrupted experiment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Resumption {
    /// Time of the continuation, in seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// True if the question changed, for example to a larger time budget.
    pub question_changed: bool,
}

/// One run of an experiment.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Position in the experiment.
    pub place: TrialIndex,
    /// Short id of the run in the store; None if it is not stored.
    pub id: Option<String>,
    /// The measured run.
    pub run: Run,
    /// Judgement of the run.
    pub judgement: Judgement,
}

impl Study {
    /// Returns the trials of a contender, in the order of measurement.
    pub fn trials_of(&self, contender: usize) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(move |trial| trial.place.contender == contender)
    }

    /// Returns the only trial of a study without variation, comparison or repetition. It is
    /// reported as a run.
    pub fn only_run(&self) -> Option<&Trial> {
        let [trial] = &self.trials[..] else { return None };
        let is_sweep = matches!(self.experiment.question, Question::Sweep);
        // A sweep that was stopped after one trial has more trials planned.
        (is_sweep && self.experiment.trials() == 1).then_some(trial)
    }

    /// Returns the trials of a contender in a repetition that a search chose.
    pub fn search_trials(&self, contender: usize, repetition: u32) -> impl Iterator<Item = &Trial> {
        let trials =
            self.trials_of(contender).filter(move |trial| trial.place.repetition == repetition);
        trials.filter(|trial| self.experiment.is_search_trial(trial.place))
    }

    /// True if all trials were made, or enough of them. An experiment that grows has enough trials,
    /// unless it was stopped.
    pub fn is_complete(&self) -> bool {
        let experiment = &self.experiment;
        let has_all = !experiment.has_search() && self.trials.len() >= experiment.trials();
        has_all || !self.interrupted && (experiment.has_search() || experiment.may_end_early())
    }
}
