//! The history of a figure: its level over comparable runs, and the runs at which the level changed.
//!
//! All runs with a valid figure count. A selection by verdict would be a selection by result: a slow
//! server also makes the generator late.

use crate::compare::{ContenderFacts, different_facts};
use brunt_model::finding::State;
use brunt_model::run_history::{
    ChangeSearch, ChangedFact, Exclusion, HistoryChange, HistoryEntry, HistoryMeasure,
    HistorySegment, MeasuredFigure, RelativeSize, RunHistory,
};
use brunt_model::time::seconds_of;
use brunt_model::{CapacityResult, Judgement, Run};
use brunt_stats::Quantile;
use brunt_stats::changes::{
    ChangePoints, MIN_ESTIMATED, MIN_VALUES, change_points, relative_change,
};
use brunt_stats::order::median_ranks;
use brunt_stats::robust::median;
use std::ops::Range;

/// Probability of any change point in a history without a change.
pub const LEVEL: f64 = 0.05;

/// Number of runs on each side of a change point within which facts are compared: its place may be
/// wrong by this many runs.
const NEAR_RUNS: usize = 2;

/// A run of a history, with the facts that may explain a change.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRun {
    /// The run as it is shown.
    pub entry: HistoryEntry,
    /// Facts about the generator's machine, the server and the plan.
    pub facts: ContenderFacts,
}

/// Returns a figure of a run; None if it has none. The capacity is not a figure of a single run.
pub fn figure_of(
    run: &Run,
    judgement: &Judgement,
    measure: HistoryMeasure,
) -> Option<MeasuredFigure> {
    let response = |q: f64| percentile(run, judgement, q);
    let service = |q: f64| {
        let histogram = &run.total.service;
        let seconds = seconds_of(histogram.quantile(q));
        (!histogram.is_empty())
            .then(|| MeasuredFigure { value: seconds, ..MeasuredFigure::default() })
    };
    match measure {
        HistoryMeasure::Capacity => None,
        HistoryMeasure::Throughput => throughput(run, judgement),
        HistoryMeasure::P50 => response(0.5),
        HistoryMeasure::P95 => response(0.95),
        HistoryMeasure::P99 => response(0.99),
        HistoryMeasure::ServiceP50 => service(0.5),
        HistoryMeasure::ServiceP99 => service(0.99),
        HistoryMeasure::Errors => (run.total.attempted() > 0).then(|| MeasuredFigure {
            value: run.total.error_share(),
            ..MeasuredFigure::default()
        }),
    }
}

fn percentile(run: &Run, judgement: &Judgement, q: f64) -> Option<MeasuredFigure> {
    if run.total.response.is_empty() {
        return None;
    }
    let Quantile { value, at_least } = run.total.response_quantile(q);
    let estimate = judgement.intervals.iter().find(|interval| interval.quantile == q);
    let estimate = estimate.and_then(|interval| interval.estimate).filter(|_| !at_least);
    Some(MeasuredFigure {
        value: seconds_of(value),
        low: estimate.map(|estimate| estimate.low),
        high: estimate.and_then(|estimate| estimate.high),
        is_lower_bound: at_least,
    })
}

fn throughput(run: &Run, judgement: &Judgement) -> Option<MeasuredFigure> {
    let value = run.throughput();
    let interval = judgement.throughput;
    (value > 0.0).then(|| MeasuredFigure {
        value,
        low: interval.map(|interval| interval.low),
        high: interval.and_then(|interval| interval.high),
        is_lower_bound: false,
    })
}

/// Returns the first capacity of a search; None if no bound of it is known.
pub fn capacity_of(result: &CapacityResult) -> Option<MeasuredFigure> {
    let at = result.capacities.first()?.at;
    let is_lower_bound = at.value.is_none();
    let value = at.value.or(at.low)?;
    Some(MeasuredFigure { value, low: at.low, high: at.high, is_lower_bound })
}

/// Returns why a run is not counted; None if it is.
pub fn exclusion(entry: &HistoryEntry) -> Option<Exclusion> {
    match entry.verdict {
        Some(State::Invalid) => Some(Exclusion::Invalid),
        _ => entry.figure.is_none().then_some(Exclusion::NoFigure),
    }
}

