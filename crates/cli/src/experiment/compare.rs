//! The command `brunt compare`: builds an experiment with repetitions as blocks.
//!
//! Out of scope: the comparison of stored runs ([`stored`]) and the statistics (`judge`).

use super::planned::{plan_path, refuse_others};
use super::{ExperimentContext, folder_name, refuse_sets, run_experiment, used_folder};
use crate::args::RunArgs;
use crate::args::settings::{OneOfManySearches, SettingArgs};
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::process::command_line;
use crate::stored;
use anyhow::{Result, bail, ensure};
use brunt_model::question::AtCapacity;
use brunt_model::{Contender, Experiment, Question};
use brunt_spec::experiment::contenders::{self, TrialArrangement};
use brunt_spec::experiment::{
    CapacityTimeBudget, comparison, prepare_capacity_comparison, repetitions, search_run_settings,
};
use brunt_spec::plan_file::{self, ResolvedPlan};
use brunt_spec::settings::{
    CompareSettings, ExperimentSettings, RunSettings, SearchSettings, SettingSources, rows,
};
use brunt_spec::to_plan::sweep_steps;
use brunt_spec::words::compare::ComparedLoads;
use brunt_spec::words::duration;
use brunt_spec::{System, defaults};
use clap::Args;
use std::path::Path;
use std::time::Duration;

/// Examples for the help text.
pub const COMPARE_EXAMPLES: &str = "\
Examples:
  brunt compare A=http://127.0.0.1:8081/ B=http://127.0.0.1:8082/ -r 500     is B better at 500/s?
  brunt compare A=http://a/ B=http://b/ -c 32 --time-budget 5m --min-difference 5%     closed loop: by throughput
  brunt compare A=http://a/ B=http://b/ -r '[100,500]' --metric p99,cpu --probe process=nginx
  brunt compare old=http://a/ new=http://b/ -r 500 --fail-if 'p99 worse by 5%' -o junit=compare.xml -o markdown=pr.md
  brunt compare A=http://a/ B=http://b/ --at capacity --objective 'p99 < 50ms' --time-budget 20m     which carries more?
  brunt compare plan.yaml                                                   the contenders of a plan, its servers started
  brunt compare A=a.yaml B=b.yaml                                           two plans of one contender each
  brunt compare run:k7m2xqd run:p3nq8vw                                     what was kept, whatever can be said of it
  brunt compare A=run:k7m2xqd,run:c4tt9za B=run:p3nq8vw,run:h2mmw5e         several runs a side";

/// Arguments of `brunt compare`.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// Metrics and their comparison.
    #[command(flatten)]
    question: SettingArgs<CompareSettings>,

    /// Order and number of trials.
    #[command(flatten)]
    arrangement: SettingArgs<ExperimentSettings>,

    /// Name of the experiment
    #[arg(long, value_name = "NAME", default_value = "compare", help_heading = "Experiment")]
    name: String,

    /// Search for capacities, with `--at`.
    #[command(flatten)]
    search: SettingArgs<OneOfManySearches>,

    /// Settings of each run.
    #[command(flatten)]
    run: RunArgs,

    /// Servers to compare with the first; each as URL or NAME=URL, plan.yaml or NAME=plan.yaml, run:ID or NAME=run:ID,run:ID
    #[arg(value_name = "WHAT")]
    more: Vec<String>,
}

/// Kinds of subjects on a command line.
enum SubjectKind {
    Servers,
    Plans,
    Stored,
}

/// Compares stored runs, or measures and compares servers.
pub fn compare(args: &CompareArgs) -> Result<Exit, CommandError> {
    let words: Vec<&str> =
        args.run.settings.url.iter().chain(&args.more).map(String::as_str).collect();
    let kind = subject_kind(&words).map_err(usage_error)?;
    if let SubjectKind::Stored = kind {
        return stored::compare(&words, &args.question.0, &args.run);
    }
    let system = crate::process::system();
    let command = command_line();
    let mut run = args.run.clone();
    let (experiment, notes) = match kind {
        SubjectKind::Plans => {
            let loaded = plans(&words, args, &system)?;
            run.settings.output.adopt(loaded.outputs, loaded.live_outputs);
            (loaded.experiment, loaded.notes)
        }
        _ => servers(args, &command, &system).map_err(usage_error)?,
    };
    let mut context = ExperimentContext::from_args(&run, system, notes).map_err(usage_error)?;
    context.fail_on.undecided = args.question.0.require_decision;
    run_experiment(&experiment, context)
}

fn subject_kind(words: &[&str]) -> Result<SubjectKind> {
    let mut stored = 0;
    let mut plans = 0;
    for word in words {
        let word = contenders::named(word).1;
        stored += usize::from(word.starts_with("run:"));
        plans += usize::from(plan_path(word).is_some());
    }
    match (stored, plans, words.len()) {
        (0, 0, _) => Ok(SubjectKind::Servers),
        (n, 0, all) if n == all => Ok(SubjectKind::Stored),
        (0, n, all) if n == all => Ok(SubjectKind::Plans),
        _ => bail!(
            "stored runs, plan files and URLs cannot be mixed; write run:… for all, a plan for all, or a URL for all"
        ),
    }
}

