//! Runs the trials of an experiment in order, with hooks and servers around them.
//!
//! Levels are nested: the experiment, consecutive trials of one contender, a repetition, a step.
//! A level that was started is also finished, even if an inner level fails.
//!
//! The [`ExperimentHost`] makes the runs themselves.

mod level;
mod pursue;
mod work;

pub use pursue::{Chooser, ChosenTrial, pursue};

use crate::error::{RigFailure, ServerError};
use crate::guarded_command::{CommandSetting, RigContext};
use crate::hooks::{self, HookEnd};
use crate::host::{ExperimentHost, RigMessage, TrialRun};
use crate::order::order;
use crate::pause::wait_for;
use crate::server::RunningServer;
use brunt_model::experiment::{Contender, Hook, LoadStep, Restart};
use brunt_model::{Experiment, TrialIndex};
use level::Level;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::time::Duration;

/// A server that exits during this many trials in a row is not started again.
const MAX_SERVER_EXITS: u32 = 3;
/// Part of a rest in which the host is not polled for a stop request.
const UNPOLLED_REST: Duration = Duration::from_millis(100);

/// Result of an experiment that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExperimentOutcome {
    /// All trials were measured.
    Whole,
    /// The host needs no more trials; the remaining ones are skipped.
    Enough,
    /// The host was asked to stop (for example by Ctrl-C).
    Stopped,
}

/// Runs an experiment, without the trials that are `done` already. Servers are stopped and `after`
/// hooks are run even after a failure. The first failure is returned; later ones become warnings.
///
/// # Errors
///
/// A hook or a server fails, or the host cannot make a run.
pub fn conduct<H: ExperimentHost>(
    experiment: &Experiment,
    done: &BTreeSet<TrialIndex>,
    context: &RigContext,
    host: &mut H,
) -> Result<ExperimentOutcome, RigFailure<H::Error>> {
    let pending: Box<dyn Iterator<Item = TrialIndex>> =
        Box::new(order(experiment).filter(|place| !done.contains(place)));
    let mut pending = pending.peekable();
    if pending.peek().is_none() {
        return Ok(ExperimentOutcome::Whole);
    }
    let mut finished_trials = BTreeMap::new();
    for place in done {
        // A stored trial may belong to a step or repetition that the experiment no longer has.
        if experiment.step(*place).is_some() && place.repetition < experiment.repetitions {
            *finished_trials.entry(place.repetition).or_default() += 1;
        }
    }
    let total = Some(trials_per_repetition(experiment) * experiment.repetitions as usize);
    // Trials before an interruption count, so the index continues.
    let number = finished_trials.values().sum();
    let mut conductor =
        Conductor { number, total, finished_trials, ..Conductor::new(experiment, context, host) };
    conductor.run_experiment(&mut pending)
}

/// The remaining trials, in their order.
type Places<'p> = Peekable<Box<dyn Iterator<Item = TrialIndex> + 'p>>;

/// Number of trials in a repetition.
fn trials_per_repetition(experiment: &Experiment) -> usize {
    experiment.contenders.iter().map(|contender| contender.steps.len()).sum()
}

/// Runs an experiment, and stores its progress.
struct Conductor<'a, H> {
    experiment: &'a Experiment,
    context: &'a RigContext<'a>,
    host: &'a mut H,
    /// The managed server of the current contender.
    server: Option<RunningServer<'a>>,
    /// Index of the last trial that was started, from 1.
    number: usize,
    /// Number of all trials; None if they are chosen during the experiment.
    total: Option<usize>,
    /// Number of finished trials, by repetition.
    finished_trials: BTreeMap<u32, usize>,
    /// True before the first trial, which needs no rest.
    is_first_trial: bool,
    /// True if the server ran during a trial since it was started.
    has_served_trial: bool,
    /// Number of consecutive trials during which the server exited.
    server_exits: u32,
}

type Outcome<H> = Result<ExperimentOutcome, RigFailure<<H as ExperimentHost>::Error>>;

