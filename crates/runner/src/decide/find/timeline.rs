//! Purposes of the trials of a search, and interruptions before them.
//!
//! The step of a trial records its purpose, and the resumptions of the
//! study record the interruptions.

use brunt_model::question::TrialPurpose;
use brunt_model::study::Resumption;
use brunt_model::{Experiment, Run, Trial};

/// Time and recorded purpose of one trial of a search. Instants are in
/// seconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialSpan {
    /// Instant of its beginning.
    pub began: f64,
    /// Instant of its end.
    pub ended: f64,
    /// Recorded purpose; None if the log does not contain it.
    pub stated: Option<TrialPurpose>,
}

impl TrialSpan {
    /// Creates the span of a trial.
    pub fn of(trial: &Trial, experiment: &Experiment) -> Self {
        let run = &trial.run;
        let place = trial.place;
        Self {
            began: run.unix_seconds,
            ended: run.unix_seconds + duration(run),
            stated: experiment.step(place).and_then(|step| step.purpose),
        }
    }
}

/// Duration of a run in seconds, from its first event to its last.
pub fn duration(run: &Run) -> f64 {
    run.finish.as_ref().map_or(run.last_interval_end, |finish| finish.at).seconds()
}

/// Duration in seconds of the interruption before each trial.
pub fn interruptions(spans: &[TrialSpan], resumptions: &[Resumption]) -> Vec<f64> {
    let mut interruptions = Vec::with_capacity(spans.len());
    let mut previous_end = f64::INFINITY;
    for span in spans {
        interruptions.push(interruption(previous_end, span, resumptions));
        previous_end = span.ended;
    }
    interruptions
}

fn interruption(previous_end: f64, span: &TrialSpan, resumptions: &[Resumption]) -> f64 {
    let pause = previous_end..=span.began;
    let last = resumptions.iter().rev().find(|resumption| pause.contains(&resumption.unix_seconds));
    last.map_or(0.0, |last| last.unix_seconds - previous_end)
}

/// Purpose of each trial; None if it follows from the trials before it. If the question
/// changed after a trial, the new search decides about the purpose of the trial, unless
/// it overloaded the server.
pub fn purposes(spans: &[TrialSpan], resumptions: &[Resumption]) -> Vec<Option<TrialPurpose>> {
    let changes = resumptions.iter().filter(|resumption| resumption.question_changed);
    let changed_seconds =
        changes.map(|resumption| resumption.unix_seconds).fold(f64::NEG_INFINITY, f64::max);
    let mut purposes = Vec::with_capacity(spans.len());
    for span in spans {
        let is_reusable = matches!(span.stated, Some(TrialPurpose::Search | TrialPurpose::Confirm));
        purposes.push(span.stated.filter(|_| !(is_reusable && span.began < changed_seconds)));
    }
    purposes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three trials of ten seconds, the second a minute and a half after the first.
    fn spans(stated: Option<TrialPurpose>) -> [TrialSpan; 3] {
        [0.0, 100.0, 111.0].map(|began| TrialSpan { began, ended: began + 10.0, stated })
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
    fn a_stated_short_interruption_counts() {
        assert_eq!(
            interruptions(&spans(Some(TrialPurpose::Search)), &[at(110.5)]),
            [0.0, 0.0, 0.5]
        );
    }

    #[test]
    fn a_stored_purpose_is_used() {
        let stated = [TrialPurpose::Search, TrialPurpose::Confirm, TrialPurpose::Overload];
        let mut spans = spans(None);
        for (span, purpose) in spans.iter_mut().zip(stated) {
            span.stated = Some(purpose);
        }
        assert_eq!(purposes(&spans, &[]), stated.map(Some));
    }

    #[test]
    fn after_changed_objectives_earlier_trials_are_reused_except_overload() {
        let mut spans = spans(Some(TrialPurpose::Confirm));
        spans[0].stated = Some(TrialPurpose::Overload);
        let changed = Resumption { question_changed: true, ..at(110.5) };
        let purposes = purposes(&spans, &[changed]);
        assert_eq!(purposes, [Some(TrialPurpose::Overload), None, Some(TrialPurpose::Confirm)]);
    }
}
