//! Compares stored runs: `brunt compare run:ID run:ID`.
//!
//! Out of scope: the comparison (`runner::decide`).

use crate::args::RunArgs;
use crate::exit::{CommandError, Exit, FailOn, exit_of_comparison, runtime_error, usage_error};
use crate::live_outputs;
use crate::output::Outputs;
use crate::process::command_line;
use crate::runs;
use brunt_model::{Contender, Question, Run};
use brunt_runner::decide;
use brunt_runner::decide::stored::{Group, compare_groups};
use brunt_spec::experiment::comparison;
use brunt_spec::settings::CompareSettings;
use brunt_store::{Store, StoredItem};

/// Compares the runs of the words, each `run:ID,…` or `NAME=run:ID,…`.
pub fn compare(
    words: &[&str],
    question: &CompareSettings,
    run: &RunArgs,
) -> Result<Exit, CommandError> {
    live_outputs::refuse(&run.settings.output, "stored runs are over").map_err(usage_error)?;
    let outputs = Outputs::open(&run.settings.output.outputs, run.settings.output.quiet)
        .map_err(usage_error)?;
    let store = runs::open(&run.store)?;
    if let [word] = words
        && let StoredItem::Experiment(id) =
            store.find(without_prefix(word)).map_err(runs::store_error)?
    {
        return compare_contenders(&store, &id, question, outputs);
    }
    let groups = words.iter().map(|word| group(&store, word)).collect::<Result<Vec<_>, _>>()?;
    show(vec![groups], question, outputs)
}

/// Compares groups, each set with its first group, and writes the reports.
pub fn show(
    sets: Vec<Vec<Group>>,
    question: &CompareSettings,
    outputs: Outputs,
) -> Result<Exit, CommandError> {
    let (study, analysis) = compare_groups(sets, question, command_line()).map_err(usage_error)?;
    outputs.write_study(&study, &analysis).map_err(runtime_error)?;
    Ok(exit_of_comparison(&analysis, fail_on(question)))
}

/// Compares the contenders of one experiment. Its repetitions are blocks.
fn compare_contenders(
    store: &Store,
    id: &str,
    question: &CompareSettings,
    outputs: Outputs,
) -> Result<Exit, CommandError> {
    let mut study = store.study(id).map_err(runs::store_error)?;
    let (question_of_study, at_capacity) = match &study.experiment.question {
        Question::Compare(asked) => (CompareSettings::from(asked), asked.at_capacity.clone()),
        Question::Sweep | Question::Find(_) => (CompareSettings::default(), None),
    };
    // Further steps are trials of the searches, which are no given loads.
    let step_count = at_capacity.as_ref().map(|at| at.given + 1);
    let contenders = study.experiment.contenders.iter().map(|contender| {
        let steps = contender.steps[..step_count.unwrap_or(contender.steps.len())].to_vec();
        Contender { steps, ..contender.clone() }
    });
    let contenders: Vec<Contender> = contenders.collect();
    // Options override the question of the experiment.
    let question = question.clone().or(question_of_study);
    let spec = comparison(&question, &contenders, at_capacity).map_err(usage_error)?;
    study.experiment.question = Question::Compare(spec);
    let analysis = decide::analysis(&study);
    outputs.write_study(&study, &analysis).map_err(runtime_error)?;
    Ok(exit_of_comparison(&analysis, fail_on(&question)))
}

/// The conditions under which a comparison fails.
fn fail_on(question: &CompareSettings) -> FailOn {
    FailOn { undecided: question.require_decision, ..FailOn::default() }
}

fn without_prefix(word: &str) -> &str {
    word.strip_prefix("run:").unwrap_or(word)
}

fn group(store: &Store, word: &str) -> Result<Group, CommandError> {
    let (name, ids) = word
        .split_once("=run:")
        .map_or((None, without_prefix(word)), |(name, ids)| (Some(name), ids));
    let mut runs = Vec::new();
    for id in ids.split(',').map(|id| without_prefix(id.trim())) {
        runs.extend(runs_of(store, id)?);
    }
    Ok(Group { name: name.unwrap_or(ids).to_owned(), runs })
}

/// Loads a run, or the runs of an experiment with one contender.
fn runs_of(store: &Store, word: &str) -> Result<Vec<(String, Run)>, CommandError> {
    match store.find(word).map_err(runs::store_error)? {
        StoredItem::Run(id) => {
            let run = store.run(&id).map_err(runs::store_error)?;
            Ok(vec![(id, run)])
        }
        StoredItem::Experiment(id) => {
            let study = store.study(&id).map_err(runs::store_error)?;
            let several = study.experiment.contenders.len();
            if several > 1 {
                return Err(usage_error(anyhow::anyhow!(
                    "{word} has {several} contenders, but one is needed here; write `brunt compare run:{word}` to compare \
                     them, or the ids of runs (`brunt runs list {word}`)"
                )));
            }
            Ok(study
                .trials
                .into_iter()
                .map(|trial| (trial.id.unwrap_or_default(), trial.run))
                .collect())
        }
    }
}
