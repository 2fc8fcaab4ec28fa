//! Reads real servers: status pages, processes, and a machine over `ssh`.

mod pages;
mod ssh;

use brunt_model::probe_spec::{ProbeAccess, Select};
use brunt_model::{Clock, ProbeSpec, Probed, Reading, Tick};
use brunt_probe::{ReadingTask, WatchEvent};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The clock of the system, from the creation of this value.
struct SystemClock(Instant);

impl SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the run's clock is not linked here")]
    fn now() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Tick {
        Tick::ZERO + self.0.elapsed()
    }
}

/// A watch, and all its observations so far.
struct ProbeObserver {
    watch: ReadingTask,
    observations: Vec<WatchEvent>,
}

impl ProbeObserver {
    fn start(probes: &[(&str, Probed)]) -> Self {
        let interval = Duration::from_millis(100);
        let specs: Vec<ProbeSpec> = probes
            .iter()
            .map(|(name, what): &(&str, Probed)| ProbeSpec {
                name: (*name).into(),
                what: what.clone(),
                interval,
            })
            .collect();
        Self { watch: ReadingTask::start(&specs, SystemClock::now()), observations: Vec::new() }
    }

    /// Waits until a condition on the observations holds.
    fn wait_until(&mut self, condition: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..3000 {
            self.observations.extend(self.watch.drain());
            if holds(self) {
                return;
            }
            crate::world::wait_a_moment();
        }
        panic!("waited in vain: {condition}: {:?}", self.observations);
    }

    /// Readings of a source.
    fn readings_of(&self, source: &str) -> Vec<BTreeMap<String, f64>> {
        self.observations
            .iter()
            .filter_map(|observations: &WatchEvent| match observations {
                WatchEvent::Reading(Reading { source: own, values, .. }) if own == source => {
                    Some(values.iter().cloned().collect())
                }
                _ => None,
            })
            .collect()
    }

    fn warnings(&self) -> Vec<&str> {
        self.observations
            .iter()
            .filter_map(
                |s| if let WatchEvent::Warning(text) = s { Some(text.as_str()) } else { None },
            )
            .collect()
    }
}

/// Local probe of the process that listens on a port.
fn port(port: u16) -> Probed {
    Probed::Processes { select: Select::Port(port), via: ProbeAccess::Local }
}
