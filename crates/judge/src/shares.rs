//! Usage of the cores of the generator's machine: by brunt, by the server if it runs on the same
//! machine, by other processes.
//!
//! The server's processes are those that probes read (`process:…`), else those that hold the
//! target's listening socket, with their children. A process that the server calls (an interpreter,
//! a database) is known only if a probe reads it. If the server runs on this machine and its
//! processes are not known, other processes are not named, since they may be the server.
//!
//! Agents that share a machine are one generator: brunt's usage is the sum of theirs. Each agent
//! reads only itself, so the others are among its other processes, and their usage is subtracted.
//!
//! Out of scope: a judgement.

use crate::facts::{ReadingSpan, RunFacts, product_of_time};
use crate::texts::message;
use brunt_model::finding::{ProcessUse, UseOrigin};
use brunt_model::reading_names::{self as name, server};
use brunt_model::{Run, Text};

/// Maximum number of processes that are named.
pub(crate) const MOST_NAMED: usize = 3;
/// Minimum usage of a process that is named, in cores.
const NAMED_FROM: f64 = 0.05;
/// Share of all cores that other processes must use to be the reason why none is idle.
pub(crate) const OTHERS: f64 = 0.1;
/// Share of the busy cores of a shared machine that brunt must use to be the limit.
pub(crate) const BRUNT: f64 = 0.1;
/// Share of the busy cores that is most of them.
pub(crate) const HALF: f64 = 0.5;

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
    /// Returns None if the usage of the machine's cores was not read, or if agents on several
    /// machines generated the load.
    pub fn new(run: &Run) -> Option<Self> {
        Self::from_facts(&RunFacts::of_machine(run)?)
    }

    pub fn from_facts(facts: &RunFacts) -> Option<Self> {
        let cores = mean(&facts.sum_of_rates(&name::HOST_PARTS))?;
        let free =
            mean(&facts.sum_of_rates(&[name::HOST_IDLE, name::HOST_IOWAIT, name::HOST_STEAL]))?;
        let own = mean(&facts.sum_of_rates(&[name::CPU_USER, name::CPU_SYSTEM]))?;
        let siblings = OtherAgents::of(facts);
        let server = server_cores(facts);
        let is_known = server.is_some() || facts.same_host() == Some(false);
        let all = mean(&facts.rates(name::PROCESSES));
        let busy = (cores - free).max(0.0);
        let brunt = own + siblings.cores;
        let server_or_none = server.unwrap_or(0.0);
        // Processes that began and ended between two readings are in no reading of processes, but in
        // the machine's. Its deferred interrupts are no process's, and may be those of the load.
        let softirq = mean(&facts.rates(name::HOST_SOFTIRQ)).unwrap_or(0.0);
        let remaining = (busy - softirq - brunt - server_or_none).max(0.0);
        // If the server's processes are unknown, the others may be the server.
        let others = all.filter(|_| is_known).map(|all| {
            let read = (all - server_or_none - siblings.among_others()).max(0.0);
            let considerable = OTHERS * cores;
            let is_unread = remaining - read >= considerable;
            let is_hidden = read < considerable && remaining >= considerable;
            if is_unread || is_hidden { remaining } else { read }
        });
        let largest_others = if is_known { largest_others(facts, &siblings) } else { Vec::new() };
        Some(Self { cores, busy, brunt, server, others, largest_others })
    }

    /// Returns the user of the cores for which workers waited, as far as it is proven.
    ///
    /// The proof of the generator is its own usage: half of the busy cores. If no core was idle, the server
    /// would have had each core that brunt used, so a considerable share is enough if it is at least as much
    /// as that of everything else but the server. Else other processes are the users, or the server on the
    /// same machine.
    pub fn user_of_cores(&self, is_full: bool) -> UseOrigin {
        let without_server = self.busy - self.server.unwrap_or(0.0);
        let took_from_server =
            is_full && self.brunt >= BRUNT * self.busy && self.brunt >= HALF * without_server;
        if took_from_server || self.brunt >= HALF * self.busy {
            return UseOrigin::Generator;
        }
        let is_used = self.are_others_considerable() || self.is_mostly_used_by_server();
        if is_used { UseOrigin::Machine } else { UseOrigin::Unknown }
    }

    /// True if the server is known to have used at least half of the busy cores.
    pub fn is_mostly_used_by_server(&self) -> bool {
        self.server.is_some_and(|server| server >= HALF * self.busy)
    }

    /// True if other processes used enough to be the reason why none of the cores is idle.
    pub fn are_others_considerable(&self) -> bool {
        self.others.is_some_and(|others| others >= OTHERS * self.cores)
    }

    /// The other processes as text or, if they used little, the server: `the server used 1.17 of 2 cores`.
    pub fn users_text(&self) -> Text {
        if self.are_others_considerable() {
            return self.others_text();
        }
        let used = format!("{:.2}", self.server.unwrap_or(0.0));
        let cores = format!("{:.0}", self.cores);
        message!("other-processes.server", used, cores)
    }

    /// Other processes as text: `other processes used 1.90 of 2 cores: sh (pid 123) 1.90`.
    pub fn others_text(&self) -> Text {
        let used = format!("{:.2}", self.others.unwrap_or(0.0));
        let cores = format!("{:.0}", self.cores);
        let names: Vec<String> = self.largest_others.iter().map(ToString::to_string).collect();
        if names.is_empty() {
            return message!("other-processes", used, cores);
        }
        message!("other-processes.named", used, cores, processes = names.join(", "))
    }

    /// Capacity of the server without brunt, relative to now: `2.00 ÷ 1.85 = 1.08 × as much`. None
    /// if the server's share is not known.
    pub fn capacity_without_brunt(&self) -> Option<Text> {
        let server = self.server.filter(|server| *server >= NAMED_FROM && *server < self.cores)?;
        let cores = format!("{:.2}", self.cores);
        let factor = format!("{:.2}", self.cores / server);
        Some(message!("times-as-much", cores, server = format!("{server:.2}"), factor))
    }
}