/// Finds the change points of a figure over runs, the oldest first.
pub fn history(measure: HistoryMeasure, runs: &[HistoryRun]) -> RunHistory {
    let counted: Vec<&HistoryRun> =
        runs.iter().filter(|run| run.entry.counted().is_some()).collect();
    let figures: Vec<MeasuredFigure> =
        counted.iter().filter_map(|run| run.entry.counted()).collect();
    let found = change_points(&values_or_scores(&figures), LEVEL);
    let search = if found.is_some() { ChangeSearch::Searched } else { ChangeSearch::TooFewRuns };
    let autocorrelation = found
        .as_ref()
        .filter(|_| figures.len() >= MIN_ESTIMATED)
        .map(|found| found.autocorrelation);
    // Also without a search, the level of all runs is shown.
    let found = found.unwrap_or(ChangePoints { points: Vec::new(), autocorrelation: 0.0 });
    let mut bounds = vec![0];
    bounds.extend(found.points.iter().map(|point| point.index));
    bounds.push(figures.len());
    let ranges: Vec<Range<usize>> =
        bounds.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect();
    let segments: Vec<HistorySegment> =
        ranges.iter().map(|range| segment(&counted[range.clone()])).collect();
    let changes = found.points.iter().enumerate().map(|(number, point)| {
        let sides = [number, number + 1].map(|side| exact_values(&figures[ranges[side].clone()]));
        let relative = match sides {
            [Some(before), Some(after)] => relative_change(&before, &after, found.autocorrelation),
            _ => None,
        };
        HistoryChange {
            before_id: counted[point.index - 1].entry.id.clone(),
            after_id: counted[point.index].entry.id.clone(),
            unix_seconds: counted[point.index].entry.started_unix_seconds,
            before: segments[number].level,
            after: segments[number + 1].level,
            relative: relative.map(|change| RelativeSize {
                value: change.value,
                low: change.low,
                high: change.high,
            }),
            p: point.p,
            facts: changed_facts(&counted, point.index),
        }
    });
    RunHistory {
        measure,
        changes: changes.collect(),
        segments,
        entries: runs.iter().map(|run| run.entry.clone()).collect(),
        search,
        runs_needed: MIN_VALUES,
        level: LEVEL,
        autocorrelation,
    }
}

/// Returns numbers in the order of the figures: their values, or if some are lower bounds, their scores
/// (Gehan, Biometrika 52, 1965). The score of a figure is the number of figures that are certainly smaller, minus
/// those that are certainly larger. A figure that may be above a lower bound is neither.
fn values_or_scores(figures: &[MeasuredFigure]) -> Vec<f64> {
    exact_values(figures)
        .unwrap_or_else(|| figures.iter().map(|figure| score(figure, figures)).collect())
}

fn score(figure: &MeasuredFigure, all: &[MeasuredFigure]) -> f64 {
    let smaller = all.iter().filter(|other| is_certainly_above(figure, other)).count();
    let larger = all.iter().filter(|other| is_certainly_above(other, figure)).count();
    smaller as f64 - larger as f64
}

fn is_certainly_above(a: &MeasuredFigure, b: &MeasuredFigure) -> bool {
    a.value > b.value && !b.is_lower_bound
}

/// Returns the values of figures; None if one is a lower bound.
fn exact_values(figures: &[MeasuredFigure]) -> Option<Vec<f64>> {
    figures.iter().map(|figure| (!figure.is_lower_bound).then_some(figure.value)).collect()
}

fn segment(runs: &[&HistoryRun]) -> HistorySegment {
    let mut figures: Vec<MeasuredFigure> =
        runs.iter().filter_map(|run| run.entry.counted()).collect();
    figures.sort_by(|a, b| a.value.total_cmp(&b.value));
    let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
    let value = median(&values).unwrap_or_default();
    // The true value of a run may be above its bound. That moves a rank up if the bound is not above it.
    let is_bounded =
        |limit: f64| figures.iter().any(|figure| figure.is_lower_bound && figure.value <= limit);
    let ranks = median_ranks(values.len());
    let id = |run: Option<&&HistoryRun>| run.map(|run| run.entry.id.clone()).unwrap_or_default();
    HistorySegment {
        first_id: id(runs.first()),
        last_id: id(runs.last()),
        runs: runs.len(),
        doubtful_runs: runs.iter().filter(|run| is_doubtful(&run.entry)).count(),
        level: MeasuredFigure {
            value,
            low: ranks.map(|(low, _)| values[low - 1]),
            high: ranks.map(|(_, high)| values[high - 1]).filter(|high| !is_bounded(*high)),
            is_lower_bound: is_bounded(value),
        },
    }
}

fn is_doubtful(entry: &HistoryEntry) -> bool {
    entry.verdict.is_some_and(|verdict| verdict != State::Ok)
}

