//! Exit code of a command, from the figures of a run, an experiment or a comparison.

use crate::decide::requirement_outcome;
use brunt_judge::limits::missing_load;
use brunt_model::answer::{Capacity, SearchEnd};
use brunt_model::comparison::Better;
use brunt_model::finding::State;
use brunt_model::question::RequirementOutcome;
use brunt_model::reached::ReplyKind;
use brunt_model::{Analysis, CapacityResult, CapacitySearch, Judgement, Question, Run, Study};
use std::process::ExitCode;

/// Meaning of an exit code, in ascending precedence: if several apply, the last one determines the
/// code, because it makes the others doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: measured, with a good reply, and every objective was met. Single errors of
    /// the server are data.
    Measured,
    /// 8: measured, but the question is undecided: a requirement, or which contender is better.
    Undecided,
    /// 4: measured, but an objective was missed, or no reply was good.
    ObjectiveMissed,
    /// 9: measured, and a contender is worse by more than `--fail-if` allows.
    Worse,
    /// 6: measured, but agents or processes were lost with more load than `--allow-lost`, or the generator was the
    /// limit, with `--strict`.
    Limited,
    /// 130: interrupted by Ctrl-C or SIGTERM; the measured part was reported.
    Interrupted,
    /// 5: measured, but a consistency check failed: discard the figures.
    Invalid,
    /// 3: nothing measured: no reply came.
    NothingMeasured,
    /// 7: a hook, a managed server or setup failed, which stopped the experiment; the
    /// measured part was reported.
    Halted,
    /// 1: brunt itself failed, for instance because a file could not be written.
    Failed,
    /// 2: the command line, or a file that it names, is invalid. Nothing was started.
    Usage,
}

impl Exit {
    /// All exit codes, in ascending precedence.
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

    /// Number of the exit code.
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

