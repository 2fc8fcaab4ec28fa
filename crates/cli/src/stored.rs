//! Runs that were kept, compared with each other: `brunt compare run:ID run:ID`.
//!
//! Out of scope: a measurement. What nobody wrote down when they were made is not known now, and said so.

use crate::args::RunArgs;
use crate::args::SpecArgs;
use crate::ending::exit_of_comparison;
use crate::exit::{Exit, Failed, failed, usage};
use crate::live_outputs;
use crate::output::Outputs;
use crate::runs;
use anyhow::{Context, Result, ensure};
use brunt_judge::compare::{compare_stored, foreseen_stored};
use brunt_model::experiment::{HookCommands, Step, TrialOrder};
use brunt_model::numbers::{count, span};
use brunt_model::{Analysis, Compare, Comparison, Contender, Experiment, Question, Run, Study, Trial, TrialIndex};
use brunt_runner::decide;
use brunt_spec::experiment::comparison;
use brunt_spec::plan::PlannedCompare;
use brunt_spec::settings::SettingSources;
use brunt_store::{Store, StoredItem};
use std::path::PathBuf;
use std::time::Duration;

/// Runs further apart than so many seconds are of different days, as far as a machine goes.
const APART: f64 = 3600.0;

/// Runs that belong together: repetitions of one contender, at one load or several.
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its runs, each with its short id.
    pub runs: Vec<(String, Run)>,
}

/// Compares what the words name, each `run:ID,…` or `NAME=run:ID,…`.
pub fn compare(words: &[&str], args: &SpecArgs, run: &RunArgs) -> Result<Exit, Failed> {
    live_outputs::refuse(&run.settings.output, "stored runs are over").map_err(usage)?;
    let outputs = Outputs::open(&run.settings.output.outputs, run.settings.output.quiet).map_err(usage)?;
    let store = runs::open(&run.store)?;
    if let [word] = words
        && let StoredItem::Experiment(id) = store.find(bare(word)).map_err(runs::refused)?
    {
        return within(&store, &id, args, outputs);
    }
    let groups = words.iter().map(|word| group(&store, word)).collect::<Result<Vec<_>, _>>()?;
    show(vec![groups], args, outputs)
}

/// Compares groups, each set of them with its first, and shows that.
pub fn show(sets: Vec<Vec<Group>>, args: &SpecArgs, outputs: Outputs) -> Result<Exit, Failed> {
    let (study, analysis) = compared(sets, args).map_err(usage)?;
    outputs.write_study(&study, &analysis).map_err(failed)?;
    Ok(exit_of_comparison(&analysis, args.require_decision.into()))
}

