//! The trials of a search, one after the other: what was measured goes to the search, what it asks for becomes a step.
//!
//! Out of scope: the choice itself, and the measuring.

use super::measurer::Measurer;
use super::told::{came_to, going_on, so_far};
use super::trial::trial;
use crate::decide::{SearchProgress, contended, find_of};
use brunt_model::answer::SearchEnd;
use brunt_model::question::{AtCapacity, Between, TrialPurpose};
use brunt_model::{Experiment, Failure, Find, Question, Study, Trial, TrialIndex};
use brunt_rig::{Chooser, Chosen, Turn};
use brunt_search::{NextStep, TrialRequest};
use std::time::Duration;

/// What a server has left of the trial before is waited for as long, at most.
const LONGEST_REST: Duration = Duration::from_secs(20);

/// Chooses the trials of searches.
pub struct Seeker<'a> {
    asked: SearchGoal<'a>,
    /// So many trials in all were told.
    told: usize,
    /// Whose turn it is.
    current: Option<Turn>,
}

/// What is searched for.
enum SearchGoal<'a> {
    /// How much each carries.
    Capacity(&'a Find),
    /// Which carries more: a search for each contender in each repetition, beside the loads that are given.
    Comparison(&'a AtCapacity),
}

impl<'a> Seeker<'a> {
    /// Goes on with a study; None where nothing is searched for.
    pub fn new(question: &'a Question, study: &Study) -> Option<Self> {
        let asked = match question {
            Question::Find(find) => SearchGoal::Capacity(find),
            Question::Compare(compare) => SearchGoal::Comparison(compare.at_capacity.as_ref()?),
            Question::Sweep => return None,
        };
        Some(Self { asked, told: study.trials.len(), current: None })
    }

    fn find(&self, study: &Study, turn: Turn) -> Find {
        match self.asked {
            SearchGoal::Capacity(find) => find.clone(),
            SearchGoal::Comparison(at) => find_of(study, at, turn),
        }
    }

    /// Says what the last trial came to, or where it goes on, and what comes next.
    fn tell(&mut self, host: &Measurer, so_far: &SearchProgress, turn: Turn, next: &NextStep) {
        let fresh = host.study.trials.len() > self.told;
        self.told = host.study.trials.len();
        let answer = so_far.answer(SearchEnd::Stopped);
        let line = match (so_far.trials.last(), answer.trials.last()) {
            (Some(trial), Some(tried)) if fresh => came_to(so_far, trial, tried, &answer),
            (Some(_), _) => going_on(so_far.made, &answer),
            _ => String::new(),
        };
        let next = match next {
            NextStep::Measure(ask) => super::told::next(ask, answer.unit),
            NextStep::Done(end) => end.to_string(),
        };
        let whose = whose(&host.study.experiment, turn);
        host.tell(&if line.is_empty() { format!("{whose}{next}") } else { format!("{whose}{line}; {next}") });
    }

    /// The next of the loads that are given.
    fn given(&self, study: &Study, turn: Turn) -> Option<Chosen> {
        let SearchGoal::Comparison(at) = self.asked else { return None };
        let Turn { repetition, contender } = turn;
        let place = |step| TrialIndex { repetition, contender, step };
        let is_made = |place: &TrialIndex| study.trials.iter().any(|trial| trial.place == *place);
        let place = (1..=at.given).map(place).find(|place| !is_made(place))?;
        let step = study.experiment.step(place)?.clone();
        Some(Chosen { place, number: place.step, step, before: at.find.between })
    }
}

/// What the search asks for, as a trial.
fn chosen(host: &mut Measurer, so_far: &SearchPosition, ask: &TrialRequest) -> Option<Chosen> {
    let Turn { repetition, contender } = so_far.turn;
    let pattern = &host.study.experiment.contenders[contender].steps.first()?.plan;
    let step = trial(pattern, ask, host.machine());
    let index = host.grow(contender, &step);
    let place = TrialIndex { repetition, contender, step: index };
    let before = match (ask.purpose, so_far.between) {
        (TrialPurpose::Recovery, _) => Between::Cool(Duration::ZERO),
        (_, Between::Cool(time)) => Between::Cool(time.max(so_far.left_over)),
        (_, Between::Restart) => Between::Restart,
    };
    Some(Chosen { place, number: so_far.made + 1, step, before })
}

/// Of whom a line speaks, where there are several.
fn whose(experiment: &Experiment, turn: Turn) -> String {
    let name = &experiment.contenders[turn.contender].name;
    match (experiment.contenders.len(), experiment.repetitions) {
        (_, 2..) => format!("{name}, repetition {}: ", turn.repetition + 1),
        (2.., _) => format!("{name}: "),
        _ => String::new(),
    }
}

/// How far a search has come.
struct SearchPosition {
    turn: Turn,
    /// What is done between two trials.
    between: Between,
    /// Trials that were made.
    made: usize,
    /// How long the server will be at work with what the last of them left.
    left_over: Duration,
}

impl Chooser<Measurer<'_>> for Seeker<'_> {
    fn next(&mut self, host: &mut Measurer, turn: Turn) -> Option<Chosen> {
        if let Some(given) = self.given(&host.study, turn) {
            host.before.clear();
            return Some(given);
        }
        let find = self.find(&host.study, turn);
        let so_far = contended(&host.study, &find, turn)?;
        let next = so_far.next();
        let first_look = self.current.replace(turn) != Some(turn);
        if !first_look || !so_far.trials.is_empty() || matches!(next, NextStep::Measure(_)) {
            self.tell(host, &so_far, turn, &next);
        }
        let NextStep::Measure(ask) = next else { return None };
        let left_over = so_far.trials.last().map_or(Duration::ZERO, |trial| left_over(trial));
        let position = SearchPosition { turn, between: find.between, made: so_far.made, left_over };
        host.before = so_far_in_short(&so_far);
        chosen(host, &position, &ask)
    }
}

/// For the line of the run that is to come.
fn so_far_in_short(contended: &SearchProgress) -> String {
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
