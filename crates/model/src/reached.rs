//! Determines which objectives runs reached: the facts behind exit codes, `JUnit`
//! cases and the summary.

use crate::finding::State;
use crate::text::{Text, Value};
use crate::{Objective, Run, Study, text};

/// Kind of replies that a run received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplyKind {
    /// No complete reply: nothing was measured.
    None,
    /// Complete replies, all of them errors by status or by a check.
    NoneGood,
    /// At least one good reply was received.
    SomeGood,
}

impl Run {
    /// Returns the kind of replies that were received in the measured time.
    pub fn replies(&self) -> ReplyKind {
        match (self.total.completed, self.total.good) {
            (0, _) => ReplyKind::None,
            (_, 0) => ReplyKind::NoneGood,
            _ => ReplyKind::SomeGood,
        }
    }

    /// Lists the failures with their counts, the most frequent first: `5 × connection refused`. Where
    /// the causes of a failure are known, it lists these. Empty if no request failed.
    pub fn failure_summary(&self) -> Text {
        let mut failures: Vec<(u64, Text)> = Vec::new();
        for failure in crate::Failure::all() {
            let malformed = self.total.malformed.iter();
            let mut unexplained = self.total.failed_by(failure);
            for (cause, count) in malformed.filter(|(cause, _)| cause.failure() == failure) {
                unexplained = unexplained.saturating_sub(*count);
                failures.push((*count, cause.text()));
            }
            let row = failure.row();
            // A status is its own description.
            let text = if failure.status().is_some() { &row.name } else { &row.meaning };
            failures.push((unexplained, text.clone()));
        }
        failures.retain(|(count, _)| *count > 0);
        // Stable, so equal counts stay in the order of the table.
        failures.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let failures = failures
            .into_iter()
            .map(|(n, failure)| text!("times-failure", count = n.to_string(), failure));
        text!("words", words = Value::Words(failures.collect()))
    }
}

impl Study {
    /// Returns the replies of a contender's best trial; None if it has no trial.
    pub fn best_replies(&self, contender: usize) -> Option<ReplyKind> {
        self.trials_of(contender).map(|trial| trial.run.replies()).max()
    }

    /// Returns the objectives that no trial of a contender met.
    pub fn unmet(&self, contender: usize) -> Vec<&Objective> {
        let first = self.trials_of(contender).next().and_then(|trial| trial.run.plan.as_ref());
        let objectives = first.map_or(&[][..], |plan| &plan.objectives);
        objectives
            .iter()
            .filter(|o| !self.trials_of(contender).any(|trial| o.judge(&trial.run).met))
            .collect()
    }

    /// True if no trial of the study received a reply: nothing was measured.
    pub fn has_no_reply(&self) -> bool {
        self.trials.iter().all(|trial| trial.run.replies() == ReplyKind::None)
    }

    /// Number of trials with a failed consistency check.
    pub fn invalid_trials(&self) -> usize {
        self.trials.iter().filter(|trial| trial.judgement.verdict.state == State::Invalid).count()
    }
}
