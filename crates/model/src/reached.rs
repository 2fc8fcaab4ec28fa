//! Whether runs brought what was asked of them: the facts behind exit codes, `JUnit` cases and the summary.
//!
//! Out of scope: an exit code. Which state has which code is the command's table (docs/exit-codes.md).

use crate::finding::State;
use crate::{Objective, Run, Study};

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Replies {
    /// Not one whole reply: nothing was measured.
    None,
    /// Replies came, and each was an error by its status or by a check.
    NoneGood,
    /// At least one good reply.
    SomeGood,
}

impl Run {
    /// What came back in the measured time.
    pub fn replies(&self) -> Replies {
        match (self.total.completed, self.total.good) {
            (0, _) => Replies::None,
            (_, 0) => Replies::NoneGood,
            _ => Replies::SomeGood,
        }
    }

    /// How requests failed, with their numbers, the most frequent first: `5 connection refused`. Empty where none was begun.
    pub fn failures_told(&self) -> String {
        let mut failed: Vec<(u64, &str)> =
            crate::Failure::all().map(|f| (self.total.failed_by(f), f.row().meaning)).filter(|f| f.0 > 0).collect();
        failed.sort_by_key(|f| std::cmp::Reverse(f.0));
        failed.into_iter().map(|(n, meaning)| format!("{n} × {meaning}")).collect::<Vec<_>>().join(", ")
    }
}

impl Study {
    /// What came back to a contender in its best trial; None where it has no trial.
    pub fn best_replies(&self, contender: usize) -> Option<Replies> {
        self.of(contender).map(|trial| trial.run.replies()).max()
    }

    /// The objectives that a contender met in none of its trials.
    pub fn unmet(&self, contender: usize) -> Vec<&Objective> {
        let first = self.of(contender).next().and_then(|trial| trial.run.plan.as_ref());
        let objectives = first.map_or(&[][..], |plan| &plan.objectives);
        objectives.iter().filter(|o| !self.of(contender).any(|trial| o.judge(&trial.run).met)).collect()
    }

    /// Whether all that is known of a contender's trials is that no reply came: nothing was measured.
    pub fn measured_nothing(&self) -> bool {
        self.trials.iter().all(|trial| trial.run.replies() == Replies::None)
    }

    /// How many trials have a broken sum.
    pub fn invalid(&self) -> usize {
        self.trials.iter().filter(|trial| trial.judgement.verdict.state == State::Invalid).count()
    }
}
