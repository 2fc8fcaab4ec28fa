//! The sources of readings of this process, its machine and a server's machine: one row and
//! one file for each.
//!
//! A source is opened once and read repeatedly. Values that a system does not have are missing from
//! the reading, never 0. From a missing name, the judge concludes that the value is unavailable.

mod conntrack;
pub(crate) mod control_group;
mod cores;
mod disks;
mod load;
pub(crate) mod memory;
mod neighbors;
mod nic;
mod pressure;
mod process;
mod softnet;
mod tcp;
#[cfg(test)]
mod tests;
pub(crate) mod workers;

use crate::root::Root;
pub(crate) use neighbors::Neighbors;

/// A reading: names, with their unit, and values.
#[derive(Debug, Default)]
pub(crate) struct Values(pub Vec<(String, f64)>);

impl Values {
    pub fn push(&mut self, name: impl Into<String>, value: f64) {
        self.0.push((name.into(), value));
    }

    /// Adds a value if it is available.
    pub fn push_some(&mut self, name: impl Into<String>, value: Option<f64>) {
        if let Some(value) = value {
            self.push(name, value);
        }
    }
}

/// Position of a reading in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingMoment {
    /// Begin or end of the run, or of its measured time: everything is read.
    Edge,
    /// In between: expensive values may be left out.
    Within,
}

/// A source that is read repeatedly.
pub(crate) trait Source: Send {
    /// Adds the values that are available now.
    fn read(&mut self, into: &mut Values);
}

/// Opens a source.
type Open = fn(&Root) -> Box<dyn Source>;

/// Sources that read a server's machine.
pub(crate) const HOST: &[Open] = &[
    |root| Box::new(cores::Cores::open_per_core(root)),
    |root| Box::new(load::Load::open(root)),
    |root| Box::new(memory::Memory::open(root)),
    |root| Box::new(pressure::Pressure::open(root)),
    |root| Box::new(tcp::Tcp::open(root)),
    |root| Box::new(softnet::Softnet::open(root)),
    |root| Box::new(conntrack::Conntrack::open(root)),
    |root| Box::new(nic::Nics::open(root)),
    |root| Box::new(disks::Disks::open(root)),
];

/// Sources of this process and its machine. [`Neighbors`] is opened separately, because it
/// needs the server's pids.
pub(crate) const SOURCES: &[Open] = &[
    |root| Box::new(process::Process::open(root)),
    |root| Box::new(cores::Cores::open(root)),
    |root| Box::new(pressure::Pressure::open(root)),
    |root| Box::new(control_group::ControlGroup::open(root)),
    |root| Box::new(tcp::Tcp::open(root)),
    |root| Box::new(softnet::Softnet::open(root)),
    |root| Box::new(conntrack::Conntrack::open(root)),
    |root| Box::new(nic::Nics::open(root)),
    |root| Box::new(memory::Memory::open(root)),
];

/// Returns all numbers in a line. Words that are not numbers are skipped.
pub(crate) fn numbers(line: &str) -> impl Iterator<Item = f64> + '_ {
    line.split_ascii_whitespace().filter_map(|word| word.parse().ok())
}

/// Returns the first number after the key of a line: `MemTotal:  24684084 kB` yields 24684084.
pub(crate) fn value_of(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    numbers(line.trim_start_matches(':')).next()
}
