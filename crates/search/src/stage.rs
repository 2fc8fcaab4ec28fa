//! Chooses the next load of a search.
//!
//! Half of the time budget finds where the capacity is: the load is raised by a factor until each
//! set of objectives is missed, or lowered if the first load misses it; then loads near the crossing
//! of the curve are tried. The other half confirms both ends of each interval ([`crate::confirm`]).
//! Overload and recovery follow.

use crate::capacity::CapacityState;
use crate::confirm::{self, End};
use crate::search::{NextStep, PastTrial, Search, TrialRequest};
use crate::summary::TrialSummary;
use crate::texts::message;
use brunt_model::answer::{LoadSide, SearchEnd};
use brunt_model::question::{TrialGap, TrialPurpose, TrialTimes};
use brunt_model::{LoadUnit, Text};
use std::time::Duration;

/// Growth of the load while even a server that processes one request at a time could
/// serve the next load.
const SAFE_GROWTH: f64 = 4.0;
/// Growth of the load while response times do not grow: an overload may harm the server, so it
/// is at most twofold.
const GROWTH: f64 = 2.0;
/// Growth of the load once requests queue.
const QUEUED_GROWTH: f64 = 1.25;
/// Requests queue if their mean response time is this multiple of the mean at lower loads.
const QUEUED: f64 = 1.5;
/// Utilization, by the second load, of a server that processes one request at a time.
const SEQUENTIAL: f64 = 0.5;
/// A shallow overload offers this multiple of the highest throughput.
const SHALLOW: f64 = 1.1;
/// Maximum of the second load, however fast the server responds: brunt's own limit may be near.
const MAX_SECOND_LOAD: f64 = 5000.0;
/// Response times have clearly grown when their mean is this multiple of the first trial's.
const SLOWER: f64 = 2.0;
/// Ratio of the ends of an interval above which it is narrowed first.
const WIDE: f64 = 1.3;
/// Maximum distance of neighboring loads, as a share.
const NEIGHBOR: f64 = 0.15;
/// Number of requests below which a trial says too little to lower the load.
const FEW_REQUESTS: f64 = 20.0;
/// Number of times that the first load is tried again if no load met the objectives.
const FIRST_TRIES: usize = 3;
/// Maximum share of the time budget of the warm-up before the first trial.
const FIRST_WARMUP: f64 = 1.0 / 12.0;
/// The warm-up before the first trial lasts at most this long.
const MOST_WARMUP: Duration = Duration::from_secs(30);
/// Distance of a second confirmation from one that decided nothing, as a share.
const NEXT_TRY: f64 = 0.02;
/// The same distance if the generator's lag made the times longer.
const NEXT_TRY_DISTURBED: f64 = 0.1;
/// The same distance if other processes may have made the server slower.
const NEXT_TRY_CONTESTED: f64 = 0.4;
/// Number of repetitions of a disturbed trial of the choice of loads.
const REPETITIONS: usize = 1;
/// Number of repetitions of a disturbed confirmation.
const CONFIRMATIONS: usize = 2;
/// Seconds that a trial needs in addition to warm-up and measured time: to connect, and to
/// finish requests in flight.
const OVERHEAD_SECONDS: f64 = 0.5;
/// Maximum share of the time budget that is reserved for overload and recovery.
const RESERVED: f64 = 0.125;
/// Number of trials after an overload in which a damaged server is still slow.
const DAMAGED_CHECKS: usize = 2;
/// Number of trials at a load before a load further from the estimate is tried.
const MOST_REPEATS: usize = 2;
/// Maximum number of steps away from the estimate.
const MOST_STEPS: usize = 6;
/// Length of trials near the capacity, as a multiple of the shortest trial.
const LONGER: u32 = 3;
/// Maximum share of the time budget of a long check at the end.
const CHECK: f64 = 0.06;
/// Seconds that are kept for a confirmation beside its cost, which is an estimate.
const SLACK_SECONDS: f64 = 0.5;
/// A confirmation of the upper end is at most this multiple of the crossing.
const SAFE: f64 = 1.6;
/// Another confirmation must narrow the interval by this share at least.
const NARROWER: f64 = 0.005;
/// The lowest load to try is the start divided by this.
const LEAST: f64 = 1e-3;

