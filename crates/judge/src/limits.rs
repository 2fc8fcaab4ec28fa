//! Whether the generator was the limit, or its machine was busy with others: the verdict.
//!
//! Each row of `RULES` looks at one thing that may limit a generator and holds figures against thresholds; here it is
//! decided which of them are causes. `docs/verdict.md` tells users the same, threshold by threshold.
//!
//! * A figure is over its threshold for some seconds. For a tenth of the measured time it is a cause (for what loses
//!   packets or requests, sooner: see the rules). For less it is a cause only if lag was felt and a third of it fell
//!   into these seconds.
//! * A cause that another one explains is not named beside it: threads of a throttled group wait for a core, too.
//! * A machine without idle cores, and waiting for one, is a cause only where it changed a figure: lag counts in an open loop,
//!   in a closed one what brunt itself took (`neighbors`).
//! * Lag is what all of them lead to. It is named where none of them explains it.
//! * Each cause has an origin: the generator, others on its machine, or not known. The gravest origin decides the state.
//!
//! Out of scope: the judge of the server, or of the sums (`conservation`).

mod cpu;
mod lag;
mod look;
mod neighbors;
mod network;
mod stopped;
mod supplies;
#[cfg(test)]
mod tests;
mod unseen;

use crate::facts::{Facts, covered};
use crate::shares::Shares;
use brunt_model::finding::{Cause, Limit, Origin, ProcessUse, State};
use brunt_model::reached::Replies;
use brunt_model::{Run, Verdict};
use look::{CauseState, RuleResult};
pub use neighbors::server_lacked_cpu;

/// A cause explains lag if so much of the time in which lag was felt is its own.
const EXPLAINS: f64 = 1.0 / 3.0;

/// One thing that may limit a generator.
struct Rule {
    limit: Limit,
    look: fn(&Facts) -> RuleResult,
    /// What is not named beside it, since it follows from it; lag only where the times agree.
    explains: &'static [Limit],
}

/// Everything that is looked at.
const RULES: &[Rule] = &[
    Rule { limit: Limit::Descriptors, look: supplies::descriptors, explains: &[] },
    Rule { limit: Limit::Ports, look: supplies::ports, explains: &[] },
    Rule { limit: Limit::Throttled, look: cpu::throttled, explains: &[Limit::RunQueue, Limit::Lag] },
    Rule { limit: Limit::Steal, look: cpu::steal, explains: &[Limit::Cores, Limit::RunQueue, Limit::Lag] },
    Rule {
        limit: Limit::OtherProcesses,
        look: neighbors::other_processes,
        explains: &[Limit::Cores, Limit::RunQueue, Limit::Lag],
    },
    Rule { limit: Limit::Stopped, look: stopped::stopped, explains: &[Limit::RunQueue, Limit::Lag] },
    Rule { limit: Limit::Worker, look: cpu::worker, explains: &[Limit::Lag] },
    Rule { limit: Limit::Cores, look: cpu::cores, explains: &[Limit::RunQueue, Limit::Lag] },
    Rule { limit: Limit::RunQueue, look: cpu::run_queue, explains: &[Limit::Lag] },
    Rule { limit: Limit::Memory, look: supplies::memory, explains: &[Limit::Lag] },
    Rule { limit: Limit::Conntrack, look: supplies::conntrack, explains: &[] },
    Rule { limit: Limit::Nic, look: network::nic, explains: &[] },
    Rule { limit: Limit::Packets, look: network::packets, explains: &[] },
    Rule { limit: Limit::Lag, look: lag::lag, explains: &[] },
];

/// The generator's verdict on itself.
pub fn verdict(run: &Run) -> Verdict {
    let Some(facts) = Facts::of(run) else { return supplies::without_load(run) };
    let looks: Vec<(&Rule, RuleResult)> = RULES.iter().map(|rule| (rule, (rule.look)(&facts))).collect();
    let named = named(&facts, &looks);
    let mut causes: Vec<Cause> = named.into_iter().map(|(rule, look)| cause(rule.limit, look)).collect();
    causes.sort_by_key(|cause| (cause.origin, std::cmp::Reverse(cause.lasted)));
    let state = match (causes.first().map(|cause| cause.origin), run.replies()) {
        (Some(Origin::Generator), _) => State::Limited,
        (Some(Origin::Machine), _) => State::BusyMachine,
        (Some(Origin::Unknown), _) => State::Unexplained,
        (None, Replies::SomeGood) => State::Ok,
        (None, Replies::None | Replies::NoneGood) => State::Unjudged,
    };
    let evidence = looks.into_iter().flat_map(|(_, look)| look.evidence).collect();
    Verdict { state, causes, other_processes: other_processes(&facts), evidence, unseen: unseen::sentences(&facts) }
}

fn cause(limit: Limit, look: &RuleResult) -> Cause {
    Cause {
        limit,
        origin: look.origin,
        lasted: look.lasted(),
        sentence: look.sentence.clone(),
        remedy: look.remedy.clone(),
    }
}

fn other_processes(facts: &Facts) -> Vec<ProcessUse> {
    Shares::from_facts(facts).map(|shares| shares.named).unwrap_or_default()
}

/// The rows that are causes, without those that others explain.
fn named<'a>(facts: &Facts, looks: &'a [(&'a Rule, RuleResult)]) -> Vec<(&'a Rule, &'a RuleResult)> {
    let stands = |limit| looks.iter().any(|(rule, look)| rule.limit == limit && look.standing == CauseState::Cause);
    let felt = if stands(Limit::Lag) { facts.lag_was_felt() } else { Vec::new() };
    let is_cause = |rule: &Rule, look: &RuleResult| match look.standing {
        CauseState::Cause => true,
        CauseState::Brief => rule.explains.contains(&Limit::Lag) && covered(&felt, &look.over) >= EXPLAINS,
        CauseState::Nothing => false,
    };
    let causes: Vec<_> = looks.iter().map(|(rule, look)| (*rule, look)).filter(|(r, l)| is_cause(r, l)).collect();
    let explained = |limit: Limit| {
        let by: Vec<_> = causes.iter().filter(|(rule, _)| rule.explains.contains(&limit)).collect();
        let times: Vec<_> = by.iter().flat_map(|(_, look)| look.over.iter().copied()).collect();
        !by.is_empty() && (limit != Limit::Lag || felt.is_empty() || covered(&felt, &times) >= EXPLAINS)
    };
    causes.iter().copied().filter(|(rule, _)| !explained(rule.limit)).collect()
}