/// The other agents on an agent's machine, as its readings of other processes show them.
#[derive(Default)]
struct OtherAgents {
    /// Cores that they used according to their own readings.
    cores: f64,
    /// Names of their processes.
    names: Vec<String>,
    /// Cores used by all processes of these names.
    cores_by_name: f64,
}

impl OtherAgents {
    fn of(facts: &RunFacts) -> Self {
        let mut pids = Vec::new();
        let mut cores = 0.0;
        for sibling in facts.siblings() {
            pids.extend(sibling.pid());
            cores += facts.cores_of_agent(sibling);
        }
        if pids.is_empty() {
            return Self::default();
        }
        let names: Vec<String> = facts
            .names()
            .iter()
            .filter_map(|reading| name::processes_of(reading))
            .filter(|name| {
                let read = facts.states(&name::busiest_pid(name));
                read.iter().any(|span| pids.contains(&(span.value as u32)))
            })
            .map(str::to_owned)
            .collect();
        let cores_by_name = names.iter().map(|name| cores_of_processes(facts, name)).sum();
        Self { cores, names, cores_by_name }
    }

    /// Cores that the readings of other processes contain because of the agents.
    ///
    /// The controller has the same name as the agents, but its usage is in no reading. So all
    /// processes of this name count as brunt. A brunt of another user is then not blamed, because
    /// it cannot be distinguished from the controller.
    fn among_others(&self) -> f64 {
        self.cores.max(self.cores_by_name)
    }
}

/// Average number of cores used by the processes of a name over the measured time.
fn cores_of_processes(facts: &RunFacts, name: &str) -> f64 {
    mean(&facts.rates_from_zero(&name::processes(name), name::PROCESSES)).unwrap_or(0.0)
}

/// Mean over time.
fn mean(spans: &[ReadingSpan]) -> Option<f64> {
    let seconds: f64 = spans.iter().map(|span| span.to.seconds_since(span.from)).sum();
    (seconds > 0.0).then(|| product_of_time(spans) / seconds)
}

/// Returns other processes by name, in descending order of usage. Names of the server's
/// processes and of other agents are left out.
fn largest_others(facts: &RunFacts, siblings: &OtherAgents) -> Vec<ProcessUse> {
    let mut names: Vec<&str> = probed(facts).map(|(_, name)| name).collect();
    names.extend(siblings.names.iter().map(String::as_str));
    let mut others = Vec::new();
    for reading in facts.names() {
        let Some(name) = name::processes_of(reading).filter(|name| !names.contains(name)) else {
            continue;
        };
        let cores = cores_of_processes(facts, name);
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
    let sources = facts.readings_by_source().keys().filter(move |_| is_local);
    sources.filter_map(|source| Some((source.as_str(), source.strip_prefix("process:")?)))
}

fn server_cores(facts: &RunFacts) -> Option<f64> {
    let probed: Vec<f64> = probed(facts)
        .filter_map(|(source, _)| mean(&facts.sum_of_rates_of(source, &server::CPU)))
        .collect();
    if probed.is_empty() {
        mean(&facts.rates(name::SERVER_PROCESSES))
    } else {
        Some(probed.iter().sum())
    }
}