/// The contenders of one experiment, asked once more: its repetitions are blocks.
fn within(store: &Store, id: &str, args: &SpecArgs, outputs: Outputs) -> Result<Exit, Failed> {
    let mut study = store.study(id).map_err(runs::refused)?;
    let (asked, at) = match &study.experiment.question {
        Question::Compare(asked) => (Some(PlannedCompare::from(asked)), asked.at_capacity.clone()),
        Question::Sweep | Question::Find(_) => (None, None),
    };
    let known = at.as_ref().map(|at| at.given + 1);
    let steps = |c: &Contender| c.steps[..known.unwrap_or(c.steps.len())].to_vec();
    let contenders: Vec<Contender> =
        study.experiment.contenders.iter().map(|c| Contender { steps: steps(c), ..c.clone() }).collect();
    let spec = comparison(args.told(None, asked), &contenders, at, &SettingSources::default())
        .map_err(|error| usage(error.into()))?;
    study.experiment.question = Question::Compare(spec);
    let analysis = decide::analysis(&study);
    outputs.write_study(&study, &analysis).map_err(failed)?;
    Ok(exit_of_comparison(&analysis, args.require_decision.into()))
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

/// The groups as a study of which each is a contender, and what is decided about it.
fn compared(sets: Vec<Vec<Group>>, args: &SpecArgs) -> Result<(Study, Analysis)> {
    let all = || sets.iter().flatten();
    for group in all() {
        ensure!(!group.runs.is_empty(), "{} has no whole run", group.name);
        let same = all().filter(|other| other.name == group.name).count();
        ensure!(same == 1, "two would be called {0}; write A=run:{0} B=run:…", group.name);
    }
    let mut comparison: Option<Comparison> = None;
    let mut spec = None;
    for set in &sets {
        let contenders: Vec<Contender> = set.iter().map(contender).collect();
        let of_set = spec_of(args, &contenders)?;
        let at = at_each_load(set, &contenders, &of_set);
        comparison = Some(match comparison {
            None => at,
            Some(joined) => join(joined, at),
        });
        spec = spec.or(Some(of_set));
    }
    let (comparison, spec) = comparison.zip(spec).context("there is nothing to compare")?;
    let study = study(sets.into_iter().flatten().collect(), spec);
    let analysis = decide::compared(brunt_judge::sweep::analyse_study(&study), &study, comparison);
    Ok((study, analysis))
}

/// Loads that only some of them have are no reason to refuse.
fn spec_of(args: &SpecArgs, contenders: &[Contender]) -> Result<Compare> {
    let first = |contender: &Contender| Contender { steps: contender.steps[..1].to_vec(), ..contender.clone() };
    Ok(comparison(
        args.told(None, None),
        &contenders.iter().map(first).collect::<Vec<_>>(),
        None,
        &SettingSources::default(),
    )?)
}

/// Compares load by load where all have several; otherwise compares all, and notes that the loads differ.
fn at_each_load(groups: &[Group], contenders: &[Contender], spec: &Compare) -> Comparison {
    let loads: Vec<f64> = contenders[0].steps.iter().map(|step| step.load).collect();
    let has = |contender: &Contender, load: f64| contender.steps.iter().any(|step| step.load == load);
    let shared: Vec<f64> = loads.into_iter().filter(|load| contenders.iter().all(|c| has(c, *load))).collect();
    let at = |load: &f64| {
        let mut at = compare_stored(&sides(groups, Some(*load)), spec);
        at.pairs.iter_mut().for_each(|pair| pair.load = Some(*load));
        at
    };
    let joined = shared.iter().map(at).reduce(join);
    let mut comparison = joined.unwrap_or_else(|| compare_stored(&sides(groups, None), spec));
    let sizes: Vec<usize> = sides(groups, shared.first().copied()).iter().map(|(_, runs)| runs.len()).collect();
    if let [ours, others @ ..] = &sizes[..] {
        comparison.differences.splice(0..0, foreseen_stored(*ours, others, spec));
    }
    if shared.is_empty() {
        let of = |c: &Contender| {
            format!("{} {}", c.name, c.steps.iter().map(|s| count(s.load as u64)).collect::<Vec<_>>().join(", "))
        };
        let all = contenders.iter().map(of).collect::<Vec<_>>().join("; ");
        comparison
            .differences
            .insert(0, format!("no load is common to all of them, so different loads are compared: {all}"));
    }
    comparison.differences.extend(unknown(groups));
    comparison
}

fn join(mut joined: Comparison, at: Comparison) -> Comparison {
    joined.pairs.extend(at.pairs);
    joined.failed.extend(at.failed);
    let new: Vec<String> = at.differences.into_iter().filter(|text| !joined.differences.contains(text)).collect();
    joined.differences.extend(new);
    joined
}

fn sides(groups: &[Group], load: Option<f64>) -> Vec<(String, Vec<&Run>)> {
    let at = |run: &&(String, Run)| load.is_none_or(|load| step_of(&run.1).is_some_and(|step| step.load == load));
    groups.iter().map(|group| (group.name.clone(), group.runs.iter().filter(at).map(|run| &run.1).collect())).collect()
}

/// What nobody wrote down.
fn unknown(groups: &[Group]) -> Vec<String> {
    let began = || groups.iter().flat_map(|group| &group.runs).map(|(_, run)| run.unix_seconds);
    let (first, last) = (began().fold(f64::INFINITY, f64::min), began().fold(0.0, f64::max));
    let mut told = vec![
        "It is unknown whether servers were restarted between the runs, or kept caches and connections.".to_owned(),
    ];
    if last - first > APART {
        let apart = span(last - first);
        told.push(format!("The runs are up to {apart} apart: the machine and its load may have changed."));
    }
    told
}

fn contender(group: &Group) -> Contender {
    let mut steps: Vec<Step> = Vec::new();
    for step in group.runs.iter().filter_map(|(_, run)| step_of(run)) {
        if steps.iter().all(|known| known.load != step.load) {
            steps.push(step);
        }
    }
    Contender::bare(group.name.clone(), steps)
}

fn step_of(run: &Run) -> Option<Step> {
    let plan = run.plan.as_ref()?;
    Some(Step::new(plan.main().load.peak(), plan.clone()))
}

fn study(groups: Vec<Group>, spec: Compare) -> Study {
    let contenders: Vec<Contender> = groups.iter().map(contender).collect();
    let first = groups.first().and_then(|group| group.runs.first()).map(|run| run.1.clone()).unwrap_or_default();
    let mut trials: Vec<Trial> = Vec::new();
    for (index, group) in groups.into_iter().enumerate() {
        for (id, run) in group.runs {
            let load = step_of(&run).map_or(0.0, |step| step.load);
            let step = contenders[index].steps.iter().position(|step| step.load == load).unwrap_or(0);
            let made = trials.iter().filter(|trial| (trial.place.contender, trial.place.step) == (index, step)).count();
            let place = TrialIndex { repetition: made as u32, contender: index, step };
            trials.push(Trial { place, id: Some(id), judgement: brunt_judge::judge(&run), run });
        }
    }
    let repetitions = trials.iter().map(|trial| trial.place.repetition + 1).max().unwrap_or(1);
    let names = contenders.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ");
    let experiment = Experiment {
        name: names,
        about: "comparison of stored runs".into(),
        contenders,
        repetitions,
        order: TrialOrder::Blocks,
        cooldown: Duration::ZERO,
        hooks: HookCommands::default(),
        seed: 0,
        directory: PathBuf::new(),
        scratch: None,
        question: Question::Compare(spec),
        source: crate::process::command_line(),
    };
    let (environment, unix_seconds) = (first.environment, first.unix_seconds);
    Study {
        id: None,
        experiment,
        environment,
        unix_seconds,
        trials,
        warnings: Vec::new(),
        interrupted: false,
        resumptions: Vec::new(),
    }
}
