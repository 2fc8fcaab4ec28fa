//! The variables that a scenario sets.

use crate::variables::Names;
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::ReplyAction;
use brunt_model::scenario::{Scenario, Step};

/// The variables that steps and extractors set, and those that users begin with.
pub fn all(scenario: &Scenario, policies: &[ReplyPolicy]) -> Names {
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

fn of_steps(steps: &[Step], names: &mut Names) {
    for step in steps {
        match step {
            Step::Set { variable, .. } => _ = names.number(variable),
            Step::Count(counter) => _ = names.number(&counter.variable),
            Step::ForEach { variable, steps, .. } => {
                names.number(variable);
                of_steps(steps, names);
            }
            Step::If { then, otherwise, .. } => {
                of_steps(then, names);
                of_steps(otherwise, names);
            }
            Step::Together { steps, .. }
            | Step::Group { steps, .. }
            | Step::Transaction { steps, .. }
            | Step::Loop { steps, .. }
            | Step::While { steps, .. }
            | Step::During { steps, .. }
            | Step::Lock { steps, .. }
            | Step::Once(steps) => of_steps(steps, names),
            Step::Switch { cases, .. } => cases.iter().for_each(|case| of_steps(&case.steps, names)),
            Step::Shuffle(branches) => branches.iter().for_each(|steps| of_steps(steps, names)),
            Step::Choose { branches, .. } => branches.iter().for_each(|branch| of_steps(&branch.steps, names)),
            Step::Request(_)
            | Step::Next(_)
            | Step::Think(_)
            | Step::Pause(_)
            | Step::Pace(_)
            | Step::Meet { .. }
            | Step::Row(_)
            | Step::Script(_)
            | Step::Sample(_)
            | Step::Stop(_) => {}
        }
    }
}
