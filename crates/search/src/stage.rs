//! The choice of the next load.
//!
//! What it is: up, each time by a factor, until each set of objectives was missed; down, where it was missed at once; then
//! in between, where the answer is least known, above and below in turn; then the confirmation, the overload, the way
//! back. What it is not: the model of what was seen ([`crate::curve`]).

use crate::capacity::Known;
use crate::search::{Ask, Made, Next, Purpose, Search};
use crate::seen::Seen;
use brunt_model::LoadUnit;
use brunt_model::answer::SearchEnd;
use brunt_model::question::{Between, TrialTimes};
use std::time::Duration;

/// While response times do not grow, loads grow by this factor; then by the second.
const GROWTH: (f64, f64) = (4.0, 2.0);
/// An interval with ends further apart than this factor is first made narrower.
const WIDE: f64 = 1.3;
/// Seconds that a trial takes beside those that are measured: connecting, and letting requests under way finish.
const AROUND_SECONDS: f64 = 0.5;
/// So many times less than the start, and no load is left that makes sense.
const LEAST: f64 = 1e-3;

/// What comes next, `made` being what the trials seen were made for.
pub fn next(search: &Search, seen: &[Seen], made: &[Made], spent: f64) -> Next {
    let at = Stage { search, seen, made, spent };
    match at.search_or_end() {
        Ok(next) => next,
        Err(end) => at.afterwards(end),
    }
}

struct Stage<'a> {
    search: &'a Search,
    seen: &'a [Seen],
    made: &'a [Made],
    spent: f64,
}

