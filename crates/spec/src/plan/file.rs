//! Reads a plan file: the content for the whole experiment, and for each contender.

use super::fill::{ContenderScope, FillInputs, Scope, UnknownNames};
use super::node::{NamedNode, PlanNode, PlanValue};
use super::probes::{PlannedProbe, probes};
use super::read::read;
use super::sets::sets;
use super::vary::{self, Variant};
use super::words::{Commands, PositiveDuration, Scalar, ScalarOr};
use super::written::{self, Written};
use super::yaml;
use crate::error::{SourcePosition, SpecError};
use crate::settings::{ExperimentSettings, SettingTable, rows};
use brunt_model::StageKind;
use brunt_model::experiment::{ReadyCondition, Restart};
use brunt_model::scenario::ListOrder;
use std::time::Duration;

/// The YAML tree of a plan file, with the changes of `--set`. Placeholders are not filled in yet.
#[derive(Debug, Clone)]
pub struct PlanTree {
    plan: PlanNode,
    sets: Option<PlanNode>,
}

/// The content of a plan file. A missing key is None; the caller has the defaults.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// Name of the experiment.
    pub name: String,
    /// Description of the experiment; may be empty.
    pub about: String,
    /// Arrangement of trials: keys `repetitions`, `order` and `cooldown`.
    pub arrangement: Vec<KeyedValue>,
    /// Keys below `compare`; None without a comparison.
    pub compare: Option<Vec<KeyedValue>>,
    /// Commands before and after the experiment.
    pub hooks: PlannedHooks,
    /// Keys below `find`; None without a search.
    pub find: Option<Vec<KeyedValue>>,
    /// Destinations of reports: key `outputs`.
    pub outputs: Vec<KeyedValue>,
    /// At least one contender.
    pub contenders: Vec<PlannedContender>,
}

/// A contender, as the plan file describes it.
#[derive(Debug, Clone)]
pub struct PlannedContender {
    /// Unique name of the contender.
    pub name: String,
    /// Level of each factor, by name.
    pub factors: Vec<(String, String)>,
    /// Requests and load of each population; the populations run at the same time.
    pub populations: Vec<PlannedUsers>,
    /// Steps before and after each trial: keys `setup` and `teardown`.
    pub stages: Vec<(StageKind, PlanNode)>,
    /// Server that brunt starts for the contender.
    pub server: Option<PlannedServer>,
    /// Commands around its trials, its repetitions and its steps, in this order.
    pub hooks: [PlannedHooks; 3],
    /// Probes during the runs.
    pub probes: Vec<PlannedProbe>,
    /// Time between two readings, for probes without an interval.
    pub probe_interval: Option<Duration>,
    /// Plan of this contender, filled in: the output of `brunt plan show`.
    pub resolved: PlanNode,
}

/// A population, as the plan file describes it.
#[derive(Debug, Clone)]
pub struct PlannedUsers {
    /// Name of the population with its place; None if the plan has no populations.
    pub name: Option<(String, SourcePosition)>,
    /// Requests, each with its keys, which begin with `script.request`. Empty if `script.urls` is
    /// among the settings, or if there is a scenario.
    pub requests: Vec<Vec<KeyedValue>>,
    /// Order of several requests, if the plan sets it.
    pub request_order: Option<ListOrder>,
    /// Scenario in place of requests: key `scenario`.
    pub scenario: Option<PlanNode>,
    /// Group of agents over which the load is dealt, with its place; None for all agents.
    pub group: Option<(String, SourcePosition)>,
    /// Keys that are options of a run.
    pub settings: Vec<KeyedValue>,
}

/// A key of the plan and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedValue {
    /// The key, such as `load.rate`.
    pub key: String,
    /// The value, with its place.
    pub node: PlanNode,
}

/// Commands before and after a part of an experiment, each with its time limit if
/// the plan sets one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedHooks {
    /// Commands before the part.
    pub before: Vec<PlannedHook>,
    /// Commands after the part.
    pub after: Vec<PlannedHook>,
}

/// A command and its time limit.
pub type PlannedHook = (String, Option<Duration>);

/// A server that brunt starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedServer {
    /// Command line passed to `sh -c`.
    pub start: String,
    /// Condition for the server to be ready.
    pub ready: ReadyCondition,
    /// Command that stops the server.
    pub stop: Option<String>,
    /// Trials between which it is restarted.
    pub restart: Option<Restart>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
    /// Time limit for readiness.
    pub ready_timeout: Option<Duration>,
    /// Time limit for the server to stop.
    pub stop_timeout: Option<Duration>,
}

