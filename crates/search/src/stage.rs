//! The choice of the next load.
//!
//! The load is raised by a factor until each set of objectives is missed, or lowered if the first load misses it. Then loads are
//! chosen for the set whose capacity has the widest interval, above and below the estimate in turn. Confirmation, overload and
//! recovery follow. The model that is fitted to the trials is in [`crate::curve`].

use crate::capacity::CapacityState;
use crate::search::{NextStep, PastTrial, Search, TrialRequest};
use crate::summary::TrialSummary;
use brunt_model::LoadUnit;
use brunt_model::answer::SearchEnd;
use brunt_model::question::{Between, TrialPurpose, TrialTimes};
use std::time::Duration;

/// Growth of the load while a server that serves one request at a time could carry the next load.
const SAFE_GROWTH: f64 = 4.0;
/// Growth of the load while response times do not grow: an overload may harm the server, so it is at most twofold.
const GROWTH: f64 = 2.0;
/// Growth of the load once requests queue.
const QUEUED_GROWTH: f64 = 1.25;
/// Requests queue if their mean response time is this multiple of the mean at lower loads.
const QUEUED: f64 = 1.5;
/// Share of the time of a server that serves one request at a time, which the second load may take.
const SEQUENTIAL: f64 = 0.5;
/// A shallow overload offers this multiple of the highest throughput.
const SHALLOW: f64 = 1.1;
/// The second load is no greater than this, however fast the server answers: brunt's own limit may be near.
const ALONE: f64 = 5000.0;
/// Response times have clearly grown when their mean is this multiple of the first trial's.
const SLOWER: f64 = 2.0;
/// An interval with ends further apart than this factor is first made narrower.
const WIDE: f64 = 1.3;
/// Loads this near to another, as a share, stand beside it.
const BESIDE: f64 = 0.15;
/// So many trials near the capacity are planned with, the confirmation among them.
const NEAR_TRIALS: usize = 4;
/// Seconds that a trial takes beside those that are measured: connecting, and letting requests under way finish.
const AROUND_SECONDS: f64 = 0.5;
/// No more than this share of the time is set aside for the overload and the way back.
const RESERVED: f64 = 0.125;
/// A server that is still slow in this many trials after an overload is damaged.
const MOST_CHECKS: usize = 2;
/// A load is tried this often before one further from the estimate is.
const MOST_REPEATS: usize = 2;
/// Maximum number of steps away from the estimate.
const MOST_STEPS: usize = 6;
/// The lowest load to try is the start divided by this.
const LEAST: f64 = 1e-3;

/// What comes next, `made` being what the trials seen were made for.
pub fn next(search: &Search, seen: &[TrialSummary], made: &[PastTrial], spent: f64) -> NextStep {
    let at = Stage { search, seen, made, spent };
    match at.search_or_end() {
        Ok(next) => next,
        Err(end) => at.afterwards(end),
    }
}

struct Stage<'a> {
    search: &'a Search,
    seen: &'a [TrialSummary],
    made: &'a [PastTrial],
    spent: f64,
}

