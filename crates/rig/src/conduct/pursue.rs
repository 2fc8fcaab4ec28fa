//! Trials that are chosen one after the other, by what those before them came to.
//!
//! What it is **not**: the choice, which is a [`Chooser`]'s; nor hooks, servers and trials, which are as in
//! [`conduct`](super).

use super::level::Level;
use super::{Conduct, End, Outcome};
use crate::error::Failure;
use crate::host::Host;
use crate::ward::Gear;
use brunt_model::experiment::Step;
use brunt_model::question::Between;
use brunt_model::{Experiment, Place};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// Says trial by trial what comes next.
pub trait Chooser<H> {
    /// The next trial of this contender; None: there is no more to be tried of it. The host has kept what the trials before
    /// came to. Asked between trials, and once before anything is begun for a contender.
    fn next(&mut self, host: &mut H, contender: usize) -> Option<Chosen>;
}

/// A trial that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Which it is to be.
    pub place: Place,
    /// The how-manieth trial of its contender it is, from 1.
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

/// Carries out an experiment whose trials are chosen on the way, contender by contender. Of the experiment's own steps
/// none is made; servers, hooks and failures are as those of [`conduct`](super::conduct).
pub fn pursue<H: Host>(
    experiment: &Experiment,
    chooser: &mut dyn Chooser<H>,
    gear: &Gear,
    host: &mut H,
) -> Result<End, Failure<H::Error>> {
    let (server, to_make, rested) = (None, BTreeMap::new(), true);
    let mut conduct = Conduct { experiment, gear, host, server, number: 0, of: None, to_make, rested, deaths: 0 };
    let Some(first) = conduct.first(chooser, 0..experiment.contenders.len()) else { return Ok(End::Whole) };
    conduct.around(Level::Experiment, |own| own.all(chooser, first))
}

impl<H: Host> Conduct<'_, H> {
    /// The first trial of the first of these contenders of which anything is left to be tried.
    fn first(&mut self, chooser: &mut dyn Chooser<H>, mut contenders: Range<usize>) -> Option<Chosen> {
        contenders.find_map(|contender| chooser.next(self.host, contender))
    }

    fn all(&mut self, chooser: &mut dyn Chooser<H>, first: Chosen) -> Outcome<H> {
        let mut next = Some(first);
        while let Some(first) = next {
            let place = first.place;
            let outcome = self.within_contender(place, |own| {
                own.within_repetition(place, |own| own.one_after_the_other(chooser, first))
            });
            if outcome? == End::Stopped {
                return Ok(End::Stopped);
            }
            next = self.first(chooser, place.contender + 1..self.experiment.contenders.len());
        }
        Ok(End::Whole)
    }

    fn one_after_the_other(&mut self, chooser: &mut dyn Chooser<H>, first: Chosen) -> Outcome<H> {
        let contender = first.place.contender;
        let mut next = Some(first);
        while let Some(chosen) = next {
            if self.host.stopped() || self.pursued(&chosen)? == End::Stopped {
                return Ok(End::Stopped);
            }
            next = chooser.next(self.host, contender);
        }
        Ok(End::Whole)
    }

    fn pursued(&mut self, chosen: &Chosen) -> Outcome<H> {
        let anew = chosen.before == Between::Restart && self.server.is_some() && !self.rested;
        if anew && self.restart(chosen.place)? == End::Stopped {
            return Ok(End::Stopped);
        }
        self.number = chosen.number;
        self.measure(chosen.place, &chosen.step, chosen.rest())
    }
}
