//! A plan file → an [`Experiment`]: the settings of each contender go the way of options, the rest is filled in from the table
//! of defaults.

use super::search::Search;
use super::stages;
use super::told::{Keys, find, put_all};
use crate::defaults;
use crate::error::{Result, SpecError, bail, ensure};
use crate::experiment::{self, comparison};
use crate::grpc;
use crate::plan::scenario::scenario as scenario_of;
use crate::plan::{
    Draft, Keyed, Node, PlanFile, PlanInputs, Planned, PlannedHook, PlannedHooks, PlannedProbe, PlannedServer,
    PlannedUsers, Position, Value,
};
use crate::settings::{CompareSettings, ExperimentSettings, RunSettings};
use crate::system::System;
use crate::to_plan::{check_objectives, scenario, sweep_steps};
use crate::words::compare::At;
use crate::words::duration;
use crate::words::values::Output;
use brunt_model::experiment::{ContenderHooks, Hook, HookCommands, ManagedServer, Step};
use brunt_model::live_output::LiveOutput;
use brunt_model::plan::{Connection, MAIN};
use brunt_model::scenario::{Scenario, Step as Do};
use brunt_model::{Contender, Experiment, Plan, ProbeSpec, Question, ReplyPolicy, Stop};
use brunt_script::{CompiledScript, ScriptError};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most steps of all contenders together: each is a whole plan.
const MOST_STEPS: usize = 20_000;

/// A plan file, ready to be carried out.
#[derive(Debug)]
pub struct Loaded {
    /// What is to be done.
    pub experiment: Experiment,
    /// Where reports go.
    pub outputs: Vec<Output>,
    /// Systems that receive figures while a load runs.
    pub live_outputs: Vec<LiveOutput>,
    /// What the plan says of a comparison, where it does.
    pub compare: Option<CompareSettings>,
    /// How the plan arranges trials, where it does.
    pub arrangement: ExperimentSettings,
    /// What the user should be told, each once.
    pub notes: Vec<String>,
}

/// The most errors of a plan file that are reported at once.
const MOST_ERRORS: usize = 20;

/// Reads a plan file and resolves it. `sets` are the words of `--set`; `dir` is what `${dir}` stands for.
///
/// # Errors
///
/// [`SpecError`] with all errors of the file, each with its place, if it cannot be read or a value is invalid.
pub fn load(path: &Path, sets: &[String], dir: &str, system: &System) -> Result<Loaded> {
    open(path, sets, dir, system)?.resolve(system)
}

/// A plan file that has been read, and is not resolved yet.
#[derive(Debug)]
pub struct Opened {
    /// What it says.
    pub file: PlanFile,
    source: Source,
}

/// Where a plan comes from, and what is filled in.
#[derive(Debug, Clone)]
struct Source {
    draft: Draft,
    folder: PathBuf,
    text: String,
    dir: String,
    name: String,
}

/// Reads a plan file.
///
/// # Errors
///
/// [`SpecError`] with its place if the file cannot be read, or is no plan file.
pub fn open(path: &Path, sets: &[String], dir: &str, system: &System) -> Result<Opened> {
    let text = text(path)?;
    (system.plan_text)(&text);
    let draft = Draft::parse(&text, &path.display().to_string(), sets)?;
    (system.plan_tree)(&draft.tree());
    let said = sets.iter().map(|set| format!("# --set {set}\n"));
    let source = Source {
        draft,
        folder: folder(path)?,
        text: std::iter::once(text.clone()).chain(said).collect(),
        dir: dir.to_owned(),
        name: path.file_stem().map_or_else(|| "plan".to_owned(), |stem| stem.to_string_lossy().into_owned()),
    };
    let file = source.file(system).map_err(|first| source.all_errors(first, system))?;
    Ok(Opened { file, source })
}

impl Source {
    fn file(&self, system: &System) -> Result<PlanFile> {
        let ports = draw(&self.draft.ports()?)?;
        let environment = |name: &str| (system.environment)(name).or_else(|| ours(name, system));
        let plan_dir = self.folder.display().to_string();
        let given = PlanInputs { ports: &ports, dir: &self.dir, plan_dir: &plan_dir, environment: &environment };
        self.draft.resolve(given, &self.name)
    }

