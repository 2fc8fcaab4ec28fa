//! Runs that were kept, compared with each other: `brunt compare run:ID run:ID`.
//!
//! Out of scope: the comparison, which is `runner::decide`'s.

use crate::args::RunArgs;
use crate::exit::{Exit, FailOn, Failed, exit_of_comparison, failed, usage};
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

/// Compares what the words name, each `run:ID,…` or `NAME=run:ID,…`.
pub fn compare(words: &[&str], question: &CompareSettings, run: &RunArgs) -> Result<Exit, Failed> {
    live_outputs::refuse(&run.settings.output, "stored runs are over").map_err(usage)?;
    let outputs = Outputs::open(&run.settings.output.outputs, run.settings.output.quiet).map_err(usage)?;
    let store = runs::open(&run.store)?;
    if let [word] = words
        && let StoredItem::Experiment(id) = store.find(bare(word)).map_err(runs::refused)?
    {
        return within(&store, &id, question, outputs);
    }
    let groups = words.iter().map(|word| group(&store, word)).collect::<Result<Vec<_>, _>>()?;
    show(vec![groups], question, outputs)
}

/// Compares groups, each set of them with its first, and shows that.
pub fn show(sets: Vec<Vec<Group>>, question: &CompareSettings, outputs: Outputs) -> Result<Exit, Failed> {
    let (study, analysis) = compare_groups(sets, question, command_line()).map_err(|error| usage(error.into()))?;
    outputs.write_study(&study, &analysis).map_err(failed)?;
    Ok(exit_of_comparison(&analysis, fail_on(question)))
}

/// The contenders of one experiment, asked once more: its repetitions are blocks.
fn within(store: &Store, id: &str, question: &CompareSettings, outputs: Outputs) -> Result<Exit, Failed> {
    let mut study = store.study(id).map_err(runs::refused)?;
    let (asked, at) = match &study.experiment.question {
        Question::Compare(asked) => (CompareSettings::from(asked), asked.at_capacity.clone()),
        Question::Sweep | Question::Find(_) => (CompareSettings::default(), None),
    };
    let known = at.as_ref().map(|at| at.given + 1);
    let steps = |c: &Contender| c.steps[..known.unwrap_or(c.steps.len())].to_vec();
    let contenders: Vec<Contender> =
        study.experiment.contenders.iter().map(|c| Contender { steps: steps(c), ..c.clone() }).collect();
    let question = question.clone().or(asked);
    let spec = comparison(&question, &contenders, at).map_err(|error| usage(error.into()))?;
    study.experiment.question = Question::Compare(spec);
    let analysis = decide::analysis(&study);
    outputs.write_study(&study, &analysis).map_err(failed)?;
    Ok(exit_of_comparison(&analysis, fail_on(&question)))
}

/// What the question makes a failure.
fn fail_on(question: &CompareSettings) -> FailOn {
    FailOn { undecided: question.require_decision, ..FailOn::default() }
}

fn bare(word: &str) -> &str {
    word.strip_prefix("run:").unwrap_or(word)
}

fn group(store: &Store, word: &str) -> Result<Group, Failed> {
    let (name, ids) = word.split_once("=run:").map_or((None, bare(word)), |(name, ids)| (Some(name), ids));
    let mut runs = Vec::new();
    for id in ids.split(',').map(|id| bare(id.trim())) {
        runs.extend(kept(store, id)?);
    }
    Ok(Group { name: name.unwrap_or(ids).to_owned(), runs })
}

/// A run, or those of an experiment with one contender.
pub fn kept(store: &Store, word: &str) -> Result<Vec<(String, Run)>, Failed> {
    match store.find(word).map_err(runs::refused)? {
        StoredItem::Run(id) => {
            let run = store.run(&id).map_err(runs::refused)?;
            Ok(vec![(id, run)])
        }
        StoredItem::Experiment(id) => {
            let study = store.study(&id).map_err(runs::refused)?;
            let several = study.experiment.contenders.len();
            if several > 1 {
                return Err(usage(anyhow::anyhow!(
                    "{word} has {several} contenders, and stands for one here; write `brunt compare run:{word}` to compare \
                     them, or the ids of runs (`brunt runs list {word}`)"
                )));
            }
            Ok(study.trials.into_iter().map(|trial| (trial.id.unwrap_or_default(), trial.run)).collect())
        }
    }
}
