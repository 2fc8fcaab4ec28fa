//! Who used the cores of the generator's machine: brunt, the server where it is here too, other processes.
//!
//! The server is the processes that are read by probes (`process:…`), else those that hold the target's listening socket,
//! with their children. A process behind it (an interpreter, a database) is known only if a probe
//! reads it. If the server runs on this machine and its processes are not known, other processes are not named, since they may
//! be the server. Out of scope: a judgement.

use crate::facts::{Facts, Span};
use brunt_model::Run;
use brunt_model::finding::ProcessUse;
use brunt_model::reading_names::{self as name, server};

/// Processes named, at most.
const MOST_NAMED: usize = 3;
/// Who used less than this is not named, in cores.
const NAMED_FROM: f64 = 0.05;

/// Cores that were used, on average over the measured time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shares {
    /// How many there are.
    pub cores: f64,
    /// Those that had something to do.
    pub busy: f64,
    /// By brunt.
    pub own: f64,
    /// By the server's processes; None: it is elsewhere, or not known.
    pub server: Option<f64>,
    /// By processes that are neither; None where these cannot be told from the server.
    pub others: Option<f64>,
    /// Who these are, the greatest first.
    pub named: Vec<ProcessUse>,
}

impl Shares {
    /// None where the machine's cores were not read.
    pub fn of(run: &Run) -> Option<Self> {
        Self::from_facts(&Facts::of(run)?)
    }

    pub fn from_facts(facts: &Facts) -> Option<Self> {
        let cores = mean(&facts.sum_of_rates(&name::HOST_PARTS))?;
        let free = mean(&facts.sum_of_rates(&[name::HOST_IDLE, name::HOST_IOWAIT, name::HOST_STEAL]))?;
        let own = mean(&facts.sum_of_rates(&[name::CPU_USER, name::CPU_SYSTEM]))?;
        let server = server_cores(facts);
        let is_known = server.is_some() || facts.same_host() == Some(false);
        let all = mean(&facts.states(name::PROCESSES));
        let others = all.filter(|_| is_known).map(|all| (all - server.unwrap_or(0.0)).max(0.0));
        let named = if is_known { named(facts) } else { Vec::new() };
        Some(Self { cores, busy: (cores - free).max(0.0), own, server, others, named })
    }

    /// `other processes used 1.90 of 2 cores: sh (pid 123) 1.90`.
    pub fn others_in_words(&self) -> String {
        let others = self.others.unwrap_or(0.0);
        let named: Vec<String> = self.named.iter().map(ToString::to_string).collect();
        let who = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
        format!("other processes used {others:.2} of {:.0} cores{who}", self.cores)
    }

    /// `2.00 ÷ 1.85 = 1.08 × as much`, where the server's share is known.
    pub fn alone_in_words(&self) -> Option<String> {
        let server = self.server.filter(|server| *server >= NAMED_FROM && *server < self.cores)?;
        Some(format!("{:.2} ÷ {server:.2} = {:.2} × as much", self.cores, self.cores / server))
    }
}

fn mean(spans: &[Span]) -> Option<f64> {
    (!spans.is_empty()).then(|| spans.iter().map(|span| span.value).sum::<f64>() / spans.len() as f64)
}

/// Other processes by name, the greatest first; not those that the server is known by.
fn named(facts: &Facts) -> Vec<ProcessUse> {
    let readings = facts.states(name::PROCESSES).len().max(1) as f64;
    let servers: Vec<&str> = probed(facts).map(|(_, name)| name).collect();
    let usage = |reading: &String| {
        let name = name::processes_of(reading).filter(|name| !servers.contains(name))?;
        // A name that is read from some time on used next to nothing before.
        let cores = facts.states(reading).iter().map(|span| span.value).sum::<f64>() / readings;
        let pid = busiest_pid(facts, name);
        (cores >= NAMED_FROM).then(|| ProcessUse { name: name.to_owned(), pid, cores })
    };
    let mut named: Vec<_> = facts.names().iter().filter_map(usage).collect();
    named.sort_by(|a, b| b.cores.total_cmp(&a.cores));
    named.truncate(MOST_NAMED);
    named
}

/// The busiest process of a name; None where it was another one at times.
fn busiest_pid(facts: &Facts, name: &str) -> Option<u32> {
    let pids = facts.states(&name::busiest_pid(name));
    let first = pids.first()?.value;
    pids.iter().all(|pid| pid.value == first).then_some(first as u32)
}

/// The server's processes as probes read them, where it is here: source and name.
fn probed<'a>(facts: &Facts<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let here = facts.same_host() == Some(true);
    let sources = facts.run.history.keys().filter(move |_| here);
    sources.filter_map(|source| Some((source.as_str(), source.strip_prefix("process:")?)))
}

fn server_cores(facts: &Facts) -> Option<f64> {
    let of = |source: &str| mean(&facts.sum_of_rates_of(source, &server::CPU));
    let read: Vec<f64> = probed(facts).filter_map(|(source, _)| of(source)).collect();
    if read.is_empty() { mean(&facts.states(name::SERVER_PROCESSES)) } else { Some(read.iter().sum()) }
}
