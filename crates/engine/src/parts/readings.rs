//! What each part read of itself, and what we read of the machine: one reading of the whole generator.
//!
//! A part's process is its own; the machine is the same for all. So times and memory add up, workers get the numbers
//! that they have among all, of descriptors the fullest process counts (each has a limit of its own), and everything
//! else is what we see ourselves.

use super::Member;
use crate::gather::Watch;
use crate::run::server;
use brunt_model::reading_names as name;
use brunt_model::{Environment, Part};
use brunt_probe::Ourselves;

/// What is the sum over all processes.
const SUMMED: [&str; 5] = [name::CPU_USER, name::CPU_SYSTEM, name::THREADS, name::PEAK_MEMORY, name::RESIDENT];
/// What is that of the process that has most.
const MOST: [&str; 1] = [name::DESCRIPTORS];

/// The readings of all parts.
pub(super) struct Readings {
    ourselves: Ourselves,
    parts: Vec<OfPart>,
}

struct OfPart {
    part: Part,
    values: Vec<(String, f64)>,
    /// It came after our last reading.
    fresh: bool,
}

impl Readings {
    pub fn new(members: &[Member], environment: &Environment) -> Self {
        let parts = members.iter().map(|m| OfPart { part: m.part, values: Vec::new(), fresh: false }).collect();
        Self { ourselves: Ourselves::new(server(environment)), parts }
    }

    /// A part has read itself. What it does not see any more stays as it was: threads that ended have used what they used.
    pub fn take(&mut self, number: usize, values: Vec<(String, f64)>) {
        let part = &mut self.parts[number];
        part.fresh = true;
        for (name, value) in values {
            match part.values.iter_mut().find(|known| known.0 == name) {
                Some(known) => known.1 = value,
                None => part.values.push((name, value)),
            }
        }
    }

    /// All parts that are at work have read themselves since our last reading.
    pub fn is_round_over(&self, is_at_work: impl Fn(usize) -> bool) -> bool {
        self.parts.iter().enumerate().all(|(number, part)| part.fresh || !is_at_work(number))
    }
}

impl Watch for Readings {
    fn read(&mut self) -> Vec<(String, f64)> {
        let mut all = self.ourselves.read(0);
        for of in &mut self.parts {
            of.fresh = false;
            for (name, value) in &of.values {
                add(&mut all, of.part, name, *value);
            }
        }
        all
    }

    fn sources_are_workers(&self) -> bool {
        false
    }
}

fn add(all: &mut Vec<(String, f64)>, part: Part, name: &str, value: f64) {
    if let Some(name) = name::renumbered(name, |own| part.worker(own)) {
        return all.push((name, value));
    }
    let Some(whole) = all.iter_mut().find(|known| known.0 == name) else { return };
    if SUMMED.contains(&name) {
        whole.1 += value;
    } else if MOST.contains(&name) {
        whole.1 = whole.1.max(value);
    }
}
