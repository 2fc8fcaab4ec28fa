//! Turns a plan file into an [`Experiment`]: the settings of each contender are read like options,
//! and missing ones have their defaults.

use super::search::SearchSection;
use super::setting_keys::{Keys, find, put_all};
use super::stages;
use crate::defaults;
use crate::error::{Result, SpecError, bail, ensure};
use crate::experiment::{self, comparison};
use crate::grpc;
use crate::plan::scenario::{fault, scenario as scenario_of};
use crate::plan::{
    FillInputs, KeyedValue, PlanFile, PlanNode, PlanTree, PlanValue, PlannedContender, PlannedHook,
    PlannedHooks, PlannedServer, PlannedUsers, SourcePosition,
};
use crate::settings::{AgentSettings, CompareSettings, ExperimentSettings, RunSettings};
use crate::system::System;
use crate::to_plan::{check_objectives, scenario, sweep_steps};
use crate::words::compare::ComparedLoads;
use crate::words::duration;
use crate::words::values::Output;
use brunt_model::experiment::{ContenderHooks, Hook, HookCommands, LoadStep, ManagedServer};
use brunt_model::live_output::LiveOutput;
use brunt_model::part::{check_placement, unknown_group};
use brunt_model::plan::{ConnectionSettings, MAIN};
use brunt_model::scenario::{Scenario, ScenarioStep};
use brunt_model::{Contender, Experiment, Plan, ProbeSpec, Question, ReplyPolicy};
use brunt_script::Languages;
use brunt_script::{CompiledScript, ScriptError};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of steps of all contenders together. Each step has a whole plan.
const MAX_STEPS: usize = 20_000;

/// A resolved plan file, ready to run.
#[derive(Debug)]
pub struct ResolvedPlan {
    /// The experiment to run.
    pub experiment: Experiment,
    /// Destinations of the reports.
    pub outputs: Vec<Output>,
    /// Systems that receive figures while a load runs.
    pub live_outputs: Vec<LiveOutput>,
    /// Settings of the comparison; None without one.
    pub compare: Option<CompareSettings>,
    /// Arrangement of trials, as far as the plan sets it.
    pub arrangement: ExperimentSettings,
    /// Notes for the user, without duplicates.
    pub notes: Vec<String>,
}

/// Maximum number of errors of a plan file in one report.
const MAX_ERRORS: usize = 20;

/// Reads a plan file and resolves it. `sets` are values of `--set`; `dir` is the value of `${dir}`.
///
/// # Errors
///
/// [`SpecError`] with all errors of the file, each with its place, if it cannot be read or
/// a value is invalid.
pub fn load(path: &Path, sets: &[String], dir: &str, system: &System) -> Result<ResolvedPlan> {
    open(path, sets, dir, system)?.resolve(system)
}

/// A plan file that was read, but not resolved yet.
#[derive(Debug)]
pub struct UnresolvedPlan {
    /// Content of the file.
    pub file: PlanFile,
    source: Source,
}

/// Origin of a plan, and the values to fill in.
#[derive(Debug, Clone)]
struct Source {
    draft: PlanTree,
    folder: PathBuf,
    text: String,
    dir: String,
    name: String,
}

/// Reads a plan file, without resolving it.
///
/// # Errors
///
/// [`SpecError`] with its place if the file cannot be read, or is not a plan file.
pub fn open(path: &Path, sets: &[String], dir: &str, system: &System) -> Result<UnresolvedPlan> {
    open_text(path, &text(path)?, sets, dir, system)
}

