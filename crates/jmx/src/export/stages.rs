//! Setup, load and teardown as plans of their own. Variables go from one to the other as properties: threads of JMeter have no
//! others in common.

use super::texts::quoted;
use brunt_model::scenario::{Scenario, Script, ScriptLanguage, Step};
use brunt_model::{Plan, StageKind, TestStage};

/// The stages of a plan in the order in which they run.
pub(super) fn stages(plan: &Plan) -> Vec<(StageKind, Plan)> {
    let around = |kind| plan.stages(kind).map(move |stage: &TestStage| (kind, stage.plan.clone()));
    let main = Plan { around: Vec::new(), ..plan.clone() };
    let mut all: Vec<(StageKind, Plan)> =
        around(StageKind::Setup).chain([(StageKind::Main, main)]).chain(around(StageKind::Teardown)).collect();
    let mut handed = Vec::new();
    for (_, plan) in all.iter_mut().filter(|(kind, _)| *kind != StageKind::Setup) {
        let policies = serde_json::to_string(&plan.reply_policies).unwrap_or_default();
        for population in &mut plan.populations {
            handed.extend(receive(&mut population.scenario, &policies));
        }
    }
    handed.sort();
    handed.dedup();
    let of_setup = all.iter_mut().filter(|(kind, _)| *kind == StageKind::Setup && !handed.is_empty());
    for population in of_setup.flat_map(|(_, plan)| &mut plan.populations) {
        let put = |name: &String| format!("props.put({0}, vars.get({0}) ?: '')", quoted(name));
        population.scenario.steps.push(script("hand on variables", handed.iter().map(put)));
    }
    all
}

/// Lets users begin with the variables of setup that the scenario names; their names.
fn receive(scenario: &mut Scenario, policies: &str) -> Vec<String> {
    let handed = std::mem::take(&mut scenario.handed);
    let texts = serde_json::to_string(scenario).unwrap_or_default();
    let is_named = |name: &String| texts.contains(name.as_str()) || policies.contains(name.as_str());
    let names: Vec<String> = handed.values.into_iter().map(|(name, _)| name).filter(is_named).collect();
    if !names.is_empty() {
        let put = |name: &String| format!("vars.put({0}, props.get({0}))", quoted(name));
        let begin = Step::Once(vec![script("variables of setup", names.iter().map(put))]);
        let is_setting = |step: &&Step| matches!(step, Step::Row(_) | Step::Count(_));
        let at = scenario.steps.iter().take_while(is_setting).count();
        scenario.steps.insert(at, begin);
    }
    names
}

fn script(name: &str, lines: impl Iterator<Item = String>) -> Step {
    let source = lines.collect::<Vec<_>>().join("\n");
    Step::Script(Script { name: name.into(), language: ScriptLanguage::Groovy, source, parameters: String::new() })
}
