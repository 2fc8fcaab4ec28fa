//! Folds the events of a run into a [`Run`], the only input of reports.

pub mod digest;
pub mod iterations;

use crate::event::{Finish, LostProcess, Mark};
use crate::history::History;
use crate::metric::Metrics;
use crate::reading_names;
use crate::series::Series;
use crate::series::breakdown::BreakdownSeries;
use crate::spread::ArrivalSpread;
use crate::{
    AgentEnvironment, AgentFacts, CheckFailure, Environment, Event, Flow, Phase, Plan,
    ProcessShares, Snapshot, Tally, Text, Tick, TransactionTally,
};
use std::collections::BTreeMap;

/// Maximum number of marks of a run.
pub const MOST_MARKS: usize = 1000;

/// The fold of all events of a run. It does not contain single samples; those are in the events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Plan of the run; None before the first event.
    pub plan: Option<Plan>,
    /// Environment of the run.
    pub environment: Environment,
    /// Start time, in seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// Start of each phase, in order.
    pub phases: Vec<(Phase, Tick)>,
    /// Names of labels by number.
    pub label_names: BTreeMap<u32, String>,
    /// Labels of single requests within chains of redirects, each with the label of its step.
    pub hops: BTreeMap<u32, u32>,
    /// All samples of the measured time.
    pub total: Tally,
    /// All samples of the warm-up.
    pub warmup: Tally,
    /// A separate run of each population, in the order of the plan; empty if there is only one. It
    /// contains the plan, phases, samples, counters and connections of the population. Readings
    /// exist only for the whole run.
    pub populations: Vec<Run>,
    /// A separate run of each agent, in the order of the environment's agents; empty without agents.
    /// It contains the agent's share of the plan, its machine, samples, counters and readings of
    /// itself.
    pub agents: Vec<Run>,
    /// Replies of the measured time by label, including those of hops. Empty if there is only one
    /// label. The log also contains their queue wait, lag and phases.
    pub labels: BTreeMap<u32, Box<Tally>>,
    /// Checks that failed for requests of the measured time.
    pub check_failures: Vec<CheckFailure>,
    /// Figures that scripts of users have reported, in all phases.
    pub metrics: Metrics,
    /// Transactions with a first request planned in the measured time, by name.
    pub transactions: BTreeMap<String, TransactionTally>,
    /// Counters of the measured time, up to its end.
    pub flow: Flow,
    /// Counters of all phases together.
    pub flow_all: Flow,
    /// Spacing of the arrivals (open loop).
    pub spread: ArrivalSpread,
    /// Highest value of each counter in an interval; for a level, its peak.
    pub peak: Flow,
    /// Figures of the run over time.
    pub series: Series,
    /// Figures of its labels and transactions over time; empty in populations and agents.
    pub breakdown_series: BreakdownSeries,
    /// Readings of each source, in order of time.
    pub history: BTreeMap<String, History>,
    /// Warnings, each sentence once.
    pub warnings: Vec<Text>,
    /// Instants that the user has marked, at most [`MOST_MARKS`].
    pub marks: Vec<Mark>,
    /// Processes that ended prematurely.
    pub losses: Vec<LostProcess>,
    /// End of the run; None while it is active, or if the log is incomplete.
    pub finish: Option<Finish>,
    /// End of the latest interval.
    pub last_interval_end: Tick,
}

/// Ends the last loss of a process.
fn end_loss(losses: &mut [LostProcess], at: Tick, process: u32) {
    if let Some(loss) = losses.iter_mut().rfind(|loss| loss.part.number == process) {
        loss.until = at;
    }
}

/// The agents of a group, with their shares of a run.
#[derive(Debug, Clone)]
pub struct GroupOfAgents<'a> {
    /// Name of the group.
    pub name: &'a str,
    /// The runs of its agents.
    pub agents: Vec<&'a Run>,
}

impl GroupOfAgents<'_> {
    /// Samples of the measured time of all its agents.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.agents.iter().for_each(|agent| total.merge(&agent.total));
        total
    }
}

