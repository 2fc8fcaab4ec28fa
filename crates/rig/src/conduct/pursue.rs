//! Runs trials that a [`Chooser`] picks one after the other, based on earlier results.
//!
//! Hooks, servers and trials are run as in [`conduct`](super).

use super::level::Level;
use super::{Conductor, ExperimentOutcome, Outcome};
use crate::error::RigFailure;
use crate::guarded_command::RigContext;
use crate::host::ExperimentHost;
use crate::order::{self, ContenderTurn};
use brunt_model::experiment::LoadStep;
use brunt_model::question::TrialGap;
use brunt_model::{Experiment, TrialIndex};
use std::time::Duration;

/// Chooses the next trial of a search.
pub trait Chooser<H> {
    /// Returns the next trial of this turn; None if the turn needs no more trials. The host has
    /// stored the results of earlier trials. Called between trials, and once before the hooks and
    /// the server of a turn are started.
    fn next(&mut self, host: &mut H, turn: ContenderTurn) -> Option<ChosenTrial>;
}

/// A trial that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenTrial {
    /// Position of the trial in the experiment.
    pub place: TrialIndex,
    /// Index of the trial among those of its contender, from 1.
    pub number: usize,
    /// The load and plan of the trial.
    pub step: LoadStep,
    /// Action before the trial, unless it is the first one.
    pub before: TrialGap,
}

impl ChosenTrial {
    fn rest(&self) -> Duration {
        match self.before {
            TrialGap::Cool(time) => time,
            TrialGap::Restart => Duration::ZERO,
        }
    }
}

/// Runs an experiment whose trials are chosen during the experiment, turn by turn. Only
/// trials that the chooser returns are measured. Servers, hooks and failures are
/// handled as in [`conduct`](super::conduct).
///
/// # Errors
///
/// A hook or a server fails, or the host cannot make a run.
pub fn pursue<H: ExperimentHost>(
    experiment: &Experiment,
    chooser: &mut dyn Chooser<H>,
    context: &RigContext,
    host: &mut H,
) -> Result<ExperimentOutcome, RigFailure<H::Error>> {
    let turns = order::turns(experiment);
    let mut conductor = Conductor::new(experiment, context, host);
    let Some(first) = conductor.first_trial(chooser, &turns) else {
        return Ok(ExperimentOutcome::Whole);
    };
    conductor.with_hooks(Level::Experiment, |conductor| conductor.run_turns(chooser, &turns, first))
}

/// The first trial of the first turn that has one.
struct FirstTrial {
    /// Number of turns before it that have no trial.
    skipped_turns: usize,
    trial: ChosenTrial,
}

impl<H: ExperimentHost> Conductor<'_, H> {
    fn first_trial(
        &mut self,
        chooser: &mut dyn Chooser<H>,
        turns: &[ContenderTurn],
    ) -> Option<FirstTrial> {
        turns.iter().enumerate().find_map(|(skipped_turns, turn)| {
            Some(FirstTrial { skipped_turns, trial: chooser.next(self.host, *turn)? })
        })
    }

    fn run_turns(
        &mut self,
        chooser: &mut dyn Chooser<H>,
        mut turns: &[ContenderTurn],
        first: FirstTrial,
    ) -> Outcome<H> {
        let mut next = Some(first);
        while let Some(FirstTrial { skipped_turns, trial }) = next {
            turns = &turns[skipped_turns..];
            let contender = turns[0].contender;
            let count = turns.iter().take_while(|turn| turn.contender == contender).count();
            let end = self.within_contender(trial.place, |conductor| {
                conductor.run_contender_turns(chooser, turns, count, trial)
            })?;
            if end != ExperimentOutcome::Whole {
                return Ok(end);
            }
            turns = &turns[count..];
            next = self.first_trial(chooser, turns);
        }
        Ok(ExperimentOutcome::Whole)
    }

    /// Runs the first `count` turns, which belong to one contender.
    fn run_contender_turns(
        &mut self,
        chooser: &mut dyn Chooser<H>,
        turns: &[ContenderTurn],
        count: usize,
        first: ChosenTrial,
    ) -> Outcome<H> {
        let mut first = Some(first);
        for (index, turn) in turns[..count].iter().enumerate() {
            let Some(chosen) = first.take().or_else(|| chooser.next(self.host, *turn)) else {
                continue;
            };
            let place = chosen.place;
            let end = self
                .within_repetition(place, |conductor| conductor.run_turn(chooser, *turn, chosen))?;
            let is_last =
                turns[index + 1..].iter().all(|later| later.repetition != turn.repetition);
            if end != ExperimentOutcome::Whole {
                return Ok(end);
            }
            if is_last && self.host.has_enough(turn.repetition) {
                return Ok(ExperimentOutcome::Enough);
            }
        }
        Ok(ExperimentOutcome::Whole)
    }

    fn run_turn(
        &mut self,
        chooser: &mut dyn Chooser<H>,
        turn: ContenderTurn,
        first: ChosenTrial,
    ) -> Outcome<H> {
        let mut next = Some(first);
        while let Some(chosen) = next {
            if self.host.is_stopped() || self.run_chosen(&chosen)? == ExperimentOutcome::Stopped {
                return Ok(ExperimentOutcome::Stopped);
            }
            next = chooser.next(self.host, turn);
        }
        Ok(ExperimentOutcome::Whole)
    }

    fn run_chosen(&mut self, chosen: &ChosenTrial) -> Outcome<H> {
        // A server that was just started for the repetition need not be restarted
        // for its first trial.
        let needs_restart =
            chosen.before == TrialGap::Restart && self.server.is_some() && self.has_served_trial;
        if needs_restart && self.restart(chosen.place)? == ExperimentOutcome::Stopped {
            return Ok(ExperimentOutcome::Stopped);
        }
        self.number = chosen.number;
        self.measure(chosen.place, &chosen.step, chosen.rest())
    }
}
