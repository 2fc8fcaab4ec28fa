//! Steps whose users must be in one process: locks and meetings. Rates of all users are dealt to the processes.

use crate::FleetError;
use brunt_model::scenario::ScenarioStep;
use brunt_model::{Plan, Population};

/// Checks that no users of several processes must wait for each other.
///
/// # Errors
///
/// A population in several processes has a lock or a meeting.
pub fn check_plan(plan: &Plan) -> Result<(), FleetError> {
    for population in &plan.populations {
        let processes = processes_of(plan, population);
        let mut joint = None;
        ScenarioStep::each(&population.scenario.steps, &mut |step| {
            joint = joint.take().or_else(|| joint_step(step));
        });
        if let Some(step) = joint.filter(|_| processes > 1) {
            return Err(FleetError::AgentGroup(format!(
                "{step}: users of several processes cannot wait for each other, and {} has {processes}; write \
                 `processes: 1` without agents, a group with one agent for this population, or remove the step",
                population.name
            )));
        }
    }
    Ok(())
}

fn joint_step(step: &ScenarioStep) -> Option<String> {
    match step {
        ScenarioStep::Lock { name, .. } => Some(format!("`lock: {name}`")),
        ScenarioStep::Meet { users, .. } => Some(format!("`meet: {users}`")),
        _ => None,
    }
}

/// Number of processes that have users of a population. The members of a zone are known only at the start.
fn processes_of(plan: &Plan, population: &Population) -> usize {
    let groups = plan.fleet.iter().flat_map(|fleet| &fleet.groups);
    let mut of_population = groups.filter(|group| population.group.as_ref() == Some(&group.name));
    of_population.next().map_or(plan.processes as usize, |group| group.agents.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_spec::System;
    use brunt_spec::plan_file;
    use std::path::Path;

    fn plan(step: &str, processes: u32) -> Plan {
        let text = format!(
            "load: {{users: 4, requests: 10, processes: {processes}}}\nscenario:\n  base: http://127.0.0.1\n  steps:\n  - {step}\n"
        );
        let system = System::bare(20_000, 4, Some(28_000), 1);
        let file = Path::new("plan.yaml");
        let opened = plan_file::open_text(file, &text, &[], plan_file::NO_FOLDER, &system).unwrap();
        let experiment = opened.resolve(&system).unwrap().experiment;
        experiment.contenders[0].steps[0].plan.clone()
    }

    #[test]
    fn users_that_wait_for_each_other_are_in_one_process() {
        for (step, name) in [
            ("{lock: till, steps: [{get: /}]}", "`lock: till`"),
            ("{loop: 2, steps: [{meet: 3}, {get: /}]}", "`meet: 3`"),
        ] {
            assert!(check_plan(&plan(step, 1)).is_ok(), "{step}");
            let error = check_plan(&plan(step, 3)).unwrap_err().to_string();
            assert!(error.starts_with(name) && error.contains("has 3"), "{error}");
        }
        assert!(check_plan(&plan("{get: /}", 3)).is_ok());
    }
}
