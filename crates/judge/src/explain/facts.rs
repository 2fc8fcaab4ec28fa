//! Facts about a run that several rules use, computed once.
//!
//! Out of scope: any decision.

use super::command::{DURATION, MAX_DURATION, RunCommand};
use crate::facts::waiting_users;
use crate::fleet;
use crate::texts::message;
use brunt_model::history::History;
use brunt_model::reading_names::GENERATOR;
use brunt_model::{Flow, Judgement, Load, Phase, Plan, Route, Run, Tally, Text, Tick};

/// A run with its derived facts.
pub struct ExplainFacts<'a> {
    pub run: &'a Run,
    pub plan: &'a Plan,
    /// Earlier decisions about the run.
    pub so_far: &'a Judgement,
    /// Seconds of measured time.
    pub seconds: f64,
    /// Mean response time of completed and timed-out requests, in seconds; 0 if there were none.
    pub response_seconds: f64,
    /// Users of a closed loop; None for an open one.
    pub users: Option<UserAverages>,
    /// Intervals of the measured time.
    pub intervals: Vec<FlowInterval>,
}

/// Flow in an interval, with the state at its end.
#[derive(Clone, Copy)]
pub struct FlowInterval {
    pub from: Tick,
    pub to: Tick,
    pub flow: Flow,
}

impl FlowInterval {
    /// Length of the interval in seconds.
    pub fn seconds(&self) -> f64 {
        self.to.seconds_since(self.from)
    }
}

/// Averages over the users of a closed loop.
pub struct UserAverages {
    /// Mean number of users.
    pub count: f64,
    /// Mean number of users that waited for a connection or a reply.
    pub waiting: f64,
    /// Mean think time in seconds.
    pub think_seconds: f64,
}

impl<'a> ExplainFacts<'a> {
    /// Returns None before the first event.
    pub fn new(run: &'a Run, so_far: &'a Judgement) -> Option<Self> {
        let plan = run.plan.as_ref()?;
        let points = run.series.points().filter(|point| point.phase == Phase::Measure);
        let intervals: Vec<_> =
            points.map(|p| FlowInterval { from: p.from, to: p.to, flow: p.flow }).collect();
        Some(Self {
            run,
            plan,
            so_far,
            seconds: run.measured_seconds(),
            response_seconds: run.total.response.mean() / 1e9,
            users: users(run, plan, &intervals),
            intervals,
        })
    }

    /// The command line of the run.
    pub fn command(&self) -> RunCommand<'a> {
        let line = &self.run.environment.command;
        if self.is_searched() { RunCommand::for_search(line) } else { RunCommand::parse(line) }
    }

    /// True if a search chose the load and the time of the run.
    fn is_searched(&self) -> bool {
        self.plan.until.as_ref().is_some_and(|until| until.goals.is_empty())
    }

    /// Returns the advice to measure for this time, with the setting that determines
    /// when this run ends.
    pub fn advise_duration(&self, advice: Text, seconds: f64) -> Text {
        // The last stage of a load ends the run.
        if self.plan.main().load.shape().duration().is_some() {
            return message!("last-stage-longer", advice);
        }
        let longest = self.plan.stop().duration.filter(|_| self.plan.until.is_some());
        let setting = match longest {
            Some(longest) if seconds > longest.as_secs_f64() => MAX_DURATION,
            _ => DURATION,
        };
        self.command().advise(advice, setting, &format!("{}s", seconds.ceil()))
    }

    /// Tally of all samples of the measured time.
    pub fn total(&self) -> &'a Tally {
        &self.run.total
    }

    /// True if client and server share this machine; None if that is unknown.
    pub fn same_host(&self) -> Option<bool> {
        crate::facts::same_host(self.run)
    }

    /// True if all of the target's addresses are loopback addresses.
    pub fn is_loopback(&self) -> bool {
        crate::facts::has_loopback_addresses(self.run)
    }

    /// True if there is no proxy. With a proxy, the connections that brunt sees are the proxy's.
    pub fn is_direct(&self) -> bool {
        self.plan.connection.proxy.is_none()
    }

    /// Route of the requests, if it was examined; None if agents on several machines generated the
    /// load.
    pub fn route(&self) -> Option<&'a Route> {
        if self.run.agents.is_empty() {
            return self.run.environment.route.as_ref();
        }
        fleet::agent_of_only_machine(self.run)?.route()
    }

    /// Readings of the generator's machine; None if agents on several machines generated the load.
    pub fn history(&self) -> Option<&'a History> {
        let run = if self.run.agents.is_empty() {
            self.run
        } else {
            fleet::agent_of_only_machine(self.run)?.run()
        };
        run.history.get(GENERATOR)
    }

    /// Growth of a counter of this machine during the run; None if it was not read twice.
    pub fn growth(&self, name: &str) -> Option<f64> {
        let values = self.history()?.values(name);
        let (from, first) = values.first()?;
        let (to, last) = values.last()?;
        (to > from).then_some(last - first)
    }

    /// Growth of a counter per second, from reading to reading of the measured time.
    pub fn rates(&self, name: &str) -> Vec<f64> {
        let (from, to) = self.measured();
        let rates = self.history().map(|history| history.rates(name)).unwrap_or_default();
        rates.into_iter().filter(|r| r.0 >= from && r.1 <= to).map(|r| r.2).collect()
    }

    /// Start and end of the measured time.
    pub fn measured(&self) -> (Tick, Tick) {
        let from = self.intervals.first().map_or(Tick::NEVER, |i| i.from);
        (from, self.intervals.last().map_or(Tick::ZERO, |i| i.to))
    }

    /// The intervals from one share of the measured time to another.
    pub fn part(&self, from: f64, to: f64) -> &[FlowInterval] {
        let count = self.intervals.len() as f64;
        &self.intervals[(count * from).round() as usize..(count * to).round() as usize]
    }

    /// Flow and state at a share of the measured time.
    pub fn flow_at(&self, share: f64) -> Flow {
        self.part(0.0, share).last().map_or(Flow::default(), |interval| interval.flow)
    }
}

fn users(run: &Run, plan: &Plan, intervals: &[FlowInterval]) -> Option<UserAverages> {
    let Load::Closed { users, think } = &plan.only()?.load else { return None };
    let seconds: f64 = intervals.iter().map(FlowInterval::seconds).sum();
    if seconds == 0.0 {
        return None;
    }
    let over_time =
        intervals.iter().map(|i| i.flow.users as f64 * i.seconds()).sum::<f64>() / seconds;
    let count = users.as_constant().unwrap_or(over_time);
    let waiting = waiting_users(run)?.min(count);
    Some(UserAverages { count, waiting, think_seconds: think.mean().as_secs_f64() })
}