impl Run {
    /// Adds the next event.
    pub fn fold(&mut self, event: &Event) {
        match event {
            Event::Started { plan, environment, unix_seconds } => {
                // The figures of an only population are those of the run.
                if plan.populations.len() > 1 {
                    let populations = 0..plan.populations.len();
                    self.populations = populations
                        .map(|number| Self {
                            plan: Some(plan.of_population(number)),
                            ..Self::default()
                        })
                        .collect();
                }
                let groups = environment.groups();
                let names = environment.agents.iter().enumerate();
                self.agents = names
                    .map(|(number, agent)| {
                        Self::of_agent(plan, number, &groups, agent, *unix_seconds)
                    })
                    .collect();
                // Cheap, because copies of a plan share its requests.
                self.plan = Some((**plan).clone());
                self.environment = (**environment).clone();
                self.unix_seconds = *unix_seconds;
            }
            Event::Stage { at, phase } => self.phases.push((*phase, *at)),
            Event::Label { id, name, hop_of } => {
                self.label_names.insert(*id, name.clone());
                self.hops.extend(hop_of.map(|step| (*id, step)));
                self.populations.iter_mut().for_each(|population| population.fold(event));
            }
            Event::Target { addresses, server } => {
                // The server's name becomes known only with its first reply, so an event may have
                // one of the two.
                if !addresses.is_empty() {
                    self.environment.addresses.clone_from(addresses);
                }
                if server.is_some() {
                    self.environment.server.clone_from(server);
                }
            }
            Event::Snapshot(snapshot) => {
                self.fold_snapshot(snapshot);
                self.breakdown_series.push(snapshot);
            }
            Event::Population { number, snapshot } => {
                if let Some(population) = self.populations.get_mut(*number as usize) {
                    population.fold_population(snapshot);
                }
            }
            // `add_to` limits the number of entries, also over all processes.
            Event::CheckFailures(failures) => {
                for failure in failures {
                    failure.clone().add_to(&mut self.check_failures);
                }
            }
            Event::Metrics(metrics) => self.metrics.merge(metrics),
            // The memory of a run is bounded, so single samples are not stored.
            Event::Samples(_) | Event::Records(_) => {}
            Event::Reading(r) => {
                self.history.entry(r.source.clone()).or_default().push(r);
            }
            Event::Warning(w) => {
                if !self.warnings.contains(&w.text) {
                    self.warnings.push(w.text.clone());
                }
            }
            Event::Mark(mark) => {
                if self.marks.len() < MOST_MARKS {
                    self.marks.push(mark.clone());
                }
            }
            Event::Finished(finish) => {
                self.finish = Some(finish.clone());
                self.populations.iter_mut().for_each(|population| population.fold(event));
                self.agents.iter_mut().for_each(|agent| agent.fold(event));
                // A study stores many runs. Lists of non-empty buckets need less memory than full
                // histograms.
                self.compact();
            }
            Event::Lost(loss) => self.fold_loss(loss),
            Event::Resumed { at, process } => self.fold_resumption(*at, *process),
            Event::Agent { number, event } => {
                if let Some(agent) = self.agents.get_mut(*number as usize) {
                    match &**event {
                        Event::Snapshot(snapshot) => agent.fold_population(snapshot),
                        other => agent.fold(other),
                    }
                }
            }
        }
    }

    /// Returns the run of an agent, without events.
    fn of_agent(
        plan: &Plan,
        number: usize,
        groups: &[Option<&str>],
        agent: &AgentEnvironment,
        unix_seconds: f64,
    ) -> Self {
        let shares = ProcessShares::of(plan, number as u32, groups);
        let AgentFacts { brunt, kernel, cpu, cores, sysctls, .. } = agent.facts.clone();
        let route = agent.route.clone();
        Self {
            plan: Some(plan.of_agent(&shares)),
            environment: Environment {
                brunt,
                kernel,
                cpu,
                cores,
                sysctls,
                route,
                ..Environment::default()
            },
            unix_seconds,
            ..Self::default()
        }
    }

    /// Adds the loss of a process. A population notes the share of it that is missing.
    fn fold_loss(&mut self, loss: &LostProcess) {
        self.losses.push(*loss);
        let Some(plan) = &self.plan else { return };
        let shares = ProcessShares::of(plan, loss.part.number, &self.environment.groups());
        for (population, part) in self.populations.iter_mut().zip(shares.populations) {
            population.losses.extend(part.map(|part| LostProcess { part, ..*loss }));
        }
    }

    /// Ends the loss of a process that was replaced.
    fn fold_resumption(&mut self, at: Tick, process: u32) {
        end_loss(&mut self.losses, at, process);
        let Some(plan) = &self.plan else { return };
        let shares = ProcessShares::of(plan, process, &self.environment.groups());
        for (population, part) in self.populations.iter_mut().zip(shares.populations) {
            if let Some(part) = part {
                end_loss(&mut population.losses, at, part.number);
            }
        }
    }

