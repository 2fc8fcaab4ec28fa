//! What each trial of a search was used for, and for how long the search was interrupted before it.
//!
//! Both are stated: the purpose by the step of the trial, an interruption by the study's resumptions. Of a trial that an earlier
//! version made, whose step states no purpose, both are inferred: its search cut off nothing but the overload without grace,
//! and no other pause between two trials took longer than a minute.

use brunt_model::question::TrialPurpose;
use brunt_model::study::Resumption;
use brunt_model::{Experiment, Run, Trial};

/// In a search of an earlier version, a longer time between two trials was an interruption.
const LONGEST_PAUSE_SECONDS: f64 = 60.0;

/// One trial of a search: when it was made, and what is stated of it. Instants in seconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Its beginning.
    pub began: f64,
    /// Its end.
    pub ended: f64,
    /// Its purpose; None where the log does not state it.
    pub stated: Option<TrialPurpose>,
    /// Whether requests under way at its end were cut off, though the pattern of the search has a grace period.
    pub cut_off: bool,
}

impl Span {
    /// That of a trial of an experiment.
    pub fn of(trial: &Trial, experiment: &Experiment) -> Self {
        let (run, place) = (&trial.run, trial.place);
        let pattern = experiment.contenders.get(place.contender).and_then(|contender| contender.steps.first());
        let has_grace = pattern.is_some_and(|pattern| !pattern.plan.main().stop.grace.is_zero());
        Self {
            began: run.unix_seconds,
            ended: run.unix_seconds + lasted(run),
            stated: experiment.step(place).and_then(|step| step.purpose),
            cut_off: has_grace && run.plan.as_ref().is_some_and(|plan| plan.main().stop.grace.is_zero()),
        }
    }
}

/// Seconds from the first event of a run to its last.
pub fn lasted(run: &Run) -> f64 {
    run.finish.as_ref().map_or(run.seen_to, |finish| finish.at).0 as f64 / 1e9
}

/// For each trial, for how many seconds the search was interrupted between the trial before and this one.
pub fn interruptions(spans: &[Span], resumptions: &[Resumption]) -> Vec<f64> {
    let before = |index: usize| index.checked_sub(1).map_or(f64::INFINITY, |before| spans[before].ended);
    let each = spans.iter().enumerate().map(|(index, span)| interruption(before(index), span, resumptions));
    each.collect()
}

fn interruption(ended: f64, span: &Span, resumptions: &[Resumption]) -> f64 {
    let within = |resumption: &&Resumption| (ended..=span.began).contains(&resumption.unix_seconds);
    let pause = span.began - ended;
    match resumptions.iter().rev().find(within) {
        Some(last) => last.unix_seconds - ended,
        None if span.stated.is_none() && pause > LONGEST_PAUSE_SECONDS => pause,
        None => 0.0,
    }
}

/// What each trial was used for; None where that follows from the trials before it. If the question changed since a trial, the
/// search for the new one decides what use it has of the trial, unless the server was overloaded.
pub fn purposes(spans: &[Span], resumptions: &[Resumption]) -> Vec<Option<TrialPurpose>> {
    let changes = resumptions.iter().filter(|resumption| resumption.question_changed);
    let changed = changes.map(|resumption| resumption.unix_seconds).fold(f64::NEG_INFINITY, f64::max);
    let purpose = |index: usize| {
        let span = &spans[index];
        match span.stated {
            Some(TrialPurpose::Search | TrialPurpose::Confirm) if span.began < changed => None,
            None => inferred(spans, index),
            stated => stated,
        }
    };
    (0..spans.len()).map(purpose).collect()
}

fn inferred(spans: &[Span], index: usize) -> Option<TrialPurpose> {
    match index {
        _ if spans[index].cut_off => Some(TrialPurpose::Overload),
        0 => None,
        _ => spans[index - 1].cut_off.then_some(TrialPurpose::Recovery),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three trials of ten seconds, the second a minute and a half after the first.
    fn spans(stated: Option<TrialPurpose>) -> [Span; 3] {
        [0.0, 100.0, 111.0].map(|began| Span { began, ended: began + 10.0, stated, cut_off: false })
    }

    fn at(unix_seconds: f64) -> Resumption {
        Resumption { unix_seconds, question_changed: false }
    }

    #[test]
    fn a_long_pause_between_trials_is_no_interruption_unless_one_is_stated() {
        let stated = spans(Some(TrialPurpose::Search));
        assert_eq!(interruptions(&stated, &[]), [0.0; 3]);
        assert_eq!(interruptions(&stated, &[at(95.0)]), [0.0, 85.0, 0.0]);
        assert_eq!(interruptions(&stated, &[at(50.0), at(95.0)]), [0.0, 85.0, 0.0]);
    }

    #[test]
    fn a_short_interruption_counts_where_it_is_stated() {
        assert_eq!(interruptions(&spans(Some(TrialPurpose::Search)), &[at(110.5)]), [0.0, 0.0, 0.5]);
    }

    #[test]
    fn of_an_earlier_version_a_pause_of_more_than_a_minute_was_an_interruption() {
        assert_eq!(interruptions(&spans(None), &[]), [0.0, 90.0, 0.0]);
        assert_eq!(interruptions(&spans(None), &[at(95.0)]), [0.0, 85.0, 0.0]);
    }

    #[test]
    fn a_stated_purpose_stands_whatever_the_grace_period_is() {
        let stated = [TrialPurpose::Search, TrialPurpose::Confirm, TrialPurpose::Overload];
        let mut spans = spans(None);
        for (span, purpose) in spans.iter_mut().zip(stated) {
            (span.stated, span.cut_off) = (Some(purpose), purpose != TrialPurpose::Overload);
        }
        assert_eq!(purposes(&spans, &[]), stated.map(Some));
    }

    #[test]
    fn of_an_earlier_version_the_trial_without_grace_was_the_overload() {
        let mut spans = spans(None);
        spans[1].cut_off = true;
        assert_eq!(purposes(&spans, &[]), [None, Some(TrialPurpose::Overload), Some(TrialPurpose::Recovery)]);
    }

    #[test]
    fn after_a_change_of_the_question_earlier_trials_are_put_to_new_use_but_the_overload() {
        let mut spans = spans(Some(TrialPurpose::Confirm));
        spans[0].stated = Some(TrialPurpose::Overload);
        let changed = Resumption { question_changed: true, ..at(110.5) };
        let purposes = purposes(&spans, &[changed]);
        assert_eq!(purposes, [Some(TrialPurpose::Overload), None, Some(TrialPurpose::Confirm)]);
    }
}
