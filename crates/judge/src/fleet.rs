//! Agents of a run: which of them share a machine with each other, with the controller or with the
//! server.
//!
//! Two agents share a machine if they read the same monotonic clock and report the same host name.
//! An agent shares the controller's machine if it shares its clock. Each agent has its own route to
//! the server.
//!
//! Out of scope: a judgement.

use crate::facts::{has_loopback_addresses, has_unix_socket};
use crate::texts::message;
use brunt_model::numbers::count;
use brunt_model::text::Value;
use brunt_model::{AgentEnvironment, ProcessShares, Route, Run, Text};

/// Maximum number of agents or processes that a sentence names all.
pub(crate) const ALL_NAMED: usize = 3;
/// Number of agents or processes that a sentence names if there are more.
pub(crate) const SOME_NAMED: usize = 2;

/// An agent of a run.
#[derive(Clone, Copy)]
pub(crate) struct AgentOfRun<'a> {
    /// Run of all agents.
    pub whole: &'a Run,
    /// Number of the agent, from 0.
    pub number: usize,
}

impl<'a> AgentOfRun<'a> {
    /// Returns all agents of a run.
    pub fn all(whole: &'a Run) -> impl Iterator<Item = Self> + use<'a> {
        (0..whole.agents.len()).map(move |number| Self { whole, number })
    }

    /// Share of the run that belongs to this agent.
    pub fn run(self) -> &'a Run {
        &self.whole.agents[self.number]
    }

    /// Its shares in the populations of the plan.
    pub fn shares(self) -> Option<ProcessShares> {
        let groups = self.whole.environment.groups();
        let plan = self.whole.plan.as_ref()?;
        Some(ProcessShares::of(plan, self.number as u32, &groups))
    }

    fn environment(self) -> Option<&'a AgentEnvironment> {
        self.whole.environment.agents.get(self.number)
    }

    pub fn name(self) -> &'a str {
        self.environment().map_or("", |environment| environment.name.as_str())
    }

    /// Number of its process on its machine.
    pub fn pid(self) -> Option<u32> {
        self.environment().map(|environment| environment.facts.pid)
    }

    /// True if it is known to be on the controller's machine.
    pub fn shares_controllers_machine(self) -> bool {
        self.environment()
            .is_some_and(|agent| agent.clock.error_nanos == 0 && !agent.facts.clock.is_empty())
    }

    /// Route from it to the server, if it was examined.
    pub fn route(self) -> Option<&'a Route> {
        self.environment()?.route.as_ref()
    }

    fn shares_machine_with(self, other: Self) -> bool {
        let pair = self.environment().zip(other.environment());
        pair.is_some_and(|(a, b)| {
            !a.facts.clock.is_empty()
                && (&a.facts.clock, &a.facts.host) == (&b.facts.clock, &b.facts.host)
        })
    }

    /// Returns the other agents on the machine of this one.
    pub fn siblings(self) -> impl Iterator<Item = Self> + use<'a> {
        Self::all(self.whole)
            .filter(move |other| other.number != self.number && self.shares_machine_with(*other))
    }

    /// True if no earlier agent of the run is on the same machine.
    pub fn is_first_of_machine(self) -> bool {
        self.siblings().all(|sibling| sibling.number > self.number)
    }

    /// True if the server is on the machine of this agent; None if that is not known.
    pub fn same_host(self) -> Option<bool> {
        // Loopback addresses lead each agent to its own machine.
        let is_loopback = [self.run(), self.whole].into_iter().any(has_loopback_addresses);
        if is_loopback || has_unix_socket(self.whole) {
            return Some(true);
        }
        self.route()?.same_host
    }
}

/// True if the server is on the machine of every agent, false if it is on none of them. None if
/// the agents differ, or if that is not known.
pub(crate) fn same_host(run: &Run) -> Option<bool> {
    let mut all = AgentOfRun::all(run).map(AgentOfRun::same_host);
    let first = all.next()??;
    all.all(|same| same == Some(first)).then_some(first)
}

/// Returns an agent whose readings of its machine hold for all agents, because they share it. None
/// if they are on several machines.
pub(crate) fn agent_of_only_machine(run: &Run) -> Option<AgentOfRun<'_>> {
    let first = AgentOfRun::all(run).next()?;
    (first.siblings().count() + 1 == run.agents.len()).then_some(())?;
    // The readings of a lost agent end early.
    Some(AgentOfRun::all(run).find(|agent| agent.run().losses.is_empty()).unwrap_or(first))
}

/// Names agents in a sentence: `agent b`, `agents b and c`, `agents b, c and 5 more`.
pub(crate) fn names_text(names: &[&str]) -> Text {
    if names.len() <= ALL_NAMED {
        let all: Value = names.iter().copied().map(Text::from).collect();
        return message!("agents", count = names.len(), names = all);
    }
    let named = names[..SOME_NAMED].join(", ");
    message!("agents.and-others", names = named, others = count((names.len() - SOME_NAMED) as u64))
}
