//! What to measure next, and what it came to.
//!
//! What it is: the order in which things are tried, as a function of the trials so far: up until the objectives are missed,
//! in between until the capacity is known, once more at the answer, an overload, and the way back. Out of scope: a
//! machine with a state; the same trials give the same reply.

use crate::capacity::{self, CapacityState};
use crate::damage::{self, Damage};
use crate::summary::{Evidence, TrialSummary};
use crate::{answer, stage};
use brunt_model::answer::{Estimate, LoadSide, SearchEnd};
use brunt_model::question::{TrialPurpose, TrialTimes};
use brunt_model::{Answer, Find, LoadUnit};
use std::time::Duration;

/// A search for the capacity of one server.
#[derive(Debug, Clone)]
pub struct Search {
    pub(crate) find: Find,
    pub(crate) unit: LoadUnit,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextStep {
    /// A trial.
    Measure(TrialRequest),
    /// Nothing: the search is over.
    Done(SearchEnd),
}

/// A trial that is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRequest {
    /// At which load: arrivals per second or users.
    pub load: f64,
    /// Why, in some words.
    pub why: String,
    /// Its purpose.
    pub purpose: TrialPurpose,
    /// How long it is to be; it ends between `least` and `most`, as soon as [`fn@crate::sides`] has decided all sets.
    pub times: TrialTimes,
}

/// A trial that was made, with what it was made for.
#[derive(Debug, Clone)]
pub(crate) struct PastTrial {
    pub purpose: TrialPurpose,
    pub why: String,
    /// What was known of each set after it.
    pub known: Vec<CapacityState>,
}

impl Search {
    /// A search as `find` says; loads are counted in `unit`.
    pub fn new(find: &Find, unit: LoadUnit) -> Self {
        Self { find: find.clone(), unit }
    }

    /// What to measure next, `spent` being the time since the search began.
    pub fn next(&self, seen: &[TrialSummary], spent: Duration) -> NextStep {
        let made = self.made(seen, Detail::Last);
        stage::next(self, seen, &made, spent.as_secs_f64())
    }

    /// What the trials came to.
    pub fn answer(&self, contender: &str, seen: &[TrialSummary], ended: SearchEnd) -> Answer {
        answer::answer(self, contender, seen, &self.made(seen, Detail::All), ended)
    }

    /// The capacity of each set, as the trials have it so far.
    pub fn capacities(&self, seen: &[TrialSummary]) -> Vec<Estimate> {
        let made = self.made(seen, Detail::Last);
        made.last().map_or_else(Vec::new, |made| made.known.iter().map(|known| known.at).collect())
    }

    /// Whether a trial's figures are over a bound.
    pub fn misses(&self, trial: &TrialSummary) -> bool {
        let sets = crate::summary::bounds(&self.find);
        sets.iter().enumerate().any(|(set, bounds)| capacity::misses(trial, set, bounds))
    }

    /// Whether a trial is to be made again: the generator did not offer its load, or may have taken what the server lacked.
    pub fn is_contested(&self, trial: &TrialSummary) -> bool {
        match trial.evidence {
            Evidence::Both => false,
            Evidence::LowerEnd => self.misses(trial),
            Evidence::None => true,
        }
    }

    /// On which side of each set's capacity a whole trial lies, by itself.
    pub fn sides(&self, trial: &TrialSummary) -> Vec<LoadSide> {
        let sets = crate::summary::bounds(&self.find);
        sets.iter().enumerate().map(|(set, bounds)| capacity::side(trial, set, bounds)).collect()
    }

    /// What each trial was for.
    pub fn purposes(&self, seen: &[TrialSummary]) -> Vec<TrialPurpose> {
        self.made(seen, Detail::All).into_iter().map(|made| made.purpose).collect()
    }

    /// Trials of the search itself, without those of a damaged server.
    pub(crate) fn evidence(&self, seen: &[TrialSummary], made: &[PastTrial]) -> Vec<TrialSummary> {
        let damage = self.damage(seen, made);
        let trials = searched(seen, made).into_iter().zip(damage.is_unrecovered);
        trials.filter(|(_, is_unrecovered)| !is_unrecovered).map(|(trial, _)| trial.clone()).collect()
    }

    /// Whether the server recovered from its overloads.
    pub(crate) fn damage(&self, seen: &[TrialSummary], made: &[PastTrial]) -> Damage {
        damage::damage(&searched(seen, made), |trial| self.misses(trial))
    }

    /// What each trial was for: what would have been asked for after the ones before it.
    fn made(&self, seen: &[TrialSummary], wanted: Detail) -> Vec<PastTrial> {
        let mut made: Vec<PastTrial> = Vec::with_capacity(seen.len());
        for (index, trial) in seen.iter().enumerate() {
            let (purpose, why) = match (trial.purpose, wanted) {
                (Some(purpose), Detail::Last) => (purpose, String::new()),
                _ => self.told(&seen[..index], &made, trial),
            };
            made.push(PastTrial { purpose, why, known: Vec::new() });
            // To tell what a trial was for, one must know what was known before it.
            let next_is_told = seen.get(index + 1).is_some_and(|next| next.purpose.is_some());
            if wanted == Detail::All || !next_is_told {
                made[index].known = capacity::known(&self.find, self.unit, &self.evidence(&seen[..=index], &made));
            }
        }
        made
    }

    /// What a trial was for, and why it was made.
    fn told(&self, before: &[TrialSummary], made: &[PastTrial], trial: &TrialSummary) -> (TrialPurpose, String) {
        let spent = before.first().map_or(0.0, |first| trial.began - first.began);
        let (purpose, why) = match stage::next(self, before, made, spent) {
            NextStep::Measure(ask) if near(ask.load, trial.load) => (ask.purpose, ask.why),
            _ => (TrialPurpose::Search, "asked for".to_owned()),
        };
        (trial.purpose.unwrap_or(purpose), why)
    }
}

/// Which trials' knowledge is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// That of all of them.
    All,
    /// That of the last.
    Last,
}

fn near(asked: f64, load: f64) -> bool {
    (asked - load).abs() <= 0.001 * load
}

/// The trials that say where the capacity is: neither those of an overload nor those after it.
pub(crate) fn searched<'a>(seen: &'a [TrialSummary], made: &[PastTrial]) -> Vec<&'a TrialSummary> {
    let is = |made: &PastTrial| matches!(made.purpose, TrialPurpose::Search | TrialPurpose::Confirm);
    seen.iter().zip(made).filter(|(_, made)| is(made)).map(|(trial, _)| trial).collect()
}
