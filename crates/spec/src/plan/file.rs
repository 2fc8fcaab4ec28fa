//! A plan file, read: what it says of the whole experiment, and of each contender.

use super::fill::{PlanInputs, Scope, Unknown, Who};
use super::node::{Entry, Node, Value};
use super::probes::{PlannedProbe, probes};
use super::read::read;
use super::sets::sets;
use super::vary::{self, Variant};
use super::words::{Commands, Longer, Scalar, ScalarOr};
use super::written::{self, Written};
use super::yaml;
use crate::error::{Position, SpecError};
use crate::settings::{ExperimentSettings, Settings, rows};
use brunt_model::StageKind;
use brunt_model::experiment::{Ready, Restart};
use brunt_model::scenario::Order;
use std::time::Duration;

/// The text of a plan file, read as YAML, with what `--set` changes; nothing is filled in yet.
#[derive(Debug, Clone)]
pub struct Draft {
    plan: Node,
    sets: Option<Node>,
}

/// The content of a plan file. A missing key is None: the caller has the defaults.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// Name of the experiment.
    pub name: String,
    /// A description; may be empty.
    pub about: String,
    /// How trials are arranged: keys `repetitions`, `order` and `cooldown`.
    pub arrangement: Vec<Keyed>,
    /// How contenders are compared, where they are: keys below `compare`.
    pub compare: Option<Vec<Keyed>>,
    /// Commands around the whole.
    pub hooks: PlannedHooks,
    /// How the capacity is looked for, where that is asked: keys below `find`.
    pub find: Option<Vec<Keyed>>,
    /// Where reports go: key `outputs`.
    pub outputs: Vec<Keyed>,
    /// What is compared: one at least.
    pub contenders: Vec<Planned>,
}

/// A contender.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Its name; no two have the same.
    pub name: String,
    /// Its level of each factor.
    pub factors: Vec<(String, String)>,
    /// What is asked of it, and how much: by users of one kind, or of several at the same time.
    pub populations: Vec<PlannedUsers>,
    /// What is done before and after each trial, step by step: keys `setup` and `teardown`.
    pub stages: Vec<(StageKind, Node)>,
    /// The server that is started for it.
    pub server: Option<PlannedServer>,
    /// Commands around its trials, its repetitions and its steps.
    pub hooks: [PlannedHooks; 3],
    /// What is read meanwhile.
    pub probes: Vec<PlannedProbe>,
    /// Time from one reading to the next, for probes that do not say so themselves.
    pub probe_interval: Option<Duration>,
    /// The plan as it is for this contender, filled in: what `brunt plan show` prints.
    pub resolved: Node,
}

/// Users of one kind.
#[derive(Debug, Clone)]
pub struct PlannedUsers {
    /// Their names with places; None: no populations.
    pub name: Option<(String, Position)>,
    /// What they ask: one request, several, or none where `script.urls` is among the settings. Keys begin with
    /// `script.request`.
    pub requests: Vec<Vec<Keyed>>,
    /// Which of several is next, where the plan says so.
    pub request_order: Option<Order>,
    /// What they do step by step, in place of requests: key `scenario`.
    pub scenario: Option<Node>,
    /// All that is an option of a run, by its key.
    pub settings: Vec<Keyed>,
}

/// A key of the plan and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    /// The key, such as `load.rate`.
    pub key: String,
    /// The value, with its place.
    pub node: Node,
}

/// Commands before and after something, each with its bound where the plan says one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedHooks {
    /// Before it.
    pub before: Vec<PlannedHook>,
    /// After it.
    pub after: Vec<PlannedHook>,
}

/// A command and its bound.
pub type PlannedHook = (String, Option<Duration>);

/// A server that brunt starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedServer {
    /// Command line passed to `sh -c`.
    pub start: String,
    /// Condition for the server to be ready.
    pub ready: Ready,
    /// What ends it.
    pub stop: Option<String>,
    /// Between which trials it is started anew.
    pub restart: Option<Restart>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
    /// Time limit for readiness.
    pub ready_timeout: Option<Duration>,
    /// Time limit for its end.
    pub stop_timeout: Option<Duration>,
}