impl<'a, H: ExperimentHost> Conductor<'a, H> {
    /// Creates the state before the first trial, with an unknown number of trials.
    fn new(experiment: &'a Experiment, context: &'a RigContext<'a>, host: &'a mut H) -> Self {
        Self {
            experiment,
            context,
            host,
            server: None,
            number: 0,
            total: None,
            finished_trials: BTreeMap::new(),
            is_first_trial: true,
            has_served_trial: false,
            server_exits: 0,
        }
    }

    fn run_experiment(&mut self, places: &mut Places) -> Outcome<H> {
        self.with_hooks(Level::Experiment, |conductor| {
            conductor.run_groups(places, |_| true, Self::run_contender)
        })
    }

    /// Runs the trials from `first` on that belong to the same contender.
    fn run_contender(&mut self, places: &mut Places, first: TrialIndex) -> Outcome<H> {
        self.within_contender(first, |conductor| {
            let is_same = |place: &TrialIndex| place.contender == first.contender;
            conductor.run_groups(places, is_same, Self::run_repetition)
        })
    }

    fn run_repetition(&mut self, places: &mut Places, first: TrialIndex) -> Outcome<H> {
        let end = self.within_repetition(first, |conductor| {
            let trials = std::iter::from_fn(|| {
                places.next_if(|place| {
                    (place.contender, place.repetition) == (first.contender, first.repetition)
                })
            });
            conductor.run_each(trials, Self::run_step)
        })?;
        let finished = self.finished_trials.get(&first.repetition);
        let is_complete = end == ExperimentOutcome::Whole
            && finished == Some(&trials_per_repetition(self.experiment));
        Ok(if is_complete && self.host.has_enough(first.repetition) {
            ExperimentOutcome::Enough
        } else {
            end
        })
    }

    /// Runs group after group: while the next place fulfills `is_included`, `run_group` takes it
    /// and the places of its group.
    fn run_groups(
        &mut self,
        places: &mut Places,
        is_included: impl Fn(&TrialIndex) -> bool,
        run_group: impl Fn(&mut Self, &mut Places, TrialIndex) -> Outcome<H>,
    ) -> Outcome<H> {
        while let Some(first) = places.peek().copied().filter(&is_included) {
            let end = if self.host.is_stopped() {
                ExperimentOutcome::Stopped
            } else {
                run_group(self, places, first)?
            };
            if end != ExperimentOutcome::Whole {
                return Ok(end);
            }
        }
        Ok(ExperimentOutcome::Whole)
    }

    fn within_contender(
        &mut self,
        first: TrialIndex,
        inner: impl FnOnce(&mut Self) -> Outcome<H>,
    ) -> Outcome<H> {
        self.server_exits = 0;
        self.with_hooks(Level::Contender(first.contender), |conductor| {
            conductor.with_server(Restart::Never, first, inner)
        })
    }

    fn within_repetition(
        &mut self,
        first: TrialIndex,
        inner: impl FnOnce(&mut Self) -> Outcome<H>,
    ) -> Outcome<H> {
        self.with_hooks(Level::Repetition(first), |conductor| {
            conductor.with_server(Restart::Repetition, first, inner)
        })
    }

    fn run_step(&mut self, place: TrialIndex) -> Outcome<H> {
        let experiment: &'a Experiment = self.experiment;
        let step = &experiment.contenders[place.contender].steps[place.step];
        self.number += 1;
        self.measure(place, step, experiment.cooldown)
    }

    /// Runs a step with its server and hooks, after a pause of `rest`.
    fn measure(&mut self, place: TrialIndex, step: &LoadStep, rest: Duration) -> Outcome<H> {
        self.with_server(Restart::Step, place, |conductor| {
            conductor.with_hooks(Level::Step(place, step.load), |conductor| {
                conductor.run_trial(place, step, rest)
            })
        })
    }