fn servers(
    args: &CompareArgs,
    command: &str,
    system: &System,
) -> Result<(Experiment, Vec<String>)> {
    refuse_sets(&args.run)?;
    let arrangement = &args.arrangement.0;
    let question = &args.question.0;
    let (contenders, at_capacity, notes) = match question.at.unwrap_or_default() {
        ComparedLoads::Load => {
            refuse_search(&args.search.0.sources)?;
            let (all, notes) = contenders::contenders(&args.run.settings, &args.more, |run| {
                sweep_steps(run, system)
            })?;
            (all, None, notes)
        }
        at => contenders_at_capacity(args, at, system)?,
    };
    let spec = comparison(question, &contenders, at_capacity)?;
    let cooldown = duration::or_default(arrangement.cooldown, defaults::COOLDOWN)?;
    let trials = TrialArrangement {
        name: args.name.clone(),
        repetitions: repetitions(
            arrangement.repetitions,
            &spec,
            &contenders,
            cooldown,
            &question.sources,
        )?,
        order: arrangement.order.unwrap_or(defaults::TRIAL_ORDER),
        cooldown,
        question: Question::Compare(spec),
    };
    let seed = args.run.settings.load.seed.unwrap_or(system.seed);
    Ok((contenders::experiment(contenders, trials, seed, command)?, notes))
}

/// Builds contenders for a search of their capacities, plus the loads of the command line.
fn contenders_at_capacity(
    args: &CompareArgs,
    at: ComparedLoads,
    system: &System,
) -> Result<(Vec<Contender>, Option<AtCapacity>, Vec<String>)> {
    let arrangement = &args.arrangement.0;
    let steps = |run: &RunSettings| sweep_steps(run, system);
    let (at_loads, mut notes) = match at {
        ComparedLoads::Both => contenders::contenders(&args.run.settings, &args.more, steps)?,
        _ => (Vec::new(), Vec::new()),
    };
    let given_steps =
        |index: usize| at_loads.get(index).map_or(&[][..], |contender| &contender.steps);
    ensure!(
        at != ComparedLoads::Both
            || args.run.settings.load.rate.is_some()
            || args.run.settings.load.connections.is_some(),
        "--at both: at which load, besides the capacity? add one, such as -r 100"
    );
    let search = SearchSettings {
        // The time budget covers all searches together, and is divided later.
        within: Duration::ZERO,
        cooldown: duration::or_default(arrangement.cooldown, defaults::FIND_COOLDOWN)?,
        overload: None,
        ..args.search.0.clone()
    };
    let search_settings = search_run_settings(&args.run.settings, at, given_steps(0));
    let pattern = search.run(&search_settings)?;
    let (mut all, search_notes) = contenders::contenders(&pattern, &args.more, steps)?;
    notes.extend(search_notes.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
    all.iter_mut()
        .enumerate()
        .for_each(|(index, contender)| contender.steps.extend_from_slice(given_steps(index)));
    let time_budget = CapacityTimeBudget::all_or_default(args.question.0.within)?;
    let length = (time_budget, arrangement.repetitions.unwrap_or(defaults::BLOCKS));
    let at = prepare_capacity_comparison(
        &search,
        &search_settings,
        &mut all,
        length,
        (&mut notes, system),
    )?;
    Ok((all, Some(at), notes))
}

/// Refuses options of a search if there is none.
fn refuse_search(sources: &SettingSources) -> Result<()> {
    match rows::search::OF_TRIALS.iter().find(|option| sources.is_given(option)) {
        Some(option) => bail!(
            "--{option}: that is of a search for the capacity; add --at capacity, or leave it out"
        ),
        None => Ok(()),
    }
}

/// Loads the experiment of one or several plans.
fn plans(
    words: &[&str],
    args: &CompareArgs,
    system: &System,
) -> Result<ResolvedPlan, CommandError> {
    refuse_others(&args.run).map_err(usage_error)?;
    let folder = folder_name().map_err(runtime_error)?;
    let mut loaded = Vec::new();
    for word in words {
        let (name, path) = contenders::named(word);
        let folder = folder.display().to_string();
        let plan = crate::plan_file::load(Path::new(path), &args.run.plan.sets, &folder, system)?;
        loaded.push((name.map(str::to_owned), path.to_owned(), plan));
    }
    let mut loaded = plan_file::join(loaded).map_err(usage_error)?;
    loaded.experiment = as_comparison(&loaded, args).map_err(usage_error)?;
    loaded.experiment.scratch = used_folder(&loaded.experiment, folder).map_err(runtime_error)?;
    Ok(loaded)
}

/// Turns a plan's experiment into a comparison. Options of the command line override the plan.
fn as_comparison(loaded: &ResolvedPlan, args: &CompareArgs) -> Result<Experiment> {
    let experiment = &loaded.experiment;
    let arrangement = &args.arrangement.0;
    let at_capacity = match &experiment.question {
        Question::Compare(compare) => compare.at_capacity.clone(),
        Question::Sweep | Question::Find(_) => None,
    };
    ensure!(
        at_capacity.is_none() || (args.question.0.within, arrangement.repetitions) == (None, None),
        "--time-budget and --repeat cannot change the searches of a plan; write compare.time_budget and repetitions in the plan"
    );
    ensure!(
        args.question.0.at.is_none()
            || loaded.compare.as_ref().is_some_and(|compare| compare.at == args.question.0.at),
        "--at cannot change the searches of a plan; write compare.at in the plan"
    );
    let question = args.question.0.clone().or(loaded.compare.clone().unwrap_or_default());
    let spec = comparison(&question, &experiment.contenders, at_capacity)?;
    let cooldown = arrangement.cooldown.unwrap_or(experiment.cooldown);
    Ok(Experiment {
        repetitions: repetitions(
            arrangement.repetitions.or(loaded.arrangement.repetitions),
            &spec,
            &experiment.contenders,
            cooldown,
            &question.sources,
        )?,
        order: arrangement.order.unwrap_or(experiment.order),
        cooldown,
        question: Question::Compare(spec),
        ..experiment.clone()
    })
}
