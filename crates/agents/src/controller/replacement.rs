//! Processes that take the place of lost agents, as Kubernetes starts them.
//!
//! A process that takes the place of an agent carries out the share of the lost one from the next interval on: its
//! arrivals, its users. It does not know which rows and numbers the lost agent has used, so plans in which each may
//! be used only once are refused.

use super::{
    Fleet, FleetRun, REPLACEMENT_INTERVAL, StartedAgent, await_hello, deadline_after, read_clocks,
};
use crate::FleetError;
use brunt_engine::RunEpoch;
use brunt_engine::parts::Recipients;
use brunt_model::agent::RunNumber;
use brunt_model::scenario::{DataEnd, ScenarioStep, Sharing};
use brunt_model::sync::IgnorePoison;
use brunt_model::{FleetSettings, Load, Plan, Population};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

/// Checks that a lost agent of this plan can be replaced, if that is required.
///
/// # Errors
///
/// The plan needs a count that is lost with an agent.
pub fn check_plan(plan: &Plan) -> Result<(), FleetError> {
    if !plan.fleet.as_ref().is_some_and(FleetSettings::replaces_lost) {
        return Ok(());
    }
    plan.populations.iter().find_map(lost_count).map_or(Ok(()), |(count, instead)| {
        Err(FleetError::AgentGroup(format!(
            "--replace-lost: a lost agent takes {count} with it; {instead}, or run without --replace-lost"
        )))
    })
}

/// Returns a count that is lost with an agent, and what to use in its place.
fn lost_count(population: &Population) -> Option<(&'static str, &'static str)> {
    let by_duration = "limit the load by a duration";
    if population.stop.iterations_per_user.is_some() {
        return Some(("the number of iterations that its users have done", by_duration));
    }
    if population.stop.requests.is_some() && matches!(population.load, Load::Closed { .. }) {
        return Some(("the number of requests that its users have made", by_duration));
    }
    let has_end = |file: &u32| {
        let data = population.scenario.data.get(*file as usize);
        data.is_some_and(|data| data.at_end != DataEnd::Again && data.shared != Sharing::User)
    };
    let steps = &population.scenario.steps;
    if ScenarioStep::any(steps, &|step| matches!(step, ScenarioStep::Row(file) if has_end(file))) {
        return Some((
            "the rows that it has used",
            "let the data file start again after its last row",
        ));
    }
    let is_shared =
        |step: &ScenarioStep| matches!(step, ScenarioStep::Count(counter) if !counter.per_user);
    ScenarioStep::any(steps, &is_shared)
        .then_some(("the numbers of a counter that it has used", "count per user"))
}

impl Fleet {
    /// Connects to a process that takes the place of a lost agent, if there is one. It waits while the connection to
    /// the lost agent is open, or `is_awaited` returns true for the number of the agent. Returns this number.
    pub(super) fn replace_lost(&self, is_awaited: impl Fn(usize) -> bool) -> Option<usize> {
        let carrier = self.carrier.as_ref()?;
        let mut newcomers = self.newcomers.lock().ignore_poison();
        while let Some(newcomer) = carrier.replacement() {
            newcomers.push(newcomer);
        }
        let place = |newcomer: &StartedAgent| {
            let agent = self.links.iter().position(|link| link.name == newcomer.name)?;
            let is_free = self.links[agent].closed().is_some() && !is_awaited(agent);
            is_free.then_some(agent)
        };
        let (number, agent) =
            newcomers.iter().enumerate().find_map(|(number, one)| Some((number, place(one)?)))?;
        let pipes = newcomers.remove(number).pipes.ok()?;
        // A process that cannot be connected leaves the agent lost.
        self.links[agent].replace(pipes, SyncSender::clone(self.new_links.as_ref()?)).ok()?;
        Some(agent)
    }