    /// Calls `run_one` for each part, until one ends early.
    fn run_each<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        mut run_one: impl FnMut(&mut Self, T) -> Outcome<H>,
    ) -> Outcome<H> {
        for part in parts {
            let end = if self.host.is_stopped() {
                ExperimentOutcome::Stopped
            } else {
                run_one(self, part)?
            };
            if end != ExperimentOutcome::Whole {
                return Ok(end);
            }
        }
        Ok(ExperimentOutcome::Whole)
    }

    // Hooks.

    fn with_hooks(
        &mut self,
        level: Level,
        inner: impl FnOnce(&mut Self) -> Outcome<H>,
    ) -> Outcome<H> {
        let hooks = level.hooks(self.experiment);
        let before = self.run_each(hooks.before.iter(), |conductor, hook| {
            conductor.run_before_hook(level, hook)
        });
        let mut outcome =
            if matches!(before, Ok(ExperimentOutcome::Whole)) { inner(self) } else { before };
        for hook in &hooks.after {
            // Cleanup also runs after a stop request, so an `after` hook ignores it.
            let after = self.run_hook(level, "after", hook, |_| false);
            outcome = self.first_failure(outcome, after.map(|_| ExperimentOutcome::Whole));
        }
        outcome
    }

    fn run_before_hook(&mut self, level: Level, hook: &Hook) -> Outcome<H> {
        Ok(match self.run_hook(level, "before", hook, H::is_stopped)? {
            HookEnd::Whole => ExperimentOutcome::Whole,
            HookEnd::Stopped => ExperimentOutcome::Stopped,
        })
    }

    fn run_hook(
        &mut self,
        level: Level,
        side: &str,
        hook: &Hook,
        is_stopped: impl Fn(&H) -> bool,
    ) -> Result<HookEnd, RigFailure<H::Error>> {
        let when = format!("{side} {}", level.describe(self.experiment));
        self.host.report(RigMessage::Hook { when: when.clone(), command: hook.run.clone() });
        let environment = level.environment(self.experiment);
        let setting =
            CommandSetting { directory: &self.experiment.directory, environment: &environment };
        let host = &*self.host;
        Ok(hooks::run(hook, &when, &setting, self.context, &|| is_stopped(host))?)
    }

    /// Returns the first of two failures, and reports the second as a warning.
    fn first_failure(&mut self, first: Outcome<H>, next: Outcome<H>) -> Outcome<H> {
        match (first, next) {
            (Ok(end), next) => next.map(|_| end),
            (Err(first), Ok(_)) => Err(first),
            (Err(first), Err(next)) => {
                if let RigFailure::Hook(_) | RigFailure::Server(_) = next {
                    self.host.report(RigMessage::Warning(without_host(&next).into()));
                }
                Err(first)
            }
        }
    }

    // Servers.

    /// Runs `inner` with the contender's server, if the server is restarted at this level.
    fn with_server(
        &mut self,
        level: Restart,
        place: TrialIndex,
        inner: impl FnOnce(&mut Self) -> Outcome<H>,
    ) -> Outcome<H> {
        let managed = &self.experiment.contenders[place.contender].server;
        if managed.as_ref().is_none_or(|managed| managed.restart != level) {
            return inner(self);
        }
        let outcome = match self.start(place) {
            Ok(ExperimentOutcome::Whole) => inner(self),
            other => other,
        };
        let stopped = self.stop(place);
        self.first_failure(outcome, stopped)
    }

    fn start(&mut self, place: TrialIndex) -> Outcome<H> {
        let experiment: &'a Experiment = self.experiment;
        let contender = &experiment.contenders[place.contender];
        let Some(managed) = &contender.server else { return Ok(ExperimentOutcome::Whole) };
        self.host.report(RigMessage::Starting { contender: contender.name.clone() });
        let start = self.context.time.now();
        let environment = Level::Repetition(place).environment(experiment);
        let setting =
            CommandSetting { directory: &experiment.directory, environment: &environment };
        let host = &*self.host;
        self.server =
            RunningServer::start(managed, &contender.name, &setting, self.context, &|| {
                host.is_stopped()
            })?;
        if self.server.is_none() {
            return Ok(ExperimentOutcome::Stopped);
        }
        self.has_served_trial = false;
        let took = self.context.time.now() - start;
        self.host.report(RigMessage::Ready { contender: contender.name.clone(), took });
        Ok(ExperimentOutcome::Whole)
    }

    fn stop(&mut self, place: TrialIndex) -> Outcome<H> {
        let Some(server) = self.server.take() else { return Ok(ExperimentOutcome::Whole) };
        self.host.report(RigMessage::Stopping {
            contender: self.experiment.contenders[place.contender].name.clone(),
        });
        let environment = Level::Repetition(place).environment(self.experiment);
        let setting =
            CommandSetting { directory: &self.experiment.directory, environment: &environment };
        if let Some(warning) = server.stop(&setting, self.context)? {
            self.host.report(RigMessage::Warning(warning));
        }
        Ok(ExperimentOutcome::Whole)
    }

    /// Restarts the server if it has exited.
    fn restart_if_ended(&mut self, place: TrialIndex) -> Outcome<H> {
        if self.server.as_ref().is_none_or(|server| server.ended().is_none()) {
            return Ok(ExperimentOutcome::Whole);
        }
        self.restart(place)
    }

    fn restart(&mut self, place: TrialIndex) -> Outcome<H> {
        self.stop(place)?;
        self.start(place)
    }

    // Trials.

    fn run_trial(&mut self, place: TrialIndex, step: &LoadStep, rest: Duration) -> Outcome<H> {
        if self.restart_if_ended(place)? == ExperimentOutcome::Stopped
            || self.rest(rest) == ExperimentOutcome::Stopped
        {
            return Ok(ExperimentOutcome::Stopped);
        }
        let contender = &self.experiment.contenders[place.contender];
        let work = TrialRun {
            place,
            contender,
            load: step.load,
            plan: work::plan(step, place),
            probes: work::probes(contender, self.server.as_ref()),
            number: self.number,
            total: self.total,
            server: self.server.as_ref(),
        };
        self.has_served_trial = true;
        self.host.run(&work).map_err(RigFailure::Host)?;
        *self.finished_trials.entry(place.repetition).or_default() += 1;
        self.count_server_exits(contender)?;
        Ok(if self.host.is_stopped() {
            ExperimentOutcome::Stopped
        } else {
            ExperimentOutcome::Whole
        })
    }

    fn rest(&mut self, time: Duration) -> ExperimentOutcome {
        // The machine is idle before the first trial, so no rest is needed.
        let is_first_trial = std::mem::replace(&mut self.is_first_trial, false);
        if !is_first_trial && !time.is_zero() {
            self.host.report(RigMessage::Resting { time });
            let host = &*self.host;
            wait_for(self.context.time, time.saturating_sub(UNPOLLED_REST), || {
                host.is_stopped().then_some(())
            });
            self.context.time.pause(time.min(UNPOLLED_REST));
        }
        if self.host.is_stopped() { ExperimentOutcome::Stopped } else { ExperimentOutcome::Whole }
    }

    fn count_server_exits(&mut self, contender: &Contender) -> Result<(), ServerError> {
        let ended_server = self.server.as_ref().and_then(|server| Some((server.ended()?, server)));
        let Some((ending, server)) = ended_server else {
            self.server_exits = 0;
            return Ok(());
        };
        self.server_exits += 1;
        if self.server_exits < MAX_SERVER_EXITS {
            return Ok(());
        }
        let contender = contender.name.clone();
        Err(ServerError::KeepsEnding {
            contender,
            times: self.server_exits,
            ending,
            output: server.output(),
        })
    }
}

/// Message of a hook's or a server's failure. Empty for the host's own failures.
fn without_host<E>(failure: &RigFailure<E>) -> String {
    match failure {
        RigFailure::Hook(error) => error.to_string(),
        RigFailure::Server(error) => error.to_string(),
        RigFailure::Host(_) => String::new(),
    }
}
