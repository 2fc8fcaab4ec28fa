//! Combines the readings of all parts and of the machine into one reading of the whole generator.
//!
//! Processes of one machine: times and memory are summed, and workers are renumbered over all parts.
//! For descriptors the fullest process counts, because each has its own limit. All other values come
//! from this process.
//!
//! Agents may be on several machines, so values of a machine are left out: each agent has its own
//! readings in the log.

use super::Member;
use crate::gather::SelfMonitor;
use crate::run::server;
use brunt_model::reading_names as name;
use brunt_model::{Environment, ProcessPart};
use brunt_probe::{ReadingMoment, SelfProbe};

/// Values that are summed over all processes.
const SUMMED: [&str; 5] =
    [name::CPU_USER, name::CPU_SYSTEM, name::THREADS, name::PEAK_MEMORY, name::RESIDENT];
/// Values of which the maximum over all processes counts.
const MAXIMUM: [&str; 1] = [name::DESCRIPTORS];

/// The readings of all parts.
pub(super) struct Readings {
    /// Reads the machine of all parts; None if they are agents.
    probe: Option<SelfProbe>,
    parts: Vec<PartReadings>,
}

struct PartReadings {
    part: ProcessPart,
    values: Vec<(String, f64)>,
    /// True if the values came after the last combined reading.
    is_fresh: bool,
}

impl Readings {
    pub fn new(members: &[Member], environment: &Environment) -> Self {
        let parts = members
            .iter()
            .map(|m| PartReadings { part: m.part, values: Vec::new(), is_fresh: false })
            .collect();
        let are_agents = members.iter().any(|member| member.name.is_some());
        let probe = (!are_agents).then(|| SelfProbe::new(server(environment)));
        Self { probe, parts }
    }

    /// Stores a part's reading of itself. Missing values keep their last value: the usage of
    /// ended threads still counts.
    pub fn take(&mut self, number: usize, values: Vec<(String, f64)>) {
        let part = &mut self.parts[number];
        part.is_fresh = true;
        for (name, value) in values {
            match part.values.iter_mut().find(|known| known.0 == name) {
                Some(known) => known.1 = value,
                None => part.values.push((name, value)),
            }
        }
    }

    /// True if all running parts have read themselves since the last combined reading.
    pub fn is_round_over(&self, is_at_work: impl Fn(usize) -> bool) -> bool {
        self.parts.iter().enumerate().all(|(number, part)| part.is_fresh || !is_at_work(number))
    }
}

impl SelfMonitor for Readings {
    fn read(&mut self, moment: ReadingMoment) -> Vec<(String, f64)> {
        let mut all = self.probe.as_mut().map(|probe| probe.read(0, moment)).unwrap_or_default();
        for part in &mut self.parts {
            part.is_fresh = false;
            for (name, value) in &part.values {
                add(&mut all, part.part, name, *value);
            }
        }
        all
    }

    fn sources_are_workers(&self) -> bool {
        false
    }
}

fn add(all: &mut Vec<(String, f64)>, part: ProcessPart, name: &str, value: f64) {
    if let Some(name) = name::with_worker_number(name, |worker| part.worker(worker)) {
        return all.push((name, value));
    }
    let Some(whole) = all.iter_mut().find(|known| known.0 == name) else {
        // The readings of this process have these names already.
        if SUMMED.contains(&name) || MAXIMUM.contains(&name) {
            all.push((name.to_owned(), value));
        }
        return;
    };
    if SUMMED.contains(&name) {
        whole.1 += value;
    } else if MAXIMUM.contains(&name) {
        whole.1 = whole.1.max(value);
    }
}
