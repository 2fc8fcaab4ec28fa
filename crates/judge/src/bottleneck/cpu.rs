//! The server's cores: all of them, or one.

use super::RuleResult;
use super::facts::{Facts, Figure, HALF, joined, mean};
use crate::shares::Shares;
use brunt_model::analysis::Culprit;
use brunt_model::finding::Side;
use brunt_model::numbers::{percent, three};
use brunt_model::reading_names::{self as name, GENERATOR, server};
use brunt_model::{Run, Tick};
use std::collections::BTreeMap;

/// Of all cores, so much busy: work that comes at random then waits nine times its own length on one core, and what is
/// left is seldom where it is wanted.
const FULL: f64 = 0.9;
/// Of one core: the same threshold as for the generator's own threads.
const FULL_CORE: f64 = 0.95;
/// Of a shared machine's busy time, what the generator may take before it is the limit.
const GENERATORS: f64 = 0.5;
/// Of all cores, what others must use to be named.
const OTHERS: f64 = 0.1;
/// Processes named, at most.
const MOST_NAMED: usize = 4;

/// All cores of a machine busy, and by the server: the machine's CPU is not the server's.
pub fn machine(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    for source in machines(facts) {
        let busy = busy(facts, source);
        let figure = Figure {
            culprit: Culprit::Cpu,
            source,
            name: "busy cores, share".into(),
            values: busy.values().copied().collect(),
            threshold: FULL,
            side: Side::AtLeast,
            share: HALF,
        };
        let full = look.hold(&figure);
        let is_ours = generators_share(facts, source).is_some_and(|share| share >= GENERATORS);
        let Some(level) = full.filter(|_| !is_ours) else { continue };
        let sentence = sentence(facts, source, level);
        if is_mostly_the_servers(facts, source) {
            look.say(sentence);
        } else {
            look.by_others = Some(format!("{sentence}; the server is not known to have used most of it"));
        }
    }
    look
}

/// Whether the server's processes used at least half of what brunt did not use. A machine that was named as the server's is
/// the server's where no process is known; one that brunt shares with it is not.
fn is_mostly_the_servers(facts: &Facts, source: &str) -> bool {
    let own = cores_of(facts, GENERATOR).filter(|_| facts.same_host()).unwrap_or(0.0);
    let others_and_server = busy_cores(facts, source) - own;
    match processes(facts).or_else(|| shares(facts)?.server) {
        Some(server) => server >= HALF * others_and_server,
        None => !facts.same_host(),
    }
}

/// Cores that the processes which probes read used on average; None where none is read.
fn processes(facts: &Facts) -> Option<f64> {
    let sources = facts.sources().filter(|source| source.starts_with("process:"));
    sources.filter_map(|source| cores_of(facts, source)).reduce(|a, b| a + b)
}

/// Who used the cores of a machine that client and server share.
fn shares(facts: &Facts) -> Option<Shares> {
    facts.same_host().then(|| Shares::of(facts.run())).flatten()
}

/// That the generator took most of a full machine that it shares with the server.
pub fn taken_by_generator(facts: &Facts) -> Option<String> {
    let source = machines(facts).into_iter().find(|source| {
        let values: Vec<f64> = busy(facts, source).into_values().collect();
        mean(&values) >= FULL && generators_share(facts, source).is_some_and(|share| share >= GENERATORS)
    })?;
    let share = generators_share(facts, source)?;
    Some(format!("the generator took {} of the CPU time of the machine that it shares with the server", percent(share)))
}

/// A thread that has a core to itself, and wants more.
pub fn core(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    for source in facts.telling(server::BUSIEST_THREAD) {
        let figure = Figure {
            culprit: Culprit::Core,
            source,
            name: server::BUSIEST_THREAD.into(),
            values: facts.states(source, server::BUSIEST_THREAD),
            threshold: FULL_CORE,
            side: Side::AtLeast,
            share: HALF,
        };
        if let Some(level) = look.hold(&figure) {
            look.say(format!("one thread of {} used {} of a core", short(source), percent(level)));
        }
    }
    look
}

