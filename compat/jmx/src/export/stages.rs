//! Splits a plan into setup, load and teardown. Variables pass from one to the next as JMeter
//! properties, because thread groups share nothing else.

use super::texts::quoted;
use brunt_model::scenario::{Scenario, ScenarioStep, Script, ScriptLanguage};
use brunt_model::{Plan, StageKind, TestStage};

/// Stages of a plan in the order in which they run.
pub(super) fn stages(plan: &Plan) -> Vec<(StageKind, Plan)> {
    let main = Plan { stages: Vec::new(), ..plan.clone() };
    let mut all: Vec<(StageKind, Plan)> = stage_plans(plan, StageKind::Setup)
        .chain([(StageKind::Main, main)])
        .chain(stage_plans(plan, StageKind::Teardown))
        .collect();
    let mut inherited = Vec::new();
    for (_, plan) in all.iter_mut().filter(|(kind, _)| *kind != StageKind::Setup) {
        let policies = serde_json::to_string(&plan.reply_policies).unwrap_or_default();
        for population in &mut plan.populations {
            inherited.extend(inherit(&mut population.scenario, &policies));
        }
    }
    inherited.sort();
    inherited.dedup();
    let setup_stages =
        all.iter_mut().filter(|(kind, _)| *kind == StageKind::Setup && !inherited.is_empty());
    for population in setup_stages.flat_map(|(_, plan)| &mut plan.populations) {
        let lines = inherited
            .iter()
            .map(|name| format!("props.put({0}, vars.get({0}) ?: '')", quoted(name)));
        population.scenario.steps.push(script("hand on variables", lines));
    }
    all
}

fn stage_plans(plan: &Plan, kind: StageKind) -> impl Iterator<Item = (StageKind, Plan)> + '_ {
    plan.stages(kind).map(move |stage: &TestStage| (kind, stage.plan.clone()))
}

/// Inserts a script that copies the setup variables which the scenario uses. Returns their names.
fn inherit(scenario: &mut Scenario, policies: &str) -> Vec<String> {
    let inherited = std::mem::take(&mut scenario.inherited_variables);
    let texts = serde_json::to_string(scenario).unwrap_or_default();
    let names = inherited.values.into_iter().map(|(name, _)| name);
    let names: Vec<String> =
        // A name that is only a part of another word is copied in vain, but without harm.
        names.filter(|name| texts.contains(name.as_str()) || policies.contains(name.as_str())).collect();
    if !names.is_empty() {
        let lines = names.iter().map(|name| format!("vars.put({0}, props.get({0}))", quoted(name)));
        // The properties do not change after setup.
        let first_step = ScenarioStep::Once(vec![script("variables of setup", lines)]);
        // Data files and counters are configuration elements in JMeter and come first.
        let settings = scenario
            .steps
            .iter()
            .take_while(|step| matches!(step, ScenarioStep::Row(_) | ScenarioStep::Count(_)));
        let index = settings.count();
        scenario.steps.insert(index, first_step);
    }
    names
}

fn script(name: &str, lines: impl Iterator<Item = String>) -> ScenarioStep {
    let source = lines.collect::<Vec<_>>().join("\n");
    ScenarioStep::Script(Script {
        name: name.into(),
        language: ScriptLanguage::Groovy,
        source,
        parameters: String::new(),
    })
}