    /// An error with all others of the file: what is wrong is taken out until the rest can be read, or lacks what was taken out.
    fn all_errors(&self, first: SpecError, system: &System) -> SpecError {
        let (mut found, mut rest) = (vec![first], self.clone());
        while let (Some(last), true) = (found.last(), found.len() < MOST_ERRORS) {
            let Some(draft) = last.at.as_ref().and_then(|at| rest.draft.without(at)) else { break };
            rest.draft = draft;
            let next = rest.file(system).and_then(|file| rest.experiment(file, system));
            let Err(next) = next else { break };
            // Within what was taken out of, or where it was taken out, something is missing now.
            let is_around = |error: &SpecError| !error.path.is_empty() && next.path.starts_with(&error.path);
            let lacks =
                |error: &SpecError| error.path.starts_with(&next.path) || is_around(error) || error.at == next.at;
            if next.at.is_none() || found.iter().any(lacks) {
                break;
            }
            found.push(next);
        }
        found.sort_by_key(|error| error.at.as_ref().map(Position::line_and_column));
        let others = found.split_off(1);
        found.pop().map_or_else(|| SpecError::told(""), |first| SpecError { others, ..first })
    }
}

/// What stands for a variable that is not set: `BRUNT` is the program that carries the plan out.
fn ours(name: &str, system: &System) -> Option<String> {
    (name == "BRUNT").then(|| (system.program)().ok())?.map(|path| path.display().to_string())
}

fn text(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path)
        .map_err(|error| SpecError::told(format!("cannot read the plan file {}: {error}", path.display())))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(e) => {
            let line = e.as_bytes()[..e.utf8_error().valid_up_to()].split(|b| *b == b'\n').count();
            bail!("{}:{line}: this is not UTF-8; write the file in UTF-8", path.display())
        }
    }
}

fn folder(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|error| SpecError::from(error).of(&path.display().to_string()))?;
    Ok(absolute.parent().unwrap_or(Path::new("/")).to_owned())
}

/// Free loopback ports. All are held until the last is drawn, so that they differ.
fn draw(names: &[String]) -> Result<BTreeMap<String, u16>> {
    let drawn = names.iter().map(|name| {
        let listener = TcpListener::bind("127.0.0.1:0")
            .map_err(|error| SpecError::from(error).of(&format!("no free port for `{name}`")))?;
        Ok((name.clone(), listener.local_addr()?.port(), listener))
    });
    let held = drawn.collect::<Result<Vec<_>>>()?;
    Ok(held.into_iter().map(|(name, port, _)| (name, port)).collect())
}

impl Opened {
    /// The experiment that it comes to.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with all errors of the file, each with its place.
    pub fn resolve(self, system: &System) -> Result<Loaded> {
        let Self { file, source } = self;
        source.experiment(file, system).map_err(|first| source.all_errors(first, system))
    }
}

