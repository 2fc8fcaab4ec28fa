//! Who used the cores of the generator's machine: brunt, the server where it is here too, other processes.
//!
//! The server is the processes that are read by probes (`process:…`), else those that have the name of who listens on the
//! target's port. What stands behind it (an interpreter, a database) is known only where it is probed. Out of scope: a
//! judgement.

use crate::facts::{Facts, Span};
use brunt_model::Run;
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
    named: Vec<(String, f64)>,
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

    /// `other processes used 1.90 of 2 cores (sh 1.90)`.
    pub fn others_in_words(&self) -> String {
        let others = self.others.unwrap_or(0.0);
        let named: Vec<String> = self.named.iter().map(|(who, cores)| format!("{who} {cores:.2}")).collect();
        let who = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
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
fn named(facts: &Facts) -> Vec<(String, f64)> {
    let looks = facts.states(name::PROCESSES).len().max(1) as f64;
    let servers: Vec<&str> = probed(facts).map(|(_, name)| name).chain(listener(facts)).collect();
    let of = |reading: &String| {
        let who = name::processes_of(reading).filter(|who| !servers.contains(who))?;
        // Who is named later on used next to nothing before.
        let cores = facts.states(reading).iter().map(|span| span.value).sum::<f64>() / looks;
        (cores >= NAMED_FROM).then(|| (who.to_owned(), cores))
    };
    let mut named: Vec<_> = facts.names().iter().filter_map(of).collect();
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    named.truncate(MOST_NAMED);
    named
}

/// The server's processes as probes read them, where it is here: source and name.
fn probed<'a>(facts: &Facts<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let here = facts.same_host() == Some(true);
    let sources = facts.run.history.keys().filter(move |_| here);
    sources.filter_map(|source| Some((source.as_str(), source.strip_prefix("process:")?)))
}

/// The name of who listens on the target's port, where it is here.
fn listener<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    let route = facts.run.environment.route.as_ref().filter(|_| facts.same_host() == Some(true))?;
    Some(route.listener.as_deref()?.rsplit_once(" (pid")?.0)
}

fn server_cores(facts: &Facts) -> Option<f64> {
    let of = |source: &str| mean(&facts.sum_of_rates_of(source, &server::CPU));
    let read: Vec<f64> = probed(facts).filter_map(|(source, _)| of(source)).collect();
    if !read.is_empty() {
        return Some(read.iter().sum());
    }
    let listener = listener(facts)?;
    let looks = facts.states(name::PROCESSES).len();
    let used: f64 = facts.states(&name::processes(listener)).iter().map(|span| span.value).sum();
    (looks > 0).then(|| used / looks as f64)
}
