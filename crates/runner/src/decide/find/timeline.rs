//! What each trial of a search was used for, and for how long the search was interrupted before it.
//!
//! The step of a trial states its purpose, and the study's resumptions state the interruptions.

use brunt_model::question::TrialPurpose;
use brunt_model::study::Resumption;
use brunt_model::{Experiment, Run, Trial};

/// One trial of a search: when it was made, and what is stated of it. Instants in seconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Its beginning.
    pub began: f64,
    /// Its end.
    pub ended: f64,
    /// Its purpose; None where the log does not state it.
    pub stated: Option<TrialPurpose>,
}

impl Span {
    /// That of a trial of an experiment.
    pub fn of(trial: &Trial, experiment: &Experiment) -> Self {
        let (run, place) = (&trial.run, trial.place);
        Self {
            began: run.unix_seconds,
            ended: run.unix_seconds + lasted(run),
            stated: experiment.step(place).and_then(|step| step.purpose),
        }
    }
}

/// Seconds from the first event of a run to its last.
pub fn lasted(run: &Run) -> f64 {
    run.finish.as_ref().map_or(run.seen_to, |finish| finish.at).seconds()
}

/// For each trial, for how many seconds the search was interrupted between the trial before and this one.
pub fn interruptions(spans: &[Span], resumptions: &[Resumption]) -> Vec<f64> {
    let before = |index: usize| index.checked_sub(1).map_or(f64::INFINITY, |before| spans[before].ended);
    let each = spans.iter().enumerate().map(|(index, span)| interruption(before(index), span, resumptions));
    each.collect()
}

fn interruption(ended: f64, span: &Span, resumptions: &[Resumption]) -> f64 {
    let within = |resumption: &&Resumption| (ended..=span.began).contains(&resumption.unix_seconds);
    resumptions.iter().rev().find(within).map_or(0.0, |last| last.unix_seconds - ended)
}

/// What each trial was used for; None where that follows from the trials before it. If the question changed since a trial, the
/// search for the new one decides what use it has of the trial, unless the server was overloaded.
pub fn purposes(spans: &[Span], resumptions: &[Resumption]) -> Vec<Option<TrialPurpose>> {
    let changes = resumptions.iter().filter(|resumption| resumption.question_changed);
    let changed = changes.map(|resumption| resumption.unix_seconds).fold(f64::NEG_INFINITY, f64::max);
    let reusable =
        |span: &Span| span.began < changed && matches!(span.stated, Some(TrialPurpose::Search | TrialPurpose::Confirm));
    spans.iter().map(|span| span.stated.filter(|_| !reusable(span))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three trials of ten seconds, the second a minute and a half after the first.
    fn spans(stated: Option<TrialPurpose>) -> [Span; 3] {
        [0.0, 100.0, 111.0].map(|began| Span { began, ended: began + 10.0, stated })
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
    fn a_stated_purpose_stands() {
        let stated = [TrialPurpose::Search, TrialPurpose::Confirm, TrialPurpose::Overload];
        let mut spans = spans(None);
        for (span, purpose) in spans.iter_mut().zip(stated) {
            span.stated = Some(purpose);
        }
        assert_eq!(purposes(&spans, &[]), stated.map(Some));
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
