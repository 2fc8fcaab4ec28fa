//! `brunt compare`: from the command line to an experiment whose repetitions are blocks.
//!
//! Out of scope: runs that were kept are compared in [`stored`]; the statistics are `judge`'s.

use super::planned::{plan_path, refuse_others};
use super::{ExperimentContext, carry_out, folder_name, refuse_sets, used_folder};
use crate::args::RunArgs;
use crate::args::settings::{OneOfManySearches, SettingArgs};
use crate::exit::{Exit, Failed, failed, usage};
use crate::process::command_line;
use crate::stored;
use anyhow::{Result, bail, ensure};
use brunt_model::question::AtCapacity;
use brunt_model::{Contender, Experiment, Question};
use brunt_spec::experiment::contenders::{self, Arranged};
use brunt_spec::experiment::{Within, comparison, of_search, repetitions, searching};
use brunt_spec::plan_file::{self, Loaded};
use brunt_spec::settings::{CompareSettings, ExperimentSettings, RunSettings, SearchSettings, SettingSources, rows};
use brunt_spec::to_plan::sweep_steps;
use brunt_spec::words::compare::At;
use brunt_spec::words::duration;
use brunt_spec::{System, defaults};
use clap::Args;
use std::path::Path;
use std::time::Duration;

/// Examples for the help.
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

/// What `brunt compare` is told.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// What is better.
    #[command(flatten)]
    question: SettingArgs<CompareSettings>,

    /// How trials are arranged.
    #[command(flatten)]
    arrangement: SettingArgs<ExperimentSettings>,

    /// Name of the experiment
    #[arg(long, value_name = "NAME", default_value = "compare", help_heading = "Experiment")]
    name: String,

    /// How capacities are searched for, with `--at`.
    #[command(flatten)]
    search: SettingArgs<OneOfManySearches>,

    /// What each run is told.
    #[command(flatten)]
    run: RunArgs,

    /// Servers to compare with the first; each as URL or NAME=URL, plan.yaml or NAME=plan.yaml, run:ID or NAME=run:ID,run:ID
    #[arg(value_name = "WHAT")]
    more: Vec<String>,
}

/// What the words of a command line name.
enum Named {
    Servers,
    Plans,
    Stored,
}

/// Carries it out.
pub fn compare(args: &CompareArgs) -> Result<Exit, Failed> {
    let words: Vec<&str> = args.run.settings.url.iter().chain(&args.more).map(String::as_str).collect();
    let named = named(&words).map_err(usage)?;
    if let Named::Stored = named {
        return stored::compare(&words, &args.question.0, &args.run);
    }
    let (system, command) = (crate::process::system(), command_line());
    let mut run = args.run.clone();
    let (experiment, notes) = match named {
        Named::Plans => {
            let loaded = plans(&words, args, &system)?;
            run.settings.output.adopt(loaded.outputs, loaded.live_outputs);
            (loaded.experiment, loaded.notes)
        }
        _ => of_servers(args, &command, &system).map_err(usage)?,
    };
    let mut given = ExperimentContext::asked(&run, system, notes).map_err(usage)?;
    given.fail_on.undecided = args.question.0.require_decision;
    carry_out(&experiment, given)
}

fn named(words: &[&str]) -> Result<Named> {
    let what = |word: &&str| contenders::named(word).1.to_owned();
    let (mut stored, mut plans) = (0, 0);
    for word in words.iter().map(what) {
        stored += usize::from(word.starts_with("run:"));
        plans += usize::from(plan_path(&word).is_some());
    }
    match (stored, plans, words.len()) {
        (0, 0, _) => Ok(Named::Servers),
        (n, 0, all) if n == all => Ok(Named::Stored),
        (0, n, all) if n == all => Ok(Named::Plans),
        _ => bail!(
            "stored runs, plan files and URLs cannot be mixed; write run:… for all, a plan for all, or a URL for all"
        ),
    }
}

