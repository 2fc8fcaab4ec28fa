//! The verdict: decides whether the generator was the limit, or other processes
//! kept its machine busy.
//!
//! Each row of `RULES` examines one possible limit of a generator and compares
//! figures with thresholds. This module decides which of them are causes.
//! `docs/verdict.md` documents every threshold.
//!
//! * A figure is over its threshold for some seconds. For a tenth of the measured time it
//!   is a cause (sooner for limits that lose packets or requests: see the rules). For less
//!   time it is a cause only if there was noticeable lag and a third of the lagging time
//!   falls into these seconds.
//! * A cause that another cause explains is not named: threads of a throttled group wait
//!   for a core, too.
//! * A machine without idle cores, and waiting for a core, is a cause only if it
//!   changed a figure. In an open loop, lag shows that; in a closed one, the share that
//!   brunt itself took (`neighbors`).
//! * All of them lead to lag. Lag is named if no other cause explains it.
//! * In a run on several agents, the rules examine each agent (`agents`).
//! * Each cause has an origin: the generator, other processes on its machine, or unknown. The
//!   gravest origin decides the state.
//!
//! Out of scope: judging the server or the consistency checks (`conservation`).

mod agents;
mod cpu;
mod lag;
mod lost;
mod neighbors;
mod network;
mod result;
mod stopped;
mod supplies;
#[cfg(test)]
mod tests;
mod unseen;

use crate::facts::{RunFacts, UnreadSpan, covered};
use crate::shares::Shares;
use brunt_model::finding::{LimitingResource, OtherCause, ProcessUse, State, UseOrigin};
use brunt_model::reached::ReplyKind;
use brunt_model::{Run, Verdict};
pub use neighbors::cpu_taken_from_server;
use result::{CauseState, RuleResult};

/// A cause explains lag if it covers at least this share of the lagging time.
const EXPLAINS: f64 = 1.0 / 3.0;

/// A possible limit of the generator.
struct Rule {
    limit: LimitingResource,
    evaluate: fn(&RunFacts) -> RuleResult,
    /// Limits that follow from this one and are not named with it; lag only if the times agree.
    explains: &'static [LimitingResource],
}

/// All rules.
const RULES: &[Rule] = &[
    Rule { limit: LimitingResource::Descriptors, evaluate: supplies::descriptors, explains: &[] },
    Rule { limit: LimitingResource::Ports, evaluate: supplies::ports, explains: &[] },
    Rule {
        limit: LimitingResource::Throttled,
        evaluate: cpu::throttled,
        explains: &[LimitingResource::RunQueue, LimitingResource::Lag],
    },
    Rule {
        limit: LimitingResource::Steal,
        evaluate: cpu::steal,
        explains: &[LimitingResource::Cores, LimitingResource::RunQueue, LimitingResource::Lag],
    },
    Rule {
        limit: LimitingResource::OtherProcesses,
        evaluate: neighbors::other_processes,
        explains: &[LimitingResource::Cores, LimitingResource::RunQueue, LimitingResource::Lag],
    },
    Rule {
        limit: LimitingResource::Stopped,
        evaluate: stopped::stopped,
        explains: &[LimitingResource::RunQueue, LimitingResource::Lag],
    },
    Rule {
        limit: LimitingResource::Worker,
        evaluate: cpu::worker,
        explains: &[LimitingResource::Lag],
    },
    Rule {
        limit: LimitingResource::Cores,
        evaluate: cpu::cores,
        explains: &[LimitingResource::RunQueue, LimitingResource::Lag],
    },
    Rule {
        limit: LimitingResource::RunQueue,
        evaluate: cpu::run_queue,
        explains: &[LimitingResource::Lag],
    },
    Rule {
        limit: LimitingResource::Memory,
        evaluate: supplies::memory,
        explains: &[LimitingResource::Lag],
    },
    Rule { limit: LimitingResource::Conntrack, evaluate: supplies::conntrack, explains: &[] },
    Rule { limit: LimitingResource::Nic, evaluate: network::nic, explains: &[] },
    Rule { limit: LimitingResource::Packets, evaluate: network::packets, explains: &[] },
    Rule { limit: LimitingResource::Lag, evaluate: lag::lag, explains: &[] },
];