impl PlanTree {
    /// Reads the text of a plan file. `file` is its name in errors; `words` are values
    /// of `--set`, each `NAME=VALUE`.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if the text is not YAML, a key is unknown, or a value
    /// has the wrong form.
    pub fn parse(text: &str, file: &str, words: &[String]) -> Result<Self, SpecError> {
        let mut plan = yaml::parse(text, file)?;
        // A list or text at the top would be replaced by the first `--set`.
        vary::map(&plan, "")?;
        let sets = sets(words, &plan)?;
        plan.merge(sets.as_ref().unwrap_or(&PlanNode::empty(plan.at.clone())));
        Ok(Self { plan, sets })
    }

    /// The tree of the file.
    pub fn tree(&self) -> serde_json::Value {
        super::json(&self.plan)
    }

    /// Returns the draft without the value at a place; None if there is no value.
    pub fn without(&self, at: &SourcePosition) -> Option<Self> {
        let mut rest = self.clone();
        rest.plan.take_out(at).then_some(rest)
    }

    /// Names of the ports that must be drawn before the plan is resolved.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a placeholder is malformed.
    pub fn ports(&self) -> Result<Vec<String>, SpecError> {
        let Some(node) = self.plan.child("ports").filter(|node| node.value != PlanValue::Null)
        else {
            return Ok(Vec::new());
        };
        let ports: Vec<String> = read(node).map_err(|e| e.within("ports", &node.at))?;
        match ports.iter().enumerate().find(|(n, port)| ports[..*n].contains(port)) {
            // Both would get one port, although the plan asks for two.
            Some((_, duplicate)) => Err(SpecError::new(
                &node.at,
                "ports",
                format!("`{duplicate}` is given twice; write it once"),
            )),
            None => Ok(ports),
        }
    }

    /// Resolves the plan: fills in all placeholders. `default_name` is the name of an
    /// experiment without a name.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a variable is unknown, or a value is invalid.
    pub fn resolve(
        &self,
        inputs: FillInputs<'_>,
        default_name: &str,
    ) -> Result<PlanFile, SpecError> {
        let mut plan = self.plan.clone();
        vary::choose(&mut plan, inputs)?;
        // `choose` may have overwritten values of `--set`, which takes precedence.
        self.set_again(&mut plan);
        let whole = whole(&plan, inputs)?;
        let written: Written = read(&whole)?;
        let name = written.name.map_or_else(|| default_name.to_owned(), |name| name.0);
        let mut contenders = Vec::new();
        for mut variant in vary::variants(&plan, &name)? {
            // Levels of factors may have overwritten values of `--set`.
            self.set_again(&mut variant.tree);
            contenders.push(contender(variant, inputs)?);
        }
        Ok(PlanFile {
            name,
            about: written.about.unwrap_or_default().0,
            arrangement: ExperimentSettings::rows()
                .flat_map(|row| row.keys)
                .filter_map(|key| setting(&whole, key.key))
                .collect(),
            compare: written
                .compare
                .as_ref()
                .and(whole.child("compare"))
                .map(|node| below("compare", node).collect()),
            hooks: hooks(&written.hooks, |around| &around.experiment),
            find: written
                .find
                .as_ref()
                .and(whole.child("find"))
                .map(|node| below("find", node).collect()),
            outputs: setting(&whole, "outputs").into_iter().collect(),
            contenders,
        })
    }

    /// Applies `--set` again, because it has precedence over every override.
    fn set_again(&self, plan: &mut PlanNode) {
        if let Some(sets) = &self.sets {
            plan.merge(sets);
        }
    }
}

/// The setting of a key at the top of a plan; None if it is missing.
fn setting(plan: &PlanNode, key: &str) -> Option<KeyedValue> {
    plan.child(key).map(|node| KeyedValue { key: key.into(), node: node.clone() })
}

/// Fills in the keys of the whole experiment. Variables are not filled in themselves: some
/// refer to a contender.
fn whole(plan: &PlanNode, inputs: FillInputs<'_>) -> Result<PlanNode, SpecError> {
    // Keys of the whole experiment cannot depend on a contender.
    let scope =
        Scope { vars: plan.child("vars"), inputs, contender: None, unknown: UnknownNames::Error };
    let mut tree = with_keys(plan, |key| {
        key == "hooks"
            || vary::OF_THE_WHOLE.contains(&key)
                && !["choose", "contenders", "factors"].contains(&key)
    });
    // The other hooks may contain `${contender}`, which is unknown here.
    retain_hooks(&mut tree, |level| level == "experiment");
    let filled = scope.fill(&tree)?;
    // Refuses unknown keys, also without a value.
    read::<Written>(&filled)?;
    let mut tree = filled.without_nulls();
    if let PlanValue::Map(entries) = &mut tree.value {
        entries.extend(
            plan.entries()
                .iter()
                .filter(|entry| entry.key == "vars" && entry.node.value != PlanValue::Null)
                .cloned(),
        );
    }
    Ok(tree)
}

