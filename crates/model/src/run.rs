//! The fold of all events of a run: all that reports ever see.

use crate::event::{Finish, Loss};
use crate::history::History;
use crate::reading_names;
use crate::series::Series;
use crate::spread::Spread;
use crate::{CheckFailure, Environment, Event, Flow, Phase, Plan, Snapshot, Tally, Tick, TransactionTally};
use std::collections::BTreeMap;

/// The fold of all events of a run. Single samples are not kept here; read the events for them.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What was to be done; None before the first event.
    pub plan: Option<Plan>,
    /// Where and with what.
    pub environment: Environment,
    /// Seconds since 1970-01-01 UTC at its beginning.
    pub unix_seconds: f64,
    /// When each part began, in order.
    pub phases: Vec<(Phase, Tick)>,
    /// Names of labels by number.
    pub label_names: BTreeMap<u32, String>,
    /// Labels of single requests within chains of redirects, each with the label of its step.
    pub hops: BTreeMap<u32, u32>,
    /// All samples of the measured time.
    pub total: Tally,
    /// All samples of the warm-up.
    pub warmup: Tally,
    /// Each population by itself, where there are several, in the order of the plan: its plan, its phases, its samples and what
    /// flowed. Its connections are its own; readings are of the whole run.
    pub populations: Vec<Run>,
    /// Replies of the measured time by label, those of hops included; empty where there is only one label. The log also has their
    /// queue wait, lag and phases.
    pub labels: BTreeMap<u32, Box<Tally>>,
    /// Checks that replies to requests of the measured time failed.
    pub check_failures: Vec<CheckFailure>,
    /// Transactions whose first request was planned in the measured time, by name.
    pub transactions: BTreeMap<String, TransactionTally>,
    /// What flowed in the measured time, to its end and not beyond.
    pub flow: Flow,
    /// What flowed in all parts together.
    pub flow_all: Flow,
    /// What flowed in the grace period.
    pub flow_grace: Flow,
    /// How arrivals were spread over time (open loop).
    pub spread: Spread,
    /// Highest value of each counter in an interval: for a level, its peak.
    pub peak: Flow,
    /// How it went over time.
    pub series: Series,
    /// All readings of each source, in order of time.
    pub history: BTreeMap<String, History>,
    /// What the reader should know, each sentence once.
    pub warnings: Vec<String>,
    /// Processes that ended before their time.
    pub losses: Vec<Loss>,
    /// How it ended; None while it goes on, or where the log was torn.
    pub finish: Option<Finish>,
    /// The end of the last interval seen.
    pub seen_to: Tick,
}

impl Run {
    /// Takes in the next event.
    pub fn fold(&mut self, event: &Event) {
        match event {
            Event::Started { plan, environment, unix_seconds } => {
                if plan.populations.len() > 1 {
                    let of = |number| Self { plan: Some(plan.of_population(number)), ..Self::default() };
                    self.populations = (0..plan.populations.len()).map(of).collect();
                }
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
                if !addresses.is_empty() {
                    self.environment.addresses.clone_from(addresses);
                }
                if server.is_some() {
                    self.environment.server.clone_from(server);
                }
            }
            Event::Snapshot(snapshot) => self.fold_snapshot(snapshot),
            Event::Population { number, snapshot } => {
                if let Some(population) = self.populations.get_mut(*number as usize) {
                    population.fold_population(snapshot);
                }
            }
            Event::CheckFailures(failures) => {
                for failure in failures {
                    failure.clone().add_to(&mut self.check_failures);
                }
            }
            Event::Samples(_) | Event::Records(_) => {}
            Event::Reading(r) => {
                self.history.entry(r.source.clone()).or_default().push(r);
            }
            Event::Warning(w) => {
                if !self.warnings.contains(&w.text) {
                    self.warnings.push(w.text.clone());
                }
            }
            Event::Finished(finish) => {
                self.finish = Some(finish.clone());
                self.populations.iter_mut().for_each(|population| population.fold(event));
                self.compact();
            }
            Event::Lost(loss) => self.losses.push(*loss),
        }
    }

