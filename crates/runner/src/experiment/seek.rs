//! The trials of a search, one after the other: passes results to the search, and turns
//! its requests into steps.
//!
//! Out of scope: the choice of loads, and the measurement.

use super::measurer::Measurer;
use super::messages::{current_result, next_line, resumption_line, trial_line};
use super::trial::trial;
use crate::decide::{SearchProgress, find_of, search_progress};
use brunt_model::answer::SearchEnd;
use brunt_model::question::{AtCapacity, TrialGap, TrialPurpose};
use brunt_model::{CapacitySearch, Experiment, Failure, Question, Study, Trial, TrialIndex};
use brunt_rig::{Chooser, ChosenTrial, ContenderTurn};
use brunt_search::{NextStep, TrialRequest};
use std::time::Duration;

/// Maximum time to wait for the work that the previous trial left on the server.
const MAX_REST: Duration = Duration::from_secs(20);

/// Chooses the trials of searches.
pub struct Seeker<'a> {
    goal: SearchGoal<'a>,
    /// Number of trials that were reported.
    reported: usize,
    /// Turn of the last call.
    current: Option<ContenderTurn>,
}

/// Question that the searches answer.
enum SearchGoal<'a> {
    /// The capacity of each contender.
    Capacity(&'a CapacitySearch),
    /// Which contender has the higher capacity: one search for each contender in each repetition,
    /// in addition to given loads.
    Comparison(&'a AtCapacity),
}

impl<'a> Seeker<'a> {
    /// Continues a study; None without a search.
    pub fn new(question: &'a Question, study: &Study) -> Option<Self> {
        let goal = match question {
            Question::Find(find) => SearchGoal::Capacity(find),
            Question::Compare(compare) => SearchGoal::Comparison(compare.at_capacity.as_ref()?),
            Question::Sweep => return None,
        };
        // Trials of a resumed study were reported when they were made.
        Some(Self { goal, reported: study.trials.len(), current: None })
    }

    fn find(&self, study: &Study, turn: ContenderTurn) -> CapacitySearch {
        match self.goal {
            SearchGoal::Capacity(find) => find.clone(),
            SearchGoal::Comparison(at) => find_of(study, at, turn),
        }
    }

    /// Reports the result of the last trial, or the state of a resumed search, and the next step.
    fn report(
        &mut self,
        host: &Measurer,
        progress: &SearchProgress,
        turn: ContenderTurn,
        next: &NextStep,
    ) {
        let is_new = host.study.trials.len() > self.reported;
        self.reported = host.study.trials.len();
        let answer = progress.answer(SearchEnd::Stopped);
        let line = match (progress.trials.last(), answer.trials.last()) {
            (Some(trial), Some(search_trial)) if is_new => {
                trial_line(progress, trial, search_trial, &answer)
            }
            (Some(_), _) => resumption_line(progress.trial_count, &answer),
            _ => String::new(),
        };
        let next = match next {
            NextStep::Measure(request) => next_line(request, answer.unit),
            NextStep::Done(end) => end.to_string(),
        };
        let prefix = line_prefix(&host.study.experiment, turn);
        host.tell(&if line.is_empty() {
            format!("{prefix}{next}")
        } else {
            format!("{prefix}{line}; {next}")
        });
    }

    /// The next given load that was not measured yet.
    fn given_load(&self, study: &Study, turn: ContenderTurn) -> Option<ChosenTrial> {
        let SearchGoal::Comparison(at) = self.goal else { return None };
        let ContenderTurn { repetition, contender } = turn;
        let mut places = (1..=at.given).map(|step| TrialIndex { repetition, contender, step });
        let place = places.find(|place| study.trials.iter().all(|trial| trial.place != *place))?;
        let step = study.experiment.step(place)?.clone();
        Some(ChosenTrial { place, number: place.step, step, before: at.find.between })
    }
}

/// Adds the trial that the search requests as a step.
fn add_trial(
    host: &mut Measurer,
    position: &SearchPosition,
    request: &TrialRequest,
) -> Option<ChosenTrial> {
    let ContenderTurn { repetition, contender } = position.turn;
    let pattern = &host.study.experiment.contenders[contender].steps.first()?.plan;
    let step = trial(pattern, request, host.machine());
    let index = host.grow(contender, &step);
    let place = TrialIndex { repetition, contender, step: index };
    let before = match (request.purpose, position.between) {
        // The recovery is measured from the end of the overload on.
        (TrialPurpose::Recovery, _) => TrialGap::Cool(Duration::ZERO),
        (_, TrialGap::Cool(time)) => TrialGap::Cool(time.max(position.left_over)),
        // A restart discards the unfinished work of the previous trial.
        (_, TrialGap::Restart) => TrialGap::Restart,
    };
    Some(ChosenTrial { place, number: position.made + 1, step, before })
}

/// Contender and repetition at the start of a line, if there are several.
fn line_prefix(experiment: &Experiment, turn: ContenderTurn) -> String {
    let name = &experiment.contenders[turn.contender].name;
    match (experiment.contenders.len(), experiment.repetitions) {
        (_, 2..) => format!("{name}, repetition {}: ", turn.repetition + 1),
        (2.., _) => format!("{name}: "),
        _ => String::new(),
    }
}

/// State of a search.
struct SearchPosition {
    turn: ContenderTurn,
    /// Pause or restart between two trials.
    between: TrialGap,
    /// Number of trials so far.
    made: usize,
    /// Time that the server needs for the unfinished work of the last trial.
    left_over: Duration,
}

impl Chooser<Measurer<'_>> for Seeker<'_> {
    fn next(&mut self, host: &mut Measurer, turn: ContenderTurn) -> Option<ChosenTrial> {
        if let Some(given_load) = self.given_load(&host.study, turn) {
            host.title_prefix.clear();
            return Some(given_load);
        }
        let find = self.find(&host.study, turn);
        let progress = search_progress(&host.study, &find, turn)?;
        let next = progress.next();
        let is_first_call = self.current.replace(turn) != Some(turn);
        if !is_first_call || !progress.trials.is_empty() || matches!(next, NextStep::Measure(_)) {
            self.report(host, &progress, turn, &next);
        }
        let NextStep::Measure(request) = next else { return None };
        let left_over = progress.trials.last().map_or(Duration::ZERO, |trial| left_over(trial));
        let position =
            SearchPosition { turn, between: find.between, made: progress.trial_count, left_over };
        host.title_prefix = title_prefix(&progress);
        add_trial(host, &position, &request)
    }
}

/// Result so far, for the title of the next run.
fn title_prefix(progress: &SearchProgress) -> String {
    if progress.trials.is_empty() {
        return String::new();
    }
    format!("{}, ", current_result(&progress.answer(SearchEnd::Stopped)))
}

/// Time to complete the requests that were cut at the end of the trial, at the
/// throughput of that trial.
fn left_over(trial: &Trial) -> Duration {
    let cut = trial.run.total.failed_by(Failure::Cut) as f64;
    let throughput = trial.run.throughput();
    let seconds = if throughput > 0.0 { cut / throughput } else { 0.0 };
    // A throughput near 0 would give a rest of hours.
    Duration::try_from_secs_f64(seconds).unwrap_or(MAX_REST).min(MAX_REST)
}