    /// Assigns the share of a lost agent to the process that has taken its place, which then waits for its begin.
    pub(super) fn assign_again(
        &self,
        agent: usize,
        number: RunNumber,
        run: &FleetRun<'_>,
        is_over: &AtomicBool,
    ) {
        let link = &self.links[agent];
        while !link.wait_until(deadline_after(REPLACEMENT_INTERVAL), |state| state.facts.is_some())
            && !is_over.load(Ordering::Relaxed)
        {}
        if link.facts().is_none() || is_over.load(Ordering::Relaxed) {
            return;
        }
        read_clocks(std::slice::from_ref(link));
        // Without an assignment the agent stays lost, as it was.
        let groups = self.groups(run.plan);
        _ = groups.and_then(|groups| self.assign(number, run, &groups, Recipients::Part(agent)));
    }

    /// Waits until the place of each agent that was lost since the last run is taken, at most for this time.
    pub(super) fn await_replacements(&self, wait: Duration) {
        let deadline = deadline_after(wait);
        while self.links.iter().any(|link| link.closed().is_some())
            && RunEpoch::now().nanos() < deadline
        {
            match self.replace_lost(|_| false) {
                Some(agent) => {
                    let link = std::slice::from_ref(&self.links[agent]);
                    await_hello(link);
                    read_clocks(link);
                }
                None => thread::sleep(REPLACEMENT_INTERVAL),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::scenario::{
        DataFile, DataFormat, RowOrder, Scenario, ScenarioStep, VariableCounter,
    };
    use brunt_model::{LoadShape, Stop, ThinkTime};

    fn closed() -> Load {
        Load::Closed { users: LoadShape::constant(2.0), think: ThinkTime::NONE }
    }

    fn stop() -> Stop {
        Stop {
            warmup: Duration::ZERO,
            warmup_until_steady: false,
            duration: Some(Duration::from_secs(9)),
            requests: None,
            iterations_per_user: None,
            grace: Duration::from_secs(1),
        }
    }

    /// The count that is lost with an agent of this population.
    fn lost(scenario: Scenario, stop: Stop) -> Option<&'static str> {
        lost_count(&Population::only(closed(), scenario, stop)[0]).map(|(count, _)| count)
    }

    fn with_rows(at_end: DataEnd, shared: Sharing) -> Scenario {
        let data = DataFile {
            file: "users.csv".into(),
            format: DataFormat::JsonLines,
            encoding: String::new(),
            names: Vec::new(),
            skip_first: false,
            shared,
            order: RowOrder::default(),
            at_end,
        };
        Scenario { steps: vec![ScenarioStep::Row(0)], data: vec![data], ..Scenario::default() }
    }

    fn with_counter(per_user: bool) -> Scenario {
        let counter = VariableCounter {
            variable: "n".into(),
            start: String::new(),
            step: String::new(),
            end: String::new(),
            format: String::new(),
            per_user,
            resets: false,
        };
        let steps = vec![ScenarioStep::Once(vec![ScenarioStep::Count(counter)])];
        Scenario { steps, ..Scenario::default() }
    }

    #[test]
    fn counts_that_an_agent_takes_with_it_are_refused() {
        let plain = Scenario::default;
        assert_eq!(lost(plain(), stop()), None);
        let by_number = Stop { requests: Some(9), ..stop() };
        assert_eq!(
            lost(plain(), by_number),
            Some("the number of requests that its users have made")
        );
        let by_iterations = Stop { iterations_per_user: Some(9), ..stop() };
        assert!(lost(plain(), by_iterations).is_some());
        let rows = Some("the rows that it has used");
        assert_eq!(lost(with_rows(DataEnd::StopUser, Sharing::All), stop()), rows);
        assert_eq!(lost(with_rows(DataEnd::Eof, Sharing::All), stop()), rows);
        assert_eq!(lost(with_rows(DataEnd::Again, Sharing::All), stop()), None);
        assert_eq!(lost(with_rows(DataEnd::StopUser, Sharing::User), stop()), None);
        assert!(lost(with_counter(false), stop()).is_some());
        assert_eq!(lost(with_counter(true), stop()), None);
    }
}