/// The sources that show a server's machine: those that were asked for, or our own readings where that is the same one.
fn machines<'a>(facts: &Facts<'a>) -> Vec<&'a str> {
    let asked = facts.telling(name::HOST_IDLE);
    if asked.is_empty() && facts.same_host() { vec![GENERATOR] } else { asked }
}

/// Cores that the server's processes used on average over the measured time; None where these are not known. The rest of its
/// machine is not the server's.
pub(crate) fn server_cores(run: &Run) -> Option<f64> {
    let probed = Facts::of(run).and_then(|facts| processes(&facts));
    probed.or_else(|| Shares::of(run)?.server)
}

/// Cores of a machine that were busy on average.
fn busy_cores(facts: &Facts, source: &str) -> f64 {
    let busy: Vec<f64> = busy(facts, source).into_values().collect();
    let all: Vec<f64> = facts.sum_of_rates(source, &name::HOST_PARTS).into_values().collect();
    mean(&busy) * mean(&all)
}

/// The share of all cores that was busy, from each reading to the next.
fn busy(facts: &Facts, source: &str) -> BTreeMap<Tick, f64> {
    let free = facts.sum_of_rates(source, &[name::HOST_IDLE, name::HOST_IOWAIT]);
    let all = facts.sum_of_rates(source, &name::HOST_PARTS);
    joined(&free, &all, |free, all| if all > 0.0 { 1.0 - free / all } else { 0.0 })
}

/// Of the busy time of a machine that the generator shares, its own share; None where it is another machine.
fn generators_share(facts: &Facts, source: &str) -> Option<f64> {
    if !facts.same_host() {
        return None;
    }
    let own = cores_of(facts, GENERATOR)?;
    let busy_cores = busy_cores(facts, source);
    (busy_cores > 0.0).then(|| own / busy_cores)
}

/// Cores that a process used on average.
fn cores_of(facts: &Facts, source: &str) -> Option<f64> {
    let rates: Vec<f64> = facts.sum_of_rates(source, &server::CPU).into_values().collect();
    (!rates.is_empty()).then(|| mean(&rates))
}

/// `CPU: 97 % of 2 cores busy; php-fpm 1.62 cores, nginx 0.110 cores`; who else used some, where that is much.
fn sentence(facts: &Facts, source: &str, level: f64) -> String {
    let all: Vec<f64> = facts.sum_of_rates(source, &name::HOST_PARTS).into_values().collect();
    let cores = facts.states(source, server::CORES).first().copied().unwrap_or_else(|| mean(&all).round());
    let mut users: Vec<(&str, f64)> = facts
        .sources()
        .filter(|s| s.starts_with("process:"))
        .filter_map(|s| Some((short(s), cores_of(facts, s)?)))
        .collect();
    let server: Option<f64> = (!users.is_empty()).then(|| users.iter().map(|user| user.1).sum());
    users.sort_by(|a, b| b.1.total_cmp(&a.1));
    users.truncate(MOST_NAMED);
    let own = cores_of(facts, GENERATOR).filter(|_| facts.same_host());
    users.extend(own.map(|cores| ("brunt itself", cores)));
    // Where the server is known, what nobody named used belongs to others.
    let others = server.map(|server| level * mean(&all) - server - own.unwrap_or(0.0));
    users.extend(others.filter(|others| *others >= OTHERS * mean(&all)).map(|others| ("others", others)));
    let named: Vec<String> = users.iter().map(|(who, cores)| format!("{who} {} cores", three(*cores))).collect();
    let who = if named.is_empty() { String::new() } else { format!("; {}", named.join(", ")) };
    let alone = shares(facts).and_then(|shares| shares.alone_in_words());
    let alone = alone.map_or(String::new(), |ratio| {
        format!("; without brunt on the same machine, its capacity would be at most {ratio}")
    });
    format!("CPU: {} of {} cores busy{who}{alone}", percent(level), three(cores))
}

/// What stands behind the kind: `process:nginx` is `nginx`.
fn short(source: &str) -> &str {
    source.split_once(':').map_or(source, |(_, name)| name)
}
