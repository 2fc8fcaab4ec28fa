//! Converts the keys `setup` and `teardown` of a plan file to the stages around a plan.

use super::resolve::in_scenario;
use super::setting_keys::{default_settings, find};
use crate::defaults;
use crate::error::{Result, SourcePosition, SpecError, nearest};
use crate::plan::scenario::keys::StageLoad;
use crate::plan::scenario::with_any_steps;
use crate::plan::{NamedNode, PlanNode, PlanValue, PlannedContender, read};
use crate::settings::{PlannedScenario, RunSettings};
use crate::system::System;
use crate::words::duration;
use brunt_model::plan::{ConnectionSettings, Dialling, RecordSettings};
use brunt_model::scenario::TextRules;
use brunt_model::{
    Load, LoadShape, Plan, Population, ReplyPolicy, StageKind, StageVariables, Stop, TestStage,
    ThinkTime,
};
use brunt_script::CompiledScript;
use std::path::Path;
use std::time::Duration;

/// Keys of a stage that are not keys of a scenario.
const STAGE_KEYS: [&str; 3] = ["users", "iterations", "timeout"];

/// Keys of the scenario that also apply to stages. Other keys, such as `headers`, may read
/// variables that only users of the scenario have.
const SHARED_KEYS: [&str; 7] =
    ["base", "cookies", "follow", "language", "proto", "proto_path", "descriptor_set"];

/// The stages around a plan.
#[derive(Default)]
pub struct SurroundingStages {
    stages: Vec<TestStage>,
    /// Variables that setup sets.
    variables: StageVariables,
}

impl SurroundingStages {
    /// Adds the stages to a plan. Its scenarios begin with the variables that setup sets.
    pub fn add_to(&self, plan: &mut Plan) {
        plan.stages.clone_from(&self.stages);
        self.set_variables(plan);
    }

    fn set_variables(&self, plan: &mut Plan) {
        let scenarios = plan.populations.iter_mut().map(|population| &mut population.scenario);
        scenarios
            .filter(|scenario| scenario.texts == TextRules::Expressions)
            .for_each(|scenario| scenario.inherited_variables.clone_from(&self.variables));
    }
}

/// Reads the stages around a plan. `settings` are those of its first request.
///
/// # Errors
///
/// [`SpecError`] with its place if a key is unknown, a value is invalid, or a text
/// reads an undefined variable.
pub fn around(
    planned: &PlannedContender,
    settings: &RunSettings,
    plan: &Plan,
    folder: &Path,
    system: &System,
) -> Result<SurroundingStages> {
    let mut around = SurroundingStages::default();
    let defaults = default_settings::<RunSettings>();
    // Checks and objectives of the load do not apply to its preparation.
    let replies = ReplyPolicy { redirects: settings.replies.redirects, ..defaults.replies };
    let settings =
        RunSettings { scenario: None, checks: defaults.checks, replies, ..settings.clone() };
    // Setup comes first, so its variables are known to teardown.
    for (kind, node) in &planned.stages {
        let word = kind.word();
        let (load, scenario) = parts(word, node, planned)?;
        let scenario = with_any_steps(&scenario, &settings, folder, system)
            .map_err(|error| with_stage_path(error, node, word))?;
        let mut stage = stage(*kind, load, scenario, plan)?;
        around.set_variables(&mut stage.plan);
        let compiled = CompiledScript::all(&stage.plan, system.languages)
            .map_err(|error| in_scenario(error, &[node], word, system.languages))?;
        // The load and teardown may use the variables of setup.
        if let (StageKind::Setup, Some(compiled)) = (kind, compiled.first()) {
            around.variables = compiled.stage_variables();
        }
        around.stages.push(stage);
    }
    Ok(around)
}

/// Replaces the path of a scenario in an error by the path of the stage.
fn with_stage_path(error: SpecError, node: &PlanNode, word: &str) -> SpecError {
    // The reader of scenarios names its own paths, which the file does not have.
    let list = if matches!(node.value, PlanValue::List(_)) { "scenario.steps" } else { "scenario" };
    SpecError { path: error.path.replacen(list, word, 1), ..error }
}

/// Splits a stage into its load and its scenario. The scenario includes the keys that it shares
/// with that of the plan.
fn parts(word: &str, node: &PlanNode, planned: &PlannedContender) -> Result<(StageLoad, PlanNode)> {
    let stage = match &node.value {
        PlanValue::List(_) => map(
            node,
            vec![NamedNode { key: "steps".into(), at: node.at.clone(), node: node.clone() }],
        ),
        PlanValue::Map(_) => node.clone(),
        _ => {
            let wrong = "this is not a list of steps; write each in a line `- post: URL`";
            return Err(SpecError::new(&node.at, word, wrong));
        }
    };
    check_keys(word, &stage)?;
    let load: StageLoad = read(&map(node, entries_where(&stage, is_stage_key)))
        .map_err(|error| error.within(word, &node.at))?;
    let numbers = [("users", load.users), ("iterations", load.iterations)];
    // A stage without users would be skipped in silence.
    if let Some((key, _)) = numbers.iter().find(|(_, number)| *number == Some(0)) {
        let at = stage.child(key).map_or(&node.at, |node| &node.at);
        let wrong = "0 does nothing; write 1 or more, or leave the stage out";
        return Err(SpecError::new(at, format!("{word}.{key}"), wrong));
    }
    let mut scenario = shared_entries(node, planned);
    scenario.merge(&map(node, entries_where(&stage, |entry| !is_stage_key(entry))));
    Ok((load, scenario))
}