impl Draft {
    /// Reads the text of a plan file. `file` is its name in errors; `words` are those of `--set`, each `NAME=VALUE`.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if the text is no YAML, a key is unknown, or a value is not of its form.
    pub fn parse(text: &str, file: &str, words: &[String]) -> Result<Self, SpecError> {
        let mut plan = yaml::parse(text, file)?;
        vary::map(&plan, "")?;
        let sets = sets(words, &plan)?;
        plan.merge(sets.as_ref().unwrap_or(&Node::empty(plan.at.clone())));
        Ok(Self { plan, sets })
    }

    /// The tree of the file.
    pub fn tree(&self) -> serde_json::Value {
        super::json(&self.plan)
    }

    /// The same without what stands at a place; None where nothing stands there.
    pub fn without(&self, at: &Position) -> Option<Self> {
        let mut rest = self.clone();
        rest.plan.take_out(at).then_some(rest)
    }

    /// The names of the ports that must be drawn before the rest can be resolved.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a placeholder is malformed.
    pub fn ports(&self) -> Result<Vec<String>, SpecError> {
        let Some(node) = self.plan.child("ports").filter(|node| node.value != Value::Null) else {
            return Ok(Vec::new());
        };
        let ports: Vec<String> = read(node).map_err(|e| e.within("ports", &node.at))?;
        match ports.iter().enumerate().find(|(n, port)| ports[..*n].contains(port)) {
            Some((_, twice)) => {
                Err(SpecError::new(&node.at, "ports", format!("`{twice}` is given twice; write it once")))
            }
            None => Ok(ports),
        }
    }

    /// Fills everything in. `usual` is the name of an experiment that has none.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a variable is unknown, or a value is invalid.
    pub fn resolve(&self, given: PlanInputs<'_>, usual: &str) -> Result<PlanFile, SpecError> {
        let mut plan = self.plan.clone();
        vary::choose(&mut plan, given)?;
        self.set_again(&mut plan);
        let whole = whole(&plan, given)?;
        let written: Written = read(&whole)?;
        let name = written.name.map_or_else(|| usual.to_owned(), |name| name.0);
        let mut contenders = Vec::new();
        for mut variant in vary::variants(&plan, &name)? {
            self.set_again(&mut variant.tree);
            contenders.push(contender(variant, given)?);
        }
        Ok(PlanFile {
            name,
            about: written.about.unwrap_or_default().0,
            arrangement: ExperimentSettings::rows()
                .flat_map(|row| row.keys)
                .filter_map(|key| setting(&whole, key.key))
                .collect(),
            compare: written.compare.as_ref().and(whole.child("compare")).map(|node| below("compare", node).collect()),
            hooks: hooks(&written.hooks, |around| &around.experiment),
            find: written.find.as_ref().and(whole.child("find")).map(|node| below("find", node).collect()),
            outputs: setting(&whole, "outputs").into_iter().collect(),
            contenders,
        })
    }

    /// The command line has the last word, whatever was laid over the plan.
    fn set_again(&self, plan: &mut Node) {
        if let Some(sets) = &self.sets {
            plan.merge(sets);
        }
    }
}

/// A key at the top of a plan, where it is there.
fn setting(plan: &Node, key: &str) -> Option<Keyed> {
    plan.child(key).map(|node| Keyed { key: key.into(), node: node.clone() })
}

/// What is of the whole experiment, filled in. Variables stay as they are: some are known within contenders only.
fn whole(plan: &Node, given: PlanInputs<'_>) -> Result<Node, SpecError> {
    let scope = Scope { vars: plan.child("vars"), given, who: None, unknown: Unknown::Refused };
    let mut tree = kept(plan, |key| {
        key == "hooks" || vary::OF_THE_WHOLE.contains(&key) && !["choose", "contenders", "factors"].contains(&key)
    });
    hooks_of(&mut tree, |level| level == "experiment");
    let mut tree = scope.fill(&tree)?.without_nulls();
    if let Value::Map(entries) = &mut tree.value {
        entries.extend(
            plan.entries().iter().filter(|entry| entry.key == "vars" && entry.node.value != Value::Null).cloned(),
        );
    }
    Ok(tree)
}

