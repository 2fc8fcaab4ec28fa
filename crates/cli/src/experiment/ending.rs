//! How an experiment's figures make brunt exit.

use crate::decide::fulfilled;
use crate::exit::Exit;
use crate::measure::{Strict, exit_of};
use brunt_model::answer::SearchEnd;
use brunt_model::finding::State;
use brunt_model::question::Fulfilled;
use brunt_model::{Analysis, Answer, Find, Question, Study};

/// What is worst of its trials; but of three kinds it is in the nature of a sweep to hold some. An objective counts as missed
/// where a contender met it at no load, figures as not to be believed where none of a contender's are (single ones are left
/// out of the analysis, which says so), and nothing as measured where no trial measured anything.
pub fn exit_of_study(study: &Study, analysis: &Analysis, strict: Strict) -> Exit {
    let worst = match &study.experiment.question {
        Question::Find(find) => of_search(analysis, find, strict),
        Question::Sweep | Question::Compare(_) => of_trials(study, strict),
    };
    let nothing = study.trials.iter().all(|trial| trial.run.total.completed == 0);
    let ends = [
        (study.interrupted, Exit::Interrupted),
        (nothing, Exit::NothingMeasured),
        (unbelievable(study), Exit::Invalid),
    ];
    ends.into_iter().filter(|end| end.0).map(|end| end.1).fold(worst, Exit::max)
}

/// Of a search it is the answer that counts: trials that miss the objectives, or whose generator was the limit, are in its
/// nature.
fn of_search(analysis: &Analysis, find: &Find, strict: Strict) -> Exit {
    let of = |answer: &Answer| {
        let required = find.require.iter().map(|requirement| match fulfilled(answer, requirement) {
            Fulfilled::Met => Exit::Measured,
            Fulfilled::Undecided => Exit::Undecided,
            Fulfilled::Missed => Exit::ObjectiveMissed,
        });
        let limited = answer.ended == SearchEnd::Generator && strict == Strict::Yes;
        let ends = [(answer.ended == SearchEnd::Least, Exit::ObjectiveMissed), (limited, Exit::Limited)];
        required.chain(ends.into_iter().filter(|end| end.0).map(|end| end.1)).max().unwrap_or(Exit::Measured)
    };
    analysis.answers.iter().map(of).max().unwrap_or(Exit::Measured)
}

fn of_trials(study: &Study, strict: Strict) -> Exit {
    // Those of searches are short of what was asked by their nature.
    let known_before = study.trials.iter().filter(|trial| !study.experiment.was_chosen(trial.place));
    let of_trials = known_before.map(|trial| exit_of(&trial.run, &trial.judgement, strict));
    let own = |exit: &Exit| !matches!(exit, Exit::ObjectiveMissed | Exit::Invalid | Exit::NothingMeasured);
    let missed = missed(study).then_some(Exit::ObjectiveMissed);
    of_trials.filter(own).chain(missed).max().unwrap_or(Exit::Measured)
}

/// Whether there is a contender of which no trial can be believed.
fn unbelievable(study: &Study) -> bool {
    (0..study.experiment.contenders.len()).any(|contender| {
        let mut trials = study.of(contender).peekable();
        trials.peek().is_some() && trials.all(|trial| trial.judgement.verdict.state == State::Invalid)
    })
}

/// Whether there is an objective that a contender met in none of its trials.
fn missed(study: &Study) -> bool {
    (0..study.experiment.contenders.len()).any(|contender| {
        let trials: Vec<_> = study.of(contender).collect();
        let objectives = trials.first().and_then(|trial| trial.run.plan.as_ref()).map_or(&[][..], |p| &p.objectives);
        objectives.iter().any(|objective| !trials.iter().any(|trial| objective.judge(&trial.run).met))
    })
}
