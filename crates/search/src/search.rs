//! Searches: the next trial, and the answer from all trials.
//!
//! The next trial is a function of the trials so far. The search raises the load until the
//! objectives are missed, refines the capacity, and measures the answer again. An overload and the
//! recovery follow. A search has no state, so the same trials always give the same next trial.

use crate::capacity::{self, CapacityState};
use crate::confirm;
use crate::damage::{self, Damage};
use crate::summary::{EvidenceFor, TrialSummary};
use crate::texts::message;
use crate::{answer, stage};
use brunt_model::answer::{Estimate, LoadSide, SearchEnd};
use brunt_model::question::{TrialPurpose, TrialTimes};
use brunt_model::{CapacityResult, CapacitySearch, LoadUnit, Text};
use std::time::Duration;

/// A search for the capacity of one server.
#[derive(Debug, Clone)]
pub struct Search {
    pub(crate) find: CapacitySearch,
    pub(crate) unit: LoadUnit,
}

/// The next step of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum NextStep {
    /// The caller has to measure this trial.
    Measure(TrialRequest),
    /// The search is over, for this reason.
    Done(SearchEnd),
}

/// A trial that the caller has to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRequest {
    /// Load: arrivals per second or users.
    pub load: f64,
    /// Reason for the trial, shown to the user.
    pub why: Text,
    /// Purpose of the trial.
    pub purpose: TrialPurpose,
    /// Length of the trial.
    pub times: TrialTimes,
    /// True if the warm-up ends as soon as response times are steady; `times` has the longest.
    pub until_steady: bool,
}

/// Purpose of a finished trial, and the state of the search after it.
#[derive(Debug, Clone)]
pub(crate) struct PastTrial {
    pub purpose: TrialPurpose,
    pub why: Text,
    /// State of each set's capacity after the trial. May be empty for trials before the last.
    pub states: Vec<CapacityState>,
}

impl Search {
    /// Creates a search. Loads are in `unit`.
    pub fn new(find: &CapacitySearch, unit: LoadUnit) -> Self {
        Self { find: find.clone(), unit }
    }

    /// Returns the next step; `spent` is the time since the search began.
    pub fn next(&self, trials: &[TrialSummary], spent: Duration) -> NextStep {
        let history = self.history(trials, Detail::LastTrial);
        stage::next(self, trials, &history, spent.as_secs_f64())
    }

    /// Returns the answer of the search so far.
    pub fn answer(
        &self,
        contender: &str,
        trials: &[TrialSummary],
        ended: SearchEnd,
    ) -> CapacityResult {
        answer::answer(self, contender, trials, &self.history(trials, Detail::AllTrials), ended)
    }

    /// Returns the current estimate of each set's capacity.
    pub fn capacities(&self, trials: &[TrialSummary]) -> Vec<Estimate> {
        let history = self.history(trials, Detail::LastTrial);
        let states = history.last().map(|past| &past.states[..]).unwrap_or_default();
        states.iter().map(|state| state.at).collect()
    }

    /// True if a trial's figures exceed a bound.
    pub fn misses(&self, trial: &TrialSummary) -> bool {
        let sets = crate::summary::bounds(&self.find);
        sets.iter().enumerate().any(|(set, bounds)| capacity::misses(trial, set, bounds))
    }

    /// True if a trial says nothing: it missed the objectives, and not only because of the server.
    /// `all` are the trials of the search.
    pub fn is_contested(&self, trial: &TrialSummary, all: &[TrialSummary]) -> bool {
        match trial.evidence {
            EvidenceFor::Both => false,
            EvidenceFor::LowerEnd => {
                self.misses(trial) && self.sides(trial, all).contains(&LoadSide::Undecided)
            }
            EvidenceFor::None => true,
        }
    }

    /// Returns the side of each set's capacity on which a finished trial lies, from the counts of
    /// that trial alone. `all` are the trials of the search.
    pub fn sides(&self, trial: &TrialSummary, all: &[TrialSummary]) -> Vec<LoadSide> {
        let sets = crate::summary::bounds(&self.find);
        let each = sets.iter().enumerate();
        each.map(|(set, bounds)| confirm::side(trial, all, set, bounds)).collect()
    }