    /// Meaning of the exit code, for the manual.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Measured => "measured, every objective met",
            Self::Failed => "brunt itself failed",
            Self::Usage => "invalid usage; nothing was started",
            Self::NothingMeasured => "nothing measured: no reply came",
            Self::ObjectiveMissed => "measured, but an objective was missed or no reply was good",
            Self::Invalid => "measured, but a consistency check failed: discard the figures",
            Self::Limited => {
                "measured, but load was lost, or the load generator was the bottleneck (with --strict)"
            }
            Self::Halted => {
                "a hook, managed server or setup failed; the measurements so far were reported"
            }
            Self::Undecided => "measured, but the question is undecided",
            Self::Worse => "measured, and worse than --fail-if allows",
            Self::Interrupted => "interrupted; the measurements so far were reported",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Doubts that are failures. They are reported in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailOn {
    /// A limited generator: `--strict`.
    pub limited: bool,
    /// An undecided comparison: `--require-decision`.
    pub undecided: bool,
    /// Percentage of the planned load that may be lost with agents or processes: `--allow-lost`.
    pub allowed_loss_percent: u8,
}

impl FailOn {
    /// Returns the doubts that were failures when the run was measured. A replayed run has the exit
    /// code of the measurement.
    pub fn recorded_in(run: &Run) -> Self {
        Self {
            limited: run.environment.strict,
            allowed_loss_percent: run.environment.allowed_loss_percent,
            ..Self::default()
        }
    }
}

/// Exit code of a run.
pub fn exit_of(run: &Run, judgement: &Judgement, fail_on: FailOn) -> Exit {
    let is_missed = run.plan.iter().flat_map(|p| &p.objectives).any(|o| !o.judge(run).met);
    let ends = [
        (is_missed || run.replies() == ReplyKind::NoneGood, Exit::ObjectiveMissed),
        (judgement.verdict.state.is_disturbed() && fail_on.limited, Exit::Limited),
        (missing_load(run) * 100.0 > f64::from(fail_on.allowed_loss_percent), Exit::Limited),
        (judgement.verdict.state == State::Invalid, Exit::Invalid),
        (run.is_interrupted(), Exit::Interrupted),
        (run.replies() == ReplyKind::None, Exit::NothingMeasured),
    ];
    ends.into_iter().filter(|e| e.0).map(|e| e.1).max().unwrap_or(Exit::Measured)
}

/// Exit code of an experiment: the worst of its trials, with exceptions, since an experiment
/// exceeds the capacity of a server by design.
///
/// An objective counts as missed if a contender met it at no load. Replies count as missing, or as
/// bad, if a contender had no better ones in any trial. A failed consistency check of any trial
/// counts, unless a comparison excluded the trial.
pub fn exit_of_study(study: &Study, analysis: &Analysis, fail_on: FailOn) -> Exit {
    let worst = match &study.experiment.question {
        Question::Find(find) => exit_of_search(analysis, find, fail_on),
        Question::Sweep | Question::Compare(_) => exit_of_trials(study, fail_on),
    };
    let ends = [
        (has_contender_with(study, ReplyKind::NoneGood), Exit::ObjectiveMissed),
        (study.interrupted, Exit::Interrupted),
        (study.invalid_trials() > 0 && !analysis.excludes_invalid_trials(), Exit::Invalid),
        (study.has_no_reply() || has_contender_with(study, ReplyKind::None), Exit::NothingMeasured),
    ];
    ends.into_iter().filter(|end| end.0).map(|end| end.1).fold(worst, Exit::max)
}

/// True if a contender had no better replies than these in any trial.
fn has_contender_with(study: &Study, replies: ReplyKind) -> bool {
    (0..study.experiment.contenders.len())
        .any(|contender| study.best_replies(contender) == Some(replies))
}

/// Exit code of a search. The answer determines it: by design, some trials miss the objectives, or
/// reach the limit of the generator.
fn exit_of_search(analysis: &Analysis, find: &CapacitySearch, fail_on: FailOn) -> Exit {
    let exits = analysis.answers.iter().map(|answer| exit_of_answer(answer, find, fail_on));
    exits.max().unwrap_or(Exit::Measured)
}

fn exit_of_answer(answer: &CapacityResult, find: &CapacitySearch, fail_on: FailOn) -> Exit {
    let requirement_exits =
        find.require.iter().map(|requirement| match requirement_outcome(answer, requirement) {
            RequirementOutcome::Met => Exit::Measured,
            RequirementOutcome::Undecided => Exit::Undecided,
            RequirementOutcome::Missed => Exit::ObjectiveMissed,
        });
    let ends = [
        // Even the lowest load missed the objectives.
        (answer.ended == SearchEnd::Least, Exit::ObjectiveMissed),
        (answer.capacities.iter().any(is_unknown), Exit::Undecided),
        (answer.ended == SearchEnd::Generator && fail_on.limited, Exit::Limited),
    ];
    requirement_exits
        .chain(ends.into_iter().filter(|end| end.0).map(|end| end.1))
        .max()
        .unwrap_or(Exit::Measured)
}

fn is_unknown(capacity: &Capacity) -> bool {
    capacity.at.value.is_none() && capacity.at.low.is_none()
}

fn exit_of_trials(study: &Study, fail_on: FailOn) -> Exit {
    // Trials of searches miss objectives by design.
    let given_trials =
        study.trials.iter().filter(|trial| !study.experiment.is_search_trial(trial.place));
    let exits = given_trials.map(|trial| exit_of(&trial.run, &trial.judgement, fail_on));
    // The study decides about these three as a whole.
    let exits = exits.filter(|exit| {
        !matches!(exit, Exit::ObjectiveMissed | Exit::Invalid | Exit::NothingMeasured)
    });
    let has_unmet =
        (0..study.experiment.contenders.len()).any(|contender| !study.unmet(contender).is_empty());
    let missed_exit = has_unmet.then_some(Exit::ObjectiveMissed);
    exits.chain(missed_exit).max().unwrap_or(Exit::Measured)
}

/// Exit code of a comparison.
pub fn exit_of_comparison(analysis: &Analysis, fail_on: FailOn) -> Exit {
    let Some(comparison) = &analysis.comparison else { return Exit::Measured };
    if !comparison.failed.is_empty() {
        return Exit::Worse;
    }
    let mut deciding = comparison.deciding().peekable();
    let is_open =
        deciding.peek().is_none() || deciding.any(|first| first.verdict == Better::Undecided);
    // By default an undecided comparison is a result, not a failure.
    if is_open && fail_on.undecided { Exit::Undecided } else { Exit::Measured }
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