/// Like [`open`], with a text that need not be in the file yet.
///
/// # Errors
///
/// [`SpecError`] with its place if the text is no plan file.
pub fn open_text(
    path: &Path,
    text: &str,
    sets: &[String],
    dir: &str,
    system: &System,
) -> Result<UnresolvedPlan> {
    // Before parsing, because the error of the parser may repeat a secret of the text.
    (system.plan_text)(text);
    let draft = PlanTree::parse(text, &path.display().to_string(), sets)?;
    // The tree contains the values of `--set`, which the text does not.
    (system.plan_tree)(&draft.tree());
    // The stored source of the experiment shows the changes of `--set`, too.
    let set_comments = sets.iter().map(|set| format!("# --set {set}\n"));
    let source = Source {
        draft,
        folder: folder(path)?,
        text: std::iter::once(text.to_owned()).chain(set_comments).collect(),
        dir: dir.to_owned(),
        name: path
            .file_stem()
            .map_or_else(|| "plan".to_owned(), |stem| stem.to_string_lossy().into_owned()),
    };
    let file = source.file(system).map_err(|first| source.all_errors(first, system))?;
    Ok(UnresolvedPlan { file, source })
}

impl Source {
    fn file(&self, system: &System) -> Result<PlanFile> {
        let ports = draw_ports(&self.draft.ports()?)?;
        let plan_dir = self.folder.display().to_string();
        let inputs = FillInputs {
            ports: &ports,
            dir: &self.dir,
            plan_dir: &plan_dir,
            environment: &|name: &str| {
                (system.environment)(name).or_else(|| default_variable(name, system))
            },
        };
        self.draft.resolve(inputs, &self.name)
    }

    /// Adds all further errors of the file to the first one. Each invalid value is removed, until
    /// the rest is valid, or an error is a consequence of a removal.
    fn all_errors(&self, first: SpecError, system: &System) -> SpecError {
        let mut errors = vec![first];
        let mut rest = self.clone();
        while let (Some(last), true) = (errors.last(), errors.len() < MAX_ERRORS) {
            // The rest is checked without the wrong value, so that one run shows all errors.
            let Some(draft) = last.position.as_ref().and_then(|at| rest.draft.without(at)) else {
                break;
            };
            rest.draft = draft;
            let next = rest.file(system).and_then(|file| rest.experiment(file, system));
            let Err(next) = next else { break };
            // A missing key may only be missing because its wrong value was removed.
            if next.position.is_none() || errors.iter().any(|error| is_consequence(&next, error)) {
                break;
            }
            errors.push(next);
        }
        // They were found in the order of the checks; readers expect the order of the file.
        errors.sort_by_key(|error| error.position.as_ref().map(SourcePosition::line_and_column));
        let others = errors.split_off(1);
        errors.pop().map_or_else(|| SpecError::unplaced(""), |first| SpecError { others, ..first })
    }
}

/// True if `next` may result from the removal of the value of `error`: something is now missing in
/// the part that contained the value, within the removed part, or at its place.
fn is_consequence(next: &SpecError, error: &SpecError) -> bool {
    let is_within = !error.path.is_empty() && next.path.starts_with(&error.path);
    // Without its scenario, a plan needs a script.
    let is_script_missing = error.path.ends_with("scenario") && next.path.ends_with("script");
    error.path.starts_with(&next.path)
        || is_within
        || is_script_missing
        || error.position == next.position
}

/// Default of an unset environment variable: `BRUNT` is the program that runs the plan.
fn default_variable(name: &str, system: &System) -> Option<String> {
    (name == "BRUNT").then(|| (system.program)().ok())?.map(|path| path.display().to_string())
}

fn text(path: &Path) -> Result<String> {
    let bytes = brunt_files::read(path).map_err(|error| {
        SpecError::unplaced(format!("cannot read the plan file {}: {error}", path.display()))
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(e) => {
            let line = e.as_bytes()[..e.utf8_error().valid_up_to()].split(|b| *b == b'\n').count();
            bail!("{}:{line}: this is not UTF-8; write the file in UTF-8", path.display())
        }
    }
}

fn folder(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path)
        .map_err(|error| SpecError::from(error).about(&path.display().to_string()))?;
    Ok(absolute.parent().unwrap_or(Path::new("/")).to_owned())
}

