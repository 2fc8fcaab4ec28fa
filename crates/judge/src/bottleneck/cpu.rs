//! Rules for the server's cores: all of them, or one.

use super::RuleResult;
use super::facts::{BottleneckFigure, HALF, ServerFacts, joined, mean};
use crate::shares::Shares;
use crate::texts::message;
use brunt_model::analysis::Culprit;
use brunt_model::finding::ThresholdSide;
use brunt_model::numbers::{percent, three_digits};
use brunt_model::reading_names::{self as name, GENERATOR, server};
use brunt_model::text::Value;
use brunt_model::{Run, Text, Tick, text};
use std::collections::BTreeMap;

/// Share of all cores that must be busy. At this share, work that arrives at random waits
/// nine times its own length on one core. The idle time that is left is rarely on the
/// core that needs it.
const FULL: f64 = 0.9;
/// Share of one core that a thread must use: the same threshold as for the generator's own threads.
const FULL_CORE: f64 = 0.95;
/// Share of a shared machine's busy time from which on the generator is the limit.
const GENERATORS: f64 = 0.5;
/// Share of all cores from which on other processes are named.
const OTHERS: f64 = 0.1;
/// Maximum number of processes that are named.
const MOST_NAMED: usize = 4;

/// Rule: all cores of a machine are busy with the server. A machine's CPU is not the server's.
pub fn machine(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in machines(facts) {
        let busy = busy(facts, source);
        let figure = BottleneckFigure {
            culprit: Culprit::Cpu,
            source,
            name: message!("reading.busy-cores"),
            values: busy.values().copied().collect(),
            threshold: FULL,
            side: ThresholdSide::AtLeast,
            share: HALF,
        };
        let full_level = result.compare(&figure);
        let is_used_by_generator =
            generators_share(facts, source).is_some_and(|share| share >= GENERATORS);
        // `taken_by_generator` reports a machine that the generator fills.
        let Some(level) = full_level.filter(|_| !is_used_by_generator) else { continue };
        let sentence = sentence(facts, source, level);
        if is_mostly_used_by_server(facts, source) {
            result.limits.push(sentence);
        } else {
            result.by_others =
                Some(text::series(vec![sentence, message!("bottleneck.cpu-of-unknown")]));
        }
    }
    result
}

/// True if the server's processes used at least half of the CPU that brunt did not use. If no
/// process is known, a machine that was named as the server's counts as used by it. A machine that
/// brunt shares with the server does not.
fn is_mostly_used_by_server(facts: &ServerFacts, source: &str) -> bool {
    let brunt_cores = cores_of(facts, GENERATOR).filter(|_| facts.same_host()).unwrap_or(0.0);
    let others_and_server = busy_cores(facts, source) - brunt_cores;
    match probed_process_cores(facts).or_else(|| shares(facts)?.server) {
        // The CPU that brunt used itself is attributed to neither.
        Some(server) => server >= HALF * others_and_server,
        None => !facts.same_host(),
    }
}

/// Average number of cores used by the processes that probes read; None if no process is read.
fn probed_process_cores(facts: &ServerFacts) -> Option<f64> {
    let sources = facts.sources().filter(|source| source.starts_with("process:"));
    sources.filter_map(|source| cores_of(facts, source)).reduce(|a, b| a + b)
}

/// Returns the core usage of a machine that client and server share.
fn shares(facts: &ServerFacts) -> Option<Shares> {
    facts.same_host().then(|| Shares::new(facts.run())).flatten()
}

/// Returns a sentence if the generator took most of a full machine that it shares with the server.
pub fn taken_by_generator(facts: &ServerFacts) -> Option<Text> {
    let source = machines(facts).into_iter().find(|source| {
        let values: Vec<f64> = busy(facts, source).into_values().collect();
        mean(&values) >= FULL
            && generators_share(facts, source).is_some_and(|share| share >= GENERATORS)
    })?;
    let share = generators_share(facts, source)?;
    Some(message!("bottleneck.cpu-of-generator", share = percent(share)))
}

/// Rule: a thread uses a whole core and would use more.
pub fn core(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in facts.sources_with(server::BUSIEST_THREAD) {
        let figure = BottleneckFigure {
            culprit: Culprit::Core,
            source,
            name: server::BUSIEST_THREAD.into(),
            values: facts.states(source, server::BUSIEST_THREAD),
            threshold: FULL_CORE,
            side: ThresholdSide::AtLeast,
            share: HALF,
        };
        if let Some(level) = result.compare(&figure) {
            let process = short(source);
            result.limits.push(message!("bottleneck.core", process, share = percent(level)));
        }
    }
    result
}

