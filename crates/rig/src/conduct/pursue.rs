//! Trials that are chosen one after the other, by what those before them came to.
//!
//! Out of scope: the choice, which is a [`Chooser`]'s;, and hooks, servers and trials, which are as in
//! [`conduct`](super).

use super::level::Level;
use super::{Conduct, End, Outcome};
use crate::error::Failure;
use crate::host::Host;
use crate::order::{self, Turn};
use crate::ward::RigContext;
use brunt_model::experiment::Step;
use brunt_model::question::Between;
use brunt_model::{Experiment, TrialIndex};
use std::time::Duration;

/// Says trial by trial what comes next.
pub trait Chooser<H> {
    /// The next trial of this turn; None: there is no more to be tried in it. The host has kept what the trials before came
    /// to. Asked between trials, and once before anything is begun for a turn.
    fn next(&mut self, host: &mut H, turn: Turn) -> Option<Chosen>;
}

/// A trial that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Which it is to be.
    pub place: TrialIndex,
    /// Trial index of its contender, from 1.
    pub number: usize,
    /// Its load and its plan.
    pub step: Step,
    /// What is done before it, unless it is the first one.
    pub before: Between,
}

impl Chosen {
    fn rest(&self) -> Duration {
        match self.before {
            Between::Cool(time) => time,
            Between::Restart => Duration::ZERO,
        }
    }
}

/// Carries out an experiment whose trials are chosen on the way, turn by turn. Of the experiment's own steps none is made
/// but those that the chooser names; servers, hooks and failures are as those of [`conduct`](super::conduct).
///
/// # Errors
///
/// A hook or a server fails, or the host cannot make a run.
pub fn pursue<H: Host>(
    experiment: &Experiment,
    chooser: &mut dyn Chooser<H>,
    context: &RigContext,
    host: &mut H,
) -> Result<End, Failure<H::Error>> {
    let turns = order::turns(experiment);
    let mut conduct = Conduct::new(experiment, context, host);
    let Some(first) = conduct.first(chooser, &turns) else { return Ok(End::Whole) };
    conduct.around(Level::Experiment, |own| own.all(chooser, &turns, first))
}

/// The first trial of the first of some turns of which anything is left to be tried, with how many turns stand before it.
type First = (usize, Chosen);

impl<H: Host> Conduct<'_, H> {
    fn first(&mut self, chooser: &mut dyn Chooser<H>, turns: &[Turn]) -> Option<First> {
        turns.iter().enumerate().find_map(|(before, turn)| Some((before, chooser.next(self.host, *turn)?)))
    }

    fn all(&mut self, chooser: &mut dyn Chooser<H>, mut turns: &[Turn], first: First) -> Outcome<H> {
        let mut next = Some(first);
        while let Some((before, first)) = next {
            turns = &turns[before..];
            let contender = turns[0].contender;
            let own = turns.iter().take_while(|turn| turn.contender == contender).count();
            let end = self.within_contender(first.place, |conduct| conduct.turns(chooser, turns, own, first))?;
            if end != End::Whole {
                return Ok(end);
            }
            turns = &turns[own..];
            next = self.first(chooser, turns);
        }
        Ok(End::Whole)
    }

    /// The first so many of some turns, which are of one contender.
    fn turns(&mut self, chooser: &mut dyn Chooser<H>, all: &[Turn], own: usize, first: Chosen) -> Outcome<H> {
        let mut first = Some(first);
        for (index, turn) in all[..own].iter().enumerate() {
            let Some(chosen) = first.take().or_else(|| chooser.next(self.host, *turn)) else { continue };
            let trials = |conduct: &mut Self| conduct.one_after_the_other(chooser, *turn, chosen.clone());
            let end = self.within_repetition(chosen.place, trials)?;
            let is_last = all[index + 1..].iter().all(|later| later.repetition != turn.repetition);
            if end != End::Whole {
                return Ok(end);
            }
            if is_last && self.host.enough(turn.repetition) {
                return Ok(End::Enough);
            }
        }
        Ok(End::Whole)
    }

    fn one_after_the_other(&mut self, chooser: &mut dyn Chooser<H>, turn: Turn, first: Chosen) -> Outcome<H> {
        let mut next = Some(first);
        while let Some(chosen) = next {
            if self.host.stopped() || self.pursued(&chosen)? == End::Stopped {
                return Ok(End::Stopped);
            }
            next = chooser.next(self.host, turn);
        }
        Ok(End::Whole)
    }

    fn pursued(&mut self, chosen: &Chosen) -> Outcome<H> {
        let anew = chosen.before == Between::Restart && self.server.is_some() && self.used;
        if anew && self.restart(chosen.place)? == End::Stopped {
            return Ok(End::Stopped);
        }
        self.number = chosen.number;
        self.measure(chosen.place, &chosen.step, chosen.rest())
    }
}