impl Source {
    /// The experiment that a file of this source comes to.
    fn experiment(&self, file: PlanFile, system: &System) -> Result<Loaded> {
        let folder = &self.folder;
        let arrangement: ExperimentSettings = put_all(&file.arrangement, folder, system)?;
        let compare = file.compare.as_ref().map(|keys| put_all(keys, folder, system)).transpose()?;
        let at = compare.as_ref().and_then(|compare: &CompareSettings| compare.at).unwrap_or_default();
        let below_find = file.find.as_deref().or((at != At::Load).then_some(&[]));
        let search = below_find.map(|settings| Search::read(settings, at, system)).transpose()?;
        let mut notes = Vec::<String>::new();
        let mut contenders = Vec::with_capacity(file.contenders.len());
        let mut steps = 0;
        for planned in &file.contenders {
            if search.is_some() || compare.is_some() {
                one_population(planned)?;
            }
            let (contender, told) = contender(planned, search.as_ref(), folder, system)?;
            notes.extend(told.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
            steps += contender.steps.len();
            ensure!(
                steps <= MOST_STEPS,
                "that makes more than {MOST_STEPS} steps; write sweeps in greater steps, or fewer contenders"
            );
            contenders.push(contender);
        }
        let output = Keys::new(file.outputs.clone()).settings(folder, system)?.output;
        let (outputs, live_outputs) = (output.outputs, output.live_outputs);
        let seed = contenders.first().and_then(|c| c.steps.first()).map_or(system.seed, |step| step.plan.seed);
        let cooldown = duration::or_default(arrangement.cooldown, defaults::COOLDOWN)?;
        let compared = search.as_ref().filter(|_| compare.is_some());
        let told = (&mut notes, system);
        let (question, repetitions) =
            question(compare.as_ref(), arrangement.repetitions, compared, &mut contenders, cooldown, told)?;
        let mut experiment = Experiment {
            name: file.name,
            about: file.about,
            contenders,
            repetitions,
            order: arrangement.order.unwrap_or(defaults::TRIAL_ORDER),
            cooldown,
            hooks: around(&file.hooks)?,
            seed,
            directory: folder.clone(),
            scratch: None,
            question,
            source: self.text.clone(),
        };
        let alone = search.as_ref().filter(|_| compare.is_none());
        if let (Some(search), Some(first)) = (alone, file.contenders.first()) {
            search.ask(&mut experiment, first, &mut notes, system)?;
        }
        Ok(Loaded { experiment, outputs, live_outputs, compare, arrangement, notes })
    }
}

/// What the experiment is to decide, where it is no search, and how often each step is measured for that.
fn question(
    compare: Option<&CompareSettings>,
    repetitions: Option<u32>,
    search: Option<&Search>,
    contenders: &mut [Contender],
    cooldown: Duration,
    told: (&mut Vec<String>, &System),
) -> Result<(Question, u32)> {
    let Some(compare) = compare else {
        let varies = contenders.len() > 1 || contenders.iter().any(|contender| contender.steps.len() > 1);
        let default = if varies { defaults::REPETITIONS } else { 1 };
        return Ok((Question::Sweep, repetitions.unwrap_or(default)));
    };
    let by_loads = compare.at.unwrap_or_default() == At::Load;
    ensure!(
        search.is_none() || !by_loads,
        "the plan says `find` and `compare`; write one of them, or `compare: {{at: capacity}}` to compare capacities"
    );
    let length = (compare.within, repetitions.unwrap_or(defaults::BLOCKS));
    let of_comparison = |error| placed(error, "compare");
    let at = search.map(|search| search.compare(contenders, length, told)).transpose().map_err(of_comparison)?;
    let spec = comparison(compare, contenders, at).map_err(of_comparison)?;
    let repetitions = experiment::repetitions(repetitions, &spec, contenders, cooldown, &compare.said);
    Ok((Question::Compare(spec), repetitions.map_err(of_comparison)?))
}

fn contender(
    planned: &Planned,
    search: Option<&Search>,
    folder: &Path,
    system: &System,
) -> Result<(Contender, Vec<String>)> {
    let (steps, notes) = steps(planned, search, folder, system)
        .map_err(|error| placed(error, &format!("contender {}", planned.name)))?;
    let [contender, repetition, step] = &planned.hooks;
    let hooks = ContenderHooks { contender: around(contender)?, repetition: around(repetition)?, step: around(step)? };
    let every = duration::or_default(planned.probe_interval, defaults::PROBE_INTERVAL)?;
    let probe = |PlannedProbe { name, what, interval }| ProbeSpec { name, what, interval: interval.unwrap_or(every) };
    let contender = Contender {
        name: planned.name.clone(),
        factors: planned.factors.clone(),
        steps,
        server: planned.server.as_ref().map(server).transpose()?,
        hooks,
        probes: planned.probes.iter().cloned().map(probe).collect(),
    };
    Ok((contender, notes))
}

/// An error that has no line names the part of the plan.
fn placed(error: SpecError, part: &str) -> SpecError {
    if error.at.is_some() { error } else { error.of(part) }
}

/// A search and a comparison are of one load.
fn one_population(planned: &Planned) -> Result<()> {
    let several = planned.populations.get(1).and_then(|users| users.name.as_ref());
    several.map_or(Ok(()), |(name, at)| {
        let wrong = "a search or comparison is of one population; leave the others out, or measure them without it";
        Err(SpecError::new(at, format!("populations.{name}"), wrong))
    })
}

/// The steps of a contender: those of its settings with its first request, each asking all of them.
fn steps(
    planned: &Planned,
    search: Option<&Search>,
    folder: &Path,
    system: &System,
) -> Result<(Vec<Step>, Vec<String>)> {
    let Some((users, others)) = planned.populations.split_first() else { bail!("no request is defined") };
    let settings = all_settings(users, folder, system)?;
    let Some(first) = settings.first() else { bail!("no request is defined") };
    let is_known = search.is_none_or(Search::is_beside_loads);
    let (mut steps, mut notes) = if is_known { sweep_steps(first, system)? } else { (Vec::new(), Vec::new()) };
    if let Some(search) = search {
        let (pattern, told) = sweep_steps(&search.run(first, &steps)?, system)?;
        steps.splice(0..0, pattern);
        notes.extend(told);
    }
    if !users.requests.is_empty() {
        let scenario = mix(users, &settings, system)?;
        for step in &mut steps {
            step.plan.main_mut().scenario.clone_from(&scenario);
        }
    }
    let others = others.iter().map(|users| beside(users, folder, system)).collect::<Result<Vec<_>>>()?;
    notes.extend(others.iter().flat_map(|other| other.notes.clone()));
    for step in &mut steps {
        if let Some((name, _)) = &users.name {
            step.plan.main_mut().name.clone_from(name);
        }
        others.iter().try_for_each(|other| join(&mut step.plan, other))?;
    }
    if let Some(step) = steps.first() {
        let around = stages::around(planned, first, &step.plan, folder, system)?;
        for step in &mut steps {
            around.add_to(&mut step.plan);
        }
    }
    if let (Some(step), true) = (steps.first(), planned.populations.iter().any(|users| users.scenario.is_some())) {
        let scenarios: Vec<&Node> = planned.populations.iter().filter_map(|users| users.scenario.as_ref()).collect();
        CompiledScript::all(&step.plan).map_err(|error| in_scenario(error, &scenarios, "scenario"))?;
    }
    steps.iter().try_for_each(|step| check_objectives(&step.plan.objectives, &[&step.plan]))?;
    Ok((steps, notes))
}

/// What is wrong with a text of a scenario, at the first place that holds it.
pub(super) fn in_scenario(error: ScriptError, nodes: &[&Node], path: &str) -> SpecError {
    let word = match &error {
        ScriptError::Word(wrong) => Some(wrong.word.clone()),
        ScriptError::Read { file, .. } => file.file_name().map(|name| name.to_string_lossy().into_owned()),
        _ => None,
    };
    let at = word.and_then(|word| nodes.iter().find_map(|node| holder(node, &word)));
    let at = at.or_else(|| nodes.first().copied()).map(|node| node.at.clone());
    let error = SpecError::from(error);
    SpecError { at: error.at.or(at), path: path.into(), ..error }
}

/// The first value of a tree that holds a text.
fn holder<'a>(node: &'a Node, text: &str) -> Option<&'a Node> {
    match &node.value {
        Value::Text { text: own, .. } => own.contains(text).then_some(node),
        Value::List(nodes) => nodes.iter().find_map(|node| holder(node, text)),
        Value::Map(entries) => entries.iter().find_map(|entry| holder(&entry.node, text)),
        Value::Null => None,
    }
}