fn of_servers(args: &CompareArgs, command: &str, system: &System) -> Result<(Experiment, Vec<String>)> {
    refuse_sets(&args.run)?;
    let (arrangement, question) = (&args.arrangement.0, &args.question.0);
    let (contenders, at_capacity, notes) = match question.at.unwrap_or_default() {
        At::Load => {
            refuse_search(&args.search.0.said)?;
            let (all, notes) = contenders::contenders(&args.run.settings, &args.more, |run| sweep_steps(run, system))?;
            (all, None, notes)
        }
        at => searched(args, at, system)?,
    };
    let spec = comparison(question, &contenders, at_capacity)?;
    let cooldown = duration::or_default(arrangement.cooldown, defaults::COOLDOWN)?;
    let arranged = Arranged {
        name: args.name.clone(),
        repetitions: repetitions(arrangement.repetitions, &spec, &contenders, cooldown, &question.said)?,
        order: arrangement.order.unwrap_or(defaults::TRIAL_ORDER),
        cooldown,
        question: Question::Compare(spec),
    };
    let seed = args.run.settings.load.seed.unwrap_or(system.seed);
    Ok((contenders::experiment(contenders, arranged, seed, command)?, notes))
}

/// Contenders whose capacities are searched for, with the loads that are given besides.
fn searched(args: &CompareArgs, at: At, system: &System) -> Result<(Vec<Contender>, Option<AtCapacity>, Vec<String>)> {
    let (arrangement, steps) = (&args.arrangement.0, |run: &RunSettings| sweep_steps(run, system));
    let (beside, mut notes) = match at {
        At::Both => contenders::contenders(&args.run.settings, &args.more, steps)?,
        _ => (Vec::new(), Vec::new()),
    };
    let given = |index: usize| beside.get(index).map_or(&[][..], |contender| &contender.steps);
    ensure!(
        at != At::Both || args.run.settings.load.rate.is_some() || args.run.settings.load.connections.is_some(),
        "--at both: at which load, besides the capacity? add one, such as -r 100"
    );
    let search = SearchSettings {
        within: Duration::ZERO,
        cooldown: duration::or_default(arrangement.cooldown, defaults::FIND_COOLDOWN)?,
        overload: None,
        ..args.search.0.clone()
    };
    let asked = of_search(&args.run.settings, at, given(0));
    let pattern = search.run(&asked)?;
    let (mut all, told) = contenders::contenders(&pattern, &args.more, steps)?;
    notes.extend(told.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
    all.iter_mut().enumerate().for_each(|(index, contender)| contender.steps.extend_from_slice(given(index)));
    let length = (Within::all_or_usual(args.question.0.within)?, arrangement.repetitions.unwrap_or(defaults::BLOCKS));
    let at = searching(&search, &asked, &mut all, length, (&mut notes, system))?;
    Ok((all, Some(at), notes))
}

/// Options of a search say nothing where there is none.
fn refuse_search(said: &SettingSources) -> Result<()> {
    match rows::search::OF_TRIALS.iter().find(|option| said.is_said(option)) {
        Some(id) => bail!("--{id}: that is of a search for the capacity; add --at capacity, or leave it out"),
        None => Ok(()),
    }
}

/// The experiment of one plan, or of several.
fn plans(words: &[&str], args: &CompareArgs, system: &System) -> Result<Loaded, Failed> {
    refuse_others(&args.run).map_err(usage)?;
    let folder = folder_name().map_err(failed)?;
    let load = |word: &&str| {
        let (name, path) = contenders::named(word);
        let loaded = plan_file::load(Path::new(path), &args.run.plan.sets, &folder.display().to_string(), system)?;
        Ok((name.map(str::to_owned), path.to_owned(), loaded))
    };
    let loaded = words.iter().map(load).collect::<Result<Vec<_>>>().map_err(usage)?;
    let mut loaded = plan_file::join(loaded).map_err(|error| usage(error.into()))?;
    loaded.experiment = arranged(&loaded, args).map_err(usage)?;
    loaded.experiment.scratch = used_folder(&loaded.experiment, folder).map_err(failed)?;
    Ok(loaded)
}

/// A plan's experiment as a comparison; what the command line says beside it has the last word.
fn arranged(loaded: &Loaded, args: &CompareArgs) -> Result<Experiment> {
    let (experiment, arrangement) = (&loaded.experiment, &args.arrangement.0);
    let at_capacity = match &experiment.question {
        Question::Compare(compare) => compare.at_capacity.clone(),
        Question::Sweep | Question::Find(_) => None,
    };
    ensure!(
        at_capacity.is_none() || (args.question.0.within, arrangement.repetitions) == (None, None),
        "--time-budget and --repeat cannot change the searches of a plan; write compare.time_budget and repetitions in the plan"
    );
    ensure!(
        args.question.0.at.is_none() || loaded.compare.as_ref().is_some_and(|compare| compare.at == args.question.0.at),
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
            &question.said,
        )?,
        order: arrangement.order.unwrap_or(experiment.order),
        cooldown,
        question: Question::Compare(spec),
        ..experiment.clone()
    })
}
