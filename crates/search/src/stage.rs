//! Chooses the next load of a search.
//!
//! The load is raised by a factor until each set of objectives is missed, or lowered if the first
//! load misses it. Then loads are chosen for the set whose capacity has the widest interval, above
//! and below the estimate in turn. Confirmation, overload and recovery follow. [`crate::curve`]
//! contains the model that is fitted to the trials.

use crate::capacity::CapacityState;
use crate::search::{NextStep, PastTrial, Search, TrialRequest};
use crate::summary::TrialSummary;
use brunt_model::answer::SearchEnd;
use brunt_model::question::{TrialGap, TrialPurpose, TrialTimes};
use brunt_model::{LoadUnit, Text, text};
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
/// Planned number of trials near the capacity, including the confirmation.
const NEAR_TRIALS: usize = 4;
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
        let Some(past) = self.history.last() else {
            return self.request(
                self.search.find.start,
                text!("trial-reason.first"),
                Length::Short,
            );
        };
        let states = &past.states;
        let damage = self.search.damage(self.trials, self.history);
        if damage.slow_checks >= DAMAGED_CHECKS {
            return Err(SearchEnd::Damaged);
        }
        if let Some(load) = damage.unknown_at {
            return self.request(load, text!("trial-reason.recovered"), Length::Short);
        }
        match self.brackets(states) {
            Some(Err(SearchEnd::Most)) if self.may_meet_the_highest(states) => {
                let highest = self.highest();
                return self.request(highest, text!("trial-reason.repeat"), Length::Full);
            }
            Some(Err(end)) => return self.confirm_met(states, end),
            Some(next) => return next,
            None => {}
        }
        let Some(wide) = widest(states) else { return Err(SearchEnd::Precise) };
        if states.iter().all(|state| self.is_precise(state)) {
            if self.has_confirmation() {
                return Err(SearchEnd::Precise);
            }
            return self.confirm(wide.at.value.or(wide.met));
        }
        if !self.has_confirmation()
            && self.remaining_seconds() <= 1.5 * self.cost(self.length(Length::Full))
        {
            return self.confirm(wide.at.value.or(wide.met));
        }
        if self.has_confirmation()
            && self.remaining_seconds() < 2.0 * self.cost(self.length(Length::Middle))
        {
            return Err(SearchEnd::Budget);
        }
        self.refine(wide)
    }

    /// Highest load so far.
    fn highest(&self) -> f64 {
        self.trials.iter().map(|trial| trial.load).fold(0.0, f64::max)
    }

    /// True if more trials at the highest load, which missed nothing, can prove that
    /// it meets the objectives.
    fn may_meet_the_highest(&self, states: &[CapacityState]) -> bool {
        let highest = Some(self.highest());
        let is_open =
            states.iter().any(|state| state.missed.is_none() && state.proven_met != highest);
        is_open && self.remaining_seconds() > self.cost(self.length(Length::Full))
    }

    fn has(&self, purpose: TrialPurpose) -> bool {
        self.history.iter().any(|past| past.purpose == purpose)
    }

    /// Seconds left for the search, without the time reserved for overload and recovery.
    fn remaining_seconds(&self) -> f64 {
        self.search.find.within.as_secs_f64() - self.spent - self.reserve()
    }

    /// Seconds reserved for overload and recovery. The capacity has priority: an overload that
    /// takes more than a small share of the time budget is made only if time is left.
    fn reserve(&self) -> f64 {
        let reserve =
            self.cost(self.length(Length::Short)) + self.cost(self.length(Length::Middle));
        let is_small = reserve <= RESERVED * self.search.find.within.as_secs_f64();
        if self.search.find.overload.is_some() && is_small { reserve } else { 0.0 }
    }

    /// Seconds that a trial takes at most, including the time between trials.
    fn cost(&self, times: TrialTimes) -> f64 {
        let between = match self.search.find.between {
            TrialGap::Cool(cool) => cool.as_secs_f64(),
            TrialGap::Restart => 1.0,
        };
        (times.warmup + times.most).as_secs_f64() + between + OVERHEAD_SECONDS
    }

    fn length(&self, length: Length) -> TrialTimes {
        let TrialTimes { warmup, least, most } = self.search.find.trial;
        match length {
            Length::Short => TrialTimes { warmup, least, most: least },
            Length::Middle => {
                TrialTimes { warmup, least: least * 2, most: (least * 3).min(most).max(least * 2) }
            }
            Length::Full => {
                let most = self.full_length(most, least);
                TrialTimes { warmup, least: (most / 2).max(least), most }
            }
        }
    }

    /// Length of a trial near the capacity: the rest of the time is divided among the remaining
    /// trials near the capacity.
    fn full_length(&self, most: Duration, least: Duration) -> Duration {
        let wide = self.history.last().and_then(|past| widest(&past.states));
        let Some(load) = wide.and_then(|state| state.at.value) else { return most };
        let near = self.trials.iter().filter(|trial| is_neighbor(trial.load, load)).count();
        let overhead = self.cost(TrialTimes { most: Duration::ZERO, ..self.search.find.trial });
        let share =
            self.remaining_seconds() / NEAR_TRIALS.saturating_sub(near).max(1) as f64 - overhead;
        Duration::from_secs_f64(share.max(0.0)).clamp(least, most)
    }

    /// Returns the next trial until there are trials on both sides of each capacity; then None.
    fn brackets(&self, states: &[CapacityState]) -> Option<Result<NextStep, SearchEnd>> {
        let highest = self.highest();
        let lowest = self.trials.iter().map(|trial| trial.load).fold(f64::INFINITY, f64::min);
        if states.iter().any(|state| state.missed.is_none() || !state.is_above) {
            return Some(self.raise(states, highest));
        }
        if states.iter().any(|state| state.met.is_none()) {
            let next = self.whole(lowest / 4.0);
            if next >= lowest || next < self.search.find.start * LEAST {
                return Some(Err(SearchEnd::Least));
            }
            return Some(self.request(next, text!("trial-reason.quarter"), Length::Short));
        }
        None
    }

    /// Ends a search that found no load above the capacity. First confirms the highest load that
    /// met the objectives, if no trial proves it yet.
    fn confirm_met(&self, states: &[CapacityState], end: SearchEnd) -> Result<NextStep, SearchEnd> {
        let unproven =
            states.iter().find(|state| state.met.is_some() && state.met != state.proven_met);
        match unproven {
            Some(state) if end != SearchEnd::Budget && !self.has_confirmation() => {
                self.confirm(state.met)
            }
            _ => Err(end),
        }
    }

    fn raise(&self, states: &[CapacityState], highest: f64) -> Result<NextStep, SearchEnd> {
        let generator = self.generator_limit();
        if let Some(limit) = generator {
            let met = states.iter().filter_map(|state| state.met).fold(0.0, f64::max);
            let between = self.whole((met * limit).sqrt());
            return if limit / met < WIDE || between <= met || between >= limit {
                Err(SearchEnd::Generator)
            } else {
                self.request(between, text!("trial-reason.before-generator-limit"), Length::Short)
            };
        }
        let most = self.search.find.most.unwrap_or(f64::INFINITY);
        if highest >= most {
            return Err(SearchEnd::Most);
        }
        let (next, why) = match self.sequential_load() {
            Some(rate) if rate > SAFE_GROWTH * highest => (rate, text!("trial-reason.sequential")),
            _ if self.is_safe(SAFE_GROWTH * highest) => {
                (SAFE_GROWTH * highest, text!("trial-reason.four-times"))
            }
            _ if self.is_queued() => (QUEUED_GROWTH * highest, text!("trial-reason.queued")),
            _ => (GROWTH * highest, text!("trial-reason.twice")),
        };
        self.request(next.min(most), why, Length::Short)
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

    /// Lowest load at which the generator was the limit in the latest trial at that load.
    fn generator_limit(&self) -> Option<f64> {
        let latest = self.trials.iter().enumerate().filter(|(index, trial)| {
            self.trials[index + 1..].iter().all(|later| later.load != trial.load)
        });
        latest
            .filter(|(_, trial)| self.search.is_contested(trial))
            .map(|(_, trial)| trial.load)
            .reduce(f64::min)
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

    /// True if a confirmation was made.
    fn has_confirmation(&self) -> bool {
        self.has(TrialPurpose::Confirm)
    }

    /// Returns a confirmation trial at a load, as long as the remaining time allows.
    fn confirm(&self, load: Option<f64>) -> Result<NextStep, SearchEnd> {
        let Some(load) = load else { return Err(SearchEnd::Budget) };
        let mut times = self.length(Length::Full);
        let room = self.remaining_seconds() - self.cost(times) + times.most.as_secs_f64();
        if room < times.least.as_secs_f64() {
            return Err(SearchEnd::Budget);
        }
        times.most = times.most.min(Duration::from_secs_f64(room));
        times.least = times.most;
        let load = self.whole(load);
        Ok(NextStep::Measure(TrialRequest {
            load,
            why: text!("trial-reason.confirmation"),
            purpose: TrialPurpose::Confirm,
            times,
        }))
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
        let Some(crossing) = state.crossing else {
            let (load, why) = self.inside(low, high);
            return self.request(load, why, Length::Middle);
        };
        if let Some(load) = self.shallow_overload(high) {
            return self.request(load, text!("trial-reason.shallow-overload"), Length::Short);
        }
        let at = self.below_saturation(crossing.load.clamp(low, high));
        let (below, above) = self.measured_near(at);
        if below + above <= 0.0 && high / low > WIDE {
            let (load, why) = self.inside(low, high);
            return self.request(load, why, Length::Middle);
        }
        // At this distance the figure is e times, or 1/e of, the allowed value. Closer loads
        // determine the slope badly, more distant ones the crossing.
        let distance =
            (1.0 / crossing.slope.clamp(12.0, 60.0)).max(self.search.find.precision / 2.0);
        let is_measured = below + above >= 1.5 * self.length(Length::Middle).most.as_secs_f64();
        let length = if is_measured { Length::Full } else { Length::Middle };
        let (load, why) = if below > above {
            (self.spread_out(at, distance), text!("trial-reason.above"))
        } else {
            (self.spread_out(at, -distance), text!("trial-reason.below"))
        };
        self.request(load, why, length)
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
                (guess, text!("trial-reason.below-saturation"))
            }
            _ => ((low * high).sqrt(), text!("trial-reason.between")),
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

    /// Returns a search trial, or the end of the search if there is no time for it.
    fn request(&self, load: f64, why: Text, length: Length) -> Result<NextStep, SearchEnd> {
        let Some(times) = self.within_time(self.length(length)) else {
            return Err(SearchEnd::Budget);
        };
        let load = self.whole(load);
        Ok(NextStep::Measure(TrialRequest { load, why, purpose: TrialPurpose::Search, times }))
    }

    /// Shortens a trial to the remaining time. None if less than the shortest trial is left.
    fn within_time(&self, times: TrialTimes) -> Option<TrialTimes> {
        let shortest = self.search.find.trial.least;
        let room =
            self.remaining_seconds() - self.cost(TrialTimes { most: Duration::ZERO, ..times });
        let most = times
            .most
            .min(Duration::try_from_secs_f64(room).ok().filter(|room| *room >= shortest)?);
        Some(TrialTimes { least: times.least.min(most), most, ..times })
    }

    /// Returns the overload and the recovery trial, and then the end of the search.
    fn afterwards(&self, end: SearchEnd) -> NextStep {
        let end =
            if end == SearchEnd::Precise && !self.all_precise() { SearchEnd::Budget } else { end };
        let (Some(factor), Some(capacity)) = (self.search.find.overload, self.capacity()) else {
            return NextStep::Done(end);
        };
        if end == SearchEnd::Damaged {
            return NextStep::Done(end);
        }
        let unspent = self.search.find.within.as_secs_f64() - self.spent;
        let (load, why, purpose, length) = if self.has(TrialPurpose::Recovery) {
            return NextStep::Done(end);
        } else if self.has(TrialPurpose::Overload) {
            (0.8 * capacity, text!("trial-reason.recovery"), TrialPurpose::Recovery, Length::Middle)
        } else {
            (
                factor * capacity,
                text!("trial-reason.overload"),
                TrialPurpose::Overload,
                Length::Short,
            )
        };
        let mut times = self.length(length);
        if purpose == TrialPurpose::Recovery {
            // The recovery itself is measured, so there is no warm-up.
            times.warmup = Duration::ZERO;
        }
        times.least = times.most;
        if unspent < self.cost(times) {
            return NextStep::Done(end);
        }
        NextStep::Measure(TrialRequest { load: self.whole(load), why, purpose, times })
    }

    fn all_precise(&self) -> bool {
        self.history
            .last()
            .is_some_and(|past| past.states.iter().all(|state| self.is_precise(state)))
    }

    /// Capacity of the first set. None if it is unknown, or if the generator cannot offer more.
    fn capacity(&self) -> Option<f64> {
        let capacity = self.history.last()?.states.first()?.at.value?;
        self.generator_limit().is_none().then_some(capacity)
    }
}

/// Returns the state with the widest interval.
fn widest(states: &[CapacityState]) -> Option<&CapacityState> {
    states.iter().max_by(|a, b| a.half_width().total_cmp(&b.half_width()))
}

fn is_neighbor(trial: f64, load: f64) -> bool {
    (trial / load - 1.0).abs() < NEIGHBOR
}

/// Length of a trial.
#[derive(Clone, Copy)]
enum Length {
    /// The minimum length, for trials far from the capacity.
    Short,
    /// Three times the minimum length.
    Middle,
    /// A share of the remaining time, for trials near the capacity.
    Full,
}