/// A population beside the first.
struct Beside {
    at: Position,
    plan: Plan,
    notes: Vec<String>,
}

fn beside(users: &PlannedUsers, folder: &Path, system: &System) -> Result<Beside> {
    let (name, at) = users.name.clone().unwrap_or_else(|| (MAIN.to_owned(), Position::whole("")));
    let settings = all_settings(users, folder, system)?;
    let Some(first) = settings.first() else { bail!("no request is defined") };
    let (mut steps, notes) = sweep_steps(first, system)?;
    let (Some(step), true) = (steps.pop(), steps.is_empty()) else {
        let wrong = "its load is a sweep; only that of the first population may be one";
        return Err(SpecError::new(&at, format!("populations.{name}"), wrong));
    };
    let mut plan = step.plan;
    plan.main_mut().name = name;
    if !users.requests.is_empty() {
        plan.main_mut().scenario = mix(users, &settings, system)?;
    }
    Ok(Beside { at, plan, notes })
}

/// Another population of the same run.
fn join(plan: &mut Plan, other: &Beside) -> Result<()> {
    let mut population = other.plan.main().clone();
    let same = |stop: &Stop| (stop.warmup, stop.warmup_until_steady);
    if same(&population.stop) != same(&plan.main().stop) {
        let wrong = "its warm-up differs from that of the first; write one load.warmup for all";
        return Err(SpecError::new(&other.at, format!("populations.{}", population.name), wrong));
    }
    let (policies, connection) = (plan.reply_policies.len() as u32, own_connection(plan, &other.plan));
    let timeout = connection.as_ref().map(|own| own.timeout);
    let policy = |policy: &ReplyPolicy| ReplyPolicy { timeout: policy.timeout.or(timeout), ..policy.clone() };
    population.scenario.requests.iter_mut().for_each(|request| request.reply_policy += policies);
    plan.reply_policies.extend(other.plan.reply_policies.iter().map(policy));
    population.connection = connection;
    plan.populations.push(population);
    plan.threads = plan.threads.max(other.plan.threads);
    plan.processes = plan.processes.max(other.plan.processes);
    Ok(())
}