fn contender(variant: Variant, given: PlanInputs<'_>) -> Result<Planned, SpecError> {
    let Variant { name, factors, tree, .. } = variant;
    let who = Some(Who { name: &name, factors: &factors });
    let scope = Scope { vars: tree.child("vars"), given, who, unknown: Unknown::Refused };
    let mut own = kept(&tree, |key| key != "vars" && !vary::OF_THE_WHOLE.contains(&key));
    hooks_of(&mut own, |level| level != "experiment");
    let resolved = scope.fill(&own)?.without_nulls();
    let written: Written = read(&resolved)?;
    Ok(Planned {
        populations: populations(&resolved)?,
        stages: [StageKind::Setup, StageKind::Teardown]
            .into_iter()
            .filter_map(|kind| Some((kind, resolved.child(kind.word())?.clone())))
            .collect(),
        server: written.server.as_ref().map(|written| server(written, &resolved)).transpose()?,
        hooks: [
            hooks(&written.hooks, |around| &around.contender),
            hooks(&written.hooks, |around| &around.repetition),
            hooks(&written.hooks, |around| &around.step),
        ],
        probes: probes(&written.probes.unwrap_or_default(), resolved.child("probes"))?,
        probe_interval: written.probe_interval.map(|time| time.0),
        resolved,
        name,
        factors,
    })
}

/// The users of a contender: those of its populations, or all alike.
fn populations(plan: &Node) -> Result<Vec<PlannedUsers>, SpecError> {
    let Some(populations) = plan.child("populations") else { return Ok(vec![users(plan, None)?]) };
    if populations.entries().is_empty() {
        let wrong = "there is none in it; write a name with its script and load, or leave the key out";
        return Err(SpecError::new(&populations.at, "populations", wrong));
    }
    let of = |entry: &Entry| {
        let path = format!("populations.{}", entry.key);
        read::<written::Population>(&entry.node).map_err(|error| error.within(&path, &entry.node.at))?;
        let mut tree = kept(plan, |key| key != "populations");
        tree.merge(&entry.node);
        users(&tree.without_nulls(), Some((entry.key.clone(), entry.at.clone())))
    };
    populations.entries().iter().map(of).collect()
}

fn users(plan: &Node, name: Option<(String, Position)>) -> Result<PlannedUsers, SpecError> {
    let request_order = plan.below("script.order").and_then(Node::text).and_then(rows::request::order);
    let scenario = plan.child("scenario").cloned();
    let requests = match (&scenario, plan.child("script")) {
        (Some(scenario), Some(_)) => {
            let wrong = "script defines the requests already; write one of them (`script: null` takes it away again)";
            return Err(SpecError::new(&scenario.at, "scenario", wrong));
        }
        (Some(_), None) => Vec::new(),
        (None, _) => requests(plan)?,
    };
    Ok(PlannedUsers { name, requests, request_order, scenario, settings: settings(plan) })
}

/// The tree with some of its keys.
fn kept(plan: &Node, keep: impl Fn(&str) -> bool) -> Node {
    let entries = plan.entries().iter().filter(|entry| keep(&entry.key)).cloned().collect();
    Node { at: plan.at.clone(), value: Value::Map(entries) }
}

/// Leaves those hooks whose level is wanted. Levels that there are none of stay, to be refused.
fn hooks_of(plan: &mut Node, wanted: impl Fn(&str) -> bool) {
    let Value::Map(entries) = &mut plan.value else { return };
    let Some(hooks) = entries.iter_mut().find(|entry| entry.key == "hooks") else { return };
    let Value::Map(times) = &mut hooks.node.value else { return };
    for time in times {
        if let Value::Map(levels) = &mut time.node.value {
            levels.retain(|level| wanted(&level.key));
        }
    }
}