fn entries_where(node: &PlanNode, is_wanted: impl Fn(&NamedNode) -> bool) -> Vec<NamedNode> {
    node.entries().iter().filter(|entry| is_wanted(entry)).cloned().collect()
}

fn is_stage_key(entry: &NamedNode) -> bool {
    STAGE_KEYS.contains(&entry.key.as_str())
}

/// Refuses a stage with a load, without steps, or with misspelled keys.
fn check_keys(word: &str, written: &PlanNode) -> Result<()> {
    if let Some(load) = written.entries().iter().find(|entry| entry.key == "load") {
        let wrong = "it has no load; `users` and `iterations` set the users of its steps and their iterations (default: 1 and 1)";
        return Err(SpecError::new(&load.at, word, wrong));
    }
    let mut others = written.entries().iter().filter(|entry| !is_stage_key(entry));
    // The reader of scenarios would suggest keys of a scenario for a misspelled `users`.
    if let Some((NamedNode { key, at, .. }, near)) =
        others.find_map(|entry| Some((entry.clone(), nearest(&entry.key, STAGE_KEYS)?)))
    {
        return Err(SpecError::new(
            &at,
            format!("{word}.{key}"),
            format!("unknown key; write {near}"),
        ));
    }
    if written
        .child("steps")
        .is_none_or(|steps| matches!(&steps.value, PlanValue::List(all) if all.is_empty()))
    {
        let wrong = "it has no steps; write a list of them, such as `- post: http://127.0.0.1:8080/`, or leave it out";
        return Err(SpecError::new(&written.at, word, wrong));
    }
    Ok(())
}

fn map(node: &PlanNode, entries: Vec<NamedNode>) -> PlanNode {
    PlanNode { at: node.at.clone(), value: PlanValue::Map(entries) }
}

/// Keys that a stage takes from the plan unless it has them itself.
fn shared_entries(node: &PlanNode, planned: &PlannedContender) -> PlanNode {
    // A failure ends a stage, unless the stage has an `on_failure` of its own.
    let value = PlanValue::Text { text: "run".into(), plain: true };
    let on_failure = PlanNode { at: node.at.clone(), value };
    let mut entries =
        vec![NamedNode { key: "on_failure".into(), at: node.at.clone(), node: on_failure }];
    // Login and load usually have the same server and cookies.
    let Some(users) = planned.populations.first() else { return map(node, entries) };
    match &users.scenario {
        Some(scenario) => {
            let entries_of_scenario =
                scenario.entries().iter().filter(|entry| SHARED_KEYS.contains(&entry.key.as_str()));
            entries.extend(entries_of_scenario.cloned());
        }
        None => entries.extend(find(&users.settings, "script.base").map(|base| NamedNode {
            key: "base".into(),
            at: base.node.at.clone(),
            node: base.node.clone(),
        })),
    }
    map(node, entries)
}

fn stage(
    kind: StageKind,
    load: StageLoad,
    planned: PlannedScenario,
    plan: &Plan,
) -> Result<TestStage> {
    let PlannedScenario { scenario, policies, places } = planned;
    let limit = duration::or_default(load.timeout.map(|time| time.0), defaults::STAGE_TIMEOUT)?;
    let iterations = u64::from(load.iterations.unwrap_or(1));
    let population = Population {
        name: kind.word().to_owned(),
        load: Load::Closed {
            users: LoadShape::constant(f64::from(load.users.unwrap_or(1))),
            think: ThinkTime::NONE,
        },
        scenario,
        stop: Stop { iterations_per_user: Some(iterations), ..Stop::after(limit, Duration::ZERO) },
        connection: None,
        group: None,
    };
    let plan = Plan {
        populations: vec![population],
        // A stage without requests also needs a policy.
        reply_policies: if policies.is_empty() { plan.reply_policies.clone() } else { policies },
        // One user needs no connections before its first request.
        connection: ConnectionSettings { dialling: Dialling::Eager, ..plan.connection.clone() },
        objectives: Vec::new(),
        until: None,
        // Its samples are no part of the results.
        record: RecordSettings { records: None, ..plan.record.clone() },
        // A stage has few users, and no rate to reach.
        threads: 1,
        processes: 1,
        allowed_targets: plan.allowed_targets.clone(),
        // The first agent carries it out.
        fleet: plan.fleet.clone(),
        precise: false,
        stages: Vec::new(),
        // Other seed than the load, so that its users do not draw the same values.
        seed: plan.seed.wrapping_add((kind as u64 + 1) << 56),
    };
    // Teardown cleans up, also after a failure has ended the load.
    Ok(TestStage {
        kind,
        plan,
        runs_after_stop: true,
        places: places.iter().map(SourcePosition::to_string).collect(),
    })
}