    /// Folds a whole log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut run = Self::default();
        events.into_iter().for_each(|e| run.fold(e));
        run
    }

    /// Gives up the memory that only further events would need: a study holds thousands of runs that have ended.
    fn compact(&mut self) {
        let labels = self.labels.values_mut().map(|label| &mut **label);
        [&mut self.total, &mut self.warmup].into_iter().chain(labels).for_each(Tally::compact);
        self.transactions.values_mut().for_each(|transaction| transaction.response.compact());
    }

    /// A snapshot of this population, which has phases of its own.
    fn fold_population(&mut self, s: &Snapshot) {
        if self.phases.last().is_none_or(|(phase, _)| *phase != s.phase) {
            self.phases.push((s.phase, s.from));
        }
        self.fold_snapshot(s);
    }

    /// What flowed in the phases of each population, which need not be those of another.
    fn sum_flows(&mut self) {
        let sum = |of: fn(&Self) -> &Flow| {
            self.populations.iter().fold(Flow::default(), |mut sum, population| {
                sum.merge(of(population));
                sum
            })
        };
        (self.flow, self.flow_grace) = (sum(|run| &run.flow), sum(|run| &run.flow_grace));
    }

    fn fold_snapshot(&mut self, s: &Snapshot) {
        self.total.merge(&s.measured);
        self.warmup.merge(&s.warmup);
        for (label, tally) in &s.labels {
            self.labels.entry(*label).or_default().merge_replies(tally);
        }
        for (name, tally) in &s.transactions {
            self.transactions.entry(name.clone()).or_default().merge(tally);
        }
        if s.phase == Phase::Measure {
            self.flow.follow(&s.flow);
        }
        if s.phase == Phase::Grace {
            self.flow_grace.follow(&s.flow);
        }
        self.flow_all.follow(&s.flow);
        if !self.populations.is_empty() {
            self.sum_flows();
        }
        self.peak.raise(&s.flow);
        self.seen_to = self.seen_to.max(s.to);
        self.series.push(s);
        self.spread.push(&s.bins);
    }

    /// The first of several populations: the one whose load sweeps vary. Itself, where there is only one.
    pub fn main(&self) -> &Self {
        self.populations.first().unwrap_or(self)
    }

    /// Labels of steps, and their samples: a chain of redirects is one sample of its step.
    pub fn steps(&self) -> impl Iterator<Item = (u32, &Tally)> {
        self.labels.iter().filter(|(label, _)| !self.hops.contains_key(label)).map(|(label, tally)| (*label, &**tally))
    }

    /// The hops of a step's chains of redirects: labels, and their samples.
    pub fn hops_of(&self, step: u32) -> impl Iterator<Item = (u32, &Tally)> {
        let labels = self.labels.iter().filter(move |(label, _)| self.hops.get(label) == Some(&step));
        labels.map(|(label, tally)| (*label, &**tally))
    }

    /// When a part began.
    pub fn began(&self, phase: Phase) -> Option<Tick> {
        self.phases.iter().find(|p| p.0 == phase).map(|p| p.1)
    }

    /// The measured time: from the end of the warm-up until no new request was begun; None where there was none.
    pub fn measured_span(&self) -> Option<(Tick, Tick)> {
        Some((self.began(Phase::Measure)?, self.began(Phase::Grace).unwrap_or(self.seen_to)))
    }

    /// Seconds of measured time.
    pub fn measured_seconds(&self) -> f64 {
        self.measured_span().map_or(0.0, |(from, to)| to.seconds_since(from))
    }

    /// Whole replies per second of measured time. Replies that came in the grace period are not counted.
    pub fn throughput(&self) -> f64 {
        self.per_second(self.flow.completed)
    }

    /// Good replies per second of measured time.
    pub fn goodput(&self) -> f64 {
        self.per_second(self.flow.good)
    }

    /// `n` per second of measured time; 0 where there was none.
    pub fn per_second(&self, n: u64) -> f64 {
        let seconds = self.measured_seconds();
        if seconds > 0.0 { n as f64 / seconds } else { 0.0 }
    }

    /// A reading's last value.
    pub fn reading(&self, source: &str, name: &str) -> Option<f64> {
        self.history.get(source)?.last(name)
    }

    /// The last readings of this name summed over the workers of brunt; None where no worker has one.
    pub fn sum_of_workers(&self, name: &str) -> Option<f64> {
        let history = self.history.get(reading_names::GENERATOR)?;
        let of_workers = history.names().iter().filter(|full| reading_names::is_of_a_worker(full, name));
        of_workers.filter_map(|full| history.last(full)).reduce(|a, b| a + b)
    }

    /// Whether somebody stopped it before its time.
    pub fn interrupted(&self) -> bool {
        self.finish.as_ref().is_none_or(|f| f.interrupted)
    }
}