/// Returns the generator's verdict on itself.
pub fn verdict(run: &Run) -> Verdict {
    let Some(facts) = RunFacts::new(run) else { return supplies::without_load(run) };
    let verdict = if run.agents.is_empty() { of_facts(&facts) } else { agents::verdict(&facts) };
    lost::LostParts::of(&facts).add_to(verdict)
}

/// Share of the planned load that is missing because agents or processes were lost.
pub fn missing_load(run: &Run) -> f64 {
    if run.losses.is_empty() {
        return 0.0;
    }
    RunFacts::new(run).map_or(0.0, |facts| lost::LostParts::of(&facts).missing_share())
}

/// Returns the verdict on one generator: a whole run, or an agent.
fn of_facts(facts: &RunFacts) -> Verdict {
    let results: Vec<(&Rule, RuleResult)> =
        RULES.iter().map(|rule| (rule, (rule.evaluate)(facts))).collect();
    let unexplained = unexplained_causes(facts, &results);
    let mut causes: Vec<OtherCause> =
        unexplained.into_iter().map(|(rule, result)| cause(rule.limit, result)).collect();
    // The gravest origin first, because it decides the state; then the longest cause.
    causes.sort_by_key(|cause| (cause.origin, std::cmp::Reverse(cause.lasted)));
    let state = match (causes.first().map(|cause| cause.origin), facts.run.replies()) {
        (Some(UseOrigin::Generator), ReplyKind::SomeGood | ReplyKind::None) => State::Limited,
        // A busy machine makes replies late, not bad.
        (_, ReplyKind::None | ReplyKind::NoneGood) => State::Unjudged,
        (Some(UseOrigin::Machine), ReplyKind::SomeGood) => State::BusyMachine,
        (Some(UseOrigin::Unknown), ReplyKind::SomeGood) => State::Unexplained,
        (None, ReplyKind::SomeGood) => State::Ok,
    };
    let evidence = results.into_iter().flat_map(|(_, result)| result.evidence).collect();
    Verdict {
        state,
        causes,
        other_processes: other_processes(facts),
        evidence,
        unseen: unseen::sentences(facts),
        agents: Vec::new(),
    }
}

fn cause(limit: LimitingResource, result: &RuleResult) -> OtherCause {
    OtherCause {
        limit,
        origin: result.origin,
        lasted: result.over_duration(),
        sentence: result.sentence.clone(),
        remedy: result.remedy.clone(),
    }
}

fn other_processes(facts: &RunFacts) -> Vec<ProcessUse> {
    Shares::from_facts(facts).map(|shares| shares.largest_others).unwrap_or_default()
}

/// Returns the rows that are causes, without those that other causes explain.
fn unexplained_causes<'a>(
    facts: &RunFacts,
    results: &'a [(&'a Rule, RuleResult)],
) -> Vec<(&'a Rule, &'a RuleResult)> {
    let lag_is_cause = results.iter().any(|(rule, result)| {
        rule.limit == LimitingResource::Lag && result.state == CauseState::Cause
    });
    let lagging = if lag_is_cause { facts.lagging() } else { Vec::new() };
    let mut causes = Vec::new();
    for (rule, result) in results {
        let is_cause = match result.state {
            CauseState::Cause => true,
            CauseState::Brief => {
                rule.explains.contains(&LimitingResource::Lag)
                    && covered(&lagging, &result.over) >= EXPLAINS
            }
            CauseState::NoCause => false,
        };
        if is_cause {
            causes.push((*rule, result));
        }
    }
    causes
        .iter()
        .copied()
        .filter(|(rule, _)| !is_explained(rule.limit, &causes, &lagging))
        .collect()
}

/// True if other causes explain this limit. Lag is explained only if they cover enough
/// of the lagging time.
fn is_explained(
    limit: LimitingResource,
    causes: &[(&Rule, &RuleResult)],
    lagging: &[UnreadSpan],
) -> bool {
    let explaining: Vec<_> =
        causes.iter().filter(|(rule, _)| rule.explains.contains(&limit)).collect();
    let times: Vec<UnreadSpan> =
        explaining.iter().flat_map(|(_, result)| result.over.iter().copied()).collect();
    !explaining.is_empty()
        && (limit != LimitingResource::Lag
            || lagging.is_empty()
            || covered(lagging, &times) >= EXPLAINS)
}
