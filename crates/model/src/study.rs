//! What an experiment came to: its trials, as far as they were made.

use crate::{Environment, Experiment, Judgement, Question, Run, TrialIndex};
use serde::{Deserialize, Serialize};

/// What an experiment came to. A single run is a study of one trial.
#[derive(Debug, Clone)]
pub struct Study {
    /// Its short id in the store; None where it is not kept.
    pub id: Option<String>,
    /// Experiment as planned.
    pub experiment: Experiment,
    /// Where and with what: the generator's machine.
    pub environment: Environment,
    /// Seconds since 1970-01-01 UTC at its beginning.
    pub unix_seconds: f64,
    /// What was measured, in the order in which it was.
    pub trials: Vec<Trial>,
    /// Warnings, each a sentence.
    pub warnings: Vec<String>,
    /// It was stopped before all trials were made.
    pub interrupted: bool,
    /// When it was continued after an interruption, in order.
    pub resumptions: Vec<Resumption>,
}

/// An experiment that had been interrupted was continued.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Resumption {
    /// When: seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// The question changed with it, for instance to one with more time.
    pub question_changed: bool,
}

/// One run of an experiment.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Position in the experiment.
    pub place: TrialIndex,
    /// The run's short id in the store; None where it is not kept.
    pub id: Option<String>,
    /// What was measured.
    pub run: Run,
    /// Judgement of the run.
    pub judgement: Judgement,
}

impl Study {
    /// The trials of a contender, in the order in which they were made.
    pub fn of(&self, contender: usize) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(move |trial| trial.place.contender == contender)
    }

    /// The only trial of a study that varies, compares and repeats nothing: it is reported as a run.
    pub fn only_run(&self) -> Option<&Trial> {
        let [trial] = &self.trials[..] else { return None };
        let is_sweep = matches!(self.experiment.question, Question::Sweep);
        (is_sweep && self.experiment.trials() == 1).then_some(trial)
    }

    /// The trials of a search: those of a contender in a repetition whose loads were chosen on the way.
    pub fn searched(&self, contender: usize, repetition: u32) -> impl Iterator<Item = &Trial> {
        let is_of = move |trial: &&Trial| trial.place.repetition == repetition;
        self.of(contender).filter(is_of).filter(|trial| self.experiment.was_chosen(trial.place))
    }

    /// Whether all its trials were made, or as many as were found to be enough. One that grows has as many as it was found to
    /// need, unless somebody stopped it.
    pub fn is_complete(&self) -> bool {
        let (experiment, unstopped) = (&self.experiment, !self.interrupted);
        let all = !experiment.grows() && self.trials.len() >= experiment.trials();
        all || unstopped && (experiment.grows() || experiment.may_end_early())
    }
}