/// Draws free loopback ports. All listeners stay open until the last port is drawn, so
/// that the ports differ.
fn draw_ports(names: &[String]) -> Result<BTreeMap<String, u16>> {
    let drawn = names.iter().map(|name| {
        // Port 0: the system chooses a free one.
        let listener = TcpListener::bind("127.0.0.1:0")
            .map_err(|error| SpecError::from(error).about(&format!("no free port for `{name}`")))?;
        // All listeners stay open until all ports are drawn; otherwise the system may repeat one.
        Ok((name.clone(), listener.local_addr()?.port(), listener))
    });
    let listeners = drawn.collect::<Result<Vec<_>>>()?;
    Ok(listeners.into_iter().map(|(name, port, _)| (name, port)).collect())
}

impl UnresolvedPlan {
    /// Resolves the plan file to its experiment.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with all errors of the file, each with its place.
    pub fn resolve(self, system: &System) -> Result<ResolvedPlan> {
        let Self { file, source } = self;
        source.experiment(file, system).map_err(|first| source.all_errors(first, system))
    }
}

impl Source {
    /// Resolves a file of this source to its experiment.
    fn experiment(&self, file: PlanFile, system: &System) -> Result<ResolvedPlan> {
        let folder = &self.folder;
        let arrangement: ExperimentSettings = put_all(&file.arrangement, folder, system)?;
        let compare =
            file.compare.as_ref().map(|keys| put_all(keys, folder, system)).transpose()?;
        let at =
            compare.as_ref().and_then(|compare: &CompareSettings| compare.at).unwrap_or_default();
        // `compare: {at: capacity}` searches with default settings if the plan has no `find`.
        let below_find = file.find.as_deref().or((at != ComparedLoads::Load).then_some(&[]));
        let search =
            below_find.map(|settings| SearchSection::read(settings, at, system)).transpose()?;
        let mut notes = Vec::<String>::new();
        let mut contenders = Vec::with_capacity(file.contenders.len());
        let mut steps = 0;
        for planned in &file.contenders {
            // A capacity, or a difference, is a figure of one load.
            if search.is_some() || compare.is_some() {
                check_one_population(planned)?;
            }
            let (contender, new_notes) = contender(planned, search.as_ref(), folder, system)?;
            notes.extend(
                new_notes.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>(),
            );
            steps += contender.steps.len();
            ensure!(
                steps <= MAX_STEPS,
                "that makes more than {MAX_STEPS} steps; write sweeps in greater steps, or fewer contenders"
            );
            contenders.push(contender);
        }
        let output = Keys::new(file.outputs.clone()).settings(folder, system)?.output;
        let outputs = output.outputs;
        let live_outputs = output.live_outputs;
        // The plan's `load.seed` also fixes the random order of trials.
        let seed = contenders
            .first()
            .and_then(|c| c.steps.first())
            .map_or(system.seed, |step| step.plan.seed);
        let cooldown = duration::or_default(arrangement.cooldown, defaults::COOLDOWN)?;
        let comparison_search = search.as_ref().filter(|_| compare.is_some());
        let (question, repetitions) = question(
            compare.as_ref(),
            arrangement.repetitions,
            comparison_search,
            &mut contenders,
            cooldown,
            &mut notes,
            system,
        )?;
        let mut experiment = Experiment {
            name: file.name,
            about: file.about,
            contenders,
            repetitions,
            order: arrangement.order.unwrap_or(defaults::TRIAL_ORDER),
            cooldown,
            hooks: hook_commands(&file.hooks)?,
            seed,
            directory: folder.clone(),
            scratch: None,
            question,
            source: self.text.clone(),
        };
        let single_search = search.as_ref().filter(|_| compare.is_none());
        if let (Some(search), Some(first)) = (single_search, file.contenders.first()) {
            search.make_search(&mut experiment, first, &mut notes, system)?;
        }
        Ok(ResolvedPlan { experiment, outputs, live_outputs, compare, arrangement, notes })
    }
}

