//! Goes on with a run on agents whose controller has died.
//!
//! The agents' messages are repeated from the start, and merged as if they had just arrived. Only what the
//! controller itself contributed comes from its log: readings of the server and of its connections to the
//! agents.

use crate::error::RunError;
use crate::run::PlanExecutor;
use brunt_agents::controller::{Fleet, FleetRun};
use brunt_engine::parts::BegunRun;
use brunt_engine::{RunControl, RunEpoch, Sink};
use brunt_model::agent::RunNumber;
use brunt_model::reading_names::{GENERATOR, LINK};
use brunt_model::{Environment, Event, Phase, Plan, Tick};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// What the controller of a run has logged before it died.
#[derive(Debug, Default)]
pub struct EarlierLog {
    /// Plan, without its secrets.
    pub plan: Option<Plan>,
    /// Machine, program, command line and agents.
    pub environment: Environment,
    /// Wall-clock time of instant 0.
    unix_seconds: f64,
    /// Begin of the load, if it had begun.
    begins: Option<Tick>,
    /// End of the last interval.
    published_to: Tick,
    /// Names of all labels.
    labels: Vec<String>,
    /// Events that the agents do not repeat.
    own: VecDeque<Event>,
}

impl EarlierLog {
    /// Reads the events of a log.
    pub fn read(events: impl Iterator<Item = Event>) -> Self {
        let mut log = Self::default();
        events.for_each(|event| log.add(event));
        log
    }

    fn add(&mut self, event: Event) {
        match event {
            Event::Started { plan, environment, unix_seconds } => {
                self.plan = Some(*plan);
                self.environment = *environment;
                self.unix_seconds = unix_seconds;
            }
            Event::Label { name, hop_of: None, .. } => self.labels.push(name),
            Event::Snapshot(snapshot) => {
                self.published_to = snapshot.to;
                if snapshot.phase != Phase::Setup {
                    self.begins.get_or_insert(snapshot.from);
                }
            }
            Event::Reading(ref reading) if reading.source != GENERATOR => self.own.push_back(event),
            Event::Agent { event: ref of_agent, .. } => {
                if matches!(&**of_agent, Event::Reading(reading) if reading.source == LINK) {
                    self.own.push_back(event);
                }
            }
            _ => {}
        }
    }

    /// The run, if its load had begun.
    pub fn begun(&self) -> Option<BegunRun> {
        let published_to = self.published_to;
        self.begins.map(|begins| BegunRun { begins, published_to })
    }

    /// True if the controller read the server.
    pub fn has_server_readings(&self) -> bool {
        self.own.iter().any(|event| matches!(event, Event::Reading(_)))
    }

    /// Takes the next event that the agents do not repeat, up to this instant.
    fn next_own(&mut self, at: Tick) -> Option<Event> {
        self.own.pop_front_if(|event| instant(event).is_none_or(|instant| instant <= at))
    }

    /// Instant 0 on this process's clock, which may have begun after that of the controller.
    fn epoch(&self) -> RunEpoch {
        RunEpoch::at_unix_seconds(self.unix_seconds)
    }
}

fn instant(event: &Event) -> Option<Tick> {
    match event {
        Event::Reading(reading) => Some(reading.at),
        Event::Agent { event, .. } => instant(event),
        _ => None,
    }
}

/// A run that this process goes on with.
pub struct AttachedRun {
    fleet: Arc<Fleet>,
    number: RunNumber,
    begun: BegunRun,
    log: RefCell<EarlierLog>,
}

impl AttachedRun {
    /// The run with this number, on agents that were [reconnected](Fleet::reconnect).
    pub fn new(fleet: Arc<Fleet>, number: RunNumber, begun: BegunRun, log: EarlierLog) -> Self {
        Self { fleet, number, begun, log: RefCell::new(log) }
    }
}

impl PlanExecutor for AttachedRun {
    fn began(&self) -> RunEpoch {
        self.log.borrow().epoch()
    }

    fn run(
        &self,
        plan: &Plan,
        environment: Environment,
        control: &RunControl,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError> {
        let run = FleetRun {
            plan,
            epoch: self.began(),
            labels: self.log.borrow().labels.clone(),
            script_files: Vec::new(),
        };
        let mut with_own_events = |event: &Event| {
            sink.take(event);
            if let Event::Snapshot(snapshot) = event {
                while let Some(own) = self.log.borrow_mut().next_own(snapshot.to) {
                    sink.take(&own);
                }
            }
        };
        Ok(self.fleet.go_on(
            self.number,
            &run,
            self.begun,
            environment,
            control,
            &mut with_own_events,
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::{Reading, Snapshot};

    fn reading(source: &str, at: u64) -> Reading {
        Reading { at: Tick(at), source: source.into(), values: Vec::new() }
    }

    fn snapshot(phase: Phase, from: u64, to: u64) -> Event {
        Event::Snapshot(Box::new(Snapshot {
            phase,
            from: Tick(from),
            to: Tick(to),
            ..Snapshot::default()
        }))
    }

    #[test]
    fn what_the_controller_contributed_is_repeated_at_its_instants() {
        let of_agent = |source: &str, at| {
            let event = Box::new(Event::Reading(reading(source, at)));
            Event::Agent { number: 1, event }
        };
        let events = [
            snapshot(Phase::Setup, 0, 30),
            snapshot(Phase::Warmup, 30, 130),
            Event::Reading(reading(GENERATOR, 140)),
            Event::Reading(reading("nginx", 150)),
            of_agent(GENERATOR, 160),
            of_agent(LINK, 170),
            snapshot(Phase::Measure, 130, 230),
        ];
        let mut log = EarlierLog::read(events.into_iter());
        let begun = log.begun().unwrap();
        assert_eq!((begun.begins, begun.published_to), (Tick(30), Tick(230)));
        assert!(log.has_server_readings());
        assert_eq!(log.next_own(Tick(149)), None);
        assert_eq!(log.next_own(Tick(150)), Some(Event::Reading(reading("nginx", 150))));
        assert_eq!(log.next_own(Tick(170)), Some(of_agent(LINK, 170)));
        assert_eq!(log.next_own(Tick(999)), None);
    }
}
