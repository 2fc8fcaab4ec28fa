//! The trials of an experiment one after the other, with hooks and servers around them.
//!
//! Levels lie within each other: the experiment, a contender's trials that follow one another, those of a repetition, a
//! step. Whatever was begun at a level is finished there, however what lies within came to its end.
//!
//! Out of scope: the runs themselves go to the [`Host`].

mod level;
mod pursue;
mod work;

pub use pursue::{Chooser, Chosen, pursue};

use crate::error::{Failure, ServerError};
use crate::hooks::{self, HookEnd};
use crate::host::{Host, News, Work};
use crate::order::order;
use crate::pause::wait_for;
use crate::server::Server;
use crate::ward::{RigContext, Setting};
use brunt_model::experiment::{Contender, Hook, Restart, Step};
use brunt_model::{Experiment, TrialIndex};
use level::Level;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::time::Duration;

/// A server that ends in so many trials in a row will not stay for the next one.
const PATIENCE: u32 = 3;
/// Between two looks at whether somebody wants to end it.
const LOOK: Duration = Duration::from_millis(100);

/// How an experiment that did not fail came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All trials were made.
    Whole,
    /// The host knows enough: what is left is not made.
    Enough,
    /// Somebody stopped it.
    Stopped,
}

/// Carries out an experiment, but for the places that are done already. Servers are stopped and `after` hooks are run
/// however it ends; of several failures the first is told, the others are warnings.
///
/// # Errors
///
/// A hook or a server fails, or the host cannot make a run.
pub fn conduct<H: Host>(
    experiment: &Experiment,
    done: &BTreeSet<TrialIndex>,
    context: &RigContext,
    host: &mut H,
) -> Result<End, Failure<H::Error>> {
    let left: Box<dyn Iterator<Item = TrialIndex>> = Box::new(order(experiment).filter(|place| !done.contains(place)));
    let mut left = left.peekable();
    if left.peek().is_none() {
        return Ok(End::Whole);
    }
    let mut made = BTreeMap::new();
    let is_of_it =
        |place: &&TrialIndex| experiment.step(**place).is_some() && place.repetition < experiment.repetitions;
    for place in done.iter().filter(is_of_it) {
        *made.entry(place.repetition).or_default() += 1;
    }
    let of = Some(each_repetition(experiment) * experiment.repetitions as usize);
    let mut conduct = Conduct { number: made.values().sum(), of, made, ..Conduct::new(experiment, context, host) };
    conduct.experiment(&mut left)
}

/// Trials that are left, in their order.
type Places<'p> = Peekable<Box<dyn Iterator<Item = TrialIndex> + 'p>>;

/// How many trials a repetition has.
fn each_repetition(experiment: &Experiment) -> usize {
    experiment.contenders.iter().map(|contender| contender.steps.len()).sum()
}

struct Conduct<'a, H> {
    experiment: &'a Experiment,
    context: &'a RigContext<'a>,
    host: &'a mut H,
    /// The managed server of the contender whose turn it is.
    server: Option<Server<'a>>,
    /// The last trial that was begun, from 1.
    number: usize,
    /// How many there will be, where that is known before.
    of: Option<usize>,
    /// Trials of each repetition that were made.
    made: BTreeMap<u32, usize>,
    /// The machine had nothing to do: there was no trial yet.
    rested: bool,
    /// The server was there for a trial since it was started.
    used: bool,
    /// In how many trials in a row the server ended.
    deaths: u32,
}

type Outcome<H> = Result<End, Failure<<H as Host>::Error>>;

impl<'a, H: Host> Conduct<'a, H> {
    /// Nothing was begun yet, and nobody knows how much there is to be done.
    fn new(experiment: &'a Experiment, context: &'a RigContext<'a>, host: &'a mut H) -> Self {
        let (server, of, made) = (None, None, BTreeMap::new());
        Self { experiment, context, host, server, number: 0, of, made, rested: true, used: false, deaths: 0 }
    }

    fn experiment(&mut self, places: &mut Places) -> Outcome<H> {
        self.around(Level::Experiment, |own| own.groups(places, |_| true, Self::contender))
    }

    /// The first of the places, and those behind it that are of the same contender.
    fn contender(&mut self, places: &mut Places, first: TrialIndex) -> Outcome<H> {
        let same = |place: &TrialIndex| place.contender == first.contender;
        self.within_contender(first, |own| own.groups(places, same, Self::repetition))
    }