    /// Returns the purpose of each trial.
    pub fn purposes(&self, trials: &[TrialSummary]) -> Vec<TrialPurpose> {
        self.history(trials, Detail::AllTrials).into_iter().map(|past| past.purpose).collect()
    }

    /// Returns the trials of the search itself, without those of a damaged server, and without those
    /// at the beginning of a server that was not warm yet.
    pub(crate) fn evidence(
        &self,
        trials: &[TrialSummary],
        history: &[PastTrial],
    ) -> Vec<TrialSummary> {
        let damage = self.damage(trials, history);
        let with_damage = search_trials(trials, history).into_iter().zip(damage.is_unrecovered);
        let mut evidence: Vec<TrialSummary> = with_damage
            .filter(|(_, is_unrecovered)| !is_unrecovered)
            .map(|(trial, _)| trial.clone())
            .collect();
        evidence.drain(..self.cold_trials(&evidence));
        evidence
    }

    /// Number of trials at the beginning that missed the objectives although a later trial met them
    /// at the first load. A single one may have been unlucky.
    fn cold_trials(&self, trials: &[TrialSummary]) -> usize {
        let missed = trials.iter().take_while(|trial| self.misses(trial)).count();
        let first = trials.first().map_or(0.0, |first| first.load);
        let is_warm = |trial: &TrialSummary| trial.load >= first && !self.misses(trial);
        if missed > 1 && trials[missed..].iter().any(is_warm) { missed } else { 0 }
    }

    /// Returns the damage of the server by its overloads.
    pub(crate) fn damage(&self, trials: &[TrialSummary], history: &[PastTrial]) -> Damage {
        damage::damage(&search_trials(trials, history), |trial| self.misses(trial))
    }

    /// Reconstructs the purpose of each trial: that of the request that follows from the trials
    /// before it. The states are computed only where `detail` or the next trial needs them.
    fn history(&self, trials: &[TrialSummary], detail: Detail) -> Vec<PastTrial> {
        let mut history: Vec<PastTrial> = Vec::with_capacity(trials.len());
        for (index, trial) in trials.iter().enumerate() {
            let (purpose, why) = match (trial.purpose, detail) {
                (Some(purpose), Detail::LastTrial) => (purpose, Text::default()),
                _ => self.infer_purpose(&trials[..index], &history, trial),
            };
            history.push(PastTrial { purpose, why, states: Vec::new() });
            // The purpose of a trial is inferred from the states before it.
            let has_next_purpose = trials.get(index + 1).is_some_and(|next| next.purpose.is_some());
            if detail == Detail::AllTrials || !has_next_purpose {
                let evidence = self.evidence(&trials[..=index], &history);
                history[index].states = capacity::states(self, &evidence);
            }
        }
        history
    }

    /// Infers the purpose of a trial and the reason for it from the trials `before` it.
    fn infer_purpose(
        &self,
        before: &[TrialSummary],
        history: &[PastTrial],
        trial: &TrialSummary,
    ) -> (TrialPurpose, Text) {
        let spent = before.first().map_or(0.0, |first| trial.began - first.began);
        let (purpose, why) = match stage::next(self, before, history, spent) {
            NextStep::Measure(request) if is_near(request.load, trial.load) => {
                (request.purpose, request.why)
            }
            // The trial does not follow from the trials before it.
            _ => (TrialPurpose::Search, message!("trial-reason.requested")),
        };
        (trial.purpose.unwrap_or(purpose), why)
    }
}

/// The trials for which states and reasons are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Each of the trials.
    AllTrials,
    /// Only the last trial.
    LastTrial,
}

/// True if two loads differ only by rounding.
fn is_near(requested: f64, load: f64) -> bool {
    (requested - load).abs() <= 0.001 * load
}

/// Returns the trials that show where the capacity is: neither the overload nor the recovery.
pub(crate) fn search_trials<'a>(
    trials: &'a [TrialSummary],
    history: &[PastTrial],
) -> Vec<&'a TrialSummary> {
    trials
        .iter()
        .zip(history)
        .filter(|(_, past)| matches!(past.purpose, TrialPurpose::Search | TrialPurpose::Confirm))
        .map(|(trial, _)| trial)
        .collect()
}