/// Returns the question of an experiment that is no search, and the number of
/// repetitions of each step.
fn question(
    compare: Option<&CompareSettings>,
    repetitions: Option<u32>,
    search: Option<&SearchSection>,
    contenders: &mut [Contender],
    cooldown: Duration,
    notes: &mut Vec<String>,
    system: &System,
) -> Result<(Question, u32)> {
    let Some(compare) = compare else {
        // A plan that varies nothing runs once and is reported as a run.
        let varies =
            contenders.len() > 1 || contenders.iter().any(|contender| contender.steps.len() > 1);
        let default = if varies { experiment::sweep_repetitions(contenders) } else { 1 };
        return Ok((Question::Sweep, repetitions.unwrap_or(default)));
    };
    let is_at_given_loads = compare.at.unwrap_or_default() == ComparedLoads::Load;
    ensure!(
        search.is_none() || !is_at_given_loads,
        "the plan has `find` and `compare`; write one of them, or `compare: {{at: capacity}}` to compare capacities"
    );
    let max_repetitions = repetitions.unwrap_or(defaults::BLOCKS);
    let at_capacity = search
        .map(|search| search.compare(contenders, compare.within, max_repetitions, notes, system))
        .transpose()
        .map_err(in_comparison)?;
    let spec = comparison(compare, contenders, at_capacity).map_err(in_comparison)?;
    let repetitions =
        experiment::repetitions(repetitions, &spec, contenders, cooldown, &compare.sources);
    Ok((Question::Compare(spec), repetitions.map_err(in_comparison)?))
}

fn in_comparison(error: SpecError) -> SpecError {
    with_part(error, "compare")
}

fn contender(
    planned: &PlannedContender,
    search: Option<&SearchSection>,
    folder: &Path,
    system: &System,
) -> Result<(Contender, Vec<String>)> {
    let (steps, notes) = steps(planned, search, folder, system)
        .map_err(|error| with_part(error, &format!("contender {}", planned.name)))?;
    let [contender, repetition, step] = &planned.hooks;
    let hooks = ContenderHooks {
        contender: hook_commands(contender)?,
        repetition: hook_commands(repetition)?,
        step: hook_commands(step)?,
    };
    let default_interval = duration::or_default(planned.probe_interval, defaults::PROBE_INTERVAL)?;
    let probes = planned.probes.iter().cloned().map(|probe| ProbeSpec {
        name: probe.name,
        what: probe.what,
        interval: probe.interval.unwrap_or(default_interval),
    });
    let contender = Contender {
        name: planned.name.clone(),
        factors: planned.factors.clone(),
        steps,
        server: planned.server.as_ref().map(server).transpose()?,
        hooks,
        probes: probes.collect(),
    };
    Ok((contender, notes))
}

/// Adds the part of the plan to an error without a line.
fn with_part(error: SpecError, part: &str) -> SpecError {
    if error.position.is_some() { error } else { error.about(part) }
}

/// Checks that a search or comparison has one population.
fn check_one_population(planned: &PlannedContender) -> Result<()> {
    let several = planned.populations.get(1).and_then(|users| users.name.as_ref());
    several.map_or(Ok(()), |(name, at)| {
        let wrong = "a search or comparison is of one population; leave the others out, or measure them without it";
        Err(SpecError::new(at, format!("populations.{name}"), wrong))
    })
}