    fn repetition(&mut self, places: &mut Places, first: TrialIndex) -> Outcome<H> {
        let same = |place: &TrialIndex| (place.contender, place.repetition) == (first.contender, first.repetition);
        let end =
            self.within_repetition(first, |own| own.each(std::iter::from_fn(|| places.next_if(same)), Self::step))?;
        let made = self.made.get(&first.repetition) == Some(&each_repetition(self.experiment));
        let whole = end == End::Whole && made;
        Ok(if whole && self.host.enough(first.repetition) { End::Enough } else { end })
    }

    /// As long as the next place is one of these: `one` takes it, and what belongs to it.
    fn groups(
        &mut self,
        places: &mut Places,
        these: impl Fn(&TrialIndex) -> bool,
        one: impl Fn(&mut Self, &mut Places, TrialIndex) -> Outcome<H>,
    ) -> Outcome<H> {
        while let Some(first) = places.peek().copied().filter(&these) {
            let end = if self.host.stopped() { End::Stopped } else { one(self, places, first)? };
            if end != End::Whole {
                return Ok(end);
            }
        }
        Ok(End::Whole)
    }

    fn within_contender(&mut self, first: TrialIndex, inner: impl FnOnce(&mut Self) -> Outcome<H>) -> Outcome<H> {
        self.deaths = 0;
        self.around(Level::Contender(first.contender), |own| own.served(Restart::Never, first, inner))
    }

    fn within_repetition(&mut self, first: TrialIndex, inner: impl FnOnce(&mut Self) -> Outcome<H>) -> Outcome<H> {
        self.around(Level::Repetition(first), |own| own.served(Restart::Repetition, first, inner))
    }

    fn step(&mut self, place: TrialIndex) -> Outcome<H> {
        let experiment: &'a Experiment = self.experiment;
        let step = &experiment.contenders[place.contender].steps[place.step];
        self.number += 1;
        self.measure(place, step, experiment.cooldown)
    }

    /// A step with what is around it; before it there is so much rest.
    fn measure(&mut self, place: TrialIndex, step: &Step, rest: Duration) -> Outcome<H> {
        self.served(Restart::Step, place, |own| {
            own.around(Level::Step(place, step.load), |own| own.trial(place, step, rest))
        })
    }

