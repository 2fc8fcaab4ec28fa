//! The trials of a search, one after the other: what was measured goes to the search, what it asks for becomes a step.
//!
//! What it is not: the choice itself, nor the measuring.

use super::pattern;
use super::told::{came_to, ended, going_on, so_far};
use crate::decide::{Contended, contended};
use crate::experiment::measurer::Measurer;
use brunt_model::answer::SearchEnd;
use brunt_model::question::Between;
use brunt_model::{Failure, Find, Place, Study, Trial};
use brunt_rig::{Chooser, Chosen};
use brunt_search::{Ask, Next, Purpose};
use std::time::Duration;

/// What a server has left of the trial before is waited for as long, at most.
const LONGEST_REST: Duration = Duration::from_secs(20);

/// Chooses the trials of a search.
pub struct Seeker<'a> {
    find: &'a Find,
    /// So many trials in all were told.
    told: usize,
    /// The contender whose turn it is.
    current: Option<usize>,
}

impl<'a> Seeker<'a> {
    /// Goes on with a study.
    pub fn new(find: &'a Find, study: &Study) -> Self {
        Self { find, told: study.trials.len(), current: None }
    }

    /// Says what the last trial came to, or where it goes on, and what comes next.
    fn tell(&mut self, host: &Measurer, so_far: &Contended, next: &Next) {
        let fresh = host.study.trials.len() > self.told;
        self.told = host.study.trials.len();
        let answer = so_far.answer(SearchEnd::Stopped);
        let line = match (so_far.trials.last(), answer.trials.last()) {
            (Some(trial), Some(tried)) if fresh => came_to(so_far, trial, tried, &answer),
            (Some(_), _) => going_on(so_far.made, &answer),
            _ => String::new(),
        };
        let next = match next {
            Next::Measure(ask) => super::told::next(ask, answer.unit),
            Next::Done(end) => ended(*end).to_owned(),
        };
        host.tell(&if line.is_empty() { next } else { format!("{line}; {next}") });
    }

    fn chosen(&self, host: &mut Measurer, so_far: &Position, ask: &Ask) -> Option<Chosen> {
        let pattern = &host.study.experiment.contenders[so_far.contender].steps.first()?.plan;
        let step = pattern::trial(pattern, ask, host.cores());
        let index = host.grow(so_far.contender, &step);
        let place = Place { repetition: 0, contender: so_far.contender, step: index };
        let before = match (ask.purpose, self.find.between) {
            (Purpose::Recovery, _) => Between::Cool(Duration::ZERO),
            (_, Between::Cool(time)) => Between::Cool(time.max(so_far.left_over)),
            (_, Between::Restart) => Between::Restart,
        };
        Some(Chosen { place, number: so_far.made + 1, step, before })
    }
}

/// How far a search has come.
struct Position {
    contender: usize,
    /// Trials that were made.
    made: usize,
    /// How long the server will be at work with what the last of them left.
    left_over: Duration,
}

impl Chooser<Measurer<'_>> for Seeker<'_> {
    fn next(&mut self, host: &mut Measurer, contender: usize) -> Option<Chosen> {
        let so_far = contended(&host.study, self.find, contender)?;
        let next = so_far.next();
        let first_look = self.current.replace(contender) != Some(contender);
        if !first_look || !so_far.trials.is_empty() || matches!(next, Next::Measure(_)) {
            self.tell(host, &so_far, &next);
        }
        let Next::Measure(ask) = next else { return None };
        let left_over = so_far.trials.last().map_or(Duration::ZERO, |trial| left_over(trial));
        let position = Position { contender, made: so_far.made, left_over };
        host.before = so_far_in_short(&so_far);
        self.chosen(host, &position, &ask)
    }
}

/// For the line of the run that is to come.
fn so_far_in_short(contended: &Contended) -> String {
    if contended.trials.is_empty() {
        return String::new();
    }
    format!("{}, ", so_far(&contended.answer(SearchEnd::Stopped)))
}

/// As long as it takes to answer what was cut off at the end of the trial, at the pace of that trial.
fn left_over(trial: &Trial) -> Duration {
    let cut = trial.run.total.failed_by(Failure::Cut) as f64;
    let pace = trial.run.throughput();
    let seconds = if pace > 0.0 { cut / pace } else { 0.0 };
    Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_REST).min(LONGEST_REST)
}