/// The connection settings of another population, where they are not those of the plan. Local addresses that nobody asked for
/// are the same.
fn own_connection(plan: &Plan, other: &Plan) -> Option<Box<Connection>> {
    let mut own = other.connection.clone();
    if own.source.is_empty() {
        own.source.clone_from(&plan.connection.source);
    }
    (own != plan.connection).then(|| Box::new(own))
}

/// The settings for each request. `script.order` is of a file of URLs; of a mix, the plan says it itself.
fn all_settings(users: &PlannedUsers, folder: &Path, system: &System) -> Result<Vec<RunSettings>> {
    let mut all = all_keys(users).iter().map(|keys| keys.settings(folder, system)).collect::<Result<Vec<_>>>()?;
    if let (Some(node), [settings]) = (&users.scenario, &mut all[..]) {
        settings.scenario = Some(scenario_of(node, settings, folder, system)?);
    }
    Ok(all)
}

fn all_keys(users: &PlannedUsers) -> Vec<Keys> {
    if users.requests.is_empty() {
        return vec![Keys::new(users.settings.clone())];
    }
    let common: Vec<Keyed> = users.settings.iter().filter(|setting| setting.key != "script.order").cloned().collect();
    users.requests.iter().map(|request| Keys::new([&common[..], request].concat())).collect()
}

/// A mix is what several runs would ask, side by side.
fn mix(users: &PlannedUsers, settings: &[RunSettings], system: &System) -> Result<Scenario> {
    let mut all: Option<Scenario> = None;
    for (settings, request) in settings.iter().zip(&users.requests) {
        let mut one = scenario(settings, system)?;
        let text = |key| find(request, key).and_then(|setting| setting.node.text());
        for asked in one.requests.iter_mut() {
            if let Some(label) = text("script.request.label") {
                label.clone_into(&mut asked.label);
            }
            asked.weight = text("script.request.weight").and_then(|weight| weight.parse().ok()).unwrap_or(1);
        }
        match &mut all {
            Some(all) => {
                all.requests.append(&mut one.requests);
                all.services =
                    grpc::joined(std::mem::take(&mut all.services), one.services).map_err(SpecError::told)?;
            }
            None => all = Some(one),
        }
    }
    let Some(mut all) = all else { bail!("no request is defined") };
    if let Some(order) = users.request_order {
        all.steps = vec![Do::Next(order)];
    }
    Ok(all)
}

fn around(planned: &PlannedHooks) -> Result<HookCommands> {
    let hook = |(run, timeout): &PlannedHook| {
        Ok(Hook { run: run.clone(), timeout: duration::or_default(*timeout, defaults::HOOK_TIMEOUT)? })
    };
    let hooks = |hooks: &[PlannedHook]| hooks.iter().map(hook).collect::<Result<Vec<_>>>();
    Ok(HookCommands { before: hooks(&planned.before)?, after: hooks(&planned.after)? })
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
