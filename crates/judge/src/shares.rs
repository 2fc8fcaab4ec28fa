//! Usage of the cores of the generator's machine: by brunt, by the server if it runs on the same
//! machine, by other processes.
//!
//! The server's processes are those that probes read (`process:…`), else those that hold the
//! target's listening socket, with their children. A process that the server calls (an interpreter,
//! a database) is known only if a probe reads it. If the server runs on this machine and its
//! processes are not known, other processes are not named, since they may be the server.
//!
//! Out of scope: a judgement.

use crate::facts::{ReadingSpan, RunFacts};
use brunt_model::Run;
use brunt_model::finding::ProcessUse;
use brunt_model::reading_names::{self as name, server};

/// Maximum number of processes that are named.
const MOST_NAMED: usize = 3;
/// Minimum usage of a process that is named, in cores.
const NAMED_FROM: f64 = 0.05;

/// Average number of cores used over the measured time, by user.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shares {
    /// Number of cores of the machine.
    pub cores: f64,
    /// Cores that were not idle.
    pub busy: f64,
    /// Cores used by brunt.
    pub brunt: f64,
    /// Cores used by the server's processes; None if it runs elsewhere, or they are not known.
    pub server: Option<f64>,
    /// Cores used by other processes; None if they cannot be distinguished from the server.
    pub others: Option<f64>,
    /// The other processes with the greatest usage, in descending order.
    pub largest_others: Vec<ProcessUse>,
}

impl Shares {
    /// Returns None if the usage of the machine's cores was not read.
    pub fn new(run: &Run) -> Option<Self> {
        Self::from_facts(&RunFacts::new(run)?)
    }

    pub fn from_facts(facts: &RunFacts) -> Option<Self> {
        let cores = mean(&facts.sum_of_rates(&name::HOST_PARTS))?;
        let free =
            mean(&facts.sum_of_rates(&[name::HOST_IDLE, name::HOST_IOWAIT, name::HOST_STEAL]))?;
        let brunt = mean(&facts.sum_of_rates(&[name::CPU_USER, name::CPU_SYSTEM]))?;
        let server = server_cores(facts);
        let is_known = server.is_some() || facts.same_host() == Some(false);
        let all = mean(&facts.states(name::PROCESSES));
        // If the server's processes are unknown, the others may be the server.
        let others = all.filter(|_| is_known).map(|all| (all - server.unwrap_or(0.0)).max(0.0));
        let largest_others = if is_known { largest_others(facts) } else { Vec::new() };
        Some(Self { cores, busy: (cores - free).max(0.0), brunt, server, others, largest_others })
    }

    /// Other processes as text: `other processes used 1.90 of 2 cores: sh (pid 123) 1.90`.
    pub fn others_text(&self) -> String {
        let others = self.others.unwrap_or(0.0);
        let names: Vec<String> = self.largest_others.iter().map(ToString::to_string).collect();
        let list = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        format!("other processes used {others:.2} of {:.0} cores{list}", self.cores)
    }

    /// Capacity of the server without brunt, relative to now: `2.00 ÷ 1.85 = 1.08 × as much`. None
    /// if the server's share is not known.
    pub fn capacity_without_brunt(&self) -> Option<String> {
        let server = self.server.filter(|server| *server >= NAMED_FROM && *server < self.cores)?;
        Some(format!("{:.2} ÷ {server:.2} = {:.2} × as much", self.cores, self.cores / server))
    }
}

fn mean(spans: &[ReadingSpan]) -> Option<f64> {
    (!spans.is_empty())
        .then(|| spans.iter().map(|span| span.value).sum::<f64>() / spans.len() as f64)
}

/// Returns other processes by name, in descending order of usage. Names of the server's
/// processes are left out.
fn largest_others(facts: &RunFacts) -> Vec<ProcessUse> {
    let readings = facts.states(name::PROCESSES).len().max(1) as f64;
    let servers: Vec<&str> = probed(facts).map(|(_, name)| name).collect();
    let mut others = Vec::new();
    for reading in facts.names() {
        let Some(name) = name::processes_of(reading).filter(|name| !servers.contains(name)) else {
            continue;
        };
        // A process without readings at first used next to nothing before its first one.
        let cores = facts.states(reading).iter().map(|span| span.value).sum::<f64>() / readings;
        if cores >= NAMED_FROM {
            others.push(ProcessUse { name: name.to_owned(), pid: busiest_pid(facts, name), cores });
        }
    }
    others.sort_by(|a, b| b.cores.total_cmp(&a.cores));
    others.truncate(MOST_NAMED);
    others
}

/// The busiest process of a name; None if it was not the same process all the time.
fn busiest_pid(facts: &RunFacts, name: &str) -> Option<u32> {
    let pids = facts.states(&name::busiest_pid(name));
    let first = pids.first()?.value;
    pids.iter().all(|pid| pid.value == first).then_some(first as u32)
}

/// Source and name of the server's processes that probes read, if the server runs on this machine.
fn probed<'a>(facts: &RunFacts<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_local = facts.same_host() == Some(true);
    let sources = facts.run.history.keys().filter(move |_| is_local);
    sources.filter_map(|source| Some((source.as_str(), source.strip_prefix("process:")?)))
}

fn server_cores(facts: &RunFacts) -> Option<f64> {
    let probed: Vec<f64> = probed(facts)
        .filter_map(|(source, _)| mean(&facts.sum_of_rates_of(source, &server::CPU)))
        .collect();
    if probed.is_empty() {
        mean(&facts.states(name::SERVER_PROCESSES))
    } else {
        Some(probed.iter().sum())
    }
}
