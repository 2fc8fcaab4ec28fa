//! The keys `setup` and `teardown` of a plan file → the stages around a plan.

use super::resolve::in_scenario;
use super::told::{find, usual};
use crate::defaults;
use crate::error::{Position, Result, SpecError, nearest};
use crate::plan::scenario::keys::StageLoad;
use crate::plan::scenario::with_any_steps;
use crate::plan::{Entry, Node, Planned, Value, read};
use crate::settings::{PlannedScenario, RunSettings};
use crate::system::System;
use crate::words::duration;
use brunt_model::plan::{Connection, Dialling, Record};
use brunt_model::scenario::TextRules;
use brunt_model::{Load, Plan, Population, ReplyPolicy, Shape, StageKind, StageVariables, Stop, TestStage, Think};
use brunt_script::CompiledScript;
use std::path::Path;
use std::time::Duration;

/// Keys that are no keys of a scenario.
const OWN: [&str; 3] = ["users", "iterations", "timeout"];

/// Keys of the scenario that hold for stages, too. Others, such as `headers`, may read variables that only its users have.
const SHARED: [&str; 7] = ["base", "cookies", "follow", "language", "proto", "proto_path", "descriptor_set"];

/// What stands around a plan.
#[derive(Default)]
pub struct Around {
    stages: Vec<TestStage>,
    /// The variables that setup sets.
    handed: StageVariables,
}

impl Around {
    /// Puts it around a plan, whose scenarios begin with what setup sets.
    pub fn add_to(&self, plan: &mut Plan) {
        plan.around.clone_from(&self.stages);
        self.hand_to(plan);
    }

    fn hand_to(&self, plan: &mut Plan) {
        let scenarios = plan.populations.iter_mut().map(|population| &mut population.scenario);
        scenarios
            .filter(|scenario| scenario.texts == TextRules::Expressions)
            .for_each(|scenario| scenario.handed.clone_from(&self.handed));
    }
}

/// Reads the stages around a plan, whose settings are those of its first request.
///
/// # Errors
///
/// [`SpecError`] with its place if a key is unknown, a value is invalid, or a text reads what nothing sets.
pub fn around(
    planned: &Planned,
    settings: &RunSettings,
    plan: &Plan,
    folder: &Path,
    system: &System,
) -> Result<Around> {
    let mut around = Around::default();
    let usual = usual::<RunSettings>();
    let replies = ReplyPolicy { redirects: settings.replies.redirects, ..usual.replies };
    let settings = RunSettings { scenario: None, checks: usual.checks, replies, ..settings.clone() };
    for (kind, node) in &planned.stages {
        let word = kind.word();
        let named = |error: SpecError| {
            let list = if matches!(node.value, Value::List(_)) { "scenario.steps" } else { "scenario" };
            SpecError { path: error.path.replacen(list, word, 1), ..error }
        };
        let (load, scenario) = parts(word, node, planned)?;
        let scenario = with_any_steps(&scenario, &settings, folder, system).map_err(named)?;
        let mut stage = stage(*kind, load, scenario, plan)?;
        around.hand_to(&mut stage.plan);
        let compiled = CompiledScript::all(&stage.plan).map_err(|error| in_scenario(error, &[node], word))?;
        if let (StageKind::Setup, Some(compiled)) = (kind, compiled.first()) {
            around.handed = compiled.stage_variables();
        }
        around.stages.push(stage);
    }
    Ok(around)
}

/// Who carries the steps out, and the scenario, with what it shares with that of the plan.
fn parts(word: &str, node: &Node, planned: &Planned) -> Result<(StageLoad, Node)> {
    let written = match &node.value {
        Value::List(_) => map(node, vec![Entry { key: "steps".into(), at: node.at.clone(), node: node.clone() }]),
        Value::Map(_) => node.clone(),
        _ => {
            let wrong = "this is not a list of steps; write each in a line `- post: URL`";
            return Err(SpecError::new(&node.at, word, wrong));
        }
    };
    check_keys(word, &written)?;
    let only = |keep: &dyn Fn(&Entry) -> bool| written.entries().iter().filter(|entry| keep(entry)).cloned().collect();
    let is_own = |entry: &Entry| OWN.contains(&entry.key.as_str());
    let load: StageLoad = read(&map(node, only(&is_own))).map_err(|error| error.within(word, &node.at))?;
    let numbers = [("users", load.users), ("iterations", load.iterations)];
    if let Some((key, _)) = numbers.iter().find(|(_, number)| *number == Some(0)) {
        let at = written.child(key).map_or(&node.at, |node| &node.at);
        let wrong = "0 does nothing; write 1 or more, or leave the stage out";
        return Err(SpecError::new(at, format!("{word}.{key}"), wrong));
    }
    let mut scenario = shared(node, planned);
    scenario.merge(&map(node, only(&|entry| !is_own(entry))));
    Ok((load, scenario))
}