impl Stage<'_> {
    /// The next trial of the search itself; Err when its end has come.
    fn search_or_end(&self) -> Result<Next, SearchEnd> {
        if self.has(Purpose::Overload) {
            return Err(SearchEnd::Precise);
        }
        let Some(made) = self.made.last() else { return self.ask(self.search.find.start, "the first", Length::Short) };
        let known = &made.known;
        if let Some(next) = self.brackets(known) {
            return next;
        }
        let wide = known.iter().max_by(|a, b| a.half_width().total_cmp(&b.half_width()));
        let Some(wide) = wide else { return Err(SearchEnd::Precise) };
        if known.iter().all(|known| self.is_precise(known)) {
            return if self.confirmed() { Err(SearchEnd::Precise) } else { self.confirm(wide) };
        }
        if !self.confirmed() && self.left() < 2.0 * self.cost(self.length(Length::Full)) {
            return self.confirm(wide);
        }
        self.refine(wide)
    }

    fn has(&self, purpose: Purpose) -> bool {
        self.made.iter().any(|made| made.purpose == purpose)
    }

    /// Seconds left for the search, when what comes after it is set aside.
    fn left(&self) -> f64 {
        self.search.find.within.as_secs_f64() - self.spent - self.reserve()
    }

    fn reserve(&self) -> f64 {
        if self.search.find.overload.is_none() {
            return 0.0;
        }
        self.cost(self.length(Length::Short)) + self.cost(self.length(Length::Middle))
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
        let most = match length {
            Length::Short => least,
            Length::Middle => (least * 3).min(most),
            Length::Full => most,
        };
        TrialTimes { warmup, least, most }
    }

    /// Loads on both sides of each capacity; None when there are.
    fn brackets(&self, known: &[Known]) -> Option<Result<Next, SearchEnd>> {
        let highest = self.seen.iter().map(|trial| trial.load).fold(0.0, f64::max);
        let lowest = self.seen.iter().map(|trial| trial.load).fold(f64::INFINITY, f64::min);
        if known.iter().any(|known| known.missed.is_none()) {
            return Some(self.up(known, highest));
        }
        if known.iter().any(|known| known.met.is_none()) {
            let next = self.whole(lowest / 4.0);
            if next >= lowest || next < self.search.find.start * LEAST {
                return Some(Err(SearchEnd::Least));
            }
            return Some(self.ask(next, "a quarter, for the objectives were missed", Length::Short));
        }
        None
    }

    fn up(&self, known: &[Known], highest: f64) -> Result<Next, SearchEnd> {
        let generator = self.generator_limit();
        if let Some(limit) = generator {
            let met = known.iter().filter_map(|known| known.met).fold(0.0, f64::max);
            let between = self.whole((met * limit).sqrt());
            return if limit / met < WIDE || between <= met || between >= limit {
                Err(SearchEnd::Generator)
            } else {
                self.ask(between, "between what went and where the generator was the limit", Length::Short)
            };
        }
        let most = self.search.find.most.unwrap_or(f64::INFINITY);
        if highest >= most {
            return Err(SearchEnd::Most);
        }
        let (factor, why) =
            if self.is_slower() { (GROWTH.1, "twice the last") } else { (GROWTH.0, "four times the last") };
        self.ask((highest * factor).min(most), why, Length::Short)
    }

    /// The least load at which the generator was the limit and the objectives were missed.
    fn generator_limit(&self) -> Option<f64> {
        let limited = self.seen.iter().filter(|trial| trial.limited.is_some() && self.search.misses(trial));
        limited.map(|trial| trial.load).reduce(f64::min)
    }

    /// Whether the last trial's replies took clearly longer than the first's.
    fn is_slower(&self) -> bool {
        let mean = |trial: Option<&Seen>| trial.and_then(|trial| trial.mean);
        match (mean(self.seen.first()), mean(self.seen.last())) {
            (Some(first), Some(last)) => last > 1.3 * first || matches!(self.search.unit, LoadUnit::Users { .. }),
            _ => true,
        }
    }

    fn is_precise(&self, known: &Known) -> bool {
        let users = matches!(self.search.unit, LoadUnit::Users { .. });
        let one = known.at.high.zip(known.at.low).is_some_and(|(high, low)| users && high - low <= 1.0);
        one || known.half_width() <= self.search.find.precision
    }

    /// The last trial was a confirmation, or one after which no more was needed.
    fn confirmed(&self) -> bool {
        self.has(Purpose::Confirm)
    }

    fn confirm(&self, known: &Known) -> Result<Next, SearchEnd> {
        let Some(load) = known.at.value else { return Err(SearchEnd::Budget) };
        let mut times = self.length(Length::Full);
        let room = self.left() - self.cost(times) + times.most.as_secs_f64();
        if room < times.least.as_secs_f64() {
            return Err(SearchEnd::Budget);
        }
        times.most = times.most.min(Duration::from_secs_f64(room));
        times.least = times.most;
        let load = self.whole(load);
        Ok(Next::Measure(Ask { load, why: "the answer, once more".into(), purpose: Purpose::Confirm, times }))
    }

    /// Where the answer is least known.
    fn refine(&self, known: &Known) -> Result<Next, SearchEnd> {
        let (low, high) = (known.at.low.or(known.met), known.at.high.or(known.missed));
        if let (Some(low), Some(high)) = (low, high)
            && high / low > WIDE
        {
            let (load, why) = self.inside(low, high);
            return self.ask(load, why, Length::Middle);
        }
        let (Some(crossing), Some(value)) = (known.crossing, known.at.value) else { return Err(SearchEnd::Budget) };
        // Where the figure is by a factor of two above or below what is allowed, but never nearer than is asked.
        let aside = (0.7 / crossing.slope).clamp(self.search.find.precision / 2.0, 0.1) * value;
        let above = self.seen.last().is_some_and(|last| last.load < value);
        let (load, why) = if above {
            (value + aside, "where the answer is least known, above")
        } else {
            (value - aside, "where the answer is least known, below")
        };
        self.ask(load, why, Length::Full)
    }

    /// Between two loads: near what an overloaded server achieved, else in the middle.
    fn inside(&self, low: f64, high: f64) -> (f64, &'static str) {
        let overloaded = |trial: &&Seen| trial.achieved < 0.95 * trial.offered && trial.load >= high * 0.999;
        let first = self.seen.iter().filter(overloaded).map(|trial| trial.achieved).reduce(f64::max);
        let open = matches!(self.search.unit, LoadUnit::PerSecond);
        match first.map(|achieved| 0.9 * achieved) {
            Some(guess) if open && guess > low * 1.1 && guess < high / 1.1 => {
                (guess, "shortly before what it achieved")
            }
            _ => ((low * high).sqrt(), "between what was met and what was missed"),
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

    fn ask(&self, load: f64, why: &str, length: Length) -> Result<Next, SearchEnd> {
        let times = self.length(length);
        if self.left() < self.cost(times) {
            return Err(SearchEnd::Budget);
        }
        let load = self.whole(load);
        Ok(Next::Measure(Ask { load, why: why.to_owned(), purpose: Purpose::Search, times }))
    }

    /// The overload and the way back, then the end.
    fn afterwards(&self, end: SearchEnd) -> Next {
        let end = if end == SearchEnd::Precise && !self.all_precise() { SearchEnd::Budget } else { end };
        let (Some(factor), Some(capacity)) = (self.search.find.overload, self.capacity()) else {
            return Next::Done(end);
        };
        let left = self.search.find.within.as_secs_f64() - self.spent;
        let (load, why, purpose, length) = if self.has(Purpose::Recovery) {
            return Next::Done(end);
        } else if self.has(Purpose::Overload) {
            (0.8 * capacity, "to see how long it takes to recover", Purpose::Recovery, Length::Middle)
        } else {
            (factor * capacity, "a deliberate overload", Purpose::Overload, Length::Short)
        };
        let mut times = self.length(length);
        if purpose == Purpose::Recovery {
            // What a server does on its way back is what is looked for.
            times.warmup = Duration::ZERO;
        }
        times.least = times.most;
        if left < self.cost(times) {
            return Next::Done(end);
        }
        Next::Measure(Ask { load: self.whole(load), why: why.to_owned(), purpose, times })
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

/// How long a trial is.
#[derive(Clone, Copy)]
enum Length {
    /// As short as trials may be: far from the capacity.
    Short,
    /// Three times that.
    Middle,
    /// As long as they may be: near it.
    Full,
}