/// What is asked, each request by its keys.
fn requests(plan: &Node) -> Result<Vec<Vec<Keyed>>, SpecError> {
    let nothing = "the request is missing; write `request: URL`, `requests: [URL, …]` or `urls: FILE` below script, or steps \
                   below scenario";
    let script = plan.child("script").ok_or_else(|| SpecError::new(&plan.at, "script", nothing))?;
    let ways: Vec<&Entry> =
        script.entries().iter().filter(|e| ["request", "requests", "urls"].contains(&e.key.as_str())).collect();
    let one = match ways[..] {
        [one] => one,
        [] => return Err(SpecError::new(&script.at, "script", nothing)),
        [first, second, ..] => {
            let wrong = format!(
                "script.{} defines the requests already; write one of them (`{}: null` takes it away again)",
                first.key, first.key
            );
            return Err(SpecError::new(&second.at, format!("script.{}", second.key), wrong));
        }
    };
    match (&one.node.value, one.key.as_str()) {
        (_, "urls") => Ok(Vec::new()),
        (Value::List(nodes), "requests") if nodes.is_empty() => {
            Err(SpecError::new(&one.node.at, "script.requests", "it is empty; write at least one request"))
        }
        (Value::List(nodes), _) => Ok(nodes.iter().map(request).collect()),
        _ => Ok(vec![request(&one.node)]),
    }
}

fn request(node: &Node) -> Vec<Keyed> {
    if node.text().is_some() {
        return vec![Keyed { key: "script.request.url".into(), node: node.clone() }];
    }
    below("script.request", node).collect()
}

/// All keys that are options of a run.
fn settings(plan: &Node) -> Vec<Keyed> {
    let script = plan.child("script").into_iter().flat_map(|node| below("script", node));
    let script = script.filter(|setting| !["script.request", "script.requests"].contains(&setting.key.as_str()));
    let sections = ["load", "connection", "checks"].into_iter().filter_map(|key| Some((key, plan.child(key)?)));
    let objectives = setting(plan, "objectives");
    script.chain(sections.flat_map(|(key, node)| below(key, node))).chain(objectives).collect()
}

fn below<'a>(key: &'a str, node: &'a Node) -> impl Iterator<Item = Keyed> + 'a {
    node.entries().iter().map(move |entry| Keyed { key: format!("{key}.{}", entry.key), node: entry.node.clone() })
}

fn hooks(written: &written::Hooks, level: impl Fn(&written::HookLevels) -> &Commands) -> PlannedHooks {
    let hook = |command: &ScalarOr<written::Command>| match command {
        ScalarOr::Scalar(Scalar(run)) => (run.clone(), None),
        ScalarOr::Map(written::Command { run, timeout }) => (run.0.clone(), timeout.map(|Longer(time)| time)),
    };
    let commands = |around: &written::HookLevels| level(around).0.iter().map(hook).collect();
    PlannedHooks { before: commands(&written.before), after: commands(&written.after) }
}

fn server(written: &written::Server, plan: &Node) -> Result<PlannedServer, SpecError> {
    let http = |place: &str| url::Url::parse(place).is_ok_and(|url| ["http", "https"].contains(&url.scheme()));
    let address = |place: &str| {
        place.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
    };
    let ready = match &written.ready {
        ScalarOr::Map(written::ReadyCommand { command }) => Ready::Command(command.0.clone()),
        ScalarOr::Scalar(Scalar(place)) if http(place) => Ready::Url(place.clone()),
        ScalarOr::Scalar(Scalar(place)) if !place.contains('/') && address(place) => Ready::Address(place.clone()),
        ScalarOr::Scalar(Scalar(place)) => {
            let wrong = format!(
                "`{place}` is neither a URL nor HOST:PORT; write one such as http://127.0.0.1:8080/ or 127.0.0.1:8080"
            );
            return Err(SpecError::new(
                plan.below("server.ready").map_or(&plan.at, |node| &node.at),
                "server.ready",
                wrong,
            ));
        }
    };
    Ok(PlannedServer {
        start: written.start.0.clone(),
        ready,
        stop: written.stop.as_ref().map(|word| word.0.clone()),
        restart: written.restart,
        environment: written.environment.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect(),
        ready_timeout: written.ready_timeout.map(|time| time.0),
        stop_timeout: written.stop_timeout.map(|time| time.0),
    })
}
