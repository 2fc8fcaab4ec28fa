//! The sources of readings of this process, its machine and a server's: one row and one file for each.
//!
//! A source is opened once and read again and again. What a system does not have is left out of the reading, never
//! told as 0: the judge tells from the missing name what could not be seen.

mod conntrack;
mod control_group;
mod cores;
mod disks;
mod load;
mod memory;
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

/// Names, with their unit, and values.
#[derive(Debug, Default)]
pub(crate) struct Values(pub Vec<(String, f64)>);

impl Values {
    /// Adds a value.
    pub fn push(&mut self, name: impl Into<String>, value: f64) {
        self.0.push((name.into(), value));
    }

    /// Adds a value where there is one.
    pub fn push_some(&mut self, name: impl Into<String>, value: Option<f64>) {
        if let Some(value) = value {
            self.push(name, value);
        }
    }
}

/// Something that is read again and again.
pub(crate) trait Source: Send {
    /// Adds what can be seen now.
    fn read(&mut self, into: &mut Values);
}

/// How a source is opened.
type Open = fn(&Root) -> Box<dyn Source>;

/// What is read of a server's machine.
pub(crate) const HOST: &[Open] = &[
    |root| Box::new(cores::Cores::each(root)),
    |root| Box::new(load::Load::open(root)),
    |root| Box::new(memory::Memory::open(root)),
    |root| Box::new(pressure::Pressure::open(root)),
    |root| Box::new(tcp::Tcp::open(root)),
    |root| Box::new(softnet::Softnet::open(root)),
    |root| Box::new(conntrack::Conntrack::open(root)),
    |root| Box::new(nic::Nics::open(root)),
    |root| Box::new(disks::Disks::open(root)),
];

/// Sources of this process and its machine. [`Neighbors`] is opened separately, because it needs the server's pids.
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

/// All numbers of a line; what is none is left out.
pub(crate) fn numbers(line: &str) -> impl Iterator<Item = f64> + '_ {
    line.split_ascii_whitespace().filter_map(|word| word.parse().ok())
}

/// The first number after a line's key: `MemTotal:  24684084 kB` is 24684084.
pub(crate) fn value_of(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    numbers(line.trim_start_matches(':')).next()
}
