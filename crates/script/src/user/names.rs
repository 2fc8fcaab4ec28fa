//! The variables that a scenario sets, and the policies that it uses.

use crate::variables::Names;
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::{Assertion, AssertionTest, ReplyAction};
use brunt_model::scenario::{Scenario, Step};
use std::collections::BTreeSet;

/// The numbers of the policies of its requests and samples.
pub fn policies(scenario: &Scenario) -> BTreeSet<usize> {
    let mut used = scenario.requests.iter().map(|request| request.reply_policy as usize).collect();
    policies_of_samples(&scenario.steps, &mut used);
    used
}

fn policies_of_samples(steps: &[Step], used: &mut BTreeSet<usize>) {
    for step in steps {
        if let Step::Sample(sample) = step {
            used.insert(sample.reply_policy as usize);
        }
        for steps in inner(step) {
            policies_of_samples(steps, used);
        }
    }
}

/// The variables that steps and extractors set, and those that users begin with.
pub fn all(scenario: &Scenario, policies: &[&ReplyPolicy]) -> Names {
    let mut names = Names::default();
    for action in policies.iter().flat_map(|policy| &policy.actions) {
        if let ReplyAction::Extract(extractor) = action {
            names.number(&extractor.variable);
        }
    }
    scenario.variables.iter().for_each(|(name, _)| _ = names.number(name));
    scenario.data.iter().flat_map(|file| &file.names).for_each(|name| _ = names.number(name));
    of_steps(&scenario.steps, &mut names);
    names
}

/// Whether scripts are run, which may set any variable.
pub fn has_scripts(scenario: &Scenario, policies: &[&ReplyPolicy]) -> bool {
    let is_script = |action: &ReplyAction| matches!(action, ReplyAction::Script(_));
    let asserts = |assertion: &Assertion| matches!(assertion.test, AssertionTest::Script(_));
    policies.iter().any(|policy| policy.actions.iter().any(is_script) || policy.assertions.iter().any(asserts))
        || any_script(&scenario.steps)
}

fn any_script(steps: &[Step]) -> bool {
    steps
        .iter()
        .any(|step| matches!(step, Step::Script(_) | Step::Sample(_)) || inner(step).into_iter().any(any_script))
}

/// The lists of steps in a step.
fn inner(step: &Step) -> Vec<&[Step]> {
    match step {
        Step::Together { steps, .. }
        | Step::Group { steps, .. }
        | Step::Transaction { steps, .. }
        | Step::Loop { steps, .. }
        | Step::While { steps, .. }
        | Step::ForEach { steps, .. }
        | Step::During { steps, .. }
        | Step::Lock { steps, .. }
        | Step::Once(steps) => vec![steps],
        Step::If { then, otherwise, .. } => vec![then, otherwise],
        Step::Switch { cases, .. } => cases.iter().map(|case| &case.steps[..]).collect(),
        Step::Shuffle(branches) => branches.iter().map(|steps| &steps[..]).collect(),
        Step::Choose { branches, .. } => branches.iter().map(|branch| &branch.steps[..]).collect(),
        _ => Vec::new(),
    }
}

fn of_steps(steps: &[Step], names: &mut Names) {
    for step in steps {
        match step {
            Step::Set { variable, .. } | Step::ForEach { variable, .. } => _ = names.number(variable),
            Step::Count(counter) => _ = names.number(&counter.variable),
            _ => {}
        }
        for steps in inner(step) {
            of_steps(steps, names);
        }
    }
}
