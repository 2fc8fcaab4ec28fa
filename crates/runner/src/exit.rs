//! The exit code of a command: what the figures of a run, an experiment or a comparison come to.

use crate::decide::fulfilled;
use brunt_model::answer::{Capacity, SearchEnd};
use brunt_model::comparison::Better;
use brunt_model::finding::State;
use brunt_model::question::RequirementOutcome;
use brunt_model::reached::Replies;
use brunt_model::{Analysis, Answer, Find, Judgement, Question, Run, Study};
use std::process::ExitCode;

/// What the command's exit code says. Ordered by precedence: where several are true, the last of them in this list is
/// what is said, because it makes the ones before it doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: it was measured, a good reply came, and every objective was met. Single errors of the server are data.
    Measured,
    /// 8: it was measured, and what was to be decided is not: whether a requirement is met, or which contender is better.
    Undecided,
    /// 4: it was measured, and an objective was missed, or not one reply was good.
    ObjectiveMissed,
    /// 9: it was measured, and a contender is worse by more than `--fail-if` allows.
    Worse,
    /// 6: it was measured, but the generator was the limit, and `--strict` was given.
    Limited,
    /// 130: interrupted by Ctrl-C or SIGTERM; what was measured until then was reported.
    Interrupted,
    /// 5: it was measured, but a consistency check failed: discard the figures.
    Invalid,
    /// 3: nothing measured: no reply came.
    NothingMeasured,
    /// 7: a hook, a managed server or setup failed, which stopped the experiment; what was measured until then was reported.
    Halted,
    /// 1: brunt itself failed, for instance because a file could not be written.
    Failed,
    /// 2: the command line, or a file that it names, makes no sense. Nothing was begun.
    Usage,
}

impl Exit {
    /// Every way to end.
    pub const ALL: [Self; 11] = [
        Self::Measured,
        Self::Undecided,
        Self::ObjectiveMissed,
        Self::Worse,
        Self::Limited,
        Self::Interrupted,
        Self::Invalid,
        Self::NothingMeasured,
        Self::Halted,
        Self::Failed,
        Self::Usage,
    ];

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Measured => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NothingMeasured => 3,
            Self::ObjectiveMissed => 4,
            Self::Invalid => 5,
            Self::Limited => 6,
            Self::Halted => 7,
            Self::Undecided => 8,
            Self::Worse => 9,
            Self::Interrupted => 130,
        }
    }

    /// What the number means, for the manual.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Measured => "measured, every objective met",
            Self::Failed => "brunt itself failed",
            Self::Usage => "invalid usage; nothing was started",
            Self::NothingMeasured => "nothing measured: no reply came",
            Self::ObjectiveMissed => "measured, but an objective was missed or no reply was good",
            Self::Invalid => "measured, but a consistency check failed: discard the figures",
            Self::Limited => "measured, but the load generator was the bottleneck (with --strict)",
            Self::Halted => "a hook, managed server or setup failed; what was measured was reported",
            Self::Undecided => "measured, but the question is undecided",
            Self::Worse => "measured, and worse than --fail-if allows",
            Self::Interrupted => "interrupted; what was measured was reported",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Doubts that make brunt fail. In any case they are reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailOn {
    /// A limited generator: `--strict`.
    pub limited: bool,
    /// An undecided comparison: `--require-decision`.
    pub undecided: bool,
}

/// How a run's figures make brunt exit.
pub fn exit_of(run: &Run, judgement: &Judgement, fail_on: FailOn) -> Exit {
    let missed = run.plan.iter().flat_map(|p| &p.objectives).any(|o| !o.judge(run).met);
    let ends = [
        (missed || run.replies() == Replies::NoneGood, Exit::ObjectiveMissed),
        (judgement.verdict.state.is_disturbed() && fail_on.limited, Exit::Limited),
        (judgement.verdict.state == State::Invalid, Exit::Invalid),
        (run.interrupted(), Exit::Interrupted),
        (run.replies() == Replies::None, Exit::NothingMeasured),
    ];
    ends.into_iter().filter(|e| e.0).map(|e| e.1).max().unwrap_or(Exit::Measured)
}