/// Creates the steps of a contender, from the settings of its first request. Each
/// step sends all requests.
fn steps(
    planned: &PlannedContender,
    search: Option<&SearchSection>,
    folder: &Path,
    system: &System,
) -> Result<(Vec<LoadStep>, Vec<String>)> {
    // The first population has the load that sweeps and searches vary.
    let Some((users, others)) = planned.populations.split_first() else {
        bail!("no request is defined")
    };
    let settings = all_settings(users, folder, system)?;
    let Some(first) = settings.first() else { bail!("no request is defined") };
    let has_load = search.is_none_or(SearchSection::has_given_loads);
    let (mut steps, mut notes) =
        if has_load { sweep_steps(first, system)? } else { (Vec::new(), Vec::new()) };
    if let Some(search) = search {
        let (pattern, pattern_notes) = sweep_steps(&search.run(first, &steps)?, system)?;
        // The pattern of the search is the first step; given loads follow it.
        steps.splice(0..0, pattern);
        notes.extend(pattern_notes);
    }
    if !users.requests.is_empty() {
        let scenario = mix(users, &settings, system)?;
        for step in &mut steps {
            // Steps differ in load only, so they share the mix of requests.
            step.plan.main_mut().scenario.clone_from(&scenario);
        }
    }
    let others = others
        .iter()
        .map(|users| resolve_population(users, folder, system))
        .collect::<Result<Vec<_>>>()?;
    notes.extend(others.iter().flat_map(|other| other.notes.clone()));
    for step in &mut steps {
        if let Some((name, _)) = &users.name {
            step.plan.main_mut().name.clone_from(name);
        }
        others.iter().try_for_each(|other| add_population(&mut step.plan, other))?;
    }
    steps.iter().try_for_each(|step| check_agents(&step.plan))?;
    if let Some(step) = steps.first() {
        let around = stages::around(planned, first, &step.plan, folder, system)?;
        for step in &mut steps {
            around.add_to(&mut step.plan);
        }
    }
    if let (Some(step), true) =
        (steps.first(), planned.populations.iter().any(|users| users.scenario.is_some()))
    {
        let scenarios: Vec<&PlanNode> =
            planned.populations.iter().filter_map(|users| users.scenario.as_ref()).collect();
        // Only checks the texts of scenarios; each run compiles them again.
        CompiledScript::all(&step.plan, system.languages)
            .map_err(|error| in_scenario(error, &scenarios, "scenario", system.languages))?;
    }
    steps.iter().try_for_each(|step| check_objectives(&step.plan.objectives, &[&step.plan]))?;
    Ok((steps, notes))
}

/// Checks that each agent has load, if the agents are known before their start.
fn check_agents(plan: &Plan) -> Result<()> {
    let Some(fleet) = plan.fleet.as_ref().filter(|fleet| !fleet.by_zone) else { return Ok(()) };
    let Some(names) = fleet.on.agent_names() else { return Ok(()) };
    check_placement(plan, &names, &fleet.groups_of(&names)).map_err(SpecError::unplaced)
}

/// An error of a text of a scenario, at the first place that contains the text.
pub(super) fn in_scenario(
    error: ScriptError,
    nodes: &[&PlanNode],
    path: &str,
    languages: Languages,
) -> SpecError {
    if matches!(error, ScriptError::Scenario(_))
        && let Some((node, fault)) =
            nodes.iter().find_map(|node| Some((node, fault(node, languages)?)))
    {
        return fault.within(path, &node.at);
    }
    // An error of a script has no place, so the first node with the wrong text is assumed to be it.
    let word = match &error {
        ScriptError::Word(wrong) => Some(wrong.word.clone()),
        ScriptError::Read { file, .. } => {
            file.file_name().map(|name| name.to_string_lossy().into_owned())
        }
        _ => None,
    };
    let at = word.and_then(|word| nodes.iter().find_map(|node| holder(node, &word)));
    let at = at.or_else(|| nodes.first().copied()).map(|node| node.at.clone());
    let error = SpecError::from(error);
    SpecError { position: error.position.or(at), path: path.into(), ..error }
}

/// The first value of a tree that contains a text.
fn holder<'a>(node: &'a PlanNode, text: &str) -> Option<&'a PlanNode> {
    match &node.value {
        PlanValue::Text { text: content, .. } => content.contains(text).then_some(node),
        PlanValue::List(nodes) => nodes.iter().find_map(|node| holder(node, text)),
        PlanValue::Map(entries) => entries.iter().find_map(|entry| holder(&entry.node, text)),
        PlanValue::Null => None,
    }
}

