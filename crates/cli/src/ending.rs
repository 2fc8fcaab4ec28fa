//! How an experiment's figures make brunt exit.

use crate::exit::Exit;
use crate::measure::{Strict, exit_of};
use brunt_model::answer::{Capacity, SearchEnd};
use brunt_model::comparison::Better;
use brunt_model::question::RequirementOutcome;
use brunt_model::reached::Replies;
use brunt_model::{Analysis, Answer, Find, Question, Study};
use brunt_runner::decide::fulfilled;

/// Whether a comparison that decides nothing makes brunt fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decisive {
    /// It does.
    Yes,
    /// It is told, and that is all.
    No,
}

impl From<bool> for Decisive {
    fn from(asked: bool) -> Self {
        if asked { Self::Yes } else { Self::No }
    }
}

/// The worst state of its trials; but an experiment has trials beyond a server's capacity by design. So an objective
/// counts as missed where a contender met it at no load, and replies as missing, or as bad, where a contender had no better
/// ones in any trial. A failed consistency check counts in whatever trial, but in a comparison that excluded it.
pub fn exit_of_study(study: &Study, analysis: &Analysis, strict: Strict) -> Exit {
    let worst = match &study.experiment.question {
        Question::Find(find) => of_search(analysis, find, strict),
        Question::Sweep | Question::Compare(_) => of_trials(study, strict),
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
fn of_search(analysis: &Analysis, find: &Find, strict: Strict) -> Exit {
    let of = |answer: &Answer| {
        let required = find.require.iter().map(|requirement| match fulfilled(answer, requirement) {
            RequirementOutcome::Met => Exit::Measured,
            RequirementOutcome::Undecided => Exit::Undecided,
            RequirementOutcome::Missed => Exit::ObjectiveMissed,
        });
        let limited = answer.ended == SearchEnd::Generator && strict == Strict::Yes;
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

fn of_trials(study: &Study, strict: Strict) -> Exit {
    // Those of searches are short of what was asked by their nature.
    let known_before = study.trials.iter().filter(|trial| !study.experiment.was_chosen(trial.place));
    let of_trials = known_before.map(|trial| exit_of(&trial.run, &trial.judgement, strict));
    let own = |exit: &Exit| !matches!(exit, Exit::ObjectiveMissed | Exit::Invalid | Exit::NothingMeasured);
    let unmet = (0..study.experiment.contenders.len()).any(|contender| !study.unmet(contender).is_empty());
    let missed = unmet.then_some(Exit::ObjectiveMissed);
    of_trials.filter(own).chain(missed).max().unwrap_or(Exit::Measured)
}

/// How a comparison makes brunt exit.
pub fn exit_of_comparison(analysis: &Analysis, decisive: Decisive) -> Exit {
    let Some(comparison) = &analysis.comparison else { return Exit::Measured };
    if !comparison.failed.is_empty() {
        return Exit::Worse;
    }
    let mut deciding = comparison.deciding().peekable();
    let open = deciding.peek().is_none() || deciding.any(|first| first.verdict == Better::Undecided);
    if open && decisive == Decisive::Yes { Exit::Undecided } else { Exit::Measured }
}