/// Returns the facts that differ between successive runs near a change, those at the change first.
fn changed_facts(runs: &[&HistoryRun], index: usize) -> Vec<ChangedFact> {
    let first = index.saturating_sub(NEAR_RUNS).max(1);
    let last = (index + NEAR_RUNS).min(runs.len() - 1);
    let mut places: Vec<usize> = (first..=last).collect();
    // A fact that changed at the change point itself is the likeliest cause.
    places.sort_by_key(|place| place.abs_diff(index));
    let mut facts = Vec::new();
    for place in places {
        let sides = [runs[place - 1].facts.clone(), runs[place].facts.clone()];
        for fact in different_facts(&sides) {
            // A fact that one side does not know is no change.
            if let [Some(before), Some(after)] = &fact.values[..] {
                facts.push(ChangedFact {
                    before_id: runs[place - 1].entry.id.clone(),
                    after_id: runs[place].entry.id.clone(),
                    subject: fact.subject.name().to_owned(),
                    name: fact.name,
                    before: before.clone(),
                    after: after.clone(),
                });
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Subject;

    fn run(number: usize, value: Option<f64>, kernel: &str) -> HistoryRun {
        let figure = value.map(|value| MeasuredFigure { value, ..MeasuredFigure::default() });
        let mut entry = HistoryEntry {
            id: format!("r{number}"),
            started_unix_seconds: 86_400.0 * number as f64,
            figure,
            verdict: Some(State::Ok),
            is_interrupted: false,
            is_from_index: false,
            exclusion: None,
            tags: Vec::new(),
        };
        entry.exclusion = exclusion(&entry);
        let facts = ContenderFacts::new(&entry.id).with(Subject::Environment, "kernel", kernel);
        HistoryRun { entry, facts }
    }

    /// Ten runs near 10 ms, then ten near 12 ms; the kernel changes one run after the figure.
    fn slower() -> Vec<HistoryRun> {
        let noise = [0.1, -0.2, 0.15, 0.05, -0.1, 0.2, -0.15, 0.0, 0.12, -0.07];
        let runs = (0..20).map(|number| {
            let level = if number < 10 { 10.0 } else { 12.0 };
            let kernel = if number < 11 { "6.1" } else { "6.6" };
            run(number, Some((level + noise[number % 10]) * 1e-3), kernel)
        });
        runs.collect()
    }

    #[test]
    fn a_change_has_its_runs_its_size_and_the_facts_that_changed_near_it() {
        let history = history(HistoryMeasure::P99, &slower());
        let [change] = &history.changes[..] else { panic!("{:?}", history.changes) };
        assert_eq!((change.before_id.as_str(), change.after_id.as_str()), ("r9", "r10"));
        let relative = change.relative.unwrap();
        assert!((relative.value - 0.2).abs() < 0.02 && relative.low.unwrap() > 0.15);
        assert!(change.p <= LEVEL);
        let [fact] = &change.facts[..] else { panic!("{:?}", change.facts) };
        assert_eq!((fact.after_id.as_str(), fact.name.as_str()), ("r11", "kernel"));
        assert_eq!(history.segments.iter().map(|s| s.runs).collect::<Vec<_>>(), [10, 10]);
        assert!(history.segments[0].level.low.unwrap() < history.segments[0].level.value);
        assert!(history.autocorrelation.is_some());
    }

    #[test]
    fn invalid_runs_are_listed_and_not_counted() {
        let mut runs = slower();
        for wrong in &mut runs[3..6] {
            wrong.entry.verdict = Some(State::Invalid);
            wrong.entry.figure = Some(MeasuredFigure { value: 9.0, ..MeasuredFigure::default() });
            wrong.entry.exclusion = exclusion(&wrong.entry);
        }
        runs[12].entry.verdict = Some(State::Limited);
        let history = history(HistoryMeasure::P99, &runs);
        assert_eq!(history.entries.len(), 20);
        let segments: Vec<_> = history.segments.iter().map(|s| (s.runs, s.doubtful_runs)).collect();
        assert_eq!(segments, [(7, 0), (10, 1)]);
    }

    /// Returns the history after all runs within a range became lower bounds.
    fn with_bounds(mut runs: Vec<HistoryRun>, bounded: Range<usize>) -> RunHistory {
        for run in &mut runs[bounded] {
            run.entry.figure.as_mut().unwrap().is_lower_bound = true;
        }
        history(HistoryMeasure::P99, &runs)
    }

    #[test]
    fn a_bound_that_may_be_above_the_other_values_proves_no_change() {
        // The first ten may be above the last ten.
        let history = with_bounds(slower(), 0..10);
        assert_eq!(history.changes, []);
        assert!(history.segments[0].level.is_lower_bound);
    }

    #[test]
    fn bounds_above_the_other_values_are_a_change_of_unknown_size() {
        let history = with_bounds(slower(), 10..20);
        let [change] = &history.changes[..] else { panic!("{:?}", history.changes) };
        assert_eq!(change.after_id, "r10");
        assert!(!change.before.is_lower_bound && change.after.is_lower_bound);
        assert_eq!((change.relative, change.after.high), (None, None));
        assert!(change.after.low.is_some());
    }

    #[test]
    fn a_bound_above_the_median_leaves_the_level_exact() {
        let mut runs = slower();
        runs.truncate(10);
        // 10.2 ms is the largest of the ten.
        let history = with_bounds(runs, 5..6);
        assert!(!history.segments[0].level.is_lower_bound);
    }

    #[test]
    fn too_few_runs_have_no_answer() {
        let few = history(HistoryMeasure::P99, &slower()[..MIN_VALUES - 1]);
        assert_eq!((few.search, few.changes.len()), (ChangeSearch::TooFewRuns, 0));
        assert_eq!(few.segments.len(), 1);
        let none = history(HistoryMeasure::P99, &[run(0, None, "6.1")]);
        assert_eq!(
            (none.segments.len(), none.entries[0].exclusion),
            (0, Some(Exclusion::NoFigure))
        );
    }
}