/// A population in addition to the first.
struct ResolvedPopulation {
    at: SourcePosition,
    plan: Plan,
    notes: Vec<String>,
}

fn resolve_population(
    users: &PlannedUsers,
    folder: &Path,
    system: &System,
) -> Result<ResolvedPopulation> {
    let (name, at) =
        users.name.clone().unwrap_or_else(|| (MAIN.to_owned(), SourcePosition::whole("")));
    let settings = all_settings(users, folder, system)?;
    let Some(first) = settings.first() else { bail!("no request is defined") };
    let (mut steps, notes) = sweep_steps(first, system)?;
    // `pop` comes first: `is_empty` is true only if it took the single step.
    let (Some(step), true) = (steps.pop(), steps.is_empty()) else {
        let wrong = "its load is a sweep; only that of the first population may be one";
        return Err(SpecError::new(&at, format!("populations.{name}"), wrong));
    };
    let mut plan = step.plan;
    plan.main_mut().name = name;
    if !users.requests.is_empty() {
        plan.main_mut().scenario = mix(users, &settings, system)?;
    }
    Ok(ResolvedPopulation { at, plan, notes })
}

/// Adds another population to the plan of a run.
fn add_population(plan: &mut Plan, other: &ResolvedPopulation) -> Result<()> {
    let mut population = other.plan.main().clone();
    let stop = &population.stop;
    let main_stop = &plan.main().stop;
    // A run has one measured time, which begins for all populations at once.
    if (stop.warmup, stop.warmup_until_steady) != (main_stop.warmup, main_stop.warmup_until_steady)
    {
        let wrong = "its warm-up differs from that of the first; write one load.warmup for all";
        return Err(SpecError::new(&other.at, format!("populations.{}", population.name), wrong));
    }
    let policy_count = plan.reply_policies.len() as u32;
    let connection = separate_connection(plan, &other.plan);
    let timeout = connection.as_ref().map(|connection| connection.timeout);
    let policies = other.plan.reply_policies.iter();
    plan.reply_policies
        // The timeout of the plan's connection settings would apply otherwise.
        .extend(
            policies.map(|policy| ReplyPolicy {
                timeout: policy.timeout.or(timeout),
                ..policy.clone()
            }),
        );
    // The policies of this population follow those of the plan, so their indexes shift.
    population
        .scenario
        .requests
        .iter_mut()
        .for_each(|request| request.reply_policy += policy_count);
    population.connection = connection;
    plan.populations.push(population);
    // The populations share the threads and processes.
    plan.threads = plan.threads.max(other.plan.threads);
    plan.processes = plan.processes.max(other.plan.processes);
    Ok(())
}

/// Connection settings of another population; None if they are those of the plan. A population
/// without local addresses connects from those of the plan.
fn separate_connection(plan: &Plan, other: &Plan) -> Option<Box<ConnectionSettings>> {
    let mut connection = other.connection.clone();
    if connection.source.is_empty() {
        // Addresses that brunt added for the first population are not a difference.
        connection.source.clone_from(&plan.connection.source);
    }
    (connection != plan.connection).then(|| Box::new(connection))
}

/// Reads the settings for each request.
fn all_settings(users: &PlannedUsers, folder: &Path, system: &System) -> Result<Vec<RunSettings>> {
    let mut all = all_keys(users)
        .iter()
        .map(|keys| keys.settings(folder, system))
        .collect::<Result<Vec<_>>>()?;
    if let (Some(node), [settings]) = (&users.scenario, &mut all[..]) {
        settings.scenario = Some(scenario_of(node, settings, folder, system)?);
    }
    for settings in &mut all {
        settings.fleet.placed_on = placed_on(users, &settings.fleet)?;
    }
    Ok(all)
}