/// Refuses what is no stage: one with a load, or without steps, and keys that are nearly those of a stage.
fn check_keys(word: &str, written: &Node) -> Result<()> {
    let key = |key: &str| written.entries().iter().find(|entry| entry.key == key);
    if let Some(load) = key("load") {
        let wrong =
            "it has no load; `users` and `iterations` say who carries out its steps, and how often (default: 1 and 1)";
        return Err(SpecError::new(&load.at, word, wrong));
    }
    let near = |entry: &Entry| Some((entry.clone(), nearest(&entry.key, OWN)?));
    let mut others = written.entries().iter().filter(|entry| !OWN.contains(&entry.key.as_str()));
    if let Some((Entry { key, at, .. }, near)) = others.find_map(near) {
        return Err(SpecError::new(&at, format!("{word}.{key}"), format!("unknown key; write {near}")));
    }
    if key("steps").is_none_or(|steps| matches!(&steps.node.value, Value::List(all) if all.is_empty())) {
        let wrong = "it has no steps; write a list of them, such as `- post: http://127.0.0.1:8080/`, or leave it out";
        return Err(SpecError::new(&written.at, word, wrong));
    }
    Ok(())
}

fn map(node: &Node, entries: Vec<Entry>) -> Node {
    Node { at: node.at.clone(), value: Value::Map(entries) }
}

/// What a stage has from the plan where it does not say so itself.
fn shared(node: &Node, planned: &Planned) -> Node {
    let of_run = Value::Text { text: "run".into(), plain: true };
    let on_failure = Node { at: node.at.clone(), value: of_run };
    let mut entries = vec![Entry { key: "on_failure".into(), at: node.at.clone(), node: on_failure }];
    let Some(users) = planned.populations.first() else { return map(node, entries) };
    match &users.scenario {
        Some(scenario) => {
            let own = scenario.entries().iter().filter(|entry| SHARED.contains(&entry.key.as_str()));
            entries.extend(own.cloned());
        }
        None => entries.extend(find(&users.settings, "script.base").map(|base| Entry {
            key: "base".into(),
            at: base.node.at.clone(),
            node: base.node.clone(),
        })),
    }
    map(node, entries)
}

fn stage(kind: StageKind, load: StageLoad, planned: PlannedScenario, plan: &Plan) -> Result<TestStage> {
    let PlannedScenario { scenario, policies, places } = planned;
    let limit = duration::or_default(load.timeout.map(|time| time.0), defaults::STAGE_TIMEOUT)?;
    let iterations = u64::from(load.iterations.unwrap_or(1));
    let population = Population {
        name: kind.word().to_owned(),
        load: Load::Closed { users: Shape::constant(f64::from(load.users.unwrap_or(1))), think: Think::NONE },
        scenario,
        stop: Stop { iterations_per_user: Some(iterations), ..Stop::after(limit, Duration::ZERO) },
        connection: None,
    };
    let plan = Plan {
        populations: vec![population],
        // A stage without requests needs one, too.
        reply_policies: if policies.is_empty() { plan.reply_policies.clone() } else { policies },
        connection: Connection { dialling: Dialling::Eager, ..plan.connection.clone() },
        objectives: Vec::new(),
        until: None,
        record: Record { records: None, ..plan.record.clone() },
        threads: 1,
        processes: 1,
        precise: false,
        around: Vec::new(),
        // Users of the load do not draw the same values.
        seed: plan.seed.wrapping_add((kind as u64 + 1) << 56),
    };
    Ok(TestStage { kind, plan, runs_after_stop: true, places: places.iter().map(Position::to_string).collect() })
}
