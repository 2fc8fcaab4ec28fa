//! Collects the variables that a scenario sets, and the policies that it uses.

use crate::program::{SetVariables, StepFacts};
use crate::texts::variables::VariableNames;
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::{AssertionTest, ReplyAction};
use brunt_model::scenario::{Scenario, ScenarioStep};
use std::collections::BTreeSet;

/// Returns the numbers of the policies of its requests and samples.
pub fn policies(scenario: &Scenario) -> BTreeSet<usize> {
    let mut used: BTreeSet<usize> =
        scenario.requests.iter().map(|request| request.reply_policy as usize).collect();
    ScenarioStep::each(&scenario.steps, &mut |step| {
        if let ScenarioStep::Sample(sample) = step {
            used.insert(sample.reply_policy as usize);
        }
    });
    used
}

/// Returns the variables that steps, extractors and earlier stages set, and the
/// initial variables of users.
pub fn all(scenario: &Scenario, policies: &[&ReplyPolicy]) -> VariableNames {
    let mut names = VariableNames::default();
    for action in policies.iter().flat_map(|policy| &policy.actions) {
        if let ReplyAction::Extract(extractor) = action {
            names.number(&extractor.variable);
        }
    }
    scenario.inherited_variables.values.iter().for_each(|(name, _)| _ = names.number(name));
    scenario.variables.iter().for_each(|(name, _)| _ = names.number(name));
    scenario.data.iter().flat_map(|file| &file.names).for_each(|name| _ = names.number(name));
    ScenarioStep::each(&scenario.steps, &mut |step| {
        if let SetVariables::One(variable) = StepFacts::of_step(step).variables {
            names.number(variable);
        }
    });
    names
}

/// True if scripts run in this stage or ran in an earlier one: they may set any variable.
pub fn has_scripts(scenario: &Scenario, policies: &[&ReplyPolicy]) -> bool {
    let mut actions = policies.iter().flat_map(|policy| &policy.actions);
    let mut assertions = policies.iter().flat_map(|policy| &policy.assertions);
    scenario.inherited_variables.has_scripts
        || actions.any(|action| matches!(action, ReplyAction::Script(_)))
        || assertions.any(|assertion| matches!(assertion.test, AssertionTest::Script(_)))
        || ScenarioStep::any(&scenario.steps, &|step| {
            StepFacts::of_step(step).variables == SetVariables::Any
        })
}
