//! What limited the server: rules over the readings that were taken of it.
//!
//! A figure is held against its threshold by the level that it kept to for half of the measured time (for what loses
//! connections at once: a tenth). Of the rows of `RULES` that are at their limit, the first is the culprit, since what
//! comes later follows from what comes before: all workers are busy *because* they wait for a core. The others are told
//! beside it. `docs/bottleneck.md` tells users the same, threshold by threshold.
//!
//! Out of scope: the verdict on the generator (`limits`), which is taken as it is. It is the culprit where it was the
//! limit; but requests that queue before a server are none that a slow generator held back, so what fills up under them
//! is named all the same.
//!
//! * `facts`: readings as levels. `cpu`, `pools`, `machine`: the rules.

mod cpu;
mod facts;
mod machine;
mod pools;
#[cfg(test)]
mod tests;

use brunt_model::analysis::{Culprit, Reason};
use brunt_model::finding::{Limit, Origin, State};
use brunt_model::{Bottleneck, Run, Verdict};
use facts::Facts;

pub(crate) use cpu::server_cores;

/// What a rule has found.
#[derive(Debug, Default)]
struct RuleResult {
    /// What was looked at, each figure beside its threshold; empty where nothing of it was read.
    evidence: Vec<Reason>,
    /// What is at its limit, as a sentence; None: nothing.
    sentence: Option<String>,
    /// Resource that processes other than the server exhausted, as a sentence; None: there is none.
    by_others: Option<String>,
}

/// One thing that may limit a server.
struct Rule {
    culprit: Culprit,
    look: fn(&Facts) -> RuleResult,
    standing: Precedence,
    /// Its name if nothing was found.
    words: &'static str,
}

/// What a rule is worth beside a generator that was limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precedence {
    /// It can only be so when more was asked for than the server could do.
    Alone,
    /// The generator comes first.
    Beside,
}

/// Causes before what follows from them.
const RULES: &[Rule] = &[
    Rule { culprit: Culprit::Files, look: machine::files, standing: Precedence::Alone, words: "open files" },
    Rule { culprit: Culprit::Memory, look: machine::memory, standing: Precedence::Beside, words: "memory" },
    Rule { culprit: Culprit::Cpu, look: cpu::machine, standing: Precedence::Alone, words: "CPU" },
    Rule { culprit: Culprit::Core, look: cpu::core, standing: Precedence::Beside, words: "single threads" },
    Rule { culprit: Culprit::Disk, look: machine::disk, standing: Precedence::Beside, words: "disks" },
    Rule { culprit: Culprit::Network, look: machine::network, standing: Precedence::Beside, words: "network" },
    Rule { culprit: Culprit::Workers, look: pools::workers, standing: Precedence::Alone, words: "workers" },
    Rule { culprit: Culprit::Connections, look: pools::connections, standing: Precedence::Alone, words: "connections" },
    Rule {
        culprit: Culprit::AcceptQueue,
        look: pools::accept_queue,
        standing: Precedence::Alone,
        words: "accept queues",
    },
];

/// What limited the server; None where nothing was read of it.
pub fn bottleneck(run: &Run, verdict: &Verdict) -> Option<Bottleneck> {
    let facts = Facts::of(run)?;
    let looks: Vec<(&Rule, RuleResult)> = RULES.iter().map(|rule| (rule, (rule.look)(&facts))).collect();
    let evidence: Vec<Reason> = looks.iter().flat_map(|(_, look)| look.evidence.iter().cloned()).collect();
    let mut found: Vec<(Culprit, Precedence, String)> =
        looks.iter().filter_map(|(rule, look)| Some((rule.culprit, rule.standing, look.sentence.clone()?))).collect();
    if let Some((culprit, sentence)) = outside_the_server(&facts, verdict) {
        let decisive = found.iter().position(|row| row.1 == Precedence::Alone && !taken_away(row.0, verdict));
        found.insert(decisive.map_or(0, |_| found.len()), (culprit, Precedence::Beside, sentence));
        let first = found.remove(decisive.unwrap_or(0));
        found.insert(0, first);
    }
    let mut found = found.into_iter();
    let (culprit, sentence) = match found.next() {
        Some((culprit, _, sentence)) => (culprit, sentence),
        None => (Culprit::NotFound, not_found(&looks)),
    };
    Some(Bottleneck { culprit, sentence, evidence, others: found.map(|row| row.2).collect() })
}

/// A server's full machine is the generator's doing where the generator itself had no time left on one of its threads.
fn taken_away(culprit: Culprit, verdict: &Verdict) -> bool {
    let own = [Limit::Worker, Limit::Throttled, Limit::Steal];
    culprit == Culprit::Cpu && verdict.causes.iter().any(|cause| own.contains(&cause.limit))
}

/// Limit of the throughput other than the server: the generator, by its verdict or because it took the CPU of a machine that it
/// shares; or other processes on its machine.
fn outside_the_server(facts: &Facts, verdict: &Verdict) -> Option<(Culprit, String)> {
    let first = verdict.causes.first();
    match (verdict.state, first) {
        (State::Limited, _) => {
            let own = verdict.causes.iter().filter(|cause| cause.origin == Origin::Generator);
            let limits: Vec<&str> = own.map(|cause| cause.limit.words()).collect();
            Some((Culprit::Generator, format!("the generator was limited by {}", limits.join(", "))))
        }
        (State::BusyMachine, Some(cause)) => Some((Culprit::NotFound, cause.sentence.clone())),
        _ => cpu::taken_by_generator(facts).map(|sentence| (Culprit::Generator, sentence)),
    }
}

fn not_found(looks: &[(&Rule, RuleResult)]) -> String {
    let seen = |read: bool| -> String {
        let of = looks.iter().filter(|(_, look)| look.evidence.is_empty() != read);
        of.map(|(rule, _)| rule.words).collect::<Vec<_>>().join(", ")
    };
    let others: Vec<&str> = looks.iter().filter_map(|(_, look)| look.by_others.as_deref()).collect();
    let looked_at = match others.as_slice() {
        [] => format!("no examined resource was at its limit ({})", seen(true)),
        others => others.join("; "),
    };
    let unseen = seen(false);
    if unseen.is_empty() { looked_at } else { format!("{looked_at}; not examined: {unseen}") }
}
