//! Rules on the machines of client and server, and on the server's bottleneck.

use super::{ExplainFacts, Remark};
use crate::fleet::{AgentOfRun, names_text};
use crate::shares::Shares;
use crate::texts::message;
use brunt_model::Text;
use brunt_model::analysis::Culprit;
use brunt_model::finding::{GroupComparison, UseOrigin};
use brunt_model::fleet::LOADED;
use brunt_model::numbers::{seconds, short_percent};
use brunt_model::text::Value;

/// Share of all cores from which on the usage by other processes is reported.
const BUSY: f64 = 0.25;
/// Busy share of all cores at which a machine is full; as in `bottleneck`.
const FULL: f64 = 0.9;
/// Share of the busy cores that the server must use to be the reason why they are busy.
const HALF: f64 = 0.5;

/// Rule: client and server share one machine.
pub fn same_machine(facts: &ExplainFacts) -> Option<Remark> {
    let Some(is_same) = facts.same_host() else { return agents_with_server(facts) };
    if !is_same {
        return None;
    }
    let server = facts.route().and_then(|route| route.listener.as_deref());
    let sentence = match server {
        Some(server) => message!("same-machine.with-server", server),
        None => message!("same-machine"),
    };
    Some(Remark::note(sentence).with_remedy(message!("same-machine.remedy")))
}

/// Reports whether quiet agents measured the same response times as the loaded ones.
pub fn quiet_agents(facts: &ExplainFacts) -> Option<Remark> {
    facts.plan.fleet.as_ref().filter(|fleet| fleet.quiet > 0)?;
    let comparisons = &facts.so_far.group_comparisons;
    // Only slower loaded agents put the figures in doubt, so they come first.
    let is_in_doubt = |one: &&GroupComparison| one.is_significant && one.slower == LOADED;
    if let Some(one) = most_certain(comparisons.iter().filter(is_in_doubt)) {
        let remedy = message!("groups-differ.remedy-loaded");
        return Some(Remark::warning(difference_text(one)).with_remedy(remedy));
    }
    let Some(one) = most_certain(comparisons.iter()) else {
        let remedy = message!("quiet-agents-too-few.remedy");
        return Some(Remark::note(message!("quiet-agents-too-few")).with_remedy(remedy));
    };
    if one.is_significant {
        return Some(difference(one));
    }
    Some(Remark::note(message!("quiet-agents-equal", p = p_text(one.p))))
}

/// Reports the most certain difference between groups of agents.
pub fn groups_differ(facts: &ExplainFacts) -> Option<Remark> {
    if facts.plan.fleet.as_ref().is_none_or(|fleet| fleet.quiet > 0) {
        return None;
    }
    let comparisons = &facts.so_far.group_comparisons;
    most_certain(comparisons.iter().filter(|one| one.is_significant)).map(difference)
}

fn most_certain<'a>(
    comparisons: impl Iterator<Item = &'a GroupComparison>,
) -> Option<&'a GroupComparison> {
    comparisons.min_by(|a, b| a.p.total_cmp(&b.p))
}

fn difference(one: &GroupComparison) -> Remark {
    Remark::note(difference_text(one)).with_remedy(message!("groups-differ.remedy"))
}

fn difference_text(one: &GroupComparison) -> Text {
    message!(
        "groups-differ",
        slower = &*one.slower,
        faster = &*one.faster,
        slower_share = short_percent(one.slower_share),
        time = seconds(one.threshold_seconds),
        faster_share = short_percent(one.faster_share),
        p = p_text(one.p)
    )
}

fn p_text(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// Reports the agents on the server's machine, if others are elsewhere.
fn agents_with_server(facts: &ExplainFacts) -> Option<Remark> {
    let agents = AgentOfRun::all(facts.run).filter(|agent| agent.same_host() == Some(true));
    let names: Vec<&str> = agents.map(AgentOfRun::name).collect();
    if names.is_empty() {
        return None;
    }
    let sentence = message!("same-machine.with-agents", agents = names_text(&names));
    Some(Remark::note(sentence).with_remedy(message!("same-machine.remedy-agents")))
}

/// Rule: other processes used so much of the machine that they influenced the figures, though
/// brunt kept its schedule.
pub fn busy_machine(facts: &ExplainFacts) -> Option<Remark> {
    let shares = Shares::new(facts.run)
        .filter(|shares| shares.others.unwrap_or(0.0) >= BUSY * shares.cores)?;
    // The verdict names these processes already.
    if facts.so_far.verdict.causes.iter().any(|cause| cause.origin == UseOrigin::Machine) {
        return None;
    }
    let processes = shares.others_text();
    let sentence = if facts.same_host() == Some(true) {
        message!("busy-machine.same-host", processes)
    } else {
        message!("busy-machine", processes)
    };
    Some(Remark::warning(sentence).with_remedy(message!("busy-machine.remedy")))
}

/// Rule: the server uses all of the machine that it shares with brunt, except brunt's small part.
/// Reports its capacity without brunt.
pub fn shared_cpu(facts: &ExplainFacts) -> Option<Remark> {
    let shares = Shares::new(facts.run).filter(|shares| shares.busy >= FULL * shares.cores)?;
    let is_cpu = |bottleneck: &brunt_model::Bottleneck| bottleneck.culprit == Culprit::Cpu;
    let server = shares.server.filter(|server| *server >= HALF * shares.busy)?;
    // The finding on the bottleneck reports the CPU already.
    if facts.so_far.bottleneck.as_ref().is_some_and(is_cpu) || facts.same_host() != Some(true) {
        return None;
    }
    let sentence = message!(
        "shared-cpu",
        server = format!("{server:.2}"),
        cores = format!("{:.0}", shares.cores),
        brunt = format!("{:.2}", shares.brunt),
        capacity = shares.capacity_without_brunt()?
    );
    Some(Remark::note(sentence).with_remedy(message!("shared-cpu.remedy")))
}

/// Rule: the server's bottleneck, by the rules on its readings. It is a note, because a slow server
/// does not change the meaning of the figures.
pub fn bottleneck(facts: &ExplainFacts) -> Option<Remark> {
    let bottleneck = facts.so_far.bottleneck.as_ref()?;
    let remedy = match bottleneck.culprit {
        Culprit::NotFound | Culprit::Generator => return None,
        Culprit::Workers => message!("server-bottleneck.remedy-workers"),
        Culprit::Cpu => message!("server-bottleneck.remedy-cpu"),
        Culprit::Core => message!("server-bottleneck.remedy-core"),
        Culprit::Memory => message!("server-bottleneck.remedy-memory"),
        Culprit::Connections => message!("server-bottleneck.remedy-connections"),
        Culprit::AcceptQueue => message!("server-bottleneck.remedy-accept-queue"),
        Culprit::Disk => message!("server-bottleneck.remedy-disk"),
        Culprit::Network => message!("server-bottleneck.remedy-network"),
        Culprit::Files => message!("server-bottleneck.remedy-files"),
    };
    let name = bottleneck.sentence.clone();
    let sentence = if bottleneck.others.is_empty() {
        message!("server-bottleneck", bottleneck = name)
    } else {
        let others = Value::Series(bottleneck.others.clone());
        message!("server-bottleneck.with-others", bottleneck = name, others)
    };
    Some(Remark::note(sentence).with_remedy(remedy))
}