/// Returns the next step of a search. `history` has the purposes of the trials.
pub fn next(
    search: &Search,
    trials: &[TrialSummary],
    history: &[PastTrial],
    spent: f64,
) -> NextStep {
    let stage = Stage { search, trials, history, spent };
    match stage.search_or_end() {
        Ok(next) => next,
        Err(end) => stage.afterwards(end),
    }
}

/// A search at one point in time.
struct Stage<'a> {
    search: &'a Search,
    trials: &'a [TrialSummary],
    history: &'a [PastTrial],
    /// Seconds since the search began.
    spent: f64,
}

impl Stage<'_> {
    /// Returns the next trial of the search itself; Err if the search ends.
    fn search_or_end(&self) -> Result<NextStep, SearchEnd> {
        if self.has(TrialPurpose::Overload) {
            return Err(SearchEnd::Precise);
        }
        let Some(past) = self.history.last() else { return Ok(self.first()) };
        let states = &past.states;
        let damage = self.search.damage(self.trials, self.history);
        if damage.slow_checks >= DAMAGED_CHECKS {
            return Err(SearchEnd::Damaged);
        }
        let explored = match damage.unknown_at {
            Some(load) => self.trial(load, message!("trial-reason.recovered"), 1),
            None => self.explore(states),
        };
        let end = match explored {
            Ok(next) => return Ok(next),
            Err(end) => end,
        };
        self.confirm(states, end).or_else(|end| self.check(states).ok_or(end))
    }

    /// Measures the lowest confirmed load once more at the end: a server that became slower
    /// meanwhile misses it.
    fn check(&self, states: &[CapacityState]) -> Option<NextStep> {
        let load = states.iter().filter_map(|state| state.ends.met).reduce(f64::min)?;
        let last = self.trials.last()?;
        let is_done = last.load <= load && !confirm::is_confirmation(&self.search.find, last);
        let times = self.check_times();
        if is_done || self.remaining_seconds() < self.cost(times) {
            return None;
        }
        let why = message!("trial-reason.check");
        let purpose = TrialPurpose::Search;
        Some(NextStep::Measure(TrialRequest { load, why, purpose, times, until_steady: false }))
    }

    /// The first trial, after the warm-up of the server.
    fn first(&self) -> NextStep {
        let within = self.search.find.within;
        let TrialTimes { warmup, measured } = self.search.find.trial;
        let warmup = within.mul_f64(FIRST_WARMUP).min(MOST_WARMUP).max(warmup);
        NextStep::Measure(TrialRequest {
            load: self.search.find.start,
            why: message!("trial-reason.first"),
            purpose: TrialPurpose::Search,
            times: TrialTimes { warmup, measured },
            until_steady: true,
        })
    }

    /// Returns a trial that finds where the capacity is. Err if there is none, or no time for it
    /// besides the confirmations.
    fn explore(&self, states: &[CapacityState]) -> Result<NextStep, SearchEnd> {
        if let Some(retry) = self.retry() {
            return retry;
        }
        if let Some(next) = self.brackets(states) {
            return next;
        }
        let open = states.iter().filter(|state| Self::missing(state) != [false; 2]);
        let wide = widest(open).or_else(|| widest(states.iter())).ok_or(SearchEnd::Precise)?;
        self.refine(wide)
    }

    /// Repeats the last trial if it missed the objectives while it was disturbed: later, it may not
    /// be.
    fn retry(&self) -> Option<Result<NextStep, SearchEnd>> {
        let last = self.trials.last()?;
        if !self.search.is_contested(last, self.trials) {
            return None;
        }
        let tries = self.trials.iter().rev().take_while(|trial| trial.load == last.load).count();
        (tries <= REPETITIONS).then(|| self.trial(last.load, message!("trial-reason.retry"), 1))
    }

    /// Length of the check at the end: longer if the time budget allows it.
    fn check_times(&self) -> TrialTimes {
        let longer = self.times(LONGER);
        let is_small = self.cost(longer) <= CHECK * self.search.find.within.as_secs_f64();
        if is_small { longer } else { self.times(1) }
    }

    /// The ends of a state that confirmations have not proven yet, although trials showed them.
    fn missing(state: &CapacityState) -> [bool; 2] {
        let has_met = state.met.is_some() && state.ends.met.is_none();
        let has_missed = state.missed.is_some() && state.ends.missed.is_none();
        [has_met, has_missed]
    }

    /// Number of confirmations for which time is kept. An upper end gets time as soon as a load missed
    /// the objectives.
    fn planned_confirmations(&self) -> usize {
        let states = self.history.last().map_or(&[][..], |past| &past.states);
        let most = self.search.find.most;
        if states.is_empty() {
            return self.search.find.objectives.len();
        }
        let ends = states.iter().map(|state| {
            let may_exceed = most.is_none_or(|most| state.ends.met.is_none_or(|met| met < most));
            let has_upper = may_exceed && state.missed.is_some() && state.clearly_missed.is_some();
            usize::from(state.ends.met.is_none())
                + usize::from(state.ends.missed.is_none() && has_upper)
        });
        ends.sum()
    }

    /// Returns the confirmation that is needed most; Err with the end of the search if there is no
    /// time for one.
    fn confirm(&self, states: &[CapacityState], end: SearchEnd) -> Result<NextStep, SearchEnd> {
        let end = if states.iter().all(|state| self.is_precise(state)) {
            return Err(SearchEnd::Precise);
        } else if end == SearchEnd::Precise {
            SearchEnd::Budget
        } else {
            end
        };
        // The lower ends first: they are what a user can rely on.
        for wanted in [End::Met, End::Missed] {
            for state in states {
                let [met, missed] = Self::missing(state);
                let is_missing = if wanted == End::Met { met } else { missed };
                if is_missing && let Some(load) = self.confirmation_load(state, wanted) {
                    return self.confirmation(load, wanted, end);
                }
            }
        }
        // Both ends are known: time for another confirmation narrows the interval.
        let Some(wide) = widest(states.iter()) else { return Err(end) };
        let Some((low, high)) = wide.ends.met.zip(wide.ends.missed) else { return Err(end) };
        let likely = wide.likely().unwrap_or((low * high).sqrt());
        let farther_end = if likely / low >= high / likely { End::Met } else { End::Missed };
        let load = self.confirmation_load(wide, farther_end).ok_or(end)?;
        let is_inside = load > low * (1.0 + NARROWER) && load < high / (1.0 + NARROWER);
        if is_inside { self.confirmation(load, farther_end, end) } else { Err(end) }
    }

    /// The load at which a confirmation very likely proves an end.
    fn confirmation_load(&self, state: &CapacityState, wanted: End) -> Option<f64> {
        let (crossing, extreme) = match wanted {
            End::Met => (state.measured, state.met?),
            End::Missed => (state.server, state.missed?),
        };
        let seconds = confirm::length(&self.search.find).as_secs_f64();
        let load = match (crossing, wanted) {
            (Some(crossing), End::Met) => crossing.load * (1.0 - wanted.margin(&crossing, seconds)),
            // Where the crossing is badly known, a load that was certainly missed is safer.
            (Some(crossing), End::Missed) => {
                let near = crossing.load * (1.0 + wanted.margin(&crossing, seconds));
                near.max(state.clearly_missed.map_or(near, |load| load.min(SAFE * crossing.load)))
            }
            (None, End::Met) => extreme,
            (None, End::Missed) => self.lowest_with_enough_requests(extreme),
        };
        Some(self.away_from_undecided(load, wanted))
    }

    /// The lowest load that was tried, from a load on, at which a confirmation fits into the rest of
    /// the time budget. If no load met the objectives, even a low one may be known to miss them.
    fn lowest_with_enough_requests(&self, from: f64) -> f64 {
        let room = self.room_for_confirmation();
        let tried = self.trials.iter().map(|trial| trial.load).filter(|load| *load >= from);
        tried
            .filter(|load| self.enough_seconds(*load, End::Missed) <= room)
            .reduce(f64::min)
            .unwrap_or(from)
    }

    /// Seconds in which a confirmation has enough requests.
    fn enough_seconds(&self, load: f64, wanted: End) -> f64 {
        const MORE: f64 = 1.05;
        MORE * confirm::enough_requests(&self.search.find, wanted)
            / self.requests_per_second(load).max(1e-9)
    }

    /// Measured seconds of a confirmation that the rest of the time budget has room for.
    fn room_for_confirmation(&self) -> f64 {
        let TrialTimes { warmup, .. } = self.search.find.trial;
        self.remaining_seconds() - self.cost(TrialTimes { warmup, measured: Duration::ZERO })
    }

    /// Moves a load away from the capacity, beyond the confirmations that decided nothing.
    fn away_from_undecided(&self, load: f64, wanted: End) -> f64 {
        let undecided = self.trials.iter().filter(|trial| {
            confirm::is_confirmation(&self.search.find, trial)
                && self.search.sides(trial, self.trials).contains(&LoadSide::Undecided)
        });
        undecided.fold(load, |load, trial| {
            let is_contested = self.search.is_contested(trial, self.trials);
            let tries = self.trials.iter().filter(|other| other.load == trial.load).count();
            let distance = match &trial.limited {
                Some(_) if is_contested => NEXT_TRY_CONTESTED,
                Some(_) => NEXT_TRY_DISTURBED,
                None => NEXT_TRY,
            };
            match wanted {
                End::Met => load.min(trial.load * (1.0 - distance)),
                // A disturbed confirmation is repeated where it is: later it may not be disturbed.
                End::Missed if is_contested && tries <= CONFIRMATIONS => load,
                End::Missed => load.max(trial.load * (1.0 + NEXT_TRY)),
            }
        })
    }

    /// Returns a confirmation at a load. The last one that is needed uses all the time that is left.
    fn confirmation(&self, load: f64, wanted: End, end: SearchEnd) -> Result<NextStep, SearchEnd> {
        let load = self.whole(load);
        let least =
            confirm::length(&self.search.find).as_secs_f64().max(self.enough_seconds(load, wanted));
        let least = Duration::try_from_secs_f64(least).unwrap_or(Duration::MAX);
        let warmup = self.search.find.trial.warmup;
        let room = Duration::try_from_secs_f64(self.room_for_confirmation()).unwrap_or_default();
        if room < least {
            return Err(if end == SearchEnd::Precise { SearchEnd::Budget } else { end });
        }
        let is_last = self.planned_confirmations() <= 1 && room < least * 2;
        let reserve = Duration::from_secs_f64(self.reserve() + self.cost(self.check_times()));
        let measured = if is_last { room.saturating_sub(reserve).max(least) } else { least };
        Ok(NextStep::Measure(TrialRequest {
            load,
            why: message!("trial-reason.confirmation"),
            purpose: TrialPurpose::Confirm,
            times: TrialTimes { warmup, measured },
            until_steady: false,
        }))
    }

    /// Requests per second at a load. In a closed loop, those of the nearest trial count, in
    /// proportion to the users.
    fn requests_per_second(&self, load: f64) -> f64 {
        if matches!(self.search.unit, LoadUnit::PerSecond) {
            return load;
        }
        let distance = |trial: &&TrialSummary| (trial.load / load).ln().abs();
        let nearest = self.trials.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(load, |trial| trial.offered * (load / trial.load).min(1.0))
    }

    /// Highest load so far.
    fn highest(&self) -> f64 {
        self.trials.iter().map(|trial| trial.load).fold(0.0, f64::max)
    }

    fn has(&self, purpose: TrialPurpose) -> bool {
        self.history.iter().any(|past| past.purpose == purpose)
    }

    /// Seconds left of the time budget.
    fn remaining_seconds(&self) -> f64 {
        self.search.find.within.as_secs_f64() - self.spent
    }

    /// Seconds left for the choice of loads: without the confirmations that are still needed, the
    /// check after them, overload and recovery.
    fn room_to_explore(&self) -> f64 {
        let TrialTimes { warmup, .. } = self.search.find.trial;
        let confirmation = TrialTimes { warmup, measured: confirm::length(&self.search.find) };
        self.remaining_seconds()
            - self.reserve()
            - self.cost(self.check_times())
            - self.planned_confirmations() as f64 * (self.cost(confirmation) + SLACK_SECONDS)
    }

    /// Seconds reserved for overload and recovery. The capacity has priority: an overload that
    /// takes more than a small share of the time budget is made only if time is left.
    fn reserve(&self) -> f64 {
        let reserve = self.cost(self.times(1)) + self.cost(self.times(LONGER));
        let is_small = reserve <= RESERVED * self.search.find.within.as_secs_f64();
        if self.search.find.overload.is_some() && is_small { reserve } else { 0.0 }
    }

    /// Seconds that a trial takes at most, including the time between trials.
    fn cost(&self, times: TrialTimes) -> f64 {
        let between = match self.search.find.between {
            TrialGap::Cool(cool) => cool.as_secs_f64(),
            TrialGap::Restart => 1.0,
        };
        (times.warmup + times.measured).as_secs_f64() + self.overhead(between)
    }

    /// Seconds of a trial besides warm-up and measured time, as the trials so far needed them.
    fn overhead(&self, between: f64) -> f64 {
        // The warm-up of the first trial ends by itself, and nothing is known after the last one.
        let [_, earlier @ .., last] = self.trials else { return between + OVERHEAD_SECONDS };
        let Some(second) = earlier.first() else { return between + OVERHEAD_SECONDS };
        let warmup = self.search.find.trial.warmup.as_secs_f64();
        let measured: f64 = earlier.iter().map(|trial| warmup + trial.seconds).sum();
        ((last.began - second.began - measured) / earlier.len() as f64).max(between)
    }

    /// Length of a trial that chooses loads: a multiple of the shortest.
    fn times(&self, multiple: u32) -> TrialTimes {
        let TrialTimes { warmup, measured } = self.search.find.trial;
        TrialTimes { warmup, measured: measured * multiple }
    }

    /// Returns the next trial until there are trials on both sides of each capacity; then None.
    fn brackets(&self, states: &[CapacityState]) -> Option<Result<NextStep, SearchEnd>> {
        if let Some(next) = self.up_again() {
            return Some(next);
        }
        if states.iter().any(|state| state.missed.is_none() || state.clearly_missed.is_none()) {
            return Some(self.raise(self.highest()));
        }
        if states.iter().any(|state| state.met.is_none()) {
            let lowest = self.trials.iter().map(|trial| trial.load).fold(f64::INFINITY, f64::min);
            let next = self.whole(lowest / 4.0);
            let lower = if next >= lowest || next < self.search.find.start * LEAST {
                Err(SearchEnd::Least)
            } else {
                self.trial(next, message!("trial-reason.quarter"), 1)
            };
            return Some(lower.or_else(|end| self.first_again().ok_or(end)));
        }
        None
    }

    /// Tries the first load again if the search went down from it and found a load that met the
    /// objectives: a server may have been slow at first.
    fn up_again(&self) -> Option<Result<NextStep, SearchEnd>> {
        let [first, .., last] = self.trials else { return None };
        let is_first_time = self.trials[1..].iter().all(|trial| trial.load < first.load);
        let has_gone_down = is_first_time && self.search.misses(first);
        (has_gone_down && !self.search.misses(last))
            .then(|| self.first_again().ok_or(SearchEnd::Budget))
    }

    /// Tries the first load again, some times at most. None if there is no time for it.
    fn first_again(&self) -> Option<NextStep> {
        let first = self.trials.first()?.load;
        let tries = self.trials.iter().filter(|trial| trial.load == first).count();
        let again = || self.trial(first, message!("trial-reason.up-again"), 1).ok();
        (tries <= FIRST_TRIES).then(again).flatten()
    }

    fn raise(&self, highest: f64) -> Result<NextStep, SearchEnd> {
        let most = self.search.find.most.unwrap_or(f64::INFINITY);
        if highest >= most {
            return Err(SearchEnd::Most);
        }
        let (next, why) = match self.sequential_load() {
            Some(rate) if rate > SAFE_GROWTH * highest => {
                (rate, message!("trial-reason.sequential"))
            }
            _ if self.is_safe(SAFE_GROWTH * highest) => {
                (SAFE_GROWTH * highest, message!("trial-reason.four-times"))
            }
            _ if self.is_queued() => (QUEUED_GROWTH * highest, message!("trial-reason.queued")),
            _ => (GROWTH * highest, message!("trial-reason.twice")),
        };
        self.trial(next.min(most), why, 1)
    }

    /// Load that uses half the time of a server that processes one request at a time, at the speed
    /// of the first trial. None after later trials.
    fn sequential_load(&self) -> Option<f64> {
        let [first] = self.trials else { return None };
        let is_open = matches!(self.search.unit, LoadUnit::PerSecond);
        first
            .mean
            .filter(|mean| is_open && *mean > 0.0)
            .map(|mean| (SEQUENTIAL / mean).min(MAX_SECOND_LOAD))
    }

    /// True if even a server that processes one request at a time could serve a load, at the speed
    /// of the last trial.
    fn is_safe(&self, load: f64) -> bool {
        let is_open = matches!(self.search.unit, LoadUnit::PerSecond);
        is_open
            && self.trials.last().and_then(|last| last.mean).is_some_and(|mean| load * mean <= 1.0)
    }

    /// True if replies of the last trial took clearly longer than at lower loads. Always false in a
    /// closed loop, where users wait for each other at any load.
    fn is_queued(&self) -> bool {
        let Some(last) =
            self.trials.last().filter(|_| matches!(self.search.unit, LoadUnit::PerSecond))
        else {
            return false;
        };
        let lower = self
            .trials
            .iter()
            .filter(|trial| trial.load < last.load)
            .flat_map(|trial| &trial.blocks);
        let mut response = 0.0;
        let mut completed = 0.0;
        for block in lower {
            response += block.response;
            completed += block.completed;
        }
        last.mean.is_none_or(|mean| completed > 0.0 && mean * completed > QUEUED * response)
    }

    /// True if a trial's replies took clearly longer than the first trial's, or if there were none.
    fn is_slowed(&self, trial: &TrialSummary) -> bool {
        let first = self.trials.first().and_then(|first| first.mean);
        first.zip(trial.mean).is_none_or(|(first, mean)| mean > SLOWER * first)
    }

    /// True if the interval is as narrow as requested. An interval of one
    /// user cannot become narrower.
    fn is_precise(&self, state: &CapacityState) -> bool {
        let is_closed = matches!(self.search.unit, LoadUnit::Users { .. });
        let is_one_user = state
            .at
            .high
            .zip(state.at.low)
            .is_some_and(|(high, low)| is_closed && high - low <= 1.0);
        is_one_user || state.half_width() <= self.search.find.precision
    }

    /// Returns a trial at the load that improves the estimate most.
    fn refine(&self, state: &CapacityState) -> Result<NextStep, SearchEnd> {
        let (Some(met), Some(missed)) = (state.met, state.missed) else {
            return Err(SearchEnd::Budget);
        };
        // Trials may contradict each other: the highest met load may lie above
        // the lowest missed load.
        let low = met.min(missed);
        let high = met.max(missed);
        let Some(crossing) = state.measured else {
            let (load, why) = self.inside(low, high);
            return self.trial(load, why, LONGER);
        };
        if let Some(load) = self.shallow_overload(high) {
            return self.trial(load, message!("trial-reason.shallow-overload"), 1);
        }
        let at = self.below_saturation(crossing.load.clamp(low, high));
        let (below, above) = self.measured_near(at);
        if below + above <= 0.0 && high / low > WIDE {
            let (load, why) = self.inside(low, high);
            return self.trial(load, why, LONGER);
        }
        // At this distance the figure is e times, or 1/e of, the allowed value. Closer loads
        // determine the slope badly, more distant ones the crossing.
        let distance =
            (1.0 / crossing.slope.clamp(12.0, 60.0)).max(self.search.find.precision / 2.0);
        let (load, why) = if below > above {
            (self.spread_out(at, distance), message!("trial-reason.above"))
        } else {
            (self.spread_out(at, -distance), message!("trial-reason.below"))
        };
        self.trial(load, why, LONGER)
    }

    /// Returns a load at a distance from the estimate. The distance grows with the number of trials
    /// at that load, because more distant loads determine the slope better.
    fn spread_out(&self, at: f64, distance: f64) -> f64 {
        let mut load = at * (1.0 + distance);
        for _ in 0..MOST_STEPS {
            let tries =
                self.trials.iter().filter(|trial| (trial.load / load - 1.0).abs() < 0.005).count();
            if tries < MOST_REPEATS {
                break;
            }
            load += at * distance / 2.0;
        }
        self.whole(load)
    }

    /// Returns a load slightly above the highest throughput, if there is no trial there yet. In a
    /// deep overload the throughput may fall, so it may not be the server's highest.
    fn shallow_overload(&self, missed: f64) -> Option<f64> {
        let is_open = matches!(self.search.unit, LoadUnit::PerSecond);
        let most =
            self.overloaded().map(|trial| trial.achieved).reduce(f64::max).filter(|_| is_open)?;
        let all = self.trials.iter().map(|trial| trial.achieved).fold(most, f64::max);
        let is_known = self
            .trials
            .iter()
            .any(|trial| trial.load >= most && trial.load <= SHALLOW * all * 1.02);
        (!is_known && missed > SHALLOW * all * 1.1).then_some(SHALLOW * all)
    }

    /// Limits a load to the highest throughput, since there is no steady state above it.
    fn below_saturation(&self, load: f64) -> f64 {
        let is_open = matches!(self.search.unit, LoadUnit::PerSecond);
        let most = self.trials.iter().map(|trial| trial.achieved).reduce(f64::max);
        most.filter(|_| is_open && self.overloaded().next().is_some())
            .map_or(load, |most| load.min(most))
    }

    fn overloaded(&self) -> impl Iterator<Item = &TrialSummary> {
        self.trials.iter().filter(|trial| trial.is_overloaded())
    }

    /// Measured seconds near a load: below it, and from it upwards.
    fn measured_near(&self, load: f64) -> (f64, f64) {
        let mut below = 0.0;
        let mut above = 0.0;
        for trial in self.trials.iter().filter(|trial| is_neighbor(trial.load, load)) {
            if trial.load < load {
                below += trial.seconds;
            } else {
                above += trial.seconds;
            }
        }
        (below, above)
    }

    /// Returns a load between two loads. If the server was overloaded or requests
    /// queued at the higher load, it is slightly below the achieved throughput.
    /// Otherwise it is the geometric mean.
    fn inside(&self, low: f64, high: f64) -> (f64, Text) {
        let at_high: Vec<&TrialSummary> =
            self.trials.iter().filter(|trial| trial.load >= high * 0.999).collect();
        let overloaded = at_high.iter().filter(|trial| trial.is_overloaded());
        let achieved = overloaded.map(|trial| trial.achieved).reduce(f64::max);
        let nearest = at_high.iter().min_by(|a, b| a.load.total_cmp(&b.load));
        let queued = nearest
            .filter(|trial| self.is_slowed(trial))
            .map(|trial| trial.load.min(trial.achieved));
        let is_open = matches!(self.search.unit, LoadUnit::PerSecond);
        match achieved.or(queued).map(|saturation| 0.9 * saturation) {
            Some(guess) if is_open && guess > low * 1.1 && guess < high / 1.05 => {
                (guess, message!("trial-reason.below-saturation"))
            }
            _ => ((low * high).sqrt(), message!("trial-reason.between")),
        }
    }

    /// Rounds a load: users to integers, rates to four or five digits.
    fn whole(&self, load: f64) -> f64 {
        match self.search.unit {
            LoadUnit::Users { .. } => load.round().max(1.0),
            // To less than a thousandth of the load. More digits are not needed,
            // and plans stay readable.
            LoadUnit::PerSecond => {
                let digits = 3 - load.max(1e-9).log10().floor() as i32;
                let unit = 10_f64.powi(digits.abs());
                if digits > 0 { (load * unit).round() / unit } else { (load / unit).round() * unit }
            }
        }
    }

    /// Returns a trial that chooses the next load, shorter if there is less time. Err if not even the
    /// shortest fits besides the confirmations. A low load gets the time for some requests.
    fn trial(&self, load: f64, why: Text, multiple: u32) -> Result<NextStep, SearchEnd> {
        let load = self.whole(load);
        let shortest = self.search.find.trial.measured;
        let enough = FEW_REQUESTS / self.requests_per_second(load).max(1e-9);
        let least = shortest.max(Duration::try_from_secs_f64(enough).unwrap_or(Duration::MAX));
        let times = self.times(multiple);
        let room =
            self.room_to_explore() - self.cost(TrialTimes { measured: Duration::ZERO, ..times });
        let room = Duration::try_from_secs_f64(room).ok().filter(|room| *room >= least);
        let measured = times.measured.max(least).min(room.ok_or(SearchEnd::Budget)?);
        Ok(NextStep::Measure(TrialRequest {
            load,
            why,
            purpose: TrialPurpose::Search,
            times: TrialTimes { measured, ..times },
            until_steady: false,
        }))
    }

    /// Returns the overload and the recovery trial, and then the end of the search.
    fn afterwards(&self, end: SearchEnd) -> NextStep {
        let end =
            if end == SearchEnd::Precise && !self.all_precise() { SearchEnd::Budget } else { end };
        let end = if end == SearchEnd::Budget && self.is_disturbed_above() {
            SearchEnd::Generator
        } else {
            end
        };
        let (Some(factor), Some(capacity)) = (self.search.find.overload, self.capacity()) else {
            return NextStep::Done(end);
        };
        if end == SearchEnd::Damaged {
            return NextStep::Done(end);
        }
        let unspent = self.search.find.within.as_secs_f64() - self.spent;
        let (load, why, purpose, multiple) = if self.has(TrialPurpose::Recovery) {
            return NextStep::Done(end);
        } else if self.has(TrialPurpose::Overload) {
            (0.8 * capacity, message!("trial-reason.recovery"), TrialPurpose::Recovery, LONGER)
        } else {
            (factor * capacity, message!("trial-reason.overload"), TrialPurpose::Overload, 1)
        };
        let mut times = self.times(multiple);
        if purpose == TrialPurpose::Recovery {
            // The recovery itself is measured, so there is no warm-up.
            times.warmup = Duration::ZERO;
        }
        if unspent < self.cost(times) {
            return NextStep::Done(end);
        }
        let load = self.whole(load);
        NextStep::Measure(TrialRequest { load, why, purpose, times, until_steady: false })
    }

    fn all_precise(&self) -> bool {
        self.history
            .last()
            .is_some_and(|past| past.states.iter().all(|state| self.is_precise(state)))
    }

    /// Capacity of the first set; None if it is unknown.
    fn capacity(&self) -> Option<f64> {
        self.history.last()?.states.first()?.at.value
    }

    /// True if an upper end is unknown, and each trial that missed the objectives was disturbed.
    fn is_disturbed_above(&self) -> bool {
        let states = self.history.last().map_or(&[][..], |past| &past.states);
        let missed = || self.trials.iter().filter(|trial| self.search.misses(trial));
        states.iter().any(|state| state.ends.missed.is_none())
            && missed().next().is_some()
            && missed().all(|trial| self.search.is_contested(trial, self.trials))
    }
}

/// Returns the state with the widest interval.
fn widest<'a>(states: impl Iterator<Item = &'a CapacityState>) -> Option<&'a CapacityState> {
    states.max_by(|a, b| a.half_width().total_cmp(&b.half_width()))
}

fn is_neighbor(trial: f64, load: f64) -> bool {
    (trial / load - 1.0).abs() < NEIGHBOR
}
