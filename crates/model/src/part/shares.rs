//! Shares of the agents in the populations of a plan.
//!
//! The load of a population is dealt over all agents, or over those of the group on which it is placed.
//! The agents of a group share it in their order among all agents, so that the result does not depend on
//! the order in which a group lists them.

use crate::{Plan, ProcessPart};
use std::collections::BTreeSet;

/// Shares of one process in the populations of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessShares {
    /// Position among all processes of the run.
    pub process: ProcessPart,
    /// By population; None: the process has nothing of it.
    pub populations: Vec<Option<ProcessPart>>,
}

impl ProcessShares {
    /// The shares of a run with one process.
    pub fn whole(plan: &Plan) -> Self {
        let whole = ProcessPart::WHOLE;
        Self { process: whole, populations: vec![Some(whole); plan.populations.len()] }
    }

    /// Returns the shares of a process. `groups` has the group of each agent.
    pub fn of(plan: &Plan, number: u32, groups: &[Option<&str>]) -> Self {
        let process = ProcessPart::of(plan, number);
        let share = |group: &Option<String>| match group.as_deref() {
            None => Some(process),
            Some(name) => {
                let is_member = |agent: &u32| groups.get(*agent as usize) == Some(&Some(name));
                let members: Vec<u32> = (0..process.count).filter(is_member).collect();
                let own = members.iter().position(|agent| *agent == number)?;
                Some(ProcessPart { number: own as u32, count: members.len() as u32, quiet: 0 })
            }
        };
        let populations = plan.populations.iter().map(|one| share(&one.group)).collect();
        Self { process, populations }
    }

    /// Returns the shares of all processes of a plan. `groups` has the group of each agent.
    pub fn all(plan: &Plan, groups: &[Option<&str>]) -> Vec<Self> {
        ProcessPart::all(plan).map(|part| Self::of(plan, part.number, groups)).collect()
    }

    /// Share in a population, by its number; None: the process has nothing of it.
    pub fn of_population(&self, number: usize) -> Option<ProcessPart> {
        self.populations.get(number).copied().flatten()
    }

    /// Share of the whole load. All populations count the same, because the users of one cannot be compared with
    /// the rate of another.
    pub fn of_load(&self) -> f64 {
        let shares = self.populations.iter().flatten().map(|part| 1.0 / part.stride());
        shares.sum::<f64>() / self.populations.len().max(1) as f64
    }

    /// Share in the first population of which the process has one.
    pub fn of_first(&self) -> f64 {
        let first = self.populations.iter().flatten().next();
        first.map_or(0.0, |part| 1.0 / part.stride())
    }
}

/// Checks that each population has agents, and each agent has load. `agents` are their names, and `groups` the group
/// of each.
///
/// # Errors
///
/// A sentence with a population or an agent, and what to write instead.
pub fn check_placement(
    plan: &Plan,
    agents: &[String],
    groups: &[Option<&str>],
) -> Result<(), String> {
    for population in &plan.populations {
        let Some(group) = population.group.as_deref() else { continue };
        if !groups.contains(&Some(group)) {
            let names: BTreeSet<&str> = groups.iter().copied().flatten().collect();
            return Err(unknown_group(&population.name, group, names));
        }
    }
    let all = ProcessShares::all(plan, groups);
    match all.iter().find(|shares| shares.populations.iter().all(Option::is_none)) {
        None => Ok(()),
        Some(shares) => Err(format!(
            "the agent {} gets no load, because all populations are placed on groups without it; place a population on its group, \
             or leave the agent out of `on`",
            agents.get(shares.process.number as usize).map_or("", String::as_str)
        )),
    }
}

/// Describes a population that is placed on a group that does not exist.
pub fn unknown_group<'a>(
    population: &str,
    group: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let instead = if names.is_empty() {
        format!("write its agents as `fleet: {{groups: ['{group}=AGENT,AGENT']}}`")
    } else {
        format!("write one of {}", names.join(", "))
    };
    format!(
        "the population {population} is placed on the group {group}, which does not exist; {instead}"
    )
}