/// The worst state of its trials; but an experiment has trials beyond a server's capacity by design. So an objective
/// counts as missed where a contender met it at no load, and replies as missing, or as bad, where a contender had no better
/// ones in any trial. A failed consistency check counts in whatever trial, but in a comparison that excluded it.
pub fn exit_of_study(study: &Study, analysis: &Analysis, fail_on: FailOn) -> Exit {
    let worst = match &study.experiment.question {
        Question::Find(find) => of_search(analysis, find, fail_on),
        Question::Sweep | Question::Compare(_) => of_trials(study, fail_on),
    };
    let replies = |what| (0..study.experiment.contenders.len()).any(|c| study.best_replies(c) == Some(what));
    let ends = [
        (replies(Replies::NoneGood), Exit::ObjectiveMissed),
        (study.interrupted, Exit::Interrupted),
        (study.invalid() > 0 && !analysis.excludes_invalid_trials(), Exit::Invalid),
        (study.measured_nothing() || replies(Replies::None), Exit::NothingMeasured),
    ];
    ends.into_iter().filter(|end| end.0).map(|end| end.1).fold(worst, Exit::max)
}

/// Of a search it is the answer that counts: trials that miss the objectives, or whose generator was the limit, are in its
/// nature.
fn of_search(analysis: &Analysis, find: &Find, fail_on: FailOn) -> Exit {
    let of = |answer: &Answer| {
        let required = find.require.iter().map(|requirement| match fulfilled(answer, requirement) {
            RequirementOutcome::Met => Exit::Measured,
            RequirementOutcome::Undecided => Exit::Undecided,
            RequirementOutcome::Missed => Exit::ObjectiveMissed,
        });
        let limited = answer.ended == SearchEnd::Generator && fail_on.limited;
        let is_unknown = |capacity: &Capacity| capacity.at.value.is_none() && capacity.at.low.is_none();
        let ends = [
            (answer.ended == SearchEnd::Least, Exit::ObjectiveMissed),
            (answer.capacities.iter().any(is_unknown), Exit::Undecided),
            (limited, Exit::Limited),
        ];
        required.chain(ends.into_iter().filter(|end| end.0).map(|end| end.1)).max().unwrap_or(Exit::Measured)
    };
    analysis.answers.iter().map(of).max().unwrap_or(Exit::Measured)
}

fn of_trials(study: &Study, fail_on: FailOn) -> Exit {
    // Those of searches are short of what was asked by their nature.
    let known_before = study.trials.iter().filter(|trial| !study.experiment.was_chosen(trial.place));
    let of_trials = known_before.map(|trial| exit_of(&trial.run, &trial.judgement, fail_on));
    let own = |exit: &Exit| !matches!(exit, Exit::ObjectiveMissed | Exit::Invalid | Exit::NothingMeasured);
    let unmet = (0..study.experiment.contenders.len()).any(|contender| !study.unmet(contender).is_empty());
    let missed = unmet.then_some(Exit::ObjectiveMissed);
    of_trials.filter(own).chain(missed).max().unwrap_or(Exit::Measured)
}

/// How a comparison makes brunt exit.
pub fn exit_of_comparison(analysis: &Analysis, fail_on: FailOn) -> Exit {
    let Some(comparison) = &analysis.comparison else { return Exit::Measured };
    if !comparison.failed.is_empty() {
        return Exit::Worse;
    }
    let mut deciding = comparison.deciding().peekable();
    let open = deciding.peek().is_none() || deciding.any(|first| first.verdict == Better::Undecided);
    if open && fail_on.undecided { Exit::Undecided } else { Exit::Measured }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_differ_and_precede_each_other() {
        let codes: HashSet<_> = Exit::ALL.iter().map(|e| e.code()).collect();
        assert_eq!(codes.len(), Exit::ALL.len());
        assert!(Exit::ALL.is_sorted());
        assert_eq!(Exit::Interrupted.max(Exit::ObjectiveMissed).code(), 130);
        assert_eq!(Exit::Interrupted.max(Exit::NothingMeasured).code(), 3);
        assert_eq!(Exit::Measured.code(), 0);
    }
}