/// Returns the group of agents over which the load of a population is dealt; None for all agents.
fn placed_on(users: &PlannedUsers, agents: &AgentSettings) -> Result<Option<String>> {
    let Some((group, at)) = &users.group else { return Ok(None) };
    let name = users.name.as_ref().map_or(MAIN, |(name, _)| name);
    let names = agents.groups.iter().map(|group| group.name.as_str());
    // The zones are known only when the agents run.
    let wrong = if agents.on.is_none() {
        format!(
            "only agents have groups; write `on: local:2` and `fleet: {{groups: [{group}=local-1]}}`, or leave the key out"
        )
    } else if agents.quiet > 0 {
        "quiet agents get 1 % of every population; leave out `group` or `fleet.quiet_agents`"
            .to_owned()
    } else if !agents.by_zone && !names.clone().any(|known| known == group) {
        unknown_group(name, group, names)
    } else {
        return Ok(Some(group.clone()));
    };
    Err(SpecError::new(at, format!("populations.{name}.group"), wrong))
}

/// Keys of the settings for each request. Several requests have their own order, so `script.order`,
/// the order of a file of URLs, is left out.
fn all_keys(users: &PlannedUsers) -> Vec<Keys> {
    if users.requests.is_empty() {
        return vec![Keys::new(users.settings.clone())];
    }
    let common: Vec<KeyedValue> =
        // The order is one of the list, and each request is read as a list of one.
        users.settings.iter().filter(|setting| setting.key != "script.order").cloned().collect();
    users.requests.iter().map(|request| Keys::new([&common[..], request].concat())).collect()
}

/// Combines the requests of several settings into one scenario.
fn mix(users: &PlannedUsers, settings: &[RunSettings], system: &System) -> Result<Scenario> {
    let mut all: Option<Scenario> = None;
    for (settings, keys) in settings.iter().zip(&users.requests) {
        let mut one = scenario(settings, system)?;
        let label = find(keys, "script.request.label").and_then(|setting| setting.node.text());
        let weight = find(keys, "script.request.weight").and_then(|setting| setting.node.text());
        for request in one.requests.iter_mut() {
            if let Some(label) = label {
                label.clone_into(&mut request.label);
            }
            request.weight = weight.and_then(|weight| weight.parse().ok()).unwrap_or(1);
        }
        match &mut all {
            Some(all) => {
                all.requests.append(&mut one.requests);
                all.services = grpc::joined(std::mem::take(&mut all.services), one.services)
                    .map_err(SpecError::unplaced)?;
            }
            None => all = Some(one),
        }
    }
    let Some(mut all) = all else { bail!("no request is defined") };
    if let Some(order) = users.request_order {
        all.steps = vec![ScenarioStep::Next(order)];
    }
    Ok(all)
}

fn hook_commands(planned: &PlannedHooks) -> Result<HookCommands> {
    Ok(HookCommands { before: hooks(&planned.before)?, after: hooks(&planned.after)? })
}

fn hooks(planned: &[PlannedHook]) -> Result<Vec<Hook>> {
    let mut hooks = Vec::with_capacity(planned.len());
    for (run, timeout) in planned {
        let timeout = duration::or_default(*timeout, defaults::HOOK_TIMEOUT)?;
        hooks.push(Hook { run: run.clone(), timeout });
    }
    Ok(hooks)
}

fn server(planned: &PlannedServer) -> Result<ManagedServer> {
    Ok(ManagedServer {
        start: planned.start.clone(),
        ready: planned.ready.clone(),
        stop: planned.stop.clone(),
        restart: planned.restart.unwrap_or(defaults::RESTART),
        environment: planned.environment.clone(),
        ready_timeout: duration::or_default(planned.ready_timeout, defaults::READY_TIMEOUT)?,
        stop_timeout: duration::or_default(planned.stop_timeout, defaults::STOP_TIMEOUT)?,
    })
}