impl Stage<'_> {
    /// The next trial of the search itself; Err when its end has come.
    fn search_or_end(&self) -> Result<NextStep, SearchEnd> {
        if self.has(TrialPurpose::Overload) {
            return Err(SearchEnd::Precise);
        }
        let Some(made) = self.made.last() else {
            return self.ask(self.search.find.start, "first trial", Length::Short);
        };
        let known = &made.known;
        let damage = self.search.damage(self.seen, self.made);
        if damage.slow_checks >= MOST_CHECKS {
            return Err(SearchEnd::Damaged);
        }
        if let Some(load) = damage.unknown_at {
            return self.ask(load, "check whether the server recovered: this load met the objectives", Length::Short);
        }
        match self.brackets(known) {
            Some(Err(SearchEnd::Most)) if self.may_meet_the_highest(known) => {
                let highest = self.highest();
                return self.ask(highest, "repeat: not yet known whether this load meets the objectives", Length::Full);
            }
            Some(Err(end)) => return self.surely_met(known, end),
            Some(next) => return next,
            None => {}
        }
        let Some(wide) = widest(known) else { return Err(SearchEnd::Precise) };
        if known.iter().all(|known| self.is_precise(known)) {
            return if self.confirmed() { Err(SearchEnd::Precise) } else { self.confirm(wide.at.value.or(wide.met)) };
        }
        if !self.confirmed() && self.left() <= 1.5 * self.cost(self.length(Length::Full)) {
            return self.confirm(wide.at.value.or(wide.met));
        }
        if self.confirmed() && self.left() < 2.0 * self.cost(self.length(Length::Middle)) {
            return Err(SearchEnd::Budget);
        }
        self.refine(wide)
    }

    fn highest(&self) -> f64 {
        self.seen.iter().map(|trial| trial.load).fold(0.0, f64::max)
    }

    /// Whether more trials at the highest load, which missed nothing, can still tell that it meets the objectives.
    fn may_meet_the_highest(&self, known: &[CapacityState]) -> bool {
        let highest = Some(self.highest());
        let is_open = known.iter().any(|known| known.missed.is_none() && known.surely_met != highest);
        is_open && self.left() > self.cost(self.length(Length::Full))
    }

    fn has(&self, purpose: TrialPurpose) -> bool {
        self.made.iter().any(|made| made.purpose == purpose)
    }

    /// Seconds left for the search, when what comes after it is set aside.
    fn left(&self) -> f64 {
        self.search.find.within.as_secs_f64() - self.spent - self.reserve()
    }

    /// The capacity comes first: an overload that takes more than a small share of the budget is made only if time is left.
    fn reserve(&self) -> f64 {
        let reserve = self.cost(self.length(Length::Short)) + self.cost(self.length(Length::Middle));
        let is_small = reserve <= RESERVED * self.search.find.within.as_secs_f64();
        if self.search.find.overload.is_some() && is_small { reserve } else { 0.0 }
    }

    fn cost(&self, times: TrialTimes) -> f64 {
        let between = match self.search.find.between {
            Between::Cool(cool) => cool.as_secs_f64(),
            Between::Restart => 1.0,
        };
        (times.warmup + times.most).as_secs_f64() + between + AROUND_SECONDS
    }

    fn length(&self, length: Length) -> TrialTimes {
        let TrialTimes { warmup, least, most } = self.search.find.trial;
        match length {
            Length::Short => TrialTimes { warmup, least, most: least },
            Length::Middle => TrialTimes { warmup, least: least * 2, most: (least * 3).min(most).max(least * 2) },
            Length::Full => {
                let most = self.full(most, least);
                TrialTimes { warmup, least: (most / 2).max(least), most }
            }
        }
    }

    /// What is left of the time is shared out among the trials near the capacity that are still to come.
    fn full(&self, most: Duration, least: Duration) -> Duration {
        let wide = self.made.last().and_then(|made| widest(&made.known));
        let Some(load) = wide.and_then(|known| known.at.value) else { return most };
        let near = self.seen.iter().filter(|trial| is_beside(trial.load, load)).count();
        let around = self.cost(TrialTimes { most: Duration::ZERO, ..self.search.find.trial });
        let share = self.left() / NEAR_TRIALS.saturating_sub(near).max(1) as f64 - around;
        Duration::from_secs_f64(share.max(0.0)).clamp(least, most)
    }

    /// Loads on both sides of each capacity; None when there are.
    fn brackets(&self, known: &[CapacityState]) -> Option<Result<NextStep, SearchEnd>> {
        let highest = self.highest();
        let lowest = self.seen.iter().map(|trial| trial.load).fold(f64::INFINITY, f64::min);
        if known.iter().any(|known| known.missed.is_none() || !known.is_above) {
            return Some(self.up(known, highest));
        }
        if known.iter().any(|known| known.met.is_none()) {
            let next = self.whole(lowest / 4.0);
            if next >= lowest || next < self.search.find.start * LEAST {
                return Some(Err(SearchEnd::Least));
            }
            return Some(self.ask(next, "a quarter of the previous load, which missed the objectives", Length::Short));
        }
        None
    }

    /// Where it ends below the capacity, the highest load that was met is met for long enough to be sure.
    fn surely_met(&self, known: &[CapacityState], end: SearchEnd) -> Result<NextStep, SearchEnd> {
        let unsure = known.iter().find(|known| known.met.is_some() && known.met != known.surely_met);
        match unsure {
            Some(known) if end != SearchEnd::Budget && !self.confirmed() => self.confirm(known.met),
            _ => Err(end),
        }
    }

    fn up(&self, known: &[CapacityState], highest: f64) -> Result<NextStep, SearchEnd> {
        let generator = self.generator_limit();
        if let Some(limit) = generator {
            let met = known.iter().filter_map(|known| known.met).fold(0.0, f64::max);
            let between = self.whole((met * limit).sqrt());
            return if limit / met < WIDE || between <= met || between >= limit {
                Err(SearchEnd::Generator)
            } else {
                self.ask(between, "between the last valid load and the generator's limit", Length::Short)
            };
        }
        let most = self.search.find.most.unwrap_or(f64::INFINITY);
        if highest >= most {
            return Err(SearchEnd::Most);
        }
        let (next, why) = match self.alone() {
            Some(rate) if rate > SAFE_GROWTH * highest => (rate, "half the rate of sequential requests"),
            _ if self.is_safe(SAFE_GROWTH * highest) => (SAFE_GROWTH * highest, "four times the previous load"),
            _ if self.is_queued() => (QUEUED_GROWTH * highest, "a quarter above the previous load: requests queue"),
            _ => (GROWTH * highest, "twice the previous load"),
        };
        self.ask(next.min(most), why, Length::Short)
    }

    /// So many a second does a server serve that does nothing at the same time, as fast as it answered the first trial. Only
    /// asked after that one.
    fn alone(&self) -> Option<f64> {
        let [first] = self.seen else { return None };
        let open = matches!(self.search.unit, LoadUnit::PerSecond);
        first.mean.filter(|mean| open && *mean > 0.0).map(|mean| (SEQUENTIAL / mean).min(ALONE))
    }

    /// Whether a server that serves one request at a time could carry a load, as fast as it answered the last trial.
    fn is_safe(&self, load: f64) -> bool {
        let open = matches!(self.search.unit, LoadUnit::PerSecond);
        open && self.seen.last().and_then(|last| last.mean).is_some_and(|mean| load * mean <= 1.0)
    }

    /// Whether replies of the last trial took clearly longer than at lower loads. Users wait for each other in any case.
    fn is_queued(&self) -> bool {
        let Some(last) = self.seen.last().filter(|_| matches!(self.search.unit, LoadUnit::PerSecond)) else {
            return false;
        };
        let lower = self.seen.iter().filter(|trial| trial.load < last.load).flat_map(|trial| &trial.blocks);
        let mut response = 0.0;
        let mut completed = 0.0;
        for block in lower {
            response += block.response;
            completed += block.completed;
        }
        last.mean.is_none_or(|mean| completed > 0.0 && mean * completed > QUEUED * response)
    }

    /// The least load at which the generator was the limit, and was so when the load was last tried.
    fn generator_limit(&self) -> Option<f64> {
        let is_last = |index: usize, load: f64| self.seen[index + 1..].iter().all(|later| later.load != load);
        let last = self.seen.iter().enumerate().filter(|(index, trial)| is_last(*index, trial.load));
        last.filter(|(_, trial)| self.search.is_contested(trial)).map(|(_, trial)| trial.load).reduce(f64::min)
    }

    /// Whether a trial's replies took clearly longer than the first's. Where there were none, they did.
    fn slowed(&self, trial: &TrialSummary) -> bool {
        let first = self.seen.first().and_then(|first| first.mean);
        first.zip(trial.mean).is_none_or(|(first, mean)| mean > SLOWER * first)
    }

    fn is_precise(&self, known: &CapacityState) -> bool {
        let users = matches!(self.search.unit, LoadUnit::Users { .. });
        let one = known.at.high.zip(known.at.low).is_some_and(|(high, low)| users && high - low <= 1.0);
        one || known.half_width() <= self.search.find.precision
    }

    /// The last trial was a confirmation, or one after which no more was needed.
    fn confirmed(&self) -> bool {
        self.has(TrialPurpose::Confirm)
    }

    /// A load once more, that of the answer, for a full time.
    fn confirm(&self, load: Option<f64>) -> Result<NextStep, SearchEnd> {
        let Some(load) = load else { return Err(SearchEnd::Budget) };
        let mut times = self.length(Length::Full);
        let room = self.left() - self.cost(times) + times.most.as_secs_f64();
        if room < times.least.as_secs_f64() {
            return Err(SearchEnd::Budget);
        }
        times.most = times.most.min(Duration::from_secs_f64(room));
        times.least = times.most;
        let load = self.whole(load);
        Ok(NextStep::Measure(TrialRequest {
            load,
            why: "confirmation run".into(),
            purpose: TrialPurpose::Confirm,
            times,
        }))
    }

    /// The load at which the estimate is least certain.
    fn refine(&self, known: &CapacityState) -> Result<NextStep, SearchEnd> {
        let (Some(met), Some(missed)) = (known.met, known.missed) else { return Err(SearchEnd::Budget) };
        // Trials may contradict each other: then the highest load that was met lies above the lowest that was missed.
        let low = met.min(missed);
        let high = met.max(missed);
        let Some(crossing) = known.crossing else {
            let (load, why) = self.inside(low, high);
            return self.ask(load, why, Length::Middle);
        };
        if let Some(load) = self.shallow_overload(high) {
            return self.ask(load, "slightly above the achieved throughput", Length::Short);
        }
        let at = self.kept(crossing.load.clamp(low, high));
        let (below, above) = self.measured_beside(at);
        if below + above <= 0.0 && high / low > WIDE {
            let (load, why) = self.inside(low, high);
            return self.ask(load, why, Length::Middle);
        }
        // Where the figure is e times what is allowed, or an eth of it: nearer, little is learnt of the slope; further, little
        // of the crossing.
        let aside = (1.0 / crossing.slope.clamp(12.0, 60.0)).max(self.search.find.precision / 2.0);
        let known = below + above >= 1.5 * self.length(Length::Middle).most.as_secs_f64();
        let length = if known { Length::Full } else { Length::Middle };
        let (load, why) = if below > above {
            (self.spread_out(at, aside), "refine above the estimate")
        } else {
            (self.spread_out(at, -aside), "refine below the estimate")
        };
        self.ask(load, why, length)
    }

    /// A load at some distance from the estimate. The distance grows with the number of trials at that load, because distant
    /// loads determine the slope better.
    fn spread_out(&self, at: f64, aside: f64) -> f64 {
        let mut load = at * (1.0 + aside);
        for _ in 0..MOST_STEPS {
            let tries = self.seen.iter().filter(|trial| (trial.load / load - 1.0).abs() < 0.005).count();
            if tries < MOST_REPEATS {
                break;
            }
            load += at * aside / 2.0;
        }
        self.whole(load)
    }

    /// The load that shows whether the throughput in a deep overload is the server's highest: it may fall when overloaded.
    fn shallow_overload(&self, missed: f64) -> Option<f64> {
        let open = matches!(self.search.unit, LoadUnit::PerSecond);
        let most = self.overloaded().map(|trial| trial.achieved).reduce(f64::max).filter(|_| open)?;
        let all = self.seen.iter().map(|trial| trial.achieved).fold(most, f64::max);
        let is_known = self.seen.iter().any(|trial| trial.load >= most && trial.load <= SHALLOW * all * 1.02);
        (!is_known && missed > SHALLOW * all * 1.1).then_some(SHALLOW * all)
    }

    /// Not beyond the highest throughput: there is no steady state to be seen.
    fn kept(&self, load: f64) -> f64 {
        let open = matches!(self.search.unit, LoadUnit::PerSecond);
        let most = self.seen.iter().map(|trial| trial.achieved).reduce(f64::max);
        most.filter(|_| open && self.overloaded().next().is_some()).map_or(load, |most| load.min(most))
    }

    fn overloaded(&self) -> impl Iterator<Item = &TrialSummary> {
        self.seen.iter().filter(|trial| trial.is_overloaded())
    }

    /// Seconds measured near a load: below it, and above.
    fn measured_beside(&self, load: f64) -> (f64, f64) {
        let near = |trial: &&TrialSummary| is_beside(trial.load, load);
        self.seen.iter().filter(near).fold((0.0, 0.0), |(below, above), trial| {
            if trial.load < load { (below + trial.seconds, above) } else { (below, above + trial.seconds) }
        })
    }

    /// Between two loads: shortly before what an overloaded server achieved, or before a load at which requests queued; else
    /// in the middle.
    fn inside(&self, low: f64, high: f64) -> (f64, &'static str) {
        let at_high = || self.seen.iter().filter(|trial| trial.load >= high * 0.999);
        let achieved = at_high().filter(|trial| trial.is_overloaded()).map(|trial| trial.achieved).reduce(f64::max);
        let nearest = at_high().min_by(|a, b| a.load.total_cmp(&b.load));
        let queued = nearest.filter(|trial| self.slowed(trial)).map(|trial| trial.load.min(trial.achieved));
        let open = matches!(self.search.unit, LoadUnit::PerSecond);
        match achieved.or(queued).map(|saturation| 0.9 * saturation) {
            Some(guess) if open && guess > low * 1.1 && guess < high / 1.05 => {
                (guess, "slightly below the achieved throughput")
            }
            _ => ((low * high).sqrt(), "between a load that met the objectives and one that missed them"),
        }
    }

    fn whole(&self, load: f64) -> f64 {
        match self.search.unit {
            LoadUnit::Users { .. } => load.round().max(1.0),
            // Three significant digits less than a thousandth of the load: nobody needs more, and plans stay readable.
            LoadUnit::PerSecond => {
                let digits = 3 - load.max(1e-9).log10().floor() as i32;
                let unit = 10_f64.powi(digits.abs());
                if digits > 0 { (load * unit).round() / unit } else { (load / unit).round() * unit }
            }
        }
    }

    fn ask(&self, load: f64, why: &str, length: Length) -> Result<NextStep, SearchEnd> {
        let Some(times) = self.within_time(self.length(length)) else { return Err(SearchEnd::Budget) };
        let load = self.whole(load);
        Ok(NextStep::Measure(TrialRequest { load, why: why.to_owned(), purpose: TrialPurpose::Search, times }))
    }

    /// A trial shortened to the time that is left; None where that is less than the shortest trial takes.
    fn within_time(&self, times: TrialTimes) -> Option<TrialTimes> {
        let shortest = self.search.find.trial.least;
        let room = self.left() - self.cost(TrialTimes { most: Duration::ZERO, ..times });
        let most = times.most.min(Duration::try_from_secs_f64(room).ok().filter(|room| *room >= shortest)?);
        Some(TrialTimes { least: times.least.min(most), most, ..times })
    }

    /// The overload and the way back, then the end.
    fn afterwards(&self, end: SearchEnd) -> NextStep {
        let end = if end == SearchEnd::Precise && !self.all_precise() { SearchEnd::Budget } else { end };
        let (Some(factor), Some(capacity)) = (self.search.find.overload, self.capacity()) else {
            return NextStep::Done(end);
        };
        if end == SearchEnd::Damaged {
            return NextStep::Done(end);
        }
        let left = self.search.find.within.as_secs_f64() - self.spent;
        let (load, why, purpose, length) = if self.has(TrialPurpose::Recovery) {
            return NextStep::Done(end);
        } else if self.has(TrialPurpose::Overload) {
            (0.8 * capacity, "recovery", TrialPurpose::Recovery, Length::Middle)
        } else {
            (factor * capacity, "overload trial", TrialPurpose::Overload, Length::Short)
        };
        let mut times = self.length(length);
        if purpose == TrialPurpose::Recovery {
            // What a server does on its way back is what is looked for.
            times.warmup = Duration::ZERO;
        }
        times.least = times.most;
        if left < self.cost(times) {
            return NextStep::Done(end);
        }
        NextStep::Measure(TrialRequest { load: self.whole(load), why: why.to_owned(), purpose, times })
    }

    fn all_precise(&self) -> bool {
        self.made.last().is_some_and(|made| made.known.iter().all(|known| self.is_precise(known)))
    }

    /// That of the first set, where it was found and the generator can go beyond it.
    fn capacity(&self) -> Option<f64> {
        let capacity = self.made.last()?.known.first()?.at.value?;
        self.generator_limit().is_none().then_some(capacity)
    }
}

/// What is least known.
fn widest(known: &[CapacityState]) -> Option<&CapacityState> {
    known.iter().max_by(|a, b| a.half_width().total_cmp(&b.half_width()))
}

fn is_beside(trial: f64, load: f64) -> bool {
    (trial / load - 1.0).abs() < BESIDE
}

/// How long a trial is.
#[derive(Clone, Copy)]
enum Length {
    /// As short as trials may be: far from the capacity.
    Short,
    /// Three times that.
    Middle,
    /// A share of the time that is left: near it.
    Full,
}
