//! Finds the resource that limited the server, by rules over readings of the server.
//!
//! A figure's level is the value that it reached for half of the measured time. For resources that
//! lose connections when they are exhausted, a tenth of the time is enough. The level is compared
//! with the threshold. Of the `RULES` at their limit, the first is the culprit, because causes
//! precede consequences: all workers are busy *because* they wait for a core. The others are listed
//! with it. `docs/bottleneck.md` documents every threshold.
//!
//! Out of scope: the verdict on the generator (`limits`), which is an input here. A generator that
//! was the limit is the culprit. Resources that fill up under queued requests are reported even
//! then, because a slow generator does not make requests queue at the server.
//!
//! * `facts`: readings as levels. `cpu`, `pools`, `machine`: the rules.

mod cpu;
mod facts;
mod machine;
mod pools;
#[cfg(test)]
mod tests;

use crate::texts::message;
use brunt_model::analysis::{Culprit, Reason};
use brunt_model::finding::{LimitingResource, State, UseOrigin};
use brunt_model::text::Value;
use brunt_model::{Bottleneck, Run, Text, Verdict, text};
use facts::ServerFacts;

pub(crate) use cpu::server_cores;

/// Result of one rule.
#[derive(Debug, Default)]
struct RuleResult {
    /// Examined figures with their thresholds; empty if none was read.
    evidence: Vec<Reason>,
    /// Clauses on exhausted resources.
    limits: Vec<Text>,
    /// Resource that processes other than the server exhausted, as a sentence; None
    /// if there is none.
    by_others: Option<Text>,
}

/// A resource that may limit a server.
struct Rule {
    culprit: Culprit,
    evaluate: fn(&ServerFacts) -> RuleResult,
    precedence: Precedence,
    /// Message with the name of the resource in the list of examined resources.
    name: &'static str,
}

/// Precedence of a rule if the generator was limited, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precedence {
    /// The resource is only exhausted if more was requested than the server could do,
    /// so it comes first.
    OverGenerator,
    /// The generator comes first.
    BelowGenerator,
}

/// Causes come before their consequences.
const RULES: &[Rule] = &[
    Rule {
        culprit: Culprit::Files,
        evaluate: machine::files,
        precedence: Precedence::OverGenerator,
        name: "bottleneck.open-files",
    },
    Rule {
        culprit: Culprit::Memory,
        evaluate: machine::memory,
        precedence: Precedence::BelowGenerator,
        name: "bottleneck.memory",
    },
    Rule {
        culprit: Culprit::Cpu,
        evaluate: cpu::machine,
        precedence: Precedence::OverGenerator,
        name: "bottleneck.CPU",
    },
    Rule {
        culprit: Culprit::Core,
        evaluate: cpu::core,
        precedence: Precedence::BelowGenerator,
        name: "bottleneck.single-threads",
    },
    Rule {
        culprit: Culprit::Disk,
        evaluate: machine::disk,
        precedence: Precedence::BelowGenerator,
        name: "bottleneck.disks",
    },
    Rule {
        culprit: Culprit::Network,
        evaluate: machine::network,
        precedence: Precedence::BelowGenerator,
        name: "bottleneck.network",
    },
    Rule {
        culprit: Culprit::Workers,
        evaluate: pools::workers,
        precedence: Precedence::OverGenerator,
        name: "bottleneck.workers",
    },
    Rule {
        culprit: Culprit::Connections,
        evaluate: pools::connections,
        precedence: Precedence::OverGenerator,
        name: "bottleneck.connections",
    },
    Rule {
        culprit: Culprit::AcceptQueue,
        evaluate: pools::accept_queue,
        precedence: Precedence::OverGenerator,
        name: "bottleneck.accept-queues",
    },
];

/// Returns the limit of the server; None if there are no readings of it.
pub fn bottleneck(run: &Run, verdict: &Verdict) -> Option<Bottleneck> {
    let facts = ServerFacts::new(run)?;
    let results: Vec<(&Rule, RuleResult)> =
        RULES.iter().map(|rule| (rule, (rule.evaluate)(&facts))).collect();
    let evidence: Vec<Reason> =
        results.iter().flat_map(|(_, result)| result.evidence.iter().cloned()).collect();
    let mut limits: Vec<(Culprit, Precedence, Text)> = results
        .iter()
        .filter(|(_, result)| !result.limits.is_empty())
        .map(|(rule, result)| (rule.culprit, rule.precedence, text::series(result.limits.clone())))
        .collect();
    if let Some((culprit, sentence)) = limit_outside_server(&facts, verdict) {
        // A resource that only overload exhausts precedes the generator, unless
        // the generator filled it.
        let decisive = limits.iter().position(|row| {
            row.1 == Precedence::OverGenerator && !is_caused_by_generator(row.0, verdict)
        });
        limits.insert(
            decisive.map_or(0, |_| limits.len()),
            (culprit, Precedence::BelowGenerator, sentence),
        );
        let first = limits.remove(decisive.unwrap_or(0));
        limits.insert(0, first);
    }
    let mut limits = limits.into_iter();
    let (culprit, sentence) = match limits.next() {
        Some((culprit, _, sentence)) => (culprit, sentence),
        None => (Culprit::NotFound, not_found(&results)),
    };
    Some(Bottleneck { culprit, sentence, evidence, others: limits.map(|row| row.2).collect() })
}

/// True if the server's machine is full because of the generator, which had no time left on
/// one of its threads.
fn is_caused_by_generator(culprit: Culprit, verdict: &Verdict) -> bool {
    let generator_limits =
        [LimitingResource::Worker, LimitingResource::Throttled, LimitingResource::Steal];
    culprit == Culprit::Cpu
        && verdict.causes.iter().any(|cause| generator_limits.contains(&cause.limit))
}

/// Returns a limit of the throughput outside the server. It is the generator, or other processes on
/// its machine. The generator limits by its verdict, or because it took the CPU of a machine that
/// it shares with the server.
fn limit_outside_server(facts: &ServerFacts, verdict: &Verdict) -> Option<(Culprit, Text)> {
    let first = verdict.causes.first();
    match (verdict.state, first) {
        (State::Limited, _) => {
            let generator_causes =
                verdict.causes.iter().filter(|cause| cause.origin == UseOrigin::Generator);
            let limits = generator_causes.map(|cause| cause.limit.words()).collect::<Value>();
            Some((Culprit::Generator, message!("bottleneck.generator", limits)))
        }
        (State::BusyMachine, Some(cause)) => Some((Culprit::NotFound, cause.sentence.clone())),
        // A generator that is not limited may still take the CPU that the server needs.
        _ => cpu::taken_by_generator(facts).map(|sentence| (Culprit::Generator, sentence)),
    }
}

fn not_found(results: &[(&Rule, RuleResult)]) -> Text {
    let others: Vec<Text> =
        results.iter().filter_map(|(_, result)| result.by_others.clone()).collect();
    let examined = if others.is_empty() {
        message!("bottleneck.none", resources = resource_names(results, true))
    } else {
        text::series(others)
    };
    let has_unseen = results.iter().any(|(_, result)| result.evidence.is_empty());
    if !has_unseen {
        return examined;
    }
    let unseen = message!("bottleneck.not-examined", resources = resource_names(results, false));
    text::series(vec![examined, unseen])
}

/// Names of the resources that have readings, or of those that have none.
fn resource_names(results: &[(&Rule, RuleResult)], has_readings: bool) -> Value {
    let rules = results.iter().filter(|(_, result)| result.evidence.is_empty() != has_readings);
    Value::Words(rules.map(|(rule, _)| message!(rule.name)).collect())
}