fn contender(variant: Variant, inputs: FillInputs<'_>) -> Result<PlannedContender, SpecError> {
    let Variant { name, factors, tree, .. } = variant;
    let contender = Some(ContenderScope { name: &name, factors: &factors });
    let scope = Scope { vars: tree.child("vars"), inputs, contender, unknown: UnknownNames::Error };
    let mut contender_keys =
        with_keys(&tree, |key| key != "vars" && !vary::OF_THE_WHOLE.contains(&key));
    retain_hooks(&mut contender_keys, |level| level != "experiment");
    let filled = scope.fill(&contender_keys)?;
    let written: Written = read(&filled)?;
    let resolved = filled.clone().without_nulls();
    Ok(PlannedContender {
        populations: populations(&filled)?,
        stages: [StageKind::Setup, StageKind::Teardown]
            .into_iter()
            // Stages stay nodes, since `with_any_steps` reads them with the settings of the load.
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

/// The populations of a contender, or its only one.
fn populations(plan: &PlanNode) -> Result<Vec<PlannedUsers>, SpecError> {
    let populations =
        plan.child("populations").filter(|populations| populations.value != PlanValue::Null);
    let Some(populations) = populations else {
        return Ok(vec![users(&plan.clone().without_nulls(), None)?]);
    };
    if populations.entries().is_empty() {
        let wrong =
            "there is none in it; write a name with its script and load, or leave the key out";
        return Err(SpecError::new(&populations.at, "populations", wrong));
    }
    let all = populations.entries().iter();
    all.map(|entry| population(plan, entry)).collect()
}

fn population(plan: &PlanNode, entry: &NamedNode) -> Result<PlannedUsers, SpecError> {
    let path = format!("populations.{}", entry.key);
    // This only checks the keys, before the population is merged into the plan.
    read::<written::PopulationKeys>(&entry.node)
        .map_err(|error| error.within(&path, &entry.node.at))?;
    // A key that the population does not have is that of the plan.
    let mut tree = with_keys(plan, |key| key != "populations");
    tree.merge(&entry.node);
    users(&tree.without_nulls(), Some((entry.key.clone(), entry.at.clone())))
}

fn users(
    plan: &PlanNode,
    name: Option<(String, SourcePosition)>,
) -> Result<PlannedUsers, SpecError> {
    let request_order =
        plan.below("script.order").and_then(PlanNode::text).and_then(rows::request::order);
    let scenario = plan.child("scenario").cloned();
    let requests = match (&scenario, plan.child("script")) {
        // Merging a contender adds keys, so one of them may come from the base plan.
        (Some(scenario), Some(_)) => {
            let wrong = "script defines the requests already; write one of them (`script: null` takes it away again)";
            return Err(SpecError::new(&scenario.at, "scenario", wrong));
        }
        (Some(_), None) => Vec::new(),
        (None, _) => requests(plan)?,
    };
    let group =
        plan.child("group").and_then(|node| Some((node.text()?.to_owned(), node.at.clone())));
    let settings = settings(plan);
    Ok(PlannedUsers { name, requests, request_order, scenario, group, settings })
}

/// The tree with some of its keys.
fn with_keys(plan: &PlanNode, is_wanted: impl Fn(&str) -> bool) -> PlanNode {
    let entries = plan.entries().iter().filter(|entry| is_wanted(&entry.key)).cloned().collect();
    PlanNode { at: plan.at.clone(), value: PlanValue::Map(entries) }
}

/// Removes the hooks of other levels. Unknown levels stay, so that they become errors.
fn retain_hooks(plan: &mut PlanNode, is_wanted: impl Fn(&str) -> bool) {
    let PlanValue::Map(entries) = &mut plan.value else { return };
    let Some(hooks) = entries.iter_mut().find(|entry| entry.key == "hooks") else { return };
    let PlanValue::Map(times) = &mut hooks.node.value else { return };
    for time in times {
        if let PlanValue::Map(levels) = &mut time.node.value {
            levels.retain(|level| is_wanted(&level.key));
        }
    }
}

/// The requests, each as its keys.
fn requests(plan: &PlanNode) -> Result<Vec<Vec<KeyedValue>>, SpecError> {
    let nothing = "the request is missing; write `request: URL`, `requests: [URL, …]` or `urls: FILE` below script, or steps \
                   below scenario";
    let script = plan.child("script").ok_or_else(|| SpecError::new(&plan.at, "script", nothing))?;
    // Only one of them defines the requests; a contender may have added a second.
    let ways: Vec<&NamedNode> = script
        .entries()
        .iter()
        .filter(|e| ["request", "requests", "urls"].contains(&e.key.as_str()))
        .collect();
    let way = match ways[..] {
        [way] => way,
        [] => return Err(SpecError::new(&script.at, "script", nothing)),
        [first, second, ..] => {
            let wrong = format!(
                "script.{} defines the requests already; write one of them (`{}: null` takes it away again)",
                first.key, first.key
            );
            return Err(SpecError::new(&second.at, format!("script.{}", second.key), wrong));
        }
    };
    match (&way.node.value, way.key.as_str()) {
        (_, "urls") => Ok(Vec::new()),
        (PlanValue::List(nodes), "requests") if nodes.is_empty() => Err(SpecError::new(
            &way.node.at,
            "script.requests",
            "it is empty; write at least one request",
        )),
        (PlanValue::List(nodes), _) => Ok(nodes.iter().map(request).collect()),
        _ => Ok(vec![request(&way.node)]),
    }
}

fn request(node: &PlanNode) -> Vec<KeyedValue> {
    if node.text().is_some() {
        return vec![KeyedValue { key: "script.request.url".into(), node: node.clone() }];
    }
    below("script.request", node).collect()
}

/// The settings that are options of a run.
fn settings(plan: &PlanNode) -> Vec<KeyedValue> {
    let script = plan.child("script").into_iter().flat_map(|node| below("script", node));
    // They are requests, not settings, and are read by `requests`.
    let script = script
        .filter(|setting| !["script.request", "script.requests"].contains(&setting.key.as_str()));
    let sections = ["load", "connection", "checks", "fleet"]
        .into_iter()
        .filter_map(|key| Some((key, plan.child(key)?)));
    let own = ["objectives", "on", "allow"].into_iter().filter_map(|key| setting(plan, key));
    script.chain(sections.flat_map(|(key, node)| below(key, node))).chain(own).collect()
}

fn below<'a>(key: &'a str, node: &'a PlanNode) -> impl Iterator<Item = KeyedValue> + 'a {
    node.entries().iter().map(move |entry| KeyedValue {
        key: format!("{key}.{}", entry.key),
        node: entry.node.clone(),
    })
}

fn hooks(
    written: &written::Hooks,
    level: impl Fn(&written::HookLevels) -> &Commands,
) -> PlannedHooks {
    PlannedHooks {
        before: level(&written.before).0.iter().map(hook).collect(),
        after: level(&written.after).0.iter().map(hook).collect(),
    }
}

fn hook(command: &ScalarOr<written::CommandKeys>) -> PlannedHook {
    match command {
        ScalarOr::Scalar(Scalar(run)) => (run.clone(), None),
        ScalarOr::Map(written::CommandKeys { run, timeout }) => {
            (run.0.clone(), timeout.map(|PositiveDuration(time)| time))
        }
    }
}

/// True if `place` is a URL of HTTP or HTTPS.
fn is_http_url(place: &str) -> bool {
    url::Url::parse(place).is_ok_and(|url| ["http", "https"].contains(&url.scheme()))
}

/// True if `place` is HOST:PORT.
fn is_address(place: &str) -> bool {
    !place.contains('/')
        // An IPv6 address contains colons, so the port is after the last one.
        && place.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn server(written: &written::ServerKeys, plan: &PlanNode) -> Result<PlannedServer, SpecError> {
    let ready = match &written.ready {
        ScalarOr::Map(written::ReadyCommand { command }) => {
            ReadyCondition::Command(command.0.clone())
        }
        ScalarOr::Scalar(Scalar(place)) if is_http_url(place) => ReadyCondition::Url(place.clone()),
        ScalarOr::Scalar(Scalar(place)) if is_address(place) => {
            ReadyCondition::Address(place.clone())
        }
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
        environment: written
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), value.0.clone()))
            .collect(),
        ready_timeout: written.ready_timeout.map(|time| time.0),
        stop_timeout: written.stop_timeout.map(|time| time.0),
    })
}