/// Sources with readings of a server's machine: the requested ones, or our own readings if the
/// server is on this machine.
fn machines<'a>(facts: &ServerFacts<'a>) -> Vec<&'a str> {
    let probed = facts.sources_with(name::HOST_IDLE);
    if probed.is_empty() && facts.same_host() { vec![GENERATOR] } else { probed }
}

/// Average number of cores that the server's processes used over the measured time; None if its
/// processes are not known. Other processes on its machine do not count.
pub(crate) fn server_cores(run: &Run) -> Option<f64> {
    let probed = ServerFacts::new(run).and_then(|facts| probed_process_cores(&facts));
    probed.or_else(|| Shares::new(run)?.server)
}

/// Average number of busy cores of a machine.
fn busy_cores(facts: &ServerFacts, source: &str) -> f64 {
    let busy: Vec<f64> = busy(facts, source).into_values().collect();
    let all: Vec<f64> = facts.sum_of_rates(source, &name::HOST_PARTS).into_values().collect();
    mean(&busy) * mean(&all)
}

/// Busy share of all cores, from each reading to the next.
fn busy(facts: &ServerFacts, source: &str) -> BTreeMap<Tick, f64> {
    let free = facts.sum_of_rates(source, &[name::HOST_IDLE, name::HOST_IOWAIT]);
    let all = facts.sum_of_rates(source, &name::HOST_PARTS);
    joined(&free, &all, |free, all| if all > 0.0 { 1.0 - free / all } else { 0.0 })
}

/// The generator's share of the busy time of a machine that it shares; None if it
/// runs on another machine.
fn generators_share(facts: &ServerFacts, source: &str) -> Option<f64> {
    if !facts.same_host() {
        return None;
    }
    let brunt_cores = cores_of(facts, GENERATOR)?;
    let busy_cores = busy_cores(facts, source);
    (busy_cores > 0.0).then(|| brunt_cores / busy_cores)
}

/// Average number of cores that a process used.
fn cores_of(facts: &ServerFacts, source: &str) -> Option<f64> {
    let rates: Vec<f64> = facts.sum_of_rates(source, &server::CPU).into_values().collect();
    (!rates.is_empty()).then(|| mean(&rates))
}

/// `CPU: 97 % of 2 cores busy; php-fpm 1.62 cores, nginx 0.110 cores`. Names other users if
/// their share is considerable.
fn sentence(facts: &ServerFacts, source: &str, level: f64) -> Text {
    let all: Vec<f64> = facts.sum_of_rates(source, &name::HOST_PARTS).into_values().collect();
    // The parts of a machine's CPU time grow by one second per second and core.
    let cores =
        facts.states(source, server::CORES).first().copied().unwrap_or_else(|| mean(&all).round());
    let mut users: Vec<(Text, f64)> = facts
        .sources()
        .filter(|s| s.starts_with("process:"))
        .filter_map(|s| Some((short(s).into(), cores_of(facts, s)?)))
        .collect();
    let server: Option<f64> = (!users.is_empty()).then(|| users.iter().map(|user| user.1).sum());
    users.sort_by(|a, b| b.1.total_cmp(&a.1));
    users.truncate(MOST_NAMED);
    let brunt_cores = cores_of(facts, GENERATOR).filter(|_| facts.same_host());
    users.extend(brunt_cores.map(|cores| (message!("bottleneck.brunt"), cores)));
    // If the server's processes are known, the unnamed rest of the usage belongs to others.
    let others = server.map(|server| level * mean(&all) - server - brunt_cores.unwrap_or(0.0));
    let others = others.filter(|others| *others >= OTHERS * mean(&all));
    users.extend(others.map(|cores| (message!("bottleneck.others"), cores)));
    let mut clauses =
        vec![message!("bottleneck.cpu-busy", share = percent(level), cores = three_digits(cores))];
    if !users.is_empty() {
        let named = users.into_iter().map(|(process, cores)| {
            message!("bottleneck.cores-of", process, cores = three_digits(cores))
        });
        clauses.push(text!("words", words = Value::Words(named.collect())));
    }
    let capacity = shares(facts).and_then(|shares| shares.capacity_without_brunt());
    clauses.extend(capacity.map(|capacity| message!("bottleneck.without-brunt", capacity)));
    text::series(clauses)
}

/// Returns the part of a source's name after its kind: `nginx` of `process:nginx`.
fn short(source: &str) -> &str {
    source.split_once(':').map_or(source, |(_, name)| name)
}