    /// Returns the groups of agents, in the order of their first agents.
    pub fn agent_groups(&self) -> Vec<GroupOfAgents<'_>> {
        let mut groups: Vec<GroupOfAgents> = Vec::new();
        for (environment, run) in self.environment.agents.iter().zip(&self.agents) {
            let Some(name) = environment.group.as_deref() else { continue };
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.agents.push(run),
                None => groups.push(GroupOfAgents { name, agents: vec![run] }),
            }
        }
        groups
    }

    /// Folds the events of a whole log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut run = Self::default();
        events.into_iter().for_each(|e| run.fold(e));
        run
    }

    /// Reduces the memory of a finished run, since a study contains thousands of them.
    fn compact(&mut self) {
        let labels = self.labels.values_mut().map(|label| &mut **label);
        [&mut self.total, &mut self.warmup].into_iter().chain(labels).for_each(Tally::compact);
        self.transactions.values_mut().for_each(|transaction| transaction.response.compact());
    }

    /// Adds a snapshot of this population or agent, which has separate phases.
    fn fold_population(&mut self, s: &Snapshot) {
        // Stages are events of the run, so the phases of a part of it follow from its snapshots.
        if self.phases.last().is_none_or(|(phase, _)| *phase != s.phase) {
            self.phases.push((s.phase, s.from));
        }
        self.fold_snapshot(s);
    }

    /// Sums the counters of the populations, since their phases may differ.
    fn sum_flows(&mut self) {
        self.flow = Flow::default();
        for population in &self.populations {
            self.flow.merge(&population.flow);
        }
    }

    fn fold_snapshot(&mut self, s: &Snapshot) {
        self.total.merge(&s.measured);
        self.warmup.merge(&s.warmup);
        for (label, tally) in &s.labels {
            // Reports show the other values only for the whole run, and a run may have 1,000
            // labels.
            self.labels.entry(*label).or_default().merge_replies(tally);
        }
        for (name, tally) in &s.transactions {
            self.transactions.entry(name.clone()).or_default().merge(tally);
        }
        // Throughput excludes the grace period: its replies are counted in the percentiles only.
        if s.phase == Phase::Measure {
            self.flow.follow(&s.flow);
        }
        self.flow_all.follow(&s.flow);
        // Each population has its own phases, so the run's measured flow is the sum of theirs.
        if !self.populations.is_empty() {
            self.sum_flows();
        }
        self.peak.raise(&s.flow);
        self.last_interval_end = self.last_interval_end.max(s.to);
        self.series.push(s);
        self.spread.push(&s.bins);
    }

    /// Returns the first population, whose load sweeps vary; the run itself if there is only one.
    pub fn main(&self) -> &Self {
        self.populations.first().unwrap_or(self)
    }

    /// Returns the labels of steps with their samples. A chain of redirects is one
    /// sample of its step.
    pub fn steps(&self) -> impl Iterator<Item = (u32, &Tally)> {
        self.labels
            .iter()
            .filter(|(label, _)| !self.hops.contains_key(label))
            .map(|(label, tally)| (*label, &**tally))
    }

    /// Returns the hops of a step's redirect chains: labels with their samples.
    pub fn hops_of(&self, step: u32) -> impl Iterator<Item = (u32, &Tally)> {
        let labels =
            self.labels.iter().filter(move |(label, _)| self.hops.get(label) == Some(&step));
        labels.map(|(label, tally)| (*label, &**tally))
    }

    /// Returns the start of a phase.
    pub fn phase_start(&self, phase: Phase) -> Option<Tick> {
        self.phases.iter().find(|p| p.0 == phase).map(|p| p.1)
    }

    /// Returns the measured time: from the end of the warm-up to the last new request. None
    /// if there was none.
    pub fn measured_span(&self) -> Option<(Tick, Tick)> {
        // Without a grace period, the run is still active or its log is incomplete.
        Some((
            self.phase_start(Phase::Measure)?,
            self.phase_start(Phase::Grace).unwrap_or(self.last_interval_end),
        ))
    }

    /// Length of the measured time, in seconds.
    pub fn measured_seconds(&self) -> f64 {
        self.measured_span().map_or(0.0, |(from, to)| to.seconds_since(from))
    }

    /// Complete replies per second of measured time, without those of the grace period.
    pub fn throughput(&self) -> f64 {
        self.per_second(self.flow.completed)
    }

    /// Good replies per second of measured time.
    pub fn goodput(&self) -> f64 {
        self.per_second(self.flow.good)
    }

    /// Returns `n` per second of measured time; 0 if there was none.
    pub fn per_second(&self, n: u64) -> f64 {
        let seconds = self.measured_seconds();
        if seconds > 0.0 { n as f64 / seconds } else { 0.0 }
    }

    /// Returns the latest value of a reading.
    pub fn reading(&self, source: &str, name: &str) -> Option<f64> {
        self.history.get(source)?.last(name)
    }

    /// Sum of the latest readings of all workers under this name. None if no worker has one.
    pub fn sum_of_workers(&self, name: &str) -> Option<f64> {
        let history = self.history.get(reading_names::GENERATOR)?;
        let of_workers =
            history.names().iter().filter(|full| reading_names::is_worker_reading(full, name));
        of_workers.filter_map(|full| history.last(full)).reduce(|a, b| a + b)
    }

    /// True if the run was stopped early.
    pub fn is_interrupted(&self) -> bool {
        // A log without an end belongs to a run that was killed.
        self.finish.as_ref().is_none_or(|f| f.interrupted)
    }
}