    /// One after the other, until one of them ends early.
    fn each<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        mut one: impl FnMut(&mut Self, T) -> Outcome<H>,
    ) -> Outcome<H> {
        for part in parts {
            let end = if self.host.stopped() { End::Stopped } else { one(self, part)? };
            if end != End::Whole {
                return Ok(end);
            }
        }
        Ok(End::Whole)
    }

    // Hooks.

    fn around(&mut self, level: Level, inner: impl FnOnce(&mut Self) -> Outcome<H>) -> Outcome<H> {
        let hooks = level.hooks(self.experiment);
        let before = self.each(hooks.before.iter(), |own, hook| own.before(level, hook));
        let outcome = if matches!(before, Ok(End::Whole)) { inner(self) } else { before };
        let mut finished = outcome;
        for hook in &hooks.after {
            let after = self.hook(level, "after", hook, |_| false);
            finished = self.first_failure(finished, after.map(|_| End::Whole));
        }
        finished
    }

    fn before(&mut self, level: Level, hook: &Hook) -> Outcome<H> {
        Ok(match self.hook(level, "before", hook, H::stopped)? {
            HookEnd::Whole => End::Whole,
            HookEnd::Stopped => End::Stopped,
        })
    }

    fn hook(
        &mut self,
        level: Level,
        side: &str,
        hook: &Hook,
        stopped: impl Fn(&H) -> bool,
    ) -> Result<HookEnd, Failure<H::Error>> {
        let when = format!("{side} {}", level.words(self.experiment));
        self.host.say(News::Hook { when: when.clone(), command: hook.run.clone() });
        let environment = level.environment(self.experiment);
        let setting = Setting { directory: &self.experiment.directory, environment: &environment };
        let host = &*self.host;
        Ok(hooks::run(hook, &when, &setting, self.context, &|| stopped(host))?)
    }

    /// The first failure stays the reason; a later one is told on the way.
    fn first_failure(&mut self, first: Outcome<H>, next: Outcome<H>) -> Outcome<H> {
        match (first, next) {
            (Ok(end), next) => next.map(|_| end),
            (Err(first), Ok(_)) => Err(first),
            (Err(first), Err(next)) => {
                if let Failure::Hook(_) | Failure::Server(_) = next {
                    self.host.say(News::Warning(without_host(&next)));
                }
                Err(first)
            }
        }
    }

    // Servers.

    /// With the contender's server running, if this is the level at which it is started.
    fn served(&mut self, level: Restart, place: TrialIndex, inner: impl FnOnce(&mut Self) -> Outcome<H>) -> Outcome<H> {
        let managed = &self.experiment.contenders[place.contender].server;
        if managed.as_ref().is_none_or(|managed| managed.restart != level) {
            return inner(self);
        }
        let outcome = match self.start(place) {
            Ok(End::Whole) => inner(self),
            other => other,
        };
        let stopped = self.stop(place);
        self.first_failure(outcome, stopped)
    }

    fn start(&mut self, place: TrialIndex) -> Outcome<H> {
        let experiment: &'a Experiment = self.experiment;
        let contender = &experiment.contenders[place.contender];
        let Some(managed) = &contender.server else { return Ok(End::Whole) };
        self.host.say(News::Starting { contender: contender.name.clone() });
        let began = self.context.time.now();
        let environment = Level::Repetition(place).environment(experiment);
        let setting = Setting { directory: &experiment.directory, environment: &environment };
        let host = &*self.host;
        self.server = Server::start(managed, &contender.name, &setting, self.context, &|| host.stopped())?;
        if self.server.is_none() {
            return Ok(End::Stopped);
        }
        self.used = false;
        let took = self.context.time.now() - began;
        self.host.say(News::Ready { contender: contender.name.clone(), took });
        Ok(End::Whole)
    }

    fn stop(&mut self, place: TrialIndex) -> Outcome<H> {
        let Some(server) = self.server.take() else { return Ok(End::Whole) };
        self.host.say(News::Stopping { contender: self.experiment.contenders[place.contender].name.clone() });
        let environment = Level::Repetition(place).environment(self.experiment);
        let setting = Setting { directory: &self.experiment.directory, environment: &environment };
        if let Some(warning) = server.stop(&setting, self.context)? {
            self.host.say(News::Warning(warning));
        }
        Ok(End::Whole)
    }

    /// A server that is not there any more is started again.
    fn revive(&mut self, place: TrialIndex) -> Outcome<H> {
        if self.server.as_ref().is_none_or(|server| server.ended().is_none()) {
            return Ok(End::Whole);
        }
        self.restart(place)
    }

    fn restart(&mut self, place: TrialIndex) -> Outcome<H> {
        self.stop(place)?;
        self.start(place)
    }

    // Trials.

    fn trial(&mut self, place: TrialIndex, step: &Step, rest: Duration) -> Outcome<H> {
        if self.revive(place)? == End::Stopped || self.rest(rest) == End::Stopped {
            return Ok(End::Stopped);
        }
        let contender = &self.experiment.contenders[place.contender];
        let work = Work {
            place,
            contender,
            load: step.load,
            plan: work::plan(step, place),
            probes: work::probes(contender, self.server.as_ref()),
            number: self.number,
            of: self.of,
            server: self.server.as_ref(),
        };
        self.used = true;
        self.host.run(&work).map_err(Failure::Host)?;
        *self.made.entry(place.repetition).or_default() += 1;
        self.count_deaths(contender)?;
        Ok(if self.host.stopped() { End::Stopped } else { End::Whole })
    }

    fn rest(&mut self, time: Duration) -> End {
        if !std::mem::replace(&mut self.rested, false) && !time.is_zero() {
            self.host.say(News::Resting { time });
            let host = &*self.host;
            wait_for(self.context.time, time.saturating_sub(LOOK), || host.stopped().then_some(()));
            self.context.time.pause(time.min(LOOK));
        }
        if self.host.stopped() { End::Stopped } else { End::Whole }
    }

    fn count_deaths(&mut self, contender: &Contender) -> Result<(), ServerError> {
        let dead = self.server.as_ref().and_then(|server| Some((server.ended()?, server)));
        let Some((ending, server)) = dead else {
            self.deaths = 0;
            return Ok(());
        };
        self.deaths += 1;
        if self.deaths < PATIENCE {
            return Ok(());
        }
        let (contender, times, output) = (contender.name.clone(), self.deaths, server.output());
        Err(ServerError::KeepsEnding { contender, times, ending, output })
    }
}

/// The failure of a hook or a server, in words.
fn without_host<E>(failure: &Failure<E>) -> String {
    match failure {
        Failure::Hook(error) => error.to_string(),
        Failure::Server(error) => error.to_string(),
        Failure::Host(_) => String::new(),
    }
}
